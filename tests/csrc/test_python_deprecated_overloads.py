"""Spellings of a call that torch takes beside its own: numpy's names, None for no dimensions, factors before tensors.

Mirrors: test/test_torch.py (test_numpy_named_args, test_deprecated_overloads), tools/autograd/deprecated.yaml
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch

pytestmark = pytest.mark.filterwarnings("ignore:This overload of")


def both(torch: ModuleType | None) -> list[Any]:
    return [reftorch, *([torch] if torch is not None else [])]


CALLS = {
    "add x1": lambda t, x: t.add(x1=x, x2=x),
    "mul x": lambda t, x: t.mul(x=x, other=x),
    "exp x": lambda t, x: t.exp(x=x),
    "sum a": lambda t, x: t.sum(a=x, axis=0, keepdims=True),
    "maximum": lambda t, x: t.maximum(x1=x, x2=-x),
    "self": lambda t, x: t.neg(self=x) if t is reftorch else t.neg(x),
    "where": lambda t, x: t.where(condition=x > 2, x=x, other=-x),
    "amax": lambda t, x: t.amax(x, dim=None, keepdim=True),
    "add": lambda t, x: t.add(x, 2, x),
    "add number": lambda t, x: t.add(x, 3, 2),
    "add_": lambda t, x: x.clone().add_(-0.5, x),
    "add out": lambda t, x: t.add(x, 2, x, out=t.empty(0)),
    "sub": lambda t, x: t.sub(x, 2, x),
    "addcmul": lambda t, x: t.addcmul(x, 2, x, x),
    "addcmul_": lambda t, x: x.clone().addcmul_(0.5, x, x),
    "addcdiv": lambda t, x: x.addcdiv(2, x, x),
    "addmm": lambda t, x: t.addmm(2, x, 3, x, x),
    "addmm beta": lambda t, x: t.addmm(2, x, x, x),
    "addmm_": lambda t, x: x.clone().addmm_(2, 3, x, x),
    "addmv": lambda t, x: t.addmv(2, x[0], 3, x, x[1]),
    "addr": lambda t, x: x.addr(2, x[0], x[1]),
    "baddbmm": lambda t, x: t.baddbmm(2, x[None], 3, x[None], x[None]),
    "addbmm": lambda t, x: x.addbmm(2, 3, x[None], x[None]),
}


@pytest.mark.parametrize("name", CALLS)
def test_spelling(name: str, real_torch: ModuleType) -> None:
    ours, theirs = (CALLS[name](t, t.tensor([[1.0, 2.0], [3.0, 5.0]])) for t in both(real_torch))
    assert ours.tolist() == theirs.tolist()
    assert ours.stride() == theirs.stride()


REFUSED = {
    "factor first": lambda t, x: t.add(2, x, x),
    "factor last": lambda t, x: t.addmm(x, x, x, 2),
    "too many": lambda t, x: t.add(x, 2, 3, x),
    "twice": lambda t, x: x.add_(2, x, alpha=3),
    "no list": lambda t, x: t.sum(x, dims=None),
    "no dims": lambda t, x: t.flip(x, dims=None),
    "other": lambda t, x: t.mul(x, 2, x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, real_torch_or_none: ModuleType | None) -> None:
    for t in both(real_torch_or_none):
        with pytest.raises(TypeError):
            REFUSED[name](t, t.ones(2, 2))


def test_gradients_follow_a_factor_in_its_old_place() -> None:
    x = reftorch.ones(2, requires_grad=True)
    reftorch.add(x, 3, x).sum().backward()
    assert x.grad.tolist() == [4, 4]
