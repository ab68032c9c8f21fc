"""Queues that send tensors by sharing their memory.

The queues of ``multiprocessing.Queue()`` do so already, because they pickle with ``ForkingPickler``, where
:mod:`reftorch.multiprocessing.reductions` has registered tensors. PyTorch has the two names in a file of this name.

Mirrors: torch/multiprocessing/queue.py
Leaves out: ``ConnectionWrapper``: connections pickle with ``ForkingPickler`` by themselves since Python 3.3.
"""

from __future__ import annotations

from multiprocessing.queues import Queue, SimpleQueue

__all__ = ["Queue", "SimpleQueue"]
