// RUN: weft-opt %s --split-input-file --weft-fetch-states --verify-diagnostics | FileCheck %s

// One update works while the next one's state comes and the last one's goes: fetched before the update in front of its own, written back behind the one that follows.
// CHECK-LABEL: exec.program @updates
// CHECK: buffer 5 activations 32 align 64 live uses
// CHECK: buffer 6 activations 32 align 64 live uses
// CHECK: buffer 7 activations 32 align 64 live uses
// CHECK: weight_block @m start <0> strides [1] into <host, 0, f32 [8] value 1>
// CHECK: segment @update {
// CHECK-NEXT: copy <host, 0, f32 [8] value 1> to <activations, 0, f32 [8] value 5> priced <"m", 0 flops, 32 read, 32 written, "copy from host">
// CHECK-NEXT: copy <host, 0, f32 [8] value 2> to <activations, 0, f32 [8] value 6> priced
// CHECK-NEXT: launch "a" [#exec.operand<activations, 0, f32 [8] value 5>] to [#exec.operand<activations, 0, f32 [8] value 5>]
// CHECK-NEXT: copy <host, 0, f32 [8] value 3> to <activations, 0, f32 [8] value 7> priced
// CHECK-NEXT: launch "a" [#exec.operand<activations, 0, f32 [8] value 6>] to [#exec.operand<activations, 0, f32 [8] value 6>]
// CHECK-NEXT: copy <activations, 0, f32 [8] value 5> to <host, 0, f32 [8] value 1> priced <"m", 0 flops, 32 read, 32 written, "copy to host">
// CHECK-NEXT: launch "a" [#exec.operand<activations, 0, f32 [8] value 7>] to [#exec.operand<activations, 0, f32 [8] value 7>]
// CHECK-NEXT: copy <activations, 0, f32 [8] value 6> to <host, 0, f32 [8] value 2> priced
// CHECK-NEXT: copy <activations, 0, f32 [8] value 7> to <host, 0, f32 [8] value 3> priced
// CHECK-NEXT: }
exec.mesh @mesh []
exec.weight @m f32 [8] = dense<0.0> : tensor<8xf32>
exec.weight @n f32 [8] = dense<0.0> : tensor<8xf32>
exec.weight @o f32 [8] = dense<0.0> : tensor<8xf32>
exec.program @updates ranks 0 to 1 schedule [#exec.entry<@update, update>] {
  buffer 1 host 32 align 64 live step
  buffer 2 host 32 align 64 live step
  buffer 3 host 32 align 64 live step
  buffer 4 activations 32 align 64 live uses
  weight_block @m start <0> strides [1] into <host, 0, f32 [8] value 1>
  weight_block @n start <0> strides [1] into <host, 0, f32 [8] value 2>
  weight_block @o start <0> strides [1] into <host, 0, f32 [8] value 3>
  segment @update {
    launch "a" [#exec.operand<host, 0, f32 [8] value 1>] to [#exec.operand<host, 0, f32 [8] value 1>] params [] tiles 1 grain 1 checks [] priced <"", 8 flops, 32 read, 32 written, "">
    launch "a" [#exec.operand<host, 0, f32 [8] value 2>] to [#exec.operand<host, 0, f32 [8] value 2>] params [] tiles 1 grain 1 checks [] priced <"", 8 flops, 32 read, 32 written, "">
    launch "a" [#exec.operand<host, 0, f32 [8] value 3>] to [#exec.operand<host, 0, f32 [8] value 3>] params [] tiles 1 grain 1 checks [] priced <"", 8 flops, 32 read, 32 written, "">
  }
}

// -----

// What a segment only reads is not written back; what it writes wholly before it reads it is not fetched, what it writes in part is.
// CHECK-LABEL: exec.program @parts
// CHECK: segment @reads {
// CHECK-NEXT: copy <host, 0, f32 [8] value 1> to <activations, 0, f32 [8] value 3> priced
// CHECK-NEXT: copy <activations, 0, f32 [8] value 3> to <activations, 0, f32 [8] value 2> priced
// CHECK-NEXT: }
// CHECK: segment @writes {
// CHECK-NEXT: fill 0.000000e+00 : f32 into <activations, 0, f32 [8] value 4> priced
// CHECK-NEXT: copy <activations, 0, f32 [8] value 4> to <host, 0, f32 [8] value 1> priced
// CHECK-NEXT: }
// CHECK: segment @changes {
// CHECK-NEXT: copy <host, 0, f32 [8] value 1> to <activations, 0, f32 [8] value 5> priced
// CHECK-NEXT: fill 0.000000e+00 : f32 into <activations, 0, f32 [4] value 5> priced
// CHECK-NEXT: copy <activations, 0, f32 [8] value 5> to <host, 0, f32 [8] value 1> priced
// CHECK-NEXT: }
exec.mesh @mesh []
exec.weight @m f32 [8] = dense<0.0> : tensor<8xf32>
exec.program @parts ranks 0 to 1 schedule [#exec.entry<@reads, forward>, #exec.entry<@writes, update>, #exec.entry<@changes, update>] {
  buffer 1 host 32 align 64 live step
  buffer 2 activations 32 align 64 live uses
  weight_block @m start <0> strides [1] into <host, 0, f32 [8] value 1>
  segment @reads {
    copy <host, 0, f32 [8] value 1> to <activations, 0, f32 [8] value 2> priced <"", 0 flops, 32 read, 32 written, "">
  }
  segment @writes {
    fill 0.0 : f32 into <host, 0, f32 [8] value 1> priced <"", 0 flops, 0 read, 32 written, "">
  }
  segment @changes {
    fill 0.0 : f32 into <host, 0, f32 [4] value 1> priced <"", 0 flops, 0 read, 16 written, "">
  }
}

// -----

// Where activations lie in frames, what is fetched has none of them.
// CHECK-LABEL: exec.program @frames
// CHECK: copy <host, 0, f32 [8] value 1> to <workspace, 0, f32 [8] value 2> priced
exec.mesh @mesh []
exec.weight @m f32 [8] = dense<0.0> : tensor<8xf32>
exec.program @frames ranks 0 to 1 schedule [#exec.entry<@update, update, frames [activations 0 of 2]>] {
  buffer 1 host 32 align 64 live step
  weight_block @m start <0> strides [1] into <host, 0, f32 [8] value 1>
  segment @update {
    launch "a" [#exec.operand<host, 0, f32 [8] value 1>] to [#exec.operand<host, 0, f32 [8] value 1>] params [] tiles 1 grain 1 checks [] priced <"", 8 flops, 32 read, 32 written, "">
  }
}

// -----

exec.mesh @mesh []
exec.weight @m f32 [8] = dense<0.0> : tensor<8xf32>
exec.program @nothing ranks 0 to 1 schedule [#exec.entry<@update, update>] {
  buffer 1 host 32 align 64 live step
  buffer 2 host 32 align 64 live step
  weight_block @m start <0> strides [1] into <host, 0, f32 [8] value 1>
  segment @update {
    // expected-error @+1 {{expected the host's memory to hold weights' blocks, got: #exec.operand<host, 0, f32 [8] value 2>}}
    fill 0.0 : f32 into <host, 0, f32 [8] value 2> priced <"", 0 flops, 0 read, 32 written, "">
  }
}
