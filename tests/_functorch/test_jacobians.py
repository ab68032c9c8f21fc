"""Jacobians in pieces, and what jacrev, jacfwd and hessian refuse, as in torch.

Mirrors: test/functorch/test_eager_transforms.py (TestJac, TestHessian)
"""

import pytest

import reftorch as torch
from reftorch.utils._pytree import tree_leaves

V = [1.0, -2.0, 0.5]


@pytest.mark.parametrize("preallocate", [False, True])
@pytest.mark.parametrize("chunk_size", [None, 1, 2, 3, 7, 1000])
def test_chunks(chunk_size, preallocate):
    def f(x, y):
        return {"outer": x.outer(y), "sum": (x * y).sum()}

    x, y = torch.tensor(V), torch.tensor([3.0, 4.0, 5.0])
    options = {"chunk_size": chunk_size, "_preallocate_and_copy": preallocate}
    pieces = torch.func.jacrev(f, (0, 1), **options)(x, y)
    whole = torch.func.jacfwd(f, (0, 1))(x, y)
    assert pieces.keys() == whole.keys()
    for a, b in zip(tree_leaves(pieces), tree_leaves(whole), strict=True):
        assert torch.equal(a, b)


def test_one_row_at_a_time_needs_no_vmap():
    def f(x):
        return x * x.sum().item() if x.dim() else x

    x = torch.tensor(V)
    assert torch.equal(torch.func.jacrev(f, chunk_size=1)(x), torch.eye(3) * x.sum())


ARGNUMS = {
    "a list": [0],
    "a float": 0.5,
    "a float in a tuple": (0.5,),
    "empty": (),
    "twice the same": (0, 0),
    "the same from behind": (0, -2),
    "too large": 2,
    "too small": (-3,),
}


@pytest.mark.parametrize("argnums", ARGNUMS.values(), ids=ARGNUMS)
@pytest.mark.parametrize("transform", ["jacrev", "jacfwd", "grad", "hessian"])
def test_argnums_that_are_none(transform, argnums, real_torch):
    messages = []
    for lib in (torch, real_torch):
        with pytest.raises(RuntimeError) as raised:
            getattr(lib.func, transform)(lambda x, y: (x * y).sum(), argnums)(lib.ones(2), lib.ones(2))
        messages.append(str(raised.value))
    if argnums != (0, -2):  # torch names the numbers as given, or wrapped, by the transform
        assert messages[0] == messages[1]


def test_chunk_size_must_be_positive():
    with pytest.raises(ValueError, match="`chunk_size` should be greater than 0"):
        torch.func.jacrev(torch.sin, chunk_size=0)


def test_integers_have_no_jacobian(real_torch):
    for lib in (torch, real_torch):
        with pytest.raises(RuntimeError, match="All outputs of f must be floating-point or complex Tensors"):
            lib.func.jacrev(lambda x: x.argmax())(lib.ones(2))
