"""Every op has a row in the table, and every row names an op.

Mirrors: test/test_ops.py (test_multiple_devices and its kin assume a complete op_db)
"""

import reftorch
from tests.op_db import OPS


def registered() -> set[str]:
    """The functional overloads: in-place and out= forms are derived from them, and tested with them."""
    names = set()
    for space in (reftorch._C._VariableFunctions, reftorch._C._nn, reftorch._C._linalg, reftorch._C.TensorBase):
        for packet in vars(space).values():
            if hasattr(packet, "overloads"):
                names.update(name.removeprefix("aten::") for name in packet.overloads())
    return {name for name in names if not name.split(".")[0].endswith("_")}


def test_every_op_has_a_row() -> None:
    covered = {name for row in OPS for name in row.ops.split()}
    assert sorted(registered() - covered) == []


def test_every_row_names_an_op() -> None:
    covered = {name for row in OPS for name in row.ops.split()}
    known = {schema["name"].removeprefix("aten::") for schema in reftorch._C._get_all_op_schemas()}
    assert sorted(covered - known) == []
