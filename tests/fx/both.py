"""Running one program with this library and with torch, and comparing the graphs that they trace.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import reftorch

PROGRAMS = Path(__file__).parent / "programs"


@functools.cache
def load(name: str, library: ModuleType) -> ModuleType:
    """Execute a file of ``programs``, whose first import is ``import reftorch as torch``, with one of the libraries."""
    path = PROGRAMS / f"{name}.py"
    source = path.read_text()
    line = "import reftorch as torch\n"
    assert source.count(line) == 1, "the program must import the library once"
    module = ModuleType(f"fx_program_{name}_{'reftorch' if library is reftorch else 'torch'}")
    module.__file__ = str(path)
    module.torch = library  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module  # where pickle looks for classes
    exec(compile(source.replace(line, "\n"), str(path), "exec"), module.__dict__)
    return module


def to_numpy(value: Any) -> Any:
    """A structure with arrays in place of tensors."""
    if hasattr(value, "detach"):
        return value.detach().numpy()
    if isinstance(value, dict):
        return {key: to_numpy(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_numpy(item) for item in value]
    return value


def to_tensors(value: Any, library: ModuleType) -> Any:
    """The reverse of ``to_numpy``: new leaves of autograd in place of arrays of floats."""
    if isinstance(value, np.ndarray):
        tensor = library.tensor(value.tolist(), dtype=getattr(library, str(value.dtype)))
        return tensor.requires_grad_() if value.dtype.kind == "f" else tensor
    if isinstance(value, dict):
        return {key: to_tensors(item, library) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(to_tensors(item, library) for item in value)
    return value


def tensors_in(value: Any) -> list[Any]:
    """The tensors of a structure, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return [value] if hasattr(value, "detach") else []


def copy_state(source: Any, destination: Any, library: ModuleType) -> None:
    """Give a module of one library the parameters and buffers of its counterpart in the other."""
    state = {
        name: library.tensor(value.detach().numpy().tolist(), dtype=getattr(library, str(value.dtype).split(".")[1]))
        for name, value in source.state_dict().items()
    }
    destination.load_state_dict(state)


def plain(text: str) -> str:
    """The text of code or of a graph without what the two libraries cannot have in common.

    These are addresses, the distance between the columns of a table, and whether a function of ``torch.nn.functional``
    is written in Python.
    """
    text = text.replace("torch._C._nn.", "torch.nn.functional.").replace("fx_program_models_reftorch", "fx_program")
    text = text.replace("fx_program_models_torch", "fx_program").replace("reftorch", "torch")
    text = re.sub(r"<(?:built-in )?(?:function|method) (\S+?)(?: of type object)?(?: at 0x[0-9a-f]+)?>", r"<\1>", text)
    return "\n".join(re.sub(r"  +|--+", " ", line).rstrip() for line in text.split("\n"))
