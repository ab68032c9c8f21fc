"""Nonlinearities with a formula of their own: values, gradients and texts are torch's.

Mirrors: test/test_nn.py
Leaves out: the nonlinearities that are not there.
"""

import copy
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import nn
from tests.answers.watched import asked

VALUES = [-150.0, -30.0, -6.0, -1.5, -1.0, -0.25, 0.0, 0.25, 0.5, 1.0, 2.5, 6.0, 21.0, 150.0]

MODULES: list[tuple[str, tuple]] = [
    ("LeakyReLU", ()),
    ("LeakyReLU", (0.3,)),
    ("ELU", ()),
    ("ELU", (2.0,)),
    ("CELU", ()),
    ("CELU", (0.5,)),
    ("SELU", ()),
    ("GELU", ()),
    ("GELU", ("tanh",)),
    ("SiLU", ()),
    ("Mish", ()),
    ("Softplus", ()),
    ("Softplus", (2.0, 10.0)),
    ("LogSigmoid", ()),
    ("Hardtanh", ()),
    ("Hardtanh", (-2.0, 0.5)),
    ("ReLU6", ()),
    ("Threshold", (0.25, 9.0)),
    ("Softsign", ()),
    ("Tanhshrink", ()),
]
IN_PLACE = [(name, args) for name, args in MODULES if name in ("LeakyReLU", "ELU", "CELU", "SELU", "SiLU", "Mish")]
IN_PLACE += [("Hardtanh", (-2.0, 0.5)), ("ReLU6", ()), ("Threshold", (0.25, 9.0))]


def run(lib: ModuleType, name: str, args: tuple, dtype: str, **options: Any) -> tuple[list[float], list[float], str]:
    """Values, gradients and text."""
    x = lib.tensor(VALUES, dtype=getattr(lib, dtype), requires_grad=True)
    module = getattr(lib.nn, name)(*args, **options)
    y = module(x * 1)
    (y * lib.arange(1, len(VALUES) + 1)).sum().backward()
    return y.tolist(), x.grad.tolist(), repr(module)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "args"), MODULES, ids=str)
def test_values_gradients_and_text(name: str, args: tuple, dtype: str, real_torch: ModuleType) -> None:
    ours, theirs = run(reftorch, name, args, dtype), run(real_torch, name, args, dtype)
    tolerance = {"rel": 2e-6, "abs": 2e-6} if dtype == "float32" else {"rel": 1e-13, "abs": 1e-13}
    assert ours[0] == pytest.approx(theirs[0], **tolerance)
    assert ours[1] == pytest.approx(theirs[1], **tolerance)
    assert ours[2] == theirs[2]


@pytest.mark.parametrize(("name", "args"), IN_PLACE, ids=str)
def test_in_place(name: str, args: tuple) -> None:
    values, grads, text = run(reftorch, name, args, "float64", inplace=True)
    expected = run(reftorch, name, args, "float64")
    assert (
        values == expected[0] and grads == pytest.approx(expected[1], rel=1e-14, abs=1e-14) and "inplace=True" in text
    )
    x = reftorch.tensor(VALUES)
    assert getattr(nn, name)(*args, inplace=True)(x) is x


def test_copies_compute_the_same() -> None:
    module = nn.LeakyReLU(0.3)
    assert copy.deepcopy(module)(reftorch.tensor([-1.0])).item() == pytest.approx(-0.3)


ERRORS = {
    "gelu": lambda lib: lib.nn.functional.gelu(lib.ones(1), approximate="other"),
    "celu": lambda lib: lib.nn.functional.celu(lib.ones(1), 0.0),
    "hardtanh": lambda lib: lib.nn.functional.hardtanh(lib.ones(1), 1.0, 0.0),
    "hardtanh of bools": lambda lib: lib.nn.functional.hardtanh(lib.ones(1) > 0),
    "hardtanh of unsigned": lambda lib: lib.nn.functional.hardtanh(lib.ones(1, dtype=lib.uint8)),
    "threshold of bools": lambda lib: lib.nn.functional.threshold(lib.ones(1) > 0, 1, 2),
}
FLOATS_ONLY = ("celu", "elu", "gelu", "leaky_relu", "logsigmoid", "mish", "selu", "silu", "softplus")


def takes_no(function: str, dtype: str) -> Any:
    return lambda lib: getattr(lib.nn.functional, function)(lib.ones(1).to(getattr(lib, dtype)))


ERRORS |= {f"{name} of {dtype}": takes_no(name, dtype) for name in FLOATS_ONLY for dtype in ("int64", "bool", "uint8")}


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, x: lib.nn.functional.hardtanh(x, -1.5, 1.5),
        lambda lib, x: lib.nn.functional.relu6(x),
        lambda lib, x: lib.nn.functional.relu6(x.to(lib.uint8)),
        lambda lib, x: lib.nn.functional.hardtanh(x.clone(), inplace=True),
        lambda lib, x: lib.nn.functional.threshold(x, 1, 2),
    ],
)
def test_integers_stay_integers(call: Any, real_torch: ModuleType) -> None:
    ours, theirs = (call(lib, lib.tensor([-2, 1, 9])) for lib in (reftorch, real_torch))
    assert (str(ours.dtype), ours.tolist()) == (str(theirs.dtype), theirs.tolist())


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    def message(lib: ModuleType) -> tuple[type, str]:
        with pytest.raises((RuntimeError, ValueError)) as raised:
            ERRORS[case](lib)
        return type(raised.value), str(raised.value)

    assert message(reftorch) == asked(real_torch, message)
