"""Where the texts are kept, by the op's name.

Mirrors: torch/csrc/Module.cpp (``_add_docstr``)
Leaves out: docstrings of anything but ops: classes and Python functions carry their own.
"""

ENTRIES: dict[str, str] = {}


def add_docstr(name: str, text: str) -> None:
    """Keep what op ``name`` does, in words: a line of meaning, Args, Shape, Raises and an Example.

    Args:
        name: the op's, as ``torch`` or ``Tensor`` has it; ``foo_`` and ``out=`` need no text of their own.
        text: its first line stands in lists and in completion; the example says ``torch`` and needs no import.

    Raises:
        ValueError: the op has a text.

    Example:
        >>> from reftorch._torch_docs._describe import ENTRIES
        >>> ENTRIES["sin"].splitlines()[0]
        'Return the sine of each element, an angle in radians.'

    Mirrors torch/csrc/Module.cpp, ``THPModule_addDocStr``.
    """
    if name in ENTRIES:
        raise ValueError(f"add_docstr(): '{name}' has a text; expected one for each op")
    ENTRIES[name] = text.strip() + "\n"
