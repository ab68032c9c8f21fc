"""How functions of networks are compared with torch's, on numbers that are drawn by name.

Mirrors: torch/testing/_internal/common_nn.py
"""

import random
import re
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch


def numbers(seed: str, *shape: int, low: float = -2.0, high: float = 2.0) -> Any:
    rng = random.Random(seed)
    values = [rng.uniform(low, high) for _ in range(reftorch.Size(shape).numel())]
    return lambda lib, dtype="float64": lib.tensor(values, dtype=getattr(lib, dtype)).reshape(shape)


X, Y, PROBABILITIES = numbers("x", 4, 3), numbers("y", 4, 3), numbers("p", 4, 3, low=0.01, high=0.99)
TARGETS, W = numbers("t", 4, 3, low=0.0, high=1.0), numbers("w", 4, 3, low=0.5, high=1.5)


def run(lib: ModuleType, function: Callable, *options: Any) -> tuple[tuple, list[float], list[float]]:
    x = X(lib).requires_grad_(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = function(lib, lib.nn.functional, x, *options)
    (y * (lib.arange(y.numel(), dtype=y.dtype).reshape(y.shape) * 0.7).cos()).sum().backward()
    return tuple(y.shape), y.reshape(-1).tolist(), x.grad.reshape(-1).tolist()


def check(function: Callable, real_torch: ModuleType, *options: Any) -> None:
    """Shape, values and gradient are torch's."""
    ours, theirs = run(reftorch, function, *options), run(real_torch, function, *options)
    assert ours[0] == theirs[0]
    for mine, other in zip(ours[1:], theirs[1:], strict=True):
        assert mine == pytest.approx(other, rel=1e-11, abs=1e-11)


def sets_sorted(message: str) -> str:
    """A message with the names of each printed set in alphabetical order.

    The order in which Python prints a set of strings depends on the seed of the process's hashes and on how the set
    was made, so that two equal sets may be printed differently.
    """
    return re.sub(r"\{([^{}]*)\}", lambda found: f"{{{', '.join(sorted(found[1].split(', ')))}}}", message)


def check_error(case: Callable, real_torch: ModuleType, own: str | None = None) -> None:
    """The error's type and message are torch's; or the type alone, where we have words of our own, given whole."""
    raised = []
    for lib in (reftorch, real_torch):
        with pytest.raises((RuntimeError, ValueError, IndexError, AssertionError)) as caught:
            case(lib, lib.nn.functional)
        raised.append((type(caught.value), sets_sorted(str(caught.value).replace("reftorch", "torch"))))
    (our_type, our_words), (their_type, their_words) = raised
    assert our_type is their_type, raised
    assert our_words == (their_words if own is None else own), raised
