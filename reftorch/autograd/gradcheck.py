r"""Comparing a gradient with the slope that one can measure.

The numeric Jacobian of :math:`f` at :math:`x` has the columns
:math:`\bigl(f(x + \epsilon e_j) - f(x - \epsilon e_j)\bigr) / 2\epsilon`; the analytic one has the rows
:math:`e_i^\top \partial f / \partial x`, each from one backward pass.

Mirrors: torch/autograd/gradcheck.py
Leaves out: fast mode, batched gradients, complex and sparse tensors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from reftorch import _C, _VF
from reftorch.autograd import forward_ad

if TYPE_CHECKING:
    from reftorch import Tensor

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """The gradient is not what was measured.

    Mirrors torch/autograd/gradcheck.py, ``GradcheckError``.
    """


def _is_differentiable(value: Any) -> bool:
    return isinstance(value, _C.TensorBase) and value.is_floating_point() and value.requires_grad


def _outputs_of(func: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    outputs = func(*inputs)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    return [out for out in outputs if isinstance(out, _C.TensorBase) and out.is_floating_point()]


def _detached(outputs: list[Tensor]) -> list[Tensor]:
    return [out.detach().clone() for out in outputs]


def _run_backward(
    output: Tensor, inputs: list[Tensor], grad: Tensor, create_graph: bool = False
) -> tuple[Tensor | None, ...]:
    return _C._run_backward(
        (output,), (grad,), True, create_graph, tuple(inputs), allow_unreachable=True, accumulate_grad=False
    )


def _numeric_jacobians(func: Callable[..., Any], inputs: Sequence[Any], which: int, eps: float) -> list[list[Tensor]]:
    """For input ``which``, the columns of the Jacobian of each output: jacobians[output][element of the input]."""
    jacobians: list[list[Tensor]] = []
    data = inputs[which].detach()
    for j in range(data.numel()):
        values = []
        for step in (eps, -eps):
            flat = data.reshape(-1).clone()
            flat[j] += step
            moved = _VF.empty_strided(data.shape, data.stride(), dtype=data.dtype)  # a function may depend on strides
            moved.copy_(flat.view(data.shape))
            arguments = [*inputs[:which], moved.requires_grad_(), *inputs[which + 1 :]]
            values.append(_detached(_outputs_of(func, arguments)))
        columns = [((plus - minus) / (2 * eps)).reshape(-1) for plus, minus in zip(*values, strict=True)]
        for i, column in enumerate(columns):
            if j == 0:
                jacobians.append([])
            jacobians[i].append(column)
    return jacobians


def _analytic_rows(output: Tensor, inputs: list[Tensor]) -> list[list[Tensor]]:
    """rows[input][element of the output]: the gradient of that element, flat."""
    rows: list[list[Tensor]] = [[] for _ in inputs]
    for i in range(output.numel()):
        one_hot = _VF.zeros(output.numel(), dtype=output.dtype)
        one_hot[i] = 1
        grads = _run_backward(output, inputs, one_hot.reshape(output.shape))
        for k, (grad, input) in enumerate(zip(grads, inputs, strict=True)):
            if grad is None:
                grad = _VF.zeros(input.shape, dtype=input.dtype)
            if tuple(grad.shape) != tuple(input.shape) or grad.dtype != input.dtype:
                raise GradcheckError(
                    f"gradient for input {k} has shape {tuple(grad.shape)} and dtype {grad.dtype}, but the input has "
                    f"shape {tuple(input.shape)} and dtype {input.dtype}"
                )
            rows[k].append(grad.reshape(-1))
    return rows


def _forward_jacobians(func: Callable[..., Any], inputs: Sequence[Any], which: int) -> list[list[Tensor]]:
    """As :func:`_numeric_jacobians`, by forward mode: a pass for each column."""
    data = inputs[which].detach()
    jacobians: list[list[Tensor]] = []
    for j in range(data.numel()):
        one_hot = _VF.zeros(data.numel(), dtype=data.dtype)
        one_hot[j] = 1
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(data, one_hot.reshape(data.shape))
            outputs = _outputs_of(func, [*inputs[:which], dual, *inputs[which + 1 :]])
            halves = [forward_ad.unpack_dual(output) for output in outputs]
        columns = [_VF.zeros_like(h.primal) if h.tangent is None else h.tangent for h in halves]
        for i, column in enumerate(columns):
            if j == 0:
                jacobians.append([])
            jacobians[i].append(column.detach().reshape(-1))
    return jacobians


def _table(rows: list[list[float]]) -> str:
    return "\n".join("  [" + ", ".join(f"{value: .6g}" for value in row) + "]" for row in rows)


def _rows(columns: list[Tensor]) -> list[list[float]]:
    """A Jacobian given by its columns, one for each input element, as rows of numbers, one for each output element."""
    return [list(row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def _compare(numeric: list[list[float]], analytic: list[list[float]], atol: float, rtol: float, where: str) -> None:
    """Both are rows by output element, columns by input element."""
    worst, place = 0.0, None
    for i, (numeric_row, analytic_row) in enumerate(zip(numeric, analytic, strict=True)):
        for j, (n, a) in enumerate(zip(numeric_row, analytic_row, strict=True)):
            excess = abs(a - n) - (atol + rtol * abs(n))
            if not excess <= 0 and (place is None or excess > worst):  # also true of nan
                worst, place = excess, (i, j)
    if place is None:
        return
    i, j = place
    raise GradcheckError(
        f"Jacobian mismatch for {where}: the numeric value is {numeric[i][j]:.6g}, the analytic "
        f"{analytic[i][j]:.6g}, for the derivative of output element {i} by input element {j} (atol={atol}, "
        f"rtol={rtol}).\nnumerical:\n{_table(numeric)}\nanalytical:\n{_table(analytic)}"
    )


def _check_inputs(inputs: Sequence[Any]) -> list[int]:
    which = [k for k, value in enumerate(inputs) if _is_differentiable(value)]
    if not which:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the them have "
            "requires_grad=True."
        )
    for k in which:
        if inputs[k].dtype != _C.float64:
            warnings.warn(
                f"Input #{k} requires gradient and is not a double precision floating point. This check will likely "
                "fail: a difference quotient of single precision numbers has few right digits.",
                stacklevel=3,
            )
        if any(stride == 0 and size > 1 for size, stride in zip(inputs[k].shape, inputs[k].stride(), strict=True)):
            raise RuntimeError(
                f"The {k}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    return which


def _check_undefined_grads(func: Callable[..., Any], inputs: Sequence[Any], tensors: list[Tensor]) -> None:
    """A formula must bear that one of the outputs takes no part."""
    outputs = [out for out in _outputs_of(func, inputs) if out.requires_grad]
    if len(outputs) < 2:
        return
    for skipped in range(len(outputs)):
        others = tuple(out for i, out in enumerate(outputs) if i != skipped)
        zeros = tuple(_VF.zeros_like(out) for out in others)
        grads = _C._run_backward(
            others, zeros, True, False, tuple(tensors), allow_unreachable=True, accumulate_grad=False
        )
        for k, grad in enumerate(grads):
            if grad is not None and bool((grad != 0).any()):
                raise GradcheckError(
                    f"input {k} has a gradient although all gradients of the outputs are zero or undefined"
                )


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_forward_ad: bool = False,
) -> bool:
    """Check the gradients of ``func`` at ``inputs`` against central differences.

    Args:
        func: takes the inputs; returns a tensor or several.
        inputs: what it is called with. The floating-point tensors that require a gradient are checked; they should be
            float64.
        eps: half the step of the difference quotient.
        atol: allowed absolute difference.
        rtol: allowed relative difference.
        raise_exception: raise where the check fails; otherwise return False.
        nondet_tol: allowed difference between two backward passes.
        check_undefined_grad: also check that outputs without a gradient are borne.
        check_forward_ad: also check the Jacobian that forward mode computes.

    Returns:
        Whether all gradients are right.

    Raises:
        GradcheckError: a gradient is wrong; the message has both Jacobians.
        ValueError: no input requires a gradient.

    Example:
        >>> import reftorch as torch
        >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(lambda x: x * x, (x,))
        True

    Mirrors torch/autograd/gradcheck.py, ``gradcheck``.
    """
    inputs = (inputs,) if isinstance(inputs, _C.TensorBase) else tuple(inputs)
    try:
        return _gradcheck(func, inputs, eps, atol, rtol, nondet_tol, check_undefined_grad, check_forward_ad)
    except GradcheckError:
        if raise_exception:
            raise
        return False


def _gradcheck(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    check_undefined_grad: bool,
    check_forward_ad: bool,
) -> bool:
    which = _check_inputs(inputs)
    tensors = [inputs[k] for k in which]
    outputs = _outputs_of(func, inputs)
    numeric = {k: _numeric_jacobians(func, inputs, k, eps) for k in which}
    if check_forward_ad:
        _check_forward(func, inputs, numeric, atol, rtol)
    for i, output in enumerate(outputs):
        rows = _analytic_rows(output, tensors) if output.requires_grad else None
        if rows is not None and rows != [] and nondet_tol >= 0:
            _check_deterministic(rows, _analytic_rows(output, tensors), nondet_tol)
        for position, k in enumerate(which):
            if inputs[k].numel() == 0 or output.numel() == 0:
                continue
            measured = _rows(numeric[k][i])
            if rows is None:
                if any(value != 0 for row in measured for value in row):
                    raise GradcheckError(
                        f"Numerical gradient for function expected to be zero: output {i} does not require grad"
                    )
                continue
            computed = [row.tolist() for row in rows[position]]
            _compare(measured, computed, atol, rtol, f"output {i} with respect to input {k}")
    if check_undefined_grad:
        _check_undefined_grads(func, inputs, tensors)
    return True


def _check_forward(
    func: Callable[..., Any], inputs: tuple[Any, ...], numeric: dict[int, list[list[Tensor]]], atol: float, rtol: float
) -> None:
    for k, jacobians in numeric.items():
        for i, (measured, computed) in enumerate(zip(jacobians, _forward_jacobians(func, inputs, k), strict=True)):
            where = f"output {i} with respect to input {k}, by forward mode"
            _compare(_rows(measured), _rows(computed), atol, rtol, where)


def _check_deterministic(first: list[list[Tensor]], second: list[list[Tensor]], tolerance: float) -> None:
    for k, (rows, again) in enumerate(zip(first, second, strict=True)):
        for row, row_again in zip(rows, again, strict=True):
            if any(abs(a - b) > tolerance for a, b in zip(row.tolist(), row_again.tolist(), strict=True)):
                raise GradcheckError(
                    f"Backward is not reentrant: running it twice gave different gradients for input {k}. The "
                    f"tolerance for nondeterminism was {tolerance}."
                )


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
) -> bool:
    """Check the second derivatives of ``func``: the gradients of its gradients, by inputs and incoming gradients.

    Args:
        func: as for :func:`gradcheck`.
        inputs: as for :func:`gradcheck`.
        grad_outputs: the incoming gradients; random where not given.
        eps: half the step of the difference quotient.
        atol: allowed absolute difference.
        rtol: allowed relative difference.
        raise_exception: raise where the check fails; otherwise return False.
        nondet_tol: allowed difference between two backward passes.

    Returns:
        Whether all second derivatives are right.

    Raises:
        GradcheckError: one is wrong.
        ValueError: no input requires a gradient.

    Example:
        >>> import reftorch as torch
        >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradgradcheck(lambda x: x * x * x, (x,))
        True

    Mirrors torch/autograd/gradcheck.py, ``gradgradcheck``.
    """
    inputs = (inputs,) if isinstance(inputs, _C.TensorBase) else tuple(inputs)
    outputs = [out for out in _outputs_of(func, inputs) if out.requires_grad]
    if grad_outputs is None:
        grads = [_VF.randn(out.shape, dtype=out.dtype).requires_grad_() for out in outputs]
    else:
        grads = [grad_outputs] if isinstance(grad_outputs, _C.TensorBase) else list(grad_outputs)
    count = len(inputs)

    def first_gradients(*arguments: Any) -> tuple[Tensor, ...]:
        args, incoming = arguments[:count], arguments[count:]
        wanted = [arg for arg in args if _is_differentiable(arg)]
        recorded = [out for out in _outputs_of(func, args) if out.requires_grad]
        result = _C._run_backward(
            tuple(recorded), tuple(incoming), True, True, tuple(wanted), allow_unreachable=True, accumulate_grad=False
        )
        return tuple(grad for grad in result if grad is not None)

    return gradcheck(
        first_gradients,
        (*inputs, *grads),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=False,
    )
