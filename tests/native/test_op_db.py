"""Every op has a row in the table, and every row names an op.

Mirrors: test/test_ops.py (test_multiple_devices and its kin assume a complete op_db)
"""

import re
from pathlib import Path

import reftorch
from tests.op_db import FAMILIES, OPS

SPACES = ("_VariableFunctions", "_nn", "_linalg", "_special")


def registered() -> set[str]:
    """The functional overloads: in-place and out= forms are derived from them, and tested with them."""
    names = set()
    for space in (*(getattr(reftorch._C, name) for name in SPACES), reftorch._C.TensorBase):
        for packet in vars(space).values():
            if hasattr(packet, "overloads"):
                names.update(name.removeprefix("aten::") for name in packet.overloads())
    return {name for name in names if not name.split(".")[0].endswith("_")}


def test_every_op_has_a_row() -> None:
    covered = {name for row in OPS for name in row.ops.split()}
    assert sorted(registered() - covered) == []


def test_every_family_is_tested_once() -> None:
    """The test classes name the families whose rows they run."""
    tests = "\n".join(path.read_text() for path in sorted(Path(__file__).parent.glob("test_*.py")))
    named = " ".join(re.findall(r'^    FAMILIES = "+([\s\w]*)"', tests, re.M)).split()
    assert sorted(named) == sorted(FAMILIES)


def test_every_row_names_an_op() -> None:
    covered = {name for row in OPS for name in row.ops.split()}
    known = {schema["name"].removeprefix("aten::") for schema in reftorch._C._get_all_op_schemas()}
    assert sorted(covered - known) == []
