"""check_faults.py WRITE_FIXTURE: faults of ranks and inputs, each ended within 10 s with its exit code and a message that names the place.

Runs hand-made executables (test/unit/Runtime/Fixture.h) over local threads and under mpirun.
"""
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import numpy

LIMIT = 10.0  # seconds from a fault to the end
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
failures = []


def launch(folder, ranks=None, extra=(), program="mlp.weft"):
    """Starts a run in `folder`: over threads, or under mpirun where `ranks` is given."""
    launcher = [] if ranks is None else ["mpirun", "--oversubscribe", "-np", str(ranks)]
    command = [*launcher, "weft", "run", program, *extra]
    return subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def expect(what, process, code, patterns, begin=None, reporters=1):
    """Waits for the end and holds exit code, time and messages: the cause is told once, and no more of Weft's than that."""
    begin = begin or time.monotonic()
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        failures.append(f"{what}: still running after a minute")
        return
    seconds = time.monotonic() - begin
    text = out + err
    if process.returncode not in (code if isinstance(code, tuple) else (code,)):
        failures.append(f"{what}: exit {process.returncode}, expected {code}\n{text}")
    if seconds > LIMIT:
        failures.append(f"{what}: took {seconds:.1f} s")
    told = sum(line.startswith("weft: ") for line in err.splitlines())
    if told > reporters:
        failures.append(f"{what}: {told} messages\n{text}")
    failures.extend(f"{what}: no '{p}' in\n{text}" for p in patterns if not re.search(p, text))


def rank_processes(process, ranks):
    """The pids of mpirun's ranks, by rank, once all of them run."""
    while process.poll() is None:
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            try:
                environment = dict(v.split("=", 1) for v in (entry / "environ").read_text().split("\0") if "=" in v)
                if (entry / "stat").read_text().rsplit(")", 1)[1].split()[1] == str(process.pid):
                    found[int(environment["OMPI_COMM_WORLD_RANK"])] = int(entry.name)
            except (OSError, ValueError, KeyError):
                continue
        if len(found) == ranks:
            return [found[rank] for rank in range(ranks)]
        time.sleep(0.05)
    return []


def check_signals(folder):
    """A stopped and a killed rank in the middle of a long run; a step that is merely long is legal."""
    inputs = ("--input-dir", "inputs", "--repeat", "100000")
    for name, number, code, reporters, patterns in (
            ("stopped", signal.SIGSTOP, 5, 1, [r"rank 1: no heartbeat for 5 s.*rank 2, which watches it, is in step \d+, instruction \d, \w+[ \w]* of '"]),
            ("killed", signal.SIGKILL, (5, 137), 3, [r"rank [023]: ended by the launcher.*in step \d+, instruction \d"])):
        process = launch(folder, 4, inputs)
        pids = rank_processes(process, 4)
        time.sleep(2.0)
        if process.poll() is not None or len(pids) != 4:
            failures.append(f"{name}: the run ended before its fault\n{process.communicate()}")
            continue
        os.kill(pids[1], number)
        expect(f"a {name} rank", process, code, patterns, time.monotonic(), reporters)
    # A busy machine may not even reach the instruction that waits within the time.
    place = r"longer than --timeout 0.01, in step 0, instruction (0, GEMM of 'dense1'|1, LAUNCH of 'select')"
    expect("--timeout", launch(folder, 4, ("--input-dir", "inputs", "--timeout", "0.01")), 5, [place])
    expect("--timeout, local", launch(folder, None, ("--input-dir", "inputs", "--timeout", "0.01")), 5, [r"longer than --timeout 0.01"])


def check_staged(slow, fast):
    """What a run has not put in its place: removed where a rank is killed, and where that made it, by the next run."""
    for folder, steps in ((slow, 200), (fast, 2)):
        stacks = {name: numpy.load(folder / "inputs" / f"{name}.npy") for name in ("x", "ids")}
        numpy.savez(folder / "steps.npz", **{name: numpy.stack([value] * steps) for name, value in stacks.items()})
    out = slow / "staged"
    for killed in (1, 0):
        process = launch(slow, 4, ("--data", "steps.npz", "--output-dir", out))
        pids, before, begin = rank_processes(process, 4), [], time.monotonic()
        while not before and process.poll() is None and time.monotonic() < begin + 30:
            time.sleep(0.1)
            before = sorted(path.name for path in out.iterdir()) if out.exists() else []
        time.sleep(0.5)
        if process.poll() is not None or len(pids) != 4 or len(before) != 1:
            failures.append(f"staged: expected one file that is written, got {before}\n{process.communicate() if process.poll() is not None else ''}")
            process.kill()
            continue
        os.kill(pids[killed], signal.SIGKILL)
        expect(f"rank {killed} killed with --data", process, (5, 137), [], time.monotonic(), 3)
        left = sorted(path.name for path in out.iterdir())
        if killed == 1 and left:
            failures.append(f"staged: {left} is left where rank 1 was killed")
        if killed == 0 and left not in ([], before):
            failures.append(f"staged: {left} is left of {before}")
    (out / "y.npy.1-0.tmp").write_bytes(b"of a process that runs")
    subprocess.run(["sh", "-c", f"echo > '{out}/y.npy.'$$'-0.tmp'"], check=True)
    expect("the next run", launch(fast, 4, ("--data", "steps.npz", "--output-dir", out)), 0, [])
    left = sorted(path.name for path in out.iterdir())
    if left != ["y.npy", "y.npy.1-0.tmp"]:
        failures.append(f"staged: the next run leaves {left}")


def write_npy(path, dtype, shape, data):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def check_inputs(folder):
    """Wrong inputs, on both transports."""
    write_npy(folder / "range.npy", "<i8", "(8,)", struct.pack("<8q", 0, 1, 2, 3, 4, 5, 77, 7))
    write_npy(folder / "type.npy", "<i4", "(8,)", bytes(32))
    write_npy(folder / "shape.npy", "<i8", "(4,)", bytes(32))
    given = ("--input", "x=inputs/x.npy")
    for ranks in (None, 4):
        where = "local" if ranks is None else "mpi"
        for what, extra, pattern in (
                ("missing input", given, "input 'ids' is missing"),
                ("unknown input", (*given, "--input", "idz=range.npy"), "no input 'idz'; did you mean 'ids'"),
                ("wrong dtype", (*given, "--input", "ids=type.npy"), "input 'ids' must be of type i64, .* holds i32"),
                ("wrong shape", (*given, "--input", "ids=shape.npy"), r"must have the shape \[8\].* has \[4\]"),
                ("index out of range", (*given, "--input", "ids=range.npy"),
                 r"rank [23]: index out of range: value 77 at position 2 is not in \[0, 10\), in 'select', in step 0, instruction 1, LAUNCH"),
                ("weights elsewhere", ("--input-dir", "inputs", "--weights-dir", "inputs"), "'weights.bin'.* is absent or was changed")):
            expect(f"{what} ({where})", launch(folder, ranks, extra), 3, [pattern])
        expect(f"no executable ({where})", launch(folder, ranks, program="none.weft"), 3, ["cannot read 'none.weft': No such file or directory"])
        expect(f"a file for an executable ({where})", launch(folder, ranks, program="range.npy"), 3, ["'range.npy': it is not the folder of an executable"])
    expect("difference", launch(folder, 4, ("--input-dir", "inputs", "--expect", "inputs/../wrong")), 6, ["y +differs"])


def check_world(folder, other):
    """Another world size, and ranks that run different programs."""
    expect("world size", launch(folder, 3, ("--input-dir", "inputs")), 2, ["compiled for 4 rank.*started 3; use mpirun -np 4"])
    command = ["mpirun", "--oversubscribe"]
    for index, program in enumerate(("mlp.weft", str(other / "mlp.weft"))):
        command += [":"] if index else []
        command += ["-np", "2", "weft", "run", program, "--input-dir", "inputs"]
    process = subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect("different programs", process, 3, ["rank 2: .* is another program than rank 0 runs"])


def check_frames(folder):
    """Microbatches in frames, their collectives beside the rest: a run without faults, on both transports."""
    against = ("--input-dir", "inputs", "--expect", "outputs", "--tolerance", "0", "--repeat", "20")
    for ranks in (None, 4):
        expect(f"frames ({'local' if ranks is None else 'mpi'})", launch(folder, ranks, against), 0, ["y"])


def main():
    with tempfile.TemporaryDirectory() as scratch:
        fast, slow = pathlib.Path(scratch, "fast"), pathlib.Path(scratch, "slow")
        subprocess.run([sys.argv[1], fast, "2", "2"], check=True)
        subprocess.run([sys.argv[1], slow, "2", "2", "300"], check=True)
        (fast / "wrong").mkdir()
        write_npy(fast / "wrong" / "y.npy", "<f4", "(8, 6)", struct.pack("<48f", *range(48)))
        framed = pathlib.Path(scratch, "framed")
        subprocess.run([sys.argv[1], framed, "2", "2", "0", "4", "1"], check=True)
        check_frames(framed)
        check_inputs(fast)
        check_world(fast, slow)
        check_signals(slow)
        check_staged(slow, fast)
    print("\n".join(failures) or "every fault ended in time, with its code and place")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
