"""Nonlinearities as modules.

Mirrors: test/test_nn.py
Leaves out: the nonlinearities that are not there.
"""

from typing import Any

import pytest

import reftorch
from reftorch import nn


@pytest.mark.parametrize(
    ("module", "function", "text"),
    [
        (nn.ReLU(), lambda x: x.relu(), "ReLU()"),
        (nn.Sigmoid(), lambda x: x.sigmoid(), "Sigmoid()"),
        (nn.Tanh(), lambda x: x.tanh(), "Tanh()"),
        (nn.Softmax(dim=1), lambda x: x.softmax(1), "Softmax(dim=1)"),
        (nn.LogSoftmax(dim=-1), lambda x: x.log_softmax(-1), "LogSoftmax(dim=-1)"),
    ],
    ids=["relu", "sigmoid", "tanh", "softmax", "log_softmax"],
)
def test_module_is_its_function(module: nn.Module, function: Any, text: str) -> None:
    x = reftorch.tensor([[-1.0, 0.5], [2.0, 0.0]])
    assert module(x).tolist() == function(x).tolist()
    assert repr(module) == text


def test_relu_in_place() -> None:
    x = reftorch.tensor([-1.0, 1.0])
    relu = nn.ReLU(inplace=True)
    assert relu(x) is x
    assert x.tolist() == [0.0, 1.0]
    assert repr(relu) == "ReLU(inplace=True)"


@pytest.mark.parametrize("module", [nn.Softmax(), nn.LogSoftmax()], ids=repr)
def test_a_dimension_left_out_is_warned_about_at_the_caller(module: nn.Module) -> None:
    with pytest.warns(UserWarning, match="Implicit dimension choice") as warned:
        module(reftorch.zeros(2, 2))
    assert warned[0].filename == __file__


def test_the_caller_is_warned_where_a_hook_is_called_too() -> None:
    module = nn.Softmax()
    module.register_forward_hook(lambda *args: None)
    with pytest.warns(UserWarning, match="Implicit dimension choice") as warned:
        module(reftorch.zeros(2, 2))
    assert warned[0].filename == __file__
