// RUN: weft-opt %s --weft-raise-attention --remarks-filter-missed='weft-raise-.*' --remark-format=emitRemark --verify-diagnostics -o %t
// RUN: grep -v '^ *//' %s | weft-opt --weft-raise-attention -o %t 2>&1 | count 0

// What has the core of attention, but is not quite it, is told, with the reason.

func.func @otherAxis(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = weft.softmax %scores axis 2 : tensor<2x4x3x3xf32> loc("probs")
  // expected-remark-re@+1 {{attention{{.*}}softmax is over dimension 2 of the scores, not over the keys, dimension 3}}
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

func.func @strangeScores(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %s = weft.sigmoid %scores : tensor<2x4x3x3xf32> loc("gate")
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32> loc("probs")
  // expected-remark@+1 {{between softmax and the product of queries and keys stands weft.sigmoid 'gate', which is no scale, mask, bias or soft-cap}}
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

func.func @weakMask(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %m: tensor<2x4x3x3xi1>) -> tensor<2x4x3x8xf32> {
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %c = weft.constant dense<-1.0e+04> : tensor<2x4x3x3xf32>
  %s = weft.select %m, %scores, %c : tensor<2x4x3x3xi1>, tensor<2x4x3x3xf32> loc("masked")
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32> loc("probs")
  // expected-remark@+1 {{between softmax and the product of queries and keys stands weft.select 'masked'}}
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

func.func @scaledBias(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %b: tensor<2x4x3x3xf32> {weft.name = "b"}) -> tensor<2x4x3x8xf32> {
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %c = weft.constant dense<0.5> : tensor<2x4x3x3xf32>
  %0 = weft.add %scores, %b : tensor<2x4x3x3xf32>
  %s = weft.mul %0, %c : tensor<2x4x3x3xf32>
  %p = weft.softmax %s axis 3 : tensor<2x4x3x3xf32> loc("probs")
  // expected-remark@+1 {{input 'b' is put on the scores before they are scaled}}
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

func.func @dropout(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>, %keep: tensor<2x4x3x3xf32>) -> tensor<2x4x3x8xf32> {
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = weft.softmax %scores axis 3 : tensor<2x4x3x3xf32> loc("probs")
  %d = weft.mul %p, %keep : tensor<2x4x3x3xf32> loc("dropped")
  // expected-remark@+1 {{between softmax and the product with values stands weft.mul 'dropped'}}
  %r = weft.dot_general %d, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}

func.func @sharedProbabilities(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> (tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>) {
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = weft.softmax %scores axis 3 : tensor<2x4x3x3xf32> loc("probs")
  // expected-remark@+1 {{weft.softmax 'probs' is read by others, too}}
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r, %p : tensor<2x4x3x8xf32>, tensor<2x4x3x3xf32>
}

func.func @noBatch(%q: tensor<3x8xf32>, %k: tensor<3x8xf32>, %v: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %scores = weft.dot_general %q, %k batch [] x [] contract [1] x [1] : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x3xf32>
  %p = weft.softmax %scores axis 1 : tensor<3x3xf32>
  // expected-remark@+1 {{the product of queries and keys has 0 batch dimensions, not one or two}}
  %r = weft.dot_general %p, %v batch [] x [] contract [1] x [0] : (tensor<3x3xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
  return %r : tensor<3x8xf32>
}

// What is raised after all is not told.
func.func @raised(%q: tensor<2x4x3x8xf32>, %k: tensor<2x4x3x8xf32>, %v: tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32> {
  %scores = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<2x4x3x8xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x3xf32>
  %p = weft.softmax %scores axis 3 : tensor<2x4x3x3xf32>
  %r = weft.dot_general %p, %v batch [0, 1] x [0, 1] contract [3] x [2] : (tensor<2x4x3x3xf32>, tensor<2x4x3x8xf32>) -> tensor<2x4x3x8xf32>
  return %r : tensor<2x4x3x8xf32>
}
