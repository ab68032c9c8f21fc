"""Recorded kernels that start with one call. There are none here; a program can ask whether a stream is recording.

Mirrors: torch/cuda/graphs.py
Leaves out: everything but the question and the names.
"""

from __future__ import annotations

from typing import Any

from reftorch import _places

__all__ = ["CUDAGraph", "graph", "is_current_stream_capturing"]


_WHY = "kernels are not recorded here, because each one starts by a call of its own"


class CUDAGraph:
    """The class of recorded kernels. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/cuda/graphs.py, ``CUDAGraph``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"CUDAGraph: {_WHY}")


class graph:
    """The scope whose kernels PyTorch records. Nothing makes one here.

    Raises:
        NotImplementedError: always, when one is made.

    Mirrors torch/cuda/graphs.py, ``graph``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(f"graph: {_WHY}")


def is_current_stream_capturing() -> bool:
    """Return False: no stream records its kernels here.

    Mirrors torch/cuda/graphs.py, ``is_current_stream_capturing``.
    """
    return False


_places.adopt(__name__, __all__, globals())
