"""Rows of new tensors that are empty, or filled with one value.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: complex inputs.
"""

from collections.abc import Callable
from typing import Any

from tests.op_db.samples.factories import _call, calls, like, row


def shape_only(name: str) -> Callable[..., Any]:
    """The contents are undefined: compare everything else."""
    return lambda lib, *args, **kwargs: _call(lib, name, *args, **kwargs).zero_()


# The results have no gradient: values only.
VALUES = [
    row("empty", calls(((2, 3),)), call=shape_only("empty")),
    row("empty_strided", calls(((2, 3), (1, 2))), call=shape_only("empty_strided")),
    row("empty_like", like(), call=shape_only("empty_like")),
    row("new_empty", like(((2, 3),)), call=shape_only("new_empty")),
    row("new_empty_strided", like(((2, 3), (1, 2))), call=shape_only("new_empty_strided")),
    row("zeros", calls(((2, 3),), ((),))),
    row("ones", calls(((2, 3),), ((),))),
    row("full", calls(((2, 3), 1), ((2,), 2.5))),
    row("scalar_tensor", calls((3,))),
    row("zeros_like", like()),
    row("ones_like", like()),
    row("full_like", like((3,))),
    row("new_zeros", like(((2, 3),))),
    row("new_ones", like(((2, 3),))),
    row("new_full", like(((2, 3), 4))),
    row("eye", calls((3,))),
    row("eye.m", calls((2, 3))),
    row("empty_permuted", calls(((2, 3, 4), (2, 0, 1))), call=shape_only("empty_permuted")),
]
