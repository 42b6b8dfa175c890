#!/usr/bin/env python3
"""yaml_1_1_test.py WRITE_YAML: PyYAML, which reads YAML 1.1, finds in what is written the values that were given."""
import json
import random
import subprocess
import sys

try:
    import yaml
except ImportError:
    sys.exit("eggroll: what is written cannot be read here: install the package python3-yaml")

WORDS = """y Y n N yes Yes YES no No NO on On ON off Off OFF true True TRUE false False FALSE null Null NULL ~ = << .
_ - 1_000 0b11 012 08 0o10 0x1F 0x 1:30 1:30:15.5 190:20:30 12e03 1e3 1e-8 1.e+3 .5 5. -.5 +1 .inf -.Inf .nan .NaN
2026-11-27 2026-11-27T01:02:03Z 2026-1-1 1,000 !!str &a *a % @ ` a:b a# #a - ? | > [] {}""".split()
REALS = [1e-08, 1e-7, 1e22, -1e-300, 5e-324, 1.5e-9, 1.7976931348623157e308, 0.1, 15.0, -0.0, 1e16, 123456789012345680.0]
OTHERS = [True, False, None, 0, -7, 8, 10, 2**63 - 1, -2**63, [], {}]
PARTS = ["", " ", "a", "1", "0", ":", "#", "'", '"', "\\", "\n", "\t", "\r", "\x07", "\x7f", "\x85", "\xa0", "\ufeff", "\u2028",
         "\u2029", "\xe9", "-", "_", ".", "e", ",", "[", "}", "yes"]

random.seed(1)
texts = WORDS + ["".join(random.choices(PARTS, k=random.randint(1, 6))) for _ in range(500)]
# A key has no dot.
keys = {text.replace(".", "") or "x": text for text in texts if text != "<<"}
expected = {"list": texts + REALS + OTHERS, "map": keys, "reals": {f"r{i}": real for i, real in enumerate(REALS)}}
text = subprocess.run([sys.argv[1]], check=True, input=json.dumps(expected), stdout=subprocess.PIPE, encoding="utf-8").stdout
read = yaml.safe_load(text)


def kinds(value):
    if isinstance(value, list):
        return [kinds(one) for one in value]
    if isinstance(value, dict):
        return {key: kinds(one) for key, one in value.items()}
    return type(value).__name__, repr(value)


for part, values in expected.items():
    if kinds(read[part]) != kinds(values):
        given, found = ([values[key] for key in values], [read[part].get(key) for key in values]) if isinstance(values, dict) else (
            values, read[part])
        wrong = [pair for pair in zip(given, found) if kinds(pair[0]) != kinds(pair[1])]
        sys.exit(f"PyYAML reads another value than was written in '{part}', first {wrong[:1]}")
