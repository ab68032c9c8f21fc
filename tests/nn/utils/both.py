"""Runs one program with reftorch and with torch, and compares what the program collects.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked

Program = Callable[[Any], Any]
NONE_IN_TORCH = "torch does not implement this derivative"


def plain(value: Any) -> Any:
    """Return tensors as lists, and names without the library."""
    if hasattr(value, "tolist"):
        return [str(value.dtype), list(value.shape), value.detach().tolist()]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return str(value).replace("reftorch", "torch") if isinstance(value, str) else value


def tried(call: Callable[[], Any]) -> Any:
    """Return what the call returns, or its error."""
    try:
        return call()
    except Exception as error:
        return type(error).__name__, str(error).replace("reftorch", "torch")


def gradients(lib: Any, output: Any, leaves: list[Any]) -> list[Any]:
    """Return first and second gradients; torch lacks the second ones of its fused kernels."""
    first = lib.autograd.grad((output.cos() + output).sum(), leaves, create_graph=True, allow_unused=True)
    total = sum((g**2).sum() for g in first if g is not None)
    try:
        return [list(first), list(lib.autograd.grad(total, leaves, allow_unused=True))]
    except RuntimeError as error:
        if lib is reftorch or "is not implemented" not in str(error):
            raise
        return [list(first), NONE_IN_TORCH]


def assert_same(ours: Any, theirs: Any, at: str = "") -> None:
    if isinstance(theirs, str) and theirs == NONE_IN_TORCH:
        return
    assert type(ours) is type(theirs), (at, ours, theirs)
    if isinstance(ours, dict):
        assert list(ours) == list(theirs), at
        for key in ours:
            assert_same(ours[key], theirs[key], f"{at}[{key!r}]")
    elif isinstance(ours, list):
        assert len(ours) == len(theirs), (at, ours, theirs)
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(a, b, f"{at}[{i}]")
    elif isinstance(ours, float):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6, nan_ok=True), at
    else:
        assert ours == theirs, at


def compare(program: Program, real_torch: ModuleType) -> None:
    assert_same(plain(program(reftorch)), asked(real_torch, lambda lib: plain(program(lib))))
