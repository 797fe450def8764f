"""check_token_slices.py MODEL: a decoder in training mode (make_training.py) whose sequences go through stages in slices.

What is dropped is a function of the element's place in the batch, whether a dimension is the sequence or joins it with the batch; the table of
positions, as long as the sequence, has gradients slice by slice. Held against one device, which takes sequences whole.
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
from check_accumulate import compare, train  # noqa: E402

WAYS = (  # pins, microbatches, further options
    ("stage=2,slices=4", 1),
    ("stage=2,slices=3", 2, "--recompute", "full"),
    ("stage=2,slices=5:1:4:2,data=2", 2),
    ("stage=3,slices=5,model=2,schedule=gpipe", 4),
    ("stage=2,slices=12,data=2,optimizer_sharding=3", 1),
)


def main():
    model = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        expected = train(folder, model / "model.pt2", model / "data.npz", "")
        for pins, count, *options in WAYS:
            actual = train(folder, model / "model.pt2", model / "data.npz", "", "--pin", pins, "--accumulate", count, *options)
            compare(actual, expected, f"{pins} in {count} microbatches", 1e-5)


if __name__ == "__main__":
    main()
