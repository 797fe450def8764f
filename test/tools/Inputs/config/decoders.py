"""Decoders of transformers in numpy, in float64, from their configuration and weights by name: what a graph from a configuration must
compute. Written from the models' definitions, token by token where experts are concerned; shares nothing with Weft."""
import math

import numpy as np


def rms_norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ACTIVATIONS = {
    "silu": lambda x: x * sigmoid(x),
    "gelu_pytorch_tanh": lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
}


class Rotary:
    """Angles by position, and what tables and scores are multiplied by."""

    def __init__(self, config, size):
        given = {**(config.get("rope_parameters") or {}), **(config.get("rope_scaling") or {})}
        kind = given.get("rope_type", given.get("type", "default"))
        base = (config.get("rope_parameters") or {}).get("rope_theta", config.get("rope_theta", 10000.0))
        size = int(size * given.get("partial_rotary_factor", config.get("partial_rotary_factor", 1)))
        self.size, self.table, self.score = size, 1.0, 1.0
        pair = np.arange(0, size, 2) / size
        slow = fast = 1 / base**pair
        if kind == "linear":
            slow = fast = fast / given["factor"]
        if kind == "llama3":
            context, factor = given["original_max_position_embeddings"], given["factor"]
            low, high = context / given["low_freq_factor"], context / given["high_freq_factor"]
            length = 2 * math.pi / fast
            smooth = (context / length - given["low_freq_factor"]) / (given["high_freq_factor"] - given["low_freq_factor"])
            fast = np.where(length > low, fast / factor, np.where(length < high, fast, (1 - smooth) * fast / factor + smooth * fast))
        if kind == "yarn":
            context, factor = given["original_max_position_embeddings"], given["factor"]
            place = lambda turns: size * math.log(context / (turns * 2 * math.pi)) / (2 * math.log(base))
            low, high = max(math.floor(place(given.get("beta_fast", 32))), 0), min(math.ceil(place(given.get("beta_slow", 1))), size - 1)
            ramp = np.clip((np.arange(size // 2) - low) / (high - low if high != low else 0.001), 0, 1)
            fast = fast / factor * ramp + fast * (1 - ramp)
            scale = lambda strength: 0.1 * strength * math.log(factor) + 1 if factor > 1 else 1.0
            both = given.get("mscale") and given.get("mscale_all_dim")
            self.table = scale(given["mscale"]) / scale(given["mscale_all_dim"]) if both else scale(1)
            self.score = scale(given["mscale_all_dim"])**2 if given.get("mscale_all_dim") else 1.0
        self.frequencies = fast

    def turn(self, x, interleaved=False):
        """x [b, h, s, d]"""
        angle = np.arange(x.shape[2])[:, None] * self.frequencies
        cos, sin = np.cos(angle) * self.table, np.sin(angle) * self.table
        part, rest = x[..., :self.size], x[..., self.size:]
        if interleaved:
            first, second = part[..., 0::2], part[..., 1::2]
            turned = np.stack([first * cos - second * sin, second * cos + first * sin], -1).reshape(part.shape)
        else:
            first, second = np.split(part, 2, -1)
            turned = np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)
        return np.concatenate([turned, rest], -1)


def attend(query, key, value, scale, window=None):
    key, value = (np.repeat(x, query.shape[1] // key.shape[1], axis=1) for x in (key, value))
    scores = query @ key.transpose(0, 1, 3, 2) * scale
    behind = np.arange(scores.shape[2])[:, None] - np.arange(scores.shape[3])
    seen = (behind >= 0) & (behind < (window or behind.size))
    out = softmax(np.where(seen, scores, -np.inf)) @ value
    return out.transpose(0, 2, 1, 3).reshape(out.shape[0], out.shape[2], -1)


class Decoder:
    def __init__(self, config, weights):
        self.config, self.weights, self.kind = config, {k: v.astype(np.float64) for k, v in weights.items()}, config["model_type"]
        self.epsilon, self.act = config.get("rms_norm_eps", 1e-6), ACTIVATIONS[config.get("hidden_act", "silu")]
        self.act = ACTIVATIONS["gelu_pytorch_tanh"] if self.kind == "gemma" else self.act
        self.heads = config["num_attention_heads"]
        self.keys = config.get("num_key_value_heads") or self.heads
        self.head = config.get("head_dim") or config["hidden_size"] // self.heads
        self.rotary = Rotary(config, config.get("qk_rope_head_dim", self.head))

    def linear(self, name, x):
        bias = self.weights.get(name + ".bias")
        return x @ self.weights[name + ".weight"].T + (0 if bias is None else bias)

    def norm(self, name, x, epsilon=None):
        weight = self.weights[name + ".weight"]
        return rms_norm(x, weight + 1 if self.kind == "gemma" else weight, epsilon or self.epsilon)

    def split(self, x, heads):
        return x.reshape(*x.shape[:2], heads, -1).transpose(0, 2, 1, 3)

    def window(self, layer):
        config = self.config
        if self.kind in ("mistral", "mixtral", "phi3"):
            return config.get("sliding_window")
        if not config.get("use_sliding_window"):
            return None
        kinds = config.get("layer_types")
        sliding = kinds[layer] == "sliding_attention" if kinds else layer >= config.get("max_window_layers", 28)
        return config["sliding_window"] if sliding or self.kind == "qwen3_moe" else None

    def grouped(self, name, layer, x):
        if self.kind == "phi3":
            sizes = np.cumsum([self.heads * self.head, self.keys * self.head])
            query, key, value = np.split(self.linear(name + ".qkv_proj", x), sizes, -1)
        else:
            query, key, value = (self.linear(f"{name}.{part}_proj", x) for part in "qkv")
        query, key, value = self.split(query, self.heads), self.split(key, self.keys), self.split(value, self.keys)
        if self.kind in ("qwen3", "qwen3_moe"):
            query, key = self.norm(name + ".q_norm", query), self.norm(name + ".k_norm", key)
        out = attend(self.rotary.turn(query), self.rotary.turn(key), value, self.head**-0.5, self.window(layer))
        return self.linear(name + ".o_proj", out)

    def latent(self, name, x):
        config = self.config
        plain, turned, rank = config["qk_nope_head_dim"], config["qk_rope_head_dim"], config["kv_lora_rank"]
        interleaved = config.get("rope_interleave", True)
        if config.get("q_lora_rank"):
            query = self.linear(name + ".q_b_proj", self.norm(name + ".q_a_layernorm", self.linear(name + ".q_a_proj", x), 1e-6))
        else:
            query = self.linear(name + ".q_proj", x)
        query = self.split(query, self.heads)
        both = self.linear(name + ".kv_a_proj_with_mqa", x)
        spread = self.split(self.linear(name + ".kv_b_proj", self.norm(name + ".kv_a_layernorm", both[..., :rank], 1e-6)), self.heads)
        key = np.repeat(self.rotary.turn(self.split(both[..., rank:], 1), interleaved), self.heads, axis=1)
        query = np.concatenate([query[..., :plain], self.rotary.turn(query[..., plain:], interleaved)], -1)
        key = np.concatenate([spread[..., :plain], key], -1)
        return self.linear(name + ".o_proj", attend(query, key, spread[..., plain:], self.rotary.score * (plain + turned)**-0.5))

    def mlp(self, name, x):
        if self.kind == "phi3":
            gate, up = np.split(self.linear(name + ".gate_up_proj", x), 2, -1)
        else:
            gate, up = self.linear(name + ".gate_proj", x), self.linear(name + ".up_proj", x)
        return self.linear(name + ".down_proj", self.act(gate) * up)

    def choose(self, name, token):
        """The experts of one token, and their gates."""
        config, count = self.config, self.config["num_experts_per_tok"]
        logits = self.weights[name + ".gate.weight"] @ token
        if self.kind != "deepseek_v3":
            shares = softmax(logits)
            best = np.argsort(-shares, kind="stable")[:count]
            gates = shares[best]
            return best, gates / gates.sum() if self.kind == "mixtral" or config.get("norm_topk_prob") else gates
        scores = sigmoid(logits)
        wish = (scores + self.weights[name + ".gate.e_score_correction_bias"]).reshape(config["n_group"], -1)
        groups = np.argsort(-np.sort(wish, -1)[:, -2:].sum(-1), kind="stable")[:config["topk_group"]]
        allowed = np.full(wish.shape, -np.inf)
        allowed[groups] = wish[groups]
        best = np.argsort(-allowed.ravel(), kind="stable")[:count]
        gates = scores[best] / (scores[best].sum() + 1e-20 if config.get("norm_topk_prob", True) else 1)
        return best, gates * config["routed_scaling_factor"]

    def experts(self, name, x, capacity=None):
        """Token by token; an expert takes only the first `capacity` tokens of a sequence, where that is given."""
        up, down = self.weights[name + ".experts.gate_up_proj"], self.weights[name + ".experts.down_proj"]
        out = np.zeros_like(x)
        for row in range(x.shape[0]):
            taken = np.zeros(len(up), int)
            for place in range(x.shape[1]):
                for expert, gate in zip(*self.choose(name, x[row, place])):
                    taken[expert] += 1
                    if capacity is None or taken[expert] <= capacity:
                        first, second = np.split(up[expert] @ x[row, place], 2)
                        out[row, place] += gate * (down[expert] @ (self.act(first) * second))
        return out

    def feed_forward(self, name, layer, x, capacity):
        config = self.config
        if self.kind == "deepseek_v3" and layer >= config["first_k_dense_replace"]:
            return self.experts(name, x, capacity) + self.mlp(name + ".shared_experts", x)
        sparse = layer not in (config.get("mlp_only_layers") or []) and (layer + 1) % config.get("decoder_sparse_step", 1) == 0
        if self.kind == "mixtral" or (self.kind == "qwen3_moe" and sparse):
            return self.experts(name, x, capacity)
        return self.mlp(name, x)

    def run(self, tokens, capacity=None):
        table = self.weights["model.embed_tokens.weight"]
        x = table[tokens] * (math.sqrt(table.shape[1]) if self.kind == "gemma" else 1)
        for layer in range(self.config["num_hidden_layers"]):
            name = f"model.layers.{layer}"
            inner = self.norm(name + ".input_layernorm", x)
            attention = self.latent if self.kind == "deepseek_v3" else lambda name, x: self.grouped(name, layer, x)
            x = x + attention(name + ".self_attn", inner)
            x = x + self.feed_forward(name + ".mlp", layer, self.norm(name + ".post_attention_layernorm", x), capacity)
        return self.norm("model.norm", x) @ self.weights.get("lm_head.weight", table).T


def loss(logits, labels, shift=1, ignored=-100):
    """The mean cross-entropy of each place with the label `shift` places on, as transformers has it."""
    logits, labels = (logits[:, :-shift], labels[:, shift:]) if shift else (logits, labels)
    logits = logits - logits.max(-1, keepdims=True)
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    kept = labels != ignored
    picked = np.take_along_axis(logs, np.where(kept, labels, 0)[..., None], -1)[..., 0]
    return -picked[kept].mean()
