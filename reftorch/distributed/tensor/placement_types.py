"""How a tensor can lie on the ranks of a mesh: in pieces, as a whole on each rank, or as a sum of what the ranks have.

Mirrors: torch/distributed/tensor/placement_types.py
Leaves out: everything that moves elements; see ``_redistribute.py``.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Partial", "Placement", "Replicate", "Shard"]


class Placement:
    """The base of the placements, with the questions that a program asks of one."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Return whether the tensor is cut into pieces, along ``dim`` if one is given."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Return whether each rank has the whole tensor."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Return whether the tensor is the reduction of what the ranks have, by ``reduce_op`` if one is given."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """A tensor that is cut along ``dim`` as ``torch.chunk`` cuts: the last pieces may be shorter, or empty."""

    dim: int

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True)
class Replicate(Placement):
    """A tensor that each rank has as a whole."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True)
class Partial(Placement):
    """A tensor that is the reduction, by ``reduce_op``, of the tensors of the ranks."""

    reduce_op: str = "sum"

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


@dataclass(frozen=True, kw_only=True)
class _StridedShard(Shard):
    """A tensor that is cut along ``dim`` a second time, into ``split_factor`` pieces of each piece."""

    split_factor: int
