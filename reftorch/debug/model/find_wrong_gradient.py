"""A search for the module whose backward pass is wrong: each module alone is compared with measured slopes.

Mirrors: torch/autograd/gradcheck.py, for each module of a model in place of one function
Left out: modules that change their state in a call; second derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reftorch import _C
from reftorch.autograd.grad_mode import no_grad
from reftorch.debug.common.expect import expect_module
from reftorch.debug.common.table import Report, Table
from reftorch.debug.model.check_gradients import GradientCheck, check_gradients
from reftorch.nn.modules.container import ParameterList
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter
from reftorch.utils._pytree import tree_leaves, tree_map


@dataclass
class ModuleGradient:
    """The gradients of one module, alone: ``status`` is "ok", "not measured" with the reason, or the first problem."""

    name: str
    kind: str
    status: str

    @property
    def wrong(self) -> bool:
        return self.status != "ok" and not self.status.startswith("not measured")


class WrongGradient(Report):
    """The result of :func:`find_wrong_gradient`: ``rows`` in the order of the search, and ``first``, the culprit or
    None."""

    def __init__(self, rows: list[ModuleGradient]) -> None:
        self.rows = rows

    @property
    def first(self) -> ModuleGradient | None:
        """The innermost module whose gradient is wrong: its own backward is the cause, and not one of its children."""
        return next((row for row in self.rows if row.wrong), None)

    def tables(self) -> list[Table]:
        found = self.first
        caption = "gradients of modules: all ok"
        if found is not None:
            caption = f"gradients of modules: '{found.name}' ({found.kind}) is the innermost module that is wrong"
        rows = [(row.name or "(model)", row.kind, row.status) for row in self.rows]
        marked = {self.rows.index(found)} if found is not None else set()
        return [Table(["module", "type", "status"], rows, caption, marked=marked)]


class _Alone(Module):
    """A module whose inputs are parameters, so that a check of parameters checks them too."""

    def __init__(self, module: Any, args: tuple, kwargs: dict[str, Any]) -> None:
        super().__init__()
        self.module = module
        self.arguments = (args, kwargs)
        floats = [each for each in tree_leaves(self.arguments) if is_float(each)]
        self.inputs = ParameterList([Parameter(each.detach().clone()) for each in floats])

    def forward(self, _: Any) -> Any:
        inputs = iter(self.inputs)
        args, kwargs = tree_map(lambda each: next(inputs) if is_float(each) else each, self.arguments)
        return self.module(*args, **kwargs)


def is_float(value: Any) -> bool:
    return isinstance(value, _C.TensorBase) and value.is_floating_point()


def find_wrong_gradient(model: Any, *inputs: Any, samples: int = 4, **kwargs: Any) -> WrongGradient:
    """Find the innermost module of a model whose backward pass computes a wrong gradient.

    The model is called once, and the inputs of each module are kept. Then each module alone, the innermost first, is
    copied to float64, and the gradients of its inputs and parameters are compared with measured slopes. If a module is
    wrong and its children are right, the fault is in the module's own ``forward``, for example in a custom
    :class:`autograd.Function` that it calls. A module whose copy raises an error, or whose
    outputs are not finite, is reported as "not measured".

    Args:
        model: a module.
        inputs, kwargs: the arguments of the model.
        samples: the number of entries of each tensor to measure.

    Returns:
        A table; ``first`` is the innermost module with a wrong gradient, or None.

    Example:
        >>> import reftorch as torch
        >>> from reftorch.debug import find_wrong_gradient
        >>> class Double(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return x * 2
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         return grad
        >>> class Layer(torch.nn.Module):
        ...     def forward(self, x):
        ...         return Double.apply(x)
        >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2), Layer(), torch.nn.Linear(2, 1))
        >>> find_wrong_gradient(net, torch.ones(1, 2)).first.name
        '1'

    Mirrors torch/autograd/gradcheck.py, ``gradcheck``.
    """
    expect_module("find_wrong_gradient", model)
    calls = first_calls(model, inputs, kwargs)
    rows = []
    modules = {name: module for name, module in model.named_modules() if name in calls}
    for name in sorted(modules, key=lambda name: -(name.count(".") + bool(name))):
        args, keywords = calls[name]
        try:
            status = status_of(check_gradients(_Alone(modules[name], args, keywords), _C.tensor(0.0), samples=samples))
        except RuntimeError as error:  # such as of a module that makes a tensor of float32 in each call
            status = f"not measured: its copy in float64 raised {type(error).__name__}: {error}"
        rows.append(ModuleGradient(name, type(modules[name]).__name__, status))
    return WrongGradient(rows)


def first_calls(model: Any, inputs: tuple, kwargs: dict[str, Any]) -> dict[str, tuple[tuple, dict[str, Any]]]:
    """Call the model, and return the arguments of the first call of each module, in the order of the calls."""
    calls: dict[str, tuple[tuple, dict[str, Any]]] = {}
    handles = []
    for name, module in model.named_modules():

        def keep(module: Any, args: tuple, keywords: dict[str, Any], name: str = name) -> None:
            calls.setdefault(name, tree_map(copied, (args, keywords)))

        handles.append(module.register_forward_pre_hook(keep, with_kwargs=True))
    try:
        with no_grad():
            model(*inputs, **kwargs)
    finally:
        for handle in handles:
            handle.remove()
    return calls


def copied(value: Any) -> Any:
    """Return a copy of a tensor, because the model may write to it later."""
    return value.detach().clone() if isinstance(value, _C.TensorBase) else value


def status_of(check: GradientCheck) -> str:
    """Return the first wrong gradient. A gradient of zero may be right, and so may a missing one without a slope."""
    wrong = {name: status for name, status in check.problems.items() if status.startswith(("wrong", "NaN", "Inf"))}
    for name, status in wrong.items():
        position = name.removeprefix("inputs.")
        where = f"input {position}" if position != name else name.removeprefix("module.")
        return f"{where}: {status}"
    return "ok" if any(row.checked for row in check.rows) else "not measured"
