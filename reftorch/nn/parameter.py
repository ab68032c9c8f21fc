"""Tensors that a module owns: parameters and buffers.

Mirrors: torch/nn/parameter.py
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from reftorch import _C, _VF, _utils
from reftorch._tensor import Tensor

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


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
        if hint := _C._other_library_hint(data):
            raise TypeError(f"cannot make a Parameter of a {type(data).__name__}{hint}")
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
            memo[id(self)] = type(self)(self.data.clone(memory_format=_C.preserve_format), self.requires_grad)
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

    __torch_function__ = _C._disabled_torch_function_impl


class UninitializedTensorMixin:
    """The part that a lazy parameter and a lazy buffer share: a tensor whose shape is not known yet.

    Such a tensor can change its dtype and its device. Any other function of it raises a ValueError, until
    :meth:`materialize` gives it a shape and turns it into an ordinary parameter or tensor.

    Mirrors torch/nn/parameter.py, ``UninitializedTensorMixin``.
    """

    _allowed_methods = (
        Tensor.__hash__,
        Tensor.size,
        Tensor.copy_,
        Tensor.is_complex,
        Tensor.is_floating_point,
        Tensor.half,
        Tensor.float,
        Tensor.double,
        Tensor.char,
        Tensor.short,
        Tensor.int,
        Tensor.long,
        Tensor.cuda,
        Tensor.cpu,
        Tensor.to,
        Tensor.get_device,
    )
    cls_to_become: type
    data: Any
    requires_grad: bool

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Give the tensor a shape, with elements of any value, and make it an ordinary parameter or tensor.

        Args:
            shape: the shape.
            device: the device; None keeps the present one.
            dtype: the dtype; None keeps the present one.

        Example:
            >>> param = torch.nn.UninitializedParameter()
            >>> param
            <UninitializedParameter>
            >>> param.materialize((2, 3))
            >>> type(param).__name__, param.shape
            ('Parameter', torch.Size([2, 3]))

        Mirrors torch/nn/parameter.py, ``UninitializedTensorMixin.materialize``.
        """
        device = self.data.device if device is None else device
        dtype = self.data.dtype if dtype is None else dtype
        self.data = _VF.empty(shape, device=device, dtype=dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. "
            "Call `forward` to initialize the parameters before accessing their attributes."
        )

    def share_memory_(self) -> Any:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, proto: Any) -> Any:
        return type(self), (self.requires_grad,)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: dict[str, Any] | None = None) -> Any:
        # Reads of properties such as ``requires_grad`` come here as method wrappers.
        if func in cls._allowed_methods or type(func).__name__ == "method-wrapper":
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]
        raise ValueError(
            f"Attempted to use an uninitialized parameter in {func}. This error happens when you are using a "
            f"`LazyModule` or explicitly manipulating `torch.nn.parameter.{cls.__name__}` objects. When using "
            "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
        )


def is_lazy(param: Any) -> bool:
    """Return whether ``param`` is a parameter or buffer without a shape.

    Example:
        >>> torch.nn.parameter.is_lazy(torch.nn.UninitializedParameter())
        True

    Mirrors torch/nn/parameter.py, ``is_lazy``.
    """
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc, override]
    """A parameter whose shape is not known yet: the parameter of a lazy module before its first call.

    Args:
        requires_grad: whether gradients accumulate in ``.grad`` (default True).
        device: the device of the later parameter.
        dtype: the dtype of the later parameter.

    Example:
        >>> torch.nn.LazyLinear(3).weight
        <UninitializedParameter>

    Mirrors torch/nn/parameter.py, ``UninitializedParameter``.
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return Tensor._make_subclass(cls, _VF.empty(0, device=device, dtype=dtype), requires_grad)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.data.device, self.data.dtype)
        return memo[id(self)]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc, override]
    """A buffer whose shape is not known yet: a buffer of a lazy module before its first call.

    Args:
        requires_grad: whether gradients accumulate in ``.grad`` (default False).
        device: the device of the later buffer.
        dtype: the dtype of the later buffer.
        persistent: whether the buffer is part of the module's ``state_dict`` (default True).

    Mirrors torch/nn/parameter.py, ``UninitializedBuffer``.
    """

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Any:
        t: Any = Tensor._make_subclass(cls, _VF.empty(0, device=device, dtype=dtype), requires_grad)
        t.persistent = persistent
        t._is_buffer = True
        return t


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Parameter:
    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(data: Any, requires_grad: bool, backward_hooks: Any, state: Any) -> Parameter:
    return _utils._set_obj_state(Parameter(data, requires_grad), state)


_C._set_parameter_class(Parameter)
