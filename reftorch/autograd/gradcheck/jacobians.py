r"""The Jacobians that gradcheck compares: measured, by backward passes, by forward mode; whole, or along one direction.

For inputs :math:`x_k` and outputs :math:`y_i`, ``jacobians[k][i]`` is :math:`\partial y_i / \partial x_k` with a row
for each element of the input and a column for each element of the output. Along directions :math:`u_k` (and
:math:`v_i`) it is the vector :math:`J u_k` (and the number :math:`v_i^\top J u_k`): one step instead of one for each
element.

Mirrors: torch/autograd/gradcheck.py (its private half: Jacobians)
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
    """The gradient is not what was measured.

    Mirrors torch/autograd/gradcheck.py, ``GradcheckError``.
    """


def as_tuple(value: Any) -> tuple[Any, ...]:
    """A tuple or list as a tuple, anything else as a tuple of one."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def is_checked(value: Any) -> bool:
    """Whether a value is an input whose gradient is checked."""
    return isinstance(value, _C.TensorBase) and value.requires_grad


def checked(inputs: Sequence[Any]) -> list[Tensor]:
    """The inputs whose gradients are checked."""
    return [value for value in inputs if is_checked(value)]


def _is_float(value: Any) -> bool:
    return isinstance(value, _C.TensorBase) and value.is_floating_point()


def float_outputs(results: Any) -> tuple[Tensor, ...]:
    """What a function returned, as far as it can have a derivative."""
    return tuple(out for out in as_tuple(results) if _is_float(out))


def differentiable(outputs: Sequence[Any]) -> tuple[Tensor, ...]:
    """The outputs through which backward can go."""
    return tuple(out for out in outputs if is_checked(out))


def gradients(outputs: Any, inputs: Sequence[Tensor], grads: Any, retain_graph: bool = True) -> tuple[Any, ...]:
    """One backward pass; None for an input that the outputs do not depend on."""
    result: tuple[Any, ...] = _C._run_backward(
        as_tuple(outputs), as_tuple(grads), retain_graph, False, tuple(inputs), allow_unreachable=True
    )
    return result


# ---- measured: central differences


def _check_same_kind(low: Tensor, high: Tensor, eps: float, where: str) -> None:
    for kind, of_low, of_high in (("shape", low.shape, high.shape), ("dtype", low.dtype, high.dtype)):
        if of_low != of_high:
            raise AssertionError(
                f"Expected `func` to return outputs with the same {kind} when inputs are perturbed {where}by {eps}, "
                f"but got: {kind}s {of_low} and {of_high}."
            )


def _difference(call: Function, entry: Tensor, step: Any, eps: float, where: str = "") -> list[Tensor]:
    """``(call(entry + step) - call(entry - step)) / 2 eps``, flat, for each output; ``entry`` is moved in place."""
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
    """The Jacobians of all outputs by ``target``, an input (or what the function uses besides its inputs)."""
    data = target.data
    rows = [
        _difference(lambda: func(*inputs), data[index], eps, eps, f"on index {index} ")
        for index in product(*map(range, data.shape))
    ]
    if not rows:
        return [_VF.zeros(0, out.numel(), dtype=out.dtype) for out in float_outputs(func(*inputs))]
    return [_VF.stack(columns) for columns in zip(*rows, strict=True)]


def numeric_direction(func: Function, inputs: Sequence[Any], target: Tensor, u: Tensor, eps: float) -> list[Tensor]:
    """``J u`` for each output: the slope at ``target`` along ``u``."""
    return _difference(lambda: func(*inputs), target.data, u.reshape(target.shape) * eps, eps)


# ---- by backward


def _checked_gradient(grad: Tensor | None, input: Tensor, check_dtype: bool) -> Tensor:
    if grad is None:
        return _VF.zeros(input.numel(), dtype=input.dtype)
    if grad.shape != input.shape:
        raise GradcheckError("Analytical gradient has incorrect size")
    if check_dtype and grad.dtype != input.dtype:
        raise GradcheckError("Gradient has dtype mismatch")
    return grad.reshape(-1).clone()


def backward_rows(output: Tensor, inputs: Sequence[Tensor], starts: Sequence[Tensor], check_dtype: bool) -> list[Any]:
    """For each input a matrix, with a column for each start: the gradient that a pass from there gives."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    for start in starts:
        for column, grad, input in zip(columns, gradients(output, inputs, start), inputs, strict=True):
            column.append(_checked_gradient(grad, input, check_dtype))
    empty = [_VF.zeros(input.numel(), 0, dtype=input.dtype) for input in inputs]
    return [_VF.stack(column, 1) if column else none for column, none in zip(columns, empty, strict=True)]


def unit_vectors(output: Tensor) -> list[Tensor]:
    """A start for each element of the output: 1 there, 0 elsewhere."""
    starts = []
    for i in range(output.numel()):
        start = _VF.zeros(output.numel(), dtype=output.dtype)
        start[i] = 1
        starts.append(start.reshape(output.shape))
    return starts


def is_reentrant(first: Sequence[Tensor], second: Sequence[Tensor], tolerance: float) -> bool:
    """Whether two passes over one graph gave the same."""
    return all(a.numel() == 0 or bool((a - b).abs().max() <= tolerance) for a, b in zip(first, second, strict=True))


def backward_jacobians(
    output: Tensor, inputs: Sequence[Tensor], starts: Sequence[Tensor], nondet_tol: float, check_dtype: bool
) -> list[Tensor]:
    """:func:`backward_rows`, twice: GradcheckError where the second pass gives something else."""
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
    """The inputs, those that are checked as dual numbers, and their tangents: zeros, to be written into."""
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
        zeros = _VF.zeros(primal.numel(), dtype=primal.dtype)
        found.append(zeros if tangent is None else tangent.detach().reshape(-1).clone())
    return found


def forward_jacobians(
    func: Function, inputs: Sequence[Any], check_dtype: bool = False, directions: Sequence[Tensor] | None = None
) -> list[list[Tensor]]:
    """``jacobians[k][i]`` by one forward pass for each element, or, with ``directions``, ``J u`` by one an input."""
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
