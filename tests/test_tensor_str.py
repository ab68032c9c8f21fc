"""How tensors print.

Mirrors: test/test_torch.py, its ``test_print``
Leaves out: dtypes and devices that are not there.
"""

import math
import random
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch

DTYPES = ("float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "bool")
SHAPES = ((), (0,), (0, 3), (3, 0, 2), (1,), (40,), (3, 4), (2, 3, 4), (1001,), (40, 40), (7, 2, 9, 8))
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"profile": "short"},
    {"profile": "full", "precision": 2},
    {"sci_mode": True},
    {"sci_mode": False},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 2, "edgeitems": 0},
    {"threshold": 10, "edgeitems": 2, "linewidth": 20},
    {"precision": 0},
)
# What is made of a random eighth between -8 and 8; every result is exact in each dtype.
KINDS = {
    "fractions": lambda x: x,
    "integers": lambda x: float(int(x)),
    "large": lambda x: x * 2.0**11,
    "small": lambda x: x * 2.0**-13,
    "zeros": lambda x: 0.0,
    "nan": lambda x: float("nan") if x > 4 else float(int(x)),
    "infinite": lambda x: float("-inf") if x > 4 else x,
}


@pytest.fixture(autouse=True)
def _default_options() -> Iterator[None]:
    yield
    reftorch.set_printoptions(profile="default")


def make(lib: ModuleType, values: list[float], shape: tuple[int, ...], dtype: str) -> Any:
    return lib.tensor(values, dtype=getattr(lib, dtype)).reshape(shape)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("torch.tensor(3.14159)", "tensor(3.1416)"),
        ("torch.tensor([1, 2, 3])", "tensor([1, 2, 3])"),
        ("torch.tensor([1.0, 2.0])", "tensor([1., 2.])"),
        ("torch.tensor([1.0, float('nan'), float('-inf')])", "tensor([1., nan, -inf])"),
        ("torch.tensor([1.5, float('nan')])", "tensor([1.5000,    nan])"),
        ("torch.tensor([True, False])", "tensor([ True, False])"),
        ("torch.tensor([1e-5, 1.0])", "tensor([1.0000e-05, 1.0000e+00])"),
        ("torch.tensor([[1.0, 2.0], [3.0, 4.5]])", "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])"),
        ("torch.zeros(1, 2, 2)", "tensor([[[0., 0.],\n         [0., 0.]]])"),
        ("torch.zeros(0)", "tensor([])"),
        ("torch.zeros(0, 3)", "tensor([], size=(0, 3))"),
        ("torch.zeros(0, dtype=torch.int64)", "tensor([], dtype=torch.int64)"),
        ("torch.zeros(2, dtype=torch.float64)", "tensor([0., 0.], dtype=torch.float64)"),
        ("torch.zeros(2, dtype=torch.int32)", "tensor([0, 0], dtype=torch.int32)"),
        ("torch.arange(1001)", "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
        ("torch.ones(1, requires_grad=True)", "tensor([1.], requires_grad=True)"),
        ("torch.ones(1, requires_grad=True) * 2", "tensor([2.], grad_fn=<MulBackward0>)"),
        ("torch.ones(2, 3).t()", "tensor([[1., 1.],\n        [1., 1.],\n        [1., 1.]])"),
    ],
)
def test_text(expression: str, text: str) -> None:
    assert repr(eval(expression, {"torch": reftorch})) == text


def test_a_summary_of_two_dimensions() -> None:
    assert repr(reftorch.arange(1600).reshape(40, 40)) == (
        "tensor([[   0,    1,    2,  ...,   37,   38,   39],\n"
        "        [  40,   41,   42,  ...,   77,   78,   79],\n"
        "        [  80,   81,   82,  ...,  117,  118,  119],\n"
        "        ...,\n"
        "        [1480, 1481, 1482,  ..., 1517, 1518, 1519],\n"
        "        [1520, 1521, 1522,  ..., 1557, 1558, 1559],\n"
        "        [1560, 1561, 1562,  ..., 1597, 1598, 1599]])"
    )


def test_a_suffix_that_does_not_fit_goes_to_the_next_line() -> None:
    text = repr(reftorch.ones(12, dtype=reftorch.float64, requires_grad=True))
    assert text == (
        "tensor([1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1., 1.], dtype=torch.float64,\n       requires_grad=True)"
    )


def test_a_subclass_says_its_name() -> None:
    class Angle(reftorch.Tensor):
        pass

    angle = reftorch.Tensor._make_subclass(Angle, reftorch.ones(2))
    assert reftorch._tensor_str._str(angle) == "Angle([1., 1.])"


def test_printing_records_nothing() -> None:
    x = reftorch.ones(40, 40, requires_grad=True)
    version = x._version
    repr(x)
    assert x.grad_fn is None
    assert x._version == version


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", DTYPES)
def test_text_is_that_of_torch(real_torch: ModuleType, dtype: str, options: dict[str, Any]) -> None:
    rng = random.Random(dtype + str(options))
    floating = getattr(reftorch, dtype).is_floating_point
    old = real_torch._tensor_str.get_printoptions()
    try:
        real_torch.set_printoptions(**options)
        reftorch.set_printoptions(**options)
        assert reftorch._tensor_str.get_printoptions() == real_torch._tensor_str.get_printoptions()
        for shape in SHAPES:
            for kind, change in KINDS.items() if floating else [("integers", lambda x: int(abs(x)))]:
                size = reftorch.Size(shape).numel()
                values = [change(rng.randrange(-64, 65) / 8) for _ in range(size)]
                ours, theirs = (make(lib, values, shape, dtype) for lib in (reftorch, real_torch))
                assert repr(ours) == repr(theirs), f"{kind} {shape}"
    finally:
        real_torch.set_printoptions(**old)


def test_profiles_and_single_options() -> None:
    reftorch.set_printoptions(profile="short", edgeitems=5)
    options = reftorch._tensor_str.get_printoptions()
    assert options == {"precision": 2, "threshold": 1000, "edgeitems": 5, "linewidth": 80, "sci_mode": None}


def test_printoptions_come_back_after_an_error() -> None:
    before = reftorch._tensor_str.get_printoptions()
    with reftorch._tensor_str.printoptions(precision=1, sci_mode=True):
        assert repr(reftorch.tensor(2.5)) == "tensor(2.5e+00)"
    with pytest.raises(ZeroDivisionError), reftorch._tensor_str.printoptions(precision=1):
        1 // 0  # noqa: B018
    assert reftorch._tensor_str.get_printoptions() == before


DRAWN_OPTIONS = {
    "precision": [None, 0, 1, 4, 10],
    "threshold": [None, 0, 1, 10, math.inf],
    "edgeitems": [None, 0, 1, 3],
    "linewidth": [None, 1, 40, 200],
    "profile": [None, "default", "short", "full", "unknown"],
    "sci_mode": [None, True, False],
}
DRAWN_SHAPES = [(), (0,), (1,), (7,), (40,), (2, 3), (0, 3), (9, 8), (2, 1, 5), (2, 3, 2, 2)]


@pytest.mark.parametrize("seed", range(60))
def test_drawn_tensors_under_drawn_options(seed: int, real_torch: ModuleType) -> None:
    draw = random.Random(seed)
    numbers = np.random.RandomState(seed)
    options = {name: draw.choice(values) for name, values in DRAWN_OPTIONS.items()}
    values = numbers.randn(*draw.choice(DRAWN_SHAPES)) * 10.0 ** draw.choice([-6, 0, 0, 3, 9])
    values = np.asarray(draw.choice([values, np.round(values), np.where(values > 0, math.inf, math.nan)]))
    dtype = draw.choice(["float32", "float64", "float16", "bfloat16", "int64", "uint8", "bool"])
    if "float" not in dtype:
        values = np.nan_to_num(values, posinf=3).clip(0, 200).astype(int)
    layout = draw.choice(["plain", "transposed", "leaf", "result", "parameter"])

    def printed(torch: ModuleType) -> str:
        x = torch.tensor(values.tolist(), dtype=getattr(torch, dtype)).reshape(values.shape)
        if layout == "transposed":
            x = x.movedim(0, -1) if x.dim() > 0 else x
        elif x.is_floating_point() and layout != "plain":
            x = torch.nn.Parameter(x) if layout == "parameter" else x.requires_grad_()
            x = x * 1 if layout == "result" else x
        torch.set_printoptions(**options)
        try:
            return f"{x!r} {x!s} {x}"
        finally:
            torch.set_printoptions(profile="default")

    assert printed(reftorch) == printed(real_torch)
