"""Calls in one form: the arguments by name, the operators by operator.

Mirrors: test/test_fx_experimental.py
"""

from __future__ import annotations

import importlib
import re
from types import ModuleType
from typing import Any

import pytest

import reftorch
import reftorch.fx.experimental.normalize
from tests.fx import both


def net(torch: Any) -> Any:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.norm = torch.nn.Linear(4, 4), torch.nn.LayerNorm(4)

        def forward(self, x: Any) -> Any:
            x = torch.nn.functional.gelu(self.norm(self.layer(x)), approximate="tanh")
            x = torch.add(x, 2) * torch.sub(x, 1)
            return torch.nn.functional.dropout(torch.div(x, 3), training=False)

    return Net()


@pytest.mark.filterwarnings("ignore:Does not support nested parametric types:UserWarning")  # of torch
def test_arguments_by_name(real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for torch in (reftorch, real_torch):
        normalize = importlib.import_module(f"{torch.__name__}.fx.experimental.normalize")
        module, x = net(torch), torch.ones(2, 4)
        transformed = normalize.NormalizeArgs(torch.fx.symbolic_trace(module)).transform()
        assert torch.equal(transformed(x), module(x))
        codes.append(both.plain(transformed.code))
    named = [line.strip() for line in codes[0].splitlines() if "input = " in line or "approximate = " in line]
    assert len(named) >= 4
    theirs = codes[1].splitlines()
    assert [line for line in codes[0].splitlines() if "functional" in line or "self" in line] == noted(
        [line for line in theirs if "functional" in line or "self" in line]
    )


def test_operators(real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for torch in (reftorch, real_torch):
        normalize = importlib.import_module(f"{torch.__name__}.fx.experimental.normalize")
        module, x = net(torch), torch.ones(2, 4)
        transformed = normalize.NormalizeOperators(torch.fx.symbolic_trace(module)).transform()
        assert torch.equal(transformed(x), module(x))
        codes.append(both.plain(transformed.code))
    # torch also notes the types of the results, which is left out here.
    assert codes[0] == noted(re.sub(r" : torch.Tensor(?= = )", "", codes[1])) and "gelu + 2" in codes[0]


def test_a_keyword_is_not_lost() -> None:
    """torch drops alpha here, and computes something else."""
    traced = reftorch.fx.symbolic_trace(lambda x: reftorch.sub(x, x, alpha=2))
    transformed = reftorch.fx.experimental.normalize.NormalizeOperators(traced).transform()
    assert transformed(reftorch.ones(2)).tolist() == [-1.0, -1.0]
