"""Random numbers: the same seed gives torch's numbers.

Mirrors: test/test_random.py, test/test_tensor_creation_ops.py (TestRandomTensorCreation)
"""

from types import ModuleType

import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error

FLOATS = ("float32", "float64", "float16", "bfloat16")

DRAWS: dict[str, Program] = {
    "rand": lambda t: [t.rand(5), t.rand(2, 3), t.rand(100)],
    "rand dtypes": lambda t: [t.rand(20, dtype=getattr(t, d)) for d in FLOATS],
    "randn small": lambda t: [t.randn(5), t.randn(5), t.randn(2, 3)],
    "randn of 16": lambda t: [t.randn(16), t.randn(32)],
    "randn large": lambda t: [t.randn(100), t.randn(17), t.randn(1000, 3)],
    "randn keeps the other half": lambda t: [t.randn(3), t.rand(2), t.randn(100), t.randn(1)],
    "randn dtypes": lambda t: [t.randn(n, dtype=getattr(t, d)) for d in FLOATS for n in (3, 40)],
    "normal_ of a part": lambda t: t.zeros(8, 8)[:, ::2].normal_(2, 3),
    "normal_ transposed": lambda t: t.zeros(4, 5).t().normal_(),
    "uniform_": lambda t: [t.zeros(7).uniform_(-2, 5), t.zeros(3, 4).t().uniform_(1, 2)],
    "random_": lambda t: [
        t.zeros(9, dtype=getattr(t, d)).random_() for d in ("int64", "int32", "int16", "int8", "uint8", "bool", *FLOATS)
    ],
    "random_ to": lambda t: [t.zeros(9).random_(100), t.zeros(9, dtype=t.int64).random_(-5, 7)],
    "random_ large": lambda t: t.zeros(5, dtype=t.int64).random_(2**28),
    "random_ larger": lambda t: t.zeros(5, dtype=t.int64).random_(2**28 - 1),
    "random_ huge": lambda t: t.zeros(5, dtype=t.int64).random_(-(2**62), 2**62),
    "random_ from": lambda t: t.zeros(5, dtype=t.int8).random_(3, None),
    "randint": lambda t: [
        t.randint(10, (7,)),
        t.randint(3, 9, (2, 3)),
        t.randint(5, (4,), dtype=t.int32),
        t.randint(5, (4,), dtype=t.float32),
    ],
    "randperm": lambda t: [t.randperm(n) for n in (0, 1, 10, 1000)],
    "randperm dtype": lambda t: t.randperm(7, dtype=t.int32),
    "like": lambda t: [
        t.rand_like(t.zeros(3, 4).t()),
        t.randn_like(t.zeros(5, 6)),
        t.randint_like(t.zeros(5), 9),
        t.randint_like(t.zeros(5), 3, 9),
        t.randn_like(t.zeros(4), dtype=t.float64),
    ],
    "normal": lambda t: [
        t.normal(2.0, 3.0, (5,)),
        t.normal(t.arange(5.0), 2.0),
        t.normal(1.0, t.arange(5.0)),
        t.normal(t.arange(20.0), t.ones(20)),
    ],
    "bernoulli tensor": lambda t: [
        t.bernoulli(t.full((20,), 0.3)),
        t.zeros(20).bernoulli_(t.full((20,), 0.7, dtype=t.float64)),
    ],
    "generator": lambda t: [t.rand(3, generator=t.Generator().manual_seed(7)), t.rand(3)],
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("seed", [0, 123456789012345])
def test_same_numbers(name: str, seed: int, real_torch: ModuleType) -> None:
    def program(t: ModuleType) -> object:
        t.manual_seed(seed)
        return DRAWS[name](t)

    # The large way to draw normal numbers goes through the logarithm and sine of the C library.
    assert_same(program, real_torch, rtol=0, atol=0)


ERRORS: dict[str, Program] = {
    "uniform bounds": lambda t: t.zeros(3).uniform_(2, 1),
    "uniform int": lambda t: t.zeros(3, dtype=t.int64).uniform_(),
    "normal std": lambda t: t.zeros(3).normal_(0, -1),
    "normal int": lambda t: t.zeros(3, dtype=t.int64).normal_(),
    "random bounds": lambda t: t.zeros(3).random_(5, 5),
    "random range": lambda t: t.zeros(3, dtype=t.int8).random_(0, 300),
    "bernoulli p": lambda t: t.zeros(3).bernoulli_(1.5),
    "randperm negative": lambda t: t.randperm(-1),
    "normal std tensor": lambda t: t.normal(0.0, t.ones(2, dtype=t.int64)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


def test_a_seed_repeats() -> None:
    for draw in DRAWS.values():
        reftorch.manual_seed(3)
        first = draw(reftorch)
        reftorch.manual_seed(3)
        second = draw(reftorch)
        for a, b in zip(*(x if isinstance(x, list) else [x] for x in (first, second)), strict=True):
            assert a.equal(b)


def test_bernoulli_share() -> None:
    reftorch.manual_seed(0)
    ones = reftorch.zeros(20000).bernoulli_(0.3).mean().item()
    assert abs(ones - 0.3) < 0.02
    assert reftorch.zeros(100).bernoulli_(0.0).sum().item() == 0
    assert reftorch.zeros(100).bernoulli_(1.0).sum().item() == 100


def test_in_place_draw_cuts_the_gradient() -> None:
    x = reftorch.ones(4, requires_grad=True)
    y = x * 2
    y.uniform_()
    y.sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 0]
