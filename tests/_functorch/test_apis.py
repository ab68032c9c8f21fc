"""vmap in pieces.

Mirrors: test/functorch/test_vmap.py
"""

import pytest

import reftorch as torch
from reftorch._functorch.apis import chunk_vmap


@pytest.mark.parametrize("chunks", [1, 2, 3, 5, 8])
def test_chunk_vmap(chunks):
    sizes = []

    def f(x, y):
        sizes.append(torch.func.debug_unwrap(x).size(0))
        return x * y, x.sum()

    x, y = torch.arange(10.0).view(5, 2), torch.tensor([1.0, -1.0])
    product, sums = chunk_vmap(f, (0, None), (1, 0), chunks=chunks)(x, y)
    assert torch.equal(product, (x * y).t())
    assert torch.equal(sums, x.sum(1))
    assert sum(sizes) == 5
    assert len(sizes) <= chunks


@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize("chunk_size", [None, 2])
def test_randomness_in_chunks(randomness, chunk_size):
    drawn = torch.vmap(lambda x: x + torch.rand(()), randomness=randomness, chunk_size=chunk_size)(torch.zeros(4))
    first = 4 if chunk_size is None else chunk_size
    assert (len(set(drawn[:first].tolist())) == 1) == (randomness == "same")
