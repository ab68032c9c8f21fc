"""The functions that are made of other ops: values, gradients and errors are torch's.

Mirrors: test/test_nn.py
Leaves out: the functions that are not there.
"""

import random
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

# Each takes the library, its functional module and x, with its gradient wanted.
LOSSES: dict[str, Callable] = {
    "l1": lambda lib, F, x, r: F.l1_loss(x, Y(lib), reduction=r),
    "l1 weighted": lambda lib, F, x, r: F.l1_loss(x, Y(lib), reduction=r, weight=W(lib)),
    "smooth_l1": lambda lib, F, x, r: F.smooth_l1_loss(x, Y(lib), reduction=r, beta=0.7),
    "smooth_l1 of beta 0": lambda lib, F, x, r: F.smooth_l1_loss(x, Y(lib), reduction=r, beta=0.0),
    "huber": lambda lib, F, x, r: F.huber_loss(x, Y(lib), reduction=r, delta=0.7),
    "huber weighted": lambda lib, F, x, r: F.huber_loss(x, Y(lib), reduction=r, weight=W(lib)),
    "bce": lambda lib, F, x, r: F.binary_cross_entropy(x.sigmoid(), TARGETS(lib), reduction=r),
    "bce weighted": lambda lib, F, x, r: F.binary_cross_entropy(x.sigmoid(), TARGETS(lib), W(lib)[0], reduction=r),
    "logits": lambda lib, F, x, r: F.binary_cross_entropy_with_logits(x * 30, TARGETS(lib), reduction=r),
    "logits weighted": lambda lib, F, x, r: F.binary_cross_entropy_with_logits(
        x, TARGETS(lib), W(lib)[0], reduction=r, pos_weight=W(lib)[1]
    ),
    "kl_div": lambda lib, F, x, r: F.kl_div(x, TARGETS(lib), reduction=r),
    "kl_div of logarithms": lambda lib, F, x, r: F.kl_div(x, Y(lib), reduction=r, log_target=True),
}

FUNCTIONS: dict[str, Callable] = {
    "layer_norm": lambda lib, F, x: F.layer_norm(x, (3,), W(lib)[0], Y(lib)[0]),
    "layer_norm of two": lambda lib, F, x: F.layer_norm(x.reshape(2, 2, 3), (2, 3), eps=0.1),
    "rms_norm": lambda lib, F, x: F.rms_norm(x, (3,), W(lib)[0]),
    "rms_norm of two": lambda lib, F, x: F.rms_norm(x.reshape(2, 2, 3), (2, 3), eps=0.1),
    "batch_norm": lambda lib, F, x: F.batch_norm(x, None, None, W(lib)[0], Y(lib)[0], training=True),
    "batch_norm of images": lambda lib, F, x: F.batch_norm(x.reshape(2, 3, 2, 1), None, None, training=True),
    "batch_norm in evaluation": lambda lib, F, x: F.batch_norm(x, Y(lib)[0], W(lib)[0], W(lib)[1], Y(lib)[2]),
    "dropout that does nothing": lambda lib, F, x: F.dropout(x, 0.0) + F.dropout(x, 0.7, training=False),
    "dropout of all": lambda lib, F, x: F.dropout(x, 1.0),
    "embedding": lambda lib, F, x: F.embedding(lib.tensor([[3, 0], [1, 3]]), x),
    "embedding with padding": lambda lib, F, x: F.embedding(lib.tensor([3, 0, 1, 3]), x, padding_idx=-1),
}


def run(lib: ModuleType, function: Callable, *options: Any) -> tuple[tuple, list[float], list[float]]:
    x = X(lib).requires_grad_(True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y = function(lib, lib.nn.functional, x, *options)
    (y * (lib.arange(y.numel(), dtype=y.dtype).reshape(y.shape) * 0.7).cos()).sum().backward()
    return tuple(y.shape), y.reshape(-1).tolist(), x.grad.reshape(-1).tolist()


def check(function: Callable, real_torch: ModuleType, *options: Any) -> None:
    ours, theirs = run(reftorch, function, *options), run(real_torch, function, *options)
    assert ours[0] == theirs[0]
    for mine, other in zip(ours[1:], theirs[1:], strict=True):
        assert mine == pytest.approx(other, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, reduction: str, real_torch: ModuleType) -> None:
    check(LOSSES[name], real_torch, reduction)


def test_kl_div_by_the_batch(real_torch: ModuleType) -> None:
    check(LOSSES["kl_div"], real_torch, "batchmean")
    with pytest.warns(UserWarning, match="divides the total loss by both"):
        reftorch.nn.functional.kl_div(X(reftorch), TARGETS(reftorch))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real_torch: ModuleType) -> None:
    check(FUNCTIONS[name], real_torch)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_norms_of_16_bits(name: str, dtype: str, real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        y = getattr(lib.nn.functional, name)(X(lib, dtype), (3,))
        assert str(y.dtype).endswith(dtype)
        results.append(y.float().reshape(-1).tolist())
    assert results[0] == pytest.approx(results[1], rel=1e-2 if dtype == "bfloat16" else 2e-3)


def test_dropout_draws_what_torch_draws(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(3)
        x = lib.ones(50, requires_grad=True)
        y = lib.nn.functional.dropout(x, 0.3)
        y.sum().backward()
        results.append((y.tolist(), x.grad.tolist()))
    assert results[0] == results[1] and len(set(results[0][0])) == 2


def test_dropout_in_place() -> None:
    x = reftorch.ones(100)
    y = reftorch.nn.functional.dropout(x, 0.5, inplace=True)
    assert y is x and set(x.tolist()) == {0.0, 2.0}


def test_bce_at_the_ends(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        p = lib.tensor([0.0, 1.0, 0.0, 1.0], requires_grad=True)
        loss = lib.nn.functional.binary_cross_entropy(p, lib.tensor([0.0, 1.0, 1.0, 0.0]), reduction="none")
        results.append(loss.tolist())
    assert results[0] == results[1] == [0.0, 0.0, 100.0, 100.0]


def test_embedding_scales_long_rows_down_in_place(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        table = X(lib)
        y = lib.nn.functional.embedding(lib.tensor([2, 2, 0]), table, max_norm=1.0)
        results.append(y.reshape(-1).tolist() + table.reshape(-1).tolist())
    assert results[0] == pytest.approx(results[1], rel=1e-12)


ERRORS: dict[str, Callable] = {
    "smooth_l1": lambda lib, F: F.smooth_l1_loss(X(lib), Y(lib), beta=-1.0),
    "huber": lambda lib, F: F.huber_loss(X(lib), Y(lib), delta=0.0),
    "weights": lambda lib, F: F.l1_loss(X(lib), Y(lib), weight=W(lib)[0]),
    "reduction": lambda lib, F: F.smooth_l1_loss(X(lib), Y(lib), reduction="other"),
    "bce size": lambda lib, F: F.binary_cross_entropy(PROBABILITIES(lib), TARGETS(lib)[0]),
    "bce range": lambda lib, F: F.binary_cross_entropy(PROBABILITIES(lib) + 1, TARGETS(lib)),
    "logits size": lambda lib, F: F.binary_cross_entropy_with_logits(X(lib), TARGETS(lib)[0]),
    "layer_norm": lambda lib, F: F.layer_norm(X(lib), (4,)),
    "layer_norm of nothing": lambda lib, F: F.layer_norm(X(lib), ()),
    "layer_norm weight": lambda lib, F: F.layer_norm(X(lib), (3,), W(lib)),
    "batch_norm of one": lambda lib, F: F.batch_norm(X(lib)[:1], None, None, training=True),
    "batch_norm eps": lambda lib, F: F.batch_norm(X(lib), None, None, training=True, eps=0.0),
    "batch_norm weight": lambda lib, F: F.batch_norm(X(lib), None, None, W(lib)[:2, 0], training=True),
    "batch_norm without statistics": lambda lib, F: F.batch_norm(X(lib), None, None),
    "dropout": lambda lib, F: F.dropout(X(lib), 1.5),
    "embedding out of range": lambda lib, F: F.embedding(lib.tensor([4]), X(lib)),
    "embedding negative": lambda lib, F: F.embedding(lib.tensor([-1]), X(lib)),
    "embedding of floats": lambda lib, F: F.embedding(lib.tensor([1.0]), X(lib)),
    "embedding padding": lambda lib, F: F.embedding(lib.tensor([1]), X(lib), padding_idx=4),
    "embedding dimensions": lambda lib, F: F.embedding(lib.tensor([1]), X(lib)[0]),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    raised = []
    for lib in (reftorch, real_torch):
        with pytest.raises((RuntimeError, ValueError, IndexError, AssertionError)) as caught:
            ERRORS[case](lib, lib.nn.functional)
        raised.append((type(caught.value), str(caught.value)))
    assert raised[0][0] is raised[1][0], raised
    assert raised[0][1][:20] == raised[1][1][:20], raised


def test_what_is_not_there_is_said() -> None:
    table = reftorch.ones(2, 2)
    for option in ("sparse", "scale_grad_by_freq"):
        with pytest.raises(NotImplementedError, match=f"{option}=True is not there"):
            reftorch.nn.functional.embedding(reftorch.tensor([0]), table, **{option: True})
