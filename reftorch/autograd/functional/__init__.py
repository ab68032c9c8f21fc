r"""Jacobians and Hessians of a function of tensors, and products with these matrices.

Let :math:`J` be the Jacobian and :math:`H` the Hessian. :func:`vjp` computes :math:`v^\top J` in one pass of the
engine, :func:`jvp` computes :math:`J v` in two passes, :func:`vhp` computes :math:`v^\top H` in two, and :func:`hvp`
computes :math:`H v` in three. :func:`torch.func <reftorch.func>` has equivalent transforms, which can be nested.

Note [Double backward trick]
Problem: the engine computes v -> v^T J, but we need J v. Trick: v^T J is a linear function of v, and its Jacobian by v
is J^T. So a backward pass through the backward pass, with the gradient u, gives u^T J^T = (J u)^T. The value of v does
not matter. We use ones, because a formula may not be differentiable at zero.

Mirrors: torch/autograd/functional.py
Leaves out: sparse tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from reftorch import _VF, _places
from reftorch._functorch import apis
from reftorch._functorch.vmap import vmap
from reftorch.autograd import forward_ad
from reftorch.autograd.functional import utils
from reftorch.autograd.grad_mode import enable_grad, is_grad_enabled, set_grad_enabled

if TYPE_CHECKING:
    from reftorch import Tensor

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_OUTPUTS = "outputs of the user-provided function"
_construct_standard_basis_for = utils.construct_standard_basis_for


def _record(create_graph: bool) -> set_grad_enabled:
    return set_grad_enabled(create_graph or is_grad_enabled())


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    r"""Return ``func(*inputs)`` and :math:`v^\top J`.

    Args:
        func: a function that takes tensors and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors: the point at which ``func`` is differentiated.
        v: tensors of the sizes of the outputs; optional if the output is a single number.
        create_graph: record the computation, so that the results can be differentiated.
        strict: raise an error if an output does not depend on an input, instead of returning zeros.

    Returns:
        The outputs, and for each input a tensor of its size.

    Raises:
        RuntimeError: ``v`` does not match the outputs, or ``strict`` is True and an output is independent of an input.
        TypeError: an argument or a result is not a tensor.

    Example:
        >>> torch.autograd.functional.vjp(lambda x: x * x, torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0]))
        (tensor([1., 4.]), tensor([ 2., 40.]))

    Mirrors torch/autograd/functional.py, ``vjp``.
    """
    with enable_grad():
        inputs_was_tuple, inputs = utils.as_tuple(inputs, "inputs", "vjp")
        inputs = utils.detached(inputs, create_graph, need_graph=True)
        outputs_was_tuple, outputs = utils.as_tuple(func(*inputs), _OUTPUTS, "vjp")
        utils.check_requires_grad(outputs, "outputs", strict)
        v = utils.vector_or_none(
            v, outputs, outputs_was_tuple, create_graph, "vjp", "the user-provided function returns"
        )
    with _record(create_graph):
        grads = utils.run_backward(outputs, inputs, v, create_graph)
        product = utils.fill_in_zeros(grads, inputs, strict, create_graph, "back")
    return (
        utils.unpack(utils.finished(outputs, create_graph), outputs_was_tuple),
        utils.unpack(utils.finished(product, create_graph), inputs_was_tuple),
    )


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    r"""Return ``func(*inputs)`` and :math:`J v`, by a backward pass through a backward pass.

    See Note [Double backward trick]. :func:`reftorch.func.jvp` needs only one forward pass.

    Args:
        func: a function that takes tensors and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors: the point at which ``func`` is differentiated.
        v: tensors of the sizes of the inputs; optional if the input is a single number.
        create_graph: record the computation, so that the results can be differentiated.
        strict: raise an error if an output does not depend on an input, instead of returning zeros.

    Returns:
        The outputs, and for each output a tensor of its size.

    Raises:
        RuntimeError: ``v`` does not match the inputs, or ``strict`` is True and an output is independent of an input.
        TypeError: an argument or a result is not a tensor.

    Example:
        >>> torch.autograd.functional.jvp(lambda x: x * x.sum(), torch.tensor([1.0, 2.0]), torch.tensor([1.0, 0.0]))
        (tensor([3., 6.]), tensor([4., 2.]))

    Mirrors torch/autograd/functional.py, ``jvp``.
    """
    with enable_grad():
        inputs_was_tuple, inputs = utils.as_tuple(inputs, "inputs", "jvp")
        inputs = utils.detached(inputs, create_graph, need_graph=True)
        v = utils.vector_or_none(
            v, inputs, inputs_was_tuple, create_graph, "jvp", "the input to the user-provided function is"
        )
        outputs_was_tuple, outputs = utils.as_tuple(func(*inputs), _OUTPUTS, "jvp")
        utils.check_requires_grad(outputs, "outputs", strict)
        cotangents = tuple(_VF.ones_like(out, requires_grad=True) for out in outputs)
        pulled_back = utils.run_backward(outputs, inputs, cotangents, create_graph=True)
        utils.check_requires_grad(pulled_back, "grad_inputs", strict)
    with _record(create_graph):
        grads = utils.run_backward(pulled_back, cotangents, v, create_graph)
        product = utils.fill_in_zeros(grads, outputs, strict, create_graph, "back_trick")
    return (
        utils.unpack(utils.finished(outputs, create_graph), outputs_was_tuple),
        utils.unpack(utils.finished(product, create_graph), outputs_was_tuple),
    )


def _rows(i: int, output: Tensor, inputs: tuple[Tensor, ...], create_graph: bool, strict: bool) -> tuple[Tensor, ...]:
    """Return the Jacobian of output ``i`` by each input, with a backward pass for each number of the output."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    for element in output.reshape(-1).unbind(0):
        grads = utils.run_backward((element,), inputs, create_graph=create_graph, retain_graph=True)
        for k, (grad, column, input) in enumerate(zip(grads, columns, inputs, strict=True)):
            if grad is None and strict:
                raise RuntimeError(
                    f"Output {i} of the user-provided function is independent of input {k}." + utils.NOT_STRICT
                )
            if grad is not None and strict and create_graph and not grad.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {i}." + utils.WITH_GRAPH
                )
            column.append(_VF.zeros_like(input) if grad is None else grad)
    return tuple(
        (_VF.stack(column) if column else input.new_zeros((0, *input.shape))).view((*output.shape, *input.shape))
        for column, input in zip(columns, inputs, strict=True)
    )


def _all_rows(
    outputs: tuple[Tensor, ...], inputs: tuple[Tensor, ...], create_graph: bool, strict: bool
) -> tuple[tuple[Tensor, ...], ...]:
    """Return the Jacobians of all outputs with one batched backward pass, which has a row for each number."""
    if strict:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    flat = tuple(output.reshape(-1) for output in outputs)
    numels = [output.numel() for output in outputs]

    def pull_back(*rows: Tensor) -> tuple[Tensor | None, ...]:
        return utils.run_backward(flat, inputs, rows, create_graph, retain_graph=create_graph)

    grads = utils.batched_pass(pull_back, _construct_standard_basis_for(outputs, numels))
    columns = [
        (_VF.zeros((sum(numels), *input.shape), dtype=input.dtype) if grad is None else grad).split(numels, 0)
        for grad, input in zip(grads, inputs, strict=True)
    ]
    return tuple(
        tuple(column[i].reshape(output.shape + input.shape) for column, input in zip(columns, inputs, strict=True))
        for i, output in enumerate(outputs)
    )


def _by_columns(func: Callable[..., Any], inputs: Any, strict: bool, vectorize: bool) -> Any:
    """Return the Jacobian with one batched forward pass, which has an example for each number of the inputs."""
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    inputs_was_tuple, inputs = utils.as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only implemented for "
            "`vectorize=True`."
        )
    outputs_was_tuple = False

    def push_forward(*tangents: Tensor) -> tuple[Tensor, ...]:
        nonlocal outputs_was_tuple
        with forward_ad.dual_level():
            duals = [forward_ad.make_dual(x, t.view_as(x)) for x, t in zip(inputs, tangents, strict=True)]
            outputs_was_tuple, outputs = utils.as_tuple(func(*duals), _OUTPUTS, "jacobian")
            halves = [forward_ad.unpack_dual(output) for output in outputs]
        return tuple(_VF.zeros_like(h.primal) if h.tangent is None else h.tangent for h in halves)

    numels = [input.numel() for input in inputs]
    columns = vmap(push_forward)(*_construct_standard_basis_for(inputs, numels))
    table = tuple(
        tuple(
            part.movedim(0, -1).reshape(column.shape[1:] + input.shape)
            for part, input in zip(column.split(numels, 0), inputs, strict=True)
        )
        for column in columns
    )
    return utils.unpack_nested(table, outputs_was_tuple, inputs_was_tuple)


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    r"""Return the Jacobian :math:`\partial y_i / \partial x_j` of :math:`y = f(x)`.

    Args:
        func: a function that takes tensors and returns a tensor or a tuple of tensors.
        inputs: a tensor or a tuple of tensors: the point at which ``func`` is differentiated.
        create_graph: record the computation, so that the result can be differentiated.
        strict: raise an error if an output does not depend on an input, instead of returning zeros.
        vectorize: run one batched pass instead of one pass for each number.
        strategy: ``"reverse-mode"``, by rows; or ``"forward-mode"``, by columns, which needs ``vectorize=True``.

    Returns:
        For one output of size A and one input of size B, a tensor of size A + B. If the inputs or the outputs are a
        tuple, a tuple of such tensors; if both are tuples, a tuple of tuples ``[output][input]``.

    Raises:
        AssertionError: ``strategy`` is neither of the two.
        NotImplementedError: forward mode with ``create_graph``, or without ``vectorize``.
        RuntimeError: ``strict`` is True and an output is independent of an input.
        TypeError: an argument or a result is not a tensor.

    Example:
        >>> torch.autograd.functional.jacobian(lambda x: x * x.sum(), torch.tensor([1.0, 2.0]))
        tensor([[4., 1.],
                [2., 5.]])

    Mirrors torch/autograd/functional.py, ``jacobian``.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
                'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        return _by_columns(func, inputs, strict, vectorize)
    with enable_grad():
        inputs_was_tuple, inputs = utils.as_tuple(inputs, "inputs", "jacobian")
        inputs = utils.detached(inputs, create_graph, need_graph=True)
        outputs_was_tuple, outputs = utils.as_tuple(func(*inputs), _OUTPUTS, "jacobian")
        utils.check_requires_grad(outputs, "outputs", strict)
        if vectorize:
            table = _all_rows(outputs, inputs, create_graph, strict)
        else:
            table = tuple(_rows(i, output, inputs, create_graph, strict) for i, output in enumerate(outputs))
    return utils.unpack_nested(utils.finished(table, create_graph), outputs_was_tuple, inputs_was_tuple)


def _single_number(output: Any, fn_name: str, strict: bool) -> Tensor:
    """Return the result of a function for Hessians, after a check that it is one tensor of one element."""
    was_tuple, outputs = utils.as_tuple(output, _OUTPUTS, fn_name)
    utils.check_requires_grad(outputs, "outputs", strict)
    if was_tuple:
        raise RuntimeError(f"The function given to {fn_name} should return a single Tensor")
    if outputs[0].nelement() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {fn_name} should contain a single element")
    return outputs[0]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    r"""Return the Hessian :math:`\partial^2 f / \partial x_i \partial x_j` of a function whose result is one number.

    Args:
        func: a function that takes tensors and returns a tensor of one element.
        inputs: a tensor or a tuple of tensors: the point at which ``func`` is differentiated.
        create_graph: record the computation, so that the result can be differentiated.
        strict: raise an error if the function, or its gradient, does not depend on an input, instead of returning
            zeros.
        vectorize: as for :func:`jacobian`, for the outer of the two Jacobians.
        outer_jacobian_strategy: the ``strategy`` of :func:`jacobian`, for the outer Jacobian.

    Returns:
        For one input of size B, a tensor of size B + B; for a tuple of inputs, a tuple of tuples ``[input][input]``.

    Raises:
        RuntimeError: the function returns something else, or ``strict`` is True and the function or its gradient is
            independent of an input.
        TypeError: an argument or a result is not a tensor.

    Example:
        >>> torch.autograd.functional.hessian(lambda x: (x * x).prod(), torch.tensor([1.0, 2.0]))
        tensor([[8., 8.],
                [8., 2.]])

    Mirrors torch/autograd/functional.py, ``hessian``.
    """
    inputs_was_tuple, inputs = utils.as_tuple(inputs, "inputs", "hessian")

    def number(*args: Tensor) -> Tensor:
        return _single_number(func(*args), "hessian", strict).squeeze()

    def gradient(*args: Tensor) -> tuple[Tensor, ...]:
        if outer_jacobian_strategy == "forward-mode":  # inside vmap, a transform records the graph
            result: tuple[Tensor, ...] = apis.grad(number, tuple(range(len(args))))(*args)
            return result
        rows: tuple[Tensor, ...] = jacobian(number, args, create_graph=True)
        utils.check_requires_grad(rows, "jacobian", strict)
        return rows

    table = jacobian(
        gradient, inputs, create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy
    )
    return utils.unpack_nested(table, inputs_was_tuple, inputs_was_tuple)


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    r"""Return ``func(*inputs)`` and :math:`v^\top H`, by a backward pass through the gradient.

    Args:
        func: a function that takes tensors and returns a tensor of one element.
        inputs: a tensor or a tuple of tensors: the point at which ``func`` is differentiated.
        v: tensors of the sizes of the inputs; optional if the input is a single number.
        create_graph: record the computation, so that the results can be differentiated.
        strict: raise an error if the function, or its gradient, does not depend on an input, instead of returning
            zeros.

    Returns:
        The output, and for each input a tensor of its size.

    Raises:
        RuntimeError: the function returns something else, ``v`` does not match the inputs, or ``strict`` is True and
            the function or its gradient is independent of an input.
        TypeError: an argument or a result is not a tensor.

    Example:
        >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))

    Mirrors torch/autograd/functional.py, ``vhp``.
    """
    with enable_grad():
        was_tuple, inputs, v, output, gradient = _gradient(func, inputs, v, create_graph, strict, "vhp")
    with _record(create_graph):
        grads = utils.run_backward(gradient, inputs, v, create_graph)
        product = utils.fill_in_zeros(grads, inputs, strict, create_graph, "double_back")
    (output,) = utils.finished((output,), create_graph)
    return output, utils.unpack(utils.finished(product, create_graph), was_tuple)


def _gradient(
    func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool, strict: bool, fn_name: str
) -> tuple[bool, tuple[Tensor, ...], Any, Tensor, Any]:
    """Compute the gradient and record its graph: the first step of :func:`vhp` and :func:`hvp`."""
    was_tuple, inputs = utils.as_tuple(inputs, "inputs", fn_name)
    inputs = utils.detached(inputs, create_graph, need_graph=True)
    v = utils.vector_or_none(v, inputs, was_tuple, create_graph, fn_name, "the input to the user-provided function is")
    output = _single_number(func(*inputs), fn_name, strict)
    gradient = utils.run_backward((output,), inputs, create_graph=True)
    utils.check_requires_grad(gradient, "jacobian", strict)
    return was_tuple, inputs, v, output, gradient


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    r"""Return ``func(*inputs)`` and :math:`H v`, by the double backward trick on the gradient.

    If the function is twice continuously differentiable, :math:`H` is symmetric. Then :func:`vhp` gives the same result
    and is faster. See Note [Double backward trick].

    Args:
        func: a function that takes tensors and returns a tensor of one element.
        inputs: a tensor or a tuple of tensors: the point at which ``func`` is differentiated.
        v: tensors of the sizes of the inputs; optional if the input is a single number.
        create_graph: record the computation, so that the results can be differentiated.
        strict: raise an error if the function, or its gradient, does not depend on an input, instead of returning
            zeros.

    Returns:
        The output, and for each input a tensor of its size.

    Raises:
        RuntimeError: the function returns something else, ``v`` does not match the inputs, or ``strict`` is True and
            the function or its gradient is independent of an input.
        TypeError: an argument or a result is not a tensor.

    Example:
        >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]), torch.ones(2))
        (tensor(9.), tensor([ 6., 12.]))

    Mirrors torch/autograd/functional.py, ``hvp``.
    """
    with enable_grad():
        was_tuple, inputs, v, output, gradient = _gradient(func, inputs, v, create_graph, strict, "hvp")
        cotangents = tuple(_VF.ones_like(x).requires_grad_() for x in inputs)
        pulled_back = utils.run_backward(gradient, inputs, cotangents, create_graph=True)
    with _record(create_graph):
        grads = utils.run_backward(pulled_back, cotangents, v, create_graph)
        product = utils.fill_in_zeros(grads, inputs, strict, create_graph, "double_back_trick")
    (output,) = utils.finished((output,), create_graph)
    return output, utils.unpack(utils.finished(product, create_graph), was_tuple)


_places.split(__name__)
