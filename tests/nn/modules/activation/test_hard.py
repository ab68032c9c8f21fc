"""Nonlinearities of straight pieces: values, gradients and texts are torch's.

Mirrors: test/test_nn.py
"""

from types import ModuleType

import pytest

import reftorch
from tests.nn.modules.activation.test_formulas import VALUES, run

MODULES: list[tuple[str, tuple]] = [
    ("Hardsigmoid", ()),
    ("Hardswish", ()),
    ("Hardshrink", ()),
    ("Hardshrink", (1.25,)),
    ("Softshrink", ()),
    ("Softshrink", (1.25,)),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "args"), MODULES, ids=str)
def test_values_gradients_and_text(name: str, args: tuple, dtype: str, real_torch: ModuleType) -> None:
    ours, theirs = run(reftorch, name, args, dtype), run(real_torch, name, args, dtype)
    assert ours[0] == pytest.approx(theirs[0], rel=1e-6)
    assert ours[1] == pytest.approx(theirs[1], rel=1e-6)
    assert ours[2] == theirs[2]


@pytest.mark.parametrize("name", ["Hardsigmoid", "Hardswish"])
def test_in_place(name: str) -> None:
    expected = run(reftorch, name, (), "float64")
    values, grads, _ = run(reftorch, name, (), "float64", inplace=True)
    assert values == expected[0] and grads == expected[1]
    x = reftorch.tensor(VALUES)
    assert getattr(reftorch.nn, name)(inplace=True)(x) is x


def test_a_negative_bound_is_refused(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        with pytest.raises(RuntimeError, match="lambda must be in range"):
            lib.nn.Softshrink(-1.0)(lib.ones(1))
