"""Faults in a file: "//// NAME: REGEX" above each, the regex for what a check has to say of it."""
import re


def fault(path, name):
    """The regex of a fault and its text, each line at its place in the file."""
    lines = path.read_text().splitlines()
    for begin, line in enumerate(lines):
        head = re.match(rf"//// {name}: (.*)", line)
        if head:
            end = next((i for i in range(begin + 1, len(lines)) if lines[i].startswith("////")), len(lines))
            return head[1], "\n" * (begin + 1) + "\n".join(lines[begin + 1:end]) + "\n"
    raise SystemExit(f"{path.name} has no fault '{name}'")


def expect(errors, path, expected):
    """Ends the program unless the errors, each "FILE:LINE...", are of that file alone and one is as expected."""
    print("\n".join(errors))
    if not all(error.startswith(path.name + ":") for error in errors):
        raise SystemExit(f"expected errors in {path.name} alone")
    if not any(re.search(expected, error) for error in errors):
        raise SystemExit(f"expected: {expected}")
