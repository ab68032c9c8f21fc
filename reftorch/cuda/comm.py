"""The old place of the copies between devices: they are in ``reftorch.nn.parallel.comm``.

Mirrors: torch/cuda/comm.py
"""

from reftorch.nn.parallel.comm import broadcast, broadcast_coalesced, gather, reduce_add, reduce_add_coalesced, scatter

__all__ = ["broadcast", "broadcast_coalesced", "gather", "reduce_add", "reduce_add_coalesced", "scatter"]
