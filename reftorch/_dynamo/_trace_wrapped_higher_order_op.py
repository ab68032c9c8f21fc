"""A mode in which PyTorch's tracer records ``x[i]`` as an op. Nothing traces here, so the mode changes nothing.

Mirrors: torch/_dynamo/_trace_wrapped_higher_order_op.py
Leaves out: everything but the name, which libraries import.
"""

from __future__ import annotations

__all__ = ["TransformGetItemToIndex"]


class TransformGetItemToIndex:
    """A context manager that changes nothing: ``x[i]`` of an index that vmap maps over is an op already.

    Mirrors torch/_dynamo/_trace_wrapped_higher_order_op.py, ``TransformGetItemToIndex``.
    """

    def __enter__(self) -> TransformGetItemToIndex:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass
