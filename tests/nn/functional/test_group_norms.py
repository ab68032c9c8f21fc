"""Normalization of groups of channels, of each channel of an example, and by neighbouring channels.

Mirrors: test/test_nn.py
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import W, X, Y, check, check_error

FUNCTIONS: dict[str, Callable] = {
    "group_norm": lambda lib, F, x: F.group_norm(x.reshape(2, 6), 3, W(lib).flatten()[:6], Y(lib).flatten()[:6]),
    "group_norm of images": lambda lib, F, x: F.group_norm(x.reshape(1, 3, 2, 2), 1, eps=0.1),
    "instance_norm": lambda lib, F, x: F.instance_norm(x.reshape(2, 2, 3), weight=W(lib)[0, :2], bias=Y(lib)[0, :2]),
    "instance_norm of images": lambda lib, F, x: F.instance_norm(x.reshape(1, 3, 2, 2), eps=0.1),
    "instance_norm in evaluation": lambda lib, F, x: F.instance_norm(
        x.reshape(2, 3, 2), Y(lib)[0], W(lib)[0], use_input_stats=False
    ),
    "local_response_norm": lambda lib, F, x: F.local_response_norm(x.reshape(1, 6, 2), 3, alpha=0.5),
    "local_response_norm of images": lambda lib, F, x: F.local_response_norm(
        x.reshape(1, 3, 2, 2), 2, alpha=0.5, beta=0.5, k=2.0
    ),
}
ERRORS: dict[str, Callable] = {
    "groups": lambda lib, F: F.group_norm(X(lib), 2),
    "group_norm of a vector": lambda lib, F: F.group_norm(X(lib)[0], 1),
    "group_norm of one value": lambda lib, F: F.group_norm(X(lib)[:1], 3),
    "group_norm weight": lambda lib, F: F.group_norm(X(lib), 3, W(lib)[0, :2]),
    "group_norm bias": lambda lib, F: F.group_norm(X(lib), 3, None, W(lib)[0, :2]),
    "negative groups": lambda lib, F: F.group_norm(X(lib), -1),
    "instance_norm of one value": lambda lib, F: F.instance_norm(X(lib)),
    "instance_norm without statistics": lambda lib, F: F.instance_norm(X(lib)[None], use_input_stats=False),
    "instance_norm weight": lambda lib, F: F.instance_norm(X(lib)[None], weight=W(lib)[0]),
    "instance_norm mean": lambda lib, F: F.instance_norm(X(lib)[None], running_mean=W(lib)[0]),
    "local_response_norm": lambda lib, F: F.local_response_norm(X(lib), 2),
    "local_response_norm of nothing": lambda lib, F: F.local_response_norm(X(lib)[None], 0),
}
# The type of the error is torch's, and the message says more, or says the same better.
OWN_WORDS: dict[str, str] = {
    # torch prints the shape of the weight in the place of the shape of the bias
    "group_norm bias": (
        "Expected bias to be a vector of size equal to the number of channels in input, but got bias of shape"
        " [2] and input of shape [4, 3]"
    ),
    # torch's sentence has 25 spaces in its middle
    "local_response_norm": "Expected 3D or higher dimensionality input (got 2 dimensions)",
    # torch computes in two dimensions and names both
    "local_response_norm of nothing": "kernel size should be greater than zero, but got 0",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real_torch: ModuleType) -> None:
    check(FUNCTIONS[name], real_torch)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch, OWN_WORDS.get(case))


# PyTorch raises ZeroDivisionError, too. The message is Python's own and differs between versions of Python, so the
# messages are not compared.
def test_no_groups_divide_by_zero() -> None:
    with pytest.raises(ZeroDivisionError):
        reftorch.nn.functional.group_norm(X(reftorch), 0)


def test_running_statistics_move(real_torch: ModuleType) -> None:
    moved = []
    for lib in (reftorch, real_torch):
        mean, var = lib.zeros(2, dtype=lib.float64), lib.ones(2, dtype=lib.float64)
        lib.nn.functional.instance_norm(X(lib).reshape(2, 2, 3), mean, var, momentum=0.3)
        moved.append([*mean.tolist(), *var.tolist()])
    assert moved[0] == pytest.approx(moved[1], rel=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_norms_of_16_bits(dtype: str, real_torch: ModuleType) -> None:
    for norm in (lambda F, x: F.group_norm(x.reshape(2, 6), 2), lambda F, x: F.instance_norm(x.reshape(2, 2, 3))):
        ours, theirs = (norm(lib.nn.functional, X(lib, dtype)) for lib in (reftorch, real_torch))
        assert str(ours.dtype) == str(theirs.dtype)
        want = pytest.approx(theirs.float().flatten().tolist(), rel=1e-2, abs=2e-3)
        assert ours.float().flatten().tolist() == want


def test_group_norm_keeps_channels_last(real_torch: ModuleType) -> None:
    found = []
    for lib in (reftorch, real_torch):
        x = (lib.arange(2 * 4 * 6, dtype=lib.float64) * 0.7).sin().reshape(2, 4, 2, 3)
        x = x.to(memory_format=lib.channels_last).requires_grad_(True)
        y = lib.nn.functional.group_norm(x, 2, lib.arange(4, dtype=lib.float64))
        (y * y.detach().cos()).sum().backward()
        found.append((y.stride(), x.grad.stride(), [*y.reshape(-1).tolist(), *x.grad.reshape(-1).tolist()]))
    assert found[0][:2] == found[1][:2]
    assert found[0][2] == pytest.approx(found[1][2], rel=1e-9, abs=1e-12)
