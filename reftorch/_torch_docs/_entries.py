"""The table of the texts, by the name of the op.

Mirrors: torch/csrc/Module.cpp (``_add_docstr``)
Leaves out: docstrings of classes and of Python functions, which have their own.
"""

ENTRIES: dict[str, str] = {}


def add_docstr(name: str, text: str) -> None:
    """Store the text of op ``name``: a sentence about the op, Args, Shape, Raises and an Example.

    Args:
        name: the name of the op in ``torch`` or ``Tensor``; ``foo_`` and ``out=`` need no text of their own.
        text: lists and completion show its first line; the example uses ``torch`` without importing it.

    Raises:
        ValueError: the op has a text already.

    Example:
        >>> from reftorch._torch_docs._describe import ENTRIES
        >>> ENTRIES["sin"].splitlines()[0]
        'Return the sine of each element, an angle in radians.'

    Mirrors torch/csrc/Module.cpp, ``THPModule_addDocStr``.
    """
    if name in ENTRIES:
        raise ValueError(f"add_docstr(): '{name}' has a text; expected one for each op")
    ENTRIES[name] = text.strip() + "\n"
