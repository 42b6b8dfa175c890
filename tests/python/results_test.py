#!/usr/bin/env python3
"""results_test.py SOURCE MAKE_RESULTS: reads results that the C++ code wrote, whole and damaged."""
import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

try:
    import pandas
except ImportError:
    sys.exit("eggroll: the module for pandas cannot run here: install the package python3-pandas")

SOURCE, MAKE_RESULTS = Path(sys.argv[1]), sys.argv[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "tools" / "python"))
from eggroll_results import read_results  # noqa: E402

RUNS, LINES = 10, 41


class ResultsTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        subprocess.run([MAKE_RESULTS, self.folder / "results", str(RUNS), str(LINES)], check=True)
        self.point = self.folder / "results" / "points" / "00003"

    def read(self, *paths):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results = read_results(*(paths or [self.folder / "results"]))
        self.assertEqual([str(warning.message) for warning in caught], results.problems)
        return results

    def test_runs_and_metrics_are_tables(self):
        results = self.read()
        self.assertEqual(results.problems, [])
        self.assertEqual(len(results.runs), RUNS)
        self.assertEqual(len(results.metrics), RUNS * LINES)
        run = results.runs.set_index("run").loc["points/00007"]
        self.assertEqual((run["seed"], run["config.train.population"], run["axis.train.population"]), (2, 1024, "1024"))
        self.assertEqual((run["status"], run["unigram"], run["parameters"]), ("completed", 5.0, 24832))
        self.assertEqual((run["xz"], run["kneser_ney"], run["kneser_ney_bytes"], run["overlap_64"], run["checkpoint_bytes"]),
                         (4.0, 3.0, 4, 0.0, 130000))
        other = results.runs.set_index("run").loc["points/00006"]
        self.assertTrue(other[["xz", "kneser_ney", "kneser_ney_bytes", "overlap_64", "checkpoint_bytes"]].isna().all())
        last = results.metrics[results.metrics["run"] == "points/00007"].iloc[-1]
        self.assertEqual(last["step"], LINES - 1)
        self.assertEqual(last["held_out_bits_per_unit"], run["final_bits"])
        self.assertFalse({"crc", "schema"} & set(results.metrics.columns))

    def test_published_records_are_whole(self):
        results = self.read(SOURCE / "results")
        self.assertEqual(results.problems, [])
        records = [path for path in (SOURCE / "results").rglob("*.json")
                   if path.name != "records.schema.json" and b'"config_hash"' in path.read_bytes()]
        self.assertGreater(len(records), 500)
        self.assertEqual(sorted(results.runs["record"]), sorted(map(str, records)))
        old = results.runs.set_index("run").loc["0.1/shakespeare-seed1"]
        record = json.loads((SOURCE / "results" / "0.1" / "shakespeare-seed1.json").read_text())
        self.assertEqual(old["final_bits"], record["final"]["bits_per_unit"])

    def test_numbers_are_those_of_a_report(self):
        for page in ["words", "average", "count-convergence"]:
            folder = SOURCE / "results" / "findings" / page
            runs = self.read(folder / "records").runs
            reported = pandas.read_csv(folder / "runs.csv", float_precision="round_trip")
            self.assertEqual(len(runs), len(reported))
            both = reported.merge(runs, on=["config_hash", "seed"], suffixes=["", " of Python"], validate="one_to_one")
            self.assertEqual(len(both), len(reported))
            of_others = {"number", "run", "config_hash", "seed"}
            columns = [name for name in reported.columns if not name.startswith(("axis.", "config.", "hook."))]
            for column in sorted(set(columns) - of_others):
                self.assertIn(column, runs.columns)
                known, ours = both[column], both[column + " of Python"]
                self.assertEqual(list(known.isna()), list(ours.isna()), column)
                self.assertEqual(list(known.dropna()), list(ours.dropna()), column)

    def test_the_notebook_has_a_row_for_each_configuration_of_a_sweep_over_optimizers(self):
        records = SOURCE / "results" / "findings" / "optimizer" / "records"
        cells = json.loads((SOURCE / "tools" / "python" / "results.ipynb").read_text())["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code" and "groupby(keys" in "".join(cell["source"])]
        self.assertEqual(len(code), 1)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), pandas.option_context("display.width", 10000, "display.max_columns", None):
            exec(code[0], {"results": self.read(records)})
        # Keys of the other optimizer, which a run has not, are no reason to leave it out.
        self.assertEqual(len(re.findall(r" 15$", printed.getvalue(), re.MULTILINE)), 4, printed.getvalue())

    def test_a_damaged_record_is_named_and_left_out(self):
        record = self.point / "record.json"
        text = record.read_text()
        for damaged in [text.replace('"seed": 3', '"seed": 4', 1), text[:-20], "{", "[]", "[" * 100000,
                        text.replace('"schema": 2', '"schema": 9'), text.replace('"steps": 40', '"steps": 1e999')]:
            record.write_text(damaged)
            results = self.read()
            self.assertEqual(len(results.runs), RUNS - 1, damaged[:50])
            self.assertEqual(len(results.problems), 1)
            self.assertRegex(results.problems[0], rf"^{record} .*; the run is left out$")
        record.write_bytes(b"\xff")
        self.assertIn("is damaged", self.read().problems[0])

    def test_a_damaged_line_is_named_and_left_out(self):
        metrics = self.point / "metrics.jsonl"
        lines = metrics.read_bytes().split(b"\n")
        for damaged in [b'{"step":', b"[]", b'{"step":5}', b'{"step":1,"crc":"00000000"}', b'"crc":"00000000"}', b"\xff"]:
            metrics.write_bytes(b"\n".join(lines[:5] + [damaged] + lines[6:]))
            results = self.read()
            self.assertEqual(len(results.metrics), RUNS * LINES - 1)
            self.assertRegex(results.problems[0], rf"^line 6 of {metrics} .*; it is left out$")
        metrics.unlink()
        results = self.read()
        self.assertEqual(len(results.runs), RUNS)
        self.assertRegex(results.problems[0], "cannot be read .*its lines are left out$")

    def test_only_regular_files_are_read(self):
        metrics = self.point / "metrics.jsonl"
        metrics.rename(self.folder / "elsewhere")
        for make in [lambda: os.mkfifo(metrics), lambda: metrics.symlink_to(self.folder / "elsewhere"), metrics.mkdir]:
            make()
            results = self.read()
            self.assertEqual(len(results.metrics), (RUNS - 1) * LINES)
            self.assertRegex(results.problems[0], rf"^{metrics} cannot be read .*its lines are left out$")
            metrics.rmdir() if metrics.is_dir() and not metrics.is_symlink() else metrics.unlink()
        with open(self.point / "record.json", "r+b") as record:
            record.truncate(1 << 40)
        self.assertRegex(self.read().problems[0], "record.json cannot be read: it has more than .* the run is left out$")

    def test_what_is_being_removed_is_passed_by(self):
        self.point.rename(self.point.parent / ".tmp-rm-00003")
        self.assertEqual(len(self.read().runs), RUNS - 1)

    def test_a_record_of_strange_shape_is_refused(self):
        for strange in [{}, {"config": 3}, {"summary": []}, {"files": {"metrics": 7}}, {"status": None},
                        {"plugins": [3], "sweep": {"axes": 7}, "files": {"metrics": ".."}, "config": {"a": [1, {}]}}]:
            record = {"schema": 2, "status": "completed", "config_hash": "", "config": {}, "files": {}, "baselines": {},
                      "plugins": [], "environment": {}, **strange}
            record["sha256"] = hashlib.sha256(json.dumps(record, separators=(",", ":")).encode()).hexdigest()
            (self.point / "record.json").write_text(json.dumps(record))
            results = self.read()
            self.assertGreaterEqual(len(results.runs), RUNS - 1)

    def test_single_files_and_several_folders(self):
        shutil.copy(self.point / "record.json", self.folder / "published.json")
        (self.folder / "other.json").write_text("{}")
        results = self.read(self.folder / "published.json", self.folder / "results" / "points" / "00001", self.folder)
        self.assertEqual(list(results.runs["run"][:2]), ["published", "00001"])
        self.assertEqual(len(results.runs), RUNS + 1)
        self.assertEqual(len(self.read(self.folder / "published.json").metrics), 0)
        with self.assertRaisesRegex(FileNotFoundError, "nowhere does not exist, expected a run's folder"):
            read_results(self.folder / "nowhere")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
