"""Samplers: they choose the order in which the samples of a dataset are taken.

Mirrors: torch/utils/data/sampler.py

The samplers use the generator exactly as PyTorch does: equal seeds give equal orders.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Any, Generic, TypeVar

from reftorch import _C, _VF
from reftorch.functional import as_tensor

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T_co = TypeVar("T_co", covariant=True)


def _random_seed(generator: Any = None) -> int:
    """Draw a new seed of 63 bits from a generator."""
    return int(_VF.empty((), dtype=_C.int64).random_(generator=generator).item())


class Sampler(Generic[T_co]):
    """Iterates over the indices of a dataset. A subclass has ``__iter__``, and ``__len__`` if the number is known.

    Example:
        >>> from reftorch.utils.data import Sampler
        >>> class Backwards(Sampler):
        ...     def __init__(self, data):
        ...         self.data = data
        ...     def __iter__(self):
        ...         return iter(range(len(self.data) - 1, -1, -1))
        >>> list(Backwards("abc"))
        [2, 1, 0]

    Mirrors torch/utils/data/sampler.py, ``Sampler``.
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """The indices in order.

    Args:
        data_source: dataset with a length.

    Example:
        >>> from reftorch.utils.data import SequentialSampler
        >>> list(SequentialSampler("abc"))
        [0, 1, 2]

    Mirrors torch/utils/data/sampler.py, ``SequentialSampler``.
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices in random order.

    Args:
        data_source: dataset with a length.
        replacement: whether an index may occur again before all have occurred (default False).
        num_samples: the number of indices in a pass; None means the length of the dataset.
        generator: the generator of the order; None seeds a new generator from the default one in every pass.

    Raises:
        TypeError: ``replacement`` is not a bool.
        ValueError: ``num_samples`` is not a positive int.

    Example:
        >>> from reftorch.utils.data import RandomSampler
        >>> sorted(RandomSampler("abcd", generator=torch.Generator().manual_seed(0)))
        [0, 1, 2, 3]

    Mirrors torch/utils/data/sampler.py, ``RandomSampler``.
    """

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self) -> int:
        """The number of indices in one pass. A dataset may have grown since the last pass."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        generator = self.generator
        if generator is None:
            generator = _C.Generator()
            generator.manual_seed(_random_seed())
        if self.replacement:
            for _ in range(self.num_samples // 32):
                yield from _VF.randint(0, n, (32,), generator=generator).tolist()
            yield from _VF.randint(0, n, (self.num_samples % 32,), generator=generator).tolist()
        else:
            for _ in range(self.num_samples // n):
                yield from _VF.randperm(n, generator=generator).tolist()
            yield from _VF.randperm(n, generator=generator).tolist()[: self.num_samples % n]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    Args:
        indices: the indices.
        generator: the generator of the order; None means the default one.

    Example:
        >>> from reftorch.utils.data import SubsetRandomSampler
        >>> sorted(SubsetRandomSampler([7, 3, 5]))
        [3, 5, 7]

    Mirrors torch/utils/data/sampler.py, ``SubsetRandomSampler``.
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in _VF.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Random indices, each as likely as its weight says.

    Index :math:`i` is drawn with probability :math:`w_i / \\sum_j w_j`.

    Args:
        weights: the weights, one for each sample; they need not sum to 1.
        num_samples: the number of indices in a pass.
        replacement: whether an index may occur more than once in a pass (default True).
        generator: the generator; None means the default one.

    Raises:
        ValueError: ``num_samples`` is not a positive int, ``replacement`` not a bool, or ``weights`` not a vector.

    Example:
        >>> from reftorch.utils.data import WeightedRandomSampler
        >>> sorted(WeightedRandomSampler([0.5, 0.0, 2.0], num_samples=2, replacement=False))
        [0, 2]

    Mirrors torch/utils/data/sampler.py, ``WeightedRandomSampler``.
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None
    ) -> None:
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = as_tensor(weights, dtype=_C.float64)
        if self.weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}"
            )
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        yield from _VF.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """The indices of another sampler, in lists of equal length.

    Args:
        sampler: any iterable of indices.
        batch_size: the number of indices in a list.
        drop_last: whether to leave out an incomplete last list.

    Raises:
        ValueError: ``batch_size`` is not a positive int or ``drop_last`` is not a bool.

    Example:
        >>> from reftorch.utils.data import BatchSampler
        >>> list(BatchSampler(range(5), batch_size=2, drop_last=False))
        [[0, 1], [2, 3], [4]]

    Mirrors torch/utils/data/sampler.py, ``BatchSampler``.
    """

    def __init__(self, sampler: Iterable, batch_size: int, drop_last: bool) -> None:
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)
