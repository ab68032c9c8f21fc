"""Functions of lists of tensors: what the rows of the op table do not ask.

Mirrors: test/test_foreach.py
"""

from types import ModuleType
from typing import Any

import numpy as np
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
    "too few numbers": lambda lib, x: lib._foreach_add(x, [1.0]),
    "too many numbers, in place": lambda lib, x: lib._foreach_mul_(x, (1, 2.0, True)),
    "no numbers": lambda lib, x: lib._foreach_sub(x, []),
    "numbers without tensors": lambda lib, x: lib._foreach_div([], [1.0]),
    "too few exponents": lambda lib, x: lib._foreach_pow(x, exponent=[2]),
    "too few bounds": lambda lib, x: lib._foreach_clamp_max_(x, [2]),
    "too few bounds of maximum": lambda lib, x: lib._foreach_maximum(x, scalars=[2]),
    "too few factors": lambda lib, x: lib._foreach_addcmul(x, x, x, [1.0]),
    "too few tensors and factors": lambda lib, x: lib._foreach_addcdiv_(x, x, x[:1], [1.0]),
    "too few numbers as weights": lambda lib, x: lib._foreach_lerp(x, x, weight=[0.5]),
    "a factor that is too large": lambda lib, x: lib._foreach_mul(x, [2**65, 1]),
    "a number that is a bool": lambda lib, x: lib._foreach_sub_([t.bool() for t in x], [True, False]),
    "factors in a matrix": lambda lib, x: lib._foreach_addcmul(x, x, x, lib.ones(1, 2)),
    "one factor in a tensor": lambda lib, x: lib._foreach_addcdiv(x[:1], x[:1], x[:1], lib.tensor(2.0)),
    "too many factors in a tensor": lambda lib, x: lib._foreach_addcmul_(x, x, x, lib.ones(3)),
    "factors apart": lambda lib, x: lib._foreach_addcdiv_(x, x, x, lib.ones(4)[::2]),
    "factors on another device": lambda lib, x: lib._foreach_addcmul(x, x, x, lib.ones(2, device="meta")),
    "factors in a tensor without tensors": lambda lib, x: lib._foreach_addcdiv([], [], [], lib.ones(2)),
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


WITH_NUMBERS = {op.function for op in ROWS if op.name.endswith(".ScalarList")}
LISTS = {"_foreach_addcmul": 3, "_foreach_addcdiv": 3, "_foreach_lerp": 2}  # of tensors; the others take one


@pytest.mark.parametrize("form", ["", "_"])
@pytest.mark.parametrize("name", sorted(WITH_NUMBERS))
def test_each_tensor_takes_its_own_number(real_torch: ModuleType, name: str, form: str) -> None:
    """Numbers of several types with tensors of several dtypes and shapes: values, dtypes and errors."""

    def program(lib: ModuleType) -> list[Any]:
        found = []
        for dtype in (lib.float64, lib.float32, lib.bfloat16, lib.int64, lib.uint8, lib.bool):
            for numbers in ([2, 0], [0.5, 1.0], [True, False], [2, 0.5], (0.5, True)):
                lists = [
                    [lib.tensor([1, 4, 9]).to(dtype), lib.tensor([[start], [16]]).to(dtype)]
                    for start in range(1, 1 + LISTS.get(name, 1))
                ]
                try:
                    result = getattr(lib, name + form)(*lists, numbers)
                    found.append(str([(str(t.dtype).rpartition(".")[2], t.tolist()) for t in result]))
                except (RuntimeError, NotImplementedError) as error:
                    found.append(type(error).__name__)  # the words are those of the op for one tensor
                found.append(str([t.tolist() for t in lists[0]]))
        return found

    assert program(reftorch) == asked(real_torch, program)


def test_the_kinds_of_numbers_in_a_list(real_torch: ModuleType) -> None:
    def program(lib: ModuleType) -> list[Any]:
        found: list[Any] = []
        for numbers in ([np.float32(0.5), np.int64(2)], (np.True_, 2**63), [1.0, lib.tensor(2.0)], [None, 1], ["1", 2]):
            try:
                found.append(str([t.tolist() for t in lib._foreach_add(tensors(lib, 1.0, 2.0), numbers)]))
            except TypeError:
                found.append("TypeError")
        return found

    assert program(reftorch) == asked(real_torch, program)


def test_schemas_of_overloads_with_numbers(real_torch: ModuleType) -> None:
    def program(lib: ModuleType) -> list[str]:
        overloads = [getattr(lib.ops.aten, name + form).ScalarList for name in names for form in ("", "_")]
        return [str(overload._schema) for overload in overloads]

    names = sorted(WITH_NUMBERS)
    assert program(reftorch) == asked(real_torch, program)


def test_numbers_in_a_tensor_get_no_gradient() -> None:
    x = [reftorch.ones(2), reftorch.ones(2)]
    factors = reftorch.tensor([2.0, 3.0], requires_grad=True)
    with pytest.raises(RuntimeError, match=r"No gradient .* 'scalars'.* Pass scalars.detach\(\)"):
        reftorch._foreach_addcmul(x, x, x, factors)
    with reftorch.no_grad():
        assert [t.tolist() for t in reftorch._foreach_addcmul(x, x, x, factors)] == [[3.0, 3.0], [4.0, 4.0]]


def test_lists_of_mixed_dtypes() -> None:
    x = [reftorch.ones(2, dtype=reftorch.int64), reftorch.ones(2)]
    assert [t.dtype for t in reftorch._foreach_mul(x, 2)] == [reftorch.int64, reftorch.float32]
    assert [t.dtype for t in reftorch._foreach_add(x, 0.5)] == [reftorch.float32, reftorch.float32]


def test_meta_tensors_have_shapes() -> None:
    x = [reftorch.empty(2, 3, device="meta"), reftorch.empty(4, device="meta")]
    assert [tuple(t.shape) for t in reftorch._foreach_sqrt(x)] == [(2, 3), (4,)]
    assert reftorch._foreach_add_(x, x) is x
    results = reftorch._foreach_pow([t.to(reftorch.int64) for t in x], [2, 0.5])
    assert [(tuple(t.shape), t.dtype, t.is_meta) for t in results] == [
        ((2, 3), reftorch.int64, True),
        ((4,), reftorch.float32, True),
    ]
    assert reftorch._foreach_addcdiv_(x, x, x, reftorch.ones(2)) is x
