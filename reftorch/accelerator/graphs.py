"""Graphs of the accelerator's work, of whatever kind: recorded once and replayed with one call.

Mirrors: torch/accelerator/graphs.py
Leaves out: accelerators other than CUDA.
"""

from __future__ import annotations

from typing import Literal

from reftorch import _C
from reftorch.accelerator.memory import empty_cache

__all__ = ["Graph"]


class Graph:
    """Work of the current stream that can be replayed, and the context that records it.

    The stream must not be a default stream, so a program enters a stream before the graph. ``torch.cuda.graph`` says
    what a capture permits. The methods have the names, the results and the errors of those of
    :class:`torch.cuda.CUDAGraph`.

    Args:
        keep_graph: whether ``debug_dump`` works after the capture; the graph is then made ready by ``instantiate`` or
            by the first replay.
        pool: the id of a pool of memory, from the ``pool`` of another graph; None means a pool of its own.
        capture_error_mode: which threads may not call functions that are unsafe during a capture: ``"global"``,
            ``"thread_local"`` or ``"relaxed"``; ``"default"`` is ``"global"``.

    Raises:
        RuntimeError: there is no accelerator.

    Example:
        >>> if torch.accelerator.is_available():
        ...     stream, graph = torch.Stream(), torch.accelerator.Graph()
        ...     x = torch.zeros(3, device=torch.accelerator.current_accelerator())
        ...     with stream, graph:
        ...         x += 1
        ...     graph.replay()

    Mirrors torch/accelerator/graphs.py, ``Graph``.
    """

    def __init__(
        self,
        keep_graph: bool = False,
        *,
        pool: tuple[int, int] | None = None,
        capture_error_mode: Literal["default", "global", "thread_local", "relaxed"] = "default",
    ) -> None:
        if _C._accelerator_getAccelerator() is None:
            raise RuntimeError("Cannot access accelerator device when none is available.")
        from reftorch.cuda.graphs import CUDAGraph

        self._graph = CUDAGraph(keep_graph)
        self.graph_pool = pool
        self.capture_error_mode = capture_error_mode

    def capture_begin(self) -> None:
        """Begin to record the work of the current stream."""
        mode = "global" if self.capture_error_mode == "default" else self.capture_error_mode
        self._graph.capture_begin(self.graph_pool, mode)

    def capture_end(self) -> None:
        """End the recording."""
        self._graph.capture_end()

    def instantiate(self) -> None:
        """Make a graph with ``keep_graph=True`` ready for replays."""
        self._graph.instantiate()

    def replay(self) -> None:
        """Start the recorded work on the current stream."""
        self._graph.replay()

    def reset(self) -> None:
        """Destroy the recorded work. The graph can then record again."""
        self._graph.reset()

    def pool(self) -> tuple[int, int]:
        """Return the id of the pool, for another graph to share."""
        return self._graph.pool()

    def enable_debug_mode(self) -> None:
        """Let ``debug_dump`` work once after the next capture."""
        self._graph.enable_debug_mode()

    def debug_dump(self, path: str) -> None:
        """Write the graph to a file for the program dot."""
        self._graph.debug_dump(path)

    def __enter__(self) -> None:
        from reftorch.cuda import synchronize

        synchronize()
        empty_cache()
        self.capture_begin()

    def __exit__(self, *exception: object) -> None:
        self.capture_end()
