"""Borders around tensors.

Mirrors: test/nn/test_pooling.py, test/test_nn.py (test_pad)
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import X, check, check_error

MODES = ("constant", "reflect", "replicate", "circular")
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "a row": ((4, 3), (2, 1)),
    "a batch of rows": ((2, 2, 3), (0, 2)),
    "an image": ((2, 2, 3), (2, 1, 1, 0)),
    "a batch of images": ((1, 2, 2, 3), (1, 1, 1, 1)),
    "a volume": ((1, 2, 2, 3), (2, 0, 1, 1, 0, 0)),
    "a batch of volumes": ((1, 1, 2, 2, 3), (0, 1, 1, 1, 1, 0)),
    "less of it": ((2, 2, 3), (-1, 1)),
}
ERRORS: dict[str, Callable] = {
    "odd": lambda lib, F: F.pad(X(lib), (1,)),
    "too long": lambda lib, F: F.pad(X(lib), (1, 1, 1, 1, 1, 1)),
    "no such mode": lambda lib, F: F.pad(X(lib), (1, 1), "mirror"),
    "a value for a mirror": lambda lib, F: F.pad(X(lib), (1, 1), "reflect", 2.0),
    "rank": lambda lib, F: F.pad(X(lib), (1, 1, 1, 1), "reflect"),
    "vector": lambda lib, F: F.pad(X(lib)[0], (1, 1), "circular"),
    "far mirror": lambda lib, F: F.pad(X(lib), (3, 1), "reflect"),
    "far mirror of images": lambda lib, F: F.pad(X(lib)[None], (1, 1, 1, 4), "reflect"),
    "more than once around": lambda lib, F: F.pad(X(lib), (4, 1), "circular"),
    "nothing left to replicate": lambda lib, F: F.pad(X(lib), (-2, -1), "replicate"),
    "less than nothing left": lambda lib, F: F.pad(X(lib), (-2, -2), "circular"),
    "empty": lambda lib, F: F.pad(lib.ones(1, 0), (1, 1), "reflect"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", SHAPES)
def test_borders(case: str, mode: str, real_torch: ModuleType) -> None:
    shape, pads = SHAPES[case]
    count = reftorch.Size(shape).numel()
    check(lambda lib, F, x: F.pad(x.reshape(-1)[:count].reshape(shape), pads, mode), real_torch)


def test_a_border_of_a_value(real_torch: ModuleType) -> None:
    check(lambda lib, F, x: F.pad(x, (1, 0, 0, 2), value=0.5), real_torch)


def test_integers(real_torch: ModuleType) -> None:
    for mode in MODES:
        rows = [
            lib.nn.functional.pad(lib.arange(6).reshape(2, 3), (1, 2), mode).tolist() for lib in (reftorch, real_torch)
        ]
        assert rows[0] == rows[1]


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch)


@pytest.mark.parametrize("mode", MODES)
def test_two_orders_of_gradients(mode: str) -> None:
    x = reftorch.randn(2, 2, 3, dtype=reftorch.float64, requires_grad=True)
    assert reftorch.autograd.gradcheck(lambda x: reftorch.nn.functional.pad(x, (2, 1), mode), x)
    assert reftorch.autograd.gradgradcheck(lambda x: reftorch.nn.functional.pad(x, (2, 1), mode), x)


@pytest.mark.parametrize("mode", ["replicate", "reflect"])
@pytest.mark.parametrize("pads", [[-1, -1], [-1, -1, 0, 0], [0, 0, -1, -1], [-2, 0, 1, 1], [0, 0, 0, 0, -1, -1]])
def test_negative_borders_may_leave_nothing_of_some_dimensions(
    pads: list[int], mode: str, real_torch: ModuleType
) -> None:
    found = []
    for lib in (reftorch, real_torch):
        x = lib.ones(1, 1, *(2,) * (len(pads) // 2), requires_grad=True)
        try:
            y = lib.nn.functional.pad(x, pads, mode=mode)
            found.append(tuple(y.shape))
            y.sum().backward()
            if lib is reftorch:  # torch does not write the gradient of three reflected dimensions at all
                assert x.grad.tolist() == lib.zeros_like(x).tolist() or y.numel() > 0
        except RuntimeError as error:
            found.append(str(error))
    assert found[0] == found[1]
