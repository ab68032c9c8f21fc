"""Forward mode where the source is larger than the index that reads it.

Mirrors: test/test_scatter_gather_ops.py
"""

import pytest

import reftorch as torch

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # torch's own


def with_tangents(lib, reduce, include_self):
    x = lib.arange(1, 7, dtype=lib.float64).reshape(2, 3)
    src = lib.arange(2, 22, dtype=lib.float64).reshape(4, 5).sin()
    index = lib.tensor([[0, 1, 1], [1, 0, 1]])
    forward_ad = lib.autograd.forward_ad
    with forward_ad.dual_level():
        x, src = forward_ad.make_dual(x, x.sin()), forward_ad.make_dual(src, src.cos())
        reduced = forward_ad.unpack_dual(x.scatter_reduce(0, index, src, reduce, include_self=include_self))
        cut = forward_ad.unpack_dual(x.scatter_reduce(0, index, src[:2, :3], reduce, include_self=include_self))
    return reduced, cut


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amax", "amin"])
def test_a_larger_source_has_a_tangent(reduce, include_self):
    reduced, cut = with_tangents(torch, reduce, include_self)
    assert torch.equal(reduced.primal, cut.primal)
    assert torch.equal(reduced.tangent, cut.tangent)


@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "mean"])  # torch has no tangent of the others
def test_the_tangent_is_that_of_torch(reduce, include_self, real_torch):
    reduced, _ = with_tangents(torch, reduce, include_self)
    theirs, _ = with_tangents(real_torch, reduce, include_self)
    assert torch.allclose(reduced.tangent, torch.tensor(theirs.tangent.tolist(), dtype=torch.float64))


def test_backward_needs_a_source_of_the_size_of_the_index():
    src = torch.ones(4, 5, requires_grad=True)
    reduced = torch.zeros(2, 3).scatter_reduce(0, torch.zeros(2, 3, dtype=torch.int64), src, "sum")
    with pytest.raises(RuntimeError, match=r"returned an invalid gradient at index 1 - got \[2, 3\] but expected"):
        reduced.sum().backward()
