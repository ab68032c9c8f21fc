"""What a communication hook is given: the gradients of one bucket; and the names of the two hooks that need no program.

Mirrors: torch/csrc/distributed/c10d/comm.hpp, torch/csrc/distributed/c10d/default_comm_hooks.hpp
"""

from __future__ import annotations

from enum import Enum
from typing import Any

__all__ = ["BuiltinCommHookType", "GradBucket"]


class BuiltinCommHookType(Enum):
    """The hooks that DistributedDataParallel brings along: see ``_register_builtin_comm_hook``.

    Mirrors torch/csrc/distributed/c10d/default_comm_hooks.hpp, ``BuiltinCommHookType``.
    """

    ALLREDUCE = 1
    FP16_COMPRESS = 2


class GradBucket:
    """The argument of a communication hook: the gradients of some parameters as one flat tensor.

    Mirrors torch/csrc/distributed/c10d/comm.hpp, ``GradBucket``.
    """

    def __init__(self, index: int, bucket_count: int, tensor: Any, gradients: list[Any], parameters: list[Any]) -> None:
        self._index, self._bucket_count = index, bucket_count
        self._buffer, self._gradients, self._parameters = tensor, gradients, parameters

    def index(self) -> int:
        """Return the number of the bucket; bucket 0 is reduced first."""
        return self._index

    def buffer(self) -> Any:
        """Return the flat tensor."""
        return self._buffer

    def gradients(self) -> list[Any]:
        """Return the gradients, as views of the flat tensor with the shapes of the parameters."""
        return self._gradients

    def parameters(self) -> list[Any]:
        """Return the parameters."""
        return self._parameters

    def is_last(self) -> bool:
        """Return whether this bucket is the last one of the pass."""
        return self._index == self._bucket_count - 1

    def set_buffer(self, buffer: Any) -> None:
        """Replace the flat tensor, for example by one of another dtype."""
        self._buffer = buffer
