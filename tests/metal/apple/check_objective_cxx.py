#!/usr/bin/env python3
"""Checks apple_device.mm with clang, for macOS 14, against the declarations of Foundation/ and Metal/ beside this file.

Usage: check_objective_cxx.py CLANG apple_device.mm INCLUDES [FAULT]     INCLUDES: folders, with commas between them

What is newer than macOS 14 must be behind @available. This machine's C++ library stands in for macOS's, so the text is
preprocessed for this machine and then compiled for the other. FAULT is one of faults.mm, planted behind the text: the
check fails unless what that file expects is found.
"""
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

import planted

HERE = pathlib.Path(__file__).parent
FAULTS = HERE / "faults.mm"
LANGUAGE = "-std=c++20 -fblocks -fobjc-arc".split()
WARNINGS = "-Wall -Wextra -Wunguarded-availability -Wnonnull -ferror-limit=0".split()


def clang(options, text):
    """Returns what clang prints, and its errors and warnings; ends the program where it fails for no error."""
    done = subprocess.run(options, input=text, capture_output=True, text=True, check=False)
    errors = re.findall(r"^(.+?:\d+:\d+: (?:error|warning|fatal error): .*)$", done.stderr, re.MULTILINE)
    if done.returncode != 0 and not errors:
        raise SystemExit(f"{options[0]} failed:\n{done.stderr}")
    return done.stdout, errors


def main():
    if len(sys.argv) not in (4, 5):
        raise SystemExit(__doc__)
    compiler, source, folders = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3].split(",")
    expected, text = planted.fault(FAULTS, sys.argv[4]) if len(sys.argv) == 5 else (None, "")
    both = f'#line 1 "{source.name}"\n{source.read_text()}\n#line 1 "{FAULTS.name}"\n{text}'
    includes = [f"-I{folder}" for folder in [str(HERE), *folders]]
    target = f"{platform.machine().replace('aarch64', 'arm64')}-apple-macos14"
    preprocess = [compiler, "-x", "objective-c++", "-E", "-fobjc-runtime=macosx-14.0", *LANGUAGE, *includes, "-"]
    text, errors = clang(preprocess, both)
    if not errors:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "text.mii"
            path.write_text(text)
            errors = clang([compiler, "-x", "objective-c++-cpp-output", "-target", target, "-fsyntax-only", *LANGUAGE,
                            *WARNINGS, str(path)], None)[1]
    if expected:
        planted.expect(errors, FAULTS, expected)
    elif errors:
        raise SystemExit("\n".join(errors))


if __name__ == "__main__":
    main()
