r"""Gradient checks: compare a gradient with central differences.

The numeric Jacobian of :math:`f` at :math:`x` has the columns
:math:`\bigl(f(x + \epsilon e_j) - f(x - \epsilon e_j)\bigr) / 2\epsilon`; the analytic one has the rows
:math:`e_i^\top \partial f / \partial x`, each from one backward pass. Fast mode draws one direction :math:`u` of the
inputs and one direction :math:`v` of each output, and compares the number :math:`v^\top J u`, which takes two calls and
one pass.

Mirrors: torch/autograd/gradcheck.py
Leaves out: complex and sparse tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from reftorch import _C, _VF, _places
from reftorch._warnings import warn
from reftorch.autograd.gradcheck import contracts
from reftorch.autograd.gradcheck.jacobians import (
    Function,
    GradcheckError,
    as_tuple,
    backward_jacobians,
    backward_rows,
    checked,
    differentiable,
    float_outputs,
    forward_jacobians,
    gradients,
    is_checked,
    is_reentrant,
    numeric_direction,
    numeric_jacobian,
    unit_vectors,
)

if TYPE_CHECKING:
    from reftorch import Tensor

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]


class _Settings(NamedTuple):
    """The step and the tolerances of a check."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool


def _check_inputs(inputs: Sequence[Any]) -> None:
    for k, value in enumerate(inputs):
        if not is_checked(value):
            continue
        if value.dtype != _C.float64:
            warn(
                f"Input #{k} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail: a difference quotient of single precision numbers has few right digits.",
            )
        if any(stride == 0 and size > 1 for size, stride in zip(value.shape, value.stride(), strict=True)):
            raise RuntimeError(
                f"The {k}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not checked(inputs):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )


def _all_close(analytic: Tensor, numeric: Tensor, rtol: float, atol: float) -> bool:
    dtype = _C.promote_types(analytic.dtype, numeric.dtype)
    return bool(_VF.allclose(analytic.to(dtype), numeric.to(dtype), rtol, atol))


def _worst(analytic: Tensor, numeric: Tensor) -> str:
    """Return a text about the entry of a Jacobian with the largest error; empty for a single number."""
    if numeric.dim() != 2:
        return ""
    position = int((analytic - numeric).abs().argmax())
    j, i = divmod(position, numeric.shape[1])
    return (
        f"the numeric value is {float(numeric[j, i]):.6g}, the analytic {float(analytic[j, i]):.6g}, for the "
        f"derivative of output element {i} by input element {j}.\n"
    )


def _mismatch(analytic: Tensor, numeric: Tensor, i: int, k: int, forward: bool) -> str:
    mode = "computed with forward mode " if forward else ""
    return (
        f"Jacobian {mode}mismatch for output {i} with respect to input {k},\n{_worst(analytic, numeric)}"
        f"numerical:{numeric}\nanalytical:{analytic}\n"
    )


def _expect_zero(slopes: Sequence[Tensor], tolerance: float) -> None:
    if any(slope.numel() != 0 and not bool((slope.abs() <= tolerance).all()) for slope in slopes):
        raise GradcheckError("Numerical gradient for function expected to be zero")


# ---- whole Jacobians


def _slow_gradcheck(func: Function, inputs: Sequence[Any], use: _Settings, forward: bool) -> None:
    results = float_outputs(func(*inputs))
    wanted = checked(inputs)
    numeric = [numeric_jacobian(func, inputs, x, use.eps) for x in wanted]
    if not differentiable(results):
        for jacobians in numeric:
            _expect_zero(jacobians, 0.0)
        return
    by_forward = forward_jacobians(func, inputs, use.check_grad_dtypes) if forward else []
    recorded = [index for index, out in enumerate(results) if out.requires_grad]
    for i, index in enumerate(recorded):
        if forward:
            analytic = [jacobians[index] for jacobians in by_forward]
        else:
            starts = unit_vectors(results[index])
            analytic = backward_jacobians(results[index], wanted, starts, use.nondet_tol, use.check_grad_dtypes)
        for k, jacobian in enumerate(analytic):
            if not _all_close(jacobian, numeric[k][index], use.rtol, use.atol):
                raise GradcheckError(_mismatch(jacobian, numeric[k][index], i, k, forward))


# ---- one direction


def _direction(tensor: Tensor, generator: Any) -> Tensor:
    """Return a unit vector of the tensor's size without negative entries, so that errors do not cancel each other."""
    vector = _VF.rand(tensor.numel(), generator=generator, dtype=_C.float32, device="cpu").to(tensor.dtype)
    return vector / vector.norm() if tensor.numel() != 0 else vector


def _directions(tensors: Sequence[Tensor], generator: Any) -> list[Tensor]:
    return [_direction(tensor, generator) for tensor in tensors]


def _slow_comparison(func: Function, inputs: Sequence[Any], index: int, k: int, use: _Settings, forward: bool) -> str:
    """Return both full Jacobians for a message, because a mismatch along a direction does not show the wrong entry."""
    results = float_outputs(func(*inputs))
    numeric = numeric_jacobian(func, inputs, checked(inputs)[k], use.eps)[index]
    if forward:
        analytic = forward_jacobians(func, inputs)[k][index]
    else:
        analytic = backward_rows(results[index], checked(inputs), unit_vectors(results[index]), check_dtype=False)[k]
    text = (
        "\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode. Below, we "
        f"recompute numerical and analytical jacobians in slow mode:\n\nNumerical:\n {numeric}\nAnalytical:\n{analytic}"
        f"\n\nThe max per-element difference (slow mode) is: {(numeric - analytic).abs().max()}.\n"
    )
    if _all_close(analytic, numeric, use.rtol, use.atol):
        text += (
            "Fast gradcheck failed but element-wise differences are small. This means that the test might've passed "
            "in slow_mode! Hint: fast_mode=False."
        )
    return text


def _fast_gradcheck(func: Function, inputs: Sequence[Any], use: _Settings, forward: bool) -> None:
    results, wanted = float_outputs(func(*inputs)), checked(inputs)
    recorded = [index for index, out in enumerate(results) if out.requires_grad]
    generator = _C.Generator()  # a new generator, so that the caller's random numbers do not change
    all_u = _directions(wanted, generator)
    measured = [numeric_direction(func, inputs, x, u, use.eps) for x, u in zip(wanted, all_u, strict=True)]
    if not recorded:
        for slopes in measured:
            _expect_zero(slopes, use.nondet_tol)
        return
    by_forward = forward_jacobians(func, inputs, use.check_grad_dtypes, all_u) if forward else []
    for i, index in enumerate(recorded):
        if forward:  # J u is compared element by element
            weight = 1.0
            numeric = [slopes[index] for slopes in measured]
            analytic = [slopes[index] for slopes in by_forward]
        else:
            v = _direction(results[index], generator)
            start = v.reshape(results[index].shape)
            weight = float(v.sum())
            numeric = [(v * slopes[index]).sum() for slopes in measured]
            rows = backward_jacobians(results[index], wanted, [start], use.nondet_tol, use.check_grad_dtypes)
            analytic = [row[:, 0].dot(u) for row, u in zip(rows, all_u, strict=True)]
        for k, (a, n) in enumerate(zip(analytic, numeric, strict=True)):
            # An error of atol in each entry of J adds up to atol * sum(u) * sum(v).
            if not _all_close(a, n, use.rtol, use.atol * float(all_u[k].sum()) * weight):
                slow = _slow_comparison(func, inputs, index, k, use, forward)
                raise GradcheckError(_mismatch(a, n, i, k, forward) + slow)


# ---- public functions


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
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the gradients of ``func`` at ``inputs`` against central differences.

    Args:
        func: a function that takes the inputs and returns a tensor or several tensors.
        inputs: the arguments of ``func``. The floating-point tensors that require a gradient are checked; they should
            be float64.
        eps: half the step of the difference quotient.
        atol: the allowed absolute difference.
        rtol: the allowed relative difference.
        raise_exception: raise an error if the check fails; if False, return False instead.
        nondet_tol: the allowed difference between two backward passes.
        check_undefined_grad: also check that outputs without a gradient, and inputs without a tangent, count as zeros.
        check_grad_dtypes: also check that a gradient has the dtype of its input, and a tangent the dtype of its output.
        check_batched_grad: also check that one backward pass for a batch of gradients equals a loop over the batch.
        check_batched_forward_grad: also check that one forward pass for a batch of tangents equals a loop over the
            batch.
        check_forward_ad: also check the Jacobian from forward mode.
        check_backward_ad: check the Jacobian from backward.
        fast_mode: compare the Jacobians along one random direction instead of all their elements.
        masked: has no effect, because there are no sparse inputs.

    Returns:
        Whether all gradients are right.

    Raises:
        GradcheckError: a gradient is wrong; the message contains both Jacobians.
        ValueError: no input requires a gradient.
        AssertionError: both modes are off, or a requested check needs a mode that is off; or the shape or dtype of an
            output depends on the values of the inputs.

    Example:
        >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(lambda x: x * x, (x,))
        True
        >>> torch.autograd.gradcheck(torch.exp, (x,), fast_mode=True, check_forward_ad=True, check_batched_grad=True)
        True

    Mirrors torch/autograd/gradcheck.py, ``gradcheck``.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    arguments = as_tuple(inputs)
    use = _Settings(eps, atol, rtol, nondet_tol, check_grad_dtypes)
    compare = _fast_gradcheck if fast_mode else _slow_gradcheck
    try:
        _check_inputs(arguments)
        outputs = differentiable(float_outputs(func(*arguments)))
        if check_backward_ad:
            compare(func, arguments, use, forward=False)
        if check_forward_ad:
            compare(func, arguments, use, forward=True)
            if check_undefined_grad:
                directions = _directions(checked(arguments), _C.Generator())
                contracts.check_undefined_forward(func, arguments, directions)
        if check_batched_forward_grad:
            contracts.check_batched_forward(func, arguments)
        if check_batched_grad:
            contracts.check_batched(outputs, arguments)
        if check_backward_ad and outputs:
            contracts.check_linear(outputs, arguments)
        if check_backward_ad and check_undefined_grad:
            contracts.check_undefined_backward(func, arguments)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _random_grad(output: Tensor, noncontiguous: bool) -> Tensor:
    """Return random numbers from -1 to 1 in the output's shape, non-contiguous on request."""
    shape = (*output.shape, 2) if noncontiguous and output.numel() > 1 else tuple(output.shape)
    values = _VF.empty(shape, dtype=output.dtype, device=output.device).uniform_(-1, 1)
    return (values[..., 0] if len(shape) > output.dim() else values).requires_grad_()


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check the second derivatives of ``func``: the gradients of its gradients by the inputs and the incoming
    gradients.

    Args:
        func: as for :func:`gradcheck`.
        inputs: as for :func:`gradcheck`.
        grad_outputs: the incoming gradients; random by default.
        eps: half the step of the difference quotient.
        atol: the allowed absolute difference.
        rtol: the allowed relative difference.
        gen_non_contig_grad_outputs: make the random incoming gradients non-contiguous.
        raise_exception: raise an error if the check fails; if False, return False instead.
        nondet_tol: the allowed difference between two backward passes.
        check_undefined_grad: as for :func:`gradcheck`.
        check_grad_dtypes: as for :func:`gradcheck`.
        check_batched_grad: as for :func:`gradcheck`.
        check_fwd_over_rev: also check forward mode through the backward pass.
        check_rev_over_rev: check backward through the backward pass.
        fast_mode: as for :func:`gradcheck`.
        masked: as for :func:`gradcheck`.

    Returns:
        Whether all second derivatives are right.

    Raises:
        GradcheckError: a second derivative is wrong.
        ValueError: no input requires a gradient.
        AssertionError: both modes are off, or a requested check needs a mode that is off.

    Example:
        >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradgradcheck(lambda x: x * x * x, (x,))
        True

    Mirrors torch/autograd/gradcheck.py, ``gradgradcheck``.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    arguments = as_tuple(inputs)
    if grad_outputs is None:
        recorded = differentiable(float_outputs(func(*arguments)))
        grads = tuple(_random_grad(out, gen_non_contig_grad_outputs) for out in recorded)
    else:
        grads = as_tuple(grad_outputs)
    count = len(arguments)
    required = [is_checked(value) for value in (*arguments, *grads)]

    def first_gradients(*values: Any) -> tuple[Tensor, ...]:
        # In forward mode the values are detached, so requires_grad is set again.
        values = tuple(x.requires_grad_() if needed else x for x, needed in zip(values, required, strict=True))
        wanted = [x for x, needed in zip(values[:count], required, strict=False) if needed]
        outputs = differentiable(float_outputs(func(*values[:count])))
        result: tuple[Any, ...] = _C._run_backward(
            outputs, tuple(values[count:]), True, True, tuple(wanted), allow_unreachable=True
        )
        return tuple(grad for grad in result if grad is not None)

    return gradcheck(
        first_gradients,
        (*arguments, *grads),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


# ---- functions that return Jacobians


def _warn_private(name: str, grad_out: float) -> None:
    warn(
        f"`{name}` was part of PyTorch's private API and not meant to be exposed. It is deprecated; "
        "reftorch.autograd.functional.jacobian computes Jacobians.",
        FutureWarning,
    )
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable[..., Any],
    input_idx: int,
    inputs: Sequence[Any],
    outputs: Any,
    eps: float,
    input: Tensor | None = None,
    is_forward_ad: bool = False,
) -> tuple[Tensor, ...]:
    """Return the measured Jacobian of each output by one input, of shape (input elements, output elements).

    Args:
        fn: a function that takes the inputs.
        input_idx: the index of the input.
        inputs: the arguments of ``fn``.
        outputs: has no effect, because ``fn`` is called in any case.
        eps: half the step.
        input: a tensor that ``fn`` uses, to be moved instead of ``inputs[input_idx]``.
        is_forward_ad: has no effect, because the numbers are real.

    Mirrors torch/autograd/gradcheck.py, ``get_numerical_jacobian_wrt_specific_input``.
    """
    return tuple(numeric_jacobian(fn, inputs, inputs[input_idx] if input is None else input, eps))


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Sequence[Any], target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """Return the measured Jacobian of the first output by each input; deprecated, as in PyTorch.

    Args:
        fn: a function that takes the inputs as one tuple.
        inputs: the arguments of ``fn``.
        target: the tensors to move; the inputs by default.
        eps: half the step.
        grad_out: must be 1.0.

    Raises:
        ValueError: ``grad_out`` is not 1.0.

    Mirrors torch/autograd/gradcheck.py, ``get_numerical_jacobian``.
    """
    _warn_private("get_numerical_jacobian", grad_out)
    targets = checked(as_tuple(inputs if target is None else target))
    return tuple(numeric_jacobian(lambda *values: fn(values), inputs, x, eps)[0] for x in targets)


def get_analytical_jacobian(
    inputs: Sequence[Any], output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[list[Tensor], bool, bool, bool]:
    """Return the Jacobian of ``output`` by each input, computed by backward; deprecated, as in PyTorch.

    Args:
        inputs: the tensors by which the output is differentiated.
        output: the tensor to differentiate.
        nondet_tol: the allowed difference between two passes.
        grad_out: must be 1.0.

    Returns:
        The Jacobians, and three bools: whether two passes agreed, whether the gradients have the sizes of the inputs,
            and whether they have the dtypes of the inputs.

    Raises:
        ValueError: ``grad_out`` is not 1.0.

    Mirrors torch/autograd/gradcheck.py, ``get_analytical_jacobian``.
    """
    _warn_private("get_analytical_jacobian", grad_out)
    wanted, starts = checked(inputs), unit_vectors(output)
    found = [grad for start in starts for grad in zip(gradients(output, wanted, start), wanted, strict=True)]
    first, second = (backward_rows(output, wanted, starts, check_dtype=False) for _ in range(2))
    sizes_ok = all(grad is None or grad.shape == x.shape for grad, x in found)
    types_ok = all(grad is None or grad.dtype == x.dtype for grad, x in found)
    return first, is_reentrant(first, second, nondet_tol), sizes_ok, types_ok


_places.split(__name__)
