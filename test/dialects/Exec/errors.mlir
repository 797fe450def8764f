// RUN: weft-opt %s --split-input-file --verify-diagnostics

// C1 of exec.mesh
// expected-error @below {{expected axes of unique names, got twice: "x"}}
exec.mesh @mesh ["x"=2, "x"=4]

// -----

// C1 of exec.mesh
// expected-error @below {{expected axis sizes of at least 1, got: 0}}
exec.mesh @mesh ["x"=0]

// -----

// C2 of exec.mesh
// expected-error @below {{expected device_order to be a permutation of 0 to 1}}
exec.mesh @mesh ["x"=2] order [0, 0]

// -----

// C1 of exec.weight
// expected-error @below {{expected storage to hold the shape, got: 12 < 16 bytes}}
exec.weight @w f32 [4] = #exec.external<"a", 0, 12>

// -----

// C2 of exec.weight
// expected-error @below {{expected storage in a file or elements, got: 1 : i64}}
exec.weight @w f32 [4] = 1

// -----

// C1 of exec.program
// expected-error @below {{expected ranks begin < end, got: 2 to 2}}
exec.program @p ranks 2 to 2 schedule [] {
}

// -----

// C3 of exec.program
// expected-error @below {{expected the schedule to name segments, got: @s}}
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward>] {
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena weights 0 align 64
  // C2 of exec.program
  // expected-error @below {{expected one arena of a kind, got twice: weights}}
  arena weights 0 align 64
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // C1 of exec.arena
  // expected-error @below {{expected alignment to be a power of two, got: 48}}
  arena weights 0 align 48
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  segment @s {
    // C2 of exec.program
    // expected-error @below {{expected operands in declared arenas, got: state}}
    fill 0.0 : f32 into <state, 0, f32 [4]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena activations 64 align 64
  // C2 of exec.port
  // expected-error @below {{expected local extent times axes to be the global extent, got: 4 * 2 != 4}}
  port input "x" [4] split [["x"]] on @mesh at <activations, 0, f32 [4]>
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena activations 64 align 64
  // C1 of exec.port
  // expected-error @below {{expected axes of mesh @mesh in dimension 0}}
  port input "x" [4] split [["y"]] on @mesh at <activations, 0, f32 [4]>
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena activations 64 align 64
  // expected-error @below {{expected one number of valid elements per extent, got: 2 != 1}}
  port input "x" [3] split [["x"]] on @mesh at <activations, 0, f32 [2]> valid [#exec.affine<3>, #exec.affine<3>]
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena activations 64 align 64
  // expected-error @below {{expected local extent times axes to be the global extent, got: 2 * 2 != 5}}
  port input "x" [5] split [["x"]] on @mesh at <activations, 0, f32 [2]> valid [#exec.affine<5 + -2 * ["x"]>]
}

// -----

exec.weight @w f32 [4] = #exec.external<"a", 0, 16>
exec.program @p ranks 0 to 2 schedule [] {
  arena weights 64 align 64
  // C1 of exec.weight_block
  // expected-error @below {{expected the weight's element type, got: 'i32' != 'f32'}}
  weight_block @w start <0> strides [1] into <weights, 0, i32 [4]>
}

// -----

exec.weight @w f32 [4] = #exec.external<"a", 0, 16>
exec.program @p ranks 0 to 2 schedule [] {
  arena weights 64 align 64
  // C1 of exec.weight_block
  // expected-error @below {{expected one stride per extent, got: 2 != 1}}
  weight_block @w start <0> strides [1, 1] into <weights, 0, f32 [4]>
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.gemm
    // expected-error @below {{expected [m, k] x [k, n] -> [m, n], got: [2, 4] x [3, 2] -> [2, 2]}}
    gemm <activations, 0, f32 [2, 4]>, <activations, 0, f32 [3, 2]> to <activations, 0, f32 [2, 2]>
        priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.copy
    // expected-error @below {{expected extents to agree}}
    copy <activations, 0, f32 [2]> to <activations, 0, f32 [3]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.copy
    // expected-error @below {{expected to write each element once, got stride 0}}
    copy <activations, 0, f32 [2]> to <activations, 0, f32 [2] strides [0]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.fill
    // expected-error @below {{expected a value of the element type, got: 0.000000e+00 : f64 for 'f32'}}
    fill 0.0 : f64 into <activations, 0, f32 [2]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.launch
    // expected-error @below {{expected tiles and grain of at least 1, got: 0 and 1}}
    launch "k" [] to [] params [] tiles 0 grain 1 checks [] priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.collective
    // expected-error @below {{expected all_gather to give 8 elements, got: 4}}
    collective all_gather sum axes ["x"] on @mesh <activations, 0, f32 [4]> to <activations, 0, f32 [4]>
        priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.collective
    // expected-error @below {{expected input elements to be a multiple of the group, got: 5 over 2}}
    collective all_to_all sum axes ["x"] on @mesh <activations, 0, f32 [5]> to <activations, 0, f32 [5]>
        priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.collective
    // expected-error @below {{expected to_axes for permute alone}}
    collective permute sum axes ["x"] on @mesh <activations, 0, f32 [4]> to <activations, 0, f32 [4]>
        priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C2 of exec.collective
    // expected-error @below {{expected contiguous operands}}
    collective all_reduce sum axes ["x"] on @mesh <activations, 0, f32 [4] strides [2]>
        to <activations, 0, f32 [4]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C2 of exec.conv
    // expected-error @below {{expected output extent 3 in spatial dimension 0, got: 4}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 0, f32 [1, 1, 2]> to <activations, 0, f32 [1, 1, 4]>
        strides [1] low [0] high [0] dilations [1] groups 1 priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.operand
    // expected-error @below {{expected one stride per extent, got: 2 != 1}}
    fill 0.0 : f32 into <activations, 0, f32 [2] strides [2, 1]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // C1 of exec.buffer
  // expected-error @below {{expected a number of at least 1, got: 0}}
  buffer 0 activations 64 align 64 live uses
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  buffer 1 activations 64 align 64 live uses
  // C4 of exec.program
  // expected-error @below {{expected unique numbers, got twice: 1}}
  buffer 1 activations 64 align 64 live uses
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  buffer 1 activations 64 align 64 live uses
  // C4 of exec.program
  // expected-error @below {{expected buffers or arenas, got both}}
  arena activations 64 align 64
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  buffer 1 activations 64 align 64 live uses
  segment @s {
    // C4 of exec.program
    // expected-error @below {{expected values that are numbers of buffers, got: #exec.operand<activations, 0, f32 [4] value 2>}}
    fill 0.0 : f32 into <activations, 0, f32 [4] value 2> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  buffer 1 activations 64 align 64 live uses
  segment @s {
    // C4 of exec.program
    // expected-error @below {{expected the kind of arena of buffer 1, got: workspace != activations}}
    fill 0.0 : f32 into <workspace, 0, f32 [4] value 1> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  buffer 1 activations 64 align 64 live uses
  segment @s {
    // C4 of exec.program
    // expected-error @below {{expected operands within the 64 bytes of buffer 1, got bytes 56 to 72}}
    fill 0.0 : f32 into <activations, 56, f32 [4] value 1> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // expected-error @below {{expected one of weights, state, activations, communication, workspace, ports, host, got: stack}}
  arena stack 64 align 64
}

// -----

// expected-error @below {{expected one of forward, backward, weight, update, got: sideways}}
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, sideways>] {
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  // expected-error @below {{expected one of input, output, gradient, got: inout}}
  port inout "x" [8] split [[]] on @mesh at <activations, 0, f32 [8]>
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  segment @s {
    // expected-error @below {{expected one of all_reduce, all_gather, reduce_scatter, all_to_all, permute, got: broadcast}}
    collective broadcast sum axes ["x"] on @mesh
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // expected-error @below {{expected one of step, end, uses, got: always}}
  buffer 1 activations 64 align 64 live always
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C1 of exec.async
    // expected-error @below {{expected a stream beside compute}}
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [2]> to <communication, 0, f32 [2]> priced <"", 0 flops, 8 read, 8 written, ""> async <compute, 1>
  }
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C1 of exec.async
    // expected-error @below {{expected a token of at least 1, got: 0}}
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [2]> to <communication, 0, f32 [2]> priced <"", 0 flops, 8 read, 8 written, ""> async <communication, 0>
  }
}

// -----

exec.mesh @mesh ["x"=2]
// C5 of exec.program
// expected-error @below {{expected a wait for every token, got none for: 1}}
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [2]> to <communication, 0, f32 [2]> priced <"", 0 flops, 8 read, 8 written, ""> async <communication, 1>
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  segment @s {
    // C5 of exec.program
    // expected-error @below {{expected the token of an asynchronous instruction, got: 3}}
    wait 3 priced <"", 0 flops, 0 read, 0 written, "wait">
  }
}

// -----

exec.mesh @mesh ["x"=2]
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [2]> to <communication, 0, f32 [2]> priced <"", 0 flops, 8 read, 8 written, ""> async <communication, 1>
    // C5 of exec.program
    // expected-error @below {{expected tokens of one instruction, got twice: 1}}
    collective all_reduce sum axes ["x"] on @mesh <communication, 32, f32 [2]> to <communication, 32, f32 [2]> priced <"", 0 flops, 8 read, 8 written, ""> async <communication, 1>
    wait 1 priced <"", 0 flops, 0 read, 0 written, "wait">
  }
}

// -----

// C3 of exec.program
// expected-error @below {{expected repeats of at least 1 iteration, got: 0}}
exec.program @p ranks 0 to 1 schedule [#exec.repeat<0 times [#exec.entry<@s, forward>]>] {
  segment @s {
  }
}

// -----

// C3 of exec.program
// expected-error @below {{expected at most one step for each of 1 repeats, got: #exec.index<0 step [1, 2]>}}
exec.program @p ranks 0 to 1 schedule [#exec.repeat<4 times [#exec.entry<@s, forward, microbatch 0 step [1, 2]>]>] {
  segment @s {
  }
}

// -----

// C3 of exec.program
// expected-error @below {{expected each kind of arena once in an entry, got twice: ports}}
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward, frames [ports 0 of 2, ports 1 of 2]>] {
  segment @s {
  }
}

// -----

// C3 of exec.program
// expected-error @below {{expected one frame of weights, got: #exec.frame<weights 0 of 2>}}
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward, frames [weights 0 of 2]>] {
  segment @s {
  }
}

// -----

// C6 of exec.program
// expected-error @below {{expected a first frame of 0 to 1 of ports, got: 2}}
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward, frames [ports 2 of 2]>] {
  segment @s {
  }
}

// -----

// C6 of exec.program
// expected-error @below {{expected 2 frames of ports, got: 3}}
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward, frames [ports 0 of 2]>, #exec.entry<@s, forward, frames [ports 0 of 3]>] {
  segment @s {
  }
}

// -----

// C6 of exec.program
// expected-error @below {{expected frames of an arena of activations, got those behind 3}}
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward, frames [activations 0 of 1 behind 3]>] {
  arena activations 64 align 64 frames 4
  segment @s {
  }
}

// -----

// C6 of exec.program
// expected-error @below {{expected all entries of a segment in the same arenas, got others: @s}}
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward, frames [activations 0 of 1]>, #exec.entry<@s, forward, frames [activations 0 of 2 behind 1]>] {
  arena activations 64 align 64
  arena activations 32 align 64 frames 2 behind 1
  segment @s {
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64 frames 2
  // C2 of exec.program
  // expected-error @below {{expected frames behind 2 others, got: 1}}
  arena activations 64 align 64 behind 1
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // C2 of exec.program
  // expected-error @below {{expected frames behind 0 others, got: 1}}
  arena workspace 64 align 64 behind 1
}

// -----

// C6 of exec.program
// expected-error @below {{expected 4 frames of activations, got: 2}}
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward, frames [activations 0 of 2]>] {
  arena activations 64 align 64 frames 4
  segment @s {
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // C2 of exec.arena
  // expected-error @below {{expected one frame of weights, got: 2}}
  arena weights 64 align 64 frames 2
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // C1 of exec.arena
  // expected-error @below {{expected at least 1 frame, got: 0}}
  arena activations 64 align 64 frames 0
}

// -----

exec.mesh @mesh []
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward, frames [ports 0 of 2]>] {
  arena ports 64 align 64 frames 2
  // C2 of exec.port
  // expected-error @below {{expected local extent times axes to be the global extent, got: 4 * 1 != 2}}
  port input "x" [4] split [[]] on @mesh at <ports, 0, f32 [4]>
  segment @s {
  }
}

// -----

exec.mesh @mesh []
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward, frames [ports 0 of 2]>] {
  arena ports 64 align 64 frames 2
  // C2 of exec.port
  // expected-error @below {{expected a dimension of the port to have frames along, got: 1}}
  port input "x" [4] split [[]] on @mesh at <ports, 0, f32 [2]> along 1
  segment @s {
  }
}

// -----

// C3 of exec.mesh
// expected-error @below {{attribute 'first_rank' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
exec.mesh @mesh ["x"=2] from -2

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C1 of exec.send
    // expected-error @below {{expected a mesh, got: @nowhere}}
    send tag 1 <communication, 0, f32 [2]> to @nowhere peer <0> steps [] leaders [] priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C1 of exec.receive
    // expected-error @below {{expected another mesh than the program's, got: @here}}
    receive tag 1 from @here peer <0> steps [] into <communication, 0, f32 [2]> priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C1 of exec.send
    // expected-error @below {{attribute 'tag' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
    send tag 0 <communication, 0, f32 [2]> to @there peer <0> steps [] leaders [] priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C2 of exec.receive
    // expected-error @below {{expected a dimension of the operand for each step, got: 1 < 2}}
    receive tag 1 from @there peer <0> steps [1, 2] into <communication, 0, f32 [2]> priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C2 of exec.send
    // expected-error @below {{expected contiguous messages, got: #exec.operand<communication, 0, f32 [2, 4] strides [4, 2]>}}
    send tag 1 <communication, 0, f32 [2, 4] strides [4, 2]> to @there peer <0> steps [1] leaders [] priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

// C1 of exec.weight
// expected-error @below {{expected an element type that arenas hold, got: 'i7'}}
exec.weight @w i7 [4] = #exec.external<"a", 0, 16>

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // C1 of exec.arena
  // expected-error @below {{expected bytes of at least 0, got: -64}}
  arena activations -64 align 64
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // C1 of exec.buffer
  // expected-error @below {{expected alignment to be a power of two, got: 3}}
  buffer 1 activations 64 align 3 live uses
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // C1 of exec.port
  // expected-error @below {{expected a mesh, got: @mesh}}
  port input "x" [4] split [[]] on @mesh at <activations, 0, f32 [4]>
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  // C1 of exec.weight_block
  // expected-error @below {{expected a weight, got: @w}}
  weight_block @w start <0> strides [1] into <weights, 0, f32 [4]>
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.operand
    // expected-error @below {{expected extents and strides of at least 0, got: -2}}
    fill 0.0 : f32 into <activations, 0, f32 [-2] strides [1]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C2 of exec.operand
    // expected-error @below {{expected an element type that arenas hold, got: 'f80'}}
    fill 0.0 : f80 into <activations, 0, f80 [2]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.conv
    // expected-error @below {{expected operands of one rank of at least 3, got: 3, 2, 3}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 0, f32 [1, 1]> to <activations, 0, f32 [1, 1, 4]>
        strides [1] low [0] high [0] dilations [1] groups 1 priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.conv
    // expected-error @below {{expected one entry per spatial dimension, got: 2 != 1}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 0, f32 [1, 1, 2]> to <activations, 0, f32 [1, 1, 3]>
        strides [1, 1] low [0] high [0] dilations [1] groups 1 priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C2 of exec.conv
    // expected-error @below {{expected channels to be multiples of groups, got: 1 and 1 in 2}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 0, f32 [1, 1, 2]> to <activations, 0, f32 [1, 1, 3]>
        strides [1] low [0] high [0] dilations [1] groups 2 priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.copy
    // expected-error @below {{expected one element type, got: 'f32' and 'i32'}}
    copy <activations, 0, f32 [2]> to <activations, 0, i32 [2]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.gemm
    // expected-error @below {{expected operands of one rank of at least 2, got: 2, 2, 1}}
    gemm <activations, 0, f32 [2, 4]>, <activations, 0, f32 [4, 2]> to <activations, 0, f32 [4]> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.launch
    // expected-error @below {{expected tiles and grain of at least 1, got: 4 and 0}}
    launch "k" [] to [] params [] tiles 4 grain 0 checks [] priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.collective
    // expected-error @below {{expected a mesh, got: @mesh}}
    collective all_reduce sum axes ["x"] on @mesh <activations, 0, f32 [4]> to <activations, 0, f32 [4]>
        priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.mesh @mesh ["x"=2, "y"=2]
exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.collective
    // expected-error @below {{expected axes of mesh @mesh, got:}}
    collective all_reduce sum axes ["z"] on @mesh <activations, 0, f32 [4]> to <activations, 0, f32 [4]>
        priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.mesh @mesh ["x"=2, "y"=2]
exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C1 of exec.collective
    // expected-error @below {{expected to_axes to be a permutation of axes}}
    collective permute sum axes ["x"] to_axes ["y"] on @mesh <activations, 0, f32 [4]> to <activations, 0, f32 [4]>
        priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.mesh @mesh ["x"=2, "y"=2]
exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C2 of exec.collective
    // expected-error @below {{expected one element type, got: 'f32' and 'i32'}}
    collective all_reduce sum axes ["x"] on @mesh <activations, 0, f32 [4]> to <activations, 0, i32 [4]>
        priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C1 of exec.receive
    // expected-error @below {{attribute 'tag' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
    receive tag 0 from @there peer <0> steps [] into <communication, 0, f32 [2]> priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C2 of exec.receive
    // expected-error @below {{expected contiguous messages}}
    receive tag 1 from @there peer <0> steps [] into <communication, 0, f32 [2, 4] strides [8, 1]> priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C1 of exec.send
    // expected-error @below {{expected another mesh than the program's, got: @here}}
    send tag 1 <communication, 0, f32 [2]> to @here peer <0> steps [] leaders [] priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C2 of exec.send
    // expected-error @below {{expected a dimension of the operand for each step, got: 1 < 2}}
    send tag 1 <communication, 0, f32 [2]> to @there peer <0> steps [1, 2] leaders [] priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
exec.program @p ranks 0 to 2 schedule [] {
  arena communication 64 align 64
  segment @s {
    // C3 of exec.send
    // expected-error @below {{expected a segment of the program, got: @t}}
    send tag 1 <communication, 0, f32 [2]> to @there peer <0> steps [] leaders [] until @t priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @mesh []
exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  port output "grad:w" [2] split [[]] on @mesh at <activations, 0, f32 [2]>
  segment @s {
    // C1 of exec.observe
    // expected-error @below {{expected a gradient port, got: "grad:w"}}
    observe "grad:w" <activations, 0, f32 [2]> priced <"", 0 flops, 0 read, 0 written, "observe">
  }
}

// -----

exec.mesh @mesh []
exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  port gradient "grad:w" [2] split [[]] on @mesh at <activations, 0, f32 [2]>
  segment @s {
    // C1 of exec.observe
    // expected-error @below {{expected the operand of its port, got: #exec.operand<activations, 8, f32 [2]> != #exec.operand<activations, 0, f32 [2]>}}
    observe "grad:w" <activations, 8, f32 [2]> priced <"", 0 flops, 0 read, 0 written, "observe">
  }
}

// -----

exec.mesh @mesh []
exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  // C3 of exec.port
  // expected-error @below {{expected an observation of the gradient, got none: "grad:w"}}
  port gradient "grad:w" [2] split [[]] on @mesh at <activations, 0, f32 [2]>
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.conv
    // expected-error @below {{expected no epilogue of a kernel's gradient}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 16, f32 [1, 1, 3]> to <activations, 32, f32 [1, 1, 2]> strides [1] low [0] high [0] dilations [1] groups 1 kernel_gradient
        epilogue <"k", inputs [#exec.operand<activations, 32, f32 [1, 1, 2]>], params [], tiles 1, tile 2, row 2> priced <"", 0 flops, 0 read, 12 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.conv
    // expected-error @below {{expected operands as inputs of the epilogue, got: 1 : i64}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 16, f32 [1, 1, 2]> to <activations, 32, f32 [1, 1, 3]> strides [1] low [0] high [0] dilations [1] groups 1
        epilogue <"k", inputs [#exec.operand<activations, 32, f32 [1, 1, 3]>, 1], params [], tiles 1, tile 3, row 3> priced <"", 0 flops, 0 read, 12 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.conv
    // expected-error @below {{expected affine numbers as params of the epilogue, got: 1 : i64}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 16, f32 [1, 1, 2]> to <activations, 32, f32 [1, 1, 3]> strides [1] low [0] high [0] dilations [1] groups 1
        epilogue <"k", inputs [#exec.operand<activations, 32, f32 [1, 1, 3]>], params [1], tiles 1, tile 3, row 3> priced <"", 0 flops, 0 read, 12 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.conv
    // expected-error @below {{expected the output once among the epilogue's inputs, got: 0 times}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 16, f32 [1, 1, 2]> to <activations, 32, f32 [1, 1, 3]> strides [1] low [0] high [0] dilations [1] groups 1
        epilogue <"k", inputs [#exec.operand<activations, 0, f32 [3]>], params [], tiles 1, tile 3, row 3> priced <"", 0 flops, 0 read, 12 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.conv
    // expected-error @below {{expected the output once among the epilogue's inputs, got: 2 times}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 16, f32 [1, 1, 2]> to <activations, 32, f32 [1, 1, 3]> strides [1] low [0] high [0] dilations [1] groups 1
        epilogue <"k", inputs [#exec.operand<activations, 32, f32 [1, 1, 3]>, #exec.operand<activations, 32, f32 [1, 1, 3]>], params [], tiles 1, tile 3, row 3> priced <"", 0 flops, 0 read, 12 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.conv
    // expected-error @below {{expected an epilogue's output to fill its memory, got: #exec.operand<activations, 32, f32 [1, 1, 3] strides [3, 3, 2]>}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 16, f32 [1, 1, 2]> to <activations, 32, f32 [1, 1, 3] strides [3, 3, 2]> strides [1] low [0] high [0] dilations [1] groups 1
        epilogue <"k", inputs [#exec.operand<activations, 32, f32 [1, 1, 3] strides [3, 3, 2]>], params [], tiles 1, tile 3, row 3> priced <"", 0 flops, 0 read, 12 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.conv
    // expected-error @below {{expected tiles in rows that divide the output, got: 2 in 2 of 3}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 16, f32 [1, 1, 2]> to <activations, 32, f32 [1, 1, 3]> strides [1] low [0] high [0] dilations [1] groups 1
        epilogue <"k", inputs [#exec.operand<activations, 32, f32 [1, 1, 3]>], params [], tiles 1, tile 2, row 2> priced <"", 0 flops, 0 read, 12 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.conv
    // expected-error @below {{expected tiles in rows that divide the output, got: 0 in 3 of 3}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 16, f32 [1, 1, 2]> to <activations, 32, f32 [1, 1, 3]> strides [1] low [0] high [0] dilations [1] groups 1
        epilogue <"k", inputs [#exec.operand<activations, 32, f32 [1, 1, 3]>], params [], tiles 1, tile 0, row 3> priced <"", 0 flops, 0 read, 12 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 64 align 64
  segment @s {
    // C3 of exec.conv
    // expected-error @below {{expected 2 tiles in the epilogue, got: 1}}
    conv <activations, 0, f32 [1, 1, 4]>, <activations, 16, f32 [1, 1, 2]> to <activations, 32, f32 [1, 1, 3]> strides [1] low [0] high [0] dilations [1] groups 1
        epilogue <"k", inputs [#exec.operand<activations, 32, f32 [1, 1, 3]>], params [], tiles 1, tile 2, row 3> priced <"", 0 flops, 0 read, 12 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention
    // expected-error @below {{expected operands of rank 4, got:}}
    attention <activations, 0, f32 [4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> to <activations, 0, f32 [1, 4, 8, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention
    // expected-error @below {{expected heads to be a multiple of those of the value, got: 3 and 2}}
    attention <activations, 0, f32 [1, 3, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> to <activations, 0, f32 [1, 3, 8, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention
    // expected-error @below {{expected key of extents [1, 2, 6, 2], got: [1, 2, 5, 2]}}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 5, 2]>, <activations, 0, f32 [1, 2, 6, 2]> to <activations, 0, f32 [1, 4, 8, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention
    // expected-error @below {{expected value of extents [1, 2, 6, 2], got: [2, 2, 6, 2]}}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [2, 2, 6, 2]> to <activations, 0, f32 [1, 4, 8, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention
    // expected-error @below {{expected output of extents [1, 4, 8, 2], got: [1, 4, 7, 2]}}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> to <activations, 0, f32 [1, 4, 7, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention
    // expected-error @below {{expected mask of extents [1, 4, 8, 6], got: [1, 1, 8, 6]}}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> mask <activations, 0, i1 [1, 1, 8, 6]> to <activations, 0, f32 [1, 4, 8, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention
    // expected-error @below {{expected bias of extents [1, 4, 8, 6], got: [1, 4, 8, 1]}}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> bias <activations, 0, f32 [1, 4, 8, 1]> to <activations, 0, f32 [1, 4, 8, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention
    // expected-error @below {{expected lse of extents [1, 4, 8], got: [4, 8]}}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> to <activations, 0, f32 [1, 4, 8, 2]> lse <activations, 0, f32 [4, 8]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C2 of exec.attention
    // expected-error @below {{expected one element type, got: }}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f16 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> to <activations, 0, f32 [1, 4, 8, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C2 of exec.attention
    // expected-error @below {{expected elements of f32, f16 or bf16, got: }}
    attention <activations, 0, f64 [1, 4, 8, 2]>, <activations, 0, f64 [1, 2, 6, 2]>, <activations, 0, f64 [1, 2, 6, 2]> to <activations, 0, f64 [1, 4, 8, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C2 of exec.attention
    // expected-error @below {{expected a mask of i1, got: }}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> mask <activations, 0, f32 [1, 4, 8, 6]> to <activations, 0, f32 [1, 4, 8, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C3 of exec.attention
    // expected-error @below {{expected an output with rows in one piece, got:}}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> to <activations, 0, f32 [1, 4, 8, 2] strides [64, 16, 1, 8]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C2 of exec.attention
    // expected-error @below {{expected elements of f32, f16 or bf16, got: 'f64'}}
    attention <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]>
        to <activations, 0, f32 [1, 4, 8, 2]> lse <activations, 0, f64 [1, 4, 8]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention_backward
    // expected-error @below {{expected output of extents [1, 4, 8, 2], got: [1, 4, 7, 2]}}
    attention_backward <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]>
        output <activations, 0, f32 [1, 4, 7, 2]> lse <activations, 0, f32 [1, 4, 8]> gradient <activations, 0, f32 [1, 4, 8, 2]>
        to <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention_backward
    // expected-error @below {{expected gradient of extents [1, 4, 8, 2], got: [1, 4, 8, 1]}}
    attention_backward <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]>
        output <activations, 0, f32 [1, 4, 8, 2]> lse <activations, 0, f32 [1, 4, 8]> gradient <activations, 0, f32 [1, 4, 8, 1]>
        to <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention_backward
    // expected-error @below {{expected query gradient of extents [1, 4, 8, 2], got: [1, 2, 8, 2]}}
    attention_backward <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]>
        output <activations, 0, f32 [1, 4, 8, 2]> lse <activations, 0, f32 [1, 4, 8]> gradient <activations, 0, f32 [1, 4, 8, 2]>
        to <activations, 0, f32 [1, 2, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention_backward
    // expected-error @below {{expected key gradient of extents [1, 2, 6, 2], got: [2, 6, 2]}}
    attention_backward <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]>
        output <activations, 0, f32 [1, 4, 8, 2]> lse <activations, 0, f32 [1, 4, 8]> gradient <activations, 0, f32 [1, 4, 8, 2]>
        to <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C1 of exec.attention_backward
    // expected-error @below {{expected value gradient of extents [1, 2, 6, 2], got: [1, 2, 5, 2]}}
    attention_backward <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]>
        output <activations, 0, f32 [1, 4, 8, 2]> lse <activations, 0, f32 [1, 4, 8]> gradient <activations, 0, f32 [1, 4, 8, 2]>
        to <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 5, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C2 of exec.attention_backward
    // expected-error @below {{expected one element type, got: 'f32' and 'f16'}}
    attention_backward <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]>
        output <activations, 0, f32 [1, 4, 8, 2]> lse <activations, 0, f32 [1, 4, 8]> gradient <activations, 0, f32 [1, 4, 8, 2]>
        to <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f16 [1, 2, 6, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C2 of exec.attention_backward
    // expected-error @below {{expected elements of f32, f16 or bf16, got: 'f64'}}
    attention_backward <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]>
        output <activations, 0, f32 [1, 4, 8, 2]> lse <activations, 0, f64 [1, 4, 8]> gradient <activations, 0, f32 [1, 4, 8, 2]>
        to <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.program @p ranks 0 to 1 schedule [] {
  arena activations 4096 align 64
  segment @s {
    // C3 of exec.attention_backward
    // expected-error @below {{expected a gradient with rows in one piece, got:}}
    attention_backward <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2]>, <activations, 0, f32 [1, 2, 6, 2]>
        output <activations, 0, f32 [1, 4, 8, 2]> lse <activations, 0, f32 [1, 4, 8]> gradient <activations, 0, f32 [1, 4, 8, 2]>
        to <activations, 0, f32 [1, 4, 8, 2]>, <activations, 0, f32 [1, 2, 6, 2] strides [24, 12, 1, 6]>, <activations, 0, f32 [1, 2, 6, 2]> scale 1.0 masked_rows nan
        priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @mesh []
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward>] {
  exec.arena activations 64 align 64
  exec.arena host 64 align 64
  segment @s {
    // C2 of exec.copy
    // expected-error @+1 {{expected an asynchronous copy on the stream of copies, got: communication}}
    copy <host, 0, f32 [2]> to <activations, 0, f32 [2]> priced <"", 0 flops, 8 read, 8 written, ""> async <communication, 1>
    wait 1 priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @mesh []
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward>] {
  exec.arena activations 64 align 64
  segment @s {
    // C2 of exec.copy
    // expected-error @+1 {{expected an asynchronous copy to be from or to the host, got:}}
    copy <activations, 0, f32 [2]> to <activations, 8, f32 [2]> priced <"", 0 flops, 8 read, 8 written, ""> async <copy, 1>
    wait 1 priced <"", 0 flops, 0 read, 0 written, "">
  }
}

// -----

exec.mesh @mesh []
exec.program @p ranks 0 to 1 schedule [#exec.entry<@s, forward>] {
  exec.arena host 64 align 64
  segment @s {
    // C7 of exec.program
    // expected-error @+1 {{expected copies alone to name the host's memory, got: #exec.operand<host, 0, f32 [2]>}}
    fill 0.0 : f32 into <host, 0, f32 [2]> priced <"", 0 flops, 0 read, 8 written, "">
  }
}

// -----

exec.mesh @mesh []
exec.program @p ranks 0 to 1 schedule [] {
  // C2 of exec.arena
  // expected-error @below {{expected one frame of host, got: 2}}
  exec.arena host 64 align 64 frames 2
}
