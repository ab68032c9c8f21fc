"""A search for the call whose backward pass is wrong, among the ops and autograd Functions that a module calls.

Mirrors: torch/autograd/gradcheck.py, for each call of a module in place of one function
Left out: calls that give no floating-point tensor, such as an assignment to a slice; second derivatives.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reftorch.debug.common.library import is_tensor, library_of
from reftorch.debug.common.ops import Line, calling_lines
from reftorch.debug.model.check_gradients import GradientCheck, check_gradients, in_float64
from reftorch.utils._pytree import tree_leaves, tree_map


@dataclass
class CallGradient:
    """The gradients of one call, alone: ``status`` is "ok", "not measured" with the reason, or the first problem."""

    name: str
    line: Line | None
    status: str

    @property
    def wrong(self) -> bool:
        return is_wrong(self.status)


@dataclass
class _Call:
    name: str
    function: Callable[..., Any]
    args: tuple
    kwargs: dict[str, Any]
    needs: list[bool]  # of each floating-point tensor among the arguments: whether it requires a gradient
    line: Line | None


def alone(library: Any, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
    """Return a module that calls the function, and whose inputs are parameters, so that a check of parameters checks
    them too; the parameters of the function, if it is a module, are parameters as well."""

    class Alone(library.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = function
            self.arguments = (args, kwargs)
            floats = [each for each in tree_leaves(self.arguments) if is_float(each)]
            self.inputs = library.nn.ParameterList([library.nn.Parameter(each.detach().clone()) for each in floats])

        def forward(self, _: Any) -> Any:
            inputs = iter(self.inputs)
            args, kwargs = tree_map(lambda each: next(inputs) if is_float(each) else each, self.arguments)
            return self.module(*args, **kwargs)

    return Alone()


def call_alone(library: Any, call: _Call) -> Any:
    """Return a module of one call, in float64. The inputs through which the gradient goes are parameters."""

    class CallAlone(library.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.call = call
            self.arguments = tree_map(in_float64, (call.args, call.kwargs))
            floats = [each for each in tree_leaves(self.arguments) if is_float(each)]
            chosen = [each for each, needs in zip(floats, call.needs, strict=True) if needs]
            self.inputs = library.nn.ParameterList([library.nn.Parameter(each) for each in chosen])

        def forward(self, _: Any) -> Any:
            needs, inputs = iter(self.call.needs), iter(self.inputs)

            def argument(value: Any) -> Any:
                if not is_float(value):
                    return value
                return next(inputs).clone() if next(needs) else value.clone()  # the call may write to it

            args, kwargs = tree_map(argument, self.arguments)
            result = self.call.function(*args, **kwargs)
            for each in tree_leaves(result):
                if is_float(each) and each.dtype != library.float64:
                    raise RuntimeError(f"its result is {each.dtype} for inputs of float64")
            return result

    return CallAlone()


def is_float(value: Any) -> bool:
    return is_tensor(value) and value.is_floating_point()


def copied(value: Any) -> Any:
    """Return a copy of a tensor, because the model may write to it later."""
    return value.detach().clone() if is_tensor(value) else value


def is_wrong(status: str) -> bool:
    return status != "ok" and not status.startswith("not measured")


def status_of(check: GradientCheck) -> str:
    """Return the first wrong gradient. A gradient of zero may be right, and so may a missing one without a slope."""
    wrong = {name: status for name, status in check.problems.items() if status.startswith(("wrong", "NaN", "Inf"))}
    for name, status in wrong.items():
        position = name.removeprefix("inputs.")
        where = f"input {position}" if position != name else name.removeprefix("module.")
        return f"{where}: {status}"
    return "ok" if any(row.checked for row in check.rows) else "not measured"


class _Calls:
    """The arguments of each call of an op or an autograd Function."""

    def __init__(self) -> None:
        self.calls: list[_Call] = []
        self.inside = 0  # what a Function calls in its forward is a part of that Function

    def run(self, name: str, function: Callable[..., Any], args: tuple, kwargs: dict[str, Any]) -> Any:
        self.inside += 1
        try:
            kept = tree_map(copied, (args, kwargs))
            needs = [each.requires_grad for each in tree_leaves((args, kwargs)) if is_float(each)]
            result = function(*args, **kwargs)
        finally:
            self.inside -= 1
        if not self.inside and any(needs) and any(map(is_float, tree_leaves(result))):
            self.calls.append(_Call(name, function, kept[0], kept[1], needs, calling_lines(sys._getframe(1)).user))
        return result


@contextmanager
def _recorded(library: Any) -> Iterator[list[_Call]]:
    """Record the ops and the autograd Functions that are called in a ``with`` block."""
    calls = _Calls()
    usual = library.autograd.Function.__dict__["apply"]

    class Ops(library.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
            def called(*args: Any, **kwargs: Any) -> Any:
                return func(*args, **kwargs)  # a property's ``__get__`` could not be copied

            name = library.overrides.resolve_name(func) or str(getattr(func, "__name__", func))
            return calls.run(name.removesuffix(".__get__"), called, args, kwargs or {})

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return calls.run(f"{cls.__name__}.apply", lambda *a, **k: usual.__func__(cls, *a, **k), args, kwargs)

    library.autograd.Function.apply = classmethod(apply)
    try:
        with Ops():
            yield calls.calls
    finally:
        library.autograd.Function.apply = usual


def _with_gradient(value: Any) -> Any:
    """Return a copy of a floating-point tensor that requires a gradient and may be written to."""
    return value.detach().requires_grad_().clone() if is_float(value) else value


def find_wrong_ops(module: Any, args: tuple, kwargs: dict[str, Any], samples: int) -> list[CallGradient]:
    """Call a module, and compare the gradients of each call in it, alone, with measured slopes.

    Only calls on the way of a gradient are compared: an argument is a parameter of the module, or depends on one or on
    an input. The search ends at the first call that is wrong.

    Args:
        module: the module.
        args, kwargs: its arguments.
        samples: the number of entries of each tensor to measure.

    Returns:
        A row for each call up to the first one that is wrong.
    """
    library = library_of(module)
    args, kwargs = tree_map(_with_gradient, (args, kwargs))
    with library.enable_grad(), _recorded(library) as calls:
        module(*args, **kwargs)
    rows = []
    for call in calls:
        try:
            status = status_of(check_gradients(call_alone(library, call), library.tensor(0.0), samples=samples))
        except (RuntimeError, TypeError) as error:
            status = f"not measured: in float64 it raised {type(error).__name__}: {str(error).splitlines()[0]}"
        rows.append(CallGradient(call.name, call.line, status))
        if is_wrong(status):
            break
    return rows
