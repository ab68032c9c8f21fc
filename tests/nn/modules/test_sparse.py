"""Tables whose rows are looked up.

Mirrors: test/nn/test_embedding.py
Leaves out: bags and sparse gradients.
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.modules.layers import check_error, flat

EMBEDDINGS: dict[str, Callable] = {
    "plain": lambda lib: lib.nn.Embedding(5, 3),
    "padding": lambda lib: lib.nn.Embedding(5, 3, padding_idx=-2),
    "norm": lambda lib: lib.nn.Embedding(5, 3, max_norm=1.0, norm_type=1.0),
    "frozen": lambda lib: lib.nn.Embedding.from_pretrained(lib.arange(15.0).reshape(5, 3), padding_idx=0),
}


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_embedding(name: str, real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(11)
        layer = EMBEDDINGS[name](lib)
        y = layer(lib.tensor([[0, 3], [3, 4]]))
        if layer.weight.requires_grad:
            (y * lib.arange(12).reshape(2, 2, 3)).sum().backward()
        grad = [] if layer.weight.grad is None else flat(layer.weight.grad)
        results.append((repr(layer), tuple(y.shape), flat(y) + grad + flat(layer.weight)))
    assert results[0][:2] == results[1][:2]
    assert results[0][2] == pytest.approx(results[1][2], rel=1e-5, abs=1e-6)


ERRORS: dict[str, Callable] = {
    "padding": lambda lib: lib.nn.Embedding(3, 2, padding_idx=3),
    "weight": lambda lib: lib.nn.Embedding(3, 2, _weight=lib.ones(2, 2)),
    "pretrained": lambda lib: lib.nn.Embedding.from_pretrained(lib.ones(2)),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch)
