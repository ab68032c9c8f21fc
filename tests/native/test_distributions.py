"""Random numbers: the same seed gives torch's numbers.

Mirrors: test/test_random.py, test/test_tensor_creation_ops.py (TestRandomTensorCreation)
"""

from types import ModuleType

import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error

NAN = float("nan")
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
    "random_ past a float's digits": lambda t: [
        t.zeros(5).random_(2**30),
        t.zeros(5, dtype=t.float16).random_(0, 5000),
        t.zeros(5, dtype=t.bfloat16).random_(-1000, 1001),
        t.zeros(5).random_(-(2**40) - 1, 2**40),
    ],
    "random_ huge": lambda t: t.zeros(5, dtype=t.int64).random_(-(2**62), 2**62),
    "random_ from": lambda t: t.zeros(5, dtype=t.int8).random_(3, None),
    "random_ all of 64 bits": lambda t: [
        t.zeros(5, dtype=getattr(t, d)).random_(-(2**63), None) for d in ("int64", "float64", "float32", "bfloat16")
    ],
    "randperm repeats itself in bfloat16": lambda t: t.randperm(300, dtype=t.bfloat16),
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
        t.zeros(3, 20).bernoulli_(t.full((20,), 0.4, dtype=t.float64)),
    ],
    "geometric_": lambda t: [t.zeros(9, dtype=getattr(t, d)).geometric_(0.3) for d in ("int64", "uint8", *FLOATS)],
    "cauchy_": lambda t: [t.zeros(9, dtype=getattr(t, d)).cauchy_(1, 2) for d in FLOATS],
    "log_normal_": lambda t: [t.zeros(9, dtype=getattr(t, d)).log_normal_(0.5, 0.25) for d in FLOATS],
    "log_normal_ of a part": lambda t: t.zeros(4, 6)[:, ::2].log_normal_(),
    "poisson": lambda t: [
        t.poisson(t.linspace(0, 40, 41)),
        t.poisson(t.full((200,), 3.0)),
        t.poisson(t.full((200,), 1000.0, dtype=t.float64)),
        t.poisson(t.linspace(1, 20, 6).reshape(2, 3).t()),
    ],
    "binomial": lambda t: [
        t.binomial(t.full((40,), 5.0), t.linspace(0, 1, 40)),
        t.binomial(t.full((40,), 1000.0, dtype=t.float64), t.linspace(0, 1, 40, dtype=t.float64)),
        t.binomial(t.full((5, 4), 50.0).t(), t.linspace(0, 1, 20).reshape(4, 5)),
        t.binomial(t.full((4, 5), 50.0), t.linspace(0, 1, 20).reshape(5, 4).t()),
        t.binomial(t.full((4, 1), 50.0), t.linspace(0, 1, 4).reshape(1, 4).t()),
        t.binomial(t.full((2, 3), 50.0), t.linspace(0, 1, 3)),
    ],
    "binomial of what is no number": lambda t: t.binomial(
        t.tensor([0.0, 5.0, -1.0, NAN, NAN, NAN, 5.0]), t.tensor([NAN, NAN, NAN, NAN, 1.0, 0.0, 0.5])
    ).nan_to_num(nan=-1.0),
    "multinomial with replacement": lambda t: [
        t.multinomial(t.tensor([0.1, 3.0, 0.0, 2.0]), 50, replacement=True),
        t.multinomial(t.linspace(0, 1, 12, dtype=t.float64).reshape(3, 4), 7, True),
        t.multinomial(t.linspace(0, 1, 12).reshape(4, 3).t(), 7, True),
        t.multinomial(t.linspace(0, 1, 12).reshape(4, 3).t(), 1, True),
        t.multinomial(t.linspace(0, 1, 12).reshape(4, 3).t(), 2),
    ],
    "out": lambda t: [
        t.rand(3, out=t.empty(3)),
        t.randn((2, 2), out=t.empty(2, 2, dtype=t.float64)),
        t.randint(9, (3,), out=t.empty(3)),
        t.randint(3, 9, (3,), out=t.empty(3, dtype=t.int8)),
        t.randperm(5, out=t.empty(5, dtype=t.int64)),
        t.randperm(4, out=t.empty(8)[::2]),
        t.normal(1.0, 2.0, (3,), out=t.empty(3)),
        t.normal(t.arange(3.0), 2.0, out=t.empty(3)),
        t.normal(t.arange(3.0), t.arange(3.0) + 1, out=t.empty(3)),
        t.bernoulli(t.full((5,), 0.5), out=t.empty(5)),
        t.multinomial(t.ones(3), 4, True, out=t.empty(4, dtype=t.int64)),
    ],
    "normal broadcast": lambda t: t.normal(t.zeros(2, 1), t.ones(3)),
    "randint_like generator": lambda t: t.randint_like(t.zeros(4), 9, generator=t.Generator().manual_seed(3)),
    "generator": lambda t: [t.rand(3, generator=t.Generator().manual_seed(7)), t.rand(3)],
}


@pytest.mark.filterwarnings("ignore:.* is out of bounds")  # torch, of bounds that a float rounds
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("seed", [0, 123456789012345])
def test_same_numbers(name: str, seed: int, real_torch: ModuleType) -> None:
    def program(t: ModuleType) -> object:
        t.manual_seed(seed)
        return DRAWS[name](t)

    # The large way to draw normal numbers goes through the logarithm and sine of the C library.
    assert_same(program, real_torch, rtol=0, atol=0)


# torch draws these with Intel's MKL where the processor is Intel's; its own way, everywhere else, is ours.
PLAIN_DRAWS: dict[str, Program] = {
    "bernoulli_ p": lambda t: [t.zeros(40, dtype=getattr(t, d)).bernoulli_(0.3) for d in ("int64", "bool", *FLOATS)],
    "bernoulli p": lambda t: [t.bernoulli(t.zeros(700), 0.6), t.zeros(4, 6)[:, ::2].bernoulli_(0.5)],
    "exponential_": lambda t: [t.zeros(20, dtype=getattr(t, d)).exponential_(1.5) for d in FLOATS],
    "exponential_ of a part": lambda t: t.zeros(4, 6)[:, ::2].exponential_(),
    "multinomial": lambda t: [
        t.multinomial(t.tensor([0.1, 3.0, 0.5, 2.0]), 4),
        t.multinomial(t.linspace(0, 1, 12, dtype=t.float64).reshape(3, 4), 2),
        t.multinomial(t.linspace(0, 1, 300), 1),
        t.multinomial(t.linspace(0, 1, 8).reshape(2, 4).half(), 1, replacement=True),
    ],
}


@pytest.mark.parametrize("name", PLAIN_DRAWS)
def test_same_numbers_as_without_mkl(name: str, real_torch: ModuleType) -> None:
    real_torch.manual_seed(0)
    drawn = real_torch.zeros(100).bernoulli_(0.5)
    real_torch.manual_seed(0)
    if not drawn.equal((real_torch.rand(100, dtype=real_torch.float64) < 0.5).float()):
        pytest.skip("this torch draws Bernoulli and exponential numbers with MKL")

    def program(t: ModuleType) -> object:
        t.manual_seed(5)
        return PLAIN_DRAWS[name](t)

    assert_same(program, real_torch, rtol=0, atol=0)


def test_dense_draws_equal_the_plain_loop() -> None:
    """The loops for dense memory take the same bits as one draw after the other, whatever is left of the last block."""

    def both(draw: Program, count: int, dtype: reftorch.dtype) -> None:
        reftorch.manual_seed(11)
        reftorch.rand(count % 5)
        dense = draw(reftorch.zeros(count, dtype=dtype))
        after = reftorch.rand(1)
        reftorch.manual_seed(11)
        reftorch.rand(count % 5)
        plain = draw(reftorch.zeros(count, 2, dtype=dtype)[:, 0])
        assert dense.equal(plain) and after.equal(reftorch.rand(1)), (count, dtype)

    for count in (1, 5, 511, 512, 513, 623, 624, 625, 1300):
        for dtype in (reftorch.float32, reftorch.float64):
            both(lambda t: t.uniform_(-1, 3), count, dtype)
            both(lambda t: t.bernoulli_(0.3), count, dtype)
        both(lambda t: t.bernoulli_(0.3), count, reftorch.int8)


ERRORS: dict[str, Program] = {
    "uniform bounds": lambda t: t.zeros(3).uniform_(2, 1),
    "random from half": lambda t: t.zeros(3).half().random_(-(2**20), 5),
    "random to half": lambda t: t.randint(70000, (2,), dtype=t.float16),
    "uniform infinite": lambda t: t.zeros(3).uniform_(-float("inf"), 1),
    "uniform to too large": lambda t: t.zeros(3).half().uniform_(0, 1e5),
    "uniform too wide": lambda t: t.zeros(3).uniform_(-3e38, 3e38),
    "uniform int": lambda t: t.zeros(3, dtype=t.int64).uniform_(),
    "normal std": lambda t: t.zeros(3).normal_(0, -1),
    "normal int": lambda t: t.zeros(3, dtype=t.int64).normal_(),
    "random bounds": lambda t: t.zeros(3).random_(5, 5),
    "random range": lambda t: t.zeros(3, dtype=t.int8).random_(0, 300),
    "bernoulli p": lambda t: t.zeros(3).bernoulli_(1.5),
    "randperm negative": lambda t: t.randperm(-1),
    "normal negative std tensor": lambda t: t.normal(0.0, -t.ones(2)),
    "normal shapes": lambda t: t.normal(t.zeros(3), t.ones(4)),
    "exponential lambda": lambda t: t.zeros(3).exponential_(0),
    "exponential int": lambda t: t.zeros(3, dtype=t.int64).exponential_(),
    "geometric p": lambda t: t.zeros(3).geometric_(1.5),
    "geometric bool": lambda t: t.zeros(3, dtype=t.bool).geometric_(0.5),
    "cauchy sigma": lambda t: t.zeros(3).cauchy_(0, 0),
    "cauchy int": lambda t: t.zeros(3, dtype=t.int64).cauchy_(),
    "log_normal std": lambda t: t.zeros(3).log_normal_(0, -1),
    "log_normal int": lambda t: t.zeros(3, dtype=t.int64).log_normal_(),
    "poisson rate": lambda t: t.poisson(t.tensor([-1.0])),
    "poisson int": lambda t: t.poisson(t.tensor([1])),
    "multinomial sum": lambda t: t.multinomial(t.zeros(2), 1),
    "multinomial too many": lambda t: t.multinomial(t.ones(2), 3),
    "multinomial none": lambda t: t.multinomial(t.ones(2), 0),
    "multinomial negative": lambda t: t.multinomial(t.tensor([0.0, -1.0]), 1),
    "multinomial infinite": lambda t: t.multinomial(t.tensor([0.0, float("inf")]), 1),
    "multinomial int": lambda t: t.multinomial(t.tensor([0, 1]), 1),
    "multinomial dim": lambda t: t.multinomial(t.ones(2, 2, 2), 1),
    "multinomial replaced sum": lambda t: t.multinomial(t.zeros(2), 2, True),
    "multinomial replaced negative": lambda t: t.multinomial(t.tensor([0.0, -1.0]), 2, True),
    "multinomial replaced nan": lambda t: t.multinomial(t.tensor([0.0, float("nan")]), 2, True),
    "randperm half": lambda t: t.randperm(3000, dtype=t.float16),
    "randperm uint8": lambda t: t.randperm(300, dtype=t.uint8),
    "bernoulli int": lambda t: t.bernoulli(t.zeros(2, dtype=t.int64)),
    "normal std tensor": lambda t: t.normal(0.0, t.ones(2, dtype=t.int64)),
    # The kernels read all operands as elements of one dtype, so others would be read beyond their end.
    "gamma gradient of two dtypes": lambda t: t._standard_gamma_grad(t.ones(2, dtype=t.float64), t.ones(2)),
    "Dirichlet gradient of two dtypes": lambda t: t._dirichlet_grad(
        t.ones(2, dtype=t.float64), t.ones(2), t.ones(2, dtype=t.float64)
    ),
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
