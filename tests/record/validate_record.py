#!/usr/bin/env python3
"""Checks run records against results/records.schema.json: validate_record.py RECORD...

Prints one line per fault. Exit code 0: all valid; 1: not; 2: python3-jsonschema is not installed."""
import json
import pathlib
import sys

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "results" / "records.schema.json"


def main(paths):
    try:
        import jsonschema
    except ImportError:
        print("the Python module jsonschema is missing; install the package python3-jsonschema", file=sys.stderr)
        return 2
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    faults = 0
    for path in paths:
        for fault in validator.iter_errors(json.loads(pathlib.Path(path).read_text())):
            faults += 1
            print(f"{path}: {'/'.join(map(str, fault.absolute_path)) or 'record'}: {fault.message}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: validate_record.py RECORD...")
    sys.exit(main(sys.argv[1:]))
