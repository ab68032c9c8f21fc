"""The files of TorchScript, which cannot be written or read here.

Mirrors: torch/jit/_serialization.py
Leaves out: everything but the error.
"""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ["load", "save"]


def save(m: Any, f: Any, _extra_files: Any = None) -> NoReturn:
    """Raise an error: a file of TorchScript contains a compiled program, and there is no compiler here.

    Raises:
        RuntimeError: always.

    Mirrors torch/jit/_serialization.py, ``save``.
    """
    raise RuntimeError(
        "torch.jit.save: there is no TorchScript compiler here. Hint: torch.save(model.state_dict(), path) writes the "
        "parameters"
    )


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> NoReturn:
    """Raise an error: a file of TorchScript contains a compiled program, and there is no interpreter for it here.

    Raises:
        RuntimeError: always.

    Mirrors torch/jit/_serialization.py, ``load``.
    """
    raise RuntimeError(
        "torch.jit.load: there is no TorchScript interpreter here. Hint: in PyTorch, "
        "torch.save(torch.jit.load(path).state_dict(), new_path) writes the parameters, which torch.load reads here"
    )
