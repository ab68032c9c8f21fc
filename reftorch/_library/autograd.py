"""The Autograd kernel of a custom op: an ``autograd.Function`` around the kernels below.

Mirrors: torch/_library/autograd.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from reftorch import _C
from reftorch._library.registration import fill_defaults
from reftorch._ops import OpOverload
from reftorch._tensor import Tensor
from reftorch.autograd.function import Function
from reftorch.autograd.graph import increment_version

__all__ = ["make_autograd_impl"]


class InfoProtocol(Protocol):
    """Who knows the formula, at the time of the call."""

    _backward_fn: Callable[..., Any] | None
    _setup_context_fn: Callable[..., Any] | None


class _Call(NamedTuple):
    """What one call is about besides its positional arguments."""

    keyset: Any
    kwargs: dict[str, Any]
    lengths: list[int | None]  # of each positional argument: its length where it is a list of tensors
    results: list[
        Any
    ]  # what forward leaves for the caller: whether it returned a tuple, and the lengths of the results


def _is_tensor_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, Tensor) for item in value)


def _flatten(values: Sequence[Any]) -> tuple[list[Any], list[int | None]]:
    """Put the tensors of lists beside the other values: a Function sees tensors among its arguments only."""
    flat: list[Any] = []
    lengths: list[int | None] = []
    for value in values:
        if _is_tensor_list(value):
            flat += value
            lengths.append(len(value))
        else:
            flat.append(value)
            lengths.append(None)
    return flat, lengths


def _unflatten(flat: Sequence[Any], lengths: Sequence[int | None]) -> list[Any]:
    items = iter(flat)
    return [next(items) if length is None else [next(items) for _ in range(length)] for length in lengths]


def _flatten_gradients(result: Any, lengths: Sequence[int | None]) -> list[Any]:
    grads = list(result) if isinstance(result, tuple) else [result]
    if len(grads) != len(lengths):
        return grads  # the engine says how many it expects
    flat: list[Any] = []
    for grad, length in zip(grads, lengths, strict=True):
        if length is None:
            flat.append(grad)
        elif grad is None:
            flat += [None] * length
        elif isinstance(grad, (list, tuple)) and len(grad) == length:
            flat += grad
        else:
            raise RuntimeError(
                "Expected the return from backward to be of the same structure as the inputs. Got: "
                f"{type(grad).__name__} (return from backward), a list of {length} tensors (inputs)"
            )
    return flat


def _written(op: OpOverload, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Tensor]:
    tensors: list[Tensor] = []
    for i, argument in enumerate(op._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = kwargs.get(argument.name) if argument.kwarg_only else args[i] if i < len(args) else None
            values = value if isinstance(value, (list, tuple)) else [value]
            tensors += [t for t in values if isinstance(t, Tensor)]
    return tensors


def make_autograd_impl(op: OpOverload, info: InfoProtocol) -> Callable[..., Any]:
    """Make the kernel of the Autograd row of a custom op.

    The kernel calls the rows below with Autograd excluded. If a gradient is wanted, the call is the forward of a
    Function whose backward is the registered formula. Tensors that the op writes to get a new version.

    Args:
        op: the op.
        info: has the formula, ``_backward_fn``, and ``_setup_context_fn``; they may be registered later.

    Returns:
        A function of the DispatchKeySet and the op's arguments.

    Mirrors torch/_library/autograd.py, ``make_autograd_impl``.
    """
    schema = op._schema
    has_keyword_only = any(argument.kwarg_only for argument in schema.arguments)

    def call_below(call: _Call, args: Sequence[Any]) -> Any:
        with _C._AutoDispatchBelowAutograd():
            result = op.redispatch(call.keyset & _C._after_autograd_keyset, *args, **call.kwargs)
        written = _written(op, args, call.kwargs)
        if written:
            increment_version(written)
        return result

    def forward(ctx: Any, *flat: Any) -> Any:
        call: _Call = flat[-1]
        args = _unflatten(flat[:-1], call.lengths)
        result = call_below(call, args)
        if info._setup_context_fn is not None:
            with _C._AutoDispatchBelowAutograd():
                inputs, keywords = fill_defaults(schema, args, call.kwargs)
                if has_keyword_only:
                    info._setup_context_fn(ctx=ctx, inputs=inputs, keyword_only_inputs=keywords, output=result)
                else:
                    info._setup_context_fn(ctx=ctx, inputs=inputs, output=result)
        results = list(result) if isinstance(result, tuple) else [result]
        ctx._lengths = call.lengths
        flat_results, ctx._result_lengths = _flatten(results)
        call.results[:] = isinstance(result, tuple), ctx._result_lengths
        return tuple(flat_results)

    def backward(ctx: Any, *flat_grads: Any) -> Any:
        if info._backward_fn is None:
            raise RuntimeError(
                f"Trying to backward through {op} but no autograd formula was registered. Please use "
                "register_autograd to add one."
            )
        grads = _unflatten(flat_grads, ctx._result_lengths)
        needs_input_grad = ctx.needs_input_grad
        try:
            ctx.needs_input_grad = tuple(_unflatten(needs_input_grad[:-1], ctx._lengths))
            result = info._backward_fn(ctx, *grads)
        finally:
            ctx.needs_input_grad = needs_input_grad
        return (*_flatten_gradients(result, ctx._lengths), None)

    name = f"GeneratedBackwardFor_{op._namespace}_{op._opname}_{op._overloadname}"
    generated = type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})
    # Below a function transform the wrappers are off already: the Function of C++, which knows no transforms.
    apply = super(Function, generated).apply  # type: ignore[misc]

    def autograd_impl(keyset: Any, *args: Any, **kwargs: Any) -> Any:
        flat, lengths = _flatten(args)
        call = _Call(keyset, kwargs, lengths, [])
        if not (_C.is_grad_enabled() and _C._any_requires_grad(*args)):
            return call_below(call, args)
        results = apply(*flat, call)
        is_tuple, result_lengths = call.results
        unflat = tuple(_unflatten(results, result_lengths))
        return unflat if is_tuple else unflat[0]

    return autograd_impl
