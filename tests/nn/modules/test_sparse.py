"""Tables whose rows are looked up.

Mirrors: test/nn/test_embedding.py
Leaves out: sparse gradients.
"""

import random
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.modules.layers import check_error, flat
from tests.nn.utils.both import compare, tried

EMBEDDINGS: dict[str, Callable] = {
    "plain": lambda lib: lib.nn.Embedding(5, 3),
    "padding": lambda lib: lib.nn.Embedding(5, 3, padding_idx=-2),
    "norm": lambda lib: lib.nn.Embedding(5, 3, max_norm=1.0, norm_type=1.0),
    "frequency": lambda lib: lib.nn.Embedding(5, 3, scale_grad_by_freq=True),
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


def bags(lib: Any, seed: int) -> Any:
    """A table and a call, drawn; some draws are wrong on purpose."""
    rng = random.Random(seed)
    lib.manual_seed(seed)
    mode, length = rng.choice(("sum", "mean", "max")), rng.randint(2, 6)
    options: dict[str, Any] = {"mode": mode, "padding_idx": rng.choice((None, None, 1, -1)), "dtype": lib.float64}
    options |= {
        "max_norm": rng.choice((None, None, 1.0)),
    }
    options["include_last_offset"] = rng.random() < 0.3
    layer = lib.nn.EmbeddingBag(5, 3, **options)
    rows = [rng.randrange(5) for _ in range(length)]
    found: list[Any] = [repr(layer), layer.state_dict()]
    shape, offsets = (length,), None
    if length % 2 == 0 and rng.random() < 0.5:
        shape = (2, length // 2)
    else:
        begins = sorted(rng.randint(0, length) for _ in range(rng.randint(1, 3)))
        offsets = lib.tensor([0, *begins, *([length] if options["include_last_offset"] else [])])
    weights = None
    if (mode == "sum" and rng.random() < 0.5) or rng.random() < 0.1:
        weights = lib.randn(shape, dtype=lib.float64).requires_grad_(True)
    output = layer(lib.tensor(rows, dtype=lib.int64).reshape(shape), offsets, weights)
    output.sin().sum().backward()
    return [*found, output, layer.weight, layer.weight.grad, None if weights is None else weights.grad]


@pytest.mark.parametrize("seed", range(30))
def test_bags_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    compare(lambda lib: tried(lambda: bags(lib, seed)), real_torch)


def test_gradients_of_bags_are_divided_by_the_frequency() -> None:  # torch counts another row
    bag = reftorch.nn.EmbeddingBag(4, 2, mode="sum", scale_grad_by_freq=True)
    bag(reftorch.tensor([[0, 2, 1], [1, 3, 1]])).sum().backward()
    assert bag.weight.grad.tolist() == [[1.0, 1.0]] * 4


def bag_errors(lib: Any) -> list[Any]:
    bag, F, table = lib.nn.EmbeddingBag, lib.nn.functional, lib.ones(3, 2)
    rows, begins = lib.tensor([0, 2]), lib.tensor([0])
    calls = (
        lambda: bag(3, 2, padding_idx=3),
        lambda: bag(3, 2, _weight=lib.ones(2, 2)),
        lambda: bag.from_pretrained(lib.ones(2)),
        lambda: F.embedding_bag(rows, table),
        lambda: F.embedding_bag(rows, table, lib.tensor([[0]])),
        lambda: F.embedding_bag(rows.reshape(1, 2), table, begins),
        lambda: F.embedding_bag(rows.reshape(1, 1, 2), table),
        lambda: F.embedding_bag(rows, table[0], begins),
        lambda: F.embedding_bag(rows, table, begins, mode="min"),
        lambda: F.embedding_bag(rows, table, begins, mode="max", scale_grad_by_freq=True),
        lambda: F.embedding_bag(rows, table, begins, per_sample_weights=lib.ones(3)),
        lambda: F.embedding_bag(rows, table, begins, mode="max", per_sample_weights=lib.ones(2)),
        lambda: bag.from_pretrained(table, mode="sum", max_norm=1.0)(rows, begins),
    )
    return [tried(call) for call in calls]


def test_errors_of_bags_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(bag_errors, real_torch)


def test_sparse_gradients_of_bags_are_refused() -> None:
    with pytest.raises(NotImplementedError, match="sparse=True is not supported"):
        reftorch.nn.EmbeddingBag(3, 2, sparse=True)(reftorch.tensor([[0, 2]]))
