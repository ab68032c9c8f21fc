"""The Autograd kernel of a custom op, which is an ``autograd.Function`` around the kernels of the lower rows.

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
    """An object that has the formula when the op is called."""

    _backward_fn: Callable[..., Any] | None
    _setup_context_fn: Callable[..., Any] | None


class _Call(NamedTuple):
    """The parts of a call other than its positional arguments."""

    keyset: Any
    kwargs: dict[str, Any]
    # for each positional argument: its length if it is a list of tensors, otherwise None
    lengths: list[int | None]
    # set by forward for the caller: whether the op returned a tuple, and the lengths of the results
    results: list[Any]


def _is_tensor_list(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, Tensor) for item in value)


def _flatten(values: Sequence[Any]) -> tuple[list[Any], list[int | None]]:
    """Flatten the lists of tensors, because a Function finds only the tensors that are arguments themselves."""
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
        return grads  # the engine reports the wrong number of gradients
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

    The kernel calls the lower rows with Autograd excluded. If a gradient is required, the call is the forward of a
    Function whose backward is the registered formula. The version of the tensors that the op writes to is increased.
    Args:
        op: the op.
        info: has the attributes ``_backward_fn``, the formula, and ``_setup_context_fn``, which may be set later.

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
    # Function transforms have unwrapped the tensors before this kernel is called, so the base class's apply is used,
    # which does not handle transforms.
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
