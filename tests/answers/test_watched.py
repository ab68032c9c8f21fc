"""The wall around a library: what a test learns through the wall is noted, and the test goes as without the wall.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from typing import Any

import numpy as np
import pytest

import reftorch
from tests.answers.fingerprint import Answers, Log
from tests.answers.watched import asked, bare, note, watch


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


def test_a_program_that_is_asked_meets_no_wall(lib: Any, log: Log) -> None:
    def program(library: Any) -> Any:
        assert library is reftorch and type(library.ones(1)) is reftorch.Tensor
        return library.ones(2).tolist(), "text"

    assert asked(lib, program) == ([1.0, 1.0], "text") == asked(reftorch, program)
    assert len(log.checksums) == 1
    with pytest.raises(RuntimeError, match="shape"):
        asked(lib, lambda library: library.ones(2).view(3))
    assert len(log.messages) == 1


def test_a_note_is_made_where_notes_are_taken(lib: Any, log: Log) -> None:
    note(lib, lambda: ("error", None))
    assert len(log.checksums) == 1
    note(reftorch, lambda: pytest.fail("nobody takes notes"))


def test_the_context_of_a_function_meets_no_wall_in_the_library(lib: Any) -> None:
    """What ``save_for_backward`` is given is the library's: torch crashes on anything else."""

    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            twice = lib.zeros_like(x) + 2 * x
            ctx.save_for_backward(twice)
            ctx.saved = [type(bare(t)) for t in (x, twice)]
            return x * x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (twice,) = ctx.saved_tensors
            assert ctx.saved == [reftorch.Tensor] * 2
            return grad * twice

    x = lib.tensor([3.0], requires_grad=True)
    Square.apply(x).backward()
    assert x.grad.tolist() == [6.0]
    assert type(x).is_leaf  # what a class has is found through the wall of its objects
