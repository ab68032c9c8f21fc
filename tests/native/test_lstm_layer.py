"""A layer of an LSTM as one op, against the small operations.

Mirrors: test/test_mkldnn.py (test_lstm)
Leaves out: GPUs; networks beside torch's, which tests/nn/modules/test_rnn.py compares.
"""

import copy
from typing import Any

import pytest

import reftorch as torch
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "lstm_layer"


def first_and_second(net: Any, x: torch.Tensor, pick: Any) -> list[torch.Tensor]:
    """The results of a network, the gradients of those that `pick` takes, and the gradients of their squares."""
    output, (h, c) = net(x)
    wanted = [x, *net.parameters()]
    first = torch.autograd.grad(pick(output, h, c), wanted, create_graph=True)
    second = torch.autograd.grad(sum(g.square().sum() for g in first), wanted)
    return [output, h, c, *first, *second]


@pytest.mark.parametrize("train", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("pick", [lambda o, h, c: o.sin().sum(), lambda o, h, c: h.sin().sum() + c.square().sum()])
@pytest.mark.parametrize("options", [{}, {"bidirectional": True}, {"bias": False, "num_layers": 2}], ids=str)
def test_float32_takes_the_layer_and_float64_the_small_operations(options: dict, pick: Any, train: bool) -> None:
    """Both give the same results and the same first and second gradients."""
    torch.manual_seed(0)
    net, x, found = torch.nn.LSTM(3, 4, **options).train(train), torch.randn(5, 2, 3), []
    for dtype, node in ((torch.float32, "MkldnnRnnLayerBackward0"), (torch.float64, "StackBackward0")):
        net = copy.deepcopy(net).to(dtype)
        output = net(x.to(dtype))[0]
        last = output.grad_fn if not options.get("bidirectional") else output.grad_fn.next_functions[0][0]
        assert last.name() == node
        found.append(first_and_second(net, x.to(dtype).requires_grad_(), pick))
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-4, atol=1e-5)


def test_a_network_under_vmap_takes_the_small_operations() -> None:
    torch.manual_seed(0)
    net, x = torch.nn.LSTM(3, 4), torch.randn(6, 5, 2, 3)
    together = torch.func.vmap(lambda x: net(x)[0])(x)
    torch.testing.assert_close(together, torch.stack([net(one)[0] for one in x]), rtol=1e-5, atol=1e-6)


WEIGHTS = [torch.ones(12, 2), torch.ones(12, 3), torch.ones(12), torch.ones(12)]
ARGS = [torch.ones(4, 2, 2), *WEIGHTS, torch.ones(2, 3), torch.ones(2, 3), False, [], 2, 3, 1, True, False, False, True]


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, torch.ones(4, 2), "expected input of 3 dimensions"),
        (0, torch.ones(0, 2, 2), "not empty"),
        (1, torch.ones(12, 3), r"expected weight0 of shape \[12, 2\], but got \[12, 3\]"),
        (2, torch.ones(12, 2), "expected weight1 of shape"),
        (3, torch.ones(3), "expected weight2 of shape"),
        (4, torch.ones(12, dtype=torch.float64), "expected weight3 of the dtype"),
        (5, torch.ones(3, 3), "expected hx_ of shape"),
        (6, torch.ones(2), "expected cx_ of shape"),
        (8, [2, 1], "expected padded sequences"),
        (9, 3, "expected mode 2"),
        (10, 0, "expected a positive hidden_size"),
    ],
)
def test_wrong_arguments(place: int, value: Any, message: str) -> None:
    args = [*ARGS[:place], value, *ARGS[place + 1 :]]
    with pytest.raises(RuntimeError, match=message):
        torch.mkldnn_rnn_layer(*args)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"output": torch.ones(4, 2, 2)}, "expected output of shape"),
        ({"grad_hy": torch.ones(3)}, "expected grad_hy of shape"),
        ({"grad_output": torch.ones(4, 2, 3, dtype=torch.float64)}, "expected grad_output of shape"),
        ({"workspace": torch.ones(7)}, "expected workspace of shape"),
    ],
)
def test_wrong_arguments_of_the_backward(change: dict[str, torch.Tensor], message: str) -> None:
    output, h, c, workspace = torch.mkldnn_rnn_layer(*ARGS)
    given = {"output": output, "hy_": h, "cy_": c, "grad_output": output, "grad_hy": h, "grad_cy": c}
    given |= {"workspace": workspace} | change
    workspace = given.pop("workspace")
    with pytest.raises(RuntimeError, match=message):
        torch.ops.aten.mkldnn_rnn_layer_backward(
            *ARGS[:7], *given.values(), False, 2, 3, 1, True, True, False, [], False, workspace
        )


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_a_network_under_autocast_takes_the_layer_too(dtype: torch.dtype) -> None:
    """The states have the dtype of autocast, and the gradients that of the parameters, as in PyTorch."""
    torch.manual_seed(0)
    net, x = torch.nn.LSTM(3, 4), torch.randn(5, 2, 3)
    expected, (_, expected_c) = net(x)
    with torch.autocast("cpu", dtype=dtype):
        output, (_, c) = net(x)
    assert output.dtype == c.dtype == dtype
    assert output.grad_fn is not None
    assert output.grad_fn.name() == "MkldnnRnnLayerBackward0"
    torch.testing.assert_close([output.float(), c.float()], [expected, expected_c], rtol=0, atol=0.02)
    parameters = list(net.parameters())
    grads = torch.autograd.grad(output.float().sum() + c.float().sum(), parameters)
    torch.testing.assert_close(
        grads, torch.autograd.grad(expected.sum() + expected_c.sum(), parameters), rtol=0.05, atol=0.05
    )
