"""Shows the first number that each pointer of a loop points to, because an address says nothing.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: how many numbers there are, which a pointer does not tell.
"""

import gdb

from reftorch_gdb import printers, values

NUMBERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_FLT, gdb.TYPE_CODE_BOOL)
ITERATOR = "reftorch::at::TensorIterator"
FAR = 12  # calls between a loop and the iterator that runs the loop


def pointee(kind):
    """Return the type behind a pointer type without its typedefs, or None."""
    kind = kind.strip_typedefs()
    return kind.target().strip_typedefs() if kind.code == gdb.TYPE_CODE_PTR else None


def is_number(kind):
    """Return whether a type is a number of several bytes, or a 16-bit float. A byte may be a part of any number."""
    name = kind.unqualified().name or ""
    return (kind.code in NUMBERS and kind.sizeof > 1) or name in ("reftorch::c10::Half", "reftorch::c10::BFloat16")


def is_operands(kind):
    """Return whether a type is char**: the places of a loop's operands."""
    target = pointee(kind)
    target = pointee(target) if target is not None else None
    return target is not None and target.code == gdb.TYPE_CODE_INT and target.sizeof == 1


def first(value):
    """Return `-> 1.5` for a pointer to numbers and `-> 0, 1.5, 2` for a loop's operands; None for other values.

    Raises:
        gdb.error: the memory cannot be read.
    """
    target = pointee(value.type)
    if target is None:
        return None
    if is_number(target):
        return "-> " + printers.text(value.dereference())
    if is_operands(value.type):
        numbers = first_of_operands(value)
        return numbers and "-> " + ", ".join(numbers)
    return None


def first_of_operands(data):
    """Return the number at each place of `data`, or None if no iterator runs the current frame."""
    iterator = iterator_of(gdb.selected_frame())
    if iterator is None:
        return None
    numbers = []
    for i, operand in enumerate(values.small_vector(iterator["operands_"])):
        tensor = printers.operand_tensor(operand)
        if tensor is None:
            return None
        numbers.append(values.number(tensor.number_at(int(data[i]))))
    return numbers


def iterator_of(frame):
    """Return the TensorIterator that runs a frame: the object of the nearest caller that is a function of the class."""
    for _ in range(FAR):
        frame = frame.older()
        if frame is None:
            return None
        if (frame.name() or "").startswith(ITERATOR + "::"):
            return frame.read_var("this").dereference()
    return None


class Pointer:
    """A printer for such pointers. The number behind the pointer is its child."""

    def __init__(self, value, shown):
        self.value, self.shown = value, shown

    def to_string(self):
        return self.shown

    def children(self):
        yield f"[{hex(int(self.value))}]", self.value.dereference()


def lookup(value):
    """Return the printer for a value, or None."""
    try:
        shown = first(value)
    except (gdb.error, RuntimeError, ValueError, values.Garbage):
        return None
    return Pointer(value, shown) if shown else None
