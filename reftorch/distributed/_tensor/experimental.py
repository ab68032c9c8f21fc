"""The former place of torch.distributed.tensor.experimental.

Mirrors: torch/distributed/_tensor/__init__.py
"""

from reftorch.distributed.tensor.experimental import implicit_replication

__all__ = ["implicit_replication"]
