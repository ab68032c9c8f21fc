"""Trees of containers: apart, together, and one spread over another.

Mirrors: test/test_pytree.py
"""

import importlib
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from reftorch.utils import _pytree as pytree

Point = namedtuple("Point", "x y")

TREES = [
    1,
    None,
    (),
    (1, [2, (3,)], {"a": 4, "b": None}),
    Point(1, [2, 3]),
    OrderedDict(b=1, a=(2,)),
    deque([1, 2], 3),
    defaultdict(list, {"k": 1}),
]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_there_and_back(tree):
    leaves, spec = pytree.tree_flatten(tree)
    again = pytree.tree_unflatten(leaves, spec)
    assert again == tree
    assert type(again) is type(tree)
    assert spec.num_leaves == len(leaves)


def test_the_same_leaves_as_torch(real_torch, noted):
    theirs = importlib.import_module(f"{real_torch.__name__}.utils._pytree")

    for tree in TREES:
        assert pytree.tree_leaves(tree) == noted(theirs.tree_leaves(tree))


def test_paths_are_those_of_torch(real_torch, noted):
    theirs = importlib.import_module(f"{real_torch.__name__}.utils._pytree")

    def text(module, tree, **kwargs):
        leaves, _ = module.tree_flatten_with_path(tree, **kwargs)
        return [(module.keystr(path), leaf) for path, leaf in leaves]

    for tree in TREES:
        assert text(pytree, tree) == noted(text(theirs, tree))
        cut = {"is_leaf": lambda node: isinstance(node, list)}
        assert text(pytree, tree, **cut) == noted(text(theirs, tree, **cut))


def test_a_path_needs_keys():
    class Pair:
        pass

    pytree.register_pytree_node(Pair, lambda pair: ((1, 2), None), lambda children, _: Pair())
    with pytest.raises(ValueError, match="flatten_with_keys_fn"):
        pytree.tree_leaves_with_path(Pair())


def test_specs_say_what_differs():
    assert pytree.tree_flatten((1, [2]))[1] == pytree.tree_flatten((5, [6]))[1]
    assert pytree.tree_flatten((1, [2]))[1] != pytree.tree_flatten((1, (2,)))[1]
    assert pytree.tree_flatten({"a": 1})[1] != pytree.tree_flatten({"b": 1})[1]
    assert repr(pytree.tree_flatten((1, [2]))[1]) == "TreeSpec(tuple, None, [*, TreeSpec(list, None, [*])])"


def test_map_of_several():
    assert pytree.tree_map(lambda a, b: a * b, [1, (2,)], [3, (4,)]) == [3, (8,)]


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        (0, [0, 0, 0]),
        ((0, 1), [0, 1, 1]),
        ((0, [1, None]), [0, 1, None]),
        ((0,), None),
        ([0, 1], None),
        ((0, (1, 2)), None),
    ],
)
def test_spread_over_another(tree, expected):
    assert pytree.broadcast_to_and_flatten(tree, pytree.tree_flatten(("x", ["y", "z"]))[1]) == expected


def test_wrong_number_of_leaves():
    with pytest.raises(ValueError, match="`leaves` has length 1 but the spec refers to a pytree that holds 2 items"):
        pytree.tree_unflatten([1], pytree.tree_flatten((1, 2))[1])


def test_a_class_of_ones_own():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    pytree.register_pytree_node(Pair, lambda p: ((p.a, p.b), None), lambda children, _: Pair(*children))
    doubled = pytree.tree_map(lambda x: 2 * x, [Pair(1, 2)])[0]
    assert (doubled.a, doubled.b) == (2, 4)
    with pytest.raises(ValueError, match="already registered"):
        pytree.register_pytree_node(Pair, lambda p: ((), None), lambda children, _: None)


def test_a_dict_of_ones_own_with_paths():
    class Output(OrderedDict):
        pass

    pytree.register_pytree_node(
        Output,
        pytree._dict_flatten,
        lambda values, context: Output(pytree._dict_unflatten(values, context)),
        serialized_type_name="Output",
        flatten_with_keys_fn=pytree._dict_flatten_with_keys,
    )
    tree = [Output(b=1, a=(2,))]
    assert pytree.tree_map(lambda x: x + 1, tree) == [Output(b=2, a=(3,))]
    paths = [pytree.keystr(path) for path, _ in pytree.tree_leaves_with_path(tree)]
    assert paths == ["[0]['b']", "[0]['a'][0]"]


def test_a_program_that_flattens_by_itself():  # as Lightning does, from the table of containers
    def flat(tree):
        kind = pytree._get_node_type(tree)
        if kind not in pytree.SUPPORTED_NODES:
            return [tree], pytree.LeafSpec()
        children, context = pytree.SUPPORTED_NODES[kind].flatten_fn(tree)
        pairs = [flat(child) for child in children]
        return [leaf for leaves, _ in pairs for leaf in leaves], pytree.TreeSpec(kind, context, [s for _, s in pairs])

    tree = {"a": [1, (2, 3)], "b": Point(4, [5])}
    leaves, spec = flat(tree)
    assert leaves == [1, 2, 3, 4, 5] and pytree.tree_unflatten([x + 1 for x in leaves], spec) == {
        "a": [2, (3, 4)],
        "b": Point(5, [6]),
    }
