"""Samplers.

Mirrors: test/test_dataloader.py, its tests of samplers
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.utils.data import BatchSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler


def test_sequential() -> None:
    sampler = SequentialSampler("abc")
    assert list(sampler) == [0, 1, 2]
    assert len(sampler) == 3
    with pytest.raises(NotImplementedError):
        iter(Sampler())


@pytest.mark.parametrize("seeded", [False, True])
@pytest.mark.parametrize("num_samples", [None, 7, 100])
@pytest.mark.parametrize("replacement", [False, True])
def test_random_order_is_that_of_torch(
    real_torch: ModuleType, replacement: bool, num_samples: int | None, seeded: bool
) -> None:
    def orders(lib: ModuleType) -> list[Any]:
        lib.manual_seed(11)
        options = {"generator": lib.Generator().manual_seed(5)} if seeded else {}
        sampler = lib.utils.data.RandomSampler(range(40), replacement, num_samples, **options)
        return [len(sampler), list(sampler), list(sampler), lib.rand(2).tolist()]

    assert orders(reftorch) == orders(real_torch)


def test_random_order_is_a_permutation_new_at_every_pass() -> None:
    sampler = RandomSampler(range(50))
    first, second = list(sampler), list(sampler)
    assert sorted(first) == sorted(second) == list(range(50))
    assert first != second


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"replacement": 1}, TypeError, "replacement should be a boolean value, but got replacement=1"),
        ({"num_samples": 0}, ValueError, "positive integer value, but got num_samples=0"),
        ({"num_samples": 1.5}, ValueError, "positive integer value, but got num_samples=1.5"),
    ],
)
def test_errors_of_random(options: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        RandomSampler(range(3), **options)


def test_a_random_order_of_nothing() -> None:
    with pytest.raises(ValueError, match="num_samples=0"):
        RandomSampler([])


def test_subset_random(real_torch: ModuleType) -> None:
    orders = []
    for lib in (reftorch, real_torch):
        generator = lib.Generator().manual_seed(2)
        orders.append(list(lib.utils.data.SubsetRandomSampler([7, 3, 5, 9], generator=generator)))
    assert orders[0] == orders[1]
    assert len(SubsetRandomSampler([7, 3])) == 2


@pytest.mark.parametrize("replacement", [False, True])
def test_weighted_order_is_that_of_torch(real_torch: ModuleType, replacement: bool) -> None:
    orders = []
    for lib in (reftorch, real_torch):
        generator = lib.Generator().manual_seed(2)
        sampler = lib.utils.data.WeightedRandomSampler([0.5, 0.0, 2, 7, 1], 4, replacement, generator=generator)
        orders.append((len(sampler), list(sampler), list(sampler)))
    assert orders[0] == orders[1]


@pytest.mark.parametrize("arguments", [([1.0], 0), ([1.0], True), ([1.0], 1, 1), ([[1.0]], 1)])
def test_errors_of_weighted(real_torch: ModuleType, arguments: tuple[Any, ...]) -> None:
    def error(lib: ModuleType) -> str:
        with pytest.raises(ValueError) as failure:
            lib.utils.data.WeightedRandomSampler(*arguments)
        return str(failure.value)

    assert error(reftorch) == error(real_torch)


@pytest.mark.parametrize(("drop_last", "batches"), [(False, [[0, 1], [2, 3], [4]]), (True, [[0, 1], [2, 3]])])
def test_batches(drop_last: bool, batches: list[list[int]]) -> None:
    sampler = BatchSampler(SequentialSampler("abcde"), 2, drop_last)
    assert list(sampler) == batches
    assert len(sampler) == len(batches)


def test_errors_of_batches() -> None:
    for size in (0, -1, 1.5, True):
        with pytest.raises(
            ValueError, match=f"batch_size should be a positive integer value, but got batch_size={size}"
        ):
            BatchSampler(range(3), size, False)
    with pytest.raises(ValueError, match="drop_last should be a boolean value, but got drop_last=1"):
        BatchSampler(range(3), 2, 1)
