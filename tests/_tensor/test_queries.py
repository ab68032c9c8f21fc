"""Python functions over elements, and questions about a tensor, as torch answers them.

Mirrors: test/test_torch.py (test_apply, test_map)
"""

from typing import Any

import pytest

import reftorch
from tests.op_db.checks import assert_same_outcome

CALLS = {
    "apply": lambda t: t.tensor([[1.0, 2.0], [3.0, 4.0]]).t().apply_(lambda v: v * v + 1),
    "apply to integers": lambda t: t.tensor([1, 2]).apply_(lambda v: v + 1),
    "apply to a number": lambda t: t.tensor(2.0).apply_(lambda v: v + 1),
    "apply to nothing": lambda t: t.zeros(0).apply_(lambda v: v + 1),
    "apply with a gradient": lambda t: t.ones(2, requires_grad=True).apply_(lambda v: v),
    "map": lambda t: t.tensor([[1.0, 2.0], [3.0, 4.0]]).map_(t.tensor([10.0, 20.0]), lambda a, b: a + b),
    "map to a shape that is too large": lambda t: t.ones(2).map_(t.ones(3, 2), lambda a, b: a + b),
    "map with a gradient": lambda t: t.ones(2).map_(t.ones(2, requires_grad=True), lambda a, b: a + b),
    "questions": lambda t: [
        t.ones(2).get_device(), t.ones(2).is_pinned(), t.ones(2).is_shared(), t.ones(2).is_inference(),
        t.ones(2).is_sparse, t.ones(2).is_quantized,
    ],
    "float of several": lambda t: float(t.ones(2)),
    "int of several": lambda t: int(t.ones(2)),
    "float of none": lambda t: float(t.ones(0)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_equals_torch(name: str, real_torch: Any) -> None:
    call = CALLS[name]
    assert_same_outcome(lambda: call(reftorch), lambda: call(real_torch), name)


def test_functions_see_python_numbers() -> None:
    seen: list[Any] = []
    reftorch.tensor([1, 2]).apply_(lambda v: seen.append(v) or v)
    assert seen == [1, 2]
    assert all(type(v) is int for v in seen)


def test_functions_of_three(real_torch_or_none: Any) -> None:
    for library in filter(None, (reftorch, real_torch_or_none)):
        x = library.tensor([1.0, 2.0])
        result = x.map2_(library.tensor([3.0, 4.0]), library.tensor([10.0]), lambda a, b, c: a * b + c)
        assert result is x and x.tolist() == [13, 18]
        with pytest.raises(TypeError, match=r"'y' \(got torch.DoubleTensor\)"):
            x.map2_(x, x.double(), lambda a, b, c: a)
        with pytest.raises(TypeError, match=r"map_: expected torch.FloatTensor for 'other' \(got torch.LongTensor\)"):
            x.map_(x.long(), lambda a, b: a)
        with pytest.raises(RuntimeError, match=r"Can't call map2_\(\) on Variable that requires grad"):
            x.map2_(x, library.ones(2, requires_grad=True), lambda a, b, c: a)
