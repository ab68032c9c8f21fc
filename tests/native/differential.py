"""One program, run by reftorch and by torch: results, strides and errors must agree.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

A program is a function of the library, ``lambda t: t.arange(6).view(2, 3)``.
"""

import math
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import reftorch

Program = Callable[[Any], Any]


def numbers(t: Any, *shape: int, dtype: str = "float32", start: int = 0) -> Any:
    """The same tensor of every-day numbers in either library; no two neighbours equal."""
    count = math.prod(shape)
    if dtype == "bool":
        values = [(start + i) % 3 == 0 for i in range(count)]
    elif dtype.startswith(("int", "uint")):
        values = [(start + 7 * i) % 11 for i in range(count)]
    else:
        values = [math.sin(1.0 + start + 1.7 * i) * 3 for i in range(count)]
    return t.tensor(values, dtype=getattr(t, dtype)).reshape(shape)


def describe(value: Any) -> Any:
    """What must be equal: type, dtype, shape and strides, and then the numbers."""
    if isinstance(value, tuple | list):
        return [describe(v) for v in value]
    if hasattr(value, "stride") and hasattr(value, "dtype"):
        strides = value.stride() if value.numel() > 0 else ()
        # A dimension of size 1 is never stepped along: its stride says nothing.
        strides = tuple(s for s, n in zip(strides, value.shape, strict=False) if n != 1)
        return {"dtype": str(value.dtype).split(".")[-1], "shape": tuple(value.shape), "strides": strides}
    return value


def flat_numbers(value: Any) -> list[float]:
    if isinstance(value, tuple | list):
        return [x for v in value for x in flat_numbers(v)]
    if hasattr(value, "stride") and hasattr(value, "dtype"):
        return [float(x) for x in value.detach().reshape(-1).tolist()]
    return []


def assert_same(program: Program, torch: ModuleType, rtol: float = 1e-6, atol: float = 1e-7) -> None:
    ours, theirs = program(reftorch), program(torch)
    assert describe(ours) == describe(theirs)
    for mine, wanted in zip(flat_numbers(ours), flat_numbers(theirs), strict=True):
        close = math.isclose(mine, wanted, rel_tol=rtol, abs_tol=atol)
        assert close or (math.isnan(mine) and math.isnan(wanted)), (mine, wanted, ours, theirs)


def raised(program: Program, library: ModuleType) -> tuple[str, str]:
    try:
        value = program(library)
    except Exception as error:  # whatever the libraries raise is what is compared
        return type(error).__name__, str(error).split("\n")[0].strip()
    raise AssertionError(f"{library.__name__} raised nothing and returned {value!r}")


def assert_same_error(program: Program, torch: ModuleType) -> None:
    ours, theirs = raised(program, reftorch), raised(program, torch)
    # Ours may add a hint after torch's own words.
    assert ours[0] == theirs[0] and re.sub(r"\s+", " ", ours[1]).startswith(re.sub(r"\s+", " ", theirs[1])), (
        ours,
        theirs,
    )


def assert_same_outcome(program: Program, torch: ModuleType, rtol: float = 1e-6, atol: float = 1e-7) -> None:
    """The same values, or, where torch raises, the same error."""
    try:
        program(torch)
    except Exception:
        assert_same_error(program, torch)
    else:
        assert_same(program, torch, rtol, atol)


def assert_same_gradients(program: Program, torch: ModuleType, *shapes: tuple[int, ...]) -> None:
    """``program(t, *tensors)`` is differentiated twice with respect to double tensors of these shapes."""

    def gradients(t: Any) -> list[Any]:
        inputs = [numbers(t, *s, dtype="float64", start=i).requires_grad_() for i, s in enumerate(shapes)]
        out = program(t, *inputs)
        outs = list(out) if isinstance(out, tuple | list) else [out]
        weighted = sum((o * numbers(t, *o.shape, dtype="float64", start=5)).sum() * o.sum() for o in outs)
        first = t.autograd.grad(weighted, inputs, create_graph=True)
        second = t.autograd.grad(sum((g * g).sum() for g in first), inputs)
        return [*[g.detach() for g in first], *second]

    for mine, wanted in zip(gradients(reftorch), gradients(torch), strict=True):
        assert tuple(mine.shape) == tuple(wanted.shape)
        for a, b in zip(flat_numbers(mine), flat_numbers(wanted), strict=True):
            assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9), (mine, wanted)
