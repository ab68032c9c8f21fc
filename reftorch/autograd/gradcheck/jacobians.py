r"""The Jacobians that gradcheck compares: by central differences, backward or forward mode; full, or along a direction.

For inputs :math:`x_k` and outputs :math:`y_i`, ``jacobians[k][i]`` is :math:`\partial y_i / \partial x_k` with a row
for each element of the input and a column for each element of the output. Along a direction :math:`u_k`, the Jacobian
gives the vector :math:`J u_k`, and with a direction :math:`v_i` the number :math:`v_i^\top J u_k`: one step instead of
one step for each element.

Mirrors: torch/autograd/gradcheck.py (its private functions for Jacobians)
Leaves out: complex and sparse tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from reftorch import _C, _VF
from reftorch.autograd import forward_ad

if TYPE_CHECKING:
    from reftorch import Tensor

Function = Callable[..., Any]


class GradcheckError(RuntimeError):
    """The error for a gradient that fails a check.

    Mirrors torch/autograd/gradcheck.py, ``GradcheckError``.
    """


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return a tuple or list as a tuple, and any other value as a tuple of one."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def is_checked(value: Any) -> bool:
    """Return whether a value is an input whose gradient is checked."""
    return isinstance(value, _C.TensorBase) and value.requires_grad


def checked(inputs: Sequence[Any]) -> list[Tensor]:
    """Return the inputs whose gradients are checked."""
    return [value for value in inputs if is_checked(value)]


def _is_float(value: Any) -> bool:
    return isinstance(value, _C.TensorBase) and value.is_floating_point()


def float_outputs(results: Any) -> tuple[Tensor, ...]:
    """Return the results of a function that can have a derivative."""
    return tuple(out for out in as_tuple(results) if _is_float(out))


def differentiable(outputs: Sequence[Any]) -> tuple[Tensor, ...]:
    """Return the outputs that require a gradient."""
    return tuple(out for out in outputs if is_checked(out))


def gradients(outputs: Any, inputs: Sequence[Tensor], grads: Any, retain_graph: bool = True) -> tuple[Any, ...]:
    """Run one backward pass. An input on which the outputs do not depend has None."""
    result: tuple[Any, ...] = _C._run_backward(
        as_tuple(outputs), as_tuple(grads), retain_graph, False, tuple(inputs), allow_unreachable=True
    )
    return result


# ---- by central differences


def _check_same_kind(low: Tensor, high: Tensor, eps: float, where: str) -> None:
    for kind, of_low, of_high in (("shape", low.shape, high.shape), ("dtype", low.dtype, high.dtype)):
        if of_low != of_high:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {kind} when inputs are perturbed {where}by {eps}, "
                f"but got: {kind}s {of_low} and {of_high}."
            )


def _difference(call: Function, entry: Tensor, step: Any, eps: float, where: str = "") -> list[Tensor]:
    """Return ``(call(entry + step) - call(entry - step)) / 2 eps`` for each output, flat. Moves ``entry`` in place."""
    original = entry.clone()
    values = []
    try:
        for moved in (original - step, original + step):
            entry.copy_(moved)
            values.append([out.detach().clone() for out in float_outputs(call())])
    finally:
        entry.copy_(original)
    if len(values[0]) == len(values[1]):
        for low, high in zip(*values, strict=True):
            _check_same_kind(low, high, eps, where)
    return [((high - low) / (2 * eps)).reshape(-1) for low, high in zip(*values, strict=True)]


def numeric_jacobian(func: Function, inputs: Sequence[Any], target: Tensor, eps: float) -> list[Tensor]:
    """Return the Jacobians of all outputs by ``target``: an input, or another tensor that the function uses."""
    data = target.data
    rows = [
        _difference(lambda: func(*inputs), data[index], eps, eps, f"on index {index} ")
        for index in product(*map(range, data.shape))
    ]
    if not rows:
        return [_VF.zeros(0, out.numel(), dtype=out.dtype, device=out.device) for out in float_outputs(func(*inputs))]
    return [_VF.stack(columns) for columns in zip(*rows, strict=True)]


def numeric_direction(func: Function, inputs: Sequence[Any], target: Tensor, u: Tensor, eps: float) -> list[Tensor]:
    """Return ``J u`` for each output: the slope at ``target`` along ``u``."""
    return _difference(lambda: func(*inputs), target.data, u.reshape(target.shape) * eps, eps)


# ---- by backward


def _checked_gradient(grad: Tensor | None, input: Tensor, check_dtype: bool) -> Tensor:
    if grad is None:
        return _VF.zeros(input.numel(), dtype=input.dtype, device=input.device)
    if grad.shape != input.shape:
        raise GradcheckError("Analytical gradient has incorrect size")
    if check_dtype and grad.dtype != input.dtype:
        raise GradcheckError("Gradient has dtype mismatch")
    return grad.reshape(-1).clone()


def backward_rows(output: Tensor, inputs: Sequence[Tensor], starts: Sequence[Tensor], check_dtype: bool) -> list[Any]:
    """Return for each input a matrix with a column for each start: the gradient from a pass with that start."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    for start in starts:
        for column, grad, input in zip(columns, gradients(output, inputs, start), inputs, strict=True):
            column.append(_checked_gradient(grad, input, check_dtype))
    empty = [_VF.zeros(input.numel(), 0, dtype=input.dtype, device=input.device) for input in inputs]
    return [_VF.stack(column, 1) if column else none for column, none in zip(columns, empty, strict=True)]


def unit_vectors(output: Tensor) -> list[Tensor]:
    """Yield a start for each element of the output: 1 at the element, 0 elsewhere."""
    starts = []
    for i in range(output.numel()):
        start = _VF.zeros(output.numel(), dtype=output.dtype, device=output.device)
        start[i] = 1
        starts.append(start.reshape(output.shape))
    return starts


def is_reentrant(first: Sequence[Tensor], second: Sequence[Tensor], tolerance: float) -> bool:
    """Return whether two passes over one graph gave equal results."""
    return all(a.numel() == 0 or bool((a - b).abs().max() <= tolerance) for a, b in zip(first, second, strict=True))


def backward_jacobians(
    output: Tensor, inputs: Sequence[Tensor], starts: Sequence[Tensor], nondet_tol: float, check_dtype: bool
) -> list[Tensor]:
    """Call :func:`backward_rows` twice, and raise GradcheckError if the results differ."""
    first, second = (backward_rows(output, inputs, starts, check_dtype) for _ in range(2))
    if not is_reentrant(first, second, nondet_tol):
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives "
            f"different values, although analytical gradient matches numerical gradient. The tolerance for "
            f"nondeterminism was {nondet_tol}. Hint: where the op is not deterministic, pass nondet_tol."
        )
    return first


# ---- by forward mode


def make_duals(inputs: Sequence[Any]) -> tuple[list[Any], list[Tensor]]:
    """Return the inputs, the checked ones as dual numbers, and their tangents: zeros, which the caller overwrites."""
    duals, tangents = list(inputs), []
    for k, value in enumerate(inputs):
        if is_checked(value):
            duals[k] = forward_ad.make_dual(value.detach(), _VF.zeros_like(value))
            tangents.append(forward_ad.unpack_dual(duals[k]).tangent)
    return duals, tangents


def _tangents_of(func: Function, duals: Sequence[Any], check_dtype: bool) -> list[Tensor]:
    found = []
    for out in float_outputs(func(*duals)):
        primal, tangent = forward_ad.unpack_dual(out)
        if check_dtype and tangent is not None and tangent.dtype != primal.dtype:
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        zeros = _VF.zeros(primal.numel(), dtype=primal.dtype, device=primal.device)
        found.append(zeros if tangent is None else tangent.detach().reshape(-1).clone())
    return found


def forward_jacobians(
    func: Function, inputs: Sequence[Any], check_dtype: bool = False, directions: Sequence[Tensor] | None = None
) -> list[list[Tensor]]:
    """Return ``jacobians[k][i]`` by one forward pass for each element, or ``J u`` by one for each input's direction."""
    jacobians: list[list[Tensor]] = []
    with forward_ad.dual_level():
        duals, tangents = make_duals(inputs)
        for k, tangent in enumerate(tangents):
            if directions is not None:
                tangent.copy_(directions[k].reshape(tangent.shape))
                jacobians.append(_tangents_of(func, duals, check_dtype))
                tangent.zero_()
                continue
            rows = []
            for index in product(*map(range, tangent.shape)):
                tangent[index] = 1
                rows.append(_tangents_of(func, duals, check_dtype))
                tangent[index] = 0
            if not rows:
                rows = [[_VF.zeros(0) for _ in _tangents_of(func, duals, check_dtype)]]
            jacobians.append([_VF.stack(columns) for columns in zip(*rows, strict=True)])
    return jacobians
