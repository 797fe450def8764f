"""demo_table.py OUT MODEL: what tools/demo did, as one table, from OUT/inspect.json and OUT/run.json."""
import json
import pathlib
import sys


def describe_size(count):
    """Bytes in the unit that keeps three digits, e.g. 98.3 kB."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            return f"{count:.3g} {unit}" if count < 1000 else f"{count:,.0f} {unit}"
        count /= 1000


def sum_by_kind(collectives):
    """(kind, axes) → [count, bytes], largest first."""
    sums = {}
    for collective in collectives:
        entry = sums.setdefault((collective["kind"], ",".join(collective["axes"])), [0, 0])
        entry[0] += collective["count"]
        entry[1] += collective["count"] * collective["bytes"]
    return sorted(sums.items(), key=lambda item: -item[1][1])


def main():
    out, model = pathlib.Path(sys.argv[1]), sys.argv[2]
    inspected = json.loads((out / "inspect.json").read_text())
    ran = json.loads((out / "run.json").read_text())
    mesh = ",".join(f"{axis}={size}" for axis, size in inspected["mesh"].items())
    rows = [("model", f"{model}/model.onnx on mesh {mesh}: {ran['ranks']} ranks over {ran['transport']}")]
    whole = inspected["weights_bytes_whole"]
    for rank, held in enumerate(ran["weights_bytes"]):
        rows.append((f"rank {rank}", f"{describe_size(held):>8} of weights, {held / whole:4.0%} of {describe_size(whole)}"))
    for (kind, axes), (count, size) in sum_by_kind(ran["collectives"]):
        rows.append((kind, f"{count:>3} a step along {axes}, {describe_size(size)} a rank"))
    step = ran["step_seconds"]
    rows.append(("step", f"{1e3 * step['median']:.2f} ms median of {ran['steps']}, {1e3 * step['min']:.2f} ms at best"))
    for output in ran["expect"]:
        rows.append(("largest difference", f"{output['relative']:.1e} of the magnitude of '{output['output']}', "
                                           f"PyTorch's own result; {ran['tolerance']:g} is allowed"))
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        print(f"  {name:<{width}}  {text}")
    print("\nWhere to look next")
    hints = [(f"build/release/bin/weft inspect {out}/gpt2.weft", "what every rank runs, and what each collective is for"),
             (f"build/release/bin/weft explain {out}/plan.txtpb logits", "how a value is split, and why"),
             ("docs/sharding.md", "how to decide yourself")]
    width = max(len(command) for command, _ in hints)
    for command, use in hints:
        print(f"  {command:<{width}}  {use}")


if __name__ == "__main__":
    main()
