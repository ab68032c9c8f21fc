"""The fused cell of an LSTM against the small operations it stands for.

Mirrors: test/test_nn.py (test_LSTM_cell)
Leaves out: GPUs.
"""

import copy
from typing import Any

import pytest

import reftorch as torch
from tests.op_db.suite import OpTests

fused: Any = torch.ops.aten._thnn_fused_lstm_cell


class TestRows(OpTests):
    FAMILIES = "lstm_cell"


def nodes(tensor: torch.Tensor) -> set[str]:
    found, waiting = set(), [tensor.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [parent for parent, _ in node.next_functions]
    return {node.name() for node in found}


@pytest.mark.parametrize("options", [{"packed": True}, {"packed": True, "bias": False}, {"proj_size": 2}], ids=str)
def test_a_network_of_float32_takes_it_and_one_of_float64_does_not(options: dict) -> None:
    """Both give the same results and first and second gradients."""
    torch.manual_seed(0)
    packed = options.get("packed", False)
    net = torch.nn.LSTM(3, 4, bidirectional=True, **{k: v for k, v in options.items() if k != "packed"})
    x, found = torch.randn(5, 2, 3), []
    for dtype in (torch.float32, torch.float64):
        net = copy.deepcopy(net).to(dtype)
        parameters = list(net.parameters())
        sequences = x.to(dtype)
        output, (h, c) = net(torch.nn.utils.rnn.pack_padded_sequence(sequences, [5, 3]) if packed else sequences)
        output = output.data if packed else output
        assert ("ThnnFusedLstmCellBackward0" in nodes(output)) == (dtype == torch.float32)
        first = torch.autograd.grad(output.sin().sum() + c.sum(), parameters, create_graph=True)
        second = torch.autograd.grad(sum(g.square().sum() for g in first), parameters)
        found.append([output, h, c, *first, *second])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-5)


def test_a_cell_under_vmap_takes_the_small_operations() -> None:
    torch.manual_seed(0)
    net, x = torch.nn.LSTMCell(3, 4), torch.randn(6, 2, 3)
    together = torch.func.vmap(lambda x: net(x)[0])(x)
    torch.testing.assert_close(together, torch.stack([net(one)[0] for one in x]), rtol=1e-5, atol=1e-6)


def test_gradients_of_every_order() -> None:
    torch.manual_seed(0)
    args = [torch.randn(*shape, dtype=torch.float64).requires_grad_() for shape in ((1, 4), (1, 4), (1, 1), (4,), (4,))]

    def call(*args: torch.Tensor) -> Any:
        return fused(*args)[:2]

    assert torch.autograd.gradcheck(call, args)
    assert torch.autograd.gradgradcheck(call, args)
    (slope,) = torch.autograd.grad(call(*args)[0].sum(), args[:1], create_graph=True)
    assert torch.autograd.gradgradcheck(
        lambda gates: torch.autograd.grad(fused(gates, *args[1:])[0].sum(), gates, create_graph=True)[0], args[:1]
    )
    assert slope.requires_grad


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({0: torch.ones(2, 8)}, "expected input_gates of shape"),
        ({1: torch.ones(3, 12)}, "expected hidden_gates of shape"),
        ({2: torch.ones(3)}, "expected cx of 2 dimensions"),
        ({0: torch.ones(2, 12, dtype=torch.float64)}, "expected input_gates of the dtype"),
        ({3: torch.ones(12)}, "expected both biases or none"),
        ({3: torch.ones(12), 4: torch.ones(1)}, "expected hidden_bias of shape"),
    ],
)
def test_wrong_arguments(change: dict[int, torch.Tensor], message: str) -> None:
    args: list[Any] = [torch.ones(2, 12), torch.ones(2, 12), torch.ones(2, 3), None, None]
    for place, value in change.items():
        args[place] = value
    with pytest.raises(RuntimeError, match=message):
        fused(*args)
