"""Softmax and losses against torch's.

Mirrors: test/test_nn.py
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db.checks import check_error
from tests.op_db.core import FLOATS
from tests.op_db.samples.unary import backward_op
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "loss loss_multi_margin loss_nll loss_nll2d soft_max gated_linear_unit"


ERRORS = [
    (lambda t: loss(t, "nll_loss", t.ones(2, 3), t.tensor([0, 5])), IndexError, "Target 5 is out of bounds."),
    (lambda t: loss(t, "nll_loss", t.ones(2, 3), t.tensor([0, -1])), IndexError, "Target -1 is out of bounds."),
    (
        lambda t: loss(t, "nll_loss", t.ones(2, 3), t.tensor([0.0, 1.0])),
        RuntimeError,
        "expected target dtype to be Long or Byte, but got Float",
    ),
    (
        lambda t: loss(t, "nll_loss", t.ones(2, 3), t.tensor([0, 1, 2])),
        RuntimeError,
        "size mismatch (got input: [2, 3], target: [3])",
    ),
    (
        lambda t: loss(t, "nll_loss", t.ones(2, 3), t.tensor([[0, 1]])),
        RuntimeError,
        "0D or 1D target tensor expected, multi-target not supported",
    ),
    (
        lambda t: loss(t, "nll_loss", t.ones(2, 3, 4, 5), t.tensor([0, 1])),
        RuntimeError,
        "input tensor should be 1D or 2D",
    ),
    (
        lambda t: loss(t, "nll_loss", t.ones(2, 3), t.tensor([0, 1]), t.ones(2)),
        RuntimeError,
        "weight tensor should be defined either for all 3 classes or no classes but got weight tensor of shape: [2]",
    ),
    (
        lambda t: loss(t, "nll_loss", t.ones(3), t.ones(2)),
        RuntimeError,
        "expected target dtype to be Long or Byte, but got Float",
    ),
    (
        lambda t: loss(t, "nll_loss", t.ones(3), t.ones(0, dtype=t.int64), t.ones(0)),
        ValueError,
        "For 1D input, 1D target must have size 1, but got target size: 0",
    ),
    (
        lambda t: loss(t, "nll_loss", t.ones(3), t.tensor([0, 1])),
        ValueError,
        "For 1D input, 1D target must have size 1, but got target size: 2",
    ),
    (
        lambda t: backward_op(t, "nll_loss_backward")(
            t.ones(2), t.ones(3), t.tensor([0, 1]), None, 0, -100, t.tensor(1.0)
        ),
        RuntimeError,
        "size mismatch (got input: [3], target: [2])",
    ),
    (
        lambda t: loss(t, "cross_entropy_loss", t.ones(2, 3), t.ones(2, 3, dtype=t.int64)),
        RuntimeError,
        "Expected floating point type for target with class probabilities, got Long",
    ),
    (
        lambda t: loss(t, "cross_entropy_loss", t.ones(2, 3), t.ones(2, 3), None, 1, 5),
        RuntimeError,
        "ignore_index is not supported for floating point target",
    ),
    (
        lambda t: backward_op(t, "huber_loss_backward")(t.ones(2).double(), t.ones(2), t.ones(2).double(), 2, 1.0),
        RuntimeError,
        "Found dtype Double but expected Float",
    ),
    (
        lambda t: t.ops.aten.huber_loss_backward.out(
            t.ones(2), t.ones(2), t.ones(2), 2, 1.0, grad_input=t.ones(2).double()
        ),
        RuntimeError,
        "Found dtype Double but expected Float",
    ),
    (
        lambda t: t.softmax(t.tensor([1]), 0),
        NotImplementedError,
        "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'",
    ),
]


def loss(lib: Any, name: str, *args: Any) -> Any:
    return getattr(lib._C._nn, name)(*args)


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Any, error: type[Exception], message: str, real_torch_or_none: Any) -> None:
    check_error(call, error, message, real_torch_or_none)


@pytest.mark.parametrize("function", ["softmax", "log_softmax"])
def test_fast_rung_equals_naive_rung(function: str) -> None:
    """The last dimension goes through vector code, any other through the plain loop."""
    for n in (1, 15, 64, 65, 1000, 20_000):
        x = reftorch.randn(3, n)
        fast = getattr(x, function)(1)
        naive = getattr(x.t().contiguous(), function)(0).t()
        np.testing.assert_allclose(fast.numpy(), naive.contiguous().numpy(), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("n", [3, 64, 100])
def test_rows_with_infinities_and_nan(n: int) -> None:
    inf, nan = float("inf"), float("nan")
    x = reftorch.zeros(5, n)
    x[0, 1], x[1, 1], x[2], x[3, 1] = -inf, nan, -inf, inf
    got = x.softmax(1)
    assert got[0].tolist() == pytest.approx([0.0 if i == 1 else 1 / (n - 1) for i in range(n)])
    assert got[1:4].isnan().all()
    assert got[4].tolist() == pytest.approx([1 / n] * n)
    assert x.log_softmax(1).isnan().equal(got.isnan())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_every_way_through_softmax_is_the_same(name: str, dtype: str) -> None:
    """Rows, strips of columns, and the plain loop that a few columns take; forward and backward."""

    def run(x: Any, dim: int) -> tuple[Any, Any]:
        x = x.detach().requires_grad_()
        y = getattr(x, name)(dim)
        (grad,) = reftorch.autograd.grad(y, x, (y.detach() * 2 - 1))
        return y.detach(), grad

    x = reftorch.from_numpy(np.random.default_rng(5).standard_normal((37, 200))).to(getattr(reftorch, dtype))
    # The gradient is a difference of numbers near 16, and each way adds them up in another order.
    tolerance = {"float64": 1e-12, "float32": 16 * 1e-6}.get(dtype, 2e-2)
    columns, rows, few = run(x, 0), run(x.t().contiguous(), 1), run(x[:, :3].contiguous(), 0)
    for column, row, plain in zip(columns, rows, few, strict=True):
        for got, want in ((column, row.t()), (column[:, :3], plain)):
            np.testing.assert_allclose(got.double().numpy(), want.double().numpy(), rtol=tolerance, atol=tolerance)


def test_second_gradients_of_a_loss_of_nothing_are_empty() -> None:
    x = reftorch.zeros(0, 3, requires_grad=True)
    (grad,) = reftorch.autograd.grad(reftorch._C._nn.mse_loss(x, reftorch.zeros(0, 3), 1), x, create_graph=True)
    assert reftorch.autograd.grad(grad.sum(), x)[0].shape == (0, 3)


def test_a_huber_loss_of_no_known_reduction_has_no_second_gradient(real_torch_or_none: Any) -> None:
    """The loss of each element comes out, but the derivative of the gradient takes it for a sum."""

    def call(lib: Any) -> Any:
        x = lib.zeros(3, requires_grad=True)
        grad_output = lib.ones(3, requires_grad=True)
        out = loss(lib, "huber_loss", x, lib.ones(3), -1, 1.0)
        (grad,) = lib.autograd.grad(out, x, grad_output, create_graph=True)
        return lib.autograd.grad(grad.sum(), grad_output)

    message = (
        "Function HuberLossBackwardBackward0 returned an invalid gradient at index 0 - got [] but expected shape "
        "compatible with [3]"
    )
    check_error(call, RuntimeError, message, real_torch_or_none)


@pytest.mark.parametrize("target", ["uint8", "int64", "float32", "float64"])
@pytest.mark.parametrize("grad", ["int8", "float32", "float64"])
def test_backward_of_the_squared_error_takes_mixed_dtypes(grad: str, target: str) -> None:
    """Each operand is read in its own dtype; the slope comes in that of the input."""
    x = reftorch.tensor([0, 1, 2, 3], dtype=reftorch.float32)
    y = reftorch.tensor([3, 2, 2, 1], dtype=getattr(reftorch, target))
    slope = reftorch._C._nn.mse_loss_backward(reftorch.tensor(3, dtype=getattr(reftorch, grad)), x, y, 2)
    assert slope.dtype is reftorch.float32
    assert slope.tolist() == [-18.0, -6.0, 0.0, 12.0]


# What the losses are made of: the graph of each call, as the names of its nodes, each before the nodes it leads to.
GRAPHS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "l1": lambda F, x, y: F.l1_loss(x, y),
    "kl_div": lambda F, x, y: F.kl_div(x, y.abs(), reduction="batchmean"),
    "kl_div of logarithms": lambda F, x, y: F.kl_div(x, y, reduction="sum", log_target=True),
    "poisson": lambda F, x, y: F.poisson_nll_loss(x, y.exp(), full=True),
    "poisson of rates": lambda F, x, y: F.poisson_nll_loss(x, y.exp(), log_input=False),
    "hinge": lambda F, x, y: F.hinge_embedding_loss(x, y.detach().sign()),
    "cosine": lambda F, x, y: F.cosine_embedding_loss(x, y, y.detach()[:, 0].sign()),
    "ranking": lambda F, x, y: F.margin_ranking_loss(x, y, y.detach().sign()),
    "triplet": lambda F, x, y: F.triplet_margin_loss(x, y, x + 1, swap=True, reduction="none"),
    "soft margin": lambda F, x, y: F.soft_margin_loss(x, y.detach().sign()),
    "multi margin": lambda F, x, y: F.multi_margin_loss(x, y.detach().argmax(1)),
    "multilabel margin": lambda F, x, y: F.multilabel_margin_loss(x, y.detach().argsort(1)),
    "cross entropy": lambda F, x, y: F.cross_entropy(x, y.detach().argmax(1)),
    "smoothed": lambda F, x, y: F.cross_entropy(x, y.detach().argmax(1), label_smoothing=0.1),
    "smoothed and weighted": lambda F, x, y: F.cross_entropy(
        x, y.detach().argmax(1), y.detach()[0].abs(), label_smoothing=0.1, reduction="none"
    ),
    "smoothed probabilities": lambda F, x, y: F.cross_entropy(x, y.softmax(1), label_smoothing=0.1),
    "weighted probabilities": lambda F, x, y: F.cross_entropy(x, y.softmax(1), y.exp()[0], reduction="none"),
    "distance": lambda F, x, y: F.pairwise_distance(x, y),
}


def nodes(node: Any) -> list[str]:
    return [] if node is None else [node.name(), *(name for before, _ in node.next_functions for name in nodes(before))]


@pytest.mark.parametrize("case", GRAPHS)
def test_graphs_are_those_of_torch(case: str, real_torch: Any) -> None:
    found = []
    for lib in (reftorch, real_torch):
        x = lib.linspace(-1, 1, 12, dtype=lib.float64).reshape(3, 4).requires_grad_()
        y = (lib.arange(12, dtype=lib.float64).reshape(3, 4) * 0.7).cos().requires_grad_()
        found.append(nodes(GRAPHS[case](lib.nn.functional, x, y).grad_fn))
    assert found[0] == found[1]
    assert len(found[0]) >= 2


def test_ops_of_torch_ops_return_plain_tuples(real_torch: Any) -> None:
    def types(lib: Any) -> list[str]:
        aten, x = lib.ops.aten, lib.ones(2, 3)
        scores = aten.log_sigmoid_forward(x)
        losses = aten.nll_loss_forward(x, lib.tensor([0, 1]), None, 1, -100)
        return [type(result).__name__ for result in (scores, losses, aten.max.dim(x, 0), aten.sort(x))]

    assert types(reftorch) == asked(real_torch, types) == ["tuple"] * 4
