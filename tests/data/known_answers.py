"""Known answers for generated_test.cpp, from an independent implementation of the count and markov datasets, and for
rows_test.cpp, of rows by words."""

import bisect
import hashlib
import itertools
import math
import re

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1
STEP_DATA = M64 - 2
TASK, TRAIN, VALID = range(3)


def mix64(x):
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        x = ((x ^ (x >> 33)) * factor) & M64
    return x ^ (x >> 33)


def absorbed(parts):
    key = 0
    for part in parts:
        key = mix64(((key ^ part) + 0x9E3779B97F4A7C15) & M64)
    return key


def noise_key(seed, purpose):
    return absorbed((seed, STEP_DATA, purpose << 32, 0))


def row_by_words(text, words, rows):
    """Of the text's last byte. Each pattern takes what it can of the text turned round, from its beginning on."""
    letters, others = rb"[a-zA-Z\x80-\xff]{0,24}", rb"[^a-zA-Z\x80-\xff]{0,8}"
    last, between, before = re.match(b"(%s)(%s)(%s)" % (letters, others, letters), text[::-1], re.DOTALL).groups()
    parts = [256, *last] if words == 1 else [256, *last, 256, *between, *before]
    return absorbed(parts) % rows


def word(key, index):
    x = (index + key) & M32
    x = ((x ^ (x >> 17)) * 0xED5AD4BB) & M32
    x = ((x ^ (x >> 11)) * 0xAC4C1B51) & M32
    x ^= key >> 32
    x = ((x ^ (x >> 15)) * 0x31848BAB) & M32
    return x ^ (x >> 14)


def below(n, key, index):
    return word(key, index) * n >> 32


def count(vocab, length, rows, valid_rows, seed):
    key = noise_key(seed, TASK)
    phases = list(range(vocab))
    held_out = vocab // 4
    for i in range(held_out):
        j = i + below(vocab - i, key, i)
        phases[i], phases[j] = phases[j], phases[i]

    def part(purpose, choices, n, row):
        part_key = noise_key(seed, purpose)
        starts = [choices[below(len(choices), part_key, r)] for r in range(n)]
        return [(start + t) % vocab for start in starts for t in range(row)]

    valid_phases = phases[:held_out] or phases
    return part(TRAIN, phases[held_out:], rows, length + 1), part(VALID, valid_phases, valid_rows, 2 * length + 1)


def markov(vocab, sharpness, tokens, valid_tokens, seed):
    key = noise_key(seed, TASK)
    chain = []
    for row in range(vocab):
        raw = []
        for column in range(vocab):
            u = word(key, row * vocab + column)
            power = u
            for _ in range(sharpness - 1):
                power = power * u >> 32
            raw.append(power + 1)
        due = [s * (65536 - vocab) // sum(raw) for s in itertools.accumulate(raw)]
        chain.append([1 + b - a for a, b in zip([0] + due, due)])
        assert sum(chain[-1]) == 65536

    def walk(purpose, n):
        walk_key = noise_key(seed, purpose)
        values = [below(vocab, walk_key, 0)]
        sums = [list(itertools.accumulate(row)) for row in chain]
        for i in range(1, n):
            values.append(bisect.bisect_right(sums[values[-1]], word(walk_key, i) >> 16))
        return values

    share = [1 / vocab] * vocab
    for _ in range(10000):  # power iteration
        share = [sum(share[i] * chain[i][j] / 65536 for i in range(vocab)) for j in range(vocab)]
    rate = -sum(s * w / 65536 * math.log2(w / 65536) for s, row in zip(share, chain) for w in row)
    valid = walk(VALID, valid_tokens)
    cross = -sum(math.log2(chain[a][b] / 65536) for a, b in zip(valid, valid[1:])) / (len(valid) - 1)
    return chain, walk(TRAIN, tokens), valid, rate, cross


def sha256(train, valid, width):
    return hashlib.sha256(b"".join(v.to_bytes(width, "little") for v in train + valid)).hexdigest()


def main():
    train, valid = count(16, 8, 100, 10, 7)
    print("count", train[:18], valid[:17], sha256(train, valid, 1))
    print("held-out phases", sorted({valid[i] for i in range(0, len(valid), 17)}))
    train, valid = count(3, 4, 6, 2, 0)
    print("count of 3", train, valid)
    train, valid = count(1000, 4, 5, 2, 1)
    print("count of 1000", train[:10], valid[:9], sha256(train, valid, 2))
    chain, train, valid, rate, cross = markov(8, 4, 1000, 500, 7)
    print("markov", chain[0], train[:16], valid[:16], sha256(train, valid, 1))
    print(f"rate {rate:.12f} cross {cross:.12f}")
    for text in (
        b"it is",
        b"It is",
        b"it is.",
        b"it was.",
        b"was, it is",
        b"na\xc3\xafve @[`{\x7f caf\xc3\xa9",
        b"z" * 30,
        b"a  12345678 z",
    ):
        print("rows by words", text, row_by_words(text, 1, 65536), row_by_words(text, 2, 1 << 20))


if __name__ == "__main__":
    main()
