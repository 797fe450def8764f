//===- ExecAttention.td - attention, and its gradients --------------------===//

#ifndef EXEC_ATTENTION_TD
#define EXEC_ATTENTION_TD

include "dialects/Exec/IR/ExecInstruction.td"

def Exec_AttentionOp : Exec_Instruction<"attention", [], []> {
  let summary = "attention by a library, whose scores are held in parts";
  let description = [{
    Query [b, h, s, d], key [b, g, t, d], value [b, g, t, e], output [b, h, s, e]; h = g·r, and head q of the query uses
    head q / r of key and value. Arithmetic is in f32. The scores are

        score(i, j) = cap(scale · Σ_d query·key) + bias,     cap(x) = softcap · tanh(x / softcap) if `softcap` is given

    and the output is softmax over j of the scores, times value. Query i sees key j where `mask` is true and
    i + `low` ≤ j ≤ i + `high`, as far as these are given. `masked_rows` and `lse` are those of weft.attention.

    **Constraints**
    - C1: operands have the extents above, h a multiple of g; mask and bias have [b, h, s, t], with strides of 0 where
      they repeat, `lse` has [b, h, s].
    - C2: element types are one of f32, f16, bf16, and agree, but for `lse`, which has any of them; those of mask are i1.
    - C3: the output's elements lie side by side along e.

    Example:
    ```mlir
    exec.attention <activations, 0, f32 [1, 4, 8, 16]>, <activations, 2048, f32 [1, 2, 8, 16]>,
        <activations, 3072, f32 [1, 2, 8, 16]> to <activations, 4096, f32 [1, 4, 8, 16]> scale 0.25 high 0 masked_rows nan
        priced <"attn", 16384 flops, 4096 read, 2048 written, "attention b=4 m=8 n=8 k=16 f32">
    ```
  }];
  let arguments = (ins Exec_OperandAttr:$query, Exec_OperandAttr:$key, Exec_OperandAttr:$value,
                       OptionalAttr<Exec_OperandAttr>:$mask, OptionalAttr<Exec_OperandAttr>:$bias,
                       Exec_OperandAttr:$output, OptionalAttr<Exec_OperandAttr>:$lse, F64Attr:$scale,
                       OptionalAttr<F64Attr>:$softcap, OptionalAttr<I64Attr>:$low, OptionalAttr<I64Attr>:$high,
                       Exec_MaskedRowsAttr:$masked_rows, Exec_PriceAttr:$price);
  let getReads = "return getAttentionReads(*this);";
  let getWrites = "return getAttentionWrites(*this);";
  let mapOperands = "mapAttentionOperands(*this, map);";
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`bias` $bias^)? `to` $output (`lse` $lse^)? `scale` $scale
    (`softcap` $softcap^)? (`low` $low^)? (`high` $high^)? `masked_rows` `` $masked_rows `priced` $price attr-dict
  }];
}

def Exec_AttentionBackwardOp : Exec_Instruction<"attention_backward", [], []> {
  let summary = "gradients of attention's query, key and value, by a library";
  let description = [{
    `output` and `lse` are what the `exec.attention` of the same operands wrote, and `gradient` is that of its output.
    Arithmetic is in f32; the scores are computed again, and held in parts.

    **Constraints**
    - C1: operands of the attention have its extents; the gradients have those of what they are of.
    - C2: element types are one of f32, f16, bf16, and agree, but for `lse`, which has any of them; those of mask are i1.
    - C3: elements of the gradients of query, key and value lie side by side along their last dimension.

    Example:
    ```mlir
    exec.attention_backward <activations, 0, f32 [1, 4, 8, 16]>, <activations, 2048, f32 [1, 2, 8, 16]>,
        <activations, 3072, f32 [1, 2, 8, 16]> output <activations, 4096, f32 [1, 4, 8, 16]>
        lse <activations, 6144, f32 [1, 4, 8]> gradient <activations, 6272, f32 [1, 4, 8, 16]>
        to <activations, 8320, f32 [1, 4, 8, 16]>, <activations, 10368, f32 [1, 2, 8, 16]>,
        <activations, 11392, f32 [1, 2, 8, 16]> scale 0.25 high 0 masked_rows nan
        priced <"attn", 40960 flops, 8320 read, 4096 written, "attention_backward b=4 m=8 n=8 k=16 f32">
    ```
  }];
  let arguments = (ins Exec_OperandAttr:$query, Exec_OperandAttr:$key, Exec_OperandAttr:$value,
                       OptionalAttr<Exec_OperandAttr>:$mask, OptionalAttr<Exec_OperandAttr>:$bias,
                       Exec_OperandAttr:$output, Exec_OperandAttr:$lse, Exec_OperandAttr:$gradient,
                       Exec_OperandAttr:$query_gradient, Exec_OperandAttr:$key_gradient,
                       Exec_OperandAttr:$value_gradient, F64Attr:$scale, OptionalAttr<F64Attr>:$softcap,
                       OptionalAttr<I64Attr>:$low, OptionalAttr<I64Attr>:$high, Exec_MaskedRowsAttr:$masked_rows,
                       Exec_PriceAttr:$price);
  let getReads = "return getAttentionReads(*this);";
  let getWrites = "return {getQueryGradient(), getKeyGradient(), getValueGradient()};";
  let mapOperands = "mapAttentionOperands(*this, map);";
  let assemblyFormat = [{
    $query `,` $key `,` $value (`mask` $mask^)? (`bias` $bias^)? `output` $output `lse` $lse `gradient` $gradient
    `to` $query_gradient `,` $key_gradient `,` $value_gradient `scale` $scale (`softcap` $softcap^)? (`low` $low^)?
    (`high` $high^)? `masked_rows` `` $masked_rows `priced` $price attr-dict
  }];
}

#endif // EXEC_ATTENTION_TD
