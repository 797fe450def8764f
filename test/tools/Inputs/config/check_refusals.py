"""check_refusals.py CONFIGS FOLDER: configurations that cannot be are refused with exit 3 and the field's name; broken ones never do worse."""
import json
import pathlib
import random
import subprocess
import sys

configs, folder = map(pathlib.Path, sys.argv[1:])
folder.mkdir(exist_ok=True)
# kind, changed fields (None: left out), what is said
CASES = [
    ("bert", {"hidden_size": 65}, "hidden_size = 65 is no multiple of num_attention_heads = 4"),
    ("bert", {"max_position_embeddings": 8}, "the sequence = 16 is more than max_position_embeddings = 8"),
    ("bert", {"position_embedding_type": "relative_key"}, "field 'position_embedding_type': 'relative_key' is not supported"),
    ("bert", {"hidden_act": "gelo"}, "activation 'gelo' is not known; known are gelu"),
    ("vit", {"patch_size": 64}, "patch_size = 64 is more than image_size = 32"),
    ("vit", {"image_size": [32, "a"]}, "field 'image_size': expected a list of whole numbers"),
    ("t5", {"d_kv": None}, "field 'd_kv' is missing"),
    ("t5", {"feed_forward_proj": "gated-x"}, "activation 'x' is not known"),
    ("t5", {"relative_attention_max_distance": 16}, "relative_attention_num_buckets = 32 is not from 4"),
    ("llama3", {"num_key_value_heads": 3}, "num_attention_heads = 4 is no multiple of num_key_value_heads = 3"),
    ("llama3", {"hidden_size": 34}, "hidden_size = 34 is no multiple of num_attention_heads = 4"),
    ("llama3", {"rope_scaling": {"rope_type": "longrope"}}, "field 'rope_scaling': type 'longrope' is not supported; known are default, linear"),
    ("llama3", {"rope_theta": 0.5}, "field 'rope_theta': expected a number above 1"),
    ("llama3", {"rope_scaling": {"rope_type": "yarn"}}, "field 'original_max_position_embeddings' is missing"),
    ("llama3", {"torch_dtype": "int8"}, "dtype 'int8' is not known"),
    ("qwen2", {"layer_types": ["full_attention"]}, "field 'layer_types': expected one for each of num_hidden_layers = 2, got: 1"),
    ("mixtral", {"num_experts_per_tok": 5}, "num_experts_per_tok = 5 is more than num_local_experts = 4"),
    ("qwen3_moe", {"mlp_only_layers": [-1]}, "field 'mlp_only_layers': expected a list of whole numbers"),
    ("deepseek_v3", {"n_group": 3}, "n_routed_experts = 8 is no multiple of n_group = 3"),
    ("deepseek_v3", {"topk_group": 5}, "topk_group = 5 is more than n_group = 4"),
    ("deepseek_v3", {"num_experts_per_tok": 5}, "num_experts_per_tok = 5 is more than the experts of topk_group groups = 4"),
    ("deepseek_v3", {"scoring_func": "softmax"}, "field 'scoring_func': 'softmax' is not supported; known is sigmoid"),
    ("deepseek_v3", {"qk_rope_head_dim": 7}, "expected an even size of heads, got: 7"),
    ("gpt2", {"n_layer": 10**6}, "n_layer = 1000000 is more than what is supported = 4096"),
    ("deepseek_v3", {"model_type": "deepseek_v2"}, "did you mean 'deepseek_v3'?"),
]


def run(config, *options):
    path = folder / "config.json"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    sizes = ["--dim", "batch=2"] + ([] if '"vit"' in path.read_text() else ["--dim", "seq=16"])
    return subprocess.run(["weft", "import", str(path), *sizes, *options, "-o", "/dev/null", "--quiet"], capture_output=True, text=True, timeout=20)


for kind, changes, expected in CASES:
    fields = json.loads((configs / f"{kind}.json").read_text()) | changes
    done = run({name: value for name, value in fields.items() if value is not None})
    assert done.returncode == 3 and expected in done.stderr, (kind, changes, done.returncode, done.stderr)
# Whatever a field holds, there is a graph, or a message.
random.seed(3)
for path in sorted(configs.glob("*.json")):
    fields = json.loads(path.read_text())
    for name in random.sample(sorted(fields), 6):
        value = random.choice([None, 0, -1, 1, 3, 2**31 - 1, 2**31, 2**70, 0.5, "x", [], [1], {}, True])
        done = run(fields | {name: value})
        assert done.returncode in (0, 2, 3), (path, name, value, done.returncode, done.stderr)
        assert done.returncode == 0 or done.stderr.strip(), (path, name, value)
# Weights that do not fit, or are not there.
for name, shape, expected in [("model.embed_tokens.weight", [95, 32], "'model.embed_tokens.weight': it is 96x32xf32, but weight"),
                              ("other", [8, 8], "weight 'model.embed_tokens.weight', 96x32xf32, is in none of the files of weights")]:
    size = 4 * shape[0] * shape[1]
    header = json.dumps({name: {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}}).encode()
    (folder / "weights.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(size))
    done = run((configs / "llama3.json").read_text(), "--weights", str(folder / "weights.safetensors"))
    assert done.returncode == 3 and expected in done.stderr, (name, shape, done.returncode, done.stderr)
done = run('{"model_type": "llama", "rope_scaling": ' + "[" * 1000000)
assert done.returncode == 3 and "stand too deep in each other" in done.stderr, (done.returncode, done.stderr)
print("all refused")
