"""The names of tensors for a reader: variables, parameters of models, states of optimizers.

Mirrors: nothing in PyTorch, whose memory tools show places in the source, not names.
Left out: attributes of other objects; closures.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from types import FrameType
from typing import Any

from reftorch import _C
from reftorch.debug.common.flatten import flatten
from reftorch.nn.modules.module import Module
from reftorch.optim.optimizer import Optimizer

LEVELS = 3  # the depth of the search in containers: a notebook's variables contain themselves


def tensors_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the tensors of reftorch that a variable leads to, with their names.

    A variable may hold any object: a proxy without a connection, a mapping that raises. The type decides, and an error
    of the object ends the search in it.
    """
    with contextlib.suppress(Exception):
        yield from _tensors_of(name, value)


def _tensors_of(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if issubclass(type(value), Module):
        for kind in (value.named_parameters, value.named_buffers):
            for path, tensor in kind():
                yield f"{name}.{path}", tensor
                if tensor.is_leaf and tensor.grad is not None:
                    yield f"{name}.{path}.grad", tensor.grad
    elif issubclass(type(value), Optimizer):
        for number, state in enumerate(value.state.values()):
            yield from flatten(state, f"{name}.state/{number}")
    else:
        for path, tensor in flatten(value, name, LEVELS):
            if issubclass(type(tensor), _C.TensorBase):
                yield path, tensor
                if tensor.is_leaf and tensor.grad is not None:
                    yield f"{path}.grad", tensor.grad


def names_in(frame: FrameType | None) -> dict[int, str]:
    """Return, by ``id``, the names of the tensors that variables lead to: variables of this frame, of its callers, and
    of its module. Names that begin with an underscore, and a notebook's ``_`` and ``Out``, are last."""
    spaces: list[Mapping[str, Any]] = []
    found = frame
    while found is not None:
        spaces.append(found.f_locals)
        found = found.f_back
    spaces += [frame.f_globals] if frame is not None else []
    variables = [(name, value) for space in spaces for name, value in space.items()]
    names: dict[int, str] = {}
    for last in (False, True):
        for variable, value in variables:
            if (variable.startswith("_") or variable == "Out") == last:
                for name, tensor in tensors_of(variable, value):
                    names.setdefault(id(tensor), name)
    return names
