"""The hook on every op, for ops of PyTorch: two modes of PyTorch call an observer as reftorch's own ops do.

Mirrors: torch/utils/_python_dispatch.py
Left out: the composite ops of PyTorch, which are replaced by others before a mode of this kind sees them.
"""

from __future__ import annotations

import contextlib
from functools import cache
from typing import Any

from reftorch.debug.common.library import real_torch
from reftorch.debug.common.op_info import OpInfo, OpName

# Ops in place for which the old values do not matter. PyTorch's schemas do not say which these are.
OVERWRITES = ["bernoulli_", "cauchy_", "copy_", "exponential_", "fill_", "geometric_", "log_normal_", "normal_"]
OVERWRITES += ["random_", "set_", "uniform_", "zero_"]


def name_of(func: Any) -> OpName:
    """Return the name of an overload of PyTorch, with the facts that its schema contains."""
    return _name_of(func)


@cache
def _name_of(func: Any) -> OpName:
    schema = func._schema
    name = OpName(f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name)
    written = {i for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write}
    base = schema.name.rpartition("::")[2]
    overwritten = frozenset(written if 0 not in written or base in OVERWRITES else ())
    is_view = not written and any(r.alias_info is not None for r in schema.returns)
    arguments = tuple(argument.name for argument in schema.arguments)
    name.info = OpInfo(arguments, frozenset(written), overwritten, is_view, "empty" in base)
    return name


def in_order(func: Any, args: tuple, kwargs: dict[str, Any]) -> tuple:
    """Return the arguments in the order of the schema; one that was not passed has its default."""
    rest = [kwargs.get(argument.name, argument.default_value) for argument in func._schema.arguments[len(args) :]]
    return (*args, *rest)


def watched(observer: Any) -> contextlib.ExitStack:
    """Call an observer before and after each op of PyTorch that this thread calls, until the stack is closed."""
    torch = real_torch()

    class Ops(torch.utils._python_dispatch.TorchDispatchMode):  # type: ignore[name-defined]
        def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
            kwargs, name = kwargs or {}, name_of(func)
            if not observer._watching:
                return func(*args, **kwargs)
            observer.start(name, in_order(func, args, kwargs))
            try:
                result = func(*args, **kwargs)
            except BaseException:
                observer.end(name, None)
                raise
            observer.end(name, result if isinstance(result, tuple) else (result,))
            return result

    class Results(torch.overrides.TorchFunctionMode):  # type: ignore[name-defined]
        def __torch_function__(self, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            observer.torch_result(result)
            return result

    modes = contextlib.ExitStack()
    modes.enter_context(Results())
    modes.enter_context(Ops())
    return modes
