"""The pool of worker processes of ``multiprocessing``, whose queues share the memory of tensors.

Mirrors: torch/multiprocessing/pool.py
Leaves out: a pool of its own: that of ``multiprocessing`` pickles with ``ForkingPickler``, where
:mod:`reftorch.multiprocessing.reductions` has registered tensors.
"""

from __future__ import annotations

from multiprocessing.pool import Pool

__all__ = ["Pool"]
