"""A docstring becomes reStructuredText: sections are fields, examples are code, references lead to full names.

Mirrors: nothing in PyTorch: its docs are read by Sphinx's own extensions.
"""

from __future__ import annotations

import pytest

from course._tools.site.docstrings import inline, split, to_rst

KNOWN = {"backward": "torch.autograd.backward", "Linear": "torch.nn.Linear", "reftorch.save": "torch.save"}


def rst(doc: str) -> str:
    return to_rst(doc, KNOWN.get)


def test_signatures_stand_apart() -> None:
    signatures, text = split("add(a, b) -> Tensor\nadd(a, *, out) -> Tensor\n\nAdd them.\n")
    assert signatures == ["add(a, b) -> Tensor", "add(a, *, out) -> Tensor"]
    assert text == "Add them."


def test_sections_become_fields_and_code() -> None:
    made = rst("""Do it.

    Args:
        a, b: what
            goes on.
        *rest (optional): :class:`Linear`.

    Shape: the shape of ``a``,
    rounded.

    Raises:
        ValueError: no.

    Example:
        >>> 1
        1

    Mirrors torch/a.py, ``f``.
    """)
    assert ":param a, b: what\n    goes on." in made
    assert r":param \*rest (optional): :py:obj:`Linear <torch.nn.Linear>`." in made
    assert ":Shape: the shape of ``a``,\n    rounded." in made
    assert ":raises ValueError: no." in made
    assert ".. code-block:: pycon\n\n    >>> 1\n    1" in made
    assert "Mirrors" not in made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the method add_ of *args", r"the method add\_ of \*args"),
        ("`code` and ``add_``", "``code`` and ``add_``"),
        (":math:`a_b*c` |x|", r":math:`a_b*c` \|x\|"),
        ("*Attention Is All You Need*", "*Attention Is All You Need*"),
        (":func:`backward`", ":py:obj:`backward() <torch.autograd.backward>`"),
        (":func:`the pass <backward>`", ":py:obj:`the pass <torch.autograd.backward>`"),
        (":func:`reftorch.save`", ":py:obj:`torch.save() <torch.save>`"),
        (":meth:`unknown`", "``unknown()``"),
    ],
)
def test_prose_is_escaped_and_references_are_resolved(text: str, expected: str) -> None:
    assert inline(text, KNOWN.get) == expected


def test_a_directive_and_a_literal_block_stay_as_they_are() -> None:
    made = rst("The density\n\n.. math::\n    a_b * c_\n\nSo::\n\n    x_ = 1\n\nand on.")
    assert ".. math::\n    a_b * c_" in made
    assert "So:\n\n.. code-block:: text\n\n    x_ = 1" in made
    assert made.endswith("and on.")
