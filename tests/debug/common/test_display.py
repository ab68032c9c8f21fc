"""What the tools leave out of the text that they show, because the text differs from run to run.

Mirrors: nothing in PyTorch: its developers bring their own tools.
"""

from __future__ import annotations

import pytest

from reftorch.debug.common.display import scrub


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("0x7ffff7a1b2c0", "0x…"),  # a local
        ("{args = 0x7fff12345678, nargs = 2, kwnames = 0x0}", "{args = 0x…, nargs = 2, kwnames = 0x0}"),
        ("{entry_ = 0x5555abcdef}", "{entry_ = 0x…}"),
        ("$1 = (Node *) 0x555512345678", "$1 = (Node *) 0x…"),
        ("#1  0x00007fff12 in run (this=0x5555abcd, n=2)", "#1  run (this=0x…, n=2)"),
    ],
)
def test_a_value_that_is_an_address_is_shown_as_one(said, shown):
    """Without the address the field would look empty: `this = ,`."""
    assert scrub(said) == shown


@pytest.mark.parametrize(
    ("said", "shown"),
    [("<object at 0x7fffabcd>", "<object>"), ("AccumulateGrad of f32[2] at 0x5555abcd", "AccumulateGrad of f32[2]")],
)
def test_an_address_beside_a_name_is_left_out(said, shown):
    assert scrub(said) == shown
