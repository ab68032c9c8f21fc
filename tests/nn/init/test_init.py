"""How parameters start.

Mirrors: test/nn/test_init.py
"""

import math
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.nn import init

FILLINGS: dict[str, dict[str, Any]] = {
    "uniform_": {"a": -2.0, "b": 3.0},
    "normal_": {"mean": 1.0, "std": 2.0},
    "constant_": {"val": 0.5},
    "ones_": {},
    "zeros_": {},
    "xavier_uniform_": {"gain": 1.5},
    "xavier_normal_": {"gain": 1.5},
    "kaiming_uniform_": {"a": 0.1, "mode": "fan_out"},
    "kaiming_normal_": {"mode": "fan_in", "nonlinearity": "relu"},
}


@pytest.mark.parametrize("shape", [(3, 4), (33, 65), (2, 3, 5)])
@pytest.mark.parametrize("name", FILLINGS)
def test_the_same_seed_gives_the_numbers_of_torch(real_torch: ModuleType, name: str, shape: tuple[int, ...]) -> None:
    filled = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(7)
        filled.append(getattr(lib.nn.init, name)(lib.empty(shape), **FILLINGS[name]))
    # torch draws 16 and more normal numbers with vectorized logarithms and cosines, which differ in their last digits.
    assert filled[0].reshape(-1).tolist() == pytest.approx(filled[1].reshape(-1).tolist(), rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("name", FILLINGS)
def test_fillings_work_in_place_and_record_nothing(name: str) -> None:
    p = reftorch.nn.Parameter(reftorch.full((3, 4), 9.0))
    assert getattr(init, name)(p, **FILLINGS[name]) is p
    assert p.is_leaf
    assert p.requires_grad
    assert p[0, 0].item() != 9.0


def test_a_generator_of_its_own_leaves_the_default_one_alone() -> None:
    drawn = [init.normal_(reftorch.empty(4), generator=reftorch.Generator().manual_seed(1)).tolist() for _ in range(2)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [
        ("linear", None, 1),
        ("conv2d", None, 1),
        ("sigmoid", None, 1),
        ("tanh", None, 5 / 3),
        ("relu", None, math.sqrt(2)),
        ("leaky_relu", None, math.sqrt(2 / (1 + 0.01**2))),
        ("leaky_relu", 2, math.sqrt(2 / 5)),
        ("selu", None, 0.75),
    ],
)
def test_gain(name: str, param: float | None, gain: float) -> None:
    assert init.calculate_gain(name, param) == gain


def test_errors() -> None:
    with pytest.raises(ValueError, match="Unsupported nonlinearity foo"):
        init.calculate_gain("foo")
    with pytest.raises(ValueError, match="negative_slope True not a valid number"):
        init.calculate_gain("leaky_relu", True)
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.kaiming_uniform_(reftorch.empty(3))
    with pytest.raises(ValueError, match="Mode fan not supported"):
        init.kaiming_normal_(reftorch.empty(3, 3), mode="fan")


def test_fans() -> None:
    assert init._calculate_fan_in_and_fan_out(reftorch.empty(4, 3)) == (3, 4)
    assert init._calculate_fan_in_and_fan_out(reftorch.empty(4, 3, 5, 2)) == (30, 40)


def test_a_tensor_without_elements_is_warned_about() -> None:
    with pytest.warns(UserWarning, match="zero-element tensors"):
        init.kaiming_uniform_(reftorch.empty(0, 3))


@pytest.mark.parametrize("name", ["uniform", "normal", "constant", "eye", "orthogonal", "sparse", "kaiming_uniform"])
def test_the_old_names_warn(name: str) -> None:
    arguments = {"constant": (0.5,), "sparse": (0.5,)}.get(name, ())
    reftorch.manual_seed(1)
    with pytest.warns(FutureWarning, match=f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`"):
        old = getattr(init, name)(reftorch.empty(4, 3), *arguments)
    reftorch.manual_seed(1)
    assert old.equal(getattr(init, name + "_")(reftorch.empty(4, 3), *arguments))
