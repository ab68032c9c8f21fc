"""Every transform, compared with torch: forward, inverse, the logarithm of the determinant, shapes, printing, errors.

Mirrors: test/distributions/test_transforms.py
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.answers.watched import asked
from tests.distributions.families import assert_same, outcome


def _tensor(lib: ModuleType, *shape: int) -> Any:
    return lib.tensor(np.random.default_rng(3).gamma(2.0, size=shape) + 0.2)


# A transform, and the shapes of inputs.
TRANSFORMS: dict[str, tuple[Callable[[ModuleType, Any], Any], list[tuple[int, ...]]]] = {
    "Exp": (lambda lib, D: D.ExpTransform(), [(), (3,), (2, 3)]),
    "Power": (lambda lib, D: D.PowerTransform(_tensor(lib, 3)), [(), (3,), (2, 3)]),
    "Power of a number": (lambda lib, D: D.PowerTransform(-2.0), [(), (2, 3)]),
    "Sigmoid": (lambda lib, D: D.SigmoidTransform(), [(), (2, 3)]),
    "Softplus": (lambda lib, D: D.SoftplusTransform(), [(), (2, 3)]),
    "Tanh": (lambda lib, D: D.TanhTransform(), [(), (2, 3)]),
    "Abs": (lambda lib, D: D.AbsTransform(), [(), (2, 3)]),
    "Affine": (lambda lib, D: D.AffineTransform(_tensor(lib, 3), -_tensor(lib, 2, 1)), [(2, 3), (4, 2, 3)]),
    "Affine of numbers": (lambda lib, D: D.AffineTransform(1.0, -2), [(), (2, 3)]),
    "Affine of vectors": (lambda lib, D: D.AffineTransform(1.0, _tensor(lib, 2, 3), event_dim=1), [(2, 3)]),
    "Affine of vectors by a number": (lambda lib, D: D.AffineTransform(1.0, 2.0, event_dim=1), [(2, 3)]),
    "Distribution": (lambda lib, D: D.CumulativeDistributionTransform(D.Normal(_tensor(lib, 3), 2.0)), [(3,), (2, 3)]),
    "Reshape": (lambda lib, D: D.ReshapeTransform((4,), (2, 2)), [(4,), (3, 4)]),
    "CorrCholesky": (lambda lib, D: D.CorrCholeskyTransform(), [(1,), (3,), (2, 6)]),
    "Softmax": (lambda lib, D: D.SoftmaxTransform(), [(3,), (2, 3)]),
    "StickBreaking": (lambda lib, D: D.StickBreakingTransform(), [(1,), (3,), (2, 3)]),
    "LowerCholesky": (lambda lib, D: D.LowerCholeskyTransform(), [(2, 2), (2, 3, 3)]),
    "PositiveDefinite": (lambda lib, D: D.PositiveDefiniteTransform(), [(2, 2), (2, 3, 3)]),
    "Compose": (lambda lib, D: D.ComposeTransform([D.AffineTransform(1.0, 2.0), D.TanhTransform()]), [(), (2, 3)]),
    "Compose of vectors": (
        lambda lib, D: D.ComposeTransform([D.AffineTransform(1.0, _tensor(lib, 3)), D.StickBreakingTransform()]),
        [(3,), (2, 3)],
    ),
    "Compose with shapes": (
        lambda lib, D: D.ComposeTransform([D.ReshapeTransform((4,), (2, 2)), D.ExpTransform()]),
        [(4,), (3, 4)],
    ),
    "identity": (lambda lib, D: D.identity_transform, [(), (2, 3)]),
    "Independent": (lambda lib, D: D.IndependentTransform(D.ExpTransform(), 1), [(), (3,), (2, 3)]),
    "Cat": (
        lambda lib, D: D.CatTransform([D.ExpTransform(), D.AffineTransform(1.0, 2.0)], dim=-1, lengths=[1, 2]),
        [(3,), (2, 3), (2, 4), ()],
    ),
    "Cat of a batch": (lambda lib, D: D.CatTransform([D.ExpTransform(), D.SoftmaxTransform()]), [(2, 3)]),
    "Cat of vectors": (
        lambda lib, D: D.CatTransform([D.StickBreakingTransform(), D.StickBreakingTransform()], dim=0),
        [(2, 3)],
    ),
    "Stack": (lambda lib, D: D.StackTransform([D.ExpTransform(), D.TanhTransform()], dim=0), [(2, 3), (3, 2), ()]),
    "Stack along the last": (lambda lib, D: D.StackTransform([D.ExpTransform(), D.TanhTransform()], dim=-1), [(3, 2)]),
}


def questions(lib: ModuleType, name: str, shape: tuple[int, ...], inverse: bool, cache: int) -> list[Any]:
    t = TRANSFORMS[name][0](lib, lib.distributions)
    if cache:
        t = outcome(lambda t=t: t.with_cache(cache))
        if isinstance(t, tuple):
            return [t]
    x = lib.tensor(np.random.default_rng(0).normal(size=shape), requires_grad=True)
    if name in ("Power", "Power of a number"):
        x = lib.tensor(np.random.default_rng(0).gamma(2.0, size=shape), requires_grad=True)
    if inverse:  # what the inverse is asked of is a result
        y = outcome(lambda: t(x))
        if isinstance(y, tuple):
            return [y]
        t, x = t.inv, y.detach().requires_grad_()
    y = outcome(lambda: t(x))
    found = [y]
    if not isinstance(y, tuple):
        determinant = outcome(lambda: t.log_abs_det_jacobian(x, y))
        found += [outcome(lambda: t.inv(y)), determinant]
        found += list(lib.autograd.grad(y.sum(), [x], allow_unused=True, retain_graph=True))
        if not isinstance(determinant, tuple) and determinant.requires_grad:
            found += list(lib.autograd.grad(determinant.sum(), [x], allow_unused=True))
        if cache:
            found.append(str(t.inv(y) is x))
    for size in (shape, (*shape, 1), ()):
        found += [
            outcome(lambda size=size: t.forward_shape(lib.Size(size))),
            outcome(lambda size=size: t.inverse_shape(lib.Size(size))),
        ]
    found += [
        repr(t) if "object" not in repr(t) else "",
        t.bijective,
        outcome(lambda: t.sign),
        outcome(lambda: t.event_dim),
        outcome(lambda: t.domain.event_dim),
        outcome(lambda: t.codomain.event_dim),
        str(outcome(lambda: repr(t.domain))).split(" object")[0],
        str(outcome(lambda: repr(t.codomain))).split(" object")[0],
        outcome(lambda: t.codomain.check(y)) if not isinstance(y, tuple) else "",
        str(t == t),
        str(t == lib.distributions.ExpTransform()),
        str(t.inv.inv is t),
    ]
    # Shapes that do not broadcast are refused by torch.broadcast_shapes, whose words are its own business.
    return [f[0] if type(f) is tuple and "broadcast" in f[1] else f for f in found]


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("cache", [0, 1])
def test_transforms(real_torch: ModuleType, name: str, inverse: bool, cache: int) -> None:
    for shape in TRANSFORMS[name][1]:
        ours, theirs = (questions(lib, name, shape, inverse, cache) for lib in (reftorch, real_torch))
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            assert_same(a, b, f"{name} of {shape}: {i}", 1e-7)


def test_every_transform_has_a_row() -> None:
    names = set(reftorch.distributions.transforms.__all__) - {"Transform"}
    covered = {type(make(reftorch, reftorch.distributions)).__name__ for make, _ in TRANSFORMS.values()}
    assert names - {"identity_transform"} == covered


WRONG: list[Callable[[ModuleType, Any], Any]] = [
    lambda lib, D: D.ExpTransform(cache_size=2),
    lambda lib, D: D.ReshapeTransform((2,), (3,)),
    lambda lib, D: D.ReshapeTransform((4,), (2, 2)).forward_shape(lib.Size([3])),
    lambda lib, D: D.CorrCholeskyTransform().forward_shape(lib.Size([2])),
    lambda lib, D: D.CorrCholeskyTransform().inverse_shape(lib.Size([2, 3])),
    lambda lib, D: D.CorrCholeskyTransform()(lib.zeros(2)),
    lambda lib, D: D.CatTransform([1]),
    lambda lib, D: D.CatTransform([D.ExpTransform()], lengths=[1, 2]),
    lambda lib, D: D.StackTransform([1]),
    lambda lib, D: D.transforms.Transform().sign,
    lambda lib, D: D.transforms.Transform()(lib.zeros(1)),
    lambda lib, D: D.AbsTransform().inv.sign,
    lambda lib, D: D.StickBreakingTransform().event_dim,
    lambda lib, D: D.CorrCholeskyTransform().event_dim,
    lambda lib, D: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
    lambda lib, D: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
    lambda lib, D: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
    lambda lib, D: D.IndependentTransform(D.ExpTransform(), 1)(lib.zeros(())),
]


@pytest.mark.parametrize("i", range(len(WRONG)))
def test_errors(real_torch: ModuleType, i: int) -> None:
    def refused(lib: ModuleType) -> Any:
        return outcome(lambda: WRONG[i](lib, lib.distributions))

    assert_same(refused(reftorch), asked(real_torch, refused), "error")


def test_a_transform_can_be_pickled_and_copied() -> None:
    import copy
    import pickle

    t = reftorch.distributions.AffineTransform(1.0, 2.0)
    assert t.inv.inv is t
    for other in (pickle.loads(pickle.dumps(t)), copy.deepcopy(t)):
        assert other == t and other._inv is None


@pytest.mark.parametrize("case", range(6))
def test_transformed_distributions(real_torch: ModuleType, case: int) -> None:
    """Bases with batches and events, and transforms that broadcast, form vectors, or decrease."""

    def make(lib: ModuleType) -> Any:
        D = lib.distributions
        normal = D.Normal(_tensor(lib, 3), 1.0)
        return [
            lambda: D.TransformedDistribution(normal, [D.ExpTransform(), D.AffineTransform(0.0, -_tensor(lib, 2, 1))]),
            lambda: D.TransformedDistribution(normal, D.StickBreakingTransform()),
            lambda: D.TransformedDistribution(D.Independent(normal, 1), [D.AffineTransform(1.0, 2.0)]),
            lambda: D.TransformedDistribution(D.Dirichlet(_tensor(lib, 2, 3)), [D.AffineTransform(1.0, 2.0)]),
            lambda: D.TransformedDistribution(normal, []),
            lambda: D.TransformedDistribution(D.Normal(_tensor(lib, 5, 4), 1.0), D.ReshapeTransform((4,), (2, 2))),
        ][case]()

    results = []
    for lib in (reftorch, real_torch):
        d = make(lib)
        lib.manual_seed(0)
        x = d.sample((2,))
        u = lib.tensor([0.3], dtype=lib.float64)
        wide = d.expand((4, *d.batch_shape))
        results.append(
            [
                d.batch_shape,
                d.event_shape,
                x,
                d.log_prob(x),
                outcome(lambda d=d, x=x: d.cdf(x)),
                outcome(lambda d=d, u=u: d.icdf(u)),
                repr(d),
                wide.batch_shape,
                wide.rsample(),
                d.has_rsample,
                repr(d.support).split(" object")[0],
            ]
        )
    assert_same(*results, "transformed", 1e-7)
