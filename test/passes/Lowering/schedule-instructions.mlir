// RUN: weft-opt %s --split-input-file --weft-schedule-instructions | FileCheck %s
// RUN: weft-opt %s --split-input-file --weft-schedule-instructions --weft-place-buffers | FileCheck %s --check-prefix=PLACED
// RUN: not weft-opt %s --split-input-file --weft-schedule-instructions=target=tpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: echo 'module attributes {weft.cluster = "dgx-b1oo:1"} {}' | weft-opt --weft-schedule-instructions 2>&1 | FileCheck %s --check-prefix=NAMELESS
// NAMELESS: warning: weft.cluster: {{.*}}dgx-b1oo{{.*}}; instructions are ordered by the times of a core
// UNKNOWN: error: expected target to be one of cpu, cuda, generic, got: tpu

// What needs the all-reduce is put off behind a product that does not, and waits there. In place all the same.
exec.mesh @mesh ["x"=2]
// CHECK-LABEL: exec.program @hides
// CHECK: collective all_reduce {{.*}} async <communication, [[T:[0-9]+]]>
// CHECK-NEXT: gemm {{.*}} value 5>
// CHECK-NEXT: wait [[T]] priced <"sum", 0 flops, 0 read, 0 written, "wait">
// CHECK-NEXT: launch "k"
// CHECK-NOT: wait
// PLACED-LABEL: exec.program @hides
// PLACED: collective all_reduce {{.*}} <communication, [[P:[0-9]+]], f32 [16] value 3> to <communication, [[P]], f32 [16] value 4>
exec.program @hides ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 activations 64 align 64 live step
  buffer 2 weights 64 align 64 live step
  buffer 3 communication 64 align 64 live uses
  buffer 4 communication 64 align 64 live uses
  buffer 5 activations 64 align 64 live end
  buffer 6 activations 64 align 64 live end
  segment @forward {
    gemm <activations, 0, f32 [4, 4] value 1>, <weights, 0, f32 [4, 4] value 2> to <communication, 0, f32 [4, 4] value 3> priced <"a", 100000000 flops, 0 read, 0 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [16] value 3> to <communication, 0, f32 [16] value 4> priced <"sum", 0 flops, 4000000 read, 4000000 written, "">
    launch "k" [#exec.operand<communication, 0, f32 [16] value 4>] to [#exec.operand<activations, 0, f32 [16] value 6>] params [] tiles 1 grain 1 checks [] priced <"k", 16 flops, 0 read, 0 written, "">
    gemm <activations, 0, f32 [4, 4] value 1>, <weights, 0, f32 [4, 4] value 2> to <activations, 0, f32 [4, 4] value 5> priced <"b", 100000000 flops, 0 read, 0 written, "">
  }
}

// -----

// Nothing to do beside it: all stays as it is.
exec.mesh @mesh ["x"=2]
// CHECK-LABEL: exec.program @alone
// CHECK: collective all_reduce
// CHECK-NOT: async
// CHECK-NOT: wait
// PLACED-LABEL: exec.program @alone
exec.program @alone ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 communication 64 align 64 live step
  buffer 2 communication 64 align 64 live uses
  buffer 3 activations 64 align 64 live end
  segment @forward {
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [16] value 1> to <communication, 0, f32 [16] value 2> priced <"sum", 0 flops, 4000000 read, 4000000 written, "">
    launch "k" [#exec.operand<communication, 0, f32 [16] value 2>] to [#exec.operand<activations, 0, f32 [16] value 3>] params [] tiles 1 grain 1 checks [] priced <"k", 100000000 flops, 0 read, 0 written, "">
  }
}

// -----

// An output is waited for at the end. What reads or overwrites an operand under way waits.
exec.mesh @mesh ["x"=2]
// CHECK-LABEL: exec.program @order
// CHECK: segment @forward
// CHECK-NEXT: gemm {{.*}} value 2>
// CHECK-NEXT: collective all_reduce {{.*}} value 3> {{.*}} async <communication, 1>
// CHECK-NEXT: gemm {{.*}} value 4>
// CHECK-NEXT: collective all_gather {{.*}} async <communication, 2>
// CHECK-NEXT: gemm {{.*}} value 6>
// CHECK-NEXT: wait 2
// CHECK-NEXT: fill {{.*}} value 4>
// CHECK-NEXT: wait 1
// CHECK-NEXT: }
// PLACED-LABEL: exec.program @order
exec.program @order ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 activations 64 align 64 live step
  buffer 2 communication 64 align 64 live uses
  buffer 3 communication 64 align 64 live end
  buffer 4 communication 64 align 64 live end
  buffer 5 communication 128 align 64 live end
  buffer 6 activations 64 align 64 live end
  segment @forward {
    gemm <activations, 0, f32 [4, 4] value 1>, <activations, 0, f32 [4, 4] value 1> to <communication, 0, f32 [4, 4] value 2> priced <"a", 100000000 flops, 0 read, 0 written, "">
    gemm <activations, 0, f32 [4, 4] value 1>, <activations, 0, f32 [4, 4] value 1> to <communication, 0, f32 [4, 4] value 4> priced <"b", 100000000 flops, 0 read, 0 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [16] value 2> to <communication, 0, f32 [16] value 3> priced <"", 0 flops, 64 read, 64 written, "">
    collective all_gather sum axes ["x"] on @mesh <communication, 0, f32 [16] value 4> to <communication, 0, f32 [32] value 5> priced <"", 0 flops, 64 read, 128 written, "">
    fill 0.0 : f32 into <communication, 0, f32 [16] value 4> priced <"", 0 flops, 0 read, 64 written, "fill">
    gemm <activations, 0, f32 [4, 4] value 1>, <activations, 0, f32 [4, 4] value 1> to <activations, 0, f32 [4, 4] value 6> priced <"c", 100000000 flops, 0 read, 0 written, "">
  }
}

// -----

// Messages are asynchronous whatever there is beside them: to wait in place for a program that waits too would be for ever.
exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
// CHECK-LABEL: exec.program @messages
// CHECK: receive tag 2 {{.*}} async <communication, [[R:[0-9]+]]>
// CHECK-NEXT: launch "h"
// CHECK-NEXT: send tag 1 {{.*}} async <communication, [[S:[0-9]+]]>
// CHECK: wait [[R]] priced <"g",
// CHECK-NEXT: launch "k"
// CHECK: }
// PLACED-LABEL: exec.program @messages
exec.program @messages ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 activations 64 align 64 live step
  buffer 2 communication 64 align 64 live uses
  buffer 3 communication 64 align 64 live uses
  buffer 4 activations 64 align 64 live end
  segment @forward {
    receive tag 2 from @there peer <0 + 1 * ["x"]> steps [] into <communication, 0, f32 [16] value 3> priced <"g", 0 flops, 0 read, 64 written, "">
    launch "h" [#exec.operand<activations, 0, f32 [16] value 1>] to [#exec.operand<communication, 0, f32 [16] value 2>] params [] tiles 1 grain 1 checks [] priced <"h", 16 flops, 0 read, 0 written, "">
    send tag 1 <communication, 0, f32 [16] value 2> to @there peer <0 + 1 * ["x"]> steps [] leaders [] priced <"h", 0 flops, 64 read, 0 written, "">
    launch "k" [#exec.operand<communication, 0, f32 [16] value 3>] to [#exec.operand<activations, 0, f32 [16] value 4>] params [] tiles 1 grain 1 checks [] priced <"k", 16 flops, 0 read, 0 written, "">
  }
}

// -----

// Who receives may do so only behind what another segment receives: the send is waited for at that one's end.
exec.mesh @here ["x"=2]
exec.mesh @there ["x"=2] from 2
// CHECK-LABEL: exec.program @late
// CHECK: segment @make
// CHECK: send tag 1 {{.*}} until @join {{.*}} async <communication, [[S:[0-9]+]]>
// CHECK-NEXT: }
// CHECK: segment @join
// CHECK: receive tag 2 {{.*}} async <communication, [[R:[0-9]+]]>
// CHECK: wait [[R]]
// CHECK: launch "k"
// CHECK: wait [[S]] priced <"h",
// CHECK-NEXT: }
exec.program @late ranks 0 to 2 schedule [#exec.entry<@make, forward>, #exec.entry<@join, forward>] {
  buffer 1 activations 64 align 64 live step
  buffer 2 communication 64 align 64 live uses
  buffer 3 communication 64 align 64 live uses
  buffer 4 activations 64 align 64 live end
  segment @make {
    launch "h" [#exec.operand<activations, 0, f32 [16] value 1>] to [#exec.operand<communication, 0, f32 [16] value 2>] params [] tiles 1 grain 1 checks [] priced <"h", 16 flops, 0 read, 0 written, "">
    send tag 1 <communication, 0, f32 [16] value 2> to @there peer <0 + 1 * ["x"]> steps [] leaders [] until @join priced <"h", 0 flops, 64 read, 0 written, "">
  }
  segment @join {
    receive tag 2 from @there peer <0 + 1 * ["x"]> steps [] into <communication, 0, f32 [16] value 3> priced <"g", 0 flops, 0 read, 64 written, "">
    launch "k" [#exec.operand<communication, 0, f32 [16] value 3>] to [#exec.operand<activations, 0, f32 [16] value 4>] params [] tiles 1 grain 1 checks [] priced <"k", 16 flops, 0 read, 0 written, "">
  }
}

// -----

// An observation changes nothing else: it follows the wait for what it reads.
exec.mesh @mesh ["x"=2]
// CHECK-LABEL: exec.program @observed
// CHECK: collective all_reduce {{.*}} async <communication, [[T:[0-9]+]]>
// CHECK-NEXT: gemm {{.*}} value 5>
// CHECK-NEXT: wait [[T]]
// CHECK-NEXT: observe "grad:w"
// CHECK-NEXT: launch "k"
// CHECK-NOT: wait
// PLACED-LABEL: exec.program @observed
// PLACED: collective all_reduce {{.*}} <communication, [[P:[0-9]+]], f32 [16] value 3> to <communication, [[P]], f32 [16] value 4>
exec.program @observed ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 activations 64 align 64 live step
  buffer 2 weights 64 align 64 live step
  buffer 3 communication 64 align 64 live uses
  buffer 4 communication 64 align 64 live uses
  buffer 5 activations 64 align 64 live end
  buffer 6 activations 64 align 64 live end
  port gradient "grad:w" [16] split [[]] on @mesh at <communication, 0, f32 [16] value 4>
  segment @forward {
    gemm <activations, 0, f32 [4, 4] value 1>, <weights, 0, f32 [4, 4] value 2> to <communication, 0, f32 [4, 4] value 3> priced <"a", 100000000 flops, 0 read, 0 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [16] value 3> to <communication, 0, f32 [16] value 4> priced <"sum", 0 flops, 4000000 read, 4000000 written, "">
    observe "grad:w" <communication, 0, f32 [16] value 4> priced <"sum", 0 flops, 0 read, 0 written, "observe">
    launch "k" [#exec.operand<communication, 0, f32 [16] value 4>] to [#exec.operand<activations, 0, f32 [16] value 6>] params [] tiles 1 grain 1 checks [] priced <"k", 16 flops, 0 read, 0 written, "">
    gemm <activations, 0, f32 [4, 4] value 1>, <weights, 0, f32 [4, 4] value 2> to <activations, 0, f32 [4, 4] value 5> priced <"b", 100000000 flops, 0 read, 0 written, "">
  }
}

// -----

// Waking a thread takes longer than this product does.
exec.mesh @mesh ["x"=2]
// CHECK-LABEL: exec.program @woken
// CHECK: collective all_reduce
// CHECK-NOT: async
// PLACED-LABEL: exec.program @woken
exec.program @woken ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 activations 64 align 64 live step
  buffer 2 weights 64 align 64 live step
  buffer 3 communication 64 align 64 live uses
  buffer 4 communication 64 align 64 live uses
  buffer 5 activations 64 align 64 live end
  buffer 6 activations 64 align 64 live end
  segment @forward {
    gemm <activations, 0, f32 [4, 4] value 1>, <weights, 0, f32 [4, 4] value 2> to <communication, 0, f32 [4, 4] value 3> priced <"a", 300000 flops, 0 read, 0 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [16] value 3> to <communication, 0, f32 [16] value 4> priced <"sum", 0 flops, 4000000 read, 4000000 written, "">
    launch "k" [#exec.operand<communication, 0, f32 [16] value 4>] to [#exec.operand<activations, 0, f32 [16] value 6>] params [] tiles 1 grain 1 checks [] priced <"k", 16 flops, 0 read, 0 written, "">
    gemm <activations, 0, f32 [4, 4] value 1>, <weights, 0, f32 [4, 4] value 2> to <activations, 0, f32 [4, 4] value 5> priced <"b", 300000 flops, 0 read, 0 written, "">
  }
}

// -----

// On the cluster that the module is planned for it costs one more call.
module attributes {weft.cluster = "dgx-a100:1"} {
exec.mesh @mesh ["x"=2]
// CHECK-LABEL: exec.program @enqueued
// CHECK: collective all_reduce {{.*}} async <communication, [[T:[0-9]+]]>
// CHECK-NEXT: gemm {{.*}} value 5>
// CHECK-NEXT: wait [[T]]
// CHECK-NEXT: launch "k"
// PLACED-LABEL: exec.program @enqueued
exec.program @enqueued ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 activations 64 align 64 live step
  buffer 2 weights 64 align 64 live step
  buffer 3 communication 64 align 64 live uses
  buffer 4 communication 64 align 64 live uses
  buffer 5 activations 64 align 64 live end
  buffer 6 activations 64 align 64 live end
  segment @forward {
    gemm <activations, 0, f32 [4, 4] value 1>, <weights, 0, f32 [4, 4] value 2> to <communication, 0, f32 [4, 4] value 3> priced <"a", 300000 flops, 0 read, 0 written, "">
    collective all_reduce sum axes ["x"] on @mesh <communication, 0, f32 [16] value 3> to <communication, 0, f32 [16] value 4> priced <"sum", 0 flops, 4000000 read, 4000000 written, "">
    launch "k" [#exec.operand<communication, 0, f32 [16] value 4>] to [#exec.operand<activations, 0, f32 [16] value 6>] params [] tiles 1 grain 1 checks [] priced <"k", 16 flops, 0 read, 0 written, "">
    gemm <activations, 0, f32 [4, 4] value 1>, <weights, 0, f32 [4, 4] value 2> to <activations, 0, f32 [4, 4] value 5> priced <"b", 300000 flops, 0 read, 0 written, "">
  }
}
}

// -----

// The sum over one axis does not wait for the long gather over the other: on that cluster each has a queue. What needs the sum comes as soon as it is there.
module attributes {weft.cluster = "dgx-a100:1"} {
exec.mesh @mesh ["d"=2, "m"=2]
// CHECK-LABEL: exec.program @lanes
// CHECK: collective all_gather {{.*}} async <communication, [[G:[0-9]+]]>
// CHECK-NEXT: gemm {{.*}} value 4>
// CHECK-NEXT: collective all_reduce {{.*}} async <communication, [[S:[0-9]+]]>
// CHECK-NEXT: gemm {{.*}} value 6>
// CHECK-NEXT: wait [[S]]
// CHECK-NEXT: launch "k"
// CHECK-NEXT: gemm {{.*}} value 8>
// CHECK-NEXT: wait [[G]]
// PLACED-LABEL: exec.program @lanes
exec.program @lanes ranks 0 to 4 schedule [#exec.entry<@forward, forward>] {
  buffer 1 activations 16777216 align 64 live step
  buffer 2 weights 64 align 64 live step
  buffer 3 activations 128 align 64 live uses
  buffer 4 activations 64 align 64 live uses
  buffer 5 activations 64 align 64 live uses
  buffer 6 activations 16777216 align 64 live uses
  buffer 7 activations 64 align 64 live uses
  buffer 8 activations 16777216 align 64 live uses
  buffer 9 activations 67108864 align 64 live end
  segment @forward {
    collective all_gather sum axes ["d"] on @mesh <weights, 0, f32 [16] value 2> to <activations, 0, f32 [32] value 3> priced <"w", 0 flops, 400000000 read, 800000000 written, "">
    gemm <activations, 0, f32 [4, 4] value 1>, <activations, 0, f32 [4, 4] value 1> to <activations, 0, f32 [4, 4] value 4> priced <"a", 300000 flops, 0 read, 0 written, "">
    collective all_reduce sum axes ["m"] on @mesh <activations, 0, f32 [16] value 4> to <activations, 0, f32 [16] value 5> priced <"sum", 0 flops, 4000000 read, 4000000 written, "">
    gemm <activations, 0, f32 [2048, 2048] value 1>, <activations, 0, f32 [2048, 2048] value 1> to <activations, 0, f32 [2048, 2048] value 6> priced <"b", 17179869184 flops, 0 read, 0 written, "">
    launch "k" [#exec.operand<activations, 0, f32 [16] value 5>] to [#exec.operand<activations, 0, f32 [16] value 7>] params [] tiles 1 grain 1 checks [] priced <"k", 16 flops, 0 read, 0 written, "">
    gemm <activations, 0, f32 [2048, 2048] value 1>, <activations, 0, f32 [2048, 2048] value 1> to <activations, 0, f32 [2048, 2048] value 8> priced <"c", 17179869184 flops, 0 read, 0 written, "">
    launch "j" [#exec.operand<activations, 0, f32 [32] value 3>, #exec.operand<activations, 0, f32 [16] value 6>, #exec.operand<activations, 0, f32 [16] value 7>, #exec.operand<activations, 0, f32 [16] value 8>] to [#exec.operand<activations, 0, f32 [16] value 9>] params [] tiles 1 grain 1 checks [] priced <"j", 16 flops, 0 read, 0 written, "">
  }
}
}

// -----

// The gather, whose operand is there, overtakes the sum.
exec.mesh @mesh ["x"=2]
// CHECK-LABEL: exec.program @overtakes
// CHECK: segment @forward
// CHECK-NEXT: collective all_gather {{.*}} async <communication, [[G:[0-9]+]]>
// CHECK-NEXT: gemm {{.*}} value 3>
// CHECK-NEXT: collective all_reduce
// CHECK-NEXT: launch "k"
// CHECK-NEXT: wait [[G]]
// CHECK-NEXT: gemm {{.*}} value 7>
// PLACED-LABEL: exec.program @overtakes
exec.program @overtakes ranks 0 to 2 schedule [#exec.entry<@forward, forward>] {
  buffer 1 activations 64 align 64 live step
  buffer 2 weights 64 align 64 live step
  buffer 3 activations 64 align 64 live uses
  buffer 4 activations 64 align 64 live uses
  buffer 5 activations 64 align 64 live end
  buffer 6 activations 128 align 64 live uses
  buffer 7 activations 64 align 64 live end
  segment @forward {
    gemm <activations, 0, f32 [4, 4] value 1>, <weights, 0, f32 [4, 4] value 2> to <activations, 0, f32 [4, 4] value 3> priced <"a", 100000000 flops, 0 read, 0 written, "">
    collective all_reduce sum axes ["x"] on @mesh <activations, 0, f32 [16] value 3> to <activations, 0, f32 [16] value 4> priced <"sum", 0 flops, 4000000 read, 4000000 written, "">
    launch "k" [#exec.operand<activations, 0, f32 [16] value 4>] to [#exec.operand<activations, 0, f32 [16] value 5>] params [] tiles 1 grain 1 checks [] priced <"k", 16 flops, 0 read, 0 written, "">
    collective all_gather sum axes ["x"] on @mesh <activations, 0, f32 [16] value 1> to <activations, 0, f32 [2, 16] value 6> priced <"gather", 0 flops, 2000000 read, 4000000 written, "">
    gemm <activations, 0, f32 [4, 4] value 6>, <weights, 0, f32 [4, 4] value 2> to <activations, 0, f32 [4, 4] value 7> priced <"b", 100000000 flops, 0 read, 0 written, "">
  }
}
