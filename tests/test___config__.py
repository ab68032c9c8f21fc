"""What the loaded build says of itself.

Mirrors: test/test_utils.py
"""

import os

import reftorch
from reftorch import _load


def test_show_names_what_was_built() -> None:
    shown = reftorch.__config__.show()
    expected = os.environ.get("REFTORCH_BUILD", "").capitalize() or _load.chosen_extension().parent.name
    for word in (expected, "OpenBLAS", "CUDA"):
        assert word in shown, shown
