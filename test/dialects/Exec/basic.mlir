// RUN: weft-opt %s | weft-opt | FileCheck %s

// CHECK: exec.mesh @mesh ["data"=2, "model"=4] order [1, 0, 2, 3, 4, 5, 6, 7]
exec.mesh @mesh ["data"=2, "model"=4] order [1, 0, 2, 3, 4, 5, 6, 7]
// CHECK: exec.weight @w f32 [64, 256] = #exec.external<"model.onnx.data", 1024, 65536>
exec.weight @w f32 [64, 256] = #exec.external<"model.onnx.data", 1024, 65536>
// CHECK: exec.weight constant @table i64 [2] = dense<3> : tensor<2xi64>
exec.weight constant @table i64 [2] = dense<3> : tensor<2xi64>

// CHECK: exec.program @class0 ranks 0 to 8 schedule [#exec.entry<@forward, forward>]
exec.program @class0 ranks 0 to 8 schedule [#exec.entry<@forward, forward>] {
  // CHECK: arena weights 16384 align 64
  arena weights 16384 align 64
  arena activations 8192 align 64
  arena communication 4096 align 64
  // CHECK: port input "x" [8, 64] split {{\[\[}}"data", "model":(1)2], []] on @mesh at <activations, 0, f32 [2, 64]>
  port input "x" [8, 64] split [["data", "model":(1)2], []] on @mesh at <activations, 0, f32 [2, 64]>
  // CHECK: weight_block @w start <0 + 64 * ["model"]> strides [256, 1] into <weights, 0, f32 [64, 64]>
  weight_block @w start <0 + 64 * ["model"]> strides [256, 1] into <weights, 0, f32 [64, 64]>
  // CHECK: port output "y" [5] split {{\[\[}}"model"]] on @mesh at <activations, 0, f32 [2]> valid [#exec.affine<5 + -2 * ["model"]>]
  port output "y" [5] split [["model"]] on @mesh at <activations, 0, f32 [2]> valid [#exec.affine<5 + -2 * ["model"]>]
  // CHECK: weight_block @w {{.*}} into <weights, 0, f32 [22, 256]> valid [#exec.affine<64 + -22 * ["model"]>, #exec.affine<256>]
  weight_block @w start <0 + 5632 * ["model"]> strides [256, 1] into <weights, 0, f32 [22, 256]> valid [#exec.affine<64 + -22 * ["model"]>, #exec.affine<256>]
  // CHECK: port gradient "grad:w" [2, 64] split {{\[\[}}], []] on @mesh at <activations, 512, f32 [2, 64]>
  port gradient "grad:w" [2, 64] split [[], []] on @mesh at <activations, 512, f32 [2, 64]>
  // CHECK: segment @forward
  segment @forward {
    // CHECK: gemm <activations, 0, f32 [2, 64] value 2>, <weights, 0, f32 [64, 64] strides [1, 64] value 1> to <activations, 512, f32 [2, 64]> priced <"mlp", 16384 flops, 16896 read, 512 written, "gemm m=2 n=64 k=64 f32">
    gemm <activations, 0, f32 [2, 64] value 2>, <weights, 0, f32 [64, 64] strides [1, 64] value 1> to <activations, 512, f32 [2, 64]>
        priced <"mlp", 16384 flops, 16896 read, 512 written, "gemm m=2 n=64 k=64 f32">
    // CHECK: attention <activations, 0, f32 [1, 4, 2, 2]>, <activations, 64, f32 [1, 2, 3, 2]>, <activations, 128, f32 [1, 2, 3, 2]> to <activations, 256, f32 [1, 4, 2, 2] strides [16, 2, 8, 1]> scale 5.000000e-01 high 1 masked_rows nan priced <"attn", 192 flops, 160 read, 64 written, "attention">
    attention <activations, 0, f32 [1, 4, 2, 2]>, <activations, 64, f32 [1, 2, 3, 2]>, <activations, 128, f32 [1, 2, 3, 2]>
        to <activations, 256, f32 [1, 4, 2, 2] strides [16, 2, 8, 1]> scale 0.5 high 1 masked_rows nan
        priced <"attn", 192 flops, 160 read, 64 written, "attention">
    // CHECK: attention {{.*}} mask <activations, 512, i1 [1, 2, 2, 3] strides [0, 0, 0, 1]> bias <activations, 520, f16 [1, 2, 2, 3] strides [0, 0, 3, 1]> to {{.*}} lse <activations, 600, f16 [1, 2, 2]> scale 1.000000e+00 softcap 3.000000e+01 low -3 high 3 masked_rows zero priced
    attention <activations, 0, f16 [1, 2, 2, 2]>, <activations, 64, f16 [1, 2, 3, 2]>, <activations, 128, f16 [1, 2, 3, 2]>
        mask <activations, 512, i1 [1, 2, 2, 3] strides [0, 0, 0, 1]> bias <activations, 520, f16 [1, 2, 2, 3] strides [0, 0, 3, 1]>
        to <activations, 256, f16 [1, 2, 2, 2]> lse <activations, 600, f16 [1, 2, 2]> scale 1.0 softcap 30.0 low -3 high 3 masked_rows zero
        priced <"attn", 96 flops, 80 read, 24 written, "attention">
    // CHECK: attention_backward <activations, 0, f16 [1, 2, 2, 2]>, <activations, 64, f16 [1, 2, 3, 2]>, <activations, 128, f16 [1, 2, 3, 2]> mask <activations, 512, i1 [1, 2, 2, 3] strides [0, 0, 0, 1]> output <activations, 256, f16 [1, 2, 2, 2]> lse <activations, 600, f32 [1, 2, 2]> gradient <activations, 640, f16 [1, 2, 2, 2]> to <activations, 700, f16 [1, 2, 2, 2] strides [8, 2, 4, 1]>, <activations, 760, f16 [1, 2, 3, 2]>, <activations, 820, f16 [1, 2, 3, 2]> scale 1.000000e+00 softcap 3.000000e+01 low -3 high 3 masked_rows zero priced <"attn", 240 flops, 120 read, 64 written, "attention_backward">
    attention_backward <activations, 0, f16 [1, 2, 2, 2]>, <activations, 64, f16 [1, 2, 3, 2]>, <activations, 128, f16 [1, 2, 3, 2]>
        mask <activations, 512, i1 [1, 2, 2, 3] strides [0, 0, 0, 1]>
        output <activations, 256, f16 [1, 2, 2, 2]> lse <activations, 600, f32 [1, 2, 2]> gradient <activations, 640, f16 [1, 2, 2, 2]>
        to <activations, 700, f16 [1, 2, 2, 2] strides [8, 2, 4, 1]>, <activations, 760, f16 [1, 2, 3, 2]>, <activations, 820, f16 [1, 2, 3, 2]>
        scale 1.0 softcap 30.0 low -3 high 3 masked_rows zero priced <"attn", 240 flops, 120 read, 64 written, "attention_backward">
    // CHECK: observe "grad:w" <activations, 512, f32 [2, 64]> priced <"mlp", 0 flops, 0 read, 0 written, "observe">
    observe "grad:w" <activations, 512, f32 [2, 64]> priced <"mlp", 0 flops, 0 read, 0 written, "observe">
    // CHECK: copy <activations, 512 + 32 * ["data"], f32 [2, 8] strides [64, 1]> to <communication, 0, f32 [2, 8]>
    copy <activations, 512 + 32 * ["data"], f32 [2, 8] strides [64, 1]> to <communication, 0, f32 [2, 8]>
        priced <"mlp", 0 flops, 64 read, 64 written, "copy 2x8 f32">
    // CHECK: collective all_reduce sum axes ["data", "model":(1)2] on @mesh
    collective all_reduce sum axes ["data", "model":(1)2] on @mesh <communication, 0, f32 [16]>
        to <communication, 0, f32 [16]> priced <"mlp", 16 flops, 64 read, 64 written, "all_reduce">
    // CHECK: collective permute sum axes ["data", "model"] to_axes ["model", "data"] on @mesh
    collective permute sum axes ["data", "model"] to_axes ["model", "data"] on @mesh <communication, 0, f32 [16]>
        to <communication, 64, f32 [16]> priced <"mlp", 0 flops, 64 read, 64 written, "permute">
    // CHECK: collective all_reduce {{.*}} priced <"mlp", 16 flops, 64 read, 64 written, "all_reduce"> async <communication, 1>
    collective all_reduce sum axes ["data"] on @mesh <communication, 0, f32 [16]>
        to <communication, 0, f32 [16]> priced <"mlp", 16 flops, 64 read, 64 written, "all_reduce"> async <communication, 1>
    // CHECK: wait 1 priced <"mlp", 0 flops, 0 read, 0 written, "wait">
    wait 1 priced <"mlp", 0 flops, 0 read, 0 written, "wait">
    // CHECK: fill 1.000000e+00 : f32 into <activations, 0, f32 [4]>
    fill 1.0 : f32 into <activations, 0, f32 [4]> priced <"", 0 flops, 0 read, 16 written, "fill">
    // CHECK: launch "gelu" [#exec.operand<activations, 0, f32 [4]>] to [#exec.operand<activations, 64, f32 [4]>] params [#exec.affine<0 + 4 * ["model"]>] tiles 4 grain 1 checks [#exec.check<"index out of range", -4, 4, "ids">]
    launch "gelu" [#exec.operand<activations, 0, f32 [4]>] to [#exec.operand<activations, 64, f32 [4]>]
        params [#exec.affine<0 + 4 * ["model"]>] tiles 4 grain 1
        checks [#exec.check<"index out of range", -4, 4, "ids">] priced <"g", 4 flops, 16 read, 16 written, "gelu">
    // CHECK: conv <activations, 0, f32 [1, 3, 8, 8]>, <weights, 0, f32 [4, 3, 2, 2]> to <activations, 1024, f32 [1, 4, 4, 4]> strides [2, 2] low [0, 0] high [0, 0] dilations [1, 1] groups 1
    conv <activations, 0, f32 [1, 3, 8, 8]>, <weights, 0, f32 [4, 3, 2, 2]>
        to <activations, 1024, f32 [1, 4, 4, 4]> strides [2, 2] low [0, 0] high [0, 0] dilations [1, 1] groups 1
        priced <"c", 1536 flops, 960 read, 256 written, "conv">
    // CHECK: conv {{.*}} groups 1 epilogue <"relu", inputs [#exec.operand<activations, 64, f32 [4]>, #exec.operand<activations, 1024, f32 [1, 4, 4, 4] strides [64, 1, 16, 4]>], params [#exec.affine<0 + 4 * ["model"]>], tiles 16, tile 4, row 4> priced
    conv <activations, 0, f32 [1, 3, 8, 8]>, <weights, 0, f32 [4, 3, 2, 2]>
        to <activations, 1024, f32 [1, 4, 4, 4] strides [64, 1, 16, 4]>
        strides [2, 2] low [0, 0] high [0, 0] dilations [1, 1] groups 1
        epilogue <"relu", inputs [#exec.operand<activations, 64, f32 [4]>, #exec.operand<activations, 1024, f32 [1, 4, 4, 4] strides [64, 1, 16, 4]>],
                  params [#exec.affine<0 + 4 * ["model"]>], tiles 16, tile 4, row 4>
        priced <"c", 1664 flops, 976 read, 256 written, "conv">
  }
}

// Over buffers: no arenas, and offsets within the buffer that a value numbers.
// CHECK: exec.program @over_buffers
exec.program @over_buffers ranks 0 to 1 schedule [#exec.entry<@forward, forward>] {
  // CHECK-NEXT: buffer 1 activations 64 align 64 live step
  buffer 1 activations 64 align 64 live step
  // CHECK-NEXT: buffer 2 workspace 32 align 64 live uses
  buffer 2 workspace 32 align 64 live uses
  // CHECK-NEXT: buffer 7 activations 32 align 64 live end
  buffer 7 activations 32 align 64 live end
  segment @forward {
    copy <activations, 32, f32 [8] value 1> to <workspace, 0, f32 [8] value 2> priced <"", 0 flops, 32 read, 32 written, "copy 8">
    copy <workspace, 0, f32 [8] value 2> to <activations, 0, f32 [8] value 7> priced <"", 0 flops, 32 read, 32 written, "copy 8">
  }
}

// Entries, repeats, and frames that count apart.
// CHECK: exec.program @scheduled ranks 0 to 1 schedule [#exec.entry<@forward, forward, frames [activations 1 of 4]>, #exec.repeat<8 times [#exec.entry<@forward, backward, microbatch 1 step [2], slice 3 step [0], frames [activations 0 step [1] of 4, ports 0 step [1] of 8]>, #exec.repeat<2 times [#exec.entry<@forward, update, microbatch 0 step [2, 1]>]>]>]
exec.program @scheduled ranks 0 to 1 schedule [
    #exec.entry<@forward, forward, microbatch 0, slice 0, frames [activations 1 of 4]>,
    #exec.repeat<8 times [
      #exec.entry<@forward, backward, microbatch 1 step [2], slice 3 step [0], frames [activations 0 step [1] of 4, ports 0 step [1] of 8]>,
      #exec.repeat<2 times [#exec.entry<@forward, update, microbatch 0 step [2, 1]>]>]>] {
  // CHECK-NEXT: arena activations 64 align 64 frames 4
  arena activations 64 align 64 frames 4
  // CHECK-NEXT: arena ports 64 align 64 frames 8
  arena ports 64 align 64 frames 8
  // CHECK-NEXT: port input "x" [4, 16] split {{\[\[}}], []] on @mesh at <ports, 0, f32 [4, 2]> along 1
  port input "x" [4, 16] split [[], []] on @mesh at <ports, 0, f32 [4, 2]> along 1
  segment @forward {
  }
}

// Work that goes through frames of its own, in an arena of its own.
// CHECK: exec.program @chunks ranks 0 to 1 schedule [#exec.entry<@one, forward, frames [activations 3 of 4]>, #exec.entry<@other, forward, frames [activations 0 of 2 behind 4]>]
exec.program @chunks ranks 0 to 1 schedule [#exec.entry<@one, forward, frames [activations 3 of 4]>, #exec.entry<@other, forward, frames [activations 0 of 2 behind 4]>] {
  // CHECK-NEXT: arena activations 64 align 64 frames 4
  arena activations 64 align 64 frames 4
  // CHECK-NEXT: arena activations 32 align 64 frames 2 behind 4
  arena activations 32 align 64 frames 2 behind 4
  segment @one {
  }
  segment @other {
  }
}

// A state in the host's memory comes to the device, and goes back.
// CHECK: exec.program @fetched
exec.program @fetched ranks 0 to 1 schedule [#exec.entry<@update, update>] {
  // CHECK-NEXT: arena activations 64 align 64
  arena activations 64 align 64
  // CHECK-NEXT: arena host 64 align 64
  arena host 64 align 64
  segment @update {
    // CHECK: copy <host, 0, f32 [8]> to <activations, 0, f32 [8]> priced <"optimizer.m:w", 0 flops, 32 read, 32 written, "copy from host"> async <copy, 1>
    copy <host, 0, f32 [8]> to <activations, 0, f32 [8]> priced <"optimizer.m:w", 0 flops, 32 read, 32 written, "copy from host"> async <copy, 1>
    wait 1 priced <"optimizer.m:w", 0 flops, 0 read, 0 written, "wait">
    // CHECK: copy <activations, 0, f32 [8]> to <host, 0, f32 [8]> priced <"optimizer.m:w", 0 flops, 32 read, 32 written, "copy to host">
    copy <activations, 0, f32 [8]> to <host, 0, f32 [8]> priced <"optimizer.m:w", 0 flops, 32 read, 32 written, "copy to host">
  }
}

// Messages to a mesh that stands behind, and what comes from there.
// CHECK: exec.mesh @behind ["data"=2] from 8
exec.mesh @behind ["data"=2] from 8
// CHECK: exec.mesh @turned ["data"=2] order [1, 0] from 10
exec.mesh @turned ["data"=2] order [1, 0] from 10
// CHECK: exec.program @messages ranks 0 to 8
exec.program @messages ranks 0 to 8 schedule [#exec.entry<@forward, forward>] {
  arena communication 512 align 64
  segment @forward {
    // CHECK: send tag 1 <communication, 0, f32 [2, 4, 8]> to @behind peer <0> steps [1] leaders ["data", "model":(1)2] priced <"h", 0 flops, 256 read, 0 written, "send n=2 bytes=256"> async <communication, 1>
    send tag 1 <communication, 0, f32 [2, 4, 8]> to @behind peer <0> steps [1] leaders ["data", "model":(1)2] priced <"h", 0 flops, 256 read, 0 written, "send n=2 bytes=256"> async <communication, 1>
    // CHECK-NEXT: receive tag 2 from @behind peer <0 + 1 * ["data"]> steps [] into <communication, 256, f32 [4, 8]> priced <"g", 0 flops, 0 read, 128 written, "receive n=1 bytes=128">
    receive tag 2 from @behind peer <0 + 1 * ["data"]> steps [] into <communication, 256, f32 [4, 8]> priced <"g", 0 flops, 0 read, 128 written, "receive n=1 bytes=128">
    // CHECK-NEXT: send tag 3 <communication, 0, f32 [2, 4, 8] strides [0, 8, 1]> to @behind peer <0> steps [1] leaders []
    send tag 3 <communication, 0, f32 [2, 4, 8] strides [0, 8, 1]> to @behind peer <0> steps [1] leaders [] priced <"s", 0 flops, 256 read, 0 written, "send n=2 bytes=256">
    // CHECK-NEXT: send tag 4 <communication, 0, f32 [4, 8]> to @behind peer <0> steps [] leaders ["data"] until @forward priced
    send tag 4 <communication, 0, f32 [4, 8]> to @behind peer <0> steps [] leaders ["data"] until @forward priced <"t", 0 flops, 128 read, 0 written, "send n=1 bytes=128">
    wait 1 priced <"h", 0 flops, 0 read, 0 written, "wait">
  }
}
