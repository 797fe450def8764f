"""check_mesh_reductions.py: reductions over 2, 3 and 4 meshes, in modules written by hand in parts: equal to numpy.

Three uses: the gradient of a weight that all stages share, summed over them; a global norm that every stage scales by; the
largest of what copies of a stage make. Values are small (all meshes are handed all of them) and large (each mesh joins a
chunk), and of extents that no chunks divide. Each stage returns the joined value, which must be the same on all meshes bit for
bit, on local threads, under mpirun and on the guarded device. What is sent is counted alike by `inspect` and `run`; of a large
value no more than twice for each mesh but one.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

ALIKE = ["", "data=2", "model=2", "data=2,model=2"]
UNLIKE = [["data=2", "model=2", "", "data=2,model=2"], ["", "data=3", "model=2", "data=2"]]
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
TOLERANCE = 1e-4


def mesh(number, text, first):
    sizes = [axis.split("=") for axis in text.split(",") if axis]
    axes = ", ".join(f'"{name}"={size}' for name, size in sizes)
    return f"dist.mesh @mesh{number} <[{axes}], first_device = {first}>", int(numpy.prod([int(size) for _, size in sizes]))


def head(count, meshes):
    """The meshes, and their numbers of ranks."""
    lines, first = [], 0
    for number in range(count):
        line, ranks = mesh(number, meshes[number], first)
        lines.append(line)
        first += ranks
    return "\n".join(lines), first


def batch(meshes, number):
    return '{"data"}' if "data" in meshes[number] else "{}"


def gradient(count, meshes, rows, inner, columns):
    """d(sum of xₛ·w·cₛ)/dw = Σₛ xₛᵀ·cₛ; what each stage makes is partial over "data"."""
    x, c, w = f"tensor<{rows}x{inner}xf32>", f"tensor<{rows}x{columns}xf32>", f"tensor<{inner}x{columns}xf32>"
    text, _ = head(count, meshes)
    for part in range(count):
        pin = f'{{dist.sharding = #dist.sharding<@mesh{part}, [{batch(meshes, part)}, {{}}]>}}'
        text += f"""
func.func @part{part}(%x: {x} {pin}, %c: {c}) -> {w} attributes {{dist.mesh = @mesh{part}}} {{
  %g = weft.dot_general %x, %c batch [] x [] contract [0] x [0] : ({x}, {c}) -> {w} loc("g{part}")
  return %g : {w}
}}
func.func @update{part}(%g: {w}) -> {w} attributes {{dist.mesh = @mesh{part}}} {{
  %y = weft.neg %g : {w}
  return %y : {w}
}}"""
    numbers = range(count)
    arguments = ", ".join(f'%x{n}: {x} {{weft.name = "x{n}"}}, %c{n}: {c} {{weft.name = "c{n}"}}' for n in numbers)
    text += f"""
func.func @main({arguments}) -> ({", ".join(f'{w} {{weft.name = "y{n}"}}' for n in numbers)}) {{
""" + "".join(f"  %{n} = call @part{n}(%x{n}, %c{n}) : ({x}, {c}) -> {w}\n" for n in numbers) + f"""
  %g:{count} = dist.cross_mesh_all_reduce sum {", ".join(f"%{n} on @mesh{n}" for n in numbers)} : {w} loc("gradient")
""" + "".join(f"  %y{n} = call @update{n}(%g#{n}) : ({w}) -> {w}\n" for n in numbers) + f"""
  return {", ".join(f"%y{n}" for n in numbers)} : {", ".join([w] * count)}
}}
"""
    chance = numpy.random.default_rng(count + rows)
    inputs = {f"{name}{n}": chance.standard_normal((rows, size)).astype(numpy.float32)
              for n in numbers for name, size in (("x", inner), ("c", columns))}
    total = sum(inputs[f"x{n}"].astype(numpy.float64).T @ inputs[f"c{n}"] for n in numbers)
    return text, inputs, {f"y{n}": -total for n in numbers}


def norm(count, meshes, rows, inner, columns):
    """Each stage's gradient divided by the root of the sum of all squares: a scalar goes everywhere."""
    x, s = f"tensor<{rows}x{inner}xf32>", "tensor<f32>"
    text, _ = head(count, meshes)
    for part in range(count):
        pin = f'{{dist.sharding = #dist.sharding<@mesh{part}, [{batch(meshes, part)}, {{}}]>}}'
        text += f"""
func.func @square{part}(%x: {x} {pin}) -> {s} attributes {{dist.mesh = @mesh{part}}} {{
  %q = weft.mul %x, %x : {x}
  %s = weft.reduce sum %q dims [0, 1] : {x} -> {s} loc("s{part}")
  return %s : {s}
}}
func.func @scale{part}(%x: {x} {pin}, %s: {s}) -> {x} attributes {{dist.mesh = @mesh{part}}} {{
  %r = weft.rsqrt %s : {s}
  %b = weft.broadcast %r dims [] : {s} to {x}
  %y = weft.mul %x, %b : {x}
  return %y : {x}
}}"""
    numbers = range(count)
    text += f"""
func.func @main({", ".join(f'%x{n}: {x} {{weft.name = "x{n}"}}' for n in numbers)}) -> ({", ".join(f'{x} {{weft.name = "y{n}"}}' for n in numbers)}) {{
""" + "".join(f"  %{n} = call @square{n}(%x{n}) : ({x}) -> {s}\n" for n in numbers) + f"""
  %s:{count} = dist.cross_mesh_all_reduce sum {", ".join(f"%{n} on @mesh{n}" for n in numbers)} : {s} loc("squares")
""" + "".join(f"  %y{n} = call @scale{n}(%x{n}, %s#{n}) : ({x}, {s}) -> {x}\n" for n in numbers) + f"""
  return {", ".join(f"%y{n}" for n in numbers)} : {", ".join([x] * count)}
}}
"""
    chance = numpy.random.default_rng(count)
    inputs = {f"x{n}": chance.standard_normal((rows, inner)).astype(numpy.float32) for n in numbers}
    root = numpy.sqrt(sum((value.astype(numpy.float64) ** 2).sum() for value in inputs.values()))
    return text, inputs, {f"y{n}": inputs[f"x{n}"] / root for n in numbers}


def largest(count, meshes, rows, inner, columns):
    """Copies of one stage, of one weight, on other inputs: the largest of what they make, on all of them."""
    x, w, y = f"tensor<{rows}x{inner}xf32>", f"tensor<{inner}x{columns}xf32>", f"tensor<{rows}x{columns}xf32>"
    text, _ = head(count, meshes)
    text = f'weft.weight @w : {w} = #weft.external<"weights.bin", 0, {4 * inner * columns}>\n' + text
    for part in range(count):
        pin = f'{{dist.sharding = #dist.sharding<@mesh{part}, [{batch(meshes, part)}, {{}}]>}}'
        text += f"""
func.func @copy{part}(%x: {x} {pin}) -> {y} attributes {{dist.mesh = @mesh{part}}} {{
  %w = weft.load @w : {w} loc("w{part}")
  %h = weft.dot_general %x, %w batch [] x [] contract [1] x [0] : ({x}, {w}) -> {y} loc("h{part}")
  %t = weft.tanh %h : {y} loc("t{part}")
  return %t : {y}
}}"""
    numbers = range(count)
    text += f"""
func.func @main({", ".join(f'%x{n}: {x} {{weft.name = "x{n}"}}' for n in numbers)}) -> ({", ".join(f'{y} {{weft.name = "y{n}"}}' for n in numbers)}) {{
""" + "".join(f"  %{n} = call @copy{n}(%x{n}) : ({x}) -> {y}\n" for n in numbers) + f"""
  %m:{count} = dist.cross_mesh_all_reduce max {", ".join(f"%{n} on @mesh{n}" for n in numbers)} : {y} loc("largest")
  return {", ".join(f"%m#{n}" for n in numbers)} : {", ".join([y] * count)}
}}
"""
    chance = numpy.random.default_rng(count)
    weight = (chance.standard_normal((inner, columns)) / inner**0.5).astype(numpy.float32)
    inputs = {f"x{n}": chance.standard_normal((rows, inner)).astype(numpy.float32) for n in numbers}
    made = numpy.max([numpy.tanh(value.astype(numpy.float64) @ weight) for value in inputs.values()], axis=0)
    return text, inputs | {"": weight}, {f"y{n}": made for n in numbers}


def counts(report):
    """What is communicated, but for what moves, which only inspect knows."""
    return sorted(json.dumps({key: each[key] for key in each if key != "moves"}, sort_keys=True) for each in report["collectives"])


class Check:
    def __init__(self):
        self.failures, self.runs = [], 0

    def call(self, what, command, **environment):
        done = subprocess.run(command, text=True, capture_output=True, timeout=300, env=ENVIRONMENT | environment)
        if done.returncode != 0:
            self.failures.append(f"{what}: exit {done.returncode}: {' '.join(map(str, command))}\n{done.stdout[-500:]}{done.stderr[-1500:]}")
            return None
        return done.stdout

    def check(self, kind, count, meshes, rows, inner, columns, folder):
        what = f"{kind.__name__} of {rows}x{inner}x{columns} on {';'.join(meshes[:count])}"
        text, inputs, expected = kind(count, meshes, rows, inner, columns)
        ranks = head(count, meshes)[1]
        model, executable = folder / "model.mlir", folder / "model.weft"
        model.write_text('module attributes {weft.source = "model.mlir"} {\n' + text + "}\n")
        (folder / "weights.bin").write_bytes(inputs.pop("", numpy.zeros(0)).tobytes())
        (folder / "in").mkdir()
        for name, value in inputs.items():
            numpy.save(folder / "in" / f"{name}.npy", value)
        if self.call(what, ["weft", "compile", model, "-o", executable, "--quiet"]) is None:
            return
        self.call(what, ["weft", "verify", executable, "--quiet"])
        told = json.loads(self.call(what, ["weft", "inspect", executable, "--json"]) or "{}")
        mpi = ["mpirun", "--oversubscribe", "-np", str(ranks)]
        outputs = []
        for transport, launcher, environment in (("local", [], {}), ("mpi", mpi, {}), ("local", [], {"WEFT_DEVICE": "guarded"})):
            out = folder / f"out{len(outputs)}"
            ran = self.call(f"{what}, {transport} {environment}", [*launcher, "weft", "run", executable, "--input-dir", folder / "in",
                            "--output-dir", out, "--transport", transport, "--json", "--timeout", "60"], **environment)
            if ran is None:
                return
            if counts(json.loads(ran)) != counts(told):
                self.failures.append(f"{what}, {transport}: run counts other communication than inspect tells")
            outputs.append({name: numpy.load(out / f"{name}.npy") for name in expected})
        self.compare(what, kind, outputs, expected)
        self.check_traffic(what, kind, count, told, expected)
        self.runs += 1

    def compare(self, what, kind, outputs, expected):
        for got in outputs:
            for name, want in expected.items():
                off = numpy.abs(got[name] - want).max() / numpy.abs(want).max()
                if off > TOLERANCE:
                    self.failures.append(f"{what}: {name} is off by {off}")
                if got[name].tobytes() != outputs[0][name].tobytes():
                    self.failures.append(f"{what}: {name} has other bits than on local threads and the CPU")
                if kind is not norm and got[name].tobytes() != got["y0"].tobytes():
                    self.failures.append(f"{what}: {name} has other bits than y0")

    def check_traffic(self, what, kind, count, told, expected):
        """Of a large value, each piece goes once: copies of it that a mesh wants are gathered there, where extents divide."""
        value = 4 if kind is norm else expected["y0"].size * 4
        sent = sum(each["bytes"] * each["count"] for each in told["collectives"] if each["kind"] == "transfer")
        least = 2 * (count - 1) * value
        divides = all(extent % 12 == 0 for extent in expected["y0"].shape)
        if value >= 64 << 10 and (sent != least if divides else sent < least):
            self.failures.append(f"{what}: {sent} bytes go from mesh to mesh, expected {least}")


def main():
    check = Check()
    cases = [(gradient, 8, 120, 720), (norm, 12, 24, 24), (largest, 12, 24, 48), (gradient, 8, 131, 127), (gradient, 8, 12, 24),
             (largest, 120, 24, 240)]
    for count in (2, 3, 4):
        for number, meshes in enumerate([[axes] * 4 for axes in ALIKE] + UNLIKE):
            for kind, *extents in cases if count == 2 and number == 4 else cases[:3] if number >= 3 else [cases[(number + count) % 6]]:
                if "3" in meshes[1] and extents[0] % 3 != 0:
                    extents = [3 * extents[0], *extents[1:]]
                with tempfile.TemporaryDirectory() as folder:
                    check.check(kind, count, meshes, *extents, pathlib.Path(folder))
    print("\n".join(check.failures) or f"{check.runs} reductions over meshes, two transports, two devices, all equal to numpy")
    sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main()
