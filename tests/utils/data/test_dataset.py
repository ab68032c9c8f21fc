"""Datasets.

Mirrors: test/test_dataloader.py, its tests of datasets
Leaves out: ``StackDataset``.
"""

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.utils.data import (
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    Subset,
    TensorDataset,
    random_split,
)


class Letters(IterableDataset):
    def __init__(self, letters: str) -> None:
        self.letters = letters

    def __iter__(self) -> Any:
        return iter(self.letters)

    def __len__(self) -> int:
        return len(self.letters)


def test_tensor_dataset() -> None:
    x, y = reftorch.arange(6).reshape(3, 2), reftorch.arange(3)
    dataset = TensorDataset(x, y)
    assert len(dataset) == 3
    assert [value.tolist() for value in dataset[1]] == [[2, 3], 1]
    assert [value.tolist() for value in dataset[1:]] == [[[2, 3], [4, 5]], [1, 2]]
    with pytest.raises(AssertionError, match="Size mismatch between tensors"):
        TensorDataset(x, reftorch.arange(2))


def test_the_samples_of_a_batch_are_those_of_single_calls() -> None:
    class Doubled(TensorDataset):
        def __getitem__(self, index: Any) -> tuple:
            return tuple(2 * tensor for tensor in super().__getitem__(index))

    tensors = reftorch.arange(6).reshape(3, 2), reftorch.arange(3), reftorch.arange(3) / 2
    for cls in (TensorDataset, Doubled):  # a loader must not pass over the method of a subclass
        for count in (1, 3):
            dataset = cls(*tensors[:count])
            for indices in ([2, 0, 2], [], reftorch.tensor([1, 2]), [slice(1)], iter([2, 1])):
                wanted = list(indices)
                got = dataset.__getitems__(iter(wanted) if isinstance(indices, Iterator) else indices)
                assert [[x.tolist() for x in sample] for sample in got] == [
                    [x.tolist() for x in dataset[index]] for index in wanted
                ]
            assert all(type(sample) is tuple for sample in dataset.__getitems__([0, 1]))
    (batch,) = next(iter(DataLoader(Doubled(tensors[1]), batch_size=3)))
    assert batch.tolist() == [0, 2, 4]


def test_concatenation() -> None:
    both = ConcatDataset(["ab", "", "cde"])
    assert [both[i] for i in range(-5, 5)] == list("abcdeabcde")
    assert both.cumulative_sizes == [2, 2, 5]
    for index in (5, 7):
        with pytest.raises(IndexError):
            both[index]
    with pytest.raises(ValueError, match="should not exceed dataset length"):
        both[-6]
    with pytest.raises(AssertionError, match="should not be an empty iterable"):
        ConcatDataset([])
    with pytest.raises(AssertionError, match="does not support IterableDataset"):
        ConcatDataset([Letters("a")])


def test_addition_concatenates_or_chains() -> None:
    tensors = TensorDataset(reftorch.arange(2))
    assert len(tensors + tensors) == 4
    chain = Letters("ab") + Letters("c")
    assert list(chain) == ["a", "b", "c"]
    assert len(chain) == 3
    with pytest.raises(AssertionError, match="only supports IterableDataset"):
        list(ChainDataset(["ab"]))


def test_a_dataset_without_items() -> None:
    with pytest.raises(NotImplementedError, match="should implement __getitem__"):
        Dataset()[0]


def test_subset() -> None:
    subset = Subset(range(10, 20), [3, 1, 5])
    assert len(subset) == 3
    assert [subset[0], subset[-1]] == [13, 15]
    assert subset.__getitems__([2, 0]) == [15, 13]
    nested = Subset(subset, [2, 2])
    assert nested.__getitems__([0, 1]) == [15, 15]
    tensors = Subset(reftorch.arange(10), [3, 1, 5])
    assert tensors[[0, 2]].tolist() == [3, 5]


def test_a_subset_that_would_be_bypassed_is_refused() -> None:
    class Doubled(Subset):
        def __getitem__(self, idx: Any) -> Any:
            return super().__getitem__(idx) * 2

    with pytest.raises(NotImplementedError, match="Doubled overrides __getitem__ but not __getitems__"):
        Doubled(range(3), [0])


@pytest.mark.parametrize("lengths", [[10, 7], [17], [0.5, 0.3, 0.2], [1.0], [0.25] * 4])
def test_random_split_is_that_of_torch(real_torch: ModuleType, lengths: list) -> None:
    def split(lib: ModuleType, seeded: bool) -> list[list[int]]:
        lib.manual_seed(3)
        options = {"generator": lib.Generator().manual_seed(5)} if seeded else {}
        return [list(subset) for subset in lib.utils.data.random_split(range(17), lengths, **options)]

    for seeded in (False, True):
        assert split(reftorch, seeded) == split(real_torch, seeded)


def test_stacks_are_those_of_torch(real_torch: ModuleType) -> None:
    def facts(lib: ModuleType) -> list:
        data = lib.utils.data
        subset = data.Subset([10, 20, 30, 40], [3, 1, 0])  # has __getitems__
        both = data.StackDataset("abc", subset)
        named = data.StackDataset(letter="abc", number=subset)
        return [len(both), both[1], both.__getitems__([2, 0]), named[0], named.__getitems__([1, 1])]

    assert facts(reftorch) == facts(real_torch)


@pytest.mark.parametrize(("arguments", "named"), [((), {}), (("ab",), {"x": "ab"}), (("ab", "abc"), {})])
def test_errors_of_stacks(real_torch: ModuleType, arguments: tuple, named: dict) -> None:
    def error(lib: ModuleType) -> str:
        with pytest.raises(ValueError) as failure:
            lib.utils.data.StackDataset(*arguments, **named)
        return str(failure.value)

    assert error(reftorch) == error(real_torch)


def test_errors_of_random_split() -> None:
    with pytest.raises(ValueError, match="does not equal the length of the input dataset"):
        random_split(range(3), [1, 1])
    with pytest.raises(ValueError, match="Fraction at index 0 is not between 0 and 1"):
        random_split(range(3), [-0.5, 1.5])
    with pytest.warns(UserWarning, match="Length of split at index 1 is 0"):
        random_split(range(4), [0.75, 0.0, 0.25])


def test_a_split_loads() -> None:
    parts = random_split(TensorDataset(reftorch.arange(10)), [7, 3])
    seen = [int(value) for part in parts for (batch,) in DataLoader(part, batch_size=2) for value in batch]
    assert sorted(seen) == list(range(10))


def test_the_ends_of_concatenated_datasets(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        both = lib.utils.data.ConcatDataset(["ab", "", "cde"])
        assert both.cumsum(["ab", "", "cde"]) == both.cumulative_sizes == [2, 2, 5]
        with pytest.warns(FutureWarning, match="`cummulative_sizes` attribute is renamed to `cumulative_sizes`"):
            assert both.cummulative_sizes == [2, 2, 5]
