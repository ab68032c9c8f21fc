"""A copy of a file of PyTorch is changed, and programs run in PyTorch with the copy; torch itself stays as it is.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest

from course._tools import patched_torch
from course._tools.patches import PatchError
from course._tools.real_torch import NoTorch
from course._tools.torch_copies import run_each

FILE = "torch/optim/optimizer.py"
PROGRAM = """
import torch

w = torch.nn.Parameter(torch.zeros(1))
print(torch.optim.SGD([w], lr=0.1).state_dict()["param_groups"][0]["lr"], type(w).__name__)
"""
PATCH = """
     def state_dict(self) -> StateDict:
+        return {"param_groups": [{"lr": "patched"}]}
"""


def test_programs_run_with_a_change_and_without_it(real_torch):
    copy = patched_torch(FILE, PATCH)
    jobs = [(patched_torch(FILE), PROGRAM), (copy, PROGRAM), (copy, "1 / 0"), (patched_torch(FILE), PROGRAM)]
    outcomes = run_each(jobs)
    printed = [outcome.printed.strip() for outcome in outcomes]
    assert printed == ["0.1 Parameter", "patched Parameter", "", "0.1 Parameter"]
    assert [outcome.error for outcome in outcomes] == ["", "", "ZeroDivisionError: division by zero", ""]


def test_a_process_that_ends_is_an_error(real_torch):
    with pytest.raises(RuntimeError, match="without an answer"):
        patched_torch(FILE).run("import os; os._exit(3)")


def test_a_patch_that_does_not_fit_and_a_file_that_is_no_module_are_errors(real_torch):
    with pytest.raises(PatchError, match="has no line 'no such line'"):
        patched_torch(FILE, "-no such line")
    with pytest.raises(PatchError, match="the patch is for one file"):
        patched_torch(FILE, PATCH + "@@ torch/optim/adam.py\n-import torch")
    for path in ("torch/optim/__init__.py", "torch/no_such_file.py", "torch/csrc/autograd/engine.cpp"):
        with pytest.raises(LookupError, match="not a module of a package"):
            patched_torch(path)


def test_without_torch_it_says_what_to_do(monkeypatch):
    monkeypatch.setenv("REFTORCH_COMPARE", "0")
    with pytest.raises(NoTorch, match="make torch"):
        patched_torch(FILE)
