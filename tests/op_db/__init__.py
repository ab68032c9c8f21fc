"""One row per op: what to call it with. The tests of every family run over these rows.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: module inputs, devices other than the CPU, error inputs (they have tests of their own).

A family is the file in ``cpp/ATen/native/`` that registers the ops. Its module here has the same name, in lower case
with underscores. A module has these lists, as far as the family needs them:

- ``ROWS``: the rows that are compared in every way;
- ``VALUES``: the rows of ops without gradients, such as factories, whose results alone are compared;
- ``IN_PLACE``: the rows of ops that exist only in place;
- ``SPECIAL``: further rows for special values, whose results alone are compared.

``OPS`` consists of ``ROWS`` and ``VALUES`` of all families. ``test_op_db.py`` fails for an op that has no row.
"""

import importlib
import pkgutil
from collections.abc import Iterable
from types import ModuleType

from tests.op_db.core import OpInfo

_OTHERS = ("checks", "core", "samples", "suite")
FAMILIES: dict[str, ModuleType] = {
    name: importlib.import_module(f"{__name__}.{name}")
    for name in sorted(module.name for module in pkgutil.iter_modules(__path__))
    if name not in _OTHERS
}


def rows_of(families: Iterable[str], *lists: str) -> list[OpInfo]:
    """The rows of these families that stand in these lists of their modules."""
    return [row for family in families for name in lists for row in getattr(FAMILIES[family], name, [])]


OPS = rows_of(FAMILIES, "ROWS", "VALUES")
