// DEFINE: %{step} = %S/../../e2e/Inputs/training_step.mlir
// DEFINE: %{partitioned} = --weft-partition-pipeline
// RUN: weft-opt %{step} --weft-plan-pipeline=mesh=data=2 %{partitioned} | FileCheck %s --check-prefixes=DATA,ALL
// RUN: weft-opt %{step} --weft-plan-pipeline=mesh=model=2 %{partitioned} | FileCheck %s --check-prefixes=MODEL,ALL
// RUN: weft-opt %{step} --weft-plan-pipeline=mesh=data=3,model=2 %{partitioned} | FileCheck %s --check-prefixes=BOTH,ALL

// Over data, weights are whole and each gradient is reduced once, the last layer's first; nothing of the batch is joined.
// DATA: weft.weight kind(trained) @w1 {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {}]>}
// DATA-NOT: dist.{{all_gather|all_reduce|reduce_scatter|all_to_all}}
// DATA: dist.all_reduce sum %{{.*}} axes ["data"] on @mesh : tensor<f32>
// DATA-NOT: dist.{{all_gather|all_reduce|reduce_scatter|all_to_all}}
// DATA: dist.all_reduce sum %{{.*}} axes ["data"] on @mesh : tensor<32x16xf32>
// DATA-NOT: dist.{{all_gather|all_reduce|reduce_scatter|all_to_all}}
// DATA: dist.all_reduce sum %{{.*}} axes ["data"] on @mesh : tensor<32xf32>
// DATA-NOT: dist.{{all_gather|all_reduce|reduce_scatter|all_to_all}}
// DATA: dist.all_reduce sum %{{.*}} axes ["data"] on @mesh : tensor<16x32xf32>
// DATA-NOT: dist.{{all_gather|all_reduce|reduce_scatter|all_to_all}}

// Over model, columns, then rows, with their optimizer's state: one sum a pair of layers (the input has no gradient), and one
// block of each weight for the forward pass, the backward pass and the update.
// MODEL: weft.weight kind(trained) @w1 {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
// MODEL: weft.weight kind(trained) @b1 {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"model"}]>}
// MODEL: weft.weight kind(trained) @w2 {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
// MODEL: weft.weight kind(state) @"optimizer.m:w1" {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
// MODEL: weft.weight kind(state) @"optimizer.m:w2" {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"model"}, {}]>}
// MODEL-NOT: dist.{{all_gather|all_reduce|reduce_scatter|all_to_all}}
// MODEL: dist.load_shard @w1
// MODEL-NOT: dist.load_shard @w1
// MODEL: dist.all_reduce sum %{{.*}} axes ["model"] on @mesh : tensor<12x16xf32>
// MODEL-NOT: dist.{{all_gather|all_reduce|reduce_scatter|all_to_all}}

// BOTH: dist.all_reduce sum %{{.*}} axes ["model"] on @mesh : tensor<4x16xf32>
// BOTH-DAG: dist.all_reduce sum %{{.*}} axes ["data"] on @mesh : tensor<16x16xf32>
// BOTH-DAG: dist.all_reduce sum %{{.*}} axes ["data"] on @mesh : tensor<16xf32>
// BOTH-DAG: dist.all_reduce sum %{{.*}} axes ["data"] on @mesh : tensor<16x16xf32>
// BOTH-DAG: dist.all_reduce sum %{{.*}} axes ["data"] on @mesh : tensor<f32>
// BOTH-NOT: dist.{{all_gather|all_reduce|reduce_scatter|all_to_all}}

// ALL: return
