"""The functions for the parts of the package that stand below ``reftorch``.

Mirrors: torch/_VF.py
Leaves out: nothing.
"""

import pytest

import reftorch
from reftorch import _VF


def test_the_functions_are_those_of_the_package() -> None:
    assert _VF.stack is reftorch.stack
    with pytest.raises(AttributeError, match="no attribute 'foo'"):
        _VF.foo  # noqa: B018
