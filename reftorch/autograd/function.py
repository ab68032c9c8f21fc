"""Ops whose forward and backward are written in Python.

Mirrors: torch/autograd/function.py
Leaves out: gradients in one list (``boxed_grads_call``), saved tensors that go when they are read, nested inputs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._warnings import warn
from reftorch.autograd.grad_mode import no_grad

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]


class FunctionCtx:
    """The methods of ``ctx``, which goes from ``forward`` (or ``setup_context``) to ``backward``.

    Mirrors torch/autograd/function.py, ``FunctionCtx``.
    """

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for ``backward``, which finds them in ``ctx.saved_tensors``.

        Kept this way they are checked for in-place changes, are freed with the graph, and make no reference cycle.

        Args:
            tensors: inputs or outputs; None is allowed.

        Raises:
            TypeError: (when ``forward`` is done) one of them is no tensor.

        Example:
            >>> import reftorch as torch
            >>> class Square(torch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         ctx.save_for_backward(x)
            ...         return x * x
            ...     @staticmethod
            ...     def backward(ctx, grad):
            ...         (x,) = ctx.saved_tensors
            ...         return grad * 2 * x
            >>> x = torch.tensor(3.0, requires_grad=True)
            >>> Square.apply(x).backward()
            >>> x.grad
            tensor(6.)

        Mirrors torch/autograd/function.py, ``FunctionCtx.save_for_backward``.
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for ``jvp``, which finds them in ``ctx.saved_tensors``; of no effect on ``backward``.

        Args:
            tensors: inputs or outputs; None is allowed.

        Mirrors torch/autograd/function.py, ``FunctionCtx.save_for_forward``.
        """
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs ``forward`` changed in place; each must be returned.

        Args:
            args: those tensors.

        Raises:
            RuntimeError: (when ``forward`` is done) one is not returned, or is a leaf that requires a gradient.

        Example:
            >>> import reftorch as torch
            >>> class AddOne(torch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         ctx.mark_dirty(x)
            ...         return x.add_(1)
            ...     @staticmethod
            ...     def backward(ctx, grad):
            ...         return grad
            >>> x = torch.zeros(1, requires_grad=True) * 2
            >>> AddOne.apply(x) is x, x
            (True, tensor([1.], grad_fn=<AddOneBackward>))

        Mirrors torch/autograd/function.py, ``FunctionCtx.mark_dirty``.
        """
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient, though their dtype would allow one.

        Args:
            args: those tensors.

        Example:
            >>> import reftorch as torch
            >>> class Rounded(torch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         rounded = x.round()
            ...         ctx.mark_non_differentiable(rounded)
            ...         return x * 1, rounded
            ...     @staticmethod
            ...     def backward(ctx, grad, grad_rounded):
            ...         return grad
            >>> [out.requires_grad for out in Rounded.apply(torch.ones(1, requires_grad=True))]
            [True, False]

        Mirrors torch/autograd/function.py, ``FunctionCtx.mark_non_differentiable``.
        """
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether ``backward`` gets zeros (the default) or None for an output that took no part.

        Args:
            value: True for zeros.

        Example:
            >>> import reftorch as torch
            >>> class Twice(torch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         ctx.set_materialize_grads(False)
            ...         return x * 1, x * 2
            ...     @staticmethod
            ...     def backward(ctx, first, second):
            ...         print(first, second)
            ...         return first
            >>> first, second = Twice.apply(torch.ones(1, requires_grad=True))
            >>> first.backward()
            tensor([1.]) None

        Mirrors torch/autograd/function.py, ``FunctionCtx.set_materialize_grads``.
        """
        self.materialize_grads = value


class BackwardCFunction(_C._FunctionBase, FunctionCtx):
    """The base of every ``ctx``: it is also the ``grad_fn`` of the outputs.

    Mirrors torch/autograd/function.py, ``BackwardCFunction``.
    """

    _forward_cls: type[Function]

    @property
    def saved_variables(self) -> Any:
        """The former name of ``saved_tensors``; a DeprecationWarning says so."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors


class _ClearingCFunction(BackwardCFunction):
    """The ``ctx`` of a Function with ``clear_saved_tensors_on_access``: it gives away what it keeps."""

    _gave_away = False

    @property
    def saved_tensors(self) -> Any:
        """What ``save_for_backward`` kept, once."""
        if self.to_save is not None:  # still inside forward
            return self.to_save
        if self._gave_away:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
            )
        tensors = super().saved_tensors
        self._gave_away = True
        self._release_saved_tensors()
        return tensors


def _both_backward_and_vjp(*args: Any) -> Any:
    raise RuntimeError(
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only implement one of "
        "them."
    )


class FunctionMeta(type):
    """Gives each Function a class for its ``ctx``, named ``<Function>Backward``.

    Mirrors torch/autograd/function.py, ``FunctionMeta``.
    """

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        is_root = not isinstance(bases[0], FunctionMeta)
        if "vjp" in attrs and not is_root:
            both = "backward" in attrs  # an error when backward comes to it, as in PyTorch
            cls.backward = staticmethod(_both_backward_and_vjp) if both else attrs["vjp"]
        ctx_base = _ClearingCFunction if getattr(cls, "clear_saved_tensors_on_access", False) else BackwardCFunction
        cls._backward_cls = type(name + "Backward", (ctx_base,), {"_forward_cls": cls})
        inherited = any(getattr(base, "_has_setup_context", False) for base in bases)
        cls._has_setup_context = not is_root and ("setup_context" in attrs or inherited)
        cls._has_defaults = cls._has_setup_context and bool(
            getattr(getattr(cls, "forward", None), "__defaults__", None)
        )
        super().__init__(name, bases, attrs)


class Function(_C._FunctionBase, FunctionCtx, metaclass=FunctionMeta):
    r"""An op of one's own: subclass it, and write ``forward`` and ``backward`` as static methods.

    ``forward(ctx, *args)`` computes the result, unrecorded. ``backward(ctx, *grads)`` gets one gradient for each output
    and returns one for each argument of ``forward``: for :math:`y = f(x)` and :math:`g`, it is
    :math:`g^\top \partial f / \partial x`. Instead of taking ``ctx`` in ``forward``, a Function may define
    ``setup_context(ctx, inputs, output)``. Use it by ``apply``.

    Raises:
        NotImplementedError: ``forward`` or ``backward`` is missing.
        RuntimeError: ``backward`` and ``vjp`` are both there, or ``backward`` returns the wrong number of gradients.

    Example:
        >>> import reftorch as torch
        >>> class Exp(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(x):
        ...         return x.exp()
        ...     @staticmethod
        ...     def setup_context(ctx, inputs, output):
        ...         ctx.save_for_backward(output)
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return grad * ctx.saved_tensors[0]
        >>> x = torch.zeros(2, requires_grad=True)
        >>> Exp.apply(x).sum().backward()
        >>> x.grad
        tensor([1., 1.])

    Mirrors torch/autograd/function.py, ``Function``.
    """

    _backward_cls: type[BackwardCFunction]
    _has_setup_context: bool
    _has_defaults: bool  # forward's parameters have defaults, which setup_context is to see

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Hint: call its apply.",
            DeprecationWarning,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            "function with static forward method."
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result; see the class."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Keep what ``backward`` needs, where ``forward`` takes no ``ctx``; see the class."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradient for each argument of ``forward``; see the class."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    # Whether ctx.saved_tensors can be read once only, so that each tensor is freed as soon as backward is done with it.
    clear_saved_tensors_on_access = False

    # Whether vmap may run forward and backward on each example of a batch, which they must be written for: no .item().
    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Run on a batch: return the outputs, and where the batch dimension of each is.

        Args:
            info: has ``batch_size`` and ``randomness``.
            in_dims: for each argument of ``forward``, its batch dimension; None where it has none.
            args: the arguments, batches and all.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method or set "
            "generate_vmap_rule=True."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the tangents of the outputs, from those of the arguments; None for an argument without."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the Function: ``forward``, recorded as one step.

        Args:
            args: those of ``forward``.
            kwargs: likewise, where ``setup_context`` is defined.

        Raises:
            TypeError: there are keyword arguments, and no ``setup_context``; or ``forward`` takes them by name only.
        """
        if kwargs or cls._has_defaults:
            args = _bind(cls, args, kwargs)
        if _C._functorch.maybe_current_level() is None and not _C._is_forward_ad_active():
            return super().apply(*args)
        return _transformed_apply(cls, args)


def _bind(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """All arguments of ``forward`` by position, with the defaults of those that are not given."""
    if not cls._has_setup_context:
        raise TypeError(f"{cls.__name__}.apply() takes no keyword arguments: its forward takes ctx, not setup_context")
    bound = inspect.signature(cls.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"{cls.__name__}.forward() got an unexpected keyword argument '{next(iter(bound.kwargs))}'")
    return bound.args


class InplaceFunction(Function):
    """The base of old Functions that work in place; it holds the flag ``inplace``, and :class:`Function` does all else.

    Mirrors torch/autograd/function.py, ``InplaceFunction``.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """The base of old Functions whose inputs and outputs were nested. It can be named, not called: as in PyTorch.

    Mirrors torch/autograd/function.py, ``NestedIOFunction``.
    """

    def forward_extended(self, *input: Any) -> Any:
        """Compute the result, in an old subclass."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> Any:
        """Return the gradients, in an old subclass."""
        raise NotImplementedError


_transformed_apply: Callable[[Any, tuple[Any, ...]], Any]


def set_transformed_apply(apply: Callable[[Any, tuple[Any, ...]], Any]) -> None:
    """Say what ``apply`` does under function transforms, which stand above this module."""
    global _transformed_apply
    _transformed_apply = apply


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``backward`` that cannot itself be differentiated: a second one says so instead of being wrong.

    Args:
        fn: the ``backward``; it runs unrecorded.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.autograd.function import once_differentiable
        >>> class Double(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     @once_differentiable
        ...     def backward(ctx, grad):
        ...         return grad * 2
        >>> x = torch.tensor(1.0, requires_grad=True)
        >>> torch.autograd.grad(Double.apply(x), x)
        (tensor(2.),)

    Mirrors torch/autograd/function.py, ``once_differentiable``.
    """

    @functools.wraps(fn)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with no_grad():
            outputs = fn(ctx, *args)
        recorded = _C.is_grad_enabled() and any(isinstance(arg, _C.TensorBase) and arg.requires_grad for arg in args)
        if not recorded:
            return outputs
        tensors = outputs if isinstance(outputs, tuple) else (outputs,)
        error = _C._functions.DelayedError(
            "trying to differentiate twice a function that was marked with @once_differentiable", len(tensors)
        )
        return error(*map(_as_leaf, tensors))

    return wrapper


def _as_leaf(tensor: Any) -> Any:
    """The tensor without its history, as one that requires a gradient."""
    if tensor is None:
        return None
    detached = tensor.detach()
    detached.requires_grad = True  # not requires_grad_(), which function transforms refuse
    return detached
