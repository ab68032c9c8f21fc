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

from reftorch._tensor import Tensor
from reftorch.debug.common.expect import expect_module, expect_number, expect_values
from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.library import is_tensor, library_of
from reftorch.debug.common.table import Report, Table, counted, shape_text
from reftorch.debug.common.untouched import fixed_random_numbers, own_copy, untouched
from reftorch.debug.model.comparison import unravel
from reftorch.debug.model.find_nan import plain, tensor_kind
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

    def __init__(self, rows: list[GradientStatus], measures: bool = False) -> None:
        self.rows, self.measures = rows, measures

    @property
    def problems(self) -> dict[str, str]:
        """The name and the status of each parameter that has a problem."""
        return {row.name: row.status for row in self.rows if row.problem}

    @property
    def ok(self) -> bool:
        """Whether no parameter has a problem, and at least one was looked at."""
        return self.looked_at > 0 and not self.problems

    @property
    def looked_at(self) -> int:
        """The number of parameters that are trained."""
        return sum(row.status != "not trained" for row in self.rows)

    def _none(self) -> str:
        """Return what to say where no parameter has a problem: which of them were looked at or measured."""
        if not self.rows:
            return "gradients: nothing was checked, because the model has no parameters"
        if not self.looked_at:
            return "gradients: nothing was checked, because no parameter is trained"
        if self.measures and not any(row.checked for row in self.rows):
            return "gradients: no problem was seen, but no entry could be measured"
        return "gradients: all ok"

    def tables(self) -> list[Table]:
        rows = [(r.name, r.shape, r.norm, r.largest, r.checked or None, r.status) for r in self.rows]
        marked = {i for i, row in enumerate(self.rows) if row.problem}
        have = f"{counted(len(rows), 'parameter')} {'has' if len(marked) == 1 else 'have'} a problem"
        caption = f"gradients: {len(marked)} of {have}" if marked else self._none()
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
    a loss and checks the gradients of this loss, without changing the model or the random numbers. Then it compares
    some entries of each gradient with slopes that are measured on a copy of the model in float64.

    Args:
        model: a module.
        inputs: the arguments of the model.
        loss: a function from the model's output to one number; the default is a weighted sum of all outputs.
        samples: the number of entries of each parameter to measure; the entry with the largest gradient is one of them.
        large: a gradient of a larger norm counts as exploding.
        rtol, atol: the allowed difference: ``|gradient - slope| <= atol + rtol * |slope|``.

    Returns:
        A table; ``ok`` is True if a parameter is trained and none has a problem, and ``problems`` lists the problems.

    Raises:
        ValueError: the model is lazy or on meta, so there is nothing to measure; or the loss is not one number.

    Example:
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
    expect_values("check_gradients", model, inputs)
    if not inputs:
        if loss is not None:
            raise ValueError("check_gradients: a loss needs inputs. Hint: check_gradients(model, x, loss=...).")
        return GradientCheck([look(name, p, p.grad, large) for name, p in model.named_parameters()])
    loss = loss or weighted_sum
    with untouched(model):
        rows = [look(name, p, grad, large) for name, p, grad in gradients_of(model, inputs, loss)]
    measurable = {row.name: row for row in rows if row.status in ("ok", "exploding", "zero", "no gradient")}
    if samples > 0 and measurable:
        with untouched():
            measure(measurable, model, inputs, loss, samples, rtol, atol)
    return GradientCheck(rows, samples > 0)


def weighted_sum(output: Any) -> Tensor:
    """Return a weighted sum in which every element of every output has a different weight."""
    total: Any = None
    for _, tensor in flatten(output, ""):
        if tensor.is_floating_point():
            library = library_of(tensor)
            count = library.arange(1, tensor.numel() + 1, dtype=tensor.dtype, device=tensor.device)
            weights = count.cos().reshape(tensor.shape)
            term = (tensor * weights).sum()
            total = term if total is None else total + term
    if total is None:
        raise ValueError("check_gradients: the model's output has no floating-point tensor. Hint: pass loss=...")
    return total


def gradients_of(model: Any, inputs: tuple, loss: Callable) -> list[tuple[str, Any, Any]]:
    """Return name, parameter and gradient of each parameter. The existing gradients of the model do not change."""
    named = list(model.named_parameters())
    trained = [p for _, p in named if p.requires_grad]
    library = library_of(model)
    with library.enable_grad():
        value = loss(model(*tree_map(own_copy, inputs)))
    expect_number("check_gradients", value)
    found: dict[int, Any] = {}
    if value.requires_grad and trained:
        grads = library.autograd.grad(value, trained, library.ones_like(value), allow_unused=True)
        found = {id(p): grad for p, grad in zip(trained, grads, strict=True)}
    return [(name, p, found.get(id(p))) for name, p in named]


def look(name: str, parameter: Any, grad: Any, large: float) -> GradientStatus:
    """Return the status of a gradient as far as it is visible without a measurement."""
    shape = shape_text(parameter.shape)
    if not parameter.requires_grad:
        return GradientStatus(name, shape, "not trained")
    if grad is None:
        return GradientStatus(name, shape, "no gradient")
    kind = tensor_kind(grad)
    values = plain(grad).double().reshape(-1)
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

    def evaluate() -> float:
        # Random numbers in forward, such as a dropout mask, must be equal in all calls.
        with library_of(model).no_grad(), fixed_random_numbers():
            return float(loss(double(*tree_map(own_copy, arguments))))

    with fixed_random_numbers():
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
                continue  # where the loss is not finite, it has no slope to compare with
            if abs(right - left) > bound + KINK * max(abs(right), abs(left)):
                continue
            row.checked += 1
            slope = (right + left) / 2
            computed = 0.0 if grad is None else float(grad[place])
            if not abs(computed - slope) <= bound + rtol * abs(slope) and not wrong:
                wrong = f"wrong at {list(place)}: {computed:.6g}, measured {slope:.6g}"
        row.status = wrong or row.status


def in_float64(value: Any) -> Any:
    """Return a floating-point tensor in float64, without its graph, and any other value unchanged."""
    is_float = is_tensor(value) and value.is_floating_point()
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


def slopes_at(parameter: Any, place: tuple, evaluate: Callable[[], float], middle: float) -> tuple[float, float]:
    """Return the slopes to the right and to the left of one entry, and restore the entry."""
    entries = parameter.detach()
    former = entries[place].clone()
    step = EPS * max(1.0, abs(float(former)))
    values = []
    for moved in (former + step, former - step):
        entries[place] = moved
        values.append(evaluate())
    entries[place] = former
    return (values[0] - middle) / step, (middle - values[1]) / step
