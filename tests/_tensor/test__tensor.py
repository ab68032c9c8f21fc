"""What the tensor class says in Python.

Mirrors: test/test_torch.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error, numbers

RESULTS: dict[str, Program] = {
    "type": lambda t: [t.ones(2).type(), t.ones(2, dtype=t.int8).type(), t.ones(2).type("torch.IntTensor")],
    "type of a dtype": lambda t: t.ones(2).type(t.float64),
    "old division": lambda t: [t.arange(3.0).__div__(2), t.ones(2).__rdiv__(3), t.arange(3.0).__idiv__(2)],
    "complex": lambda t: [complex(t.tensor(1.5)).real, complex(t.tensor(2)).imag],
    "predicates": lambda t: [t.ones(1).is_conj(), t.ones(1).is_neg(), t.ones(1).is_same_size(t.ones(2))],
    "real": lambda t: numbers(t, 3).real,
    "array priority": lambda t: t.ones(1).__array_priority__,
    "nuclear norm": lambda t: numbers(t, 3, 4).norm(p="nuc"),
    "nuclear norms": lambda t: numbers(t, 2, 3, 4).norm(p="nuc", dim=(0, 2), keepdim=True),
    "reflected": lambda t: [numbers(t, 3).__rsub__(2), numbers(t, 3).__rpow__(2), numbers(t, 3).__rfloordiv__(7)],
}

ERRORS: dict[str, Program] = {
    "type of no name": lambda t: t.ones(2).type("foo"),
    "imag": lambda t: t.ones(2).imag,
}


@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch)


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


def test_identities() -> None:
    x: Any = reftorch.ones(2, requires_grad=True)
    assert x.real is x and x.type(reftorch.float32) is x and reftorch.real(x) is x
