"""make_newer_tests.py OUT.tar.xz: backend tests of operators that Debian's libonnx-testdata is too old for, or has wrong.

The package onnx (1.23.2 made newer_tests.tar.xz) carries them as Python code with expected results from its own
reference implementation; this writes them in the suite's layout, NAME/model.onnx and NAME/test_data_set_N/*.pb.
"""
import io
import re
import sys
import tarfile

from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases

WANTED = re.compile(r"test_(adam_multiple$|affine_grid|attention|bitwise|gelu|gridsample|group_norm|l[12]norm|lpnorm|lppool_(1d_default|2d_dilations|2d_pads)$"
                    r"|mish|rms_norm|rotary|spacetodepth)")


def members(case):
    yield "model.onnx", case.model
    for index, (inputs, outputs) in enumerate(case.data_sets):
        graph = case.model.graph
        for kind, values, infos in (("input", inputs, graph.input), ("output", outputs, graph.output)):
            for position, value in enumerate(values):
                if not isinstance(value, TensorProto):
                    value = numpy_helper.from_array(value, infos[position].name)
                yield f"test_data_set_{index}/{kind}_{position}.pb", value


def main():
    with tarfile.open(sys.argv[1], "w:xz", preset=9) as archive:
        for case in sorted(collect_testcases(None), key=lambda case: case.name):
            if not WANTED.match(case.name) or "_expanded" in case.name:
                continue
            for name, message in members(case):
                data = message.SerializeToString()
                info = tarfile.TarInfo(f"{case.name}/{name}")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    main()
