"""Results of Eggroll Lab as pandas frames.

    from eggroll_results import read_results

    results = read_results("results/runs")
    results.runs       # a row for each run: its numbers, and each key of its configuration as config.KEY
    results.metrics    # a row for each line of each metrics.jsonl; the column `run` is that of results.runs
    results.problems   # sentences: what was damaged and left out; each is a warning too

Paths are folders with runs at or below them, or record files. A record is a run's record.json, or a file *.json of any
other name that stands alone, such as those in results/findings. Columns have the names of a report's runs.csv.

Needs pandas (Debian's package python3-pandas) and no other module.
"""
import errno
import hashlib
import json
import math
import os
import stat
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple

import pandas as pd

RECORD = "record.json"
SCHEMA = 2  # of a record
# What must be there, and what may be absent or null.
NEEDED = {"status": str, "config": dict, "files": dict, "baselines": dict, "plugins": list, "environment": dict}
OPTIONAL = dict.fromkeys(("dataset", "sweep", "summary", "average", "final", "newest", "best"), dict)
PASSED_BY = {"checkpoints", "plugins"}  # folders that hold no records
REMOVED = ".tmp-rm-"  # how the names of folders begin that eggroll rm has not removed to their end
LARGEST_RECORD = 64 << 20  # bytes
LINE_SEAL = b',"crc":"'
LINE_SEAL_SIZE = len(LINE_SEAL) + 8 + 2


class Results(NamedTuple):
    runs: pd.DataFrame
    metrics: pd.DataFrame
    problems: list


class Damaged(Exception):
    """Says what is wrong with a file."""


class _Number(float):
    """A number and how the file writes it, which its checksum is of."""

    def __new__(cls, text):
        number = super().__new__(cls, text)
        if math.isinf(number):
            raise ValueError(f"{text[:20]}... is too large a number")
        number.text = text
        return number

    def plain(self):
        return int(self.text) if self.text.lstrip("-").isdigit() else float(self)


def read_results(*paths):
    """Reads all runs at or below the paths. A path that does not exist is an error; damaged files are left out."""
    problems, runs, metrics = [], [], []
    for root, file in _record_files([Path(path) for path in paths], problems):
        try:
            record = _read_record(file)
        except Damaged as damage:
            problems.append(f"{file} {damage}; the run is left out")
            continue
        if record is None:  # JSON of something else
            continue
        name = _name(root, file)
        runs.append({"run": name, "record": str(file), **_row(record)})
        lines = _read_metrics(record, file, problems)
        if lines:
            frame = pd.DataFrame(lines)
            frame.insert(0, "run", name)
            metrics.append(frame)
    for problem in problems:
        warnings.warn(problem, stacklevel=2)
    return Results(pd.DataFrame(runs), pd.concat(metrics, ignore_index=True) if metrics else pd.DataFrame(), problems)


def _record_files(paths, problems):
    """Each record file once, with the path that it was found through. Links are not followed."""
    seen = set()
    for root in paths:
        if not root.exists():
            raise FileNotFoundError(f"{root} does not exist, expected a run's folder, a record or a folder of them")
        found = [root] if root.is_file() else []
        def note(error):
            problems.append(f"the folder {error.filename} cannot be read ({error.strerror})")

        for folder, folders, files in os.walk(root, onerror=note):
            folders[:] = sorted(name for name in folders if name not in PASSED_BY and not name.startswith(REMOVED))
            found += [Path(folder) / name for name in sorted(files) if name.endswith(".json")]
        for file in found:
            if file.is_symlink() or not file.is_file() or file.resolve() in seen:
                continue
            seen.add(file.resolve())
            yield root, file


def _name(root, file):
    """The run's path below the folder that was given."""
    named = file.parent if file.name == RECORD else file.with_suffix("")
    if root.is_dir() and named != root:
        return named.relative_to(root).as_posix()
    return named.resolve().name


def _parse(text):
    def refuse(constant):
        raise ValueError(f"{constant} is no number of JSON")

    return json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=refuse)


def _as_sealed(value):
    """JSON without blanks, with numbers as the file has them."""
    if isinstance(value, dict):
        return "{" + ",".join(_as_sealed(key) + ":" + _as_sealed(item) for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(_as_sealed(item) for item in value) + "]"
    if isinstance(value, _Number):
        return value.text
    return json.dumps(value, ensure_ascii=False)


def _plain(value):
    """The same with Python's numbers."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.plain() if isinstance(value, _Number) else value


def _read(file, most=None):
    """The bytes of a regular file that is no link, and that has at most `most` of them. Waits for no FIFO."""
    with open(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as opened:
        facts = os.fstat(opened.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if most is not None and facts.st_size > most:
            raise OSError(errno.EFBIG, f"it has more than {most} bytes")
        return opened.read()


def _read_record(file):
    """The record, or None where the file is JSON of something else."""
    try:
        record = _parse(_read(file, LARGEST_RECORD).decode())
        is_record = isinstance(record, dict) and {"schema", "status", "config_hash"} <= record.keys()
        if not is_record and file.name != RECORD:
            return None
        if not is_record:
            raise Damaged("is no record, expected a JSON object with a schema")
        digest = record.pop("sha256", None)
        sealed = hashlib.sha256(_as_sealed(record).encode()).hexdigest()
        record = _plain(record)
    except (ValueError, RecursionError) as error:  # the first holds errors of JSON and of UTF-8
        raise Damaged(f"is damaged: {error}") from error
    except OSError as error:
        raise Damaged(f"cannot be read: {error.strerror}") from error
    if record["schema"] != SCHEMA:
        raise Damaged(f"has schema {record['schema']}, expected {SCHEMA}; read it with the eggroll that wrote it")
    if digest is None:
        raise Damaged("is damaged or was changed: it lacks its sha256")
    if digest != sealed:
        raise Damaged("is damaged or was changed: its sha256 is not that of its contents")
    for key, kind in {**NEEDED, **OPTIONAL}.items():
        is_absent = key in OPTIONAL and record.get(key) is None
        if not is_absent and not isinstance(record.get(key), kind):
            raise Damaged(f"has no {key} that is a {kind.__name__}, expected a record of a run")
    return record


def _flat(value, key):
    """Dotted keys and values; a list is one value, as text."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _flat(item, f"{key}.{name}" if key else name)
    else:
        yield key, json.dumps(value) if isinstance(value, list) else value


def _items(value):
    return value.items() if isinstance(value, dict) else ()


def _axis_text(value):
    return " ".join(f"{key}={text}" for key, text in value.items()) if isinstance(value, dict) else value


def _several(names, values):
    """A column for each name, empty where the record has no such list."""
    known = values if isinstance(values, list) and len(values) == len(names) else [None] * len(names)
    return dict(zip(names, known))


def _row(record):
    def get(*keys):
        value = record
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    has_ended = record["status"] in ("completed", "stopped")
    plugins = {plugin["kind"]: plugin["name"] for plugin in record["plugins"]
               if isinstance(plugin, dict) and {"kind", "name"} <= plugin.keys()}
    # The share is of the weights that had votes. Older records hold the share of all weights, which is not the same
    # where a table's rows are voted on by those alone that read them.
    rates = get("summary", "update_rate_of_voted")
    if rates is None and get("config", "votes", "masked") is not True:
        rates = get("summary", "update_rate")
    row = {"study": get("sweep", "name"), "status": record["status"], "seed": get("seed"), "steps": get("steps"),
           "member_tokens": get("member_tokens"), "unique_tokens": get("unique_tokens"), "unit": get("dataset", "unit"),
           "final_bits": get("final", "bits_per_unit") if has_ended else None,
           "newest_bits": get("newest", "bits_per_unit"), "best_bits": get("best", "bits_per_unit"),
           "average_final_bits": get("average", "final", "bits_per_unit"),
           "average_newest_bits": get("average", "newest", "bits_per_unit")}
    row.update({name: get("baselines", name) for name in ("unigram", "bigram", "gzip", "xz", "ppmd")})
    counted = sorted((bits, int(of)) for of, bits in _items(get("baselines", "kneser_ney")))
    row["kneser_ney"], row["kneser_ney_bytes"] = counted[0] if counted else (None, None)
    row["counting_seconds"] = get("counting_seconds")
    row.update({f"overlap_{size}": get("overlap", size) for size in ("32", "64", "128")})
    row.update({"wall_seconds": get("wall_seconds"), "tokens_per_second": get("summary", "tokens_per_second"),
                "forward_share": get("summary", "forward_share")})
    quantiles = [f"step_seconds_{name}" for name in ("p5", "median", "p95")]
    row.update(_several(quantiles, get("summary", "step_seconds")))
    for name, values in (("update_rate", rates), ("threshold", get("summary", "threshold"))):
        row.update(_several([f"{name}_{phase}" for phase in ("start", "middle", "end", "late")], values))
    row.update({"parameters": get("parameters"), "checkpoint_bytes": get("checkpoint_bytes"),
                "memory_bytes": get("memory_bytes"), "device": get("device"),
                "threads": get("threads"), "model": plugins.get("model"), "optimizer": plugins.get("optimizer"),
                "backend": plugins.get("backend"), "version": get("environment", "host_version"),
                "commit": get("environment", "host_commit"), "config_hash": record["config_hash"],
                "started_utc": get("started_utc"), "ended_utc": get("ended_utc"), "error": get("error")})
    row.update({f"axis.{axis}": _axis_text(value) for axis, value in _items(get("sweep", "axes"))})
    row.update({f"config.{key}": value for key, value in _flat(record["config"], "")})
    return row


def _read_metrics(record, file, problems):
    """The lines of the metrics.jsonl beside a run's record.json, as flat dictionaries of numbers."""
    name = record["files"].get("metrics")
    if file.name != RECORD or not isinstance(name, str):
        return []
    path = file.parent / Path(name).name
    try:
        lines = _read(path).split(b"\n")
    except OSError as error:
        problems.append(f"{path} cannot be read ({error.strerror}), though its record names it; its lines are left out")
        return []
    rows, before = [], None
    for number, line in enumerate(lines, 1):
        if line and line != before:  # the same line twice
            try:
                rows.append(_numbers(line))
            except Damaged as damage:
                problems.append(f"line {number} of {path} {damage}; it is left out")
        before = line
    known = (record.get("summary") or {}).get("lines", 0)
    if isinstance(known, int) and len(rows) < known:
        problems.append(f"{path} has {len(rows)} whole lines, but its record knows of {known}")
    return rows


def _numbers(line):
    sealed = line[:-LINE_SEAL_SIZE]
    if not line[len(sealed):].startswith(LINE_SEAL):
        raise Damaged("is damaged: it has no checksum")
    if line[len(sealed):] != LINE_SEAL + b'%08x"}' % zlib.crc32(sealed):
        raise Damaged("is damaged: its checksum is not that of the line")
    try:
        values = _plain(_parse(line.decode()))
    except (ValueError, RecursionError) as error:
        raise Damaged(f"is damaged or not complete: {error}") from error
    if not isinstance(values, dict) or not isinstance(values.get("step"), int):
        raise Damaged("is no line of metrics, expected a JSON object with a step")
    return {key: value for key, value in _flat(values, "") if isinstance(value, (int, float)) and key != "schema"}
