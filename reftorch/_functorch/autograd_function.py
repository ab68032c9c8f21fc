"""A custom Function under transforms: at each level, it becomes a Function of that level's tensors.

``forward`` of a Function runs without recording, so a transform outside the innermost one would not see its ops. Under
grad and jvp, the Function is therefore wrapped in a Function of the level, whose ``forward`` calls it one level below.
Under vmap, the Function's own ``vmap`` handles the batch, or vmap runs and differentiates the Function.

Mirrors: torch/_functorch/autograd_function.py
Leaves out: a second implementation for compilers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from reftorch import _C
from reftorch._functorch.vmap import do_functions_run_as_they_are, vmap
from reftorch.autograd.forward_ad import _set_fwd_grad_enabled, unpack_dual
from reftorch.autograd.function import Function, FunctionCtx, FunctionMeta, set_transformed_apply
from reftorch.autograd.grad_mode import set_grad_enabled
from reftorch.utils._pytree import broadcast_to_and_flatten, tree_flatten, tree_map, tree_unflatten

__all__ = ["VmapInfo", "custom_function_call"]

_functorch = _C._functorch


class VmapInfo(NamedTuple):
    """What a Function's ``vmap`` gets to know about the batch.

    Mirrors torch/_functorch/autograd_function.py, ``VmapInfo``.
    """

    batch_size: int
    randomness: str


class _Context(FunctionCtx):
    """A ``ctx`` without a node, for ``jvp`` and for ``backward`` under vmap."""

    to_save: tuple[Any, ...] = ()
    needs_input_grad: tuple[bool, ...] = ()

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for ``jvp``."""
        self.to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that were saved last."""
        return self.to_save


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _C.TensorBase)


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _like(values: Sequence[Any], original: Any) -> Any:
    return tuple(values) if isinstance(original, tuple) else values[0]


def custom_function_call(function: Any, args: tuple[Any, ...]) -> Any:
    """Run ``function.apply(*args)`` under transforms, and on dual numbers.

    Raises:
        RuntimeError: the Function lacks a ``setup_context``, ``vmap`` or ``jvp`` that the transform needs.

    Mirrors torch/_functorch/autograd_function.py, ``CustomFunctionHigherOrderOperator``.
    """
    layer = _functorch._current_layer()
    if layer is None:
        return _with_tangents(function, args)
    level, kind, batch_size, randomness = layer
    if kind == "vmap" and do_functions_run_as_they_are():
        return _with_tangents(function, args)
    if not function._has_setup_context:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, jacrev, ...), it must "
            "override the setup_context staticmethod. Hint: forward then takes no ctx."
        )
    if kind == "vmap":
        return _under_vmap(function, args, level, VmapInfo(batch_size, randomness))
    return _with_tangents(_of_level(function, level), tuple(_lifted(arg, level) for arg in args))


def _plain_apply(function: Any, args: tuple[Any, ...]) -> Any:
    return super(Function, function).apply(*args)


# --- grad and jvp -----------------------------------------------------------------------------------------------------


def _lifted(value: Any, level: int) -> Any:
    found = _functorch._describe(value) if _is_tensor(value) else (level,)
    return value if found is not None and found[0] == level else _functorch._wrap(value)


def _of_level(function: Any, level: int) -> Any:
    """Make a Function of the level's wrappers that calls ``function`` on the wrapped values."""
    record = _C.is_grad_enabled()

    def forward(*operands: Any) -> Any:
        values = tree_map(lambda v: _functorch._unwrap(v, level) if _is_tensor(v) else v, operands)
        wrapper_of = {id(v): o for v, o in zip(values, operands, strict=True) if _is_tensor(v)}

        def below() -> Any:
            with set_grad_enabled(record), _set_fwd_grad_enabled(True):
                return custom_function_call(function, values)

        outputs = _functorch._call_below(below)
        wrapped = [
            wrapper_of.get(id(out)) if id(out) in wrapper_of else _functorch._wrap(out) if _is_tensor(out) else out
            for out in _as_tuple(outputs)
        ]
        return _like(wrapped, outputs)

    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(function.setup_context),
        "backward": staticmethod(function.backward),
        "jvp": staticmethod(function.jvp),
    }
    return FunctionMeta(function.__name__ + "Generated", (Function,), members)


def _with_tangents(function: Any, args: tuple[Any, ...]) -> Any:
    """Run the Function; if some arguments are dual numbers, its ``jvp`` computes the tangents."""
    if not _C._is_forward_ad_active():
        return _plain_apply(function, args)
    tangents = [unpack_dual(arg).tangent if _is_tensor(arg) else None for arg in args]
    if all(tangent is None for tangent in tangents):
        return _plain_apply(function, args)
    versions = [None if t is None or t.is_inference() else t._version for t in tangents]
    with _set_fwd_grad_enabled(False):
        ctx, outputs = super(Function, function)._apply_with_context(*args)
        ctx.to_save = ctx.saved_for_forward or ()  # ctx.saved_tensors returns these until they are deleted
        del ctx.saved_for_forward
        try:
            returned = function.jvp(ctx, *_incoming(ctx, args, tangents))
        finally:
            del ctx.to_save
    given = list(zip(args, tangents, versions, strict=True))
    return _like(_set_tangents(ctx, _as_tuple(outputs), _as_tuple(returned), given), outputs)


def _incoming(ctx: Any, args: tuple[Any, ...], tangents: list[Any]) -> list[Any]:
    """Return the arguments of ``jvp``: a missing tangent is zeros, unless the Function asked for None."""
    return [
        _C._VariableFunctions.zeros_like(arg)
        if tangent is None and ctx.materialize_grads and _is_tensor(arg) and arg.is_floating_point()
        else tangent
        for arg, tangent in zip(args, tangents, strict=True)
    ]


def _set_tangents(ctx: Any, outputs: tuple[Any, ...], returned: tuple[Any, ...], given: list[Any]) -> list[Any]:
    """Return the outputs as dual numbers. Under vmap they are new tensors."""
    if len(returned) != len(outputs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} but got "
            f"{len(returned)})"
        )
    marked = ctx.non_differentiable or ()
    del ctx.non_differentiable
    results = list(outputs)
    for position, (output, tangent) in enumerate(zip(outputs, returned, strict=True)):
        if tangent is None:
            continue
        if not _is_tensor(tangent):
            raise RuntimeError(f"expected Variable or None (got {type(tangent).__name__}) for grad output {position}.")
        if not _is_tensor(output) or not output.is_floating_point() or any(output is other for other in marked):
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {position}, but  the corresponding forward output is "
                "not a differentiable Tensor.You should return None at that position instead."
            )
        _check_aliasing(output, tangent, given)
        if not (_functorch.is_batched(output) or _functorch.is_batched(tangent)):
            _C._set_fw_grad(output, tangent)
        elif all(output is not arg for arg, _, _ in given):
            results[position] = _C._make_dual(output, tangent)
    return results


def _base(tensor: Any) -> Any:
    return tensor._base if tensor._is_view() else tensor


def _check_aliasing(output: Any, tangent: Any, given: list[Any]) -> None:
    """Check that an output that aliases an argument has a tangent that aliases that argument's tangent.

    Args:
        output: an output of ``forward``.
        tangent: the tangent of ``output`` that ``jvp`` returned.
        given: for each argument, the argument, its tangent and the version of that tangent before ``jvp``.
    """
    for arg, former, version in given:
        if former is None:
            continue
        if output is arg:
            if tangent is not former or former._version == version:
                raise RuntimeError(
                    "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
                    "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
                )
        elif output._is_view() and _base(output) is _base(arg):
            if not tangent._is_view():
                raise RuntimeError(
                    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning "
                    "a view."
                )
            if tangent._base is not _base(former):
                same = "the same base as the given grad input" if former._is_view() else "the given grad input"
                raise RuntimeError(
                    f"A custom Function is returning a view but the jvp is not returning a view of {same}."
                )


def _overridden(function: Any, name: str) -> bool:
    return getattr(function, name).__code__ is not getattr(Function, name).__code__


# --- vmap -------------------------------------------------------------------------------------------------------------


def _under_vmap(function: Any, args: tuple[Any, ...], level: int, info: VmapInfo) -> Any:
    flat_args, args_spec = tree_flatten(args)
    found: list[Any] = [_functorch._describe(arg) if _is_tensor(arg) else None for arg in flat_args]
    batched = [f is not None and f[0] == level for f in found]
    inside = [f[2] if b else arg for f, b, arg in zip(found, batched, flat_args, strict=True)]
    values = tree_unflatten(inside, args_spec)
    dims = tree_unflatten([f[1] if b else None for f, b in zip(found, batched, strict=True)], args_spec)
    if not any(batched):
        return _functorch._call_below(lambda: custom_function_call(function, values))
    has_rule = _overridden(function, "vmap")
    if function.generate_vmap_rule and has_rule:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an overridden "
            "vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to "
            "avoid ambiguity."
        )
    if function.generate_vmap_rule:
        outputs = _functorch._call_below(lambda: custom_function_call(_of_batch(function, dims, info), values))
        out_dims: Any = 0
    elif has_rule:
        outputs, out_dims = _two_returns(_functorch._call_below(lambda: function.vmap(info, dims, *values)))
    else:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. Please override and "
            "implement the vmap staticmethod or set generate_vmap_rule=True."
        )
    flat, spec = tree_flatten(outputs)
    flat_dims = broadcast_to_and_flatten(out_dims, spec)
    if flat_dims is None:
        raise RuntimeError(
            f"The vmap staticmethod of {function.__name__} returned an incompatible (output, out_dims) tuple. Expected "
            f"out_dims={out_dims} to be compatible with the structure of `output`. out_dims has structure "
            f"{tree_flatten(out_dims)[1]} but output has structure {spec}."
        )
    wrapper_of = {id(v): arg for v, arg in zip(inside, flat_args, strict=True) if _is_tensor(v)}

    def wrapped(out: Any, dim: int | None) -> Any:
        if not _is_tensor(out) or dim is None:
            return out
        return wrapper_of[id(out)] if id(out) in wrapper_of else _functorch._add_batch_dim(out, dim)

    return tree_unflatten([wrapped(out, dim) for out, dim in zip(flat, flat_dims, strict=True)], spec)


def _two_returns(result: Any) -> tuple[Any, Any]:
    expected = (
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible "
        "with the output. "
    )
    if not isinstance(result, tuple):
        raise RuntimeError(f"{expected}Got a {type(result)} instead")
    if len(result) != 2:
        raise RuntimeError(f"{expected}Got {len(result)} returns instead")
    return result


def _of_batch(function: Any, dims: tuple[int | None, ...], info: VmapInfo) -> Any:
    """Make a Function of whole batches: vmap runs its ``forward``, and its ``backward`` with a ``ctx`` per example."""

    def forward(*values: Any) -> Any:
        return vmap(function.forward, dims, randomness=info.randomness)(*values)

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        everything = (*inputs, *_as_tuple(output))
        ctx.count, ctx.is_tuple = len(inputs), isinstance(output, tuple)
        ctx.others = [None if _is_tensor(v) else v for v in everything]
        ctx.save_for_backward(*(v if _is_tensor(v) else None for v in everything))

    def by_example(run: Callable[..., Any], ctx: Any, saved: Sequence[Any], incoming: Sequence[Any]) -> Any:
        everything = [o if s is None else s for s, o in zip(saved, ctx.others, strict=True)]
        out_count = len(everything) - ctx.count

        def one(*values: Any) -> Any:
            context = _Context()
            context.needs_input_grad = tuple(ctx.needs_input_grad)
            outputs = values[ctx.count : ctx.count + out_count]
            function.setup_context(context, values[: ctx.count], outputs if ctx.is_tuple else outputs[0])
            return _as_tuple(run(context, *values[ctx.count + out_count :]))

        in_dims = (*dims, *[0 if _is_tensor(v) else None for v in everything[ctx.count :]],
                   *[None if g is None else 0 for g in incoming])  # fmt: skip
        return _keeping_nones(one, in_dims, info.randomness, (*everything, *incoming))

    def backward(ctx: Any, *grads: Any) -> Any:
        results = by_example(function.backward, ctx, ctx.saved_tensors, grads)
        return tuple(
            g if g is None else g.sum(0) if dim is None else g.movedim(0, dim)
            for g, dim in zip(results, dims, strict=True)
        )

    members = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(setup_context),
        "backward": staticmethod(backward),
    }
    return FunctionMeta(function.__name__, (Function,), members)


def _keeping_nones(function: Callable[..., Any], in_dims: Any, randomness: str, values: tuple[Any, ...]) -> list[Any]:
    """Run vmap over a function that returns a tuple of tensors and Nones."""
    is_there: list[bool] = []

    def without_nones(*args: Any) -> Any:
        results = function(*args)
        is_there[:] = [r is not None for r in results]
        return tuple(r for r in results if r is not None)

    found = iter(vmap(without_nones, in_dims, randomness=randomness)(*values))
    return [next(found) if there else None for there in is_there]


set_transformed_apply(custom_function_call)
