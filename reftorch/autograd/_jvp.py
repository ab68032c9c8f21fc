r"""The tangents of an op's results, computed from the formula of its gradient.

Let :math:`J` be the Jacobian of an op and :math:`t` the tangents of its arguments. Forward mode needs :math:`J t`, but
the op has only the formula :math:`u \mapsto J^\top u`. See Note [Forward mode].

Mirrors: torch/csrc/autograd/FunctionsManual.cpp, tools/autograd/gen_variable_type.py (forward derivatives)
Leaves out: ``jvp`` formulas of single ops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from reftorch import _C
from reftorch.autograd.derivatives import FORMULAS, Formula, parameters
from reftorch.autograd.grad_mode import enable_grad

__all__ = ["jvp"]

_fn = _C._VariableFunctions
_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "_sizes": lambda t: t.shape,
    "_strides": lambda t: t.stride(),
    "_storage_offset": lambda t: t.storage_offset(),
    "_scalar_type": lambda t: t.dtype,
    "_device": lambda t: t.device,
}


@functools.cache
def _schemas() -> dict[str, Any]:
    return {schema["name"].removeprefix("aten::"): schema for schema in _C._get_all_op_schemas()}


def _functional(name: str) -> str:
    """Return ``add.Tensor`` for ``add_.Tensor``, unless the in-place op has its own formula."""
    base, _, overload = name.partition(".")
    if name in FORMULAS or not base.endswith("_"):
        return name
    return base[:-1] + ("." + overload if overload else "")


class _Call:
    """One call of an op, which gives the parameters of a formula their values."""

    def __init__(self, name: str, args: list[Any], results: list[Any]) -> None:
        schema = _schemas()[name]
        self.name = name
        self.args = args
        self.names = [argument["name"] for argument in schema["arguments"]]
        self.results = results
        self.result_names = [ret_name for ret_name, _ in schema["returns"]]

    def value(self, parameter: str, special: dict[str, Any]) -> Any:
        """Return the value of a formula's parameter."""
        if parameter in special:
            return special[parameter]
        if parameter in self.names:
            return self.args[self.names.index(parameter)]
        for i, name in enumerate(self.result_names):
            if parameter in (name, f"result{i}") or (i == 0 and parameter == "result"):
                return self.results[i]
        for suffix, read in _PROPERTIES.items():
            base = parameter.removesuffix(suffix)
            if base != parameter and base in self.names:
                arg = self.args[self.names.index(base)]
                return [read(t) for t in arg] if isinstance(arg, (list, tuple)) else None if arg is None else read(arg)
        raise RuntimeError(f"forward mode: the formula of {self.name} asks for {parameter}, which is not there")

    def evaluate(self, formula: Callable[..., Any], special: dict[str, Any]) -> Any:
        return formula(*(self.value(parameter, special) for parameter in parameters(formula)))

    def inputs(self, formula: Formula) -> list[int]:
        """Return the positions of the differentiable arguments."""
        if formula.inputs is not None:
            return [self.names.index(name) for name in formula.inputs]
        return [i for i, argument in enumerate(_schemas()[self.name]["arguments"]) if "Tensor" in argument["type"]]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _C.TensorBase)


def _laid_out_like(tangent: Any, arg: Any) -> Any:
    """Return ``tangent`` with the memory layout of ``arg``, for an op that depends on positions in memory."""
    if tangent.stride() == arg.stride() and tangent.storage_offset() == arg.storage_offset():
        return tangent
    reach = arg.storage_offset() + 1 + sum((n - 1) * s for n, s in zip(arg.shape, arg.stride(), strict=True))
    memory = tangent.new_zeros(reach if arg.numel() else 0)
    return memory.as_strided(arg.shape, arg.stride(), arg.storage_offset()).copy_(tangent)


def _linear(call: _Call, tangents: list[Any]) -> list[Any]:
    if call.name == "as_strided" and tangents[0] is not None:
        tangents = [_laid_out_like(tangents[0], call.args[0]), *tangents[1:]]

    def tangent_or_zero(arg: Any, tangent: Any) -> Any:
        if isinstance(arg, (list, tuple)) and any(_is_tensor(a) for a in arg):
            return [tangent_or_zero(a, t) for a, t in zip(arg, tangent, strict=True)]
        if not _is_tensor(arg):
            return arg
        return _fn.zeros_like(arg) if tangent is None else tangent

    made = _C._functorch._call_op(
        call.name,
        [
            arg if name == "index" else tangent_or_zero(arg, tangent)
            for name, arg, tangent in zip(call.names, call.args, tangents, strict=True)
        ],
    )
    return list(made) if isinstance(made, (tuple, list)) else [made]


def _element_wise(call: _Call, formula: Formula, tangents: list[Any]) -> list[Any]:
    total = None
    for position, function in zip(call.inputs(formula), formula.functions, strict=True):
        if tangents[position] is not None:
            part = call.evaluate(function, {"grad": tangents[position]})
            if part is not None:
                total = part if total is None else total + part
    if total is None:
        return [None]
    result = call.results[0]
    return [total.to(result.dtype).expand(result.shape)]


def _flat(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from value
        else:
            yield value


def _gradients(call: _Call, formula: Formula, grads: list[Any], tangents: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield, for each tensor with a tangent, the gradient that the formula computes, and the tangent."""
    positions = call.inputs(formula)
    special: dict[str, Any] = {"grad": grads[0], "grads": grads}
    if formula.is_joint:
        wanted = [tangents[p] for p in positions]
        special["needs_input_grad"] = tuple(
            [t is not None for t in w] if isinstance(w, (list, tuple)) else w is not None for w in wanted
        )
        values = call.evaluate(formula.functions[0], special)
        for value, tangent in zip(values, wanted, strict=True):
            if isinstance(tangent, (list, tuple)):
                yield from zip(value if value is not None else [None] * len(tangent), tangent, strict=True)
            else:
                yield value, tangent
        return
    for position, function in zip(positions, formula.functions, strict=True):
        if tangents[position] is not None:
            yield call.evaluate(function, special), tangents[position]


def _tangent_like(gradient: Any, tangent: Any) -> Any:
    """Return the tangent in the shape of the gradient.

    The gradient may not be summed over broadcast dimensions yet, or may be smaller than the source, if the source is
    larger than its index.
    """
    if tangent.dim() == gradient.dim():
        for d, n in enumerate(gradient.shape):
            tangent = tangent.narrow(d, 0, n) if tangent.size(d) > n else tangent
    return tangent.expand(gradient.shape).to(gradient.dtype)


def _transposed_twice(call: _Call, formula: Formula, tangents: list[Any]) -> list[Any]:
    """See Note [Double backward trick]: the formula is linear in the incoming gradient, so its value does not
    matter.
    """
    record = _C.is_grad_enabled()
    results = list(_flat(call.results))
    flags = formula.output_differentiability
    has_grad = [
        _is_tensor(r) and r.is_floating_point() and (len(flags) <= i or flags[i]) for i, r in enumerate(results)
    ]
    with enable_grad():
        grads = [_fn.ones_like(r) for r, h in zip(results, has_grad, strict=True) if h]
        for grad in grads:
            grad.requires_grad = True  # not requires_grad_(), which raises inside function transforms
        pairs = [
            (gradient, _tangent_like(gradient, tangent))
            for gradient, tangent in _gradients(call, formula, grads, tangents)
            if gradient is not None and tangent is not None and gradient.requires_grad
        ]
    if not pairs:
        return [None] * len(results)
    found = _C._run_backward(
        tuple(gradient for gradient, _ in pairs), tuple(tangent for _, tangent in pairs), record, record, tuple(grads),
        allow_unreachable=True, accumulate_grad=False,
    )  # fmt: skip
    tangents_of = iter(found)
    return [next(tangents_of) if h else None for h in has_grad]


def jvp(name: str, args: list[Any], tangents: list[Any], results: list[Any]) -> list[Any]:
    """Return the tangents of an op's results.

    Args:
        name: the name of the op, with its overload.
        args: the arguments of the call; its tensors have no tangents.
        tangents: for each argument its tangent, or None; for a list of tensors, a list.
        results: the results of the call.

    Returns:
        For each tensor among the results its tangent; None stands for a tangent of zeros.

    Raises:
        RuntimeError: the op has no derivative formula.
    """
    name = name.removeprefix("aten::")
    if name not in _schemas():
        raise _refusal(name)  # an op that another library registered
    call = _Call(_functional(name), args, results)
    formula = FORMULAS.get(call.name)
    if formula is None:
        raise _refusal(name)
    if formula.result == "auto_linear":
        return _linear(call, tangents)
    try:
        if formula.result == "auto_element_wise":
            return _element_wise(call, formula, tangents)
        return _transposed_twice(call, formula, tangents)
    except RuntimeError as error:
        if isinstance(error, NotImplementedError) or str(error).startswith("derivative for aten::"):
            raise _refusal(name) from None
        raise


def _refusal(name: str) -> NotImplementedError:
    base = name.split(".")[0]
    if _functional(name) not in FORMULAS:
        op = base if "::" in base else f"aten::{base}"
        return NotImplementedError(
            f"Trying to use forward AD with {op} that does not support it. "
            "Hint: it has no formula in reftorch/autograd/derivatives either."
        )
    return NotImplementedError(
        f"Trying to use forward AD with {base} that does not support it because it has not been implemented yet. "
        "Hint: its formula in reftorch/autograd/derivatives refuses, or calls an op that has no formula."
    )


_C._set_jvp_function(jvp)
