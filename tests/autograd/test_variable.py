"""The old name of a tensor.

Mirrors: test/test_autograd.py
"""

import pytest

import reftorch as torch
from tests.autograd.functions import function
from tests.autograd.programs import assert_same


def variable(lib):
    v = lib.autograd.Variable(lib.ones(2), requires_grad=True)
    return (
        v.requires_grad,
        isinstance(v, lib.autograd.Variable),
        isinstance(3, lib.autograd.Variable),
        isinstance(v, lib.autograd.variable.Variable),
    )


PROGRAMS = [variable]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_torch(program, real_torch):
    assert_same(program, torch, real_torch)


def test_wrong_use():
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got int"):
        torch.autograd.Variable(3)
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        assert not torch.autograd.Variable(torch.ones(1), volatile=True).requires_grad


def grad_dtype(lib):
    x = lib.ones(2, requires_grad=True)
    seen = [str(x.grad_dtype)]
    for dtype in (None, lib.float16, lib.float32, lib.float64):
        x.grad = None
        x.grad_dtype = dtype
        (x * 2).sum().backward()
        seen.append((str(x.grad_dtype), str(x.grad.dtype), x.grad.tolist()))
    x.grad_dtype = None
    x.grad = x.grad.to(lib.float16)
    (x * 2).sum().backward()  # in place: the gradient that is there keeps its dtype
    return [*seen, str(x.grad.dtype), x.grad.tolist(), str(lib.ones(1).grad_dtype)]


def grad_dtype_of_what_arrives(lib):
    doubled = function(lib, lambda ctx, x: x * 2, lambda ctx, grad: grad.double() * 2)
    seen = []
    for dtype in ("own", None, lib.float16):
        x = lib.ones(2, requires_grad=True)
        graph = x.clone()  # there is an accumulator before the dtype is set
        if dtype != "own":
            x.grad_dtype = dtype
        doubled.apply(x).sum().backward()
        seen.append((str(x.grad.dtype), str(graph.grad_fn.next_functions[0][0].variable.grad.dtype)))
    return seen


def grad_dtype_refused(lib):
    x = lib.ones(2, requires_grad=True)
    x.grad_dtype = lib.float16
    errors = []

    def attempt(action):
        try:
            action()
        except Exception as error:
            errors.append((type(error).__name__, str(error)))

    attempt(lambda: setattr(x, "grad", lib.ones(2)))
    x.grad_dtype = None
    x.grad = lib.ones(2)
    attempt(lambda: setattr(x, "grad_dtype", lib.float16))
    attempt(lambda: setattr(x, "grad_dtype", 3))
    attempt(lambda: (x * 2).grad_dtype)
    return errors


@pytest.mark.parametrize(
    "program", [grad_dtype, grad_dtype_of_what_arrives, grad_dtype_refused], ids=lambda program: program.__name__
)
def test_the_dtype_of_a_gradient_is_as_in_torch(program, real_torch):
    assert_same(program, torch, real_torch)


def data_of_another_dtype(lib):
    """A graph that is still alive keeps its AccumulateGrad, and the next graph gets another one."""
    x = lib.ones(2, requires_grad=True)
    former = x * 2
    x.data = lib.ones(2, dtype=lib.float64)
    grads = [lib.autograd.grad((x * 3).sum(), x)[0]]
    same = (x * 4).grad_fn.next_functions[0][0] is former.grad_fn.next_functions[0][0]
    (x * 3).sum().backward()
    grads.append(x.grad)
    kept = x * 5
    x.data = lib.zeros(2, dtype=lib.float64)
    still = (x * 4).grad_fn.next_functions[0][0] is kept.grad_fn.next_functions[0][0]
    return same, still, [(str(grad.dtype), grad.tolist()) for grad in grads]


def test_a_leaf_with_data_of_another_dtype_gets_gradients_of_that_dtype(real_torch):
    assert_same(data_of_another_dtype, torch, real_torch)


def test_the_engine_behind_the_old_name():
    log = []

    class Queues(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            engine = torch.autograd.Variable._execution_engine
            engine.queue_callback(lambda: log.append("done"))
            log.append(engine.is_checkpoint_valid())
            return grad

    x = torch.ones(1, requires_grad=True)
    Queues.apply(x).backward()
    torch.autograd.grad(Queues.apply(x), x)
    assert log == [True, "done", False, "done"]
    assert torch.autograd.Variable._execution_engine.is_checkpoint_valid()
