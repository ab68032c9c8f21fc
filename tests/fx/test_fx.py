"""The package: what an import brings.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from reftorch import fx


def test_fx_is_imported_at_its_first_use() -> None:
    program = "import sys, reftorch; print('reftorch.fx' in sys.modules, reftorch.fx.experimental.__name__)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert found.split() == ["False", "reftorch.fx.experimental"]


def test_unknown_names_raise() -> None:
    with pytest.raises(AttributeError, match=r"module 'reftorch.fx' has no attribute 'missing'"):
        fx.missing  # noqa: B018
