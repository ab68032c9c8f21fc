"""The wall around a library: what a test learns through the wall is noted, and the test goes as without the wall.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from typing import Any

import numpy as np
import pytest

import reftorch
from tests.answers.fingerprint import Answers, Log
from tests.answers.watched import bare, watch


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
def lib(log: Log) -> Any:
    return watch(reftorch, log)


def test_plain_answers_come_out_and_are_noted(lib: Any, log: Log) -> None:
    x = lib.arange(6).view(2, 3)
    assert log.shown == []
    assert tuple(x.shape) == (2, 3) and x.stride() == (3, 1) and x.dtype is reftorch.int64
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]] and int(x[1, 2]) == 5 and len(x) == 2
    assert np.array_equal(x.numpy(), np.arange(6).reshape(2, 3))
    assert len(log.checksums) == 7


def test_an_error_comes_out_and_is_noted(lib: Any, log: Log) -> None:
    with pytest.raises(RuntimeError, match="shape"):
        lib.arange(6).view(4)
    assert len(log.messages) == 1 and "shape" in log.messages[0]


def test_what_came_out_goes_in_again(lib: Any) -> None:
    x = lib.ones(2)
    stacked = lib.stack([x, x + 1])
    assert isinstance(stacked, lib.Tensor) and isinstance(stacked, reftorch.Tensor)
    assert type(bare(stacked)) is reftorch.Tensor
    assert x.add_(1) is x
    assert (1 + x).tolist() == [3.0, 3.0] and x[lib.tensor([True, False])].tolist() == [2.0]


def test_a_function_of_the_test_meets_walls(lib: Any, log: Log) -> None:
    def square(x: Any) -> Any:
        assert isinstance(x, lib.Tensor) and type(x) is not reftorch.Tensor
        return x * x

    assert lib.func.grad(lambda x: square(x).sum())(lib.ones(2)).tolist() == [2.0, 2.0]


def test_classes_of_the_test_work(lib: Any) -> None:
    class Twice(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = lib.nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return self.inner(x) * lib.tensor(2.0)

    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * lib.tensor(2.0)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * lib.tensor(2.0)

    model, x = Twice(), lib.ones(1, 2, requires_grad=True)
    assert isinstance(model, lib.nn.Module) and len(list(model.parameters())) == 2
    Double.apply(model(x)).sum().backward()
    assert x.grad.shape == (1, 2)


def test_a_wrong_answer_is_found(lib: Any, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    def program(library: Any) -> Any:
        return library.ones(3).exp().tolist()

    right = Log()
    program(watch(reftorch, right))
    exact = reftorch.Tensor.exp
    monkeypatch.setattr(reftorch.Tensor, "exp", lambda x: exact(x) * 1.001)
    program(lib)
    assert Answers.of(right).difference(right) is None
    assert "not torch's" in str(Answers.of(right).difference(log))
