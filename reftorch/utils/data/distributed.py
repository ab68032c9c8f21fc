"""A sampler for training in several processes: each takes its share of the indices.

Mirrors: torch/utils/data/distributed.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sized
from typing import Any

from reftorch import _C, _VF
from reftorch.distributed import distributed_c10d as c10d
from reftorch.utils.data.sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """The indices that one of several processes takes, which train together.

    All processes shuffle in the same order, which follows from ``seed`` and the epoch, and process :math:`r` of
    :math:`n` takes the indices at the places :math:`r, r + n, r + 2n` and so on. Call :meth:`set_epoch` before each
    pass, or every pass has the same order.

    Args:
        dataset: dataset with a length.
        num_replicas: the number of processes; by default that of the default group.
        rank: the number of this process, from 0; by default that in the default group.
        shuffle: whether to shuffle (default True).
        seed: the seed of the order; equal in all processes.
        drop_last: whether to leave out indices at the end, so that all shares have one length; otherwise indices from
            the front are repeated (default False).

    Raises:
        ValueError: ``rank`` is not between 0 and ``num_replicas - 1``, or a number is not given and there is no group.

    Example:
        >>> from reftorch.utils.data.distributed import DistributedSampler
        >>> [list(DistributedSampler(range(5), num_replicas=2, rank=r, shuffle=False)) for r in (0, 1)]
        [[0, 2, 4], [1, 3, 0]]

    Mirrors torch/utils/data/distributed.py, ``DistributedSampler``.
    """

    def __init__(
        self,
        dataset: Sized,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None:
            num_replicas = c10d.get_world_size()
        if rank is None:
            rank = c10d.get_rank()
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        if drop_last and len(dataset) % num_replicas != 0:
            self.num_samples = math.ceil((len(dataset) - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(len(dataset) / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        if self.shuffle:
            generator: Any = _C.Generator()
            generator.manual_seed(self.seed + self.epoch)
            indices = _VF.randperm(len(self.dataset), generator=generator).tolist()
        else:
            indices = list(range(len(self.dataset)))
        if self.drop_last:
            indices = indices[: self.total_size]
        elif indices:
            indices = (indices * math.ceil(self.total_size / len(indices)))[: self.total_size]
        if len(indices) != self.total_size:
            raise AssertionError(f"Number of indices ({len(indices)}) does not match total_size ({self.total_size})")
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Say which pass comes next, so that it has an order of its own."""
        self.epoch = epoch
