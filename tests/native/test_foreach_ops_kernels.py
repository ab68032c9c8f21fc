"""Functions of lists of tensors: what the rows of the op table do not ask.

Mirrors: test/test_foreach.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db.core import OpInfo
from tests.op_db.foreach_ops_kernels import ROWS
from tests.op_db.suite import OpTests
from tests.optim.rules import assert_close

INPLACE = [op for op in ROWS if op.function not in ("_foreach_clone", "_foreach_norm") and "AndTensor" not in op.name]


class TestForeachOps(OpTests):
    FAMILIES = "foreach_ops_kernels"


def tensors(lib: ModuleType, *values: float) -> list[Any]:
    return [lib.tensor([value, value + 1], dtype=lib.float64) for value in values]


@pytest.mark.parametrize("op", INPLACE, ids=lambda op: op.name)
def test_in_place_forms_change_the_list_as_in_torch(real_torch: ModuleType, op: OpInfo, noted: Any) -> None:
    for sample in op.each("float64"):
        found = []
        for lib in (reftorch, real_torch):
            args, kwargs = sample.build(lib)
            before = [(x, x._version) for x in args[0]]
            result = getattr(lib, op.function + "_")(*args, **kwargs)
            assert result is args[0]
            assert all(x is y and x._version > version for x, (y, version) in zip(result, before, strict=True))
            found.append([x.tolist() for x in result])
        assert_close(found[0], noted(found[1]), 1e-12)


def test_zero_and_copy(real_torch: ModuleType) -> None:
    def program(lib: ModuleType) -> None:
        x = tensors(lib, 1.0, 2.0)
        assert lib._foreach_zero_(x) is x
        assert [t.tolist() for t in x] == [[0.0, 0.0], [0.0, 0.0]]
        lib._foreach_copy_(x, [lib.ones(2), lib.ones(1)])
        assert [t.tolist() for t in x] == [[1.0, 1.0], [1.0, 1.0]]

    program(reftorch)
    asked(real_torch, program)


def test_results_are_tuples(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        assert type(lib._foreach_add(tensors(lib, 1.0), 1)) is tuple


ERRORS: dict[str, Any] = {
    "empty": lambda lib, x: lib._foreach_sqrt([]),
    "empty, in place": lambda lib, x: lib._foreach_add_([], 1.0),
    "two lists": lambda lib, x: lib._foreach_add(x, x[:1]),
    "three lists": lambda lib, x: lib._foreach_addcdiv_(x, x, x[:1]),
    "weights": lambda lib, x: lib._foreach_lerp(x, x[:1], 0.5),
    "no scalar": lambda lib, x: lib._foreach_mul(x, x[0]),
    "no scalar to add": lambda lib, x: lib._foreach_add_(x, x[0]),
    "no scalar to divide by": lambda lib, x: lib._foreach_div(x, x[0]),
    "leaf": lambda lib, x: lib._foreach_add_([lib.ones(2, requires_grad=True)], 1.0),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    found = []
    for lib in (reftorch, real_torch):
        with pytest.raises(Exception) as caught:
            ERRORS[case](lib, tensors(lib, 1.0, 2.0))
        found.append((caught.type, str(caught.value)))
    assert found[0] == found[1]


def test_autograd_records_each_tensor(real_torch: ModuleType) -> None:
    found = []
    for lib in (reftorch, real_torch):
        x, y = ([t.requires_grad_() for t in tensors(lib, *values)] for values in ((1.0, 2.0), (3.0, 5.0)))
        result = lib._foreach_addcmul(lib._foreach_mul(x, y), x, y, 0.5)
        lib._foreach_neg_(result)
        names = [type(t.grad_fn).__name__ for t in result]
        sum(t.sum() for t in result).backward()
        found.append((names, [t.grad.tolist() for t in (*x, *y)]))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["maximum", "minimum", "clamp_min", "clamp_max"])
def test_gradients_of_equal_elements_are_those_of_torch(real_torch: ModuleType, name: str) -> None:
    """Equal elements and NaN, out of place and in place; without a gradient, the form in place has the same values."""

    def program(lib: ModuleType) -> list[Any]:
        found = []
        for form in ("", "_"):
            x = lib.tensor([1.0, 2.0, 3.0, lib.nan], requires_grad=True)
            y = lib.tensor([1.0, 5.0, 1.0, 2.0], requires_grad=True)
            function = getattr(lib, f"_foreach_{name}{form}")
            result = function([x * 1], [y])[0]
            result.sum().backward()
            with lib.no_grad():
                plain = function([x * 1], [y])[0]
            found += [str(x.grad.tolist()), str(y.grad.tolist()), str(result.tolist()), str(plain.tolist())]
        return found

    assert program(reftorch) == asked(real_torch, program)


def test_lists_of_mixed_dtypes() -> None:
    x = [reftorch.ones(2, dtype=reftorch.int64), reftorch.ones(2)]
    assert [t.dtype for t in reftorch._foreach_mul(x, 2)] == [reftorch.int64, reftorch.float32]
    assert [t.dtype for t in reftorch._foreach_add(x, 0.5)] == [reftorch.float32, reftorch.float32]


def test_meta_tensors_have_shapes() -> None:
    x = [reftorch.empty(2, 3, device="meta"), reftorch.empty(4, device="meta")]
    assert [tuple(t.shape) for t in reftorch._foreach_sqrt(x)] == [(2, 3), (4,)]
    assert reftorch._foreach_add_(x, x) is x
