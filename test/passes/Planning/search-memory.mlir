// RUN: weft plan %s --mesh data=4 --cluster dgx-h100 --train adamw --loss mse --logits y --labels z --recompute none --accumulate 1 --memory 512MiB -o %t.txtpb | FileCheck %s --check-prefix=STATES
// RUN: weft plan %s --mesh data=4 --cluster dgx-h100 --train adamw --loss mse --logits y --labels z --recompute none --accumulate 1 --memory 90MiB -o %t.txtpb | FileCheck %s --check-prefix=STATES
// RUN: weft plan %s --mesh data=4 --cluster dgx-h100 --train adamw --loss mse --logits y --labels z --recompute none --accumulate 1 --memory 52MiB -o %t.txtpb | FileCheck %s --check-prefix=WEIGHTS
// RUN: sed 's/<64x/<8192x/g' %s > %t.mlir
// RUN: weft plan %t.mlir --mesh data=4 --cluster dgx-h100 --train adamw --loss mse --logits y --labels z --recompute none --accumulate 1 --memory 4GiB -o %t.txtpb | FileCheck %s --check-prefixes=BATCH,SPEED
// RUN: weft plan %t.mlir --mesh data=4 --cluster dgx-h100 --train adamw --loss mse --logits y --labels z --recompute none --accumulate 2 --memory 4GiB -o %t.txtpb | FileCheck %s --check-prefixes=BATCH,TWICE
// RUN: weft plan %t.mlir --mesh data=4 --cluster dgx-h100 --train adamw --loss mse --logits y --labels z --recompute none --accumulate 1 --memory 168MiB -o %t.txtpb | FileCheck %s --check-prefix=WEIGHTS
// RUN: %python %S/../../tools/Inputs/exits.py 4 weft plan %s --mesh data=4 --cluster dgx-h100 --train adamw --loss mse --logits y --labels z --recompute none --accumulate 1 --memory 20MiB -o %t.txtpb | FileCheck %s --check-prefix=NONE
// RUN: %python %S/../../tools/Inputs/exits.py 4 weft plan %s --mesh data=4 --cluster dgx-h100 --train adamw --loss mse --logits y --labels z --recompute none --accumulate 1 --memory 42MiB -o %t.txtpb | FileCheck %s --check-prefix=CLOSE

// Two weights of 16 MiB, their moments and gradients. Of so few rows each device computes all. States and gradients are split, however
// much memory there is: that the optimizer's work is shared is worth two all-gathers, which go beside computing as far as there is
// some. The weight that is read twice is split too as the memory shrinks. Of many rows the batch is split, and with it states and
// gradients, however much memory there is: a reduce-scatter and an all-gather move what an all-reduce does.

// STATES: weight:down {{ *}}[{}, {}]
// STATES: weight:optimizer.m:up {{ *}}[{"data"}, {}]
// STATES: weight:optimizer.v:up {{ *}}[{"data"}, {}]
// STATES: weight:optimizer.m:down {{ *}}[{"data"}, {}]
// STATES: weight:optimizer.v:down {{ *}}[{"data"}, {}]
// STATES: result:grad:up {{ *}}[{"data"}, {}]
// STATES: 2 all_gather over data {{ *}}32.0 MiB

// WEIGHTS: weight:up {{ *}}[{"data"}, {}]
// WEIGHTS: weight:down {{ *}}[{"data"}, {}]
// WEIGHTS: weight:optimizer.m:up {{ *}}[{"data"}, {}]
// WEIGHTS: 3 all_gather over data {{ *}}48.0 MiB

// BATCH: x {{ *}}[{"data"}, {}]

// SPEED: weight:optimizer.m:up {{ *}}[{"data"}, {}]
// SPEED: weight:optimizer.m:down {{ *}}[{"data"}, {}]
// SPEED: 2 all_gather over data {{ *}}32.0 MiB
// SPEED: 2 reduce_scatter over data {{ *}}32.0 MiB

// TWICE: weight:up {{ *}}[{}, {}]
// TWICE: weight:optimizer.m:up {{ *}}[{"data"}, {}]
// TWICE: 2 reduce_scatter over data {{ *}}32.0 MiB

// The search finds a plan, whose program allocates more, as does any other.
// CLOSE: error: no split was found whose program fits its devices: that of the best allocates {{.*}} MiB on a device that may hold 42.00 MiB
// CLOSE: note: each of devices 0 to 3 of mesh data=4 allocates 4{{[3-6].*}} MiB where least is held

// NONE: error: {{.*}} no split over 4 devices fits the 20.00 MiB that one may hold
weft.weight @up : tensor<1024x4096xf32> = #weft.external<"f", 0, 16777216>
weft.weight @down : tensor<4096x1024xf32> = #weft.external<"f", 0, 16777216>
func.func @main(%x: tensor<64x1024xf32> {weft.name = "x"}) -> (tensor<64x1024xf32> {weft.name = "y"}) {
  %up = weft.load @up : tensor<1024x4096xf32>
  %1 = weft.dot_general %x, %up batch [] x [] contract [1] x [0] : (tensor<64x1024xf32>, tensor<1024x4096xf32>) -> tensor<64x4096xf32> loc("up")
  %2 = weft.gelu tanh %1 : tensor<64x4096xf32>
  %down = weft.load @down : tensor<4096x1024xf32>
  %3 = weft.dot_general %2, %down batch [] x [] contract [1] x [0] : (tensor<64x4096xf32>, tensor<4096x1024xf32>) -> tensor<64x1024xf32> loc("down")
  return %3 : tensor<64x1024xf32>
}
