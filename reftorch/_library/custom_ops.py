"""Makes an op from one Python function: the schema from the annotations, kernels, the gradient, the rule for vmap.

``custom_op`` defines the op in a library of its own and fills the rows of its table: the function itself is the kernel
of each device, an ``autograd.Function`` is the kernel of the row Autograd (reftorch/_library/autograd.py), and the fake
kernel is the kernel of the row Meta. Everything else, such as the rule for vmap, is registered on the result of
``custom_op``.

Mirrors: torch/_library/custom_ops.py
Leaves out: autocast, effects, triton kernels, ops without a tensor that choose their device by an argument.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from reftorch import _C
from reftorch._functorch import batch_rules
from reftorch._functorch.autograd_function import VmapInfo
from reftorch._library import autograd
from reftorch._library.fake_impl import fake_impl_of
from reftorch._library.infer_schema import infer_schema
from reftorch._library.registration import Library, fill_defaults, lookup_op
from reftorch._ops import OpOverload, parse_schema
from reftorch._tensor import Tensor
from reftorch.utils._pytree import tree_leaves

__all__ = ["CustomOpDef", "custom_op"]

log = logging.getLogger(__name__)

OPDEFS: dict[str, CustomOpDef] = {}
OPDEF_TO_LIB: dict[str, Library] = {}


def _library_allowing_overwrite(namespace: str, name: str) -> Library:
    """Return a new library for one op. An earlier op of this name is removed."""
    qualname = f"{namespace}::{name}"
    former = OPDEF_TO_LIB.pop(qualname, None)
    if former is not None:
        former._destroy()
    OPDEF_TO_LIB[qualname] = library = Library(namespace, "FRAGMENT")
    return library


def _storages(values: Any) -> Iterator[int]:
    for value in tree_leaves(values):
        if isinstance(value, Tensor) and value.device.type != "meta":
            yield value.untyped_storage()._cdata


def _check_aliasing(name: str, args: Any, kwargs: Any, result: Any, module: Any) -> None:
    seen = set(_storages((args, kwargs)))
    for storage in _storages(result):
        if storage in seen:
            raise RuntimeError(
                f"{name} (with implementation in {module}): The output of this custom operator (1) must not also be an "
                "input to this custom operator and (2) may not alias any inputs to this custom operator or other "
                "returns. The most common way to trigger this error is if we have y = custom_op(x) and y and x are the "
                "same Tensor. Please instead return a clone of the offending output tensor(s) (e.g. return x.clone()) "
                "or refactor the custom operator to not return y."
            )
        seen.add(storage)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an op from a function. Autograd, function transforms and modes handle the op as a unit.

    Args:
        name: ``"mylib::sin"``: a namespace and the op's name.
        fn: the op's kernel; without it, ``custom_op`` is a decorator.
        mutates_args: names of the arguments that the function changes, or ``"unknown"``.
        device_types: the devices of the kernel; by default all devices.
        schema: the op's schema; by default ``infer_schema`` reads the function's annotations.
        tags: facts about the op that programs can read.

    Returns:
        A CustomOpDef, which is called like the function.

    Raises:
        ValueError: the annotations do not give a schema, or ``schema`` and ``mutates_args`` contradict each other.
        RuntimeError: when the op is called, a result shares memory with an argument.

    Example:
        >>> import numpy as np
        >>> @torch.library.custom_op("mylib::numpy_sin", mutates_args=())
        ... def numpy_sin(x: torch.Tensor) -> torch.Tensor:
        ...     return torch.from_numpy(np.sin(x.numpy()))
        >>> def setup_context(ctx, inputs, output):
        ...     ctx.save_for_backward(inputs[0])
        >>> def backward(ctx, grad):
        ...     return grad * ctx.saved_tensors[0].cos()
        >>> numpy_sin.register_autograd(backward, setup_context=setup_context)
        >>> x = torch.zeros(2, requires_grad=True)
        >>> numpy_sin(x).sum().backward()
        >>> x.grad
        tensor([1., 1.])

    Mirrors torch/_library/custom_ops.py, ``custom_op``.
    """

    def define(function: Callable[..., Any]) -> CustomOpDef:
        text = infer_schema(function, mutates_args=mutates_args) if schema is None else schema
        namespace, opname = name.split("::")
        result = CustomOpDef(namespace, opname, text, function, tags)
        if schema is not None:
            arguments = result._opoverload._schema.arguments
            expected = {a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write}
            if expected != set(mutates_args):
                raise ValueError(
                    f"Attempted to create a custom op with `mutates_args={mutates_args}` and `schema={schema}. The "
                    f"schema suggests that the op mutates {expected}which is different from what was provided to us in "
                    "`mutates_args`. Please make these consistent."
                )
        result.register_kernel(device_types)(function)
        return result

    return define if fn is None else define(fn)


class CustomOpDef:
    """The result of ``custom_op``: an op that can be called, and on which more functions can be registered.

    Mirrors torch/_library/custom_ops.py, ``CustomOpDef``.
    """

    def __init__(self, namespace: str, name: str, schema: str, fn: Callable[..., Any], tags: Any = None) -> None:
        self._namespace = namespace
        self._name = name
        self._schema = schema
        self._tags = () if tags is None else tuple(tags) if isinstance(tags, (tuple, list)) else (tags,)
        self._init_fn = fn
        self._backend_fns: dict[str | None, Callable[..., Any]] = {}
        self._abstract_fn: Callable[..., Any] | None = None
        self._setup_context_fn: Callable[..., Any] | None = None
        self._backward_fn: Callable[..., Any] | None = None
        self._torch_dispatch_fns: dict[type, Callable[..., Any]] = {}
        self._vmap_fn: Callable[..., Any] | None = None
        self._disabled_kernel: set[str | None] = set()
        self._check_no_keyword_only_tensors(name + schema)
        self._lib = _library_allowing_overwrite(namespace, name)
        self._lib.define(name + schema, tags=self._tags)
        self._opoverload: OpOverload = lookup_op(self._qualname)
        self._lib._register_fake(name, self._call_fake)
        self._lib.impl(name, fake_impl_of(self._qualname), "Meta")
        self._lib.impl(name, autograd.make_autograd_impl(self._opoverload, self), "Autograd", with_keyset=True)
        OPDEFS[self._qualname] = self

    @staticmethod
    def _check_no_keyword_only_tensors(schema: str) -> None:
        if any(a.kwarg_only and a.type.startswith("Tensor") for a in parse_schema(schema).arguments):
            raise NotImplementedError(
                f"custom_op with kwarg-only Tensor args. Please make your tensors not kwarg-only. Got: {schema}"
            )

    @property
    def _qualname(self) -> str:
        return f"{self._namespace}::{self._name}"

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._opoverload(*args, **kwargs)

    @contextlib.contextmanager
    def set_kernel_enabled(self, device_type: str, enabled: bool = True) -> Iterator[None]:
        """Disable a device's kernel in the block, or enable it again. Without it, the op's first function runs.

        Args:
            device_type: the device that the kernel is registered for.
            enabled: False disables the kernel.

        Example:
            >>> @torch.library.custom_op("mylib::one", mutates_args=())
            ... def one(x: torch.Tensor) -> torch.Tensor:
            ...     return torch.ones_like(x)
            >>> @one.register_kernel("cpu")
            ... def _(x):
            ...     return torch.ones_like(x) * 2
            >>> with one.set_kernel_enabled("cpu", False):
            ...     one(torch.zeros(1))
            tensor([1.])
            >>> one(torch.zeros(1))
            tensor([2.])

        Mirrors torch/_library/custom_ops.py, ``CustomOpDef.set_kernel_enabled``.
        """
        action = "enable" if enabled else "disable"
        was_disabled = device_type in self._disabled_kernel
        if device_type not in self._backend_fns:
            log.warning(
                "Attempted to %s kernel for %s but no kernel was registered for this device type.", action, device_type
            )
        if not enabled and was_disabled:
            log.warning("Attempted to disable kernel for %s but it was already disabled.", device_type)
        elif enabled and not was_disabled:
            log.warning("Attempted to enable kernel for  %s but it was already enabled.", device_type)
        (self._disabled_kernel.discard if enabled else self._disabled_kernel.add)(device_type)
        try:
            yield
        finally:
            (self._disabled_kernel.add if was_disabled else self._disabled_kernel.discard)(device_type)

    def register_kernel(
        self, device_types: str | Sequence[str] | None, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Register the function that computes the op on some devices.

        Args:
            device_types: a name such as ``"cpu"``, or several; None means all devices.
            fn: the kernel; without it, ``register_kernel`` is a decorator.

        Returns:
            ``fn``.

        Raises:
            RuntimeError: there is no such device.

        Mirrors torch/_library/custom_ops.py, ``CustomOpDef.register_kernel``.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            types = [device_types] if device_types is None or isinstance(device_types, str) else list(device_types)
            for device_type in types:
                if device_type not in self._backend_fns:
                    key = (
                        "CompositeExplicitAutograd" if device_type is None else _C._dispatch_key_for_device(device_type)
                    )
                    self._lib.impl(self._name, self._backend_impl(device_type), key)
                self._backend_fns[device_type] = function
            return function

        return register if fn is None else register(fn)

    def _backend_impl(self, device_type: str | None) -> Callable[..., Any]:
        """Make the kernel of the device's row. The kernel looks up the function at each call, as it may change."""

        def backend_impl(*args: Any, **kwargs: Any) -> Any:
            function = self._init_fn if device_type in self._disabled_kernel else self._backend_fns[device_type]
            result = function(*args, **kwargs)
            if not self._opoverload._schema._is_view_op():
                _check_aliasing(self._name, args, kwargs, result, inspect.getmodule(function))
            return result

        return backend_impl

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Register the kernel for tensors without memory (``device="meta"``).

        Args:
            fn: takes the op's arguments and returns tensors of the right shape, strides and dtype.

        Returns:
            ``fn``.

        Example:
            >>> @torch.library.custom_op("mylib::pairs", mutates_args=(), device_types="cpu")
            ... def pairs(x: torch.Tensor) -> torch.Tensor:
            ...     return torch.stack([x, x], -1)
            >>> @pairs.register_fake
            ... def _(x):
            ...     return x.new_empty(*x.shape, 2)
            >>> pairs(torch.empty(3, device="meta")).shape
            torch.Size([3, 2])

        Mirrors torch/_library/custom_ops.py, ``CustomOpDef.register_fake``.
        """
        self._abstract_fn = fn
        return fn

    def _call_fake(self, *args: Any, **kwargs: Any) -> Any:
        if self._abstract_fn is not None:
            return self._abstract_fn(*args, **kwargs)
        schema = self._opoverload._schema
        if schema.is_mutable and not schema.returns:
            return None  # there is no result whose shape has to be known
        raise RuntimeError(
            f"There was no fake impl registered for {self}. This is necessary for torch.compile/export/fx tracing to "
            f"work. Please use `{self._init_fn.__name__}.register_fake` to add an fake impl."
        )

    def register_torch_dispatch(
        self, torch_dispatch_class: type, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Register what a mode, or a class with ``__torch_dispatch__``, does with the op.

        Args:
            torch_dispatch_class: the class of the mode or tensor.
            fn: takes the mode, or the tensor's class, and then the arguments of ``__torch_dispatch__``. Without it,
                ``register_torch_dispatch`` is a decorator.

        Returns:
            ``fn``.

        Mirrors torch/_library/custom_ops.py, ``CustomOpDef.register_torch_dispatch``.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            if torch_dispatch_class not in self._torch_dispatch_fns:
                self._lib._register_torch_dispatch_rule(
                    self._name,
                    torch_dispatch_class,
                    lambda *args, **kwargs: self._torch_dispatch_fns[torch_dispatch_class](*args, **kwargs),
                )
            self._torch_dispatch_fns[torch_dispatch_class] = function
            return function

        return register if fn is None else register(fn)

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        r"""Register the op's gradient.

        For a loss :math:`L` and :math:`y = f(x)`, ``backward`` gets :math:`\partial L / \partial y` and returns
        :math:`\partial L / \partial x`.

        Args:
            backward: ``backward(ctx, *grads)`` takes a gradient for each result, and returns a gradient, or None, for
                each argument.
            setup_context: ``setup_context(ctx, inputs, output)`` is called after the forward; it stores on ``ctx`` what
                ``backward`` needs. If the op has keyword-only arguments, it also takes ``keyword_only_inputs``.

        Raises:
            RuntimeError: the op changes its arguments.

        Mirrors torch/_library/custom_ops.py, ``CustomOpDef.register_autograd``.
        """
        schema = self._opoverload._schema
        if schema.is_mutable or not schema.returns:
            raise RuntimeError(
                f"Cannot register autograd formula for non-functional operator {self} with schema {schema}. Please "
                "create a functional operator and register an autograd formula for that."
            )
        self._backward_fn = backward
        self._setup_context_fn = setup_context

    def _call_vmap(self, *args: Any, **kwargs: Any) -> Any:
        """Call the rule that was registered last."""
        assert self._vmap_fn is not None
        return self._vmap_fn(*args, **kwargs)

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Callable[..., Any]:
        """Register how the op runs on a batch under ``torch.vmap``.

        Args:
            func: ``func(info, in_dims, *args)``. ``info`` has ``batch_size`` and ``randomness``; ``in_dims`` has, for
                each argument, the position of its batch dimension, or None; the arguments include this dimension. The
                function returns the results and the positions of their batch dimensions. Without it, ``register_vmap``
                is a decorator.

        Returns:
            ``func``.

        Example:
            >>> @torch.library.custom_op("mylib::twice", mutates_args=())
            ... def twice(x: torch.Tensor) -> torch.Tensor:
            ...     return x * 2
            >>> @twice.register_vmap
            ... def _(info, in_dims, x):
            ...     return twice(x), in_dims[0]
            >>> torch.vmap(twice)(torch.ones(2, 1))
            tensor([[2.],
                    [2.]])

        Mirrors torch/_library/custom_ops.py, ``CustomOpDef.register_vmap``.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            if self._vmap_fn is None:
                register_vmap_rule(self._lib, self._opoverload, self._call_vmap)
            self._vmap_fn = function
            return function

        return register if func is None else register(func)


def register_vmap_rule(library: Library, op: OpOverload, func: Callable[..., Any]) -> None:
    """Register ``func(info, in_dims, *args)`` as the batching rule of an op.

    Mirrors torch/_functorch/autograd_function.py, ``custom_function_call_vmap_helper``.
    """
    num_returns = len(op._schema.returns)

    def rule(args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
        inputs, _ = fill_defaults(op._schema, args, {})
        positional = [a for a in op._schema.arguments if not a.kwarg_only]
        keywords = {a.name: v for a, v in zip(op._schema.arguments, args, strict=True) if a.kwarg_only}
        count = len(positional)
        result = func(VmapInfo(size, randomness), tuple(dims[:count]), *inputs[:count], **keywords)
        if not isinstance(result, tuple) or len(result) != 2:
            raise RuntimeError(
                f"Expected the vmap function of {op} to return a tuple of the outputs and their batch dimensions, got "
                f"{type(result).__name__}"
            )
        outputs, out_dims = result
        if num_returns > 1 and (out_dims is None or isinstance(out_dims, int)):
            out_dims = (out_dims,) * num_returns
        return outputs, out_dims

    batch_rules.register(op.name(), rule)
    library._registration_handles.append(lambda: batch_rules.unregister(op.name()))


def _maybe_get_opdef(op: Any) -> CustomOpDef | None:
    """Return the CustomOpDef of an op by its name or overload; None if the op was not made by ``custom_op``."""
    if isinstance(op, CustomOpDef):
        return op
    return OPDEFS.get(op.name() if isinstance(op, OpOverload) else op)
