"""The derivatives of the ops, as tensor code.

A formula gives the gradient of one input. The names of its parameters decide which values the graph saves for backward.
So the graph saves only the values that a formula reads, and only if that input needs a gradient::

    derivative("mul.Tensor",
               self=lambda grad, other: grad * other,
               other=lambda grad, self: grad * self)

The names that a parameter may have:

=====================  ==============================================================================================
``grad``               the gradient of the first output
``grads``              a list, one gradient per differentiable output; zeros where none arrived
an argument's name     that argument as it was: a tensor, number, list, dtype; ``other`` above
``<name>_sizes``       its shape (also ``_strides``, ``_storage_offset``, ``_scalar_type``, ``_device``), which
                       keeps no tensor alive; of a ``Tensor[]`` argument, a list of shapes
``result``             the first output; ``result1`` the second; or a return's name, such as ``indices``
``needs_input_grad``   (joint form) a tuple of bools, one per differentiable input; a list for a ``Tensor[]`` argument
=====================  ==============================================================================================

If inputs are lists, or share work, the joint form returns a tuple with a gradient for each differentiable input::

    @derivative("cat", inputs=["tensors"])
    def cat(grad, tensors_sizes, dim): ...

A formula may return the gradient in the broadcast shape. The engine sums this gradient to the shape of the input and
casts it to the input's dtype, for all ops in one place. A formula consists of ops, so it can be differentiated itself.
An in-place op uses the formula of its functional form.

Each module holds the formulas of the ops of one file of ``cpp/ATen/native/`` and has the name of this file: those of
the ops in ``UnaryOps.cpp`` stand in ``unary_ops.py``. ``_functions_manual`` has what several families share.

Every formula also gives a tangent in forward mode, by a backward pass through the formula
(:mod:`reftorch.autograd._jvp`). An entry that says ``result=`` does not need that pass:

=====================  ==============================================================================================
``auto_linear``        the op is linear in all its tensors at once, except for an ``index``, so the op, called on the
                       tangents, returns the tangent
``auto_element_wise``  an element of the result depends only on the elements of the arguments at the same position, so
                       the Jacobian is diagonal and equals its transpose, and the formula is called on the tangent in
                       place of the gradient
=====================  ==============================================================================================

Mirrors: tools/autograd/derivatives.yaml, torch/csrc/autograd/FunctionsManual.cpp
Leaves out: forward formulas of single ops.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from types import CodeType
from typing import Any, NamedTuple

from reftorch import _C

__all__ = ["FORMULAS", "derivative", "non_differentiable", "not_implemented"]


class Formula(NamedTuple):
    """The derivative of an op as it was registered, for code that evaluates the formula outside a backward pass."""

    inputs: tuple[str, ...] | None  # the differentiable arguments; None for all tensors
    functions: tuple[Callable[..., Any], ...]  # one function for each input, or one joint function
    is_joint: bool
    output_differentiability: tuple[bool, ...]  # empty: all results are
    result: str | None  # "auto_linear", "auto_element_wise" or None


FORMULAS: dict[str, Formula] = {}


def _node_name(op: str, number: int) -> str:
    if op == "copy_":
        return "torch::autograd::CopyBackwards"  # the only node that PyTorch wrote by hand, with a special name
    camel_case = "".join(part.title() for part in op.split(".")[0].split("_"))
    return (camel_case + "Backward").replace("ForwardBackward", "Backward") + str(number)


def parameters(formula: Callable[..., Any]) -> tuple[str, ...]:
    code: CodeType = formula.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _named(formula: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Rename a lambda: tracebacks, debuggers and call trees then show ``mul_self`` instead of ``<lambda>``."""
    if formula.__name__ == "<lambda>":
        formula.__code__ = formula.__code__.replace(co_name=name)
        formula.__name__ = formula.__qualname__ = name
    return formula


def derivative(
    op: str,
    /,
    *,
    inputs: Sequence[str] | None = None,
    output_differentiability: Sequence[bool] = (),
    result: str | None = None,
    node_number: int = 0,
    **formulas: Callable[..., Any],
) -> Any:
    """Register the derivative of an op.

    Args:
        op: the op's name with its overload, ``"mul.Tensor"``.
        inputs: joint form only: the differentiable inputs in schema order; without it, all tensor arguments.
        output_differentiability: for each result, whether the result has a gradient; by default all results have one.
        result: ``"auto_linear"`` or ``"auto_element_wise"``, if forward mode needs no double backward; see above.
        node_number: the number at the end of the node's name. The overloads of an op share the name, and PyTorch counts
            them in the order of its table: ``pow.Scalar`` is recorded as ``PowBackward2``.
        formulas: the formula of each differentiable input, under the name of the input.

    Returns:
        Without ``formulas``, a decorator for the joint form.

    Raises:
        RuntimeError: the op does not exist, has a formula already, or a parameter has an unknown name.
        ValueError: ``result`` is another word.

    Example:
        >>> from reftorch.autograd.derivatives import derivative
        >>> derivative("no_such_op", self=lambda grad: grad)
        Traceback (most recent call last):
            ...
        RuntimeError: Could not find schema for no_such_op. No op of that name is registered.

    Mirrors tools/autograd/derivatives.yaml, an entry.
    """
    if result not in (None, "auto_linear", "auto_element_wise"):
        raise ValueError(f"derivative({op!r}): result must be 'auto_linear' or 'auto_element_wise', but got {result!r}")
    base = op.split(".")[0]
    if formulas:
        rows = [(name, _named(f, f"{base}_{name}"), parameters(f)) for name, f in formulas.items()]
        _C._register_derivative(op, _node_name(op, node_number), rows, list(output_differentiability))
        functions = tuple(formulas.values())
        FORMULAS[op] = Formula(tuple(formulas), functions, False, tuple(output_differentiability), result)
        return None

    def joint(formula: Callable[..., Any]) -> Callable[..., Any]:
        _C._register_joint_derivative(
            op, _node_name(op, node_number), inputs, formula, parameters(formula), list(output_differentiability)
        )
        names = None if inputs is None else tuple(inputs)
        FORMULAS[op] = Formula(names, (formula,), True, tuple(output_differentiability), result)
        return formula

    return joint


def non_differentiable(*ops: str) -> None:
    """Declare that the results of ops never require a gradient.

    Args:
        ops: names of ops with their overloads, ``"eq.Tensor"``.

    Raises:
        RuntimeError: an op does not exist, or has a formula.

    Mirrors tools/autograd/derivatives.yaml, ``output_differentiability: [False]``.
    """
    for op in ops:
        _C._register_non_differentiable(op)


def not_implemented(what: str) -> Callable[..., Any]:
    """Return a formula that refuses, for an input whose gradient nobody has worked out.

    An op that has no derivative at all is not listed: its node is ``NotImplemented``, whose backward raises
    RuntimeError.

    Args:
        what: what the error names, such as the op, or the op and the input.

    Raises:
        NotImplementedError: when backward calls the formula.

    Example:
        >>> from reftorch.autograd.derivatives import not_implemented
        >>> not_implemented("igamma: input")(None)
        Traceback (most recent call last):
            ...
        NotImplementedError: the derivative for 'igamma: input' is not implemented.

    Mirrors tools/autograd/derivatives.yaml, ``not_implemented``.
    """

    def formula(grad: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{what}' is not implemented.")

    return formula


def _register_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


_register_all()
