"""A search for the module and the op whose backward pass is wrong: each alone is compared with measured slopes.

Mirrors: torch/autograd/gradcheck.py, for each module of a model in place of one function
Left out: modules that compute otherwise in a second call; second derivatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reftorch.debug.common.expect import expect_module, expect_values
from reftorch.debug.common.library import library_of
from reftorch.debug.common.table import Report, Table
from reftorch.debug.common.untouched import untouched
from reftorch.debug.model.check_gradients import check_gradients
from reftorch.debug.model.wrong_ops import CallGradient, alone, copied, find_wrong_ops, is_wrong, status_of
from reftorch.utils._pytree import tree_map


@dataclass
class ModuleGradient:
    """The gradients of one module, alone: ``status`` is "ok", "not measured" with the reason, or the first problem."""

    name: str
    kind: str
    status: str

    @property
    def wrong(self) -> bool:
        return is_wrong(self.status)


class WrongGradient(Report):
    """The result of :func:`find_wrong_gradient`: ``rows`` in the order of the search, and ``first``, the culprit or
    None; ``calls`` are the calls in the culprit, and ``op`` is the first wrong one or None."""

    def __init__(self, rows: list[ModuleGradient], calls: list[CallGradient]) -> None:
        self.rows = rows
        self.calls = calls

    @property
    def first(self) -> ModuleGradient | None:
        """The innermost module whose gradient is wrong: its own backward is the cause, and not one of its children."""
        return next((row for row in self.rows if row.wrong), None)

    @property
    def op(self) -> CallGradient | None:
        """The first call of an op or of an autograd Function in the culprit whose gradient is wrong by itself."""
        return next((call for call in self.calls if call.wrong), None)

    def tables(self) -> list[Table]:
        found = self.first
        unmeasured = sum(row.status.startswith("not measured") for row in self.rows)
        caption = "gradients of modules: all ok"
        if not self.rows:
            caption = "gradients of modules: nothing was measured, because no module was called"
        elif unmeasured == len(self.rows):
            caption = "gradients of modules: nothing was measured"
        elif unmeasured:
            caption = f"gradients of modules: {unmeasured} of {len(self.rows)} not measured, the others ok"
        if found is not None:
            caption = f"gradients of modules: '{found.name}' ({found.kind}) is the innermost module that is wrong"
        rows = [(row.name or "(model)", row.kind, row.status) for row in self.rows]
        marked = {self.rows.index(found)} if found is not None else set()
        tables = [Table(["module", "type", "status"], rows, caption, marked=marked)]
        if found is not None:
            tables.append(self._table_of_calls(found))
        return tables

    def _table_of_calls(self, module: ModuleGradient) -> Table:
        rows = [(call.name, str(call.line or ""), call.status) for call in self.calls]
        wrong = self.op
        if wrong is None:
            caption = f"each call in '{module.name}' is right alone: is the graph cut somewhere, or is there a hook?"
        else:
            caption = f"calls in '{module.name}': {wrong.name} is wrong"
        marked = {self.calls.index(wrong)} if wrong is not None else set()
        return Table(["call", "line", "status"], rows, caption, marked=marked)


def find_wrong_gradient(model: Any, *inputs: Any, samples: int = 4, **kwargs: Any) -> WrongGradient:
    """Find the innermost module of a model whose backward pass computes a wrong gradient, and the op in it.

    The model is called once, and the inputs of each module are kept. Then each module alone, the innermost first, is
    copied to float64, and the gradients of its inputs and parameters are compared with measured slopes. If a module is
    wrong and its children are right, the fault is in the module's own ``forward``. Then each op and each custom
    :class:`autograd.Function` that this ``forward`` calls is measured in the same way, and ``op`` is the first one that
    is wrong, with its line. A ``detach`` on the way counts as wrong, because it passes on no gradient. A module whose
    copy raises an error, or whose outputs are not finite, is reported as "not measured".

    Args:
        model: a module.
        inputs, kwargs: the arguments of the model.
        samples: the number of entries of each tensor to measure.

    Returns:
        A table; ``first`` is the innermost module with a wrong gradient, or None; ``op`` is the first wrong call in it.

    Example:
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
        >>> found = find_wrong_gradient(net, torch.ones(1, 2))
        >>> found.first.name, found.op.name
        ('1', 'Double.apply')

    Mirrors torch/autograd/gradcheck.py, ``gradcheck``.
    """
    expect_module("find_wrong_gradient", model)
    expect_values("find_wrong_gradient", model, (inputs, kwargs))
    with untouched(model):
        return _find(model, inputs, kwargs, samples)


def _find(model: Any, inputs: tuple, kwargs: dict[str, Any], samples: int) -> WrongGradient:
    library, calls, rows = library_of(model), first_calls(model, inputs, kwargs), []
    modules = {name: module for name, module in model.named_modules() if name in calls}
    for name in sorted(modules, key=lambda name: -(name.count(".") + bool(name))):
        args, keywords = calls[name]
        try:
            module = alone(library, modules[name], args, keywords)
            status = status_of(check_gradients(module, library.tensor(0.0), samples=samples))
        except (RuntimeError, TypeError, ValueError) as error:  # such as of a module that returns integers
            status = f"not measured: its copy in float64 raised {type(error).__name__}: {error}"
        rows.append(ModuleGradient(name, type(modules[name]).__name__, status))
    culprit = next((row.name for row in rows if row.wrong), None)
    found = [] if culprit is None else find_wrong_ops(modules[culprit], *calls[culprit], samples)
    return WrongGradient(rows, found)


def first_calls(model: Any, inputs: tuple, kwargs: dict[str, Any]) -> dict[str, tuple[tuple, dict[str, Any]]]:
    """Call the model, and return the arguments of the first call of each module, in the order of the calls."""
    calls: dict[str, tuple[tuple, dict[str, Any]]] = {}
    handles = []
    for name, module in model.named_modules():

        def keep(module: Any, args: tuple, keywords: dict[str, Any], name: str = name) -> None:
            calls.setdefault(name, tree_map(copied, (args, keywords)))

        handles.append(module.register_forward_pre_hook(keep, with_kwargs=True))
    try:
        with library_of(model).no_grad():
            model(*tree_map(copied, inputs), **tree_map(copied, kwargs))
    finally:
        for handle in handles:
            handle.remove()
    return calls
