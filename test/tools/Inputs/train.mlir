// Linear regression by gradient descent with momentum, written as the training phase writes its modules.
module attributes {weft.training = {loss = "loss", parameters = ["w", "b"], microbatches = 1 : i64}} {
  weft.weight kind(state) @w : tensor<6x4xf32> = dense<0.5> : tensor<6x4xf32>
  weft.weight kind(state) @b : tensor<4xf32> = dense<0.25> : tensor<4xf32>
  weft.weight kind(state) @"optimizer.m:w" : tensor<6x4xf32> = dense<0.0> : tensor<6x4xf32>
  weft.weight kind(state) @"optimizer.m:b" : tensor<4xf32> = dense<0.0> : tensor<4xf32>
  weft.weight kind(state) @optimizer.step : tensor<i64> = dense<0> : tensor<i64>
  func.func @main(%x: tensor<8x6xf32> {weft.name = "x"}, %labels: tensor<8x4xf32> {weft.name = "labels"})
      -> (tensor<f32> {weft.name = "loss", weft.role = "loss"}, tensor<6x4xf32> {weft.name = "grad:w", weft.role = "gradient"},
          tensor<4xf32> {weft.name = "grad:b", weft.role = "gradient"}) {
    %w = weft.load @w : tensor<6x4xf32>
    %b = weft.load @b : tensor<4xf32>
    %product = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : (tensor<8x6xf32>, tensor<6x4xf32>) -> tensor<8x4xf32>
    %bias = weft.broadcast %b dims [1] : tensor<4xf32> to tensor<8x4xf32> loc("residual")
    %y = weft.add %product, %bias : tensor<8x4xf32> loc("residual")
    %d = weft.sub %y, %labels : tensor<8x4xf32> loc("residual")
    %square = weft.mul %d, %d : tensor<8x4xf32> loc("residual")
    %sum = weft.reduce sum %square dims [0, 1] : tensor<8x4xf32> -> tensor<f32> loc("residual")
    %count = weft.constant dense<3.125000e-02> : tensor<f32> loc("residual")
    %loss = weft.mul %sum, %count : tensor<f32> loc("residual")
    %scale = weft.constant dense<6.250000e-02> : tensor<8x4xf32> loc("residual")
    %dy = weft.mul %d, %scale : tensor<8x4xf32> loc("residual")
    %gw = weft.dot_general %x, %dy batch [] x [] contract [0] x [0] : (tensor<8x6xf32>, tensor<8x4xf32>) -> tensor<6x4xf32>
    %gb = weft.reduce sum %dy dims [0] : tensor<8x4xf32> -> tensor<4xf32>
    %mu_w = weft.constant dense<0.9> : tensor<6x4xf32>
    %mu_b = weft.constant dense<0.9> : tensor<4xf32>
    %rate_w = weft.constant dense<0.1> : tensor<6x4xf32>
    %rate_b = weft.constant dense<0.1> : tensor<4xf32>
    %m_w = weft.load @"optimizer.m:w" : tensor<6x4xf32>
    %m_b = weft.load @"optimizer.m:b" : tensor<4xf32>
    %decayed_w = weft.mul %m_w, %mu_w : tensor<6x4xf32>
    %decayed_b = weft.mul %m_b, %mu_b : tensor<4xf32>
    %new_m_w = weft.add %decayed_w, %gw : tensor<6x4xf32>
    %new_m_b = weft.add %decayed_b, %gb : tensor<4xf32>
    %step_w = weft.mul %new_m_w, %rate_w : tensor<6x4xf32>
    %step_b = weft.mul %new_m_b, %rate_b : tensor<4xf32>
    %new_w = weft.sub %w, %step_w : tensor<6x4xf32>
    %new_b = weft.sub %b, %step_b : tensor<4xf32>
    weft.store @w, %new_w : tensor<6x4xf32>
    weft.store @b, %new_b : tensor<4xf32>
    weft.store @"optimizer.m:w", %new_m_w : tensor<6x4xf32>
    weft.store @"optimizer.m:b", %new_m_b : tensor<4xf32>
    %old = weft.load @optimizer.step : tensor<i64>
    %one = weft.constant dense<1> : tensor<i64>
    %new = weft.add %old, %one : tensor<i64>
    weft.store @optimizer.step, %new : tensor<i64>
    return %loss, %gw, %gb : tensor<f32>, tensor<6x4xf32>, tensor<4xf32>
  }
}
