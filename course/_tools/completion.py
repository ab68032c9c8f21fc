"""What completion knows of the ops: their kinds and signatures, on a tensor too.

Mirrors: nothing in PyTorch: its methods are method descriptors of CPython, which jedi knows.
Leaves out: functions of a module, as `torch.add`, which jedi classifies without help.
"""

from __future__ import annotations

from contextlib import suppress


def teach_jedi() -> None:
    """Let jedi look at the methods of a tensor that are ops; without this, jedi takes them for attributes of any kind.

    jedi reads an attribute that is a descriptor only where it knows the descriptor's type, because reading may run
    code. Reading an op's method runs none but the binding of the method.
    """
    import reftorch

    with suppress(ImportError, AttributeError):  # this list is not a part of jedi's API: another jedi may not have it
        from jedi.inference.compiled import access

        access.ALLOWED_DESCRIPTOR_ACCESS += (type(reftorch.Tensor.add),)
