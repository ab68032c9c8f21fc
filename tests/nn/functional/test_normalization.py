"""Normalization and dropout.

Mirrors: test/test_nn.py
Leaves out: the functions that are not there.
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import W, X, Y, check, check_error

FUNCTIONS: dict[str, Callable] = {
    "layer_norm": lambda lib, F, x: F.layer_norm(x, (3,), W(lib)[0], Y(lib)[0]),
    "layer_norm of two": lambda lib, F, x: F.layer_norm(x.reshape(2, 2, 3), (2, 3), eps=0.1),
    "rms_norm": lambda lib, F, x: F.rms_norm(x, (3,), W(lib)[0]),
    "rms_norm of two": lambda lib, F, x: F.rms_norm(x.reshape(2, 2, 3), (2, 3), eps=0.1),
    "batch_norm": lambda lib, F, x: F.batch_norm(x, None, None, W(lib)[0], Y(lib)[0], training=True),
    "batch_norm of images": lambda lib, F, x: F.batch_norm(x.reshape(2, 3, 2, 1), None, None, training=True),
    "batch_norm in evaluation": lambda lib, F, x: F.batch_norm(x, Y(lib)[0], W(lib)[0], W(lib)[1], Y(lib)[2]),
    "dropout that does nothing": lambda lib, F, x: F.dropout(x, 0.0) + F.dropout(x, 0.7, training=False),
    "dropout of all": lambda lib, F, x: F.dropout(x, 1.0),
}
ERRORS: dict[str, Callable] = {
    "layer_norm": lambda lib, F: F.layer_norm(X(lib), (4,)),
    "layer_norm of nothing": lambda lib, F: F.layer_norm(X(lib), ()),
    "layer_norm weight": lambda lib, F: F.layer_norm(X(lib), (3,), W(lib)),
    "batch_norm of one": lambda lib, F: F.batch_norm(X(lib)[:1], None, None, training=True),
    "batch_norm of one, without channels": lambda lib, F: F.batch_norm(X(lib)[0, :1], None, None, training=True),
    "batch_norm of a number": lambda lib, F: F.batch_norm(X(lib)[0, 0], None, None, training=True),
    "batch_norm with a mean alone": lambda lib, F: F.batch_norm(X(lib), W(lib)[0], None, training=True),
    "batch_norm with a variance alone": lambda lib, F: F.batch_norm(X(lib), None, W(lib)[0], training=True),
    "batch_norm eps": lambda lib, F: F.batch_norm(X(lib), None, None, training=True, eps=0.0),
    "batch_norm weight": lambda lib, F: F.batch_norm(X(lib), None, None, W(lib)[:2, 0], training=True),
    "batch_norm without statistics": lambda lib, F: F.batch_norm(X(lib), None, None),
    "dropout": lambda lib, F: F.dropout(X(lib), 1.5),
    "layer_norm of integers": lambda lib, F: F.layer_norm(X(lib, "int64"), (3,)),
    "layer_norm of integers, weight of floats": lambda lib, F: F.layer_norm(
        X(lib, "int64"), (3,), W(lib, "float32")[0]
    ),
    "layer_norm in float64, weight in float32": lambda lib, F: F.layer_norm(X(lib), (3,), W(lib, "float32")[0]),
    "layer_norm in 16 bits, bias in float64": lambda lib, F: F.layer_norm(X(lib, "bfloat16"), (3,), bias=W(lib)[0]),
    "layer_norm with two dtypes": lambda lib, F: F.layer_norm(X(lib), (3,), W(lib)[0], Y(lib, "float32")[0]),
    "rms_norm of integers": lambda lib, F: F.rms_norm(X(lib, "int64"), (3,)),
    "batch_norm of integers": lambda lib, F: F.batch_norm(X(lib, "int64"), Y(lib)[0], W(lib)[0]),
    "batch_norm in float32, weight in float64": lambda lib, F: F.batch_norm(
        X(lib, "float32"), None, None, W(lib)[0], training=True
    ),
    "batch_norm with two dtypes": lambda lib, F: F.batch_norm(X(lib), Y(lib, "float32")[0], W(lib)[0], W(lib)[1]),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real_torch: ModuleType) -> None:
    check(FUNCTIONS[name], real_torch)


def test_batch_norm_of_an_empty_batch(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        weight = lib.ones(3, requires_grad=True)
        y = lib.nn.functional.batch_norm(lib.ones(0, 3, dtype=lib.int64), None, None, weight, training=True)
        y.sum().backward()
        results.append((tuple(y.shape), str(y.dtype), weight.grad.tolist()))
    assert results[0] == results[1] == ((0, 3), "torch.float32", [0, 0, 0])


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_norms_of_16_bits(name: str, dtype: str, real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        y = getattr(lib.nn.functional, name)(X(lib, dtype), (3,))
        assert str(y.dtype).endswith(dtype)
        results.append(y.float().reshape(-1).tolist())
    assert results[0] == pytest.approx(results[1], rel=1e-2 if dtype == "bfloat16" else 2e-3)


def test_dropout_draws_what_torch_draws(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(3)
        x = lib.ones(50, requires_grad=True)
        y = lib.nn.functional.dropout(x, 0.3)
        y.sum().backward()
        results.append((y.tolist(), x.grad.tolist()))
    assert results[0] == results[1] and len(set(results[0][0])) == 2


def test_dropout_in_place() -> None:
    x = reftorch.ones(100)
    y = reftorch.nn.functional.dropout(x, 0.5, inplace=True)
    assert y is x and set(x.tolist()) == {0.0, 2.0}
