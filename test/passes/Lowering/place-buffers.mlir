// RUN: weft-opt %s --split-input-file --weft-place-buffers | FileCheck %s

// Values that are kept at the same time lie apart, others share bytes; an input is kept all the time. Arenas take the buffers' place.
exec.mesh @mesh []
// CHECK-LABEL: exec.program @shares
// CHECK-NEXT: arena activations 192 align 64
// CHECK-NEXT: port input "x" [8] split {{\[\[}}]] on @mesh at <activations, [[X:[0-9]+]], f32 [8] value 1>
// CHECK-NEXT: port output "y" [8] split {{\[\[}}]] on @mesh at <activations, [[Y:[0-9]+]], f32 [8] value 4>
// CHECK: copy <activations, [[X]], f32 [8] value 1> to <activations, [[A:[0-9]+]], f32 [8] value 2>
// CHECK-NEXT: copy <activations, [[A]], f32 [8] value 2> to <activations, [[B:[0-9]+]], f32 [8] value 3>
// CHECK-NEXT: copy <activations, [[B]], f32 [8] value 3> to <activations, [[Y]], f32 [8] value 4>
exec.program @shares ranks 0 to 1 schedule [#exec.entry<@forward, forward>] {
  buffer 1 activations 32 align 64 live step
  buffer 2 activations 32 align 64 live uses
  buffer 3 activations 32 align 64 live uses
  buffer 4 activations 32 align 64 live end
  port input "x" [8] split [[]] on @mesh at <activations, 0, f32 [8] value 1>
  port output "y" [8] split [[]] on @mesh at <activations, 0, f32 [8] value 4>
  segment @forward {
    copy <activations, 0, f32 [8] value 1> to <activations, 0, f32 [8] value 2> priced <"", 0 flops, 32 read, 32 written, "">
    copy <activations, 0, f32 [8] value 2> to <activations, 0, f32 [8] value 3> priced <"", 0 flops, 32 read, 32 written, "">
    copy <activations, 0, f32 [8] value 3> to <activations, 0, f32 [8] value 4> priced <"", 0 flops, 32 read, 32 written, "">
  }
}

// -----

// Each kind has an arena of its own; what a rank's coordinates add to an offset stays. A buffer that nothing names has no place.
// CHECK-LABEL: exec.program @kinds
// CHECK-NEXT: arena weights 192 align 64
// CHECK-NEXT: arena workspace 32 align 32
// CHECK-NEXT: weight_block @v start <0> strides [1] into <weights, 128, f32 [4] value 2>
// CHECK: copy <weights, 16 + 16 * ["x"], f32 [4] value 1> to <workspace, 0, f32 [4] value 3>
exec.mesh @mesh ["x"=2]
exec.weight @v f32 [4] = dense<1.0> : tensor<4xf32>
exec.program @kinds ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 weights 100 align 64 live step
  buffer 2 weights 16 align 64 live step
  buffer 3 workspace 16 align 32 live uses
  buffer 4 activations 16 align 64 live uses
  weight_block @v start <0> strides [1] into <weights, 0, f32 [4] value 2>
  segment @forward {
    copy <weights, 16 + 16 * ["x"], f32 [4] value 1> to <workspace, 0, f32 [4] value 3> priced <"", 0 flops, 16 read, 16 written, "">
  }
}

// -----

// An all-reduce takes its operand's place where the operand ends with it, and not where it is read afterwards.
// CHECK-LABEL: exec.program @in_place
// CHECK: arena communication 128 align 64
// CHECK: collective all_reduce {{.*}} <communication, [[A:[0-9]+]], f32 [4] value 1> to <communication, [[A]], f32 [4] value 2>
// CHECK-NEXT: collective all_reduce {{.*}} <communication, [[A]], f32 [4] value 2> to <communication, [[B:[0-9]+]], f32 [4] value 3>
// CHECK-NEXT: launch "add" [#exec.operand<communication, [[A]], f32 [4] value 2>, #exec.operand<communication, [[B]], f32 [4] value 3>]
exec.mesh @mesh ["x"=2]
exec.program @in_place ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 communication 16 align 64 live uses
  buffer 2 communication 16 align 64 live uses
  buffer 3 communication 16 align 64 live uses
  segment @forward {
    fill 1.0 : f32 into <communication, 0, f32 [4] value 1> priced <"", 0 flops, 0 read, 16 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [4] value 1> to <communication, 0, f32 [4] value 2> priced <"", 0 flops, 0 read, 16 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [4] value 2> to <communication, 0, f32 [4] value 3> priced <"", 0 flops, 0 read, 16 written, "">
    launch "add" [#exec.operand<communication, 0, f32 [4] value 2>, #exec.operand<communication, 0, f32 [4] value 3>] to [] params [] tiles 1 grain 1 checks [] priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

// An output keeps its bytes though it was written in place.
// CHECK-LABEL: exec.program @output_in_place
// CHECK: port output "y" [4] split {{\[\[}}]] on @mesh at <communication, [[Y:[0-9]+]], f32 [4] value 2>
// CHECK: collective all_reduce {{.*}} to <communication, [[Y]], f32 [4] value 2>
// CHECK-NOT: to <communication, [[Y]], f32 [4] value 3>
// CHECK: segment @done
exec.mesh @mesh ["x"=2]
exec.program @output_in_place ranks 0 to 2 schedule [#exec.entry<@forward, forward>, #exec.entry<@done, forward>] {
  buffer 1 communication 16 align 64 live uses
  buffer 2 communication 16 align 64 live end
  buffer 3 communication 16 align 64 live uses
  port output "y" [4] split [[]] on @mesh at <communication, 0, f32 [4] value 2>
  segment @forward {
    fill 1.0 : f32 into <communication, 0, f32 [4] value 1> priced <"", 0 flops, 0 read, 16 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [4] value 1> to <communication, 0, f32 [4] value 2> priced <"", 0 flops, 0 read, 16 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [4] value 2> to <communication, 0, f32 [4] value 3> priced <"", 0 flops, 0 read, 16 written, "">
  }
  segment @done {
  }
}

// -----

// What a segment reads again at its next execution is kept to its end: value 3 cannot take the place of value 1.
// CHECK-LABEL: exec.program @again
// CHECK: arena workspace 192 align 64
// CHECK: fill 1.000000e+00 : f32 into <workspace, [[A:[0-9]+]], f32 [4] value 1>
// CHECK: copy <workspace, [[A]], f32 [4] value 1> to <workspace, [[B:[0-9]+]], f32 [4] value 2>
// CHECK: copy <workspace, [[B]], f32 [4] value 2> to <workspace, [[C:[0-9]+]], f32 [4] value 3>
exec.program @again ranks 0 to 1 schedule [
    #exec.entry<@begin, forward>,
    #exec.entry<@loop, forward>,
    #exec.entry<@loop, forward, microbatch 1>] {
  buffer 1 workspace 16 align 64 live uses
  buffer 2 workspace 16 align 64 live uses
  buffer 3 workspace 16 align 64 live uses
  segment @begin {
    fill 1.0 : f32 into <workspace, 0, f32 [4] value 1> priced <"", 0 flops, 0 read, 16 written, "">
  }
  segment @loop {
    copy <workspace, 0, f32 [4] value 1> to <workspace, 0, f32 [4] value 2> priced <"", 0 flops, 16 read, 16 written, "">
    copy <workspace, 0, f32 [4] value 2> to <workspace, 0, f32 [4] value 3> priced <"", 0 flops, 16 read, 16 written, "">
  }
}

// -----

// Segments that run once share bytes over their border: value 1 ends where value 3 begins.
// CHECK-LABEL: exec.program @once
// CHECK: arena workspace 128 align 64
exec.program @once ranks 0 to 1 schedule [
    #exec.entry<@begin, forward>,
    #exec.entry<@end, forward>] {
  buffer 1 workspace 16 align 64 live uses
  buffer 2 workspace 16 align 64 live uses
  buffer 3 workspace 16 align 64 live uses
  segment @begin {
    fill 1.0 : f32 into <workspace, 0, f32 [4] value 1> priced <"", 0 flops, 0 read, 16 written, "">
  }
  segment @end {
    copy <workspace, 0, f32 [4] value 1> to <workspace, 0, f32 [4] value 2> priced <"", 0 flops, 16 read, 16 written, "">
    copy <workspace, 0, f32 [4] value 2> to <workspace, 0, f32 [4] value 3> priced <"", 0 flops, 16 read, 16 written, "">
  }
}

// -----

// Arenas have as many frames as the schedule names, each kind for itself. What a backward reads is kept to its end; a
// transient, which one segment alone names, is not kept between executions.
// CHECK-LABEL: exec.program @frames
// CHECK-SAME: #exec.repeat<8 times [#exec.entry<@f, forward, microbatch 0 step [1], frames [activations 0 step [1] of 2, ports 0 step [1] of 8]>, #exec.entry<@b, backward
// CHECK-NEXT: arena activations 128 align 64 frames 2
// CHECK-NEXT: arena workspace 64 align 64
// CHECK-NEXT: arena ports 64 align 64 frames 8
// CHECK: copy <ports, 0, f32 [4] value 1> to <activations, [[A:[0-9]+]], f32 [4] value 2>
// CHECK: copy <activations, [[A]], f32 [4] value 2> to <activations, [[B:[0-9]+]], f32 [4] value 3>
// CHECK: copy <activations, [[B]], f32 [4] value 3> to <workspace, 0, f32 [4] value 4>
// CHECK: copy <activations, [[A]], f32 [4] value 2> to <workspace, 0, f32 [4] value 5>
exec.mesh @mesh []
exec.program @frames ranks 0 to 1 schedule [
    #exec.repeat<8 times [
      #exec.entry<@f, forward, microbatch 0 step [1], frames [activations 0 step [1] of 2, ports 0 step [1] of 8]>,
      #exec.entry<@b, backward, microbatch 0 step [1], frames [activations 0 step [1] of 2, ports 0 step [1] of 8]>]>] {
  buffer 1 ports 16 align 64 live step
  buffer 2 activations 16 align 64 live uses
  buffer 3 activations 16 align 64 live uses
  buffer 4 workspace 16 align 64 live uses
  buffer 5 workspace 16 align 64 live uses
  port input "x" [32] split [[]] on @mesh at <ports, 0, f32 [4] value 1>
  segment @f {
    copy <ports, 0, f32 [4] value 1> to <activations, 0, f32 [4] value 2> priced <"", 0 flops, 16 read, 16 written, "">
    copy <activations, 0, f32 [4] value 2> to <activations, 0, f32 [4] value 3> priced <"", 0 flops, 16 read, 16 written, "">
  }
  segment @b {
    copy <activations, 0, f32 [4] value 3> to <workspace, 0, f32 [4] value 4> priced <"", 0 flops, 16 read, 16 written, "">
    copy <activations, 0, f32 [4] value 2> to <workspace, 0, f32 [4] value 5> priced <"", 0 flops, 16 read, 16 written, "">
  }
}

// -----

// Nor where another instruction reads it while the all-reduce is under way.
// CHECK-LABEL: exec.program @read_beside
// CHECK: arena communication 192 align 64
exec.mesh @mesh ["x"=2]
exec.program @read_beside ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 communication 16 align 64 live uses
  buffer 2 communication 16 align 64 live uses
  buffer 3 communication 16 align 64 live end
  segment @forward {
    fill 0.0 : f32 into <communication, 0, f32 [4] value 1> priced <"", 0 flops, 0 read, 16 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [4] value 1> to <communication, 0, f32 [4] value 2> priced <"", 0 flops, 16 read, 16 written, ""> async <communication, 1>
    copy <communication, 0, f32 [4] value 1> to <communication, 0, f32 [4] value 3> priced <"", 0 flops, 16 read, 16 written, "">
    wait 1 priced <"", 0 flops, 0 read, 0 written, "">
    launch "add" [#exec.operand<communication, 0, f32 [4] value 2>] to [#exec.operand<communication, 0, f32 [4] value 3>] params [] tiles 1 grain 1 checks [] priced <"", 0 flops, 16 read, 16 written, "">
  }
}

// -----

// Of an arena with frames only what lies in one frame counts: what a microbatch's forward phase leaves to its backward phase ends there with
// its last reading, though other microbatches come in between, and the place is taken by what follows.
// CHECK-LABEL: exec.program @one_frame
// CHECK: arena activations 64 align 64 frames 2
// CHECK: segment @backward
// CHECK-NEXT: copy <activations, 0, f32 [16] value 1> to <workspace, 0, f32 [16] value 2>
// CHECK-NEXT: copy <workspace, 0, f32 [16] value 2> to <activations, 0, f32 [16] value 3>
exec.mesh @mesh []
exec.program @one_frame ranks 0 to 1 schedule [#exec.entry<@forward, forward, frames [activations 0 of 2]>, #exec.repeat<7 times [#exec.entry<@forward, forward, microbatch 1 step [1], frames [activations 1 step [1] of 2]>, #exec.entry<@backward, backward, microbatch 0 step [1], frames [activations 0 step [1] of 2]>]>, #exec.entry<@backward, backward, microbatch 7, frames [activations 1 of 2]>] {
  buffer 1 activations 64 align 64 live uses
  buffer 2 workspace 64 align 64 live uses
  buffer 3 activations 64 align 64 live uses
  segment @forward {
    fill 0.0 : f32 into <activations, 0, f32 [16] value 1> priced <"", 0 flops, 0 read, 64 written, "">
  }
  segment @backward {
    copy <activations, 0, f32 [16] value 1> to <workspace, 0, f32 [16] value 2> priced <"", 0 flops, 64 read, 64 written, "">
    copy <workspace, 0, f32 [16] value 2> to <activations, 0, f32 [16] value 3> priced <"", 0 flops, 64 read, 64 written, "">
  }
}
