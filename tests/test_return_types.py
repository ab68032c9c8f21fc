"""Named tuples that ops return.

Mirrors: test/test_namedtuple_return_api.py
Leaves out: reading native_functions.yaml.
"""

import copy
import pickle
from types import ModuleType

import pytest

import reftorch
from reftorch import return_types

ABSENT = {"linalg_eig", "histogram"}  # histogram: its call with out=


def test_names(real_torch: ModuleType) -> None:
    theirs = {kind.__name__ for kind in real_torch.return_types.all_return_types}
    ours = {kind.__name__ for kind in return_types.all_return_types}
    assert {name.removesuffix("_out") for name in theirs - ours} <= ABSENT
    assert ours <= theirs


@pytest.mark.parametrize("name", ["max", "min", "median", "nanmedian", "mode", "sort", "cummax", "cummin"])
def test_function_and_method_share_a_type(name: str) -> None:
    x = reftorch.tensor([[1.0, 3.0], [2.0, 0.0]])
    result = getattr(reftorch, name)(x, 1)
    kind = getattr(return_types, name)
    assert type(result) is type(getattr(x, name)(1)) is kind
    assert result.values is result[0] and result.indices is result[1]
    written = getattr(reftorch, name)(x, 1, out=(reftorch.empty(0), reftorch.empty(0, dtype=reftorch.int64)))
    assert type(written) is getattr(return_types, f"{name}_out")
    assert repr(written).startswith(f"torch.return_types.{name}_out(\nvalues=tensor(")


def test_made_by_hand() -> None:
    made = return_types.sort((reftorch.ones(2), reftorch.arange(2)))
    assert made.n_sequence_fields == 2 and made.values.tolist() == [1, 1] and made.indices.tolist() == [0, 1]
    with pytest.raises(TypeError):
        return_types.sort((reftorch.ones(2),))


def test_pickle() -> None:
    for result in (
        reftorch.ones(2, 2).max(0),
        reftorch.histogram(reftorch.ones(3), 2),
        reftorch.linalg.qr(reftorch.eye(2)),
    ):
        for other in (pickle.loads(pickle.dumps(result)), copy.deepcopy(result)):
            assert type(other) is type(result) and repr(other) == repr(result)
