"""Rows of a table.

Mirrors: test/test_nn.py
Leaves out: the functions that are not there.
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import X, check, check_error

FUNCTIONS: dict[str, Callable] = {
    "embedding": lambda lib, F, x: F.embedding(lib.tensor([[3, 0], [1, 3]]), x),
    "embedding with padding": lambda lib, F, x: F.embedding(lib.tensor([3, 0, 1, 3]), x, padding_idx=-1),
}
ERRORS: dict[str, Callable] = {
    "embedding out of range": lambda lib, F: F.embedding(lib.tensor([4]), X(lib)),
    "embedding negative": lambda lib, F: F.embedding(lib.tensor([-1]), X(lib)),
    "embedding of floats": lambda lib, F: F.embedding(lib.tensor([1.0]), X(lib)),
    "embedding padding": lambda lib, F: F.embedding(lib.tensor([1]), X(lib), padding_idx=4),
    "embedding padding of a table without rows": lambda lib, F: F.embedding(
        lib.tensor([1.0]), X(lib)[:0], padding_idx=1
    ),
    "embedding dimensions": lambda lib, F: F.embedding(lib.tensor([1]), X(lib)[0]),
}
# The type of the error is torch's, and the message says more, or says the same better.
OWN_WORDS: dict[str, str] = {
    # torch names neither the index nor the number of rows
    "embedding out of range": "index out of range in self: 4 for a dimension of size 4",
    "embedding negative": "index out of range in self: -1 for a dimension of size 4",
    # torch names the type of the tensor
    "embedding of floats": (
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but "
        "got float32 instead (while checking arguments for embedding)"
    ),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real_torch: ModuleType) -> None:
    check(FUNCTIONS[name], real_torch)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch, OWN_WORDS.get(case))


def test_embedding_scales_long_rows_down_in_place(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        table = X(lib)
        y = lib.nn.functional.embedding(lib.tensor([2, 2, 0]), table, max_norm=1.0)
        z = lib.nn.functional.embedding(lib.tensor([3], dtype=lib.int32), table, max_norm=1.0)
        results.append(y.reshape(-1).tolist() + z.reshape(-1).tolist() + table.reshape(-1).tolist())
    assert results[0] == pytest.approx(results[1], rel=1e-12)


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(NotImplementedError, match="sparse=True is not supported"):
        reftorch.nn.functional.embedding(reftorch.tensor([0]), reftorch.ones(2, 2), sparse=True)


def test_gradients_of_rows_are_divided_by_the_frequency(real_torch: ModuleType) -> None:
    grads = []
    for lib in (reftorch, real_torch):
        table = X(lib).requires_grad_()
        rows = lib.nn.functional.embedding(lib.tensor([[2, 2], [0, 1]]), table, padding_idx=1, scale_grad_by_freq=True)
        assert type(rows.grad_fn).__name__ == rows.grad_fn.name() == "EmbeddingBackward0"
        (rows * lib.arange(1.0, 1.0 + rows.numel()).reshape(rows.shape)).sum().backward()
        grads.append(table.grad.tolist())
    assert grads[0] == grads[1]
