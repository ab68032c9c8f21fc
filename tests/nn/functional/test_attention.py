"""Attention.

Mirrors: test/test_transformers.py
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.nn.functions import X, Y, check, check_error, numbers

Z, M, HEADS, KEYS = numbers("z", 5, 2), numbers("m", 4, 5), numbers("h", 1, 4, 3, 2), numbers("k", 1, 2, 3, 2)
OTHERS = numbers("o", 5, 3)


def kept(lib: ModuleType) -> Any:
    return (M(lib) > 0) & lib.tensor([[True], [True], [False], [True]])


def long_causal(lib: ModuleType, F: Any, x: Any, keys: int, values: int) -> Any:
    """130 queries are three blocks, the last of them short."""
    query, key, value = (numbers(f"{n}", 2, n, 3)(lib) for n in (130, keys, values))
    return F.scaled_dot_product_attention(query * x[0], key * x[1], value * x[2], is_causal=True)


FUNCTIONS: dict[str, Callable] = {
    "usual": lambda lib, F, x: F.scaled_dot_product_attention(x, OTHERS(lib), Z(lib)),
    "of itself": lambda lib, F, x: F.scaled_dot_product_attention(x, x, x, scale=0.3),
    "causal": lambda lib, F, x: F.scaled_dot_product_attention(x, OTHERS(lib), Z(lib), is_causal=True),
    "mask": lambda lib, F, x: F.scaled_dot_product_attention(x, OTHERS(lib), Z(lib), M(lib)),
    "bools": lambda lib, F, x: F.scaled_dot_product_attention(x, OTHERS(lib), Z(lib), kept(lib)),
    "infinities": lambda lib, F, x: F.scaled_dot_product_attention(
        x, OTHERS(lib), Z(lib), lib.zeros(4, 5, dtype=lib.float64).masked_fill(~kept(lib), float("-inf"))
    ),
    "batches": lambda lib, F, x: F.scaled_dot_product_attention(
        x.reshape(2, 2, 3), OTHERS(lib).expand(2, 5, 3), Z(lib).expand(2, 5, 2), M(lib)[:2]
    ),
    **{f"causal in blocks, {n} keys": lambda lib, F, x, n=n: long_causal(lib, F, x, n, n) for n in (70, 130, 200)},
    "shared heads": lambda lib, F, x: F.scaled_dot_product_attention(
        HEADS(lib) * x[0, 0], KEYS(lib), KEYS(lib) * x[0, 1], enable_gqa=True
    ),
}
ERRORS: dict[str, Callable] = {
    "rank": lambda lib, F: F.scaled_dot_product_attention(X(lib)[0], Y(lib), Y(lib)),
    "dtype": lambda lib, F: F.scaled_dot_product_attention(X(lib), Y(lib).float(), Y(lib)),
    "causal mask": lambda lib, F: F.scaled_dot_product_attention(X(lib), Y(lib), Y(lib), M(lib), is_causal=True),
    "mask of integers": lambda lib, F: F.scaled_dot_product_attention(X(lib), Y(lib), Y(lib), M(lib).long()),
    "heads": lambda lib, F: F.scaled_dot_product_attention(HEADS(lib), HEADS(lib)[:, :3], KEYS(lib), enable_gqa=True),
    "values in blocks": lambda lib, F: long_causal(lib, F, X(lib), 200, 180),
    "probability": lambda lib, F: F.scaled_dot_product_attention(X(lib), Y(lib), Y(lib), dropout_p=2.0),
}
# The type of the error is torch's, and the message says more, or says the same better.
OWN_WORDS: dict[str, str] = {
    # torch's sentence lacks its last word
    "heads": "Number of heads in key and value must divide the number of heads in query",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real_torch: ModuleType) -> None:
    check(FUNCTIONS[name], real_torch)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch, OWN_WORDS.get(case))


def test_dropout_draws_what_torch_draws(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(2)
        x = X(lib)[None]
        results.append(lib.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=0.5).flatten().tolist())
    assert results[0] == pytest.approx(results[1], rel=1e-11)


def test_example_by_example() -> None:
    x = reftorch.randn(3, 4, 2)
    attend = reftorch.nn.functional.scaled_dot_product_attention
    batched = reftorch.func.vmap(lambda one: attend(one, one, one, is_causal=True))(x)
    assert reftorch.allclose(batched, attend(x, x, x, is_causal=True))
