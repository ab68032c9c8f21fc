"""The parts of ``torch.library``.

Mirrors: torch/_library/__init__.py
"""

from reftorch._api import getattr_of as _getattr_of

__getattr__ = _getattr_of("reftorch._library", ("autograd", "custom_ops", "fake_impl", "infer_schema"))
