"""The C++ frames of an error as text, for ``TORCH_SHOW_CPP_STACKTRACES=1``.

Mirrors: torch/csrc/profiler/unwind/unwind.cpp, for errors
Left out: frames of other libraries than the extension; inlined functions.
"""

from __future__ import annotations

from reftorch import _C
from reftorch.debug.core.symbols import SymbolTable

MACHINERY = ("c10::Error::Error", "c10::current_frames", "c10::detail::torchCheckFail", "c10::str")


def text(frames: list[tuple[str, int]]) -> str:
    """Return the lines that follow the message of an error.

    Args:
        frames: for each frame, the innermost first, the file of its library and the offset of its address in there.

    Returns:
        A line that says where the error was raised, and a line for each frame: its function, its file and its line.
        Frames of the Debug build have lines; those of the Release build have names only.
    """
    library = str(_C.__file__)
    offsets = [offset for file, offset in frames if file == library]
    symbols = SymbolTable(library).look_up(set(offsets))
    found = [symbols[offset] for offset in offsets if symbols[offset].name != "??"]
    shown = [each for each in found if not each.name.startswith(MACHINERY)]
    places = [f"{each.name} from {each.file}:{each.line}" if each.file else each.name for each in shown]
    if not places:
        return ""
    raised = places[0].replace(" from ", " at ", 1)
    lines = [f"#{number} {place}" for number, place in enumerate(places)]
    return "\n".join([f"\nException raised from {raised} (most recent call first):", "C++ frames:", *lines])
