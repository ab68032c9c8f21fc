"""Tensors that a module owns: parameters and buffers.

Mirrors: torch/nn/parameter.py
Leaves out: uninitialized (lazy) parameters and buffers.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from reftorch import _C, _VF, _utils
from reftorch._tensor import Tensor

__all__ = ["Buffer", "Parameter"]


class _MarkedMeta(type(Tensor)):  # type: ignore[misc]
    """Makes ``isinstance`` accept a marked tensor of another class as Parameter or Buffer (see ``__new__``)."""

    def __instancecheck__(cls, instance: Any) -> bool:
        mark = cls.__dict__.get("_mark")
        if mark is not None and isinstance(instance, Tensor) and getattr(instance, mark, False):
            return True
        return super().__instancecheck__(instance)


class Parameter(Tensor, metaclass=_MarkedMeta):
    """A tensor that becomes a parameter of a module when it is assigned to an attribute of the module.

    A parameter shares the storage of ``data``, but not its history: a parameter is a leaf of the graph.

    Args:
        data: tensor of any shape; None makes an empty one.
        requires_grad: whether gradients accumulate in ``.grad`` (default True).

    Raises:
        RuntimeError: ``data`` is of a tensor subclass whose ``detach`` returns another type.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.Parameter(torch.tensor([1.0, 2.0]))
        Parameter containing:
        tensor([1., 2.], requires_grad=True)

    Mirrors torch/nn/parameter.py, ``Parameter``.
    """

    _mark = "_is_param"

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Parameter:
        if data is None:
            data = _VF.empty(0)
        if type(data) in (Tensor, Parameter):
            return Tensor._make_subclass(cls, data, requires_grad)
        # A subclass keeps its class, and so its behaviour; the mark makes isinstance(t, Parameter) true.
        t = data.detach()
        t.requires_grad = requires_grad
        if type(t) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns "
                f"an instance of the same type, but return type {type(t).__name__} was found instead. To use the type "
                "as a Parameter, please correct the detach() semantics defined by the class."
            )
        t._is_param = True  # type: ignore[attr-defined]
        return t  # type: ignore[return-value]

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, proto: Any) -> Any:
        state = _utils._get_obj_state(self)
        args: tuple[Any, ...] = (self.data, self.requires_grad, OrderedDict())
        return (_rebuild_parameter_with_state, (*args, state)) if state else (_rebuild_parameter, args)

    __torch_function__ = _C._disabled_torch_function_impl


class Buffer(Tensor, metaclass=_MarkedMeta):
    """A tensor that becomes a buffer of a module when it is assigned to an attribute: state that is not trained.

    Args:
        data: tensor of any shape; None makes an empty one.
        persistent: whether the buffer is part of the module's ``state_dict`` (default True).

    Example:
        >>> import reftorch as torch
        >>> module = torch.nn.Module()
        >>> module.steps = torch.nn.Buffer(torch.tensor(0))
        >>> list(module.state_dict().items())
        [('steps', tensor(0))]

    Mirrors torch/nn/parameter.py, ``Buffer``.
    """

    _mark = "_is_buffer"
    persistent: bool

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Buffer:
        if data is None:
            data = _VF.empty(0)
        t: Any = data.detach()
        t.requires_grad = data.requires_grad
        t.persistent = persistent
        t._is_buffer = True
        return t


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Parameter:
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data: Any, requires_grad: bool, backward_hooks: Any, state: Any) -> Parameter:
    return _utils._set_obj_state(Parameter(data, requires_grad), state)


_C._set_parameter_class(Parameter)
