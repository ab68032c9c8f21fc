"""The checks of gradcheck besides the value: that a formula accepts zero and undefined gradients, and can be batched.

Mirrors: torch/autograd/gradcheck.py (its private functions for further checks)
Leaves out: sparse tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from reftorch import _C, _VF
from reftorch._vmap_internals import _vmap
from reftorch._warnings import warn
from reftorch.autograd import forward_ad
from reftorch.autograd.gradcheck.jacobians import (
    GradcheckError,
    as_tuple,
    checked,
    differentiable,
    float_outputs,
    gradients,
    is_checked,
    make_duals,
)

if TYPE_CHECKING:
    from reftorch import Tensor

Function = Callable[..., Any]

_BATCHED = (
    "gradcheck or gradgradcheck failed while testing batched gradient computation: one pass for a batch of gradients, "
    "by vmap over backward. Hint: an op of the formula may have no batching rule; check_batched_grad=False leaves this "
    "check out."
)
_BATCHED_FORWARD = (
    "gradcheck failed while testing batched gradient computation with forward-mode AD. Hint: "
    "check_batched_forward_grad=False leaves this check out."
)


def _compare_with_batch(one: Function, rows: Sequence[Tensor], index: int, hint: str) -> None:
    """Compare the results of ``one`` for each row with one call for all rows."""
    expected = [_VF.stack(shards) for shards in zip(*(one(row) for row in rows), strict=True)]
    try:
        results = _vmap(one)(_VF.stack(rows))
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{hint}") from error
    for k, (result, wanted) in enumerate(zip(results, expected, strict=True)):
        if not _VF.allclose(result, wanted):
            raise GradcheckError(
                f"For output {index} and input {k}:\n\n{hint}\n\nGot:\n{result}\n\nExpected:\n{wanted}"
            )


def _zeros(like: Tensor) -> Tensor:
    return _VF.zeros((), dtype=like.dtype, device=like.device).expand(like.shape)


def check_batched(outputs: Sequence[Tensor], inputs: Sequence[Any]) -> None:
    """Check that backward of a batch of gradients equals a loop over the batch."""
    wanted = checked(inputs)
    for i, output in enumerate(outputs):

        def vjp(start: Tensor, output: Tensor = output) -> tuple[Tensor, ...]:
            grads = gradients(output, wanted, start)
            return tuple(_zeros(x) if grad is None else grad for grad, x in zip(grads, wanted, strict=True))

        _compare_with_batch(vjp, [_VF.randn_like(output) for _ in range(2)], i, _BATCHED)


def check_batched_forward(func: Function, inputs: Sequence[Any]) -> None:
    """Check that forward mode with a batch of tangents equals a loop over the batch."""
    for k, current in enumerate(inputs):
        if not (is_checked(current) and current.is_floating_point()):
            continue

        def jvp(tangent: Tensor, k: int = k, current: Tensor = current) -> tuple[Tensor, ...]:
            with forward_ad.dual_level():
                plain = [x.detach() if isinstance(x, _C.TensorBase) else x for x in inputs]
                plain[k] = forward_ad.make_dual(current.detach(), tangent)
                halves = [forward_ad.unpack_dual(out) for out in as_tuple(func(*plain)) if out is not None]
                return tuple(_zeros(p) if t is None else t for p, t in halves)

        _compare_with_batch(jvp, [_VF.randn_like(current) for _ in range(2)], k, _BATCHED_FORWARD)


def check_linear(outputs: Sequence[Tensor], inputs: Sequence[Any]) -> None:
    """Check that zero gradients give zeros, of the shapes and dtypes of the inputs."""
    wanted = checked(inputs)
    grads = gradients(outputs, wanted, [_VF.zeros_like(out) for out in outputs], retain_graph=False)
    for grad, input in zip(grads, wanted, strict=True):
        if grad is None:
            continue
        if bool((grad != 0).any()):
            raise GradcheckError("backward not multiplied by grad_output")
        for what in ("dtype", "device", "shape"):
            if getattr(grad, what) != getattr(input, what):
                raise GradcheckError(f"grad is incorrect {'type' if what == 'dtype' else what}")


_UNDEFINED_WARNING = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break "
    "existing callers of this function. If this is true for you, you can call this function with "
    '"check_undefined_grad=False" to disable the feature'
)


def _check_undefined(outputs: Sequence[Tensor], wanted: Sequence[Tensor]) -> None:
    try:
        grads = gradients(outputs, wanted, [_VF.zeros_like(out) for out in outputs], retain_graph=False)
    except RuntimeError as error:
        warn(_UNDEFINED_WARNING)
        raise GradcheckError(
            "Expected backward function to handle undefined output grads: an output that takes no part has None (or, "
            "in an autograd.Function that materializes, zeros) for its gradient."
        ) from error
    if any(grad is not None and bool((grad != 0).any()) for grad in grads):
        warn(_UNDEFINED_WARNING)
        raise GradcheckError(
            "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
        )


def check_undefined_backward(func: Function, inputs: Sequence[Any]) -> None:
    """Check that backward accepts undefined gradients: of all outputs, and of one output at a time."""
    undefined, wanted = _C._functions.UndefinedGrad(), checked(inputs)

    def outputs() -> tuple[Tensor, ...]:
        return differentiable(float_outputs(func(*inputs)))

    recorded = outputs()
    if not recorded:
        return
    _check_undefined([undefined(out) for out in recorded], wanted)
    if len(recorded) > 1:
        for absent in range(len(recorded)):
            _check_undefined([undefined(out) if i == absent else out for i, out in enumerate(outputs())], wanted)


def check_undefined_forward(func: Function, inputs: Sequence[Any], directions: Sequence[Tensor]) -> None:
    """Check that forward mode treats an input without a tangent like an input whose tangent is zero."""
    with forward_ad.dual_level():
        duals, tangents = make_duals(inputs)
        for tangent, direction in zip(tangents, directions, strict=True):
            tangent.copy_(direction.reshape(tangent.shape))
        for k, value in enumerate(inputs):
            if not is_checked(value):
                continue
            found = []
            for stand_in in (forward_ad.make_dual(value.detach(), _VF.zeros_like(value)), value.detach()):
                results = float_outputs(func(*duals[:k], stand_in, *duals[k + 1 :]))
                found.append([forward_ad.unpack_dual(out).tangent for out in results])
            for i, (zero, absent) in enumerate(zip(*found, strict=True)):
                if zero is not None and absent is not None and not _VF.allclose(zero, absent):
                    raise GradcheckError(
                        f"Mismatch in tangent values for output with index: {i} when input: {value} has an undefined "
                        f"tangent value. Got: {absent} but expected: {zero}"
                    )
