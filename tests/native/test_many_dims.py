"""Tensors with more than 64 dimensions: views and pointwise ops take them, lists of dims are refused as in torch.

Mirrors: nothing in PyTorch: it has no test of this kind
"""

from typing import Any

import pytest

import reftorch
from tests.native.differential import assert_same_outcome

N = 65


def wide(lib: Any) -> Any:
    return lib.arange(3.0).view([1] * (N - 1) + [3])


PROGRAMS = {
    "add": lambda t: wide(t) + wide(t),
    "broadcast": lambda t: wide(t) * t.ones([1] * N),
    "neg": lambda t: -wide(t),
    "sum": lambda t: wide(t).sum(),
    "mean": lambda t: wide(t).mean(),
    "amax of all": lambda t: wide(t).amax(),
    "permute": lambda t: wide(t).permute(list(range(N - 1, -1, -1))),
    "permute twice the same": lambda t: wide(t).permute([0] * N),
    "transpose": lambda t: wide(t).transpose(0, N - 1).contiguous(),
    "squeeze": lambda t: wide(t).squeeze(),
    "squeeze one": lambda t: wide(t).squeeze(N - 2),
    "unsqueeze": lambda t: wide(t).unsqueeze(N),
    "view": lambda t: wide(t).view(-1),
    "expand": lambda t: wide(t).expand([2] + [1] * (N - 1) + [3]),
    "row": lambda t: wide(t)[0],
    "last": lambda t: wide(t)[..., 1],
    "cat": lambda t: t.cat([wide(t), wide(t)], N - 1),
    "cumsum": lambda t: wide(t).cumsum(N - 1),
    "sort": lambda t: wide(t).sort(N - 1, descending=True)[0],
    "softmax": lambda t: wide(t).softmax(N - 1),
    "gather": lambda t: wide(t).gather(N - 1, wide(t).long()),
    "roll": lambda t: wide(t).roll(1, N - 1),
    "nonzero": lambda t: wide(t).nonzero(),
    "mask": lambda t: wide(t)[wide(t) > 0],
    "topk": lambda t: wide(t).topk(1, N - 1)[0],
    "sum of one": lambda t: wide(t).sum(N - 1),
    "sum of two": lambda t: wide(t).sum((0, N - 1)),
    "sum of one twice": lambda t: wide(t).sum((0, 0)),
    "amax": lambda t: wide(t).amax(N - 1),
    "argmax": lambda t: wide(t).argmax(N - 1),
    "var": lambda t: wide(t).var(N - 1),
    "prod": lambda t: wide(t).prod(N - 1),
    "flip": lambda t: wide(t).flip(N - 1),
    "flip of nothing": lambda t: wide(t).flip(()),
    "squeeze two": lambda t: wide(t).squeeze((0, 1)),
    "tensordot": lambda t: t.tensordot(wide(t), wide(t), dims=([N - 1], [N - 1])),
    "logsumexp": lambda t: wide(t).logsumexp(N - 1),
    "renorm": lambda t: wide(t).renorm(2, 0, 1.0),
    "norm": lambda t: t.linalg.vector_norm(wide(t), dim=N - 1),
    "64 are fine": lambda t: wide(t).squeeze(0).sum(N - 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_torch(name: str, real_torch: Any) -> None:
    assert_same_outcome(PROGRAMS[name], real_torch)


def test_gradients_of_many_dims() -> None:
    x = reftorch.arange(3.0).requires_grad_()
    (x.view([1] * (N - 1) + [3]) ** 2).sum().backward()
    assert x.grad.tolist() == [0.0, 2.0, 4.0]  # type: ignore[union-attr]
