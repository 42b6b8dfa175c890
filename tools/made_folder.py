"""What the tools that make a folder of data share: refusals in one sentence, and a folder that is there whole or not at all."""
import argparse
import sys
import tempfile
from pathlib import Path

PROGRAM = Path(sys.argv[0]).name


def refuse(sentence):
    print(f"{PROGRAM}: {sentence}", file=sys.stderr)
    sys.exit(1)


class Parser(argparse.ArgumentParser):
    def __init__(self, description):
        super().__init__(prog=PROGRAM, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message):
        refuse(f"{message}; see tools/{PROGRAM} --help")


def require_new(folder):
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        refuse(f"{folder} exists, expected a new or an empty folder; remove it or name another --out")


def write(folder, files):
    """The folder gets its name when all files are in it."""
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as scratch:
            made = Path(scratch) / "made"
            made.mkdir()
            for name, content in files.items():
                (made / name).write_bytes(content)
            made.rename(folder)
    except OSError as error:
        refuse(f"cannot write {folder}: {error.strerror}; free space there or name another --out")
