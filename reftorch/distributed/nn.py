"""Communication that gradients pass through. It does not exist here; libraries import the name before they ask.

Mirrors: torch/distributed/nn/__init__.py
Leaves out: everything.
"""

from reftorch import _api

__getattr__ = _api.getattr_of(__name__)
