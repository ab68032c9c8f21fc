"""Lists of passes that are sorted by constraints and run until nothing changes.

Mirrors: torch/fx/passes/infra/pass_manager.py

Stays because executorch and torch_tensorrt run their passes with ``PassManager``.
"""

from __future__ import annotations

import inspect
import logging
from collections import deque
from collections.abc import Callable
from functools import wraps
from typing import Any

from reftorch.fx.graph_module import GraphModule
from reftorch.fx.passes.infra.pass_base import PassResult
from reftorch.fx.passes.pass_manager import (
    Constraint,
    Pass,
    _validate_pass_schedule_constraint,
    this_before_that_pass_constraint,
)
from reftorch.nn import Module

__all__ = ["PassManager", "pass_result_wrapper", "this_before_that_pass_constraint"]

logger = logging.getLogger(__name__)


def pass_result_wrapper(fn: Callable[..., Any]) -> Any:
    """Make a pass of a function that returns None or a module: the pass returns a :class:`PassResult`.

    Mirrors torch/fx/passes/infra/pass_manager.py, ``pass_result_wrapper``.
    """
    if fn is None:
        return None

    @wraps(fn)
    def wrapped_fn(gm: Module) -> PassResult | None:
        result = fn(gm)
        if result is None:
            return PassResult(gm, True)
        if isinstance(result, PassResult):
            return result
        return PassResult(result, True) if isinstance(result, Module) else None

    if not inspect.isfunction(fn):
        wrapped_fn.__name__ = type(fn).__name__
    return wrapped_fn


def _topological_sort_passes(passes: list[Pass], constraints: list[Constraint]) -> list[Pass]:
    """Return the passes in an order that keeps the constraints.

    Raises:
        RuntimeError: there is none.
    """
    if not constraints:
        return passes
    after: dict[Pass, list[Pass]] = {p: [] for p in passes}
    missing = dict.fromkeys(passes, 0)
    for a in passes:
        for b in passes:
            if a != b:
                violated = sum(not constraint(a, b) for constraint in constraints)
                after[b] += [a] * violated
                missing[a] += violated
    ready = deque(p for p in passes if not missing[p])
    result: list[Pass] = []
    while ready:
        done = ready.popleft()
        result.append(done)
        for p in after[done]:
            missing[p] -= 1
            if not missing[p]:
                ready.append(p)
    if cycle := [p for p in passes if missing[p]]:
        raise RuntimeError(f"Circular dependency detected within the following passes: {cycle}")
    return result


def _name(fn: Pass) -> str:
    return fn.__name__ if inspect.isfunction(fn) else type(fn).__name__


class PassManager:
    """Runs passes on a module, again and again until none of them changes the module.

    Args:
        passes: the passes; each returns a :class:`PassResult`.
        constraints: functions of two passes that return whether the first may come before the second.
        steps: how often the list runs at most.
        run_checks_after_each_pass: whether the check runs after each pass, and not only at the beginning.
        suppress_check_failures: has no effect, as in PyTorch.

    Raises:
        Exception: a pass failed, or returned something else; the message names the passes before.

    Example:
        >>> from reftorch.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper
        >>> def remove_dead_code(module):
        ...     module.graph.eliminate_dead_code()
        >>> def program(x):
        ...     unused = x * 2
        ...     return x
        >>> manager = PassManager([pass_result_wrapper(remove_dead_code)])
        >>> print(manager(torch.fx.symbolic_trace(program)).graph_module.code.strip())
        def forward(self, x):
            return x

    Mirrors torch/fx/passes/infra/pass_manager.py, ``PassManager``.
    """

    def __init__(
        self,
        passes: list[Pass] | None = None,
        constraints: list[Constraint] | None = None,
        steps: int | None = None,
        run_checks_after_each_pass: bool = False,
        suppress_check_failures: bool = False,
    ) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        self.steps = steps or 1
        self.run_checks_after_each_pass = run_checks_after_each_pass
        self.suppress_check_failures = suppress_check_failures
        self._validated = False

    def add_pass(self, _pass: Pass) -> None:
        """Add a pass at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def validate_constraints(self) -> None:
        """Check that the order keeps all constraints.

        Raises:
            RuntimeError: it does not.
        """
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def solve_constraints(self) -> None:
        """Sort the passes so that the order keeps all constraints.

        Raises:
            RuntimeError: no order does.
        """
        self.passes = _topological_sort_passes(self.passes, self.constraints)
        self._validated = True

    def add_checks(self, check: Callable[[Module], Any]) -> None:
        """Set the function that checks the module.

        Raises:
            TypeError: the function does not take exactly one argument.
        """
        if len(inspect.signature(check).parameters) != 1:
            raise TypeError("PassManager check function should only take in one variable, a module")
        self.check = check  # type: ignore[method-assign, assignment]

    def check(self, module: Module) -> None:
        """Check the module; :meth:`add_checks` replaces this method."""

    def __call__(self, module: Module) -> PassResult:
        if not self._validated:
            self.solve_constraints()
        self.check(module)
        overall_modified = False
        for _ in range(self.steps):
            modified = False
            for i, fn in enumerate(self.passes):
                try:
                    result = self._run_pass(fn, module)
                except Exception as e:
                    before = [_name(p) for p in self.passes[:i]]
                    raise Exception(
                        f"An error occurred when running the '{_name(fn)}' pass after the following passes: {before}"
                    ) from e
                module, modified = result.graph_module, modified or result.modified
            overall_modified |= modified
            if not modified:
                break
        return PassResult(module, overall_modified)

    def _run_pass(self, fn: Pass, module: Module) -> PassResult:
        logger.debug("Running pass '%s'", _name(fn))
        result = fn(module)
        if not isinstance(result, PassResult) and not hasattr(result, "graph_module"):
            raise TypeError(
                f"The result of the pass {_name(fn)} should be type PassResult."
                "Please wrap it with pass_result_wrapper()"
            )
        if isinstance(result.graph_module, GraphModule):
            result.graph_module.recompile()
        if self.run_checks_after_each_pass:
            self.check(result.graph_module)
        return result
