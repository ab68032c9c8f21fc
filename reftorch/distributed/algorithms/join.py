"""``Join``: training on inputs that are not equally many on all ranks.

Mirrors: torch/distributed/algorithms/join.py

Note [Uneven inputs]
Problem: each pass of a rank contains collectives, and a rank that has no input left takes part in none of them, so the
other ranks would wait. Trick: at the end of its inputs, a rank enters a loop in which it runs, for each pass of the
other ranks, the same collectives with zeros (the main hook of each Joinable). Every pass begins with an all-reduce of
ones, in which a rank without input takes part with a zero: the sum says how many ranks still have input, and the loop
ends at 0. Then the post hooks give all ranks the state of a rank that came last. Limits: collectives that no Joinable
knows, such as those of SyncBatchNorm, are not shadowed; with ``throw_on_early_termination`` all ranks stop instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, NamedTuple

from reftorch import _VF
from reftorch._warnings import warn
from reftorch.distributed import distributed_c10d as c10d

__all__ = ["Join", "JoinHook", "Joinable"]

_MOST_PASSES_AHEAD = 1000


class JoinHook:
    """What a rank does after its last input. A Joinable returns a subclass; see Note [Uneven inputs].

    Mirrors torch/distributed/algorithms/join.py, ``JoinHook``.
    """

    def main_hook(self) -> None:
        """Take part in the collectives of one pass of the other ranks."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Finish, after the last input of the last rank.

        Args:
            is_last_joiner: whether this rank is one of those that had input until the end.
        """


class _JoinConfig(NamedTuple):
    """What a Joinable knows about the Join that it is in. Mirrors ``_JoinConfig`` of PyTorch's file."""

    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool


class Joinable(ABC):
    """The base class of objects that run collectives in each pass, such as DistributedDataParallel.

    A subclass calls ``Join.notify_join_context(self)`` before the collectives of each pass.

    Mirrors torch/distributed/algorithms/join.py, ``Joinable``.
    """

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig(False, False, False)

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return the hook for a rank without input.

        Args:
            kwargs: the arguments of :class:`Join` that the Joinables may look at.
        """

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """The device of the tensors that Join reduces."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The group in which Join reduces."""


class Join:
    """A context around a training loop whose inputs are not equally many on all ranks. See Note [Uneven inputs].

    Args:
        joinables: the objects with collectives; their hooks run in this order. All have one process group.
        enable: False makes the context do nothing.
        throw_on_early_termination: whether all ranks raise an error as soon as one of them has no input left.
        kwargs: arguments for the hooks, such as ``divide_by_initial_world_size``.

    Raises:
        ValueError: there is no joinable, or the joinables have different groups.
        RuntimeError: a rank has no input left, and ``throw_on_early_termination`` is set.

    Mirrors torch/distributed/algorithms/join.py, ``Join``.
    """

    def __init__(
        self, joinables: list[Joinable], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._join_hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._enable = enable
        self._throw_on_early_termination = throw_on_early_termination
        for i, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, is_first_joinable=i == 0)
        self._process_group = joinables[0].join_process_group
        if any(j.join_process_group != self._process_group for j in joinables):
            raise ValueError("Using join context manager with multiple process groups")
        self._rank = c10d.get_rank(self._process_group)
        self._device = joinables[0].join_device

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._enable or type is not None:
            return
        is_last_joiner = True
        passes = 0
        while self._ranks_with_input() > 0:
            if self._throw_on_early_termination:
                self._sum(1)
                raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")
            for hook in self._join_hooks:
                hook.main_hook()
            is_last_joiner = False
            passes += 1
            if passes == _MOST_PASSES_AHEAD + 1:
                warn(
                    f"Detected uneven input skew of greater than {_MOST_PASSES_AHEAD}. This means that rank "
                    f"{self._rank} has at least {_MOST_PASSES_AHEAD} fewer inputs than other currently-active ranks. "
                    "This level of skew could lead to performance degradation during training."
                )
        for hook in self._join_hooks:
            hook.post_hook(is_last_joiner)

    def _sum(self, number: int) -> float:
        total = _VF.full((1,), float(number), device=self._device)
        c10d.all_reduce(total, group=self._process_group)
        return total.item()

    def _ranks_with_input(self) -> float:
        """Take part in the all-reduce with which the other ranks begin a pass; return how many they are."""
        return self._sum(0)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Any:
        """Say, at the begin of a pass, that this rank still has input.

        Returns:
            For the first joinable of a Join: the Work and the tensor of the all-reduce, whose sum is the number of
            ranks with input. PyTorch returns a Work that also holds the tensor. Otherwise None.

        Raises:
            AssertionError: the constructor of the joinable has not called that of :class:`Joinable`.
            RuntimeError: a rank has no input left, and ``throw_on_early_termination`` is set.

        Mirrors torch/distributed/algorithms/join.py, ``Join.notify_join_context``.
        """
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        device, group = joinable.join_device, joinable.join_process_group
        ones = _VF.ones(1, device=device)
        work = c10d.all_reduce(ones, group=group, async_op=True)
        if config.throw_on_early_termination:
            zeros = _VF.zeros(1, device=device)
            c10d.all_reduce(zeros, group=group)
            if zeros.item():
                raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        return work, ones
