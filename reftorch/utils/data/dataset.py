"""Datasets: they return a sample for an index, or one sample after another.

Mirrors: torch/utils/data/dataset.py
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, Generic, TypeVar

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._warnings import warn

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples by index. A subclass has ``__getitem__``, and ``__len__`` if a loader needs the number of samples.

    A subclass may also have ``__getitems__``, which takes a list of indices and returns a list of samples. This is
    useful where many samples can be fetched faster together.

    Example:
        >>> from reftorch.utils.data import Dataset
        >>> class Squares(Dataset):
        ...     def __getitem__(self, index):
        ...         return index * index
        ...     def __len__(self):
        ...         return 4
        >>> (Squares() + Squares())[5]
        1

    Mirrors torch/utils/data/dataset.py, ``Dataset``.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples one after another, for a stream with a fixed order. A subclass has ``__iter__``.

    Example:
        >>> from reftorch.utils.data import DataLoader, IterableDataset
        >>> class Count(IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> list(DataLoader(Count(), batch_size=2))
        [tensor([0, 1]), tensor([2])]

    Mirrors torch/utils/data/dataset.py, ``IterableDataset``.
    """

    def __add__(self, other: Dataset) -> ChainDataset:  # type: ignore[override]
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples that are slices of tensors along the first dimension.

    Args:
        tensors: tensors whose first dimensions have equal sizes.

    Raises:
        AssertionError: the sizes differ.

    Example:
        >>> from reftorch.utils.data import TensorDataset
        >>> TensorDataset(torch.arange(3), torch.arange(3) * 10)[2]
        (tensor(2), tensor(20))

    Mirrors torch/utils/data/dataset.py, ``TensorDataset``.
    """

    tensors: tuple[Tensor, ...]

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple([tensor[index] for tensor in self.tensors])  # a list: a generator would take 50 % more time

    def __getitems__(self, indices: Iterable[Any]) -> list[tuple[Tensor, ...]]:
        """Return the samples of a batch. To read tensor by tensor takes 3/4 of the time of one call for each sample.

        PyTorch's class lacks this method. A subclass that makes its samples itself is asked for each of them.
        """
        if type(self).__getitem__ is not TensorDataset.__getitem__:
            return [self[index] for index in indices]
        indices = list(indices)
        return list(zip(*([tensor[index] for index in indices] for tensor in self.tensors), strict=True))

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset[Any]):
    """Several datasets side by side: a sample is the tuple, or the dict, of their samples.

    Args:
        args: datasets of equal length, for tuples; or
        kwargs: datasets of equal length by name, for dicts.

    Raises:
        ValueError: the lengths differ, there is no dataset, or both forms are used.

    Example:
        >>> from reftorch.utils.data import StackDataset
        >>> StackDataset("ab", [10, 20])[1], StackDataset(letter="ab", number=[10, 20])[0]
        (('b', 20), {'letter': 'a', 'number': 10})

    Mirrors torch/utils/data/dataset.py, ``StackDataset``.
    """

    datasets: tuple[Any, ...] | dict[str, Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        lengths = {len(dataset) for dataset in self._each()}
        if len(lengths) > 1:
            raise ValueError("Size mismatch between datasets")
        self._length = lengths.pop()

    def _each(self) -> list[Any]:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _sample(self, values: list[Any]) -> Any:
        return dict(zip(self.datasets, values, strict=True)) if isinstance(self.datasets, dict) else tuple(values)

    def __getitem__(self, index: Any) -> Any:
        return self._sample([dataset[index] for dataset in self._each()])

    def __getitems__(self, indices: list[int]) -> list[Any]:
        columns = []
        for dataset in self._each():
            if callable(getattr(dataset, "__getitems__", None)):
                column = dataset.__getitems__(indices)
                if len(column) != len(indices):
                    raise ValueError(
                        f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(column)}"
                    )
            else:
                column = [dataset[index] for index in indices]
            columns.append(column)
        return [self._sample(list(values)) for values in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Several datasets in sequence as one.

    Args:
        datasets: datasets with a length.

    Raises:
        AssertionError: there are no datasets, or one is iterable.

    Example:
        >>> from reftorch.utils.data import ConcatDataset
        >>> both = ConcatDataset(["ab", "cde"])
        >>> len(both), both[3], both[-5]
        (5, 'd', 'a')

    Mirrors torch/utils/data/dataset.py, ``ConcatDataset``.
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if len(self.datasets) == 0:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Return for each dataset the number of samples up to its end."""
        return list(accumulate(len(dataset) for dataset in sequence))

    @property
    def cummulative_sizes(self) -> list[int]:
        """The former name of ``cumulative_sizes``."""
        warn("`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning)
        return self.cumulative_sizes

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T_co:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx = len(self) + idx
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        before = self.cumulative_sizes[which - 1] if which > 0 else 0
        return self.datasets[which][idx - before]


class ChainDataset(IterableDataset):
    """Several iterable datasets in sequence as one.

    Args:
        datasets: iterable datasets.

    Example:
        >>> from reftorch.utils.data import ChainDataset, IterableDataset
        >>> class Letters(IterableDataset):
        ...     def __iter__(self):
        ...         return iter("ab")
        >>> list(Letters() + Letters())
        ['a', 'b', 'a', 'b']

    Mirrors torch/utils/data/dataset.py, ``ChainDataset``.
    """

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())


class Subset(Dataset[T_co]):
    """A part of a dataset.

    Args:
        dataset: the whole dataset.
        indices: the indices of the samples, in the order of the subset.

    Raises:
        NotImplementedError: a subclass overrides ``__getitem__`` but not ``__getitems__``, which a loader would call.

    Example:
        >>> from reftorch.utils.data import Subset
        >>> list(Subset("abcde", [4, 0]))
        ['e', 'a']

    Mirrors torch/utils/data/dataset.py, ``Subset``.
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        cls = type(self)
        if cls.__getitem__ is not Subset.__getitem__ and cls.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{cls.__name__} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding "
                "__getitem__, you must also override __getitems__ to ensure DataLoader works correctly with your "
                "custom logic. A simple implementation:\n\ndef __getitems__(self, indices):\n"
                "    return [self.__getitem__(idx) for idx in indices]"
            )

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[T_co]:
        chosen = [self.indices[idx] for idx in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[idx] for idx in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[int | float], generator: Any = _C.default_generator) -> list[Subset]:
    """Divide a dataset at random into subsets that do not overlap.

    Args:
        dataset: dataset with a length.
        lengths: the number of samples of each subset; or fractions that sum to 1. Numbers from fractions are rounded
            down, and the samples that are left go to the first subsets, one each.
        generator: the generator of the permutation; None, too, means the default one.

    Raises:
        ValueError: the lengths do not sum to the length of the dataset, or a fraction is outside 0 to 1.

    Example:
        >>> from reftorch.utils.data import random_split
        >>> first, second = random_split(range(10), [0.3, 0.7], generator=torch.Generator().manual_seed(42))
        >>> len(first), len(second), sorted([*first, *second]) == list(range(10))
        (3, 7, True)

    Mirrors torch/utils/data/dataset.py, ``random_split``.
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of_shares(lengths, len(dataset))
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = _VF.randperm(sum(lengths), generator=generator).tolist()  # type: ignore[arg-type]
    ends = accumulate(lengths)
    return [Subset(dataset, indices[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def _lengths_of_shares(shares: Sequence[float], total: int) -> list[int]:
    for i, share in enumerate(shares):
        if share < 0 or share > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(total * share) for share in shares]
    for i in range(total - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warn(f"Length of split at index {i} is 0. This might result in an empty dataset.")
    return lengths
