"""Defines ops in Python, registers kernels, gradients and batching rules for them, and tests these registrations.

Start with :func:`custom_op`, which makes an op from one function. :class:`Library` is the layer below: it defines ops
by their schemas and registers kernels for single rows of an op's table, also for ops of ``aten``.

Mirrors: torch/library.py
Leaves out: ``register_autocast``, ``triton_op``, ``wrap_triton``, ``get_kernel``, effects, and the names that PyTorch
    has renamed (``impl_abstract``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from reftorch import _C, _places
from reftorch._library.autograd import make_autograd_impl
from reftorch._library.custom_ops import CustomOpDef, _maybe_get_opdef, custom_op, register_vmap_rule
from reftorch._library.fake_impl import fake_impl_of, get_ctx
from reftorch._library.infer_schema import infer_schema
from reftorch._library.optests import opcheck
from reftorch._library.registration import Library, fallthrough_kernel, lookup_op, parse_namespace
from reftorch._library.registration import _scoped_library as _scoped_library  # PyTorch has this name here too
from reftorch._ops import OpOverload

__all__ = [
    "CustomOpDef",
    "Library",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "infer_schema",
    "opcheck",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
]

_keep_alive: list[Library] = []  # libraries made for one registration, which must not be freed
_NAMELESS_SCHEMA = re.compile(r"\(.*\) -> .*")


def _library_for(namespace: str, lib: Library | None) -> Library:
    """Return ``lib``, or a library that lives as long as the process."""
    if lib is None:
        lib = Library(namespace, "FRAGMENT")
        _keep_alive.append(lib)
    return lib


def _qualname_of(op: Any, api_name: str) -> str:
    if isinstance(op, OpOverload):
        return op.name()
    if isinstance(op, CustomOpDef):
        return op._qualname
    if not isinstance(op, str):
        raise ValueError(f"{api_name}({op}): got unexpected type for op: {type(op)}")
    return op


def define(qualname: Any, schema: str, *, lib: Library | None = None, tags: Any = ()) -> Any:
    """Define an op.

    Args:
        qualname: ``"mylib::sin"``. The old form ``define(lib, "sin(Tensor x) -> Tensor")`` has the library here and
            returns a decorator for the kernel.
        schema: the op's signature without its name.
        lib: the library that owns the op; by default the op stays until the process ends.
        tags: facts about the op that programs can read.

    Raises:
        ValueError: the name has no namespace, or the schema begins with a name.
        RuntimeError: the op is already defined.

    Example:
        >>> torch.library.define("mylib::cube", "(Tensor x) -> Tensor")
        >>> @torch.library.impl("mylib::cube", "cpu")
        ... def cube(x):
        ...     return x**3
        >>> torch.ops.mylib.cube(torch.tensor([2.0]))
        tensor([8.])

    Mirrors torch/library.py, ``define``.
    """
    if isinstance(qualname, Library):
        return _define_with(qualname, schema)
    if not isinstance(qualname, str):
        raise ValueError(f"define(qualname, schema): expected qualname to be instance of str, got {type(qualname)}")
    namespace, name = parse_namespace(qualname)
    if not _NAMELESS_SCHEMA.fullmatch(schema):
        raise ValueError(
            'define(qualname, schema, ...): expected schema to look like e.g. "(Tensor x) -> Tensor" but got '
            f'"{schema}"'
        )
    _library_for(namespace, lib).define(name + schema, tags=tags)
    return None


def _define_with(library: Library, schema: str) -> Callable[..., Any]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        library.impl(library.define(schema), function)
        return function

    return register


def impl(qualname: Any, types: Any, func: Callable[..., Any] | None = None, *, lib: Library | None = None) -> Any:
    """Register a kernel for some devices.

    Args:
        qualname: ``"mylib::sin"``. The old form ``impl(lib, name, dispatch_key)`` has the library here.
        types: ``"cpu"``, several such names, or ``"default"`` for all devices.
        func: the kernel; without it, ``impl`` is a decorator.
        lib: the library that owns the kernel; by default the kernel stays until the process ends.

    Raises:
        RuntimeError: there is no such op or device.

    Example:
        >>> torch.library.define("mylib::half", "(Tensor x) -> Tensor")
        >>> torch.library.impl("mylib::half", "default", lambda x: x / 2)
        >>> torch.ops.mylib.half(torch.ones(1))
        tensor([0.5000])

    Mirrors torch/library.py, ``impl``.
    """
    if isinstance(qualname, Library):
        library, name, dispatch_key = qualname, types, "" if func is None else func

        def register_old(function: Callable[..., Any]) -> Callable[..., Any]:
            library.impl(name, function, dispatch_key)  # type: ignore[arg-type]
            return function

        return register_old
    namespace, _ = parse_namespace(qualname)
    names = (types,) if isinstance(types, str) else types
    keys = {"CompositeExplicitAutograd" if name == "default" else _C._dispatch_key_for_device(name) for name in names}

    def register(function: Callable[..., Any]) -> None:
        library = _library_for(namespace, lib)
        for key in sorted(keys):
            library.impl(qualname, function, key)

    return register if func is None else register(func)


def register_kernel(
    op: Any,
    device_types: str | Sequence[str] | None,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Register the function that computes an op on some devices.

    Args:
        op: the name of the op, its OpOverload, or the result of ``custom_op``.
        device_types: a name such as ``"cpu"``, or several; None means all devices.
        func: the kernel; without it, ``register_kernel`` is a decorator.
        lib: the library that owns the kernel; by default the kernel stays until the process ends.

    Raises:
        ValueError: ``op`` is none of these.

    Mirrors torch/library.py, ``register_kernel``.
    """
    qualname = _qualname_of(op, "register_kernel")
    opdef = _maybe_get_opdef(qualname)
    if opdef is not None:
        return opdef.register_kernel(device_types, func)
    return impl(qualname, "default" if device_types is None else device_types, func, lib=lib)


def register_fake(
    op: Any,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
    allow_override: bool = True,
) -> Any:
    """Register the kernel for ``device="meta"``, which returns tensors of the right shape and dtype without data.

    Args:
        op: the name of the op, its OpOverload, or the result of ``custom_op``.
        func: takes the op's arguments and returns tensors of the right shape, strides and dtype. Without it,
            ``register_fake`` is a decorator.
        lib: the library that owns the kernel; by default the kernel stays until the process ends.
        allow_override: if False, it is an error if the op already has a fake kernel.

    Raises:
        RuntimeError: the op has a fake kernel and ``allow_override`` is False.

    Example:
        >>> @torch.library.custom_op("mylib::crop", mutates_args=(), device_types="cpu")
        ... def crop(pic: torch.Tensor, rows: int) -> torch.Tensor:
        ...     return pic[:rows].clone()
        >>> @torch.library.register_fake("mylib::crop")
        ... def _(pic, rows):
        ...     return pic.new_empty(rows, *pic.shape[1:])
        >>> crop(torch.empty(5, 2, device="meta"), 3).shape
        torch.Size([3, 2])

    Mirrors torch/library.py, ``register_fake``.
    """
    qualname = _qualname_of(op, "register_fake")
    opdef = _maybe_get_opdef(qualname)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if opdef is not None:
            return opdef.register_fake(function)
        namespace, name = parse_namespace(qualname)
        library = _library_for(namespace, lib)
        library._register_fake(name, function, allow_override=allow_override)
        library.impl(name, fake_impl_of(qualname), "Meta")
        return function

    return register if func is None else register(func)


class _Formula:
    """The gradient of an op that was not made by ``custom_op``."""

    def __init__(self, backward: Callable[..., Any], setup_context: Callable[..., Any] | None) -> None:
        self._backward_fn: Callable[..., Any] | None = backward
        self._setup_context_fn = setup_context


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    r"""Register the gradient of an op.

    For a loss :math:`L` and :math:`y = f(x)`, ``backward`` takes :math:`\partial L / \partial y` and returns
    :math:`\partial L / \partial x`.

    Args:
        op: the name of the op, its OpOverload, or the result of ``custom_op``.
        backward: ``backward(ctx, *grads)`` takes a gradient for each result, and returns a gradient, or None, for each
            argument.
        setup_context: ``setup_context(ctx, inputs, output)`` is called after the forward; it stores on ``ctx`` what
            ``backward`` needs. If the op has keyword-only arguments, it also takes ``keyword_only_inputs``.
        lib: the library that owns the gradient; by default the gradient stays until the process ends.

    Raises:
        RuntimeError: the op writes to its arguments.
        NotImplementedError: the op has keyword-only tensors.

    Example:
        >>> torch.library.define("mylib::square", "(Tensor x) -> Tensor")
        >>> torch.library.impl("mylib::square", "default", lambda x: x * x)
        >>> torch.library.register_autograd(
        ...     "mylib::square",
        ...     lambda ctx, grad: 2 * ctx.saved_tensors[0] * grad,
        ...     setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
        ... )
        >>> x = torch.tensor([3.0], requires_grad=True)
        >>> torch.ops.mylib.square(x).backward()
        >>> x.grad
        tensor([6.])

    Mirrors torch/library.py, ``register_autograd``.
    """
    qualname = _qualname_of(op, "register_autograd")
    opdef = _maybe_get_opdef(qualname)
    if opdef is not None:
        opdef.register_autograd(backward, setup_context=setup_context)
        return
    overload = lookup_op(qualname)
    schema = overload._schema
    if schema.is_mutable or not schema.returns:
        raise RuntimeError(
            f"Cannot register autograd formula for non-functional operator {overload} with schema {schema}. Please "
            "create a functional operator and register an autograd formula for that."
        )
    if any(a.kwarg_only and a.type.startswith("Tensor") for a in schema.arguments):
        raise NotImplementedError(
            f"register_autograd with kwarg-only Tensor args. In the original definition of the op, please make your "
            f"tensors not kwarg-only. Got: {schema}"
        )
    namespace, name = parse_namespace(qualname)
    kernel = make_autograd_impl(overload, _Formula(backward, setup_context))
    _library_for(namespace, lib).impl(name, kernel, "Autograd", with_keyset=True)


def register_torch_dispatch(
    op: Any,
    torch_dispatch_class: type,
    func: Callable[..., Any] | None = None,
    /,
    *,
    lib: Library | None = None,
) -> Any:
    """Register what a mode, or a class with ``__torch_dispatch__``, does for an op.

    Args:
        op: the name of the op, its OpOverload, or the result of ``custom_op``.
        torch_dispatch_class: the class of the mode or tensor.
        func: takes the mode, or the tensor's class, and then the arguments of ``__torch_dispatch__``. Without it,
            ``register_torch_dispatch`` is a decorator.
        lib: the library that owns the rule; by default the rule stays until the process ends.

    Raises:
        RuntimeError: the class already has a rule for the op.

    Example:
        >>> from reftorch.utils._python_dispatch import TorchDispatchMode
        >>> @torch.library.custom_op("mylib::noise", mutates_args=())
        ... def noise(x: torch.Tensor) -> torch.Tensor:
        ...     return torch.randn_like(x)
        >>> class Quiet(TorchDispatchMode):
        ...     def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        ...         return func(*args, **(kwargs or {}))
        >>> @torch.library.register_torch_dispatch("mylib::noise", Quiet)
        ... def _(mode, func, types, args, kwargs):
        ...     return args[0] * 0
        >>> with Quiet():
        ...     y = noise(torch.ones(2))
        >>> y
        tensor([0., 0.])

    Mirrors torch/library.py, ``register_torch_dispatch``.
    """
    qualname = _qualname_of(op, "register_torch_dispatch")
    opdef = _maybe_get_opdef(qualname)
    if opdef is not None:
        return opdef.register_torch_dispatch(torch_dispatch_class, func)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        namespace, name = parse_namespace(qualname)
        _library_for(namespace, lib)._register_torch_dispatch_rule(name, torch_dispatch_class, function)
        return function

    return register if func is None else register(func)


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Library | None = None) -> Any:
    """Register the batching rule of an op for ``torch.vmap``.

    Args:
        op: the name of the op, its OpOverload, or the result of ``custom_op``.
        func: ``func(info, in_dims, *args)``; see ``CustomOpDef.register_vmap``. Without it, ``register_vmap`` is a
            decorator.
        lib: the library that owns the rule; by default the rule stays until the process ends.

    Raises:
        ValueError: ``op`` is none of these.

    Mirrors torch/library.py, ``register_vmap``.
    """
    qualname = _qualname_of(op, "register_vmap")
    opdef = _maybe_get_opdef(qualname)
    if opdef is not None:
        return opdef.register_vmap(func)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        namespace, _ = parse_namespace(qualname)
        register_vmap_rule(_library_for(namespace, lib), lookup_op(qualname), function)
        return function

    return register if func is None else register(func)


_places.adopt(__name__, __all__, globals())
