"""Lists that contain themselves, where the library walks over nested sequences: an error, and no overflow of the stack.

Mirrors: nothing in PyTorch, where x[a] with a = [b], b = [a] ends the process
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from reftorch.utils import _pytree


def itself() -> list:
    a: list = []
    a.append(a)
    return a


def each_other() -> list:
    a: list = []
    a.append([a])
    return a


def in_the_second_row() -> list:
    """The sizes are those of a matrix, because the first row is one of numbers."""
    return [[1, 2], [3, each_other()]]


def in_a_tuple() -> list:
    a: list = [1]
    a.append((a,))
    return a


def deep() -> list:
    a: list = [1]
    for _ in range(100_000):
        a = [a]
    return [0, a]


X = reftorch.ones(3, 3)
USES: dict[str, Callable[[Any], Any]] = {
    "tensor": reftorch.tensor,
    "as_tensor": reftorch.as_tensor,
    "Tensor": reftorch.Tensor,
    "new_tensor": X.new_tensor,
    "getitem": lambda a: X[a],
    "getitem of a tuple": lambda a: X[0, a],
    "setitem": lambda a: X.clone().__setitem__(a, 1),
    "assigned": lambda a: X.clone().__setitem__(0, a),
    "stack": reftorch.stack,
    "size": reftorch.ones,
    "view": X.view,
    "tree_map": lambda a: _pytree.tree_map(lambda leaf: leaf + 1, a)[None],
    "requires_grad": reftorch._C._any_requires_grad,
}


@pytest.mark.filterwarnings("ignore:Using a non-tuple sequence for multidimensional indexing")
@pytest.mark.parametrize("make", [itself, each_other, in_the_second_row, in_a_tuple, deep])
@pytest.mark.parametrize("use", USES)
def test_a_list_in_itself_is_an_error(use: str, make: Callable[[], list]) -> None:
    with pytest.raises((RecursionError, ValueError, TypeError, IndexError)):
        USES[use](make())
