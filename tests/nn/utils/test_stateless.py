"""The former functional_call: it says so, and works.

Mirrors: test/test_stateless.py
"""

import pytest

import reftorch as torch
from reftorch.nn.utils import stateless


def test_it_says_that_it_moved_and_works():
    layer = torch.nn.Linear(1, 1)
    with pytest.warns(FutureWarning, match="Please use `torch.func.functional_call`") as caught:
        result = stateless.functional_call(
            layer, {"weight": torch.tensor([[2.0]]), "bias": torch.tensor([1.0])}, torch.tensor([3.0])
        )
    assert result.tolist() == [7]
    assert caught[0].filename == __file__


def test_names_are_checked_and_tied():
    layer = torch.nn.Linear(1, 1, bias=False)
    model = torch.nn.Sequential(layer, layer)
    with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match="Unexpected key"):
        stateless.functional_call(model, {"none": torch.ones(1)}, torch.ones(1), strict=True)
    with pytest.warns(FutureWarning):
        result = stateless.functional_call(model, {"0.weight": torch.tensor([[3.0]])}, torch.ones(1), {}, strict=True)
    assert result.tolist() == [9]
