#!/usr/bin/env python3
"""Makes the bundled models anew: graphs, inputs and what PyTorch or JAX computes for them.

make_models.py NAME…        gpt2 and llama want torch, transformers, onnx and onnxscript; jax_mlp wants jax
                            (written with torch 2.15, transformers 5.23, jax 0.10)

gpt2/model.onnx             decoder of two layers with learned positions, by the tracing exporter, operator set 17
llama/model.pt2             decoder of two layers with rotary positions, grouped queries and a gated MLP, by torch.export
jax_mlp/train_step.mlir     a classifier's loss and gradients by jax.value_and_grad; the weights are arguments, named in locations
"""
import pathlib
import sys

import numpy

HERE = pathlib.Path(__file__).resolve().parent
BATCH, LENGTH = 4, 32


def save_arrays(folder, arrays):
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in arrays.items():
        numpy.save(folder / f"{name}.npy", numpy.asarray(array))


def random_decoder(model_class, config):
    """The model with random weights, as a function of token ids alone."""
    import torch

    class Logits(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            for name, child in model.named_children():  # weights keep the names that users of the model know
                self.add_module(name, child)
            self.whole = [model]  # in a list: no child of its own

        def forward(self, input_ids):
            # An explicit mask, though it hides nothing: without one, the tracing exporter meets an operator it does not know.
            return self.whole[0](input_ids, attention_mask=torch.ones_like(input_ids), use_cache=False).logits

    torch.manual_seed(0)
    model = model_class(config).eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        if parameter.dim() == 1:  # scales and biases that do nothing would hide mistakes
            parameter.data += 0.1 * torch.randn(parameter.shape, generator=generator)
    ids = torch.randint(0, config.vocab_size, (BATCH, LENGTH), generator=generator)
    return Logits(model).eval(), ids


def make_gpt2(folder):
    import torch
    import transformers

    config = transformers.GPT2Config(vocab_size=503, n_positions=64, n_embd=64, n_layer=2, n_head=4)
    model, ids = random_decoder(transformers.GPT2LMHeadModel, config)
    torch.onnx.export(model, (ids,), folder / "model.onnx", input_names=["input_ids"], output_names=["logits"], opset_version=17,
                      dynamo=False, do_constant_folding=False)
    save_arrays(folder / "inputs", {"input_ids": ids})
    save_arrays(folder / "outputs", {"logits": model(ids).detach()})


def make_llama(folder):
    import torch
    import transformers

    config = transformers.LlamaConfig(vocab_size=101, hidden_size=32, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, max_position_embeddings=64)
    model, ids = random_decoder(transformers.LlamaForCausalLM, config)
    program = torch.export.export(model, (ids,))
    for graph in (module.graph for module in program.graph_module.modules() if hasattr(module, "graph")):
        for node in graph.nodes:
            node.meta.pop("stack_trace", None)  # paths of the machine that traced it
    torch.export.save(program, folder / "model.pt2")
    save_arrays(folder / "inputs", {"input_ids": ids})
    save_arrays(folder / "outputs", {"output": model(ids).detach()})


def mlp_loss(P, x, labels):
    import jax
    import jax.numpy as jnp

    h = x
    for layer in ("h0", "h1"):
        centred = h - h.mean(-1, keepdims=True)
        normal = centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        h = h + jax.nn.gelu(normal * P[f"{layer}.scale"] @ P[f"{layer}.up"] + P[f"{layer}.bias"]) @ P[f"{layer}.down"]
    scores = jax.nn.log_softmax(h @ P["head"])
    return -jnp.take_along_axis(scores, labels[:, None], axis=1).mean()


def make_jax_mlp(folder):
    import jax

    width, hidden, classes, rows = 16, 48, 12, 8
    rng = numpy.random.default_rng(0)
    shapes = {"head": (width, classes)}
    for layer in ("h0", "h1"):
        shapes |= {f"{layer}.up": (width, hidden), f"{layer}.bias": (hidden,), f"{layer}.down": (hidden, width), f"{layer}.scale": (width,)}
    P = {name: rng.standard_normal(shape, numpy.float32) * 0.3 for name, shape in sorted(shapes.items())}
    x, labels = rng.standard_normal((rows, width), numpy.float32), rng.integers(0, classes, rows, numpy.int32)
    step = jax.jit(jax.value_and_grad(mlp_loss))
    text = step.lower(P, x, labels).compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train_step.mlir").write_text(text.replace(f"{HERE}/", ""))
    loss, gradients = step(P, x, labels)
    save_arrays(folder / "inputs", {f"P%5B%27{name}%27%5D": value for name, value in P.items()} | {"x": x, "labels": labels})
    results = [loss] + [gradients[name] for name in sorted(gradients)]
    save_arrays(folder / "outputs", {f"output_{index}": value for index, value in enumerate(results)})


def main():
    makers = {"gpt2": make_gpt2, "llama": make_llama, "jax_mlp": make_jax_mlp}
    names = sys.argv[1:]
    if not names or any(name not in makers for name in names):
        sys.exit(__doc__)
    for name in names:
        (HERE / name).mkdir(parents=True, exist_ok=True)
        makers[name](HERE / name)


if __name__ == "__main__":
    main()
