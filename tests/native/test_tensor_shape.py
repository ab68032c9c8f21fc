"""Views and shape ops.

Mirrors: test/test_view_ops.py, test/test_shape_ops.py
"""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error, assert_same_gradients, numbers

RESULTS: dict[str, Program] = {
    "view": lambda t: numbers(t, 2, 6).view(3, -1),
    "view splits a dimension of a transposed tensor": lambda t: numbers(t, 4, 3).t().view(3, 2, 2),
    "view of ones": lambda t: numbers(t, 1, 3, 1).view(3),
    "view to scalar": lambda t: numbers(t, 1, 1).view(()),
    "view of scalar": lambda t: numbers(t).view(1, 1),
    "view of empty": lambda t: numbers(t, 0, 3).view(5, 0),
    "view_as": lambda t: numbers(t, 6).view_as(numbers(t, 2, 3)),
    "reshape copies": lambda t: numbers(t, 2, 3).t().reshape(6),
    "reshape views": lambda t: numbers(t, 2, 3, 4).transpose(1, 2).reshape(2, 2, 2, 3),
    "reshape_as": lambda t: numbers(t, 2, 3).t().reshape_as(numbers(t, 6)),
    "flatten": lambda t: numbers(t, 2, 3, 4).flatten(1),
    "flatten scalar": lambda t: numbers(t).flatten(),
    "flatten one dim": lambda t: numbers(t, 2, 3).flatten(1, 1),
    "unflatten": lambda t: numbers(t, 2, 6).unflatten(1, (2, -1)),
    "ravel": lambda t: numbers(t, 2, 3).t().ravel(),
    "permute": lambda t: numbers(t, 2, 3, 4).permute(2, 0, -2),
    "transpose": lambda t: numbers(t, 2, 3, 4).transpose(0, -1),
    "transpose scalar": lambda t: numbers(t).transpose(0, -1),
    "t": lambda t: [numbers(t, 2, 3).t(), numbers(t, 3).t(), numbers(t).t()],
    "mT": lambda t: numbers(t, 2, 3, 4).mT,
    "T": lambda t: numbers(t, 2, 3).T,
    "movedim": lambda t: [t.movedim(numbers(t, 2, 3, 4), 0, 2), t.movedim(numbers(t, 2, 3, 4), (0, 1), (-1, 0))],
    "swapaxes": lambda t: t.swapaxes(numbers(t, 2, 3), 0, 1),
    "swapdims": lambda t: numbers(t, 2, 3).swapdims(0, 1),
    "unsqueeze": lambda t: [numbers(t, 2, 3).unsqueeze(d) for d in range(-3, 3)],
    "unsqueeze transposed": lambda t: numbers(t, 2, 3).t().unsqueeze(1),
    "squeeze": lambda t: numbers(t, 1, 3, 1).squeeze(),
    "squeeze dim": lambda t: [numbers(t, 1, 3, 1).squeeze(d) for d in (0, 1, -1)],
    "squeeze dims": lambda t: numbers(t, 1, 3, 1).squeeze((0, 1)),
    "squeeze scalar": lambda t: numbers(t).squeeze(0),
    "expand": lambda t: numbers(t, 3, 1).expand(2, -1, 4),
    "expand ones": lambda t: numbers(t, 3).expand(1, 1, 3),
    "expand scalar": lambda t: numbers(t).expand(2, 1),
    "expand_as": lambda t: numbers(t, 1, 3).expand_as(numbers(t, 2, 3)),
    "broadcast_to": lambda t: t.broadcast_to(numbers(t, 3), (2, 3)),
    "as_strided": lambda t: numbers(t, 12).as_strided((3, 2), (2, 5), 1),
    "as_strided keeps the offset": lambda t: numbers(t, 12)[2:].as_strided((2, 2), (1, 2)),
    "select": lambda t: [numbers(t, 2, 3).select(1, -1), t.select(numbers(t, 2, 3), 0, 1)],
    "narrow": lambda t: numbers(t, 5, 3).narrow(0, -3, 2),
    "diagonal": lambda t: [numbers(t, 3, 4).diagonal(o) for o in (-3, -1, 0, 2, 5)],
    "diagonal dims": lambda t: numbers(t, 2, 3, 4).diagonal(1, 2, 0),
    "unbind": lambda t: numbers(t, 2, 3).unbind(1),
    "split": lambda t: numbers(t, 5, 2).split(2),
    "split exactly": lambda t: t.split(numbers(t, 4, 2), 2, 1),
    "split sizes": lambda t: numbers(t, 5, 2).split([1, 4]),
    "split empty": lambda t: numbers(t, 0, 2).split(0),
    "chunk": lambda t: [numbers(t, 5, 2).chunk(n) for n in (1, 2, 3, 7)],
    "chunk empty": lambda t: numbers(t, 0, 2).chunk(3),
    "cat": lambda t: t.cat([numbers(t, 2, 3), numbers(t, 4, 3, start=3)]),
    "cat last dim": lambda t: t.cat([numbers(t, 2, 3), numbers(t, 2, 1)], dim=-1),
    "cat promotes": lambda t: t.cat([numbers(t, 2, dtype="int32"), numbers(t, 2, dtype="float16"), t.tensor([True])]),
    "cat legacy empty": lambda t: t.cat([t.tensor([]), numbers(t, 2, 3)], dim=1),
    "cat all empty": lambda t: t.cat([t.tensor([]), t.tensor([])]),
    "cat out": lambda t: t.cat([numbers(t, 2), numbers(t, 3)], out=t.empty(0, dtype=t.float64)),
    "stack": lambda t: [t.stack([numbers(t, 2, 3), numbers(t, 2, 3, start=1)], d) for d in (0, 1, -1)],
    "hstack": lambda t: [t.hstack([numbers(t, 2), numbers(t)]), t.hstack([numbers(t, 2, 1), numbers(t, 2, 3)])],
    "vstack": lambda t: t.vstack([numbers(t, 3), numbers(t, 2, 3)]),
    "repeat": lambda t: [numbers(t, 2, 3).repeat(2, 1), numbers(t, 3).repeat(2, 3), numbers(t).repeat(2)],
    "repeat of a transposed tensor": lambda t: numbers(t, 2, 3).t().repeat(1, 2),
    "repeat nothing": lambda t: numbers(t, 3).repeat(0),
    "flip": lambda t: [numbers(t, 2, 3, 4).flip(d) for d in ((0,), (1, 2), (0, -1), ())],
    "flip dtypes": lambda t: [numbers(t, 5, dtype=d).flip(0) for d in ("bool", "int16", "float64", "bfloat16")],
    "flip transposed": lambda t: numbers(t, 2, 3).t().flip(0),
    "tril": lambda t: [numbers(t, 3, 4).tril(k) for k in (-4, -1, 0, 1, 4)],
    "triu": lambda t: [numbers(t, 2, 4, 3).triu(k) for k in (-2, 0, 3)],
    "tril of a transposed tensor": lambda t: numbers(t, 3, 4).t().tril(),
    "diag": lambda t: [t.diag(numbers(t, 3), 1), t.diag(numbers(t, 3, 4), -1)],
    "diag_embed": lambda t: [t.diag_embed(numbers(t, 2, 3)), t.diag_embed(numbers(t, 2, 3), -1, 0, 2)],
}


def in_place(change: Program) -> Program:
    """The tensor after an in-place change, and what the call returned."""

    def program(t: ModuleType) -> object:
        x = numbers(t, 1, 3, 4)
        result = change(x)
        return [x, result, result is x]

    return program


RESULTS |= {
    "transpose_": in_place(lambda x: x.transpose_(1, 2)),
    "unsqueeze_": in_place(lambda x: x.unsqueeze_(-1)),
    "squeeze_": in_place(lambda x: x.squeeze_()),
    "squeeze_ dim": in_place(lambda x: x.squeeze_(0)),
    "t_": lambda t: numbers(t, 2, 3).t_(),
    "tril_": in_place(lambda x: x.tril_()),
    "triu_": in_place(lambda x: x.triu_(1)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch)


ERRORS: dict[str, Program] = {
    "view across subspaces": lambda t: t.zeros(2, 3).t().view(6),
    "view size": lambda t: t.zeros(2, 3).view(5),
    "view two unknown": lambda t: t.zeros(2, 3).view(-1, -1),
    "view ambiguous": lambda t: t.zeros(0, 3).view(0, -1),
    "reshape size": lambda t: t.zeros(2, 3).reshape(4, -1),
    "flatten order": lambda t: t.zeros(2, 3).flatten(1, 0),
    "unflatten product": lambda t: t.zeros(2, 3).unflatten(1, (2, 2)),
    "unflatten empty": lambda t: t.zeros(2, 3).unflatten(1, ()),
    "permute length": lambda t: t.zeros(3).permute(0, 1),
    "permute twice": lambda t: t.zeros(3, 3).permute(0, 0),
    "permute range": lambda t: t.zeros(3, 3).permute(0, 2),
    "t of 3-d": lambda t: t.zeros(3, 3, 3).t(),
    "mT of 1-d": lambda t: t.zeros(3).mT,
    "movedim lengths": lambda t: t.movedim(t.zeros(2, 3), (0, 1), (0,)),
    "movedim repeated": lambda t: t.movedim(t.zeros(2, 3), (0, 0), (0, 1)),
    "squeeze repeated": lambda t: t.zeros(2, 3).squeeze((0, 0)),
    "unsqueeze range": lambda t: t.zeros(2).unsqueeze(3),
    "expand size": lambda t: t.zeros(3).expand(2, 4),
    "expand leading -1": lambda t: t.zeros(3).expand(-1, 3),
    "expand too few": lambda t: t.zeros(2, 3).expand(3),
    "as_strided lengths": lambda t: t.zeros(2, 3).as_strided((2, 2), (1,)),
    "as_strided out of bounds": lambda t: t.zeros(2, 3).as_strided((20, 2), (1, 1)),
    "as_strided negative": lambda t: t.zeros(2, 3).as_strided((2, 2), (-1, 1)),
    "as_strided offset": lambda t: t.zeros(2, 3).as_strided((2, 2), (1, 1), -1),
    "select range": lambda t: t.zeros(3).select(0, 5),
    "select scalar": lambda t: t.zeros(()).select(0, 0),
    "narrow length": lambda t: t.zeros(3).narrow(0, 0, 4),
    "narrow negative": lambda t: t.zeros(3).narrow(0, 0, -1),
    "narrow start": lambda t: t.zeros(3).narrow(0, 5, 1),
    "narrow scalar": lambda t: t.zeros(()).narrow(0, 0, 1),
    "diagonal dims": lambda t: t.zeros(2, 3).diagonal(0, 1, 1),
    "unbind scalar": lambda t: t.zeros(()).unbind(),
    "split negative": lambda t: t.zeros(2, 3).split(-1),
    "split zero": lambda t: t.zeros(2, 3).split(0),
    "split sum": lambda t: t.zeros(2, 3).split([1, 2]),
    "split scalar": lambda t: t.zeros(()).split(1),
    "chunk zero": lambda t: t.zeros(2, 3).chunk(0),
    "chunk scalar": lambda t: t.zeros(()).chunk(1),
    "cat nothing": lambda t: t.cat([]),
    "cat sizes": lambda t: t.cat([t.zeros(2, 3), t.zeros(2, 4)]),
    "cat dims": lambda t: t.cat([t.zeros(2, 3), t.zeros(2)]),
    "cat scalar": lambda t: t.cat([t.zeros(()), t.zeros(2)]),
    "stack nothing": lambda t: t.stack([]),
    "stack sizes": lambda t: t.stack([t.zeros(3), t.zeros(2)]),
    "repeat dims": lambda t: t.zeros(2, 3).repeat(2),
    "flip repeated": lambda t: t.zeros(3, 3).flip(0, 0),
    "tril of 1-d": lambda t: t.zeros(2).tril(),
    "diag of 3-d": lambda t: t.diag(t.zeros(2, 2, 2)),
    "size range": lambda t: t.zeros(2, 3).size(3),
    "size of a scalar": lambda t: t.zeros(()).size(0),
    "item of many": lambda t: t.zeros(2, 2).item(),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


def test_no_size_is_negative(real_torch_or_none: ModuleType | None) -> None:
    for t in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(RuntimeError):
            t.zeros(2, 1).expand(2, -2)


GRADIENTS = {
    "view": (lambda t, x: x.view(6), (2, 3)),
    "reshape": (lambda t, x: x.t().reshape(6), (2, 3)),
    "flatten": (lambda t, x: x.flatten(1), (2, 3, 2)),
    "unflatten": (lambda t, x: x.unflatten(0, (2, 2)), (4, 2)),
    "permute": (lambda t, x: x.permute(2, 0, -2), (2, 3, 4)),
    "transpose": (lambda t, x: x.transpose(0, 1), (2, 3)),
    "unsqueeze": (lambda t, x: x.unsqueeze(-1), (2, 3)),
    "squeeze": (lambda t, x: x.squeeze(), (1, 3, 1)),
    "squeeze dim": (lambda t, x: x.squeeze(0), (1, 3, 1)),
    "squeeze dims": (lambda t, x: x.squeeze((0, 2)), (1, 3, 1)),
    "expand": (lambda t, x: x.expand(2, 3, 4), (3, 1)),
    "select": (lambda t, x: x.select(1, -1), (2, 3)),
    "slice": (lambda t, x: x[1:, ::2], (3, 5)),
    "narrow": (lambda t, x: x.narrow(0, 1, 2), (4, 2)),
    "diagonal": (lambda t, x: x.diagonal(1), (3, 4)),
    "diag": (lambda t, x: t.diag(x), (3,)),
    "diag_embed": (lambda t, x: t.diag_embed(x, 1), (2, 3)),
    "unbind": (lambda t, x: x.unbind(1), (2, 3)),
    "unbind, one used": (lambda t, x: x.unbind(1)[1], (2, 3)),
    "split": (lambda t, x: x.split(2), (5, 2)),
    "split sizes": (lambda t, x: x.split([1, 2], 1), (2, 3)),
    "chunk": (lambda t, x: x.chunk(3), (5, 2)),
    "cat": (lambda t, x, y: t.cat([x, y, x], 1), (2, 3), (2, 2)),
    "cat legacy empty": (lambda t, x, y: t.cat([x, y]), (0,), (2, 3)),
    "stack": (lambda t, x, y: t.stack([x, y], 1), (2, 3), (2, 3)),
    "repeat": (lambda t, x: x.repeat(2, 1, 3), (2, 3)),
    "flip": (lambda t, x: x.flip(0, 1), (2, 3)),
    "tril": (lambda t, x: x.tril(-1), (3, 3)),
    "triu": (lambda t, x: x.triu(1), (3, 3)),
    "as_strided": (lambda t, x: x.as_strided((2, 3), (1, 2), 1), (4, 3)),
    "as_strided overlapping": (lambda t, x: x.as_strided((4, 3), (1, 1)), (6,)),
    "clone": (lambda t, x: x.t().clone(), (2, 3)),
}  # fmt: skip


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(name: str, real_torch: ModuleType) -> None:
    program, *shapes = GRADIENTS[name]
    assert_same_gradients(program, real_torch, *shapes)


def test_views_share_memory() -> None:
    x = reftorch.zeros(2, 3, 4)
    views = [
        x.view(6, 4),
        x.transpose(0, 1),
        x[0],
        x[:, 1:],
        x.unsqueeze(0),
        x.expand(2, 2, 3, 4),
        x.permute(2, 1, 0),
        x.diagonal(),
        x.split(1)[1],
        x.unbind(2)[0],
        x.flatten(),
        x.as_strided((3,), (1,), 4),
    ]
    x.fill_(7)
    assert all((v == 7).all() for v in views)


def test_copies_do_not() -> None:
    x = reftorch.zeros(2, 3)
    copies = [x.clone(), x.t().reshape(6), reftorch.cat([x, x]), x.repeat(1, 1), x.flip(0), x.tril()]
    x.fill_(7)
    assert all((c == 0).all() for c in copies)


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64"])
def test_flips_of_every_width(dtype: str) -> None:
    x = reftorch.randint(0, 100, (5, 37, 3)).to(getattr(reftorch, dtype))
    for dims in ((), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
        for source in (x, x.transpose(0, 1), x.permute(2, 0, 1), x[:, 1:], x[:1].expand(4, -1, -1)):
            assert (source.flip(dims).numpy() == np.flip(source.numpy(), dims)).all()


@pytest.mark.parametrize("ndim", [0, 1, 2, 3])
def test_stack_along_every_dimension(ndim: int) -> None:
    tensors = [reftorch.randn(4, 1, 3)[(0,) * (3 - ndim)] for _ in range(5)]
    for dim in range(-ndim - 1, ndim + 1):
        want = np.stack([t.numpy() for t in tensors], dim)
        assert (reftorch.stack(tensors, dim).numpy() == want).all()
        turned = [t.movedim(0, -1).contiguous().movedim(-1, 0) if ndim else t for t in tensors]
        assert (reftorch.stack(turned, dim).numpy() == want).all()
        mixed = [t.double() if i == 2 else t for i, t in enumerate(tensors)]
        assert (reftorch.stack(mixed, dim).numpy() == want).all() and reftorch.stack(mixed).dtype == reftorch.float64


def test_dimensions_are_looked_at_in_the_order_of_torch(real_torch_or_none: Any) -> None:
    for t in (reftorch, real_torch_or_none or reftorch):
        for dims in ((2, 0), (0, 5)):
            with pytest.raises(IndexError, match="Dimension out of range"):
                t.rot90(t.ones(2, 3), 1, dims)
        with pytest.raises(RuntimeError, match="expected rotation dims to be different, but got dim0 = -1"):
            t.rot90(t.ones(2, 3), 1, (-1, 1))
        assert t.diff(t.ones(3), n=0, dim=7).tolist() == [1, 1, 1]  # no difference is taken along it
        assert t.isinf(t.arange(4)[::2][:1]).stride() == t.isfinite(t.arange(4)[::2][:1]).stride() == (2,)
