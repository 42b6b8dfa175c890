#!/usr/bin/env python3
"""Checks the workflow files of a public host as far as that can be done without the host.

  check_workflows.py --source REPOSITORY FILE...

Each file is YAML with the keys that a workflow has, `bash -n` accepts each command, the programs of the repository that
commands call are there and can be run, and the presets that they name exist.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml

parser = argparse.ArgumentParser()
parser.add_argument("--source", type=Path, required=True)
parser.add_argument("files", type=Path, nargs="+")
arguments = parser.parse_args()

failed = False


def report(path, sentence):
    global failed
    failed = True
    print(f"{path}: {sentence}", file=sys.stderr)


presets = json.loads((arguments.source / "CMakePresets.json").read_text())
names = {preset["name"] for kind, listed in presets.items() if kind.endswith("Presets") for preset in listed}


def check_command(path, command):
    checked = subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True, check=False)
    if checked.returncode != 0:
        report(path, f"bash does not read a command: {checked.stderr.strip()}")
    for tool in re.findall(r"(?<![\w./-])tools/[\w./-]+", command):
        if not os.access(arguments.source / tool, os.X_OK):
            report(path, f"a command calls {tool}, expected a program of the repository; correct the name")
    for preset in re.findall(r"--preset[ =]([\w-]+)", command):
        if preset not in names:
            report(path, f"a command names the preset {preset}, expected one of CMakePresets.json; correct the name")


for path in arguments.files:
    try:
        workflow = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        report(path, f"it is not YAML: {error}")
        continue
    # YAML 1.1 reads the key `on` as true.
    if not isinstance(workflow, dict) or not {"name", "jobs"} <= workflow.keys() or not {"on", True} & workflow.keys():
        report(path, "expected a map with name, on and jobs")
        continue
    for name, job in workflow["jobs"].items():
        if "runs-on" not in job or not job.get("steps"):
            report(path, f"the job {name} has no runs-on or no steps; add them")
        for step in job.get("steps", []):
            if ("run" in step) == ("uses" in step):
                report(path, f"a step of {name} has both run and uses, or neither; expected one of them")
            check_command(path, step.get("run", ""))
sys.exit(1 if failed else 0)
