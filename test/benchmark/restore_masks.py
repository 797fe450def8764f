"""restore_masks.py FOLDER TARGET: copies of the models in FOLDER whose attention masks let through what they should.

Weights made at random (make_weights.py) leave constant masks false, so that attention sees nothing: then a compiler may leave most of it out,
and a comparison says little. Masks named le… become causal, others true; other files are linked. Needs onnx and numpy.
"""
import os
import pathlib
import sys

import numpy
import onnx
from onnx import numpy_helper


def restore(mask):
    shape = tuple(mask.dims)
    true = numpy.ones(shape, bool)
    return numpy_helper.from_array(numpy.tril(true) if mask.name.startswith("le") else true, mask.name)


def copy_model(source, target):
    target.mkdir(parents=True, exist_ok=True)
    model = onnx.load(source / "model.onnx", load_external_data=False)
    for initializer in model.graph.initializer:
        if initializer.data_type == onnx.TensorProto.BOOL:
            initializer.CopyFrom(restore(initializer))
    onnx.save(model, target / "model.onnx")
    for path in source.rglob("*"):  # hard links: data of a model must lie in its folder
        copy = target / path.relative_to(source)
        if path.is_file() and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, copy)


def main():
    source, target = map(pathlib.Path, sys.argv[1:3])
    for model in sorted(source.glob("*/model.onnx")):
        copy_model(model.parent, target / model.parent.name)


if __name__ == "__main__":
    main()
