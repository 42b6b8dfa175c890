#!/usr/bin/env python3
"""Checks that a page's lists of options are whole: every file of configs/GROUP is named.

  check_lists.py --source REPOSITORY PAGE.md GROUP...

A list is a row of a table whose first cell is `GROUP`, or a table whose head begins with that cell.
"""
import argparse
import sys
from pathlib import Path


def list_of(lines, group):
    """The text of the group's list, or nothing."""
    for at, line in enumerate(lines):
        if not line.startswith(f"| `{group}` |"):
            continue
        end = at + 1
        if lines[end:end + 1] and lines[end].startswith("| --- |"):
            while end < len(lines) and lines[end].startswith("|"):
                end += 1
        return "\n".join(lines[at:end])
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True)
    parser.add_argument("page", type=Path)
    parser.add_argument("groups", nargs="+")
    arguments = parser.parse_args()
    lines = arguments.page.read_text().splitlines()
    missing = 0
    for group in arguments.groups:
        options = sorted(file.stem for file in (arguments.source / "configs" / group).glob("*.yaml"))
        if not options:
            sys.exit(f"configs/{group} has no option, expected some")
        found = list_of(lines, group)
        for option in options:
            if f"`{option}`" not in found:
                missing += 1
                print(f"{arguments.page.name}: the list of `{group}` lacks `{option}`; add it")
    if missing:
        sys.exit(1)


if __name__ == "__main__":
    main()
