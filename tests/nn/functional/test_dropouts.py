"""Noise that sets elements, or whole channels, to zero.

Mirrors: test/nn/test_dropout.py
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import X, check_error

# Each takes the functional module, x, whether it is training, and whether it is in place.
FUNCTIONS: dict[str, tuple[tuple[int, ...], Callable]] = {
    "dropout": ((4, 5), lambda F, x, t, i: F.dropout(x, 0.3, t, i)),
    "alpha_dropout": ((4, 5), lambda F, x, t, i: F.alpha_dropout(x, 0.3, t, i)),
    "feature_alpha_dropout": ((4, 5, 2), lambda F, x, t, i: F.feature_alpha_dropout(x, 0.3, t, i)),
    "dropout1d": ((4, 5, 2), lambda F, x, t, i: F.dropout1d(x, 0.3, t, i)),
    "dropout1d of one": ((9, 2), lambda F, x, t, i: F.dropout1d(x, 0.3, t, i)),
    "dropout2d": ((4, 5, 2, 2), lambda F, x, t, i: F.dropout2d(x, 0.3, t, i)),
    "dropout3d": ((2, 5, 2, 1, 2), lambda F, x, t, i: F.dropout3d(x, 0.3, t, i)),
    "dropout3d of one": ((9, 2, 1, 2), lambda F, x, t, i: F.dropout3d(x, 0.3, t, i)),
    "all": ((4, 5), lambda F, x, t, i: F.dropout(x, 1.0, t, i)),
    "all of alpha": ((4, 5), lambda F, x, t, i: F.alpha_dropout(x, 1.0, t, i)),
}
ERRORS: dict[str, Callable] = {
    "dropout": lambda lib, F: F.dropout(X(lib), 1.5),
    "alpha_dropout": lambda lib, F: F.alpha_dropout(X(lib), -0.5),
    "feature_alpha_dropout": lambda lib, F: F.feature_alpha_dropout(X(lib)[0], 0.5, True),
    "dropout1d": lambda lib, F: F.dropout1d(X(lib)[0]),
    "dropout2d": lambda lib, F: F.dropout2d(X(lib), 2.0),
    "dropout3d": lambda lib, F: F.dropout3d(X(lib), 2.0),
}
# The type of the error is torch's, and the message says more, or says the same better.
OWN_WORDS: dict[str, str] = {
    # torch explains three uses in several sentences
    "dropout1d": (
        "dropout1d: Expected 2D or 3D input, but received a 1D input. It drops channels of inputs that have "
        "one spatial dimension, a channel dimension, and perhaps a batch dimension."
    ),
}


@pytest.mark.parametrize("inplace", [False, True], ids=["new", "in place"])
@pytest.mark.parametrize("training", [True, False], ids=["training", "not training"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_draws_what_torch_draws(name: str, training: bool, inplace: bool, real_torch: ModuleType) -> None:
    shape, function = FUNCTIONS[name]
    results = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(3)
        leaf = lib.ones(shape, requires_grad=True)
        x = leaf * 2
        y = function(lib.nn.functional, x, training, inplace)
        y.square().sum().backward()
        assert not inplace or y is x or not training
        results.append((tuple(y.shape), y.flatten().tolist(), leaf.grad.flatten().tolist(), x.flatten().tolist()))
    assert results[0][0] == results[1][0]
    for ours, theirs in zip(results[0][1:], results[1][1:], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch, OWN_WORDS.get(case))


def test_odd_ranks_are_warned_of() -> None:
    F = reftorch.nn.functional
    with pytest.warns(UserWarning, match="Received a 2-D input to dropout2d"):
        F.dropout2d(reftorch.ones(2, 2))
    with pytest.warns(UserWarning, match="assuming that channel-wise 1D dropout"):
        F.dropout2d(reftorch.ones(2, 2, 2))
    with pytest.warns(UserWarning, match="Received a 3-D input to dropout3d"):
        F.dropout3d(reftorch.ones(2, 2, 2))


def test_each_example_of_a_batch_has_its_own_noise() -> None:
    x = reftorch.ones(3, 4, 40)
    drop = reftorch.func.vmap(lambda one: reftorch.nn.functional.dropout1d(one), randomness="different")
    channels = drop(x)[..., 0]
    assert set(channels.flatten().tolist()) == {0.0, 2.0}
