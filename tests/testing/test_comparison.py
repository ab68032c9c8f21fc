"""Whether tensors are close, and what is said where they are not.

Mirrors: test/test_testing.py
Leaves out: sparse and quantized tensors, layouts, devices.
"""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from reftorch.testing import assert_close

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        ([1.0, 2.0], [1.0, 2.000001], {}),
        ([INF, -INF], [INF, -INF], {}),
        ([NAN], [NAN], {"equal_nan": True}),
        ([1.0], [1.4], {"rtol": 0, "atol": 0.5}),
        ([], [], {}),
    ],
)
def test_close(actual: list, expected: list, options: dict[str, Any]) -> None:
    assert_close(reftorch.tensor(actual), reftorch.tensor(expected), **options)


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        ([1.0, 2.0], [1.0, 2.1], {}),
        ([INF], [-INF], {}),
        ([1.0], [INF], {}),
        ([NAN], [NAN], {}),
        ([NAN], [1.0], {"equal_nan": True}),
        ([1], [2], {}),
        ([1.0], [1.4], {"rtol": 0, "atol": 0.3}),
    ],
)
def test_not_close(actual: list, expected: list, options: dict[str, Any]) -> None:
    with pytest.raises(AssertionError, match="Tensor-likes are not"):
        assert_close(reftorch.tensor(actual), reftorch.tensor(expected), **options)


def test_structures_are_compared_item_by_item() -> None:
    ours = {"a": [reftorch.ones(2), 1.0], "b": None}
    assert_close(ours, {"a": (reftorch.ones(2), 1.0), "b": None})
    with pytest.raises(AssertionError, match=r"for item \['a'\]\[1\]"):
        assert_close(ours, {"a": (reftorch.ones(2), 2.0), "b": None})


def test_strides_are_compared_on_request() -> None:
    x = reftorch.zeros(2, 3)
    y = reftorch.zeros(3, 2).t()
    assert_close(x, y)
    with pytest.raises(AssertionError, match=r"attribute 'stride\(\)' do not match: \(3, 1\) != \(1, 2\)"):
        assert_close(x, y, check_stride=True)


def test_message_of_the_caller() -> None:
    with pytest.raises(AssertionError, match=r"^step 3: Scalars are not equal!"):
        assert_close(1, 2, msg=lambda text: "step 3: " + text)
    with pytest.raises(AssertionError, match=r"^mine$"):
        assert_close(1, 2, msg="mine")


def test_only_one_tolerance_is_refused() -> None:
    with pytest.raises(ValueError, match="but got no atol"):
        assert_close(1.0, 1.0, rtol=1e-3)


CASES = {
    "values": lambda lib: (lib.tensor([1.0, 1.0, 1.0]), lib.tensor([1.0, 1.0, 2.0])),
    "matrix": lambda lib: (lib.ones(2, 2).double(), lib.zeros(2, 2).double()),
    "0-dim": lambda lib: (lib.tensor(3), lib.tensor(4)),
    "shape": lambda lib: (lib.ones(2), lib.ones(3)),
    "dtype": lambda lib: (lib.ones(2), lib.ones(2).double()),
    "nan": lambda lib: (lib.tensor([2.0, NAN, 3.0]), lib.tensor([1.0, 1.0, INF])),
    "nan and zero": lambda lib: (lib.tensor([NAN, 1.0]), lib.tensor([0.0, 1.0])),
    "integers": lambda lib: (lib.tensor([1, 2, 3]), lib.tensor([1, 2, 7])),
    "thirds": lambda lib: (lib.tensor([0.1, 0.2]), lib.tensor([0.1, 0.7])),
    "numpy": lambda lib: (np.zeros(2), np.ones(2)),
    "numpy numbers": lambda lib: (np.float32(1), 3.0),
    "numpy bools": lambda lib: (np.bool_(True), False),
    "complex": lambda lib: (1 + 2j, 1 + 3j),
    "kinds": lambda lib: (1, 1.0),
    "order of keys": lambda lib: ({"b": 1, "a": 2}, {"b": 2, "a": 3}),
    "ints": lambda lib: (1, 2),
    "floats": lambda lib: (1.0, 1.5),
    "bools": lambda lib: (True, False),
    "none": lambda lib: (None, 1),
    "keys": lambda lib: ({"a": 1}, {"b": 1}),
    "lengths": lambda lib: ([1], [1, 2]),
    "nested": lambda lib: ([1, {"a": lib.tensor(3)}], [1, {"a": lib.tensor(4)}]),
}


@pytest.mark.parametrize("case", CASES)
def test_messages_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    texts = []
    for lib in (reftorch, real_torch):
        with pytest.raises(AssertionError) as caught:
            lib.testing.assert_close(*CASES[case](lib))
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


CLOSE = {
    "numpy and numbers": lambda lib: lib.testing.assert_close(np.float64(1), 1.0),
    "kinds": lambda lib: lib.testing.assert_close(1, 1.0, check_dtype=False),
    "complex nan": lambda lib: lib.testing.assert_close(complex(NAN, 0), complex(0, NAN), equal_nan=True),
    "subclass": lambda lib: lib.testing.assert_close(lib.zeros(2), lib.nn.Parameter(lib.zeros(2))),
    "places": lambda lib: lib.testing.assert_close(lib.ones(1), lib.ones(1), check_device=False, check_layout=False),
}


@pytest.mark.parametrize("case", CLOSE)
def test_close_to_torch_too(case: str, real_torch_or_none: ModuleType | None) -> None:
    for lib in (reftorch, real_torch_or_none or reftorch):
        CLOSE[case](lib)


def test_a_subclass_is_refused_on_request(real_torch_or_none: ModuleType | None) -> None:
    for lib in (reftorch, real_torch_or_none or reftorch):
        with pytest.raises(TypeError, match="No comparison pair was able to handle"):
            lib.testing.assert_close(lib.zeros(2), lib.nn.Parameter(lib.zeros(2)), allow_subclasses=False)


def test_the_old_form(real_torch_or_none: ModuleType | None) -> None:
    for lib in (reftorch, real_torch_or_none or reftorch):
        with pytest.warns(FutureWarning, match="deprecated"):
            lib.testing.assert_allclose([1.0, NAN], [1, NAN])
        with pytest.warns(FutureWarning), pytest.raises(AssertionError, match=r"^mine$"):
            lib.testing.assert_allclose(lib.tensor([1.0]), 1.1, msg="mine")
        with pytest.warns(FutureWarning):
            lib.testing.assert_allclose(lib.tensor([1.0]).half(), lib.tensor([1.0005]))


def test_what_cannot_be_compared_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="No comparison pair was able to handle inputs of type"):
        assert_close(reftorch.ones(2), "ones")
