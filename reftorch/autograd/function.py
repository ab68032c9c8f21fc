"""Ops whose forward and backward are written in Python.

Mirrors: torch/autograd/function.py
Leaves out: gradients in one list (``boxed_grads_call``), nested inputs.
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
    """The methods of ``ctx``, the object that ``forward`` (or ``setup_context``) passes to ``backward``.

    Mirrors torch/autograd/function.py, ``FunctionCtx``.
    """

    def save_for_backward(self, *tensors: Any) -> None:
        """Save tensors for ``backward``, which reads them from ``ctx.saved_tensors``.

        Saved tensors are checked for in-place changes, are freed with the graph, and make no reference cycle.

        Args:
            tensors: inputs or outputs; None is allowed.

        Raises:
            TypeError: (after ``forward``) an argument is not a tensor.

        Example:
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
        """Save tensors for ``jvp``, which reads them from ``ctx.saved_tensors``. ``backward`` is not affected.

        Args:
            tensors: inputs or outputs; None is allowed.

        Mirrors torch/autograd/function.py, ``FunctionCtx.save_for_forward``.
        """
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Any) -> None:
        """Declare the inputs that ``forward`` changed in place; ``forward`` must return each of them.

        Args:
            args: these tensors.

        Raises:
            RuntimeError: (after ``forward``) a tensor is not returned, or is a leaf that requires a gradient.

        Example:
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
        """Declare the outputs that have no gradient although their dtype allows one.

        Args:
            args: these tensors.

        Example:
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
        """Set whether ``backward`` receives zeros (the default) or None for an output that has no gradient.

        Args:
            value: True for zeros.

        Example:
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
    """The base class of every ``ctx``. The ``ctx`` is also the ``grad_fn`` of the outputs.

    Mirrors torch/autograd/function.py, ``BackwardCFunction``.
    """

    _forward_cls: type[Function]

    @property
    def saved_variables(self) -> Any:
        """The former name of ``saved_tensors``; its use issues a DeprecationWarning."""
        warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors


class _ClearingCFunction(BackwardCFunction):
    """The ``ctx`` of a Function with ``clear_saved_tensors_on_access``: reading its saved tensors drops them."""

    _gave_away = False

    @property
    def saved_tensors(self) -> Any:
        """Return the saved tensors and drop them. A second access raises an error."""
        if self.to_save is not None:  # the access is inside forward
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
    """The metaclass of Functions: gives each Function a class for its ``ctx``, named ``<Function>Backward``.

    Mirrors torch/autograd/function.py, ``FunctionMeta``.
    """

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        is_root = not isinstance(bases[0], FunctionMeta)
        if "vjp" in attrs and not is_root:
            both = "backward" in attrs  # backward raises the error when it reaches this node, as in PyTorch
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
    r"""The base class of ops in Python. A subclass defines ``forward`` and ``backward`` as static methods.

    ``forward(ctx, *args)`` computes the result; its ops are not recorded. ``backward(ctx, *grads)`` takes one gradient
    for each output and returns one gradient for each argument of ``forward``: for :math:`y = f(x)` and the gradient
    :math:`g` of :math:`y`, it returns :math:`g^\top \partial f / \partial x`. Instead of taking ``ctx`` in ``forward``,
    a Function may define ``setup_context(ctx, inputs, output)``. Programs call the Function by ``apply``.

    Raises:
        NotImplementedError: ``forward`` or ``backward`` is missing.
        RuntimeError: ``backward`` and ``vjp`` are both defined, or ``backward`` returns the wrong number of gradients.

    Example:
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
    _has_defaults: bool  # setup_context must see the defaults of forward's parameters

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
        """Compute the result; see the docstring of the class."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save the tensors that ``backward`` needs, if ``forward`` takes no ``ctx``; see the docstring of the class."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradient for each argument of ``forward``; see the docstring of the class."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    vjp = backward

    # Whether ctx.saved_tensors can be read only once, so that each tensor is freed as soon as backward no longer uses
    # it.
    clear_saved_tensors_on_access = False

    # Whether vmap may run forward and backward on batched tensors. Then both must consist of ops that vmap supports: no
    # .item().
    generate_vmap_rule = False

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """Run the Function on a batch. Return the outputs, and the batch dimension of each output.

        Args:
            info: an object with ``batch_size`` and ``randomness``.
            in_dims: for each argument of ``forward``, its batch dimension; None if the argument has none.
            args: the arguments, with their batch dimensions.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap static method or set "
            "generate_vmap_rule=True."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the tangents of the outputs from those of the arguments; None stands for no tangent."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call the Function: run ``forward`` and record the call as one node.

        Args:
            args: the arguments of ``forward``.
            kwargs: arguments of ``forward`` by the names of its positional parameters.

        Raises:
            TypeError: ``forward`` has no positional parameter of that name, or a parameter before it has no value.
        """
        if kwargs or cls._has_defaults:
            args = _bind(cls, args, kwargs)
        if _C._functorch.maybe_current_level() is None and not _C._is_forward_ad_active():
            return super().apply(*args)
        return _transformed_apply(cls, args)


def _bind(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return all arguments of ``forward`` by position.

    ``setup_context`` sees the defaults of the arguments that are not given. A ``forward`` that takes ``ctx`` gets the
    arguments up to the last one that is given.
    """
    if not cls._has_setup_context:
        return args + _keywords_by_position(cls, len(args), kwargs)
    bound = inspect.signature(cls.forward).bind(*args, **kwargs)
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(f"forward() got an unexpected keyword argument '{next(iter(bound.kwargs))}'")
    return bound.args


def _keywords_by_position(cls: type[Function], given: int, kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the values of ``kwargs`` in the order of the parameters of ``forward``, for which ``given`` arguments and
    ``ctx`` were passed by position."""
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(cls.forward).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind in by_position][1:]
    for name in kwargs:
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        if name in names[:given]:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
    values: list[Any] = []
    for position in range(given, given + len(kwargs)):
        if names[position] not in kwargs:
            raise TypeError(f"forward() missing required argument: '{names[position]}' (position {position})")
        values.append(kwargs[names[position]])
    return tuple(values)


class InplaceFunction(Function):
    """The base class of old Functions that work in place. The class adds the flag ``inplace`` to :class:`Function`.

    Mirrors torch/autograd/function.py, ``InplaceFunction``.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """The base class of old Functions whose inputs and outputs were nested. As in PyTorch, the name exists but calls
    raise.

    Mirrors torch/autograd/function.py, ``NestedIOFunction``.
    """

    def forward_extended(self, *input: Any) -> Any:
        """Compute the result; old subclasses override this method."""
        raise NotImplementedError

    def backward_extended(self, *grad_output: Any) -> Any:
        """Return the gradients; old subclasses override this method."""
        raise NotImplementedError


_transformed_apply: Callable[[Any, tuple[Any, ...]], Any]


def set_transformed_apply(apply: Callable[[Any, tuple[Any, ...]], Any]) -> None:
    """Set the function that ``apply`` calls under function transforms, because this module must not import them."""
    global _transformed_apply
    _transformed_apply = apply


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a ``backward`` that cannot be differentiated itself: differentiating it raises an error instead of
    giving wrong gradients.

    Args:
        fn: the ``backward``; its ops are not recorded.

    Example:
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
    """Return the tensor without its history, as a leaf that requires a gradient."""
    if tensor is None:
        return None
    detached = tensor.detach()
    detached.requires_grad = True  # not requires_grad_(), which raises inside function transforms
    return detached
