"""Checkpoints that several ranks write together. They do not exist here; libraries import the name before they ask.

Mirrors: torch/distributed/checkpoint/__init__.py
Leaves out: everything. ``torch.save`` on one rank writes a checkpoint.
"""

from reftorch import _api

__getattr__ = _api.getattr_of(__name__)
