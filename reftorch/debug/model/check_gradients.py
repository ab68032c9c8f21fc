r"""A check of a model's gradients: finds parameters whose gradient is missing, useless or wrong.

The check compares a gradient with the slopes on both sides of the parameter's entry :math:`\theta_i`,
:math:`\pm\bigl(L(\theta \pm \epsilon e_i) - L(\theta)\bigr) / \epsilon`, in float64. If the two slopes differ, the
function has a kink (relu at 0), and the entry is not checked.

Mirrors: torch/autograd/gradcheck.py, for sampled entries of a model's parameters
Left out: second derivatives; gradients of inputs.
"""

from __future__ import annotations

import copy
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import enable_grad, no_grad
from reftorch.debug.common.expect import expect_module, expect_number
from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.table import Report, Table, shape_text
from reftorch.debug.model.comparison import unravel
from reftorch.debug.model.find_nan import tensor_kind
from reftorch.random import get_rng_state, set_rng_state
from reftorch.utils._pytree import tree_map

EPS = 1e-6
ROUNDING = 1e-14  # error of the loss, a sum of many terms; a slope has this error / EPS
KINK = 1e-3  # if the slopes differ by this fraction of the larger, there is a kink


@dataclass
class GradientStatus:
    """The gradient of a parameter: ``status`` is "ok" or describes the problem."""

    name: str
    shape: str
    status: str
    norm: float | None = None
    largest: float | None = None
    checked: int = 0  # the number of entries whose slope was measured

    @property
    def problem(self) -> bool:
        return self.status not in ("ok", "not trained")


class GradientCheck(Report):
    """The result of :func:`check_gradients`: ``rows`` lists all parameters, ``problems`` those with a problem."""

    def __init__(self, rows: list[GradientStatus]) -> None:
        self.rows = rows

    @property
    def problems(self) -> dict[str, str]:
        """The name and the status of each parameter that has a problem."""
        return {row.name: row.status for row in self.rows if row.problem}

    @property
    def ok(self) -> bool:
        """Whether no parameter has a problem."""
        return not self.problems

    def tables(self) -> list[Table]:
        rows = [(r.name, r.shape, r.norm, r.largest, r.checked or None, r.status) for r in self.rows]
        marked = {i for i, row in enumerate(self.rows) if row.problem}
        caption = (
            f"gradients: {len(marked)} of {len(rows)} parameters have a problem" if marked else "gradients: all ok"
        )
        forgotten = bool(rows) and not any(r.norm is not None or r.checked for r in self.rows)
        notes = ["Was backward called? check_gradients(model, x) does it itself."] * forgotten
        return [Table(["parameter", "shape", "norm", "largest", "measured", "status"], rows, caption, notes, marked)]


def check_gradients(
    model: Any,
    *inputs: Any,
    loss: Callable[[Any], Tensor] | None = None,
    samples: int = 4,
    large: float = 1e3,
    rtol: float = 1e-4,
    atol: float = 1e-6,
) -> GradientCheck:
    """Find the parameters of a model whose gradient is missing, zero, NaN, very large or wrong.

    Without inputs, the function checks the existing gradients, for example after ``backward``. With inputs, it computes
    a loss and checks the gradients of this loss, without changing the gradients of the model. Then it compares some
    entries of each gradient with slopes that are measured on a copy of the model in float64.

    Args:
        model: a module.
        inputs: the arguments of the model.
        loss: a function from the model's output to one number; the default is a weighted sum of all outputs.
        samples: the number of entries of each parameter to measure; the entry with the largest gradient is one of them.
        large: a gradient of a larger norm counts as exploding.
        rtol, atol: the allowed difference: ``|gradient - slope| <= atol + rtol * |slope|``.

    Returns:
        A table; ``ok`` is True if there is no problem, and ``problems`` lists the problems.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.debug import check_gradients
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))
        >>> check_gradients(net, torch.ones(4, 2)).ok
        True
        >>> net[0].requires_grad_(False).weight.requires_grad
        False
        >>> net[1](torch.zeros(1, 3)).sum().backward()
        >>> check_gradients(net).problems
        {'1.weight': 'zero'}
    """
    expect_module("check_gradients", model)
    if not inputs:
        if loss is not None:
            raise ValueError("check_gradients: a loss needs inputs. Hint: check_gradients(model, x, loss=...).")
        return GradientCheck([look(name, p, p.grad, large) for name, p in model.named_parameters()])
    loss = loss or weighted_sum
    rows = [look(name, p, grad, large) for name, p, grad in gradients_of(model, inputs, loss)]
    measurable = {row.name: row for row in rows if row.status in ("ok", "exploding", "zero", "no gradient")}
    if samples > 0 and measurable:
        measure(measurable, model, inputs, loss, samples, rtol, atol)
    return GradientCheck(rows)


def weighted_sum(output: Any) -> Tensor:
    """Return a weighted sum in which every element of every output has a different weight."""
    total: Any = None
    for _, tensor in flatten(output, ""):
        if tensor.is_floating_point():
            weights = _VF.arange(1, tensor.numel() + 1, dtype=tensor.dtype).cos().reshape(tensor.shape)
            term = (tensor * weights).sum()
            total = term if total is None else total + term
    if total is None:
        raise ValueError("check_gradients: the model's output has no floating-point tensor. Hint: pass loss=...")
    return total


@enable_grad()
def gradients_of(model: Any, inputs: tuple, loss: Callable) -> list[tuple[str, Any, Any]]:
    """Return name, parameter and gradient of each parameter. The existing gradients of the model do not change."""
    named = list(model.named_parameters())
    trained = [p for _, p in named if p.requires_grad]
    value = loss(model(*inputs))
    expect_number("check_gradients", value)
    found: dict[int, Any] = {}
    if value.requires_grad and trained:
        grads = _C._run_backward(
            (value,), (_VF.ones_like(value),), False, False, tuple(trained), allow_unreachable=True,
            accumulate_grad=False,
        )  # fmt: skip
        found = {id(p): grad for p, grad in zip(trained, grads, strict=True)}
    return [(name, p, found.get(id(p))) for name, p in named]


@no_grad()
def look(name: str, parameter: Any, grad: Any, large: float) -> GradientStatus:
    """Return the status of a gradient as far as it is visible without a measurement."""
    shape = shape_text(parameter.shape)
    if not parameter.requires_grad:
        return GradientStatus(name, shape, "not trained")
    if grad is None:
        return GradientStatus(name, shape, "no gradient")
    kind = tensor_kind(grad)
    values = grad.detach().double().reshape(-1)
    if kind:
        bad = int((values.isnan() if kind == "NaN" else values.isinf()).sum())
        return GradientStatus(name, shape, f"{kind} in {bad} of {values.numel()}")
    if not values.numel():
        return GradientStatus(name, shape, "ok")
    norm, largest = float(values.square().sum().sqrt()), float(values.abs().max())
    status = "zero" if largest == 0 else "exploding" if norm > large else "ok"
    return GradientStatus(name, shape, status, norm, largest)


def measure(
    rows: dict[str, GradientStatus], model: Any, inputs: tuple, loss: Callable, samples: int, rtol: float, atol: float
) -> None:
    """Measure slopes on a copy in float64, and mark wrong gradients in ``rows``."""
    double = copy.deepcopy(model).double()
    arguments = tree_map(in_float64, inputs)
    state = get_rng_state()  # random numbers in forward, such as a dropout mask, must be equal in all calls

    def evaluate() -> float:
        set_rng_state(state)
        with no_grad():
            return float(loss(double(*arguments)))

    try:
        set_rng_state(state)
        found = gradients_of(double, arguments, loss)
        middle = evaluate()
        for name, parameter, grad in found:
            if name not in rows:
                continue
            row, wrong = rows[name], ""
            for place in sampled(grad, parameter, samples, name):
                right, left = slopes_at(parameter, place, evaluate, middle)
                bound = atol + ROUNDING * abs(middle) / EPS
                if not math.isfinite(right - left):
                    continue  # the loss is not finite here, so there is no slope
                if abs(right - left) > bound + KINK * max(abs(right), abs(left)):
                    continue
                row.checked += 1
                slope = (right + left) / 2
                computed = 0.0 if grad is None else float(grad[place])
                if not abs(computed - slope) <= bound + rtol * abs(slope) and not wrong:
                    wrong = f"wrong at {list(place)}: {computed:.6g}, measured {slope:.6g}"
            row.status = wrong or row.status
    finally:
        set_rng_state(state)


def in_float64(value: Any) -> Any:
    """Return a floating-point tensor in float64, without its graph, and any other value unchanged."""
    is_float = isinstance(value, _C.TensorBase) and value.is_floating_point()
    return value.detach().double() if is_float else value


def sampled(grad: Any, parameter: Any, samples: int, name: str) -> Iterator[tuple[int, ...]]:
    """Return the subscripts of the entries to measure: the largest gradient, and others, equal in each run."""
    count = parameter.numel()
    chosen = random.Random(name).sample(range(count), min(samples, count))
    if grad is not None and chosen:
        largest = int(grad.abs().reshape(-1).argmax())
        chosen = [largest, *(i for i in chosen if i != largest)][: len(chosen)]
    for index in chosen:
        yield unravel(index, tuple(parameter.shape))


@no_grad()
def slopes_at(parameter: Any, place: tuple, evaluate: Callable[[], float], middle: float) -> tuple[float, float]:
    """Return the slopes to the right and to the left of one entry, and restore the entry."""
    former = parameter[place].clone()
    step = EPS * max(1.0, abs(float(former)))
    values = []
    for moved in (former + step, former - step):
        parameter[place] = moved
        values.append(evaluate())
    parameter[place] = former
    return (values[0] - middle) / step, (middle - values[1]) / step
