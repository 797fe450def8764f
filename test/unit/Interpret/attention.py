"""Cases of attention and of its gradients, by numpy in double precision."""
import numpy as np


def attention(cases):
    b, h, g, s, t, d, e = 2, 4, 2, 3, 5, 4, 6
    for trial in range(48):
        q, k, v = (cases.draw(shape, "f32") for shape in ((b, h, s, d), (b, g, t, d), (b, g, t, e)))
        has_mask, has_bias, causal, lse = trial % 2, trial // 2 % 2, trial // 4 % 2, trial // 8 % 2
        window = [None, 2, 1][trial % 3]
        softcap = 2.5 if trial % 5 == 0 else None
        offset = [0, 2, -2][trial // 3 % 3]
        rule = ["uniform", "zero", "nan"][trial // 16]
        inputs, text = [(q, "f32"), (k, "f32"), (v, "f32")], " %0, %1, %2"
        visible = np.ones((b, h, s, t), bool)
        scores, slope = np.einsum("bhid,bhjd->bhij", np.float64(q), np.repeat(np.float64(k), h // g, 1)) * 0.5, 0.5
        if softcap:
            scores = softcap * np.tanh(scores / softcap)
            slope = 0.5 * (1 - (scores / softcap) ** 2)
        if has_mask:
            mask = cases.random.random([(b, 1, s, t), (1, 1, 1, t), (b, h, s, t)][trial % 3]) < 0.6
            visible &= mask
            text += f" mask %{len(inputs)}"
            inputs.append((mask, "i1"))
        if has_bias:
            bias = cases.draw([(1, h, s, t), (b, 1, 1, t)][trial % 2], "f32")
            if rule == "zero":  # a bias may hide all of a row, too
                bias[0, 0, 0] = -np.inf
            scores = scores + bias
            text += f" bias %{len(inputs)}"
            inputs.append((bias, "f32"))
        p, j = np.arange(s)[:, None] + offset, np.arange(t)[None, :]
        if causal:
            visible &= j <= p
        if window:
            visible &= p - j < window
            visible &= (j - p < window) | bool(causal)
        rules = " scale 0.5" + " causal" * causal + (f" query_offset {offset}" if offset else "")
        rules += (f" window {window}" if window else "") + (f" softcap {softcap}" if softcap else "") + f" masked_rows {rule}"
        weights, logs = rows_of(scores, visible, rule)
        value = np.einsum("bhij,bhje->bhie", weights, np.repeat(np.float64(v), h // g, 1))
        outputs = [(value, "f32")] + [(logs, "f32")] * lse
        cases.add(f"attention{text}{rules} : {operand_types(inputs)} -> " + ("({r})" if lse else "{r}"), inputs, outputs)
        if rule != "nan" or not np.isnan(weights).any():
            gradient = cases.draw(value.shape, "f32")
            for name, array in (("result", value), ("lse", logs), ("gradient", gradient)):
                text += f" {name} %{len(inputs)}"
                inputs.append((array.astype(np.float32), "f32"))
            gradients = attention_gradients(np.float64(q), np.float64(k), np.float64(v), weights, slope * visible, np.float64(gradient))
            cases.add(f"attention_backward{text}{rules} : {operand_types(inputs)} -> ({{r}})", inputs, [(x, "f32") for x in gradients])


def operand_types(inputs):
    return "(" + ", ".join(f"{{t{i}}}" for i in range(len(inputs))) + ")"


def attention_gradients(q, k, v, weights, slope, gradient):
    """`slope` is that of a score in the product of query and key: 0 where hidden, and so where a row sees nothing."""
    shared = q.shape[1] // k.shape[1]
    of_weights = np.einsum("bhie,bhje->bhij", gradient, np.repeat(v, shared, 1))
    of_scores = weights * (of_weights - (weights * of_weights).sum(-1, keepdims=True)) * slope

    def joined(x):  # over the heads that share a key
        return x.reshape(x.shape[0], -1, shared, *x.shape[2:]).sum(2)
    return (np.einsum("bhij,bhjd->bhid", of_scores, np.repeat(k, shared, 1)), joined(np.einsum("bhij,bhid->bhjd", of_scores, q)),
            joined(np.einsum("bhij,bhie->bhje", weights, gradient)))


def rows_of(scores, visible, rule):
    """Softmax over the visible keys, and its log-sum-exp (-inf where nothing is visible)."""
    with np.errstate(all="ignore"):
        hidden = np.where(visible, scores, -np.inf)
        largest = np.max(hidden, -1, keepdims=True)
        e = np.where(visible, np.exp(hidden - largest), 0)
        logs = np.log(e.sum(-1)) + largest[..., 0]
        weights = e / e.sum(-1, keepdims=True)
    if rule == "zero":
        visible = visible & (scores != -np.inf)
    empty = ~visible.any(-1)
    weights[empty] = {"uniform": 1 / scores.shape[-1], "zero": 0, "nan": np.nan}[rule]
    logs[empty] = -np.inf
    return weights, logs
