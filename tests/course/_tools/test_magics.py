"""The course's magics take their line apart, and tell what lacks.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

import pytest
from IPython.core.error import UsageError

from course._tools import magics

PATCH = "-        return F.linear(input, self.weight, self.bias)\n+        return input\n"
PROGRAM = "\nimport reftorch as torch\ntorch.nn.Linear(2, 3)(torch.ones(2)).shape"


def test_rebuild_takes_a_file_and_a_timeout():
    shown = magics.rebuild("nn/modules/linear.py --timeout 30", f"{PATCH}{PROGRAM}")
    assert (shown.before.printed, shown.after.printed) == ("torch.Size([3])\n", "torch.Size([2])\n")


@pytest.mark.parametrize("line", ["", "a.cpp b.cpp"])
def test_rebuild_asks_for_one_file(line):
    with pytest.raises(UsageError, match="Which file"):
        magics.rebuild(line, "")


@pytest.mark.parametrize("line", ["--besides", "--lines many", "--env A", "add"])
def test_real_torch_says_what_it_does_not_understand(line):
    with pytest.raises(UsageError, match="%%real_torch: "):
        magics.real_torch(line, "1")


def test_the_magics_are_registered_by_their_names():
    names = []

    class Shell:
        def register_magic_function(self, function, magic_kind, magic_name):
            names.append((magic_kind, magic_name))

    magics.load_ipython_extension(Shell())
    assert ("cell", "rebuild") in names
    assert ("cell", "real_torch") in names
    assert ("line", "course") in names
