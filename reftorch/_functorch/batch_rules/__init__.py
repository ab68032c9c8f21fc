"""Batching rules: how each op runs on a whole batch when a function calls it for one example.

A composite op needs no rule, because each op that it calls finds its own rule. An in-place op uses the rule of its
functional form. An op that is tagged as pointwise at its registration uses the rule of pointwise ops, unless it has a
rule of its own. Any other op without a rule runs example by example, with a warning.

Each module holds the rules of the ops of one file of ``cpp/ATen/native/`` and has the name of this file. Rules that ops
of several families share stand in ``_generic`` and ``_random``. The first vmap imports ``_families``, which imports all
of these modules.

Mirrors: aten/src/ATen/functorch/BatchRules*.cpp, aten/src/ATen/functorch/BatchedFallback.cpp
Leaves out: rules in C++; ``_C._debug_only_display_vmap_fallback_warnings``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from reftorch import _C
from reftorch._functorch.batch_rules._common import RULES, Op, Rule, front, refuse_unbatched_self
from reftorch._functorch.batch_rules._generic import broadcasting, pointwise
from reftorch._functorch.batch_rules._random import ENTRIES
from reftorch._warnings import warn

__all__ = ["register", "resolve", "unregister"]

# C++ calls an entry with the arguments, their batch dimensions, the size of the batch, the randomness and the level.
Entry = Callable[[list[Any], list[Any], int, str, int], tuple[Any, Any]]


@functools.cache
def _schemas() -> dict[str, dict[str, Any]]:
    return {schema["name"].removeprefix("aten::"): schema for schema in _C._get_all_op_schemas()}


def _flags(dims: list[Any]) -> list[Any]:
    return [[d is not None for d in dim] if isinstance(dim, list) else dim is not None for dim in dims]


def _in_front(args: list[Any], dims: list[Any]) -> list[Any]:
    return [
        [front(v, d) for v, d in zip(arg, dim, strict=True)] if isinstance(dim, list) else front(arg, dim)
        for arg, dim in zip(args, dims, strict=True)
    ]


def _zeros_for(returns: list[Any]) -> Any:
    return 0 if len(returns) == 1 else [0] * len(returns)


def _functional(op: Op, rule: Rule) -> Entry:
    dims_of_results = _zeros_for(_schemas()[op.name]["returns"])

    def entry(args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
        return rule(op, _in_front(args, dims), _flags(dims), size), dims_of_results

    return entry


def _inplace(name: str, functional: Op, rule: Rule) -> Entry:
    def entry(args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
        refuse_unbatched_self(name, dims, level)
        values = _in_front(args, dims)
        self = values[0]
        if _C.is_grad_enabled():  # a formula below may save the old value
            values[0] = self.clone()
        self.copy_(rule(functional, values, _flags(dims), size))
        return None, None

    return entry


def _inplace_view(functional: Op, rule: Rule) -> Entry:
    """Make the entry of an op that changes a tensor's geometry in place: it takes a new view of the value."""

    def entry(args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
        return rule(functional, _in_front(args, dims), _flags(dims), size), 0

    return entry


def _example_by_example(op: Op) -> Entry:
    schema = _schema_of(op.name)
    returns = schema["returns"]
    if not returns or any(kind != "Tensor" for _, kind in returns):  # without returns, it changes lists in place
        raise RuntimeError(
            f"Batching rule not implemented for {schema['name']}; the fallback path doesn't work on out= or view ops."
        )

    def pick(arg: Any, dim: Any, i: int) -> Any:
        if isinstance(dim, list):
            return [pick(a, d, i) for a, d in zip(arg, dim, strict=True)]
        return arg if dim is None else arg.select(dim, i)

    def entry(args: list[Any], dims: list[Any], size: int, randomness: str, level: int) -> tuple[Any, Any]:
        warn(
            f"There is a performance drop because we have not yet implemented the batching rule for {schema['name']}. "
            "It runs once for each example.",
        )
        results = [op([pick(arg, dim, i) for arg, dim in zip(args, dims, strict=True)]) for i in range(size)]
        if len(returns) == 1:
            return _C._VariableFunctions.stack(results), 0
        return [_C._VariableFunctions.stack(list(column)) for column in zip(*results, strict=True)], [0] * len(returns)

    return entry


def _op(name: str) -> Op:
    return Op(name, tuple(argument["name"] for argument in _schema_of(name)["arguments"]))


def _schema_of(name: str) -> dict[str, Any]:
    """Return the schema of an op of aten, or of an op that Python has defined since."""
    if name in _schemas():
        return _schemas()[name]
    base, _, overload = name.partition(".")
    found = _C._get_op_schemas(base)
    return next(schema for schema in found if schema["name"].partition(".")[2] == overload)


_REGISTERED: dict[str, Entry] = {}


def register(name: str, entry: Entry) -> None:
    """Set the rule of an op; ``torch.library.register_vmap`` calls this function.

    Args:
        name: the name of the op, with its namespace and overload.
        entry: the rule.

    Mirrors functorch's registration of a kernel for the key FuncTorchBatched.
    """
    _REGISTERED[name] = entry
    _C._functorch._forget_rules()


def unregister(name: str) -> None:
    """Remove a rule that :func:`register` has set."""
    _REGISTERED.pop(name, None)
    _C._functorch._forget_rules()


def resolve(name: str) -> Entry:
    """Return the entry that runs an op on a batch.

    Args:
        name: the name of the op, with its overload.

    Raises:
        RuntimeError: the op cannot run under vmap.

    Mirrors aten/src/ATen/functorch/BatchedFallback.cpp
    """
    if name in _REGISTERED:
        return _REGISTERED[name]
    name = name.removeprefix("aten::")
    from_random = ENTRIES.get(name)
    if from_random is not None:
        return functools.partial(from_random, _op(name))
    op = _op(name)
    if name in RULES:
        rule = RULES[name]
        return _inplace(name, op, rule) if _writes_self(name) else _functional(op, rule)
    form_of = _schema_of(name).get("functional")
    if form_of is None:
        common = _common_rule(name)
        return _example_by_example(op) if common is None else _functional(op, common)
    functional = form_of.removeprefix("aten::")
    common = RULES.get(functional) or _common_rule(functional)
    if common is not None and _C.Tag.inplace_view in _C._dispatch_tags("aten::" + name):
        return _inplace_view(op, common)
    if common is not None and _writes_self(name):
        return _inplace(name, _op(functional), common)
    return _example_by_example(op)


def _common_rule(name: str) -> Rule | None:
    """Return the rule of an op that is tagged as pointwise where it is registered; None for any other op."""
    if name not in _schemas() or _C.Tag.pointwise not in _C._dispatch_tags("aten::" + name):
        return None
    tensors = [argument for argument in _schemas()[name]["arguments"] if argument["type"].startswith("Tensor")]
    return pointwise if len(tensors) == 1 else broadcasting


def _writes_self(name: str) -> bool:
    arguments = _schema_of(name)["arguments"]
    return bool(arguments) and "!" in arguments[0]["type"]
