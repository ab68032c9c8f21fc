"""Flattening arguments by a description that is known before: what traced code does with ``concrete_args``.

Mirrors: torch/fx/_pytree.py
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from reftorch.utils._pytree import TreeSpec, tree_flatten

FlattenFuncSpec = Callable[[Any, TreeSpec], list[Any]]
FlattenFuncExactMatchSpec = Callable[[Any, TreeSpec], bool]

SUPPORTED_NODES: dict[Any, FlattenFuncSpec] = {}
SUPPORTED_NODES_EXACT_MATCH: dict[Any, FlattenFuncExactMatchSpec | None] = {}


def register_pytree_flatten_spec(
    cls: Any,
    flatten_fn_spec: FlattenFuncSpec,
    flatten_fn_exact_match_spec: FlattenFuncExactMatchSpec | None = None,
) -> None:
    """Say how instances of a class are flattened by a description.

    Args:
        cls: the class.
        flatten_fn_spec: takes an instance and the description; returns the children.
        flatten_fn_exact_match_spec: takes both, and returns whether the instance has exactly these children.

    Mirrors torch/fx/_pytree.py, ``register_pytree_flatten_spec``.
    """
    SUPPORTED_NODES[cls] = flatten_fn_spec
    SUPPORTED_NODES_EXACT_MATCH[cls] = flatten_fn_exact_match_spec


def tree_flatten_spec(pytree: Any, spec: TreeSpec) -> list[Any]:
    """Return the leaves of a tree at the places that a description names; the tree may have more.

    Args:
        pytree: the tree.
        spec: the description.

    Raises:
        RuntimeError: a container whose class is not registered has another structure.

    Example:
        >>> from reftorch.fx._pytree import tree_flatten_spec
        >>> from reftorch.utils._pytree import tree_flatten
        >>> tree_flatten_spec({"b": 2, "a": 1, "c": 3}, tree_flatten({"a": 0, "b": 0})[1])
        [1, 2]

    Mirrors torch/fx/_pytree.py, ``tree_flatten_spec``.
    """
    if spec.type is None:
        return [pytree]
    if spec.type in SUPPORTED_NODES:
        children = zip(SUPPORTED_NODES[spec.type](pytree, spec), spec.children, strict=True)
        return [leaf for child, sub in children for leaf in tree_flatten_spec(child, sub)]
    leaves, real_spec = tree_flatten(pytree)
    if spec != real_spec:
        raise RuntimeError(f"Real spec {real_spec} of object {pytree} is different from expected spec {spec}.")
    return leaves


def _by_position(d: Any, spec: TreeSpec) -> list[Any]:
    return [d[i] for i in range(len(spec.children))]


def _same_length(d: Any, spec: TreeSpec) -> bool:
    return len(d) == len(spec.children)


register_pytree_flatten_spec(dict, lambda d, spec: [d[key] for key in spec.context], _same_length)
register_pytree_flatten_spec(list, _by_position, _same_length)
register_pytree_flatten_spec(tuple, _by_position, _same_length)
register_pytree_flatten_spec(namedtuple, _by_position, _same_length)
