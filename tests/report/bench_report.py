#!/usr/bin/env python3
"""Time and peak memory of `eggroll report` over many synthetic runs.

Usage: bench_report.py BUILD_FOLDER [RUNS LINES]   default: 2000 runs of 1000 metric lines, the budget of 20 s and 1 GiB
Exit code 1 where the budget is exceeded.
"""
import os
import subprocess
import sys
import tempfile
import time

build = sys.argv[1]
runs, lines = sys.argv[2:4] if len(sys.argv) > 3 else ('2000', '1000')
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([f'{build}/tests/bin/make_results', f'{folder}/results', runs, lines], check=True)
    begun = time.monotonic()
    child = subprocess.Popen([f'{build}/bin/eggroll', 'report', f'{folder}/results'])
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - begun
    mebibytes = usage.ru_maxrss / 1024
    page = os.path.getsize(f'{folder}/results/report/findings.html') / 2**20 if status == 0 else 0
print(f'{runs} runs of {lines} lines: {seconds:.1f} s, {usage.ru_utime + usage.ru_stime:.1f} s of processor time, '
      f'peak {mebibytes:.0f} MiB, page {page:.1f} MiB')
sys.exit(0 if status == 0 and seconds < 20 and mebibytes < 1024 else 1)
