#!/usr/bin/env python3
"""Runs the commands of one page of documentation.

  run_page.py --source REPOSITORY --build BUILD_FOLDER PAGE.md

The blocks fenced as ```sh run in order, in one shell, in a scratch folder that looks like a fresh clone: the committed
files that pages name, the built commands, and a small shakespeare.txt. Every line must end with exit code 0.

A block whose first line is `# Needs SOMETHING.` tells its reader what it takes and is not run. It is counted and
printed, and the configurations of its runs and sweeps are composed and checked all the same, except their backend. A
command outside of a ```sh block is an error, so that none escapes, and so is a link to a file that is not there.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LINKED = ["configs", "core", "plugins", "results", "tools", "docs", "README.md"]
COMMAND = re.compile(r"^(    )?(\S*/)?(eggroll|eggroll_bench|cmake|ctest|tools/\w+|mpirun|tar|git) ")
CONFIGURED = re.compile(r"^(?:mpirun -n \d+ )?eggroll (?:run|sweep|points) (.*)$")
LINK = re.compile(r"\]\(([^):#]+)(?:#[^)]*)?\)")
NEEDS = re.compile(r"^# Needs (.*)\.$")


def blocks_of(text):
    """(first line's number, lines) of each ```sh block, and the numbers of commands outside of any."""
    blocks, loose, fence, begin = [], [], None, 0
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            begin, fence = number, line[3:].strip() if fence is None else None
            if fence == "sh":
                blocks.append((number + 1, []))
        elif fence == "sh":
            blocks[-1][1].append(line)
        elif COMMAND.match(line):
            loose.append(number)
    if fence is not None:
        sys.exit(f"line {begin}: the block is not closed, expected ``` below it")
    return blocks, loose


def compositions(lines):
    """For each run or sweep of a block, the command that composes and checks its configuration."""
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        found = CONFIGURED.match(line)
        if found:
            words = shlex.split(re.sub(r'--workers "[^"]*"', "", found.group(1)), comments=True)
            overrides = [word for word in words if "=" in word and not word.startswith("backend")]
            yield shlex.join(["eggroll", "config"] + overrides)


def make_clone(source, build, folder):
    for name in LINKED:
        (folder / name).symlink_to(source / name)
    # Runs and plugins are written beside the published results and the shipped experiments.
    (folder / "results").unlink()
    (folder / "results").mkdir()
    for path in (source / "results").iterdir():
        if path.name not in ("runs", "sweeps"):
            (folder / "results" / path.name).symlink_to(path)
    shutil.copytree(source / "experiments", folder / "experiments")
    (folder / "build").mkdir()
    for name in ("demo", "release"):
        (folder / "build" / name).symlink_to(build)
    text = "".join(path.read_text() for path in sorted((source / "docs").glob("*.md")))
    (folder / "shakespeare.txt").write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("page", type=Path)
    arguments = parser.parse_args()
    name = os.path.relpath(arguments.page, arguments.source)
    text = arguments.page.read_text()
    blocks, loose = blocks_of(text)
    for number in loose:
        print(f"{name}:{number}: a command outside of a ```sh block, which nothing runs; put it into one")
    dead = [link for link in LINK.findall(text) if not (arguments.page.parent / link).exists()]
    for link in dead:
        print(f"{name}: the link to {link} leads nowhere; correct it")
    script, ran, left = "set -euo pipefail\n", 0, 0
    for number, lines in blocks:
        needs = NEEDS.match(lines[0])
        if needs:
            left += 1
            print(f"docs: {name}:{number} is not run: it needs {needs.group(1)}")
            lines = [f"{command} >composed" for command in compositions(lines)]
        else:
            ran += 1
        script += f"echo '== {name}:{number}'\n" + "\n".join(lines) + "\n"
    print(f"docs: {name}: {ran} blocks run, {left} do not", flush=True)
    if loose or dead:
        sys.exit(1)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        make_clone(arguments.source.resolve(), arguments.build.resolve(), folder)
        environment = dict(os.environ, PATH=f"{arguments.build.resolve()}/bin:{os.environ['PATH']}")
        environment.pop("EGGROLL_PLUGIN_PATH", None)
        result = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        sys.exit(f"{name}: the last block named above failed with exit code {result.returncode}")


if __name__ == "__main__":
    main()
