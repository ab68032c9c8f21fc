"""The loader.

Mirrors: test/test_dataloader.py
Leaves out: worker processes: see test_dataloader_workers.py.
"""

import pickle
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.utils.data import BatchSampler, DataLoader, Dataset, IterableDataset, TensorDataset


class Count(IterableDataset):
    def __init__(self, stop: int, length: int | None = None) -> None:
        self.stop = stop
        self.length = length

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.stop))

    def __len__(self) -> int:
        if self.length is None:
            raise TypeError("no length")
        return self.length


class AtOnce(Dataset):
    """Gives many samples at once."""

    def __getitems__(self, indices: list[int]) -> list[int]:
        return [-index for index in indices]

    def __len__(self) -> int:
        return 4


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": 4},
        {"batch_size": 4, "shuffle": True},
        {"batch_size": 5, "shuffle": True, "drop_last": True},
        {"batch_size": None},
        {"batch_size": 3, "sampler": [5, 3, 1, 0]},
        {"batch_sampler": [[1, 2], [3]]},
    ],
    ids=str,
)
def test_batches_and_their_order_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    def passes(lib: ModuleType) -> list[Any]:
        lib.manual_seed(3)
        data = lib.utils.data.TensorDataset(lib.arange(23) / 2, lib.arange(23))
        loader = lib.utils.data.DataLoader(data, **options)
        batches = [[[value.tolist() for value in batch] for batch in loader] for _ in range(2)]
        return [len(loader), batches, lib.rand(1).item()]

    assert passes(reftorch) == passes(real_torch)


def test_a_generator_decides_the_order() -> None:
    def order(seed: int) -> list[int]:
        generator = reftorch.Generator().manual_seed(seed)
        return [int(i) for i in DataLoader(range(20), batch_size=None, shuffle=True, generator=generator)]

    assert order(1) == order(1)
    assert order(1) != order(2)
    assert sorted(order(1)) == list(range(20))


def test_shuffled_batches_keep_samples_whole() -> None:
    x = reftorch.arange(20)
    for a, b in DataLoader(TensorDataset(x, x * 10), batch_size=3, shuffle=True):
        assert (a * 10).tolist() == b.tolist()


@pytest.mark.parametrize(
    ("options", "batches"),
    [
        ({"batch_size": 3}, [[0, 1, 2], [3, 4, 5], [6]]),
        ({"batch_size": 3, "drop_last": True}, [[0, 1, 2], [3, 4, 5]]),
        ({"batch_size": 7}, [[0, 1, 2, 3, 4, 5, 6]]),
        ({"batch_size": None}, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_iterable_datasets(options: dict[str, Any], batches: list) -> None:
    loader = DataLoader(Count(7, length=7), collate_fn=lambda data: data, **options)
    assert list(loader) == batches
    assert len(loader) == len(batches)
    assert list(loader) == batches


def test_an_iterable_dataset_longer_than_it_said_is_warned_about() -> None:
    loader = DataLoader(Count(3, length=2), batch_size=None)
    assert list(loader) == [0, 1, 2]
    assert len(loader) == 2
    with pytest.warns(UserWarning, match="was reported to be 2.*but 3 samples have been fetched"):
        list(loader)


def test_samples_at_once_and_a_collate_function() -> None:
    assert list(DataLoader(AtOnce(), batch_size=3, collate_fn=sum)) == [-3, -3]


def test_two_passes_do_not_disturb_each_other() -> None:
    loader = DataLoader(range(3), batch_size=None)
    assert [(a, b) for a in loader for b in loader] == [(a, b) for a in range(3) for b in range(3)]


ERRORS: dict[str, dict[str, Any]] = {
    "negative workers": {"num_workers": -1},
    "sampler and shuffle": {"sampler": [0], "shuffle": True},
    "batch sampler and size": {"batch_sampler": [[0]], "batch_size": 2},
    "batch sampler and shuffle": {"batch_sampler": [[0]], "shuffle": True},
    "no batches and drop": {"batch_size": None, "drop_last": True},
    "size": {"batch_size": 0},
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    texts = []
    for lib in (reftorch, real_torch):
        with pytest.raises(ValueError) as caught:
            lib.utils.data.DataLoader(range(3), **ERRORS[case])
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("options", [{"shuffle": True}, {"sampler": [0]}, {"batch_sampler": [[0]]}], ids=str)
def test_an_iterable_dataset_has_its_own_order(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"expected unspecified {next(iter(options))} option"):
        DataLoader(Count(3), **options)


def test_what_decides_the_batches_is_fixed() -> None:
    loader = DataLoader(range(3))
    for name in ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset"):
        with pytest.raises(ValueError, match=f"{name} attribute should not be set after DataLoader is initialized"):
            setattr(loader, name, 3)
    loader.collate_fn = sum
    assert list(loader) == [0, 1, 2]
    assert isinstance(loader.batch_sampler, BatchSampler)


def test_pinning_without_an_accelerator_is_warned_about() -> None:
    with pytest.warns(UserWarning, match="no accelerator is found"):
        list(DataLoader(range(3), pin_memory=True))


def test_a_pass_cannot_be_pickled() -> None:
    with pytest.raises(NotImplementedError, match="cannot be pickled"):
        pickle.dumps(iter(DataLoader(range(3))))
