// RUN: weft-opt %s --weft-print-sharding-rules -o /dev/null 2>&1 | FileCheck %s --match-full-lines

// The factor rule of every operation.

weft.weight @w : tensor<64x8xf32> = dense<0.0> : tensor<64x8xf32>
weft.weight kind(state) @cache : tensor<4x8xf32> = dense<0.0> : tensor<4x8xf32>

func.func @symbols() {
  // CHECK: {{.*}} remark: () -> ([d, d1]) {d=64, d1=8}
  %0 = weft.load @w : tensor<64x8xf32>
  // CHECK: {{.*}} remark: () -> ([d, d1]) {d=4, d1=8}
  %1 = weft.constant dense<1.0> : tensor<4x8xf32>
  // CHECK: {{.*}} remark: () -> ([d]) {d=2} replicated={d}
  %2 = weft.constant dense<[1, 2]> : tensor<2xi64>
  // CHECK: {{.*}} remark: ([d, d1]) -> () {d=4, d1=8}
  weft.store @cache, %1 : tensor<4x8xf32>
  return
}

func.func @elementwise(%x: tensor<4x8xf32>, %c: tensor<4x8xi1>, %i: tensor<4x8xi64>) {
  // CHECK: {{.*}} remark: ([d0, d1]) -> ([d0, d1]) {d0=4, d1=8}
  %0 = weft.exp %x : tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d0, d1]) -> ([d0, d1]) {d0=4, d1=8} linear=joint
  %1 = weft.neg %x : tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d0, d1], [d0, d1]) -> ([d0, d1]) {d0=4, d1=8} linear=joint
  %2 = weft.add %x, %x : tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d0, d1], [d0, d1]) -> ([d0, d1]) {d0=4, d1=8} linear=joint
  %3 = weft.sub %x, %x : tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d0, d1], [d0, d1]) -> ([d0, d1]) {d0=4, d1=8} linear=each
  %4 = weft.mul %x, %x : tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d0, d1], [d0, d1]) -> ([d0, d1]) {d0=4, d1=8} linear=first
  %5 = weft.div %x, %x : tensor<4x8xf32>
  // Integers round.
  // CHECK: {{.*}} remark: ([d0, d1], [d0, d1]) -> ([d0, d1]) {d0=4, d1=8}
  %50 = weft.div %i, %i : tensor<4x8xi64>
  // CHECK: {{.*}} remark: ([d0, d1], [d0, d1]) -> ([d0, d1]) {d0=4, d1=8}
  %6 = weft.max %x, %x : tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d0, d1]) -> ([d0, d1]) {d0=4, d1=8}
  %7 = weft.cast %x : tensor<4x8xf32> to tensor<4x8xf64>
  // CHECK: {{.*}} remark: ([d0, d1], [d0, d1]) -> ([d0, d1]) {d0=4, d1=8}
  %8 = weft.compare lt %x, %x : tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d0, d1], [d0, d1], [d0, d1]) -> ([d0, d1]) {d0=4, d1=8}
  %9 = weft.select %c, %x, %x : tensor<4x8xi1>, tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d0, d1]) -> ([d0, d1]) {d0=4, d1=8}
  %10 = weft.gelu erf %x : tensor<4x8xf32>
  return
}

// Each elementwise operation: no linearity but for those above.
func.func @others(%x: tensor<4xf32>, %i: tensor<4xi64>) {
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %0 = weft.abs %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %1 = weft.acos %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %2 = weft.asin %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %3 = weft.atan %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %4 = weft.ceil %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %5 = weft.cos %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %6 = weft.cosh %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %7 = weft.erf %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %8 = weft.floor %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %9 = weft.is_inf %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %10 = weft.is_nan %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %11 = weft.log %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %12 = weft.log1p %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %13 = weft.reciprocal %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %14 = weft.round %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %15 = weft.rsqrt %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %16 = weft.sigmoid %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %17 = weft.sign %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %18 = weft.sin %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %19 = weft.sinh %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %20 = weft.sqrt %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %21 = weft.tan %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %22 = weft.tanh %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4}
  %23 = weft.not %i : tensor<4xi64>
  // CHECK: {{.*}} remark: ([d0], [d0]) -> ([d0]) {d0=4}
  %24 = weft.and %i, %i : tensor<4xi64>
  // CHECK: {{.*}} remark: ([d0], [d0]) -> ([d0]) {d0=4}
  %25 = weft.or %i, %i : tensor<4xi64>
  // CHECK: {{.*}} remark: ([d0], [d0]) -> ([d0]) {d0=4}
  %26 = weft.xor %i, %i : tensor<4xi64>
  // CHECK: {{.*}} remark: ([d0], [d0]) -> ([d0]) {d0=4}
  %27 = weft.min %x, %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0], [d0]) -> ([d0]) {d0=4}
  %28 = weft.pow %x, %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0], [d0]) -> ([d0]) {d0=4}
  %29 = weft.rem %x, %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4} linear=joint
  %30 = weft.barrier %x : tensor<4xf32>
  // CHECK: {{.*}} remark: ([d0]) -> ([d0]) {d0=4} linear=joint
  %31 = weft.stop_gradient %x : tensor<4xf32>
  %32 = weft.constant dense<1> : tensor<4xui64>
  // CHECK: {{.*}} remark: ([d0], [d0]) -> ([d0]) {d0=4}
  %33 = weft.random_bits %32, %32 : tensor<4xui64>
  return
}

func.func @attention(%q: tensor<4x8x32x64xf32>, %k: tensor<4x2x16x64xf32>, %v: tensor<4x2x16x24xf32>,
                     %m: tensor<4x1x1x16xi1>, %b: tensor<1x8x32x16xf32>,
                     %k1: tensor<4x1x16x64xf32>, %k8: tensor<4x8x16x64xf32>) {
  // Grouped heads; query positions are free.
  // CHECK: {{.*}} remark: ([b, (g r), s, d], [b, g, t, d], [b, g, t, e], [b, 1, 1, t], [1, (g r), s, t]) -> ([b, (g r), s, e], [b, (g r), s]) {b=4, g=2, r=4, s=32, d=64, t=16, e=24} replicated={d, t}
  %0:2 = weft.attention %q, %k, %v mask %m bias %b scale 1.0 masked_rows nan
      : (tensor<4x8x32x64xf32>, tensor<4x2x16x64xf32>, tensor<4x2x16x24xf32>, tensor<4x1x1x16xi1>, tensor<1x8x32x16xf32>)
      -> (tensor<4x8x32x24xf32>, tensor<4x8x32xf32>)
  // One head a group; causal: positions stay whole.
  // CHECK: {{.*}} remark: ([b, h, s, d], [b, h, t, d], [b, h, t, e]) -> ([b, h, s, e]) {b=4, h=8, s=32, d=64, t=16, e=64} replicated={s, d, t}
  %1 = weft.attention %q, %k8, %k8 scale 1.0 causal masked_rows nan
      : (tensor<4x8x32x64xf32>, tensor<4x8x16x64xf32>, tensor<4x8x16x64xf32>) -> tensor<4x8x32x64xf32>
  // One group.
  // CHECK: {{.*}} remark: ([b, h, s, d], [b, 1, t, d], [b, 1, t, e]) -> ([b, h, s, e]) {b=4, h=8, s=32, d=64, t=16, e=64} replicated={s, d, t}
  %2 = weft.attention %q, %k1, %k1 scale 1.0 window 4 masked_rows nan
      : (tensor<4x8x32x64xf32>, tensor<4x1x16x64xf32>, tensor<4x1x16x64xf32>) -> tensor<4x8x32x64xf32>
  return
}

// Positions of one sequence; rows that see no key may not look at those behind them.
func.func @causalAttention(%q: tensor<4x8x32x64xf32>, %m: tensor<4x1x1x32xi1>, %l: tensor<4x8x32xf32>) {
  // CHECK: {{.*}} remark: ([b, h, s, d], [b, h, t, d], [b, h, t, e]) -> ([b, h, s, e]) {b=4, h=8, s=32, d=64, t=32, e=64} replicated={s, d, t} causal={s, t}{{$}}
  %0 = weft.attention %q, %q, %q scale 1.0 causal masked_rows nan
      : (tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>) -> tensor<4x8x32x64xf32>
  // CHECK: {{.*}} remark: {{.*}} replicated={s, d, t} causal={s, t}{{$}}
  %1 = weft.attention %q, %q, %q mask %m scale 1.0 causal masked_rows zero
      : (tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x1x1x32xi1>) -> tensor<4x8x32x64xf32>
  // CHECK: {{.*}} remark: {{.*}} replicated={s, d, t}{{$}}
  %2 = weft.attention %q, %q, %q mask %m scale 1.0 causal masked_rows uniform
      : (tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x1x1x32xi1>) -> tensor<4x8x32x64xf32>
  // CHECK: {{.*}} remark: {{.*}} replicated={s, d, t}{{$}}
  %3 = weft.attention %q, %q, %q scale 1.0 causal query_offset 4 masked_rows nan
      : (tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>) -> tensor<4x8x32x64xf32>
  // CHECK: {{.*}} remark: {{.*}} replicated={s, t, d, e} causal={s, t}{{$}}
  %4:3 = weft.attention_backward %q, %q, %q result %q lse %l gradient %q scale 1.0 causal masked_rows nan
      : (tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32xf32>, tensor<4x8x32x64xf32>)
      -> (tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>)
  return
}

func.func @attentionBackward(%q: tensor<4x8x32x64xf32>, %k: tensor<4x2x16x64xf32>, %v: tensor<4x2x16x24xf32>,
                             %m: tensor<4x1x1x16xi1>, %b: tensor<1x8x32x16xf32>, %o: tensor<4x8x32x24xf32>,
                             %l: tensor<4x8x32xf32>) {
  // CHECK: {{.*}} remark: ([b, (g r), s, d], [b, g, t, d], [b, g, t, e], [b, 1, 1, t], [1, (g r), s, t], [b, (g r), s, e], [b, (g r), s], [b, (g r), s, e]) -> ([b, (g r), s, d], [b, g, t, d], [b, g, t, e]) {b=4, g=2, r=4, s=32, t=16, d=64, e=24} replicated={r, s, t, d, e}
  %0:3 = weft.attention_backward %q, %k, %v mask %m bias %b result %o lse %l gradient %o scale 1.0 masked_rows nan
      : (tensor<4x8x32x64xf32>, tensor<4x2x16x64xf32>, tensor<4x2x16x24xf32>, tensor<4x1x1x16xi1>, tensor<1x8x32x16xf32>, tensor<4x8x32x24xf32>, tensor<4x8x32xf32>, tensor<4x8x32x24xf32>)
      -> (tensor<4x8x32x64xf32>, tensor<4x2x16x64xf32>, tensor<4x2x16x24xf32>)
  // One tensor in several places; no groups.
  // CHECK: {{.*}} remark: ([b, h, s, d], [b, h, t, d], [b, h, t, e], [b, h, s, e], [b, h, s], [b, h, s, e]) -> ([b, h, s, d], [b, h, t, d], [b, h, t, e]) {b=4, h=8, s=32, t=32, d=64, e=64} replicated={s, t, d, e}
  %1:3 = weft.attention_backward %q, %q, %q result %q lse %l gradient %q scale 1.0 masked_rows nan
      : (tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32xf32>, tensor<4x8x32x64xf32>)
      -> (tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>, tensor<4x8x32x64xf32>)
  return
}

func.func @conv(%x: tensor<4x6x32xf32>, %k: tensor<64x6x16xf32>, %g: tensor<8x3x16xf32>, %d: tensor<6x1x16xf32>) {
  // CHECK: {{.*}} remark: ([n, c, x], [o, c, w]) -> ([n, o, y]) {n=4, c=6, o=64, x=32, w=16, y=2} reduction={c} replicated={x, w, y} linear=each
  %0 = weft.conv %x, %k strides [16] low [0] high [0] dilations [1] groups 1
      : (tensor<4x6x32xf32>, tensor<64x6x16xf32>) -> tensor<4x64x2xf32>
  // CHECK: {{.*}} remark: ([n, (g c), x], [(g o), c, w]) -> ([n, (g o), y]) {n=4, g=2, c=3, o=4, x=32, w=16, y=2} reduction={c} replicated={x, w, y} linear=each
  %1 = weft.conv %x, %g strides [16] low [0] high [0] dilations [1] groups 2
      : (tensor<4x6x32xf32>, tensor<8x3x16xf32>) -> tensor<4x8x2xf32>
  // Depthwise.
  // CHECK: {{.*}} remark: ([n, g, x], [g, 1, w]) -> ([n, g, y]) {n=4, g=6, x=32, w=16, y=2} replicated={x, w, y} linear=each
  %2 = weft.conv %x, %d strides [16] low [0] high [0] dilations [1] groups 6
      : (tensor<4x6x32xf32>, tensor<6x1x16xf32>) -> tensor<4x6x2xf32>
  return
}

func.func @conv_kernel_gradient(%x: tensor<4x6x32xf32>, %y: tensor<4x64x2xf32>, %g: tensor<4x8x2xf32>, %d: tensor<4x6x2xf32>) {
  // CHECK: {{.*}} remark: ([n, c, x], [n, o, y]) -> ([o, c, w]) {n=4, c=6, o=64, x=32, y=2, w=16} reduction={n} replicated={x, y, w} linear=each
  %0 = weft.conv_kernel_gradient %x, %y strides [16] low [0] high [0] dilations [1] groups 1
      : (tensor<4x6x32xf32>, tensor<4x64x2xf32>) -> tensor<64x6x16xf32>
  // CHECK: {{.*}} remark: ([n, (g c), x], [n, (g o), y]) -> ([(g o), c, w]) {n=4, g=2, c=3, o=4, x=32, y=2, w=16} reduction={n} replicated={x, y, w} linear=each
  %1 = weft.conv_kernel_gradient %x, %g strides [16] low [0] high [0] dilations [1] groups 2
      : (tensor<4x6x32xf32>, tensor<4x8x2xf32>) -> tensor<8x3x16xf32>
  // CHECK: {{.*}} remark: ([n, g, x], [n, g, y]) -> ([g, 1, w]) {n=4, g=6, x=32, y=2, w=16} reduction={n} replicated={x, y, w} linear=each
  %2 = weft.conv_kernel_gradient %x, %d strides [16] low [0] high [0] dilations [1] groups 6
      : (tensor<4x6x32xf32>, tensor<4x6x2xf32>) -> tensor<6x1x16xf32>
  return
}

func.func @dot_general(%x: tensor<8x128x768xf32>, %w: tensor<768x3072xf32>, %h: tensor<768x3x4x6xf32>,
                       %q: tensor<4x2x8x16xf32>, %k: tensor<4x2x12x16xf32>) {
  // CHECK: {{.*}} remark: ([b, s, k], [k, n]) -> ([b, s, n]) {b=8, s=128, k=768, n=3072} reduction={k} linear=each
  %0 = weft.dot_general %x, %w batch [] x [] contract [2] x [0] : (tensor<8x128x768xf32>, tensor<768x3072xf32>) -> tensor<8x128x3072xf32>
  // CHECK: {{.*}} remark: ([b, s, k], [k, n, n1, n2]) -> ([b, s, n, n1, n2]) {b=8, s=128, k=768, n=3, n1=4, n2=6} reduction={k} linear=each
  %1 = weft.dot_general %x, %h batch [] x [] contract [2] x [0] : (tensor<8x128x768xf32>, tensor<768x3x4x6xf32>) -> tensor<8x128x3x4x6xf32>
  // CHECK: {{.*}} remark: ([b, b1, m, k], [b, b1, n, k]) -> ([b, b1, m, n]) {b=4, b1=2, m=8, k=16, n=12} reduction={k} linear=each
  %2 = weft.dot_general %q, %k batch [0, 1] x [0, 1] contract [3] x [3] : (tensor<4x2x8x16xf32>, tensor<4x2x12x16xf32>) -> tensor<4x2x8x12xf32>
  return
}

func.func private @descend(%x: tensor<f32>, %y: tensor<bf16>, %a: tensor<f32>) -> (tensor<f32>, tensor<bf16>) {
  %0 = weft.cast %y : tensor<bf16> to tensor<f32>
  %1 = weft.mul %0, %a : tensor<f32>
  %2 = weft.sub %x, %1 : tensor<f32>
  %3 = weft.cast %2 : tensor<f32> to tensor<bf16>
  return %2, %3 : tensor<f32>, tensor<bf16>
}

func.func @map(%x: tensor<4x8xf32>, %y: tensor<4x8xbf16>, %a: tensor<f32>) {
  // CHECK: {{.*}} remark: ([d0, d1], [d0, d1], []) -> ([d0, d1], [d0, d1]) {d0=4, d1=8}
  %0:2 = weft.map @descend(%x, %y, %a) : (tensor<4x8xf32>, tensor<4x8xbf16>, tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xbf16>)
  return
}

func.func @norms(%x: tensor<4x32x64xf32>, %s: tensor<64xf32>, %h: tensor<4x8x32x16xf32>, %c: tensor<1x32x8xf32>) {
  // CHECK: {{.*}} remark: ([d, d1, n], [n], [n]) -> ([d, d1, n]) {d=4, d1=32, n=64} replicated={n}
  %0 = weft.layer_norm %x scale %s : tensor<64xf32> bias %s : tensor<64xf32> axis 2 epsilon 1.0e-5 : tensor<4x32x64xf32>
  // CHECK: {{.*}} remark: ([d, n, n1]) -> ([d, n, n1]) {d=4, n=32, n1=64} replicated={n, n1}
  %1 = weft.rms_norm %x axis 1 epsilon 1.0e-6 : tensor<4x32x64xf32>
  // CHECK: {{.*}} remark: ([b, h, s, d], [1, s, r], [1, s, r]) -> ([b, h, s, d]) {b=4, h=8, s=32, d=16, r=8} replicated={d, r}
  %2 = weft.rotary %h, %c, %c : tensor<4x8x32x16xf32>, tensor<1x32x8xf32>, tensor<1x32x8xf32>
  // CHECK: {{.*}} remark: ([d, d1, d2]) -> ([d, d1, d2]) {d=4, d1=32, d2=64} replicated={d1}
  %3 = weft.softmax %x axis 1 : tensor<4x32x64xf32>
  return
}

func.func @views(%x: tensor<4x8xf32>, %u: tensor<4x1xf32>, %v: tensor<f32>) {
  // CHECK: {{.*}} remark: ([d1, 1]) -> ([d, d1, d2]) {d=2, d1=4, d2=8} linear=joint
  %0 = weft.broadcast %u dims [1, 2] : tensor<4x1xf32> to tensor<2x4x8xf32>
  // CHECK: {{.*}} remark: ([d, c1], [d, c2]) -> ([d, c]) {d=4, c=9, c1=8, c2=1} replicated={c, c1, c2} linear=joint
  %1 = weft.concat %x, %u axis 1 : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x9xf32>
  // CHECK: {{.*}} remark: () -> ([d, d1]) {d=4, d1=8}
  %2 = weft.iota 1 : tensor<4x8xi64>
  // CHECK: {{.*}} remark: ([d, d1], []) -> ([d, p]) {d=4, d1=8, p=11} replicated={d1, p} linear=joint
  %3 = weft.pad %x, %v low [0, 1] high [0, 2] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x11xf32>
  // CHECK: {{.*}} remark: ([d, d1]) -> ([d, d1]) {d=4, d1=8} replicated={d1} linear=joint
  %4 = weft.reverse %x dims [1] : tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d, r]) -> ([d, r1]) {d=4, r=8, r1=3} replicated={r, r1} linear=joint
  %5 = weft.slice %x starts [0, 1] strides [1, 3] : tensor<4x8xf32> to tensor<4x3xf32>
  // CHECK: {{.*}} remark: ([d, d1]) -> ([d1, d]) {d=4, d1=8} linear=joint
  %6 = weft.transpose %x [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  return
}

func.func @reshapes(%x: tensor<4x32x96xf32>, %y: tensor<6x4xf32>, %z: tensor<3x1x4xf32>, %e: tensor<0x4xf32>) {
  // CHECK: {{.*}} remark: ([d, d1, (d2 d3)]) -> ([(d d1), d2, d3]) {d=4, d1=32, d2=12, d3=8} linear=joint
  %0 = weft.reshape %x : tensor<4x32x96xf32> to tensor<128x12x8xf32>
  // CHECK: {{.*}} remark: ([(d r), r2]) -> ([(d r1), r3]) {d=2, r=3, r1=4, r2=4, r3=3} replicated={r, r1, r2, r3} linear=joint
  %1 = weft.reshape %y : tensor<6x4xf32> to tensor<8x3xf32>
  // CHECK: {{.*}} remark: ([d, 1, d1]) -> ([(d d1), 1]) {d=3, d1=4} linear=joint
  %2 = weft.reshape %z : tensor<3x1x4xf32> to tensor<12x1xf32>
  // CHECK: {{.*}} remark: ([r, 1, r2]) -> ([r1, r3]) {r=3, r1=4, r2=4, r3=3} replicated={r, r1, r2, r3} linear=joint
  %3 = weft.reshape %z : tensor<3x1x4xf32> to tensor<4x3xf32>
  // CHECK: {{.*}} remark: ([r0, r1]) -> ([r2, r3]) {r0=0, r1=4, r2=2, r3=0} replicated={r0, r1, r2, r3}
  %4 = weft.reshape %e : tensor<0x4xf32> to tensor<2x0xf32>
  return
}

func.func @indexing(%t: tensor<512x8x6xf32>, %b: tensor<16x8xi1>, %i: tensor<4x2xi64>, %o: tensor<i64>,
                    %e: tensor<512x2x6xi64>, %f: tensor<512x2x3xi64>,
                    %u: tensor<512x2x6xf32>, %g: tensor<512x2xi64>, %s: tensor<4x6xf32>) {
  // CHECK: {{.*}} remark: ([d, v, d1], [i, i1]) -> ([d, i, i1, d1]) {v=8, d=512, i=4, i1=2, d1=6} reduction={v} linear=first
  %0 = weft.gather %t, %i axis 1 : (tensor<512x8x6xf32>, tensor<4x2xi64>) -> tensor<512x4x2x6xf32>
  // Neither i1 nor a shard of a table is split along the axis.
  // CHECK: {{.*}} remark: ([v, d], [i, i1]) -> ([i, i1, d]) {v=16, i=4, i1=2, d=8} replicated={v} linear=first
  %1 = weft.gather %b, %i axis 0 : (tensor<16x8xi1>, tensor<4x2xi64>) -> tensor<4x2x8xi1>
  // CHECK: {{.*}} remark: ([d, v, d1], [d, i, d1]) -> ([d, i, d1]) {d=512, i=2, v=8, d1=6} replicated={v} linear=first
  %2 = weft.gather_elements %t, %e axis 1 : (tensor<512x8x6xf32>, tensor<512x2x6xi64>) -> tensor<512x2x6xf32>
  // CHECK: {{.*}} remark: ([d, v, v1], [d, i, d1]) -> ([d, i, d1]) {d=512, i=2, v=8, d1=3, v1=6} replicated={v, d1, v1} linear=first
  %3 = weft.gather_elements %t, %f axis 1 : (tensor<512x8x6xf32>, tensor<512x2x3xi64>) -> tensor<512x2x3xf32>
  // CHECK: {{.*}} remark: ([v, v1, d], [i, t]) -> ([i, d]) {i=512, t=2, v=512, v1=8, d=6} replicated={t, v, v1} linear=first
  %4 = weft.gather_nd %t, %g batch_dims 0 : (tensor<512x8x6xf32>, tensor<512x2xi64>) -> tensor<512x6xf32>
  // CHECK: {{.*}} remark: ([d, v, d1], [d, i, d1], [d, i, d1]) -> ([d, v, d1]) {d=512, v=8, i=2, d1=6} replicated={i}
  %5 = weft.scatter_elements add %t, %e, %u axis 1 : (tensor<512x8x6xf32>, tensor<512x2x6xi64>, tensor<512x2x6xf32>) -> tensor<512x8x6xf32>
  // CHECK: {{.*}} remark: ([v, v1, d], [i, t], [i, d]) -> ([v, v1, d]) {i=4, t=2, v=512, v1=8, d=6} replicated={i, t, v1}
  %6 = weft.scatter_nd set %t, %i, %s : (tensor<512x8x6xf32>, tensor<4x2xi64>, tensor<4x6xf32>) -> tensor<512x8x6xf32>
  // Sums of updates alone may be taken in parts.
  %z = weft.constant dense<0.0> : tensor<512x8x6xf32>
  // CHECK: {{.*}} remark: ([v, v1, d], [i, t], [i, d]) -> ([v, v1, d]) {i=4, t=2, v=512, v1=8, d=6} reduction={i} replicated={t, v1}
  %7 = weft.scatter_nd add %z, %i, %s : (tensor<512x8x6xf32>, tensor<4x2xi64>, tensor<4x6xf32>) -> tensor<512x8x6xf32>
  // CHECK: {{.*}} remark: ([d, v, d1], [d, i, d1], [d, i, d1]) -> ([d, v, d1]) {d=512, v=8, i=2, d1=6} reduction={i}
  %8 = weft.scatter_elements add %z, %e, %u axis 1 : (tensor<512x8x6xf32>, tensor<512x2x6xi64>, tensor<512x2x6xf32>) -> tensor<512x8x6xf32>
  return
}

func.func @reductions(%x: tensor<4x8x6xf32>) {
  // CHECK: {{.*}} remark: ([k, d, k1]) -> ([d]) {k=4, d=8, k1=6} reduction={k, k1} linear=joint
  %0 = weft.reduce sum %x dims [0, 2] : tensor<4x8x6xf32> -> tensor<8xf32>
  // CHECK: {{.*}} remark: ([d, d1, x]) -> ([d, d1, y]) {d=4, d1=8, x=6, y=3} replicated={x, y}
  %w = weft.reduce_window max %x window [1, 1, 2] strides [1, 1, 2] dilations [1, 1, 1] low [0, 0, 0] high [0, 0, 0] : tensor<4x8x6xf32> -> tensor<4x8x3xf32>
  // CHECK: {{.*}} remark: ([d, s, d1]) -> ([d, k, d1], [d, k, d1]) {d=4, s=8, k=2, d1=6} replicated={s, k}
  %v, %p = weft.sort %x axis 1 count 2 : tensor<4x8x6xf32> -> tensor<4x2x6xf32>, tensor<4x2x6xi64>
  // CHECK: {{.*}} remark: ([d, d1, k]) -> ([d, d1]) {d=4, d1=8, k=6} reduction={k:max}
  %1 = weft.reduce max %x dims [2] : tensor<4x8x6xf32> -> tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d, d1, k]) -> ([d, d1]) {d=4, d1=8, k=6} reduction={k:prod}
  %2 = weft.reduce prod %x dims [2] : tensor<4x8x6xf32> -> tensor<4x8xf32>
  // CHECK: {{.*}} remark: ([d, d1, d2]) -> ([d, d1, d2]) {d=4, d1=8, d2=6} replicated={d1} linear=joint
  %3 = weft.cumsum %x axis 1 : tensor<4x8x6xf32>
  return
}
