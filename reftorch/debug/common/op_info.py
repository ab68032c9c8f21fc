"""The facts about an op: its arguments, what it writes to, and whether it makes a view.

Mirrors: torch/_ops.py, for the facts that tools ask for
Left out: types and defaults.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from reftorch import _C


class OpInfo(NamedTuple):
    """The facts about an op that its schema and its tags contain."""

    arguments: tuple[str, ...]
    written: frozenset[int]  # positions of arguments that the op changes
    overwritten: frozenset[int]  # positions of arguments whose old values do not matter
    is_view: bool  # its results are views of the argument's memory
    is_uninitialized: bool  # its results are uninitialized


class OpName(str):
    """The name of an op of PyTorch, with the facts that its schema contains."""

    __slots__ = ("info",)
    info: OpInfo


@cache
def _schemas() -> dict[str, Any]:
    return {op["name"]: op for op in _C._get_all_op_schemas()}


def op_info(name: str) -> OpInfo:
    """Return the facts about an op, given its full name, such as ``aten::add.Tensor``."""
    return name.info if isinstance(name, OpName) else _op_info(name)


@cache
def _op_info(name: str) -> OpInfo:
    if name not in _schemas():  # the op was registered after the table was made
        _schemas.cache_clear()
    arguments, tags = _schemas()[name]["arguments"], _C._dispatch_tags(name)
    written = {i for i, argument in enumerate(arguments) if "!" in argument["type"]}
    in_place = 0 in written  # an out form has its outputs behind the other arguments
    keeps_old = in_place and _C.Tag.overwrites not in tags
    is_view = not written and any("(" in argument["type"] for argument in arguments)
    names = tuple(argument["name"] for argument in arguments)
    return OpInfo(
        names, frozenset(written), frozenset(() if keeps_old else written), is_view, _C.Tag.uninitialized in tags
    )
