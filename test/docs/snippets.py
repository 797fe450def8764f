"""snippets.py [--build DIR] FOLDER FILE.md …: runs what documents show.

Every fenced block is one of these, by its language and by the comment right above it; one that is none of them is an error:

    ```sh                               commands, run by bash one after the other; each must succeed
    ```mlir                             a module: weft-opt reads it
    <!-- output of: COMMAND -->         what COMMAND prints, or a part of it; … stands for any text, on a line of its own for any lines
    <!-- exit code N of: COMMAND -->    the same of a command that fails so
    <!-- not run: REASON -->            looked at by nobody
    <!-- not run, START: REASON -->     but for the commands of the block that start so
    <!-- file: NAME -->                 written to that file, which a later command must name
    <!-- in the repository -->          commands that stand in the repository's root, where DIR is what they call build/release

The blocks of a document are run in order, in one folder that holds the files of FOLDER and links to nothing else, so that later commands
find what earlier ones wrote.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^(`{3,})(.*)$")
COMMENT = re.compile(r"^<!--\s*(.*?)\s*-->$")
DIRECTIVE = re.compile(r"^(?:(?:output|exit code (?P<code>\d+)) of|(?P<exempt>not run)(?:, (?P<start>[^:]+))?|(?P<file>file)):\s*(?P<text>.*)$")
BUILD = "build/release"
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Block:
    def __init__(self, path, line, language):
        self.place, self.language = f"{path}:{line}", language
        self.lines, self.problems = [], []
        self.command, self.exit_code, self.reason, self.file = None, 0, None, None
        self.exempt = {}  # the reason, by the start of a command
        self.in_repository = False
        self.ran = []

    def direct(self, comment):
        if comment == "in the repository":
            self.in_repository = True
            return
        match = DIRECTIVE.match(comment)
        if not match or not match["text"]:
            self.problems.append(f"no such directive: {comment}" if not match else f"nothing behind: {comment}")
        elif match["start"]:
            self.exempt[match["start"]] = match["text"]
        elif match["exempt"]:
            self.reason = match["text"]
        elif match["file"]:
            self.file = match["text"]
        else:
            self.command, self.exit_code = match["text"], int(match["code"] or 0)

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


def comments_above(lines, number):
    """The comments on the lines right above line `number`, from top to bottom."""
    found = []
    while number > 0 and (match := COMMENT.match(lines[number - 1].strip())):
        found.insert(0, match[1])
        number -= 1
    return found


def blocks_of(path):
    """The fenced blocks of a document. An indented fence, or one without an end, is a problem of its block."""
    lines = path.read_text().splitlines()
    blocks, inside, fence = [], None, ""
    for number, line in enumerate(lines):
        match = FENCE.match(line.strip())
        if inside is None and match:
            fence = match[1]
            inside = Block(path, number + 1, match[2].strip())
            for comment in comments_above(lines, number):
                inside.direct(comment)
            blocks.append(inside)
        elif inside is not None and match and match[1] == fence and not match[2]:
            inside = None
        elif inside is not None:
            inside.lines.append(line)
    if inside is not None:
        inside.problems.append("the block has no end")
    return blocks


def execute(block, command, folder):
    block.ran.append(command)
    if block.in_repository:
        command, folder = command.replace("build/release", BUILD), ROOT
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)


def matches(shown, line):
    return re.fullmatch(".*".join(re.escape(part) for part in shown.strip().split("…")), line.strip()) is not None


def find_lines(shown, printed):
    """None where `shown` is a run of lines of `printed`, but for lines that are left out as …; else the line that is not there."""
    def follow(start):
        """How far `shown` is found from line `start` of `printed` on."""
        at, skips = start, False
        for index, line in enumerate(shown):
            if line.strip() == "…":
                skips = True
                continue
            while skips and at < len(printed) and not matches(line, printed[at]):
                at += 1
            if at >= len(printed) or not matches(line, printed[at]):
                return index
            at, skips = at + 1, False
        return len(shown)
    best = max((follow(start) for start in range(len(printed) + 1)), default=0)
    return None if best == len(shown) else shown[best]


def check_output(block, folder):
    result = execute(block, block.command, folder)
    if result.returncode != block.exit_code:
        return f"`{block.command}`: exit code {result.returncode}, expected {block.exit_code}\n{result.stdout}"
    shown = [line for line in block.lines if line.strip()]
    if not shown:
        return "nothing is shown"
    missing = find_lines(shown, [line for line in result.stdout.splitlines() if line.strip()])
    return missing and f"`{block.command}` does not print this line here: {missing}\n{result.stdout}"


def run_commands(block, folder):
    """Line by line, so that the one that fails is named."""
    unused = set(block.exempt)
    for line in re.sub(r"\\\n", "", block.text).splitlines():
        starts = [start for start in block.exempt if line.startswith(start)]
        unused.difference_update(starts)
        if starts or not line.strip():
            continue
        result = execute(block, line, folder)
        if result.returncode != 0:
            return f"`{line}`: exit code {result.returncode}\n{result.stdout}"
    return f"no command starts with: {', '.join(unused)}" if unused else "" if block.ran else "no command is run"


def run(block, folder):
    """What is wrong with a block, or nothing."""
    if block.problems:
        return "; ".join(block.problems)
    if block.file:
        (folder / block.file).write_text(block.text)
    if block.reason:
        return block.command and "both run and not run"
    if block.command:
        return check_output(block, folder)
    if block.language == "sh":
        return run_commands(block, folder)
    if block.language == "mlir":
        (folder / "block.mlir").write_text(block.text)
        result = execute(block, "weft-opt block.mlir -o /dev/null", folder)
        return result.stdout if result.returncode else ""
    return None if block.file else "neither run nor exempt: say so in a comment above it (see test/docs/snippets.py)"


def run_document(path, files):
    """The blocks of a document, each with what is wrong with it."""
    blocks, found = blocks_of(path), []
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(files, folder, dirs_exist_ok=True)
        for block in blocks:
            found.append((block, run(block, pathlib.Path(folder))))
    for index, (block, problem) in enumerate(found):
        later = [command for other in blocks[index + 1:] for command in other.ran]
        if block.file and not problem and not any(block.file in command for command in later):
            found[index] = block, f"no later command names {block.file}"
    return found


def main():
    global BUILD
    if sys.argv[1] == "--build":
        BUILD = sys.argv[2]
        del sys.argv[1:3]
    files = pathlib.Path(sys.argv[1])
    os.environ["EDITOR"] = "true"
    failed = count = 0
    for path in map(pathlib.Path, sys.argv[2:]):
        for block, problem in run_document(path, files):
            count += 1
            failed += bool(problem)
            if problem:
                print(f"{block.place}: {problem}")
            for reason in [block.reason, *block.exempt.values()]:
                if reason:
                    print(f"{block.place}: not run: {reason}")
    print(f"{count} blocks, {failed} wrong")
    sys.exit(1 if failed or count == 0 else 0)


if __name__ == "__main__":
    main()
