"""Trees of Python containers: they can be flattened into leaves and a description, and be rebuilt from both.

A container is a node; any other object, None included, is a leaf. Function transforms use trees for arguments and
results of any structure.

Mirrors: torch/utils/_pytree.py
Leaves out: serialization, the C++ version, ``is_leaf`` of functions without paths, dataclasses.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = [
    "GetAttrKey",
    "KeyEntry",
    "MappingKey",
    "SequenceKey",
    "TreeSpec",
    "broadcast_to_and_flatten",
    "keystr",
    "register_pytree_node",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_unflatten",
]


@dataclass(frozen=True)
class SequenceKey:
    """The step of a path into an element of a list or tuple. Mirrors torch/utils/_pytree.py, ``SequenceKey``."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"


@dataclass(frozen=True)
class MappingKey:
    """The step of a path into a value of a dict. Mirrors torch/utils/_pytree.py, ``MappingKey``."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclass(frozen=True)
class GetAttrKey:
    """The step of a path into a field of a named tuple. Mirrors torch/utils/_pytree.py, ``GetAttrKey``."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


KeyEntry = SequenceKey | MappingKey | GetAttrKey
KeyPath = tuple[KeyEntry, ...]


class TreeSpec(NamedTuple):
    """The description of a tree without its leaves.

    Mirrors torch/utils/_pytree.py, ``TreeSpec``.
    """

    type: Any  # the type of the container; None for a leaf
    context: Any  # other data that the container needs, such as the keys of a dict
    children: tuple[TreeSpec, ...]

    @property
    def num_leaves(self) -> int:
        """Return the number of leaves of the tree."""
        return 1 if self.type is None else sum(child.num_leaves for child in self.children)

    def __hash__(self) -> int:  # the context may be a list
        return hash((self.type, self.num_leaves))

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        children = ", ".join(repr(child) for child in self.children)
        return f"TreeSpec({self.type.__name__}, {self.context}, [{children}])"


LEAF = TreeSpec(None, None, ())
PyTree = Any  # a leaf, or a container of trees


def LeafSpec() -> TreeSpec:
    """Return the description of a leaf.

    Mirrors torch/utils/_pytree.py, ``LeafSpec``.
    """
    return LEAF


def _sequence_keys(children: Any) -> list[KeyEntry]:
    return [SequenceKey(idx) for idx in range(len(children))]


class NodeDef(NamedTuple):
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten_fn: Callable[[list[Any], Any], Any]
    keys: Callable[[Any], Iterable[KeyEntry]] | None = None  # of the container: the key of each child


SUPPORTED_NODES: dict[type, NodeDef] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_fn: Callable[[list[Any], Any], Any],
    *,
    serialized_type_name: str | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[Iterable[tuple[KeyEntry, Any]], Any]] | None = None,
) -> None:
    """Make the instances of a class nodes.

    Args:
        cls: the class.
        flatten_fn: takes an instance; returns its children, and other data that is needed to rebuild it.
        unflatten_fn: takes the children and that data; returns an instance.
        serialized_type_name: accepted for compatibility: no tree is written to a file here.
        flatten_with_keys_fn: as ``flatten_fn``, with pairs of key and child; needed for paths only.

    Raises:
        ValueError: instances of the class are nodes already.

    Mirrors torch/utils/_pytree.py, ``register_pytree_node``.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    keys = None
    if flatten_with_keys_fn is not None:

        def keys(tree: Any) -> list[KeyEntry]:
            return [key for key, _ in flatten_with_keys_fn(tree)[0]]

    SUPPORTED_NODES[cls] = NodeDef(flatten_fn, unflatten_fn, keys)


def _mapping_keys(tree: Any) -> list[KeyEntry]:
    return [MappingKey(key) for key in tree]


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    """Return the values and the keys of a dict.

    Mirrors torch/utils/_pytree.py, ``_dict_flatten``, which libraries use for classes of their own.
    """
    return list(d.values()), list(d)


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[KeyEntry, Any]], list[Any]]:
    """Return the values of a dict, each with its key as an entry of a path, and the keys.

    Mirrors torch/utils/_pytree.py, ``_dict_flatten_with_keys``.
    """
    return [(MappingKey(key), value) for key, value in d.items()], list(d)


def _dict_unflatten(values: Iterable[Any], context: list[Any]) -> dict[Any, Any]:
    """Return the dict of these values and keys.

    Mirrors torch/utils/_pytree.py, ``_dict_unflatten``.
    """
    return dict(zip(context, values, strict=True))


SUPPORTED_NODES[tuple] = NodeDef(lambda t: (t, None), lambda children, _: tuple(children), _sequence_keys)
SUPPORTED_NODES[list] = NodeDef(lambda t: (t, None), lambda children, _: children, _sequence_keys)
SUPPORTED_NODES[deque] = NodeDef(
    lambda d: (d, d.maxlen), lambda children, maxlen: deque(children, maxlen), _sequence_keys
)
SUPPORTED_NODES[dict] = NodeDef(_dict_flatten, _dict_unflatten, _mapping_keys)
SUPPORTED_NODES[OrderedDict] = NodeDef(
    lambda d: (d.values(), list(d)), lambda children, keys: OrderedDict(zip(keys, children, strict=True)), _mapping_keys
)
SUPPORTED_NODES[defaultdict] = NodeDef(
    lambda d: (d.values(), (d.default_factory, list(d))),
    lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
    _mapping_keys,
)


_named: Any = namedtuple  # PyTorch's key for all named tuples is the function
SUPPORTED_NODES[_named] = NodeDef(lambda t: (t, type(t)), lambda children, cls: cls(*children))


def _get_node_type(tree: Any) -> Any:
    """Return the key of ``SUPPORTED_NODES`` for a tree: its class, or ``namedtuple`` for a named tuple.

    Mirrors torch/utils/_pytree.py, ``_get_node_type``.
    """
    cls = type(tree)
    return namedtuple if hasattr(cls, "_fields") and _is_namedtuple(cls) else cls


def _is_namedtuple(cls: type) -> bool:
    return issubclass(cls, tuple) and (hasattr(cls, "_fields") or hasattr(cls, "n_sequence_fields"))


def _node_def(tree: Any) -> NodeDef | None:
    cls = type(tree)
    if cls in SUPPORTED_NODES:
        return SUPPORTED_NODES[cls]
    if hasattr(cls, "_fields") and _is_namedtuple(cls):
        fields = [GetAttrKey(field) for field in cls._fields]
        return NodeDef(lambda t: (t, None), lambda children, _: cls(*children), lambda t: fields)
    if _is_namedtuple(cls):  # for example those of torch.return_types
        return NodeDef(lambda t: (t, None), lambda children, _: cls(children), _sequence_keys)
    return None


def tree_flatten(tree: Any) -> tuple[list[Any], TreeSpec]:
    """Return the leaves of a tree, and the description of the tree.

    Example:
        >>> from reftorch.utils._pytree import tree_flatten, tree_unflatten
        >>> leaves, spec = tree_flatten({"a": 1, "b": (2, [3])})
        >>> leaves
        [1, 2, 3]
        >>> tree_unflatten([x * 10 for x in leaves], spec)
        {'a': 10, 'b': (20, [30])}

    Mirrors torch/utils/_pytree.py, ``tree_flatten``.
    """
    node = _node_def(tree)
    if node is None:
        return [tree], LEAF
    children, context = node.flatten_fn(tree)
    leaves: list[Any] = []
    specs = []
    for child in children:
        child_leaves, spec = tree_flatten(child)
        leaves += child_leaves
        specs.append(spec)
    return leaves, TreeSpec(type(tree), context, tuple(specs))


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """Rebuild a tree from its leaves and its description.

    Args:
        leaves: the leaves, as many as the description requires.
        treespec: the description.

    Raises:
        ValueError: the number of leaves is wrong.

    Mirrors torch/utils/_pytree.py, ``tree_unflatten``.
    """
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec refers to a pytree that "
            f"holds {treespec.num_leaves} items ({treespec})."
        )
    return _unflatten(iter(leaves), treespec)


def _unflatten(leaves: Any, spec: TreeSpec) -> Any:
    if spec.type is None:
        return next(leaves)
    children = [_unflatten(leaves, child) for child in spec.children]
    if spec.type in SUPPORTED_NODES:
        return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)
    return spec.type(*children) if hasattr(spec.type, "_fields") else spec.type(children)


def tree_leaves(tree: Any) -> list[Any]:
    """Return the leaves of a tree.

    Example:
        >>> from reftorch.utils._pytree import tree_leaves
        >>> tree_leaves({"a": [1, 2], "b": (3,)})
        [1, 2, 3]

    Mirrors torch/utils/_pytree.py, ``tree_leaves``.
    """
    return tree_flatten(tree)[0]


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Return the leaves of a tree, each with its path, and the description of the tree.

    Args:
        tree: the tree.
        is_leaf: a function that returns True for a node that shall not be flattened.

    Raises:
        ValueError: a container was registered without keys.

    Example:
        >>> from reftorch.utils._pytree import keystr, tree_flatten_with_path
        >>> leaves, _ = tree_flatten_with_path({"a": 1, "b": (2, [3])})
        >>> [(keystr(path), leaf) for path, leaf in leaves]
        [("['a']", 1), ("['b'][0]", 2), ("['b'][1][0]", 3)]

    Mirrors torch/utils/_pytree.py, ``tree_flatten_with_path``.
    """
    leaves: list[tuple[KeyPath, Any]] = []
    return leaves, _flatten_with_path(tree, (), is_leaf, leaves)


def _flatten_with_path(
    tree: Any, path: KeyPath, is_leaf: Callable[[Any], bool] | None, leaves: list[tuple[KeyPath, Any]]
) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else _node_def(tree)
    if node is None:
        leaves.append((path, tree))
        return LEAF
    if node.keys is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {type(tree)}. "
            "Please pass a flatten_with_keys_fn argument to register_pytree_node."
        )
    children, context = node.flatten_fn(tree)
    pairs = zip(node.keys(tree), children, strict=True)
    specs = tuple(_flatten_with_path(child, (*path, key), is_leaf, leaves) for key, child in pairs)
    return TreeSpec(type(tree), context, specs)


def tree_leaves_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[tuple[KeyPath, Any]]:
    """Return the leaves of a tree, each with its path, as :func:`tree_flatten_with_path` does.

    Mirrors torch/utils/_pytree.py, ``tree_leaves_with_path``.
    """
    return tree_flatten_with_path(tree, is_leaf)[0]


def keystr(kp: KeyPath) -> str:
    """Return a path as Python text, such as ``['b'][0].x``.

    Mirrors torch/utils/_pytree.py, ``keystr``.
    """
    return "".join(str(key) for key in kp)


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any) -> Any:
    """Return a tree of the same structure with ``func`` of each leaf and of the leaves of ``rests`` at the same place.

    Example:
        >>> from reftorch.utils._pytree import tree_map
        >>> tree_map(lambda a, b: a + b, {"x": 1, "y": [2]}, {"x": 10, "y": [20]})
        {'x': 11, 'y': [22]}

    Mirrors torch/utils/_pytree.py, ``tree_map``.
    """
    leaves, spec = tree_flatten(tree)
    columns = [leaves, *(tree_leaves(rest) for rest in rests)]
    return tree_unflatten([func(*row) for row in zip(*columns, strict=True)], spec)


def broadcast_to_and_flatten(tree: Any, treespec: TreeSpec) -> list[Any] | None:
    """Return the leaves of ``tree``; a leaf in the place of a branch of ``treespec`` is repeated for all its leaves.

    The result is None if the trees do not match.

    Mirrors torch/utils/_pytree.py, ``_broadcast_to_and_flatten``.
    """
    node = _node_def(tree)
    if node is None:
        return [tree] * treespec.num_leaves
    if treespec.type is not type(tree):
        return None
    children, context = node.flatten_fn(tree)
    children = list(children)
    if len(children) != len(treespec.children) or context != treespec.context:
        return None
    result: list[Any] = []
    for child, spec in zip(children, treespec.children, strict=True):
        flat = broadcast_to_and_flatten(child, spec)
        if flat is None:
            return None
        result += flat
    return result
