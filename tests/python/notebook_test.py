#!/usr/bin/env python3
"""notebook_test.py SOURCE MAKE_RESULTS: runs the notebook of tools/python on results that the C++ code wrote."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import ipykernel  # noqa: F401
    import matplotlib  # noqa: F401
    import nbformat
    import pandas  # noqa: F401
    from nbconvert.preprocessors import ExecutePreprocessor
except ImportError as error:
    sys.exit(f"eggroll: the notebook cannot run here: {error.name} is missing; install the packages python3-pandas, "
             "python3-matplotlib, jupyter-nbconvert and python3-ipykernel")

source, make_results = Path(sys.argv[1]), sys.argv[2]
with tempfile.TemporaryDirectory() as name:
    folder = Path(name)
    for file in ("results.ipynb", "eggroll_results.py"):
        shutil.copy(source / "tools" / "python" / file, folder)
    subprocess.run([make_results, folder / "results", "10", "41"], check=True)
    os.environ["EGGROLL_RESULTS"] = str(folder / "results")
    # The kernel of this Python, whatever kernels the user has.
    os.environ["JUPYTER_PATH"] = os.environ["HOME"] = str(folder)
    notebook = nbformat.read(folder / "results.ipynb", as_version=4)
    nbformat.validate(notebook)
    if any(cell.get("outputs") for cell in notebook.cells):
        sys.exit("the notebook holds outputs, expected none in the repository; clear them")
    ExecutePreprocessor(timeout=3600).preprocess(notebook, {"metadata": {"path": str(folder)}})
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    text = "".join(output.get("text", "") for output in outputs)
    pictures = sum("image/png" in output.get("data", {}) for output in outputs)
    if "10 runs, 410 lines of metrics" not in text or "config.train.population" not in text or pictures != 1:
        sys.exit(f"expected 10 runs, their configurations and 1 figure; it drew {pictures} and printed:\n{text}")
