// RUN: weft-opt "--weft-apply-plan=mesh=data=2,model=2 shard=x=[{data},{}];weight:w=[{},{model}];up=[{},{model:(1)2}]" %s | FileCheck %s
// RUN: weft-opt --weft-apply-plan=plan=%S/Inputs/small.txtpb %s | FileCheck %s
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 shard=y=[{data},{}]" %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 shard=inner=[{data},{}]" %s 2>&1 | FileCheck %s --check-prefix=FUSED
// RUN: weft-opt "--weft-apply-plan=mesh=data=3,model=5 shard='x=[{data},{model} unit 2]'" %s | FileCheck %s --check-prefix=PADDED
// RUN: not weft-opt "--weft-apply-plan=mesh=data=3,model=2 shard='x=[{data},{model} unit 4]'" %s 2>&1 | FileCheck %s --check-prefix=UNIT
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2 shard=x=[{data}]" %s 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not weft-opt "--weft-apply-plan=mesh=data=2,model=2 shard=x=[{dta},{}]" %s 2>&1 | FileCheck %s --check-prefix=AXIS

// CHECK: dist.mesh @mesh <["data"=2, "model"=2]>
// CHECK: weft.weight @w {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}
// CHECK: func.func @main(%{{.*}}: tensor<4x6xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {}]>, weft.name = "x"}
// CHECK: weft.dot_general {{.*}} {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{}, {"model"}]>}

// UNKNOWN: error: the model has no value 'y', did you mean 'x'?
// FUSED: error: cannot pin 'inner': it was fused into weft.gelu 'gelu', pin that value instead
// PADDED: %{{.*}}: tensor<4x6xf32> {dist.pinned, dist.sharding = #dist.sharding<@mesh, [{"data"}, {"model"} unit 2]>, weft.name = "x"}
// UNIT: error: cannot split dimension 1 of 'x': expected it to be padded by blocks of its unit, which divides it, got: 6 in units of 4 over 2
// RANK: error: cannot pin 'x' of type 'tensor<4x6xf32>': expected one {…} per dimension, got: 1 != 2
// AXIS: error: --shard: sharding of 'x': the mesh has no axis 'dta', did you mean 'data'?

weft.weight @w : tensor<6x8xf32> = #weft.external<"w", 0, 192>

func.func @main(%x: tensor<4x6xf32> {weft.name = "x"}) -> tensor<4x8xf32> {
  %w = weft.load @w : tensor<6x8xf32> loc("w")
  %0 = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<4x6xf32>, tensor<6x8xf32>) -> tensor<4x8xf32> loc("up")
  %1 = weft.gelu erf %0 : tensor<4x8xf32> loc(fused["gelu", "inner"])
  return %1 : tensor<4x8xf32>
}
