"""Lists of passes whose order is checked.

Mirrors: torch/fx/passes/pass_manager.py

Stays because torch_tensorrt makes its list of lowering passes with ``PassManager``.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

__all__ = [
    "PassManager",
    "inplace_wrapper",
    "log_hook",
    "loop_pass",
    "these_before_those_pass_constraint",
    "this_before_that_pass_constraint",
]

logger = logging.getLogger(__name__)

Pass = Callable[..., Any]
Constraint = Callable[[Pass, Pass], bool]


def inplace_wrapper(fn: Callable[..., Any]) -> Pass:
    """Make a pass of a function that changes its argument in place: the pass returns the argument.

    Mirrors torch/fx/passes/pass_manager.py, ``inplace_wrapper``.
    """

    @wraps(fn)
    def wrapped_fn(gm: Any, *args: Any, **kwargs: Any) -> Any:
        fn(gm, *args, **kwargs)
        return gm

    return wrapped_fn


def log_hook(fn: Callable[..., Any], level: int = logging.INFO) -> Pass:
    """Make a pass log what it returns.

    Args:
        fn: the pass.
        level: the level of the log.

    Mirrors torch/fx/passes/pass_manager.py, ``log_hook``.
    """

    @wraps(fn)
    def wrapped_fn(*args: Any, **kwargs: Any) -> Any:
        val = fn(*args, **kwargs)
        logger.log(level, "Ran pass %s\t Return value: %s", fn, val)
        return val

    return wrapped_fn


def loop_pass(base_pass: Pass, n_iter: int | None = None, predicate: Callable[[Any], bool] | None = None) -> Pass:
    """Make a pass that runs another pass several times.

    Args:
        base_pass: the pass.
        n_iter: how often; or
        predicate: whether to run it once more, given what it returned last.

    Raises:
        AssertionError: not exactly one of ``n_iter`` and ``predicate`` is given.

    Example:
        >>> from reftorch.fx.passes.pass_manager import loop_pass
        >>> loop_pass(lambda x: x + 2, n_iter=3)(0), loop_pass(lambda x: x * 2, predicate=lambda x: x < 50)(1)
        (6, 64)

    Mirrors torch/fx/passes/pass_manager.py, ``loop_pass``.
    """
    if (n_iter is not None) == (predicate is not None):
        raise AssertionError("Exactly one of `n_iter`or `predicate` must be specified.")

    @wraps(base_pass)
    def new_pass(source: Any) -> Any:
        output = source
        if predicate is not None:
            while predicate(output):
                output = base_pass(output)
            return output
        if not n_iter or n_iter < 0:
            raise RuntimeError(
                f"loop_pass must be given positive int n_iter (given {n_iter}) xor predicate (given {predicate})"
            )
        for _ in range(n_iter):
            output = base_pass(output)
        return output

    return new_pass


def _validate_pass_schedule_constraint(constraint: Constraint, passes: list[Pass]) -> None:
    for i, a in enumerate(passes):
        for j, b in enumerate(passes[i + 1 :]):
            if not constraint(a, b):
                raise RuntimeError(
                    f"pass schedule constraint violated. Expected {a} before {b} but found {a} at index {i} and {b} "
                    f"at index{j} in pass list."
                )


def this_before_that_pass_constraint(this: Pass, that: Pass) -> Constraint:
    """Return the constraint that one pass comes before another, where both are in a list.

    Mirrors torch/fx/passes/pass_manager.py, ``this_before_that_pass_constraint``.
    """
    return lambda a, b: a != that or b != this


def these_before_those_pass_constraint(these: Pass, those: Pass) -> Constraint:
    """Return the constraint that passes made from one function come before passes made from another.

    Args:
        these, those: the functions before ``loop_pass`` and the like wrapped them.

    Mirrors torch/fx/passes/pass_manager.py, ``these_before_those_pass_constraint``.
    """
    return lambda a, b: inspect.unwrap(a) != those or inspect.unwrap(b) != these


class PassManager:
    """A list of passes; a call runs them in order, each on the result of the one before.

    Args:
        passes: the passes.
        constraints: functions of two passes that return whether the first may come before the second.

    Raises:
        RuntimeError: at a call, the order breaks a constraint.

    Example:
        >>> from reftorch.fx.passes.pass_manager import PassManager, this_before_that_pass_constraint
        >>> def double(x):
        ...     return x * 2
        >>> def add_one(x):
        ...     return x + 1
        >>> PassManager([double, add_one])(5)
        11
        >>> PassManager([double, add_one], [this_before_that_pass_constraint(add_one, double)])(5)
        Traceback (most recent call last):
        ...
        RuntimeError: pass schedule constraint violated. Expected <function double ...

    Mirrors torch/fx/passes/pass_manager.py, ``PassManager``.
    """

    def __init__(self, passes: list[Pass] | None = None, constraints: list[Constraint] | None = None) -> None:
        self.passes = passes or []
        self.constraints = constraints or []
        self._validated = False

    @classmethod
    def build_from_passlist(cls, passes: list[Pass]) -> PassManager:
        """Return a manager of passes without constraints.

        Mirrors torch/fx/passes/pass_manager.py, ``PassManager.build_from_passlist``.
        """
        return PassManager(passes)

    def add_pass(self, _pass: Pass) -> None:
        """Add a pass at the end."""
        self.passes.append(_pass)
        self._validated = False

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint."""
        self.constraints.append(constraint)
        self._validated = False

    def remove_pass(self, _passes: list[str]) -> None:
        """Remove the passes with these names."""
        if _passes is None:
            return
        self.passes = [one for one in self.passes if one.__name__ not in _passes]
        self._validated = False

    def replace_pass(self, _target: Pass, _replacement: Pass) -> None:
        """Put a pass in the place of the passes that have the name of another one."""
        self.passes = [_replacement if one.__name__ == _target.__name__ else one for one in self.passes]
        self._validated = False

    def validate(self) -> None:
        """Check that the order keeps all constraints.

        Raises:
            RuntimeError: it does not.

        Mirrors torch/fx/passes/pass_manager.py, ``PassManager.validate``.
        """
        if not self._validated:
            for constraint in self.constraints:
                _validate_pass_schedule_constraint(constraint, self.passes)
            self._validated = True

    def __call__(self, source: Any) -> Any:
        self.validate()
        for one in self.passes:
            source = one(source)
        return source
