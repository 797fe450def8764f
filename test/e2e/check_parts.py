"""check_parts.py FILE CUT CUT CUT: one model file cut into parts, on meshes alike and unlike.

Cut behind the second CUT alone and behind all of them, FILE is compiled for several meshes a part, and held against what the
other program recorded, on local threads, under mpirun and on the guarded device (check_model.py). What goes from one mesh to
another is counted alike by `weft plan`, `inspect` and `run`; nothing is sent but values that the same cut on one device a part
sends, and no receiving rank is sent more than the whole of one, once.
"""
import json
import pathlib
import sys
import tempfile

from check_model import Check

ONE = "data=1"
ALIKE = ["data=2", "model=2"]
UNLIKE = [["model=2", "data=2"], ["data=2,model=2", "data=1"]]


class PartsCheck(Check):
    """A model file and where it is cut."""

    def __init__(self, file, folder, cuts):
        super().__init__(file, folder)
        self.cuts = cuts
        self.whole = {}  # bytes of what is sent, by source and part that it goes to

    def check_transfers(self, mesh, told):
        """One device a part tells what there is to send; others send no value more, and no copy of it more than there are ranks."""
        ranks = {m["name"]: m["devices"][1] for m in told["meshes"]}
        sent = {}
        for record in told["collectives"]:
            if record["kind"] == "transfer":
                key = (record["source"], record["to"])
                sent[key] = sent.get(key, 0) + record["bytes"] * record["count"]
        if mesh == ONE:
            self.whole = sent
        if set(sent) != set(self.whole):
            self.failures.append(f"{mesh}: expected transfers of {sorted(self.whole)}, got: {sorted(sent)}")
            return
        for (source, to), count in sent.items():
            whole = self.whole[source, to]
            if not whole <= count <= whole * ranks[to]:
                self.failures.append(f"{mesh}: '{source}' of {whole} bytes goes to {ranks[to]} ranks in {count} bytes")

    def check_cut(self, mesh):
        executable = self.folder / f"{len(self.cuts)}_{mesh.replace(',', '_').replace('=', '').replace(';', '__')}.weft"
        options = [word for cut in self.cuts for word in ("--cut", cut)] + ["--mesh", mesh]
        if self.call(["weft", "compile", self.file, *options, "-o", executable, "--quiet"], mesh) is None:
            return
        self.call(["weft", "verify", executable, "--quiet"], f"{mesh} verify")
        planned = self.call(["weft", "plan", self.file, *options, "--json"], f"{mesh} plan")
        inspected = self.call(["weft", "inspect", executable, "--json"], f"{mesh} inspect")
        if planned is None or inspected is None:
            return
        inspected = json.loads(inspected)
        if len(inspected["meshes"]) != len(self.cuts) + 1:
            self.failures.append(f"{mesh}: expected a mesh for each part, got: {inspected['meshes']}")
        self.check_counts(mesh, "plan", json.loads(planned), inspected)
        self.check_transfers(mesh, inspected)
        self.run(mesh, executable, inspected)


def main():
    file, cuts = pathlib.Path(sys.argv[1]), sys.argv[2:]
    failures, runs = [], 0
    for chosen in ([cuts[1]], cuts):
        parts = len(chosen) + 1
        unlike = [";".join((meshes * parts)[:parts]) for meshes in (UNLIKE if parts == 2 else UNLIKE[:1])]
        with tempfile.TemporaryDirectory() as folder:
            check = PartsCheck(file, pathlib.Path(folder), chosen)
            for mesh in [ONE, *ALIKE, *unlike]:
                check.check_cut(mesh)
                runs += 1
            failures += [f"{parts} parts on {failure}" for failure in check.failures]
    print("\n".join(failures) or f"{file}: {runs} ways to cut and split, two transports, two devices, all equal")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
