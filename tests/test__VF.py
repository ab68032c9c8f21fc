"""The functions for the parts of the package that stand below ``reftorch``.

Mirrors: torch/_VF.py
"""

from typing import Any

import pytest

import reftorch
from reftorch import _VF
from tests.answers.watched import asked


def test_the_functions_are_those_of_the_package() -> None:
    assert _VF.stack is reftorch.stack
    with pytest.raises(AttributeError, match="no attribute 'foo'"):
        _VF.foo  # noqa: B018


def test_named_results_print_one_field_a_line(real_torch_or_none: Any) -> None:
    def text(lib: Any) -> str:
        return repr(lib.max(lib.tensor([[1.0, 2.0]]), 1))

    expected = "torch.return_types.max(\nvalues=tensor([2.]),\nindices=tensor([1]))"
    assert text(reftorch) == expected
    if real_torch_or_none is not None:
        assert asked(real_torch_or_none, text) == expected


def test_numbers_too_large_for_64_bits(real_torch_or_none: Any) -> None:
    for lib in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(ValueError, match="Overflow when unpacking long long"):
            lib.ones(2).sum(2**63)
        with pytest.raises(TypeError, match="failed to unpack the object at pos 2"):
            lib.ones(2).view(1, 2**63)
