"""Batch norm under vmap against torch's, over which of its tensors are batched, and against one call for each example.

Mirrors: test/functorch/test_vmap.py
"""

import itertools
from types import ModuleType
from typing import Any

import pytest

import reftorch

SIZE, SHAPE = 3, (4, 2, 5)


def tensor(lib: ModuleType, place: int, *shape: int) -> Any:
    count = lib.Size(shape).numel()
    return (lib.arange(count, dtype=lib.float64) * 0.7 + place).sin().reshape(shape)


def batch(lib: ModuleType, dims: tuple[int | None, ...]) -> list[Any]:
    """The input, weight, bias, running mean and running variance: with a batch at the given dimension, or without."""
    made = []
    for place, dim in enumerate(dims):
        shape = list(SHAPE if place == 0 else SHAPE[1:2])
        if dim is not None:
            shape.insert(dim, SIZE)
        values = tensor(lib, place, *shape)
        made.append(values.square() + 0.5 if place == 4 else values)
    return made


def flat(tensors: Any) -> list[float]:
    return [number for t in tensors for number in t.reshape(-1).tolist()]


def run(lib: ModuleType, dims: tuple[int | None, ...], training: bool) -> list[float]:
    """The output, what the running statistics are afterwards, and the gradients of the first three."""
    tensors = batch(lib, dims)

    def f(x: Any, weight: Any, bias: Any, mean: Any, var: Any) -> Any:
        return lib.nn.functional.batch_norm(x, mean, var, weight, bias, training, 0.3)

    out = lib.func.vmap(f, dims)(*tensors)
    after = flat(tensors[3:])
    grad = lib.func.grad(lambda *args: f(*args).pow(3).sum(), (0, 1, 2))
    grads = lib.func.vmap(grad, dims)(*batch(lib, dims))
    return flat([out]) + after + flat(grads)


def cases() -> list[tuple[tuple[int | None, ...], bool]]:
    """Each batch of at least one tensor; in training mode the running statistics, which change, must be batched.

    They are batched in front there: torch loses the change where the batch is at another dimension. If the input is not
    batched, the change is the same for all examples, and the statistics need no batch.
    """
    drawn = itertools.product([None, 0, 1], [None, 0, 1], [None, 0], [None, 0, 1], [True, False])
    return [
        ((x, weight, bias, running, running), training)
        for x, weight, bias, running, training in drawn
        if (x, weight, bias, running) != (None,) * 4
        and (not training or running == 0 or (running is None and x is None))
    ]


@pytest.mark.parametrize(("dims", "training"), cases())
def test_batch_norm(dims: tuple[int | None, ...], training: bool, real_torch: ModuleType) -> None:
    assert run(reftorch, dims, training) == pytest.approx(run(real_torch, dims, training), rel=1e-9, abs=1e-9)


def test_two_batches_in_one_another() -> None:
    x, mean, var = tensor(reftorch, 0, 2, 3, *SHAPE), tensor(reftorch, 1, 3, 2, 2), tensor(reftorch, 2, 2, 2).square()

    def f(x: Any, mean: Any, var: Any) -> Any:
        return reftorch.nn.functional.batch_norm(x, mean, var, training=False)

    found = reftorch.func.vmap(reftorch.func.vmap(f, (0, 0, None)), (0, 1, 0))(x, mean, var)
    want = reftorch.stack([reftorch.stack([f(x[i, j], mean[j, i], var[i]) for j in range(3)]) for i in range(2)])
    assert reftorch.allclose(found, want)


def test_running_statistics_that_are_not_batched(real_torch: ModuleType) -> None:
    messages = []
    for lib in (reftorch, real_torch):
        with pytest.raises(RuntimeError) as caught:
            lib.func.vmap(lib.nn.BatchNorm1d(2))(lib.ones(5, 3, 2))
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_running_statistics_batched_at_another_dimension() -> None:
    x, _, _, mean, var = batch(reftorch, (0, None, None, 1, 1))
    singles = [(mean[:, i].clone(), var[:, i].clone()) for i in range(SIZE)]
    norm = reftorch.nn.functional.batch_norm
    reftorch.func.vmap(lambda x, mean, var: norm(x, mean, var, training=True), (0, 1, 1))(x, mean, var)
    for i, single in enumerate(singles):
        norm(x[i], *single, training=True)
        assert reftorch.allclose(mean[:, i], single[0])
        assert reftorch.allclose(var[:, i], single[1])
