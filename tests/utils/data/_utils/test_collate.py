"""From samples to batches.

Mirrors: test/test_dataloader.py, its tests of collating
Leaves out: shared memory.
"""

import subprocess
import sys
from collections import OrderedDict, UserList, namedtuple
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from reftorch.utils.data import default_collate, default_convert
from reftorch.utils.data._utils.collate import collate, default_collate_fn_map

Pair = namedtuple("Pair", ["a", "b"])


class Frozen(Mapping):
    """A mapping that cannot be made from a dict alone."""

    def __init__(self, values: dict, owner: str) -> None:
        self.values_, self.owner = values, owner

    def __getitem__(self, key: str) -> Any:
        return self.values_[key]

    def __iter__(self) -> Any:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)


BATCHES = {
    "ints": lambda lib: [1, 2],
    "floats": lambda lib: [1.5, 2],
    "bools": lambda lib: [True, False],
    "strings": lambda lib: ["a", "b"],
    "bytes": lambda lib: [b"a", b"b"],
    "tensors": lambda lib: [lib.ones(2, 2), lib.zeros(2, 2)],
    "0-dim": lambda lib: [lib.tensor(1), lib.tensor(2)],
    "tuples": lambda lib: [(1, "a"), (2, "b")],
    "named tuples": lambda lib: [Pair(1, 2.0), Pair(3, 4.0)],
    "dicts": lambda lib: [OrderedDict(x=[1, 2], y={"z": 1.0}), OrderedDict(x=[3, 4], y={"z": 2.0})],
    "lists": lambda lib: [UserList([1, 2]), UserList([3, 4])],
    "ranges": lambda lib: [range(2), range(2, 4)],
    "frozen": lambda lib: [Frozen({"x": 1}, "me"), Frozen({"x": 2}, "me")],
    "arrays": lambda lib: [np.ones((2, 2)), np.zeros((2, 2))],
    "float32": lambda lib: [np.float32(1), np.float32(2)],
    "float64": lambda lib: [np.float64(1), np.float64(2)],
    "int16": lambda lib: [np.int16(1), np.int16(2)],
    "bool": lambda lib: [np.bool_(True), np.bool_(False)],
    "str_": lambda lib: [np.str_("a"), np.str_("b")],
}


def plain(value: Any) -> Any:
    """The value with its types, tensors as lists."""
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return str(value.dtype), value.tolist()
    if isinstance(value, Mapping):
        return type(value).__name__, [(key, plain(value[key])) for key in value]
    if isinstance(value, (tuple, list, UserList)):
        return type(value).__name__, [plain(item) for item in value]
    return value


@pytest.mark.parametrize("case", BATCHES)
def test_batches_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    ours, theirs = (lib.utils.data.default_collate(BATCHES[case](lib)) for lib in (reftorch, real_torch))
    assert plain(ours) == plain(theirs)


def test_batches() -> None:
    batch = default_collate([(reftorch.ones(2), 1, "a", {"x": 0.5}), (reftorch.zeros(2), 2, "b", {"x": 1.5})])
    assert batch[0].tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert batch[1].tolist() == [1, 2]
    assert batch[2] == ("a", "b")
    assert batch[3]["x"].dtype is reftorch.float64
    assert type(batch) is list


ERRORS = {
    "object": lambda lib: [object],
    "none": lambda lib: [None, None],
    "lengths": lambda lib: [[1, 2], [1]],
    "array of strings": lambda lib: [np.array(["a"]), np.array(["b"])],
    "array of objects": lambda lib: [np.array([None]), np.array([None])],
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    raised = []
    for lib in (reftorch, real_torch):
        with pytest.raises((TypeError, RuntimeError)) as caught:
            lib.utils.data.default_collate(ERRORS[case](lib))
        raised.append((caught.type, str(caught.value)))
    assert raised[0] == raised[1]


def test_tensors_of_unequal_size() -> None:
    with pytest.raises(RuntimeError, match="stack expects each tensor to be equal size"):
        default_collate([reftorch.ones(2), reftorch.ones(3)])


def test_functions_for_other_types_go_beside_the_defaults() -> None:
    functions = {**default_collate_fn_map, complex: lambda batch, collate_fn_map: len(batch)}
    batch = collate([(1j, 1, np.float64(2))] * 3, collate_fn_map=functions)
    assert batch[0] == 3
    assert batch[1].tolist() == [1, 1, 1]
    assert batch[2].dtype is reftorch.float64


CONVERTED = {
    "array": lambda: np.ones(2),
    "scalar": lambda: np.float32(1),
    "strings": lambda: np.array(["a"]),
    "str_": lambda: np.str_("a"),
    "number": lambda: 3,
    "tuple": lambda: (1, np.ones(1)),
    "named tuple": lambda: Pair(np.ones(1), 2),
    "dict": lambda: {"a": np.int64(1), "b": "text"},
    "list": lambda: [np.ones(1), [np.ones(1)]],
}


@pytest.mark.parametrize("case", CONVERTED)
def test_conversions_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    ours, theirs = (lib.utils.data.default_convert(CONVERTED[case]()) for lib in (reftorch, real_torch))
    assert plain(ours) == plain(theirs)


def test_a_tensor_is_left_as_it_is() -> None:
    x = reftorch.ones(2)
    assert default_convert(x) is x


def test_loading_tensors_does_not_import_numpy() -> None:
    code = (
        "import sys, reftorch\n"
        "from reftorch.utils.data import DataLoader, TensorDataset\n"
        "list(DataLoader(TensorDataset(reftorch.arange(3)), batch_size=2))\n"
        "list(DataLoader([1.5, 2.5]))\n"
        "sys.exit('numpy' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
