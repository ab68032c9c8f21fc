"""One row per op: what to call it with. The tests of every family run over these rows.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: module inputs, devices other than the CPU, error inputs (they have tests of their own).

Each module of this package holds the rows of one family; ``OPS`` is all of them. ``test_op_db.py`` fails for an op that
has no row.
"""

import importlib
import pkgutil

from tests.op_db.core import OpInfo

OPS: list[OpInfo] = []
for _module in sorted(module.name for module in pkgutil.iter_modules(__path__)):
    OPS += getattr(importlib.import_module(f"{__name__}.{_module}"), "ROWS", [])
