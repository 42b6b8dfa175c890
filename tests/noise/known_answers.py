#!/usr/bin/env python3
"""Known answers of the noise specification, from an implementation that shares no code with core/include/eggroll.

    known_answers.py                 prints known_answers.json
    known_answers.py --check FILE    exits 1 unless FILE is, byte for byte, what would be printed
"""
import json
import math
import sys
from fractions import Fraction
from functools import reduce
from statistics import NormalDist

SIDE_A, SIDE_B = 0, 1
STEP_INIT, STEP_TABLE, STEP_DATA = (2**64 - n for n in (1, 2, 3))
TOP32, TOP64 = 2**32 - 1, 2**64 - 1


def mix(value, bits, rounds):
    """Rounds of (xor with itself shifted right, then times a constant); a round is (shift, constant, xor before)."""
    for shift, constant, before in rounds:
        value ^= before
        value = (value ^ (value >> shift)) * constant % 2**bits
    return value


def noise_key(seed, step, pair, tensor, side, rank):
    murmur = [(33, 0xFF51AFD7ED558CCD, 0), (33, 0xC4CEB9FE1A85EC53, 0), (33, 1, 0)]
    parts = [seed, step, pair * 2**32 + tensor, side * 2**32 + rank]
    return reduce(lambda key, part: mix(((key ^ part) + 0x9E3779B97F4A7C15) % 2**64, 64, murmur), parts, 0)


def noise_word(key, word_index):
    high, low = divmod(key, 2**32)
    return mix((word_index + low) % 2**32, 32,
               [(17, 0xED5AD4BB, 0), (11, 0xAC4C1B51, 0), (15, 0x31848BAB, high), (14, 1, 0)])


def noise_byte(key, index):
    return noise_word(key, index // 4).to_bytes(4, "little")[index % 4]


def table_index(key, side, index, table_log2):
    half = 2**table_log2 // 2
    offset = key % half // 64 * 64
    return side * half + (offset + index) % half


def half_up(x):
    return math.floor(x + Fraction(1, 2))


def distribution(name):
    """The value of each byte."""
    magnitude = {
        "gaussian": lambda k: half_up(Fraction(16 * NormalDist().inv_cdf((128.5 + k) / 256))),
        "uniform": lambda k: half_up(Fraction(277, 10) * (2 * k + 1) / 256),
        "rademacher": lambda k: 16,
    }[name]
    above = [magnitude(k) for k in range(128)]
    return [-m for m in reversed(above)] + above


TABLES = {name: distribution(name) for name in ("gaussian", "uniform", "rademacher")}


def noise_value(source, dist, table_log2, parts, index):
    seed, side, key = parts[0], parts[4], noise_key(*parts)
    if source == "table":
        index = table_index(key, side, index, table_log2)
        key = noise_key(seed, STEP_TABLE, 0, 0, 0, 0)
    return TABLES[dist][noise_byte(key, index)]


def initial_weight(kind, init_value, seed, param, place):
    if kind == "constant":
        return init_value
    t = noise_value("counter", "gaussian", 0, (seed, STEP_INIT, 0, param, SIDE_A, 0), place)
    scaled = Fraction(t * init_value, 16)
    magnitude = min(127, half_up(abs(scaled)))
    return magnitude if scaled > 0 else -magnitude


SEEDS = [0, 1, 42, 2**32 - 1, 2**32, 2**63, 2**64 - 1]
PARTS = [(seed, 0, 0, 0, SIDE_A, 0) for seed in SEEDS] + [
    (42, 1, 0, 0, SIDE_A, 0), (42, 0, 1, 0, SIDE_A, 0), (42, 0, 0, 1, SIDE_A, 0), (42, 0, 0, 0, SIDE_B, 0),
    (42, 0, 0, 0, SIDE_A, 1), (0, 42, 0, 0, SIDE_A, 0), (7, 1000, 32767, 19, SIDE_B, 63),
    (7, 2**32, 0, 0, SIDE_A, 0), (7, 2**63 + 5, TOP32, TOP32, SIDE_B, TOP32), (7, STEP_INIT, 0, 3, SIDE_A, 0),
    (7, STEP_TABLE, 0, 0, SIDE_A, 0), (7, STEP_DATA, 0, 0, SIDE_A, 0), (TOP64, TOP64, TOP32, TOP32, SIDE_B, TOP32)]
WORDS = [0, 1, 2, 0x12345678, 2**30 - 1, 2**31, TOP32]
KEYS = [0, 1, TOP32, 2**32, TOP32 - 1 + 2**63, TOP64] + [noise_key(*parts) for parts in PARTS[::4]]
INDICES = [0, 1, 2, 3, 4, 5, 63, 64, 65, 2047, 2048, 4095, 4096, 65537, 2**24 - 1, 2**31 - 1, 2**31, TOP32 - 3, TOP32]
PARAMS = [("normal", 16, 0, 0, 5, 13), ("normal", 4, 1, 42, 7, 9), ("normal", 1, 2, 42, 3, 40),
          ("normal", 127, 3, TOP64, 4, 33), ("normal", 50, TOP32, 2**63, 64, 1), ("normal", 0, 5, 9, 2, 3),
          ("constant", 16, 6, 42, 9, 1), ("constant", -127, 7, 42, 3, 1), ("constant", 0, 8, 42, 2, 2)]


def answers():
    yield "noise_keys", "[seed, step, pair, tensor, side, rank, key]", [
        [*parts, noise_key(*parts)] for parts in PARTS]
    yield "word_indices", "those of `words`", [WORDS]
    yield "words", "[key, [word at each of `word_indices`]]", [
        [key, [noise_word(key, i) for i in WORDS]] for key in KEYS]
    yield "indices", "those of `bytes`, `table_indices` and `values`", [INDICES]
    yield "bytes", "[key, [byte at each of `indices`]]", [
        [key, [noise_byte(key, i) for i in INDICES]] for key in KEYS[4:8]]
    yield "distributions", "[name, value of byte 0, of byte 1, ...]", [
        [name, *values] for name, values in TABLES.items()]
    yield "second_moments", "[name, mean square, largest magnitude]", [
        [name, sum(v * v for v in values) / 256, max(values)] for name, values in TABLES.items()]
    yield "table_indices", "[key, side, table_log2, [place in the table at each of `indices`]]", [
        [key, side, log2, [table_index(key, side, i, log2) for i in INDICES]]
        for key in KEYS[::2] for side in (SIDE_A, SIDE_B) for log2 in (12, 13, 24, 30)]
    yield "values", ("[source, distribution, table_log2, seed, step, pair, tensor, side, rank, "
                     "[value at each of `indices`]]"), [
        [source, dist, log2, *parts, [noise_value(source, dist, log2, parts, i) for i in INDICES]]
        for source, log2 in (("counter", 0), ("table", 12), ("table", 17)) for dist in TABLES for parts in PARTS]
    yield "initial_weights", "[kind, init_value, param index, seed, rows, cols, [weights]]", [
        [kind, value, param, seed, rows, cols,
         [initial_weight(kind, value, seed, param, row * cols + col) for row in range(rows) for col in range(cols)]]
        for kind, value, param, seed, rows, cols in PARAMS]


def text():
    sections = []
    for name, columns, rows in answers():
        lines = ",\n".join("  " + json.dumps(row) for row in rows)
        sections.append(f' "{name}_columns": {json.dumps(columns)},\n "{name}": [\n{lines}\n ]')
    return "{\n" + ",\n".join(sections) + "\n}\n"


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        with open(sys.argv[2], "rb") as kept:
            if kept.read() != text().encode():
                sys.exit(f"{sys.argv[2]} differs from what {sys.argv[0]} prints; find out which of the two is wrong")
    else:
        sys.stdout.write(text())


if __name__ == "__main__":
    main()
