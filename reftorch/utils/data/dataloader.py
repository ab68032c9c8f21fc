"""The loader: it joins a sampler, a dataset and a collate function into an iterable of batches.

Mirrors: torch/utils/data/dataloader.py
Leaves out: worker processes and everything that belongs to them, pinned memory and data pipes. This is the part that
runs in one process; ``num_workers`` must be 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from reftorch._warnings import warn
from reftorch.utils.data._utils.collate import default_collate, default_convert
from reftorch.utils.data._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher
from reftorch.utils.data.dataset import IterableDataset
from reftorch.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, _random_seed

__all__ = ["DataLoader"]

T_co = TypeVar("T_co", covariant=True)

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset")


class _InfiniteConstantSampler(Sampler):
    """The sampler of an iterable dataset, which ignores indices."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


class DataLoader(Generic[T_co]):
    """Iterates over a dataset in batches.

    Args:
        dataset: the dataset: it has ``__getitem__`` and ``__len__``, or is an :class:`IterableDataset`.
        batch_size: the number of samples in a batch (default 1); None disables batching and returns single samples.
        shuffle: whether to take the samples in a new random order in every pass.
        sampler: the order, as an iterable of indices; it excludes ``shuffle``.
        batch_sampler: the batches, as an iterable of lists of indices; it excludes ``batch_size``, ``shuffle``,
            ``sampler`` and ``drop_last``.
        num_workers: must be 0; loading happens in this process.
        collate_fn: makes a batch from a list of samples (default :func:`default_collate`; without batching
            :func:`default_convert`, on one sample).
        pin_memory: whether to pin the memory of batches for an accelerator; without an accelerator, a warning is given.
        drop_last: whether to leave out an incomplete last batch.
        generator: the generator of random orders; None means the default one.

    Raises:
        ValueError: options exclude each other, or ``num_workers`` is not 0.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.utils.data import DataLoader, TensorDataset
        >>> loader = DataLoader(TensorDataset(torch.arange(5), torch.arange(5) * 10), batch_size=2)
        >>> len(loader)
        3
        >>> for x, y in loader:
        ...     print(x, y)
        tensor([0, 1]) tensor([ 0, 10])
        tensor([2, 3]) tensor([20, 30])
        tensor([4]) tensor([40])

    Mirrors torch/utils/data/dataloader.py, ``DataLoader``.
    """

    __initialized = False

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable | None = None,
        batch_sampler: Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        *,
        generator: Any = None,
    ) -> None:
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if num_workers > 0:
            raise ValueError(
                f"DataLoader loads in the calling process only, but got num_workers={num_workers}; "
                "worker processes are not supported yet: use num_workers=0."
            )
        iterable = isinstance(dataset, IterableDataset)
        if iterable:
            for name, value in (("shuffle", shuffle or None), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value is not None:
                    raise ValueError(
                        f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
                    )
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")

        if sampler is None:
            if iterable:
                sampler = _InfiniteConstantSampler()
            else:
                sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate

        self.dataset = dataset
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.pin_memory = pin_memory
        self.generator = generator
        self.collate_fn = collate_fn
        self._IterableDataset_len_called: int | None = None
        self.__initialized = True

    def __setattr__(self, attr: str, val: Any) -> None:
        if self.__initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> _SingleProcessDataLoaderIter:
        return _SingleProcessDataLoaderIter(self)

    def __len__(self) -> int:
        if not isinstance(self.dataset, IterableDataset):
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


class _SingleProcessDataLoaderIter:
    """One pass over the data in this process."""

    def __init__(self, loader: DataLoader) -> None:
        if loader.pin_memory:
            warn(
                "'pin_memory' argument is set as true but no accelerator is found, "
                "then device pinned memory won't be used.",
            )
        self._dataset = loader.dataset
        self._length = loader._IterableDataset_len_called
        self._num_yielded = 0
        self._sampler_iter = iter(loader._index_sampler)
        # PyTorch seeds workers from this number. It is drawn here too, so that the default generator, and with it the
        # order of a shuffled pass, does not depend on workers.
        self._base_seed = _random_seed(loader.generator)
        fetcher = _IterableDatasetFetcher if isinstance(self._dataset, IterableDataset) else _MapDatasetFetcher
        self._dataset_fetcher = fetcher(self._dataset, loader._auto_collation, loader.collate_fn, loader.drop_last)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        data = self._dataset_fetcher.fetch(next(self._sampler_iter))
        self._num_yielded += 1
        if self._length is not None and self._num_yielded > self._length:
            warn(
                f"Length of IterableDataset {self._dataset} was reported to be {self._length}"
                f"(when accessing len(dataloader)), but {self._num_yielded} samples have been fetched. ",
            )
        return data

    def __getstate__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} cannot be pickled")
