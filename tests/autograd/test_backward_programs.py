"""backward and grad, as torch has them: what they take, what they refuse, what .grad becomes.

Mirrors: test/test_autograd.py (TestAutograd)
"""

import pytest

import reftorch as torch
from tests.autograd.programs import assert_same


def leaf(lib, *values):
    return lib.tensor([float(value) for value in values], requires_grad=True)


def no_graph(lib):
    lib.ones(2).sum().backward()


def no_inputs(lib):
    lib.autograd.grad(leaf(lib, 1).sum(), [])


def unused_input(lib):
    lib.autograd.grad(leaf(lib, 1).sum(), leaf(lib, 1))


def more_gradients_than_tensors(lib):
    lib.autograd.backward([leaf(lib, 1).sum()], [lib.ones(()), lib.ones(())])


def gradient_is_no_tensor(lib):
    leaf(lib, 1, 2).backward(3)


def no_scalar(lib):
    lib.autograd.grad(leaf(lib, 1, 2), leaf(lib, 1))


def twice(lib):
    x = leaf(lib, 1, 2)
    y = (x * x).sum()
    y.backward()
    y.backward()


def grad_of_a_wrong_shape(lib):
    x = leaf(lib, 1, 2)
    x.grad = lib.ones(3)


def del_grad(lib):
    x = leaf(lib, 1, 2)
    del x.grad
    return x.grad


def empty_inputs(lib):
    x = leaf(lib, 1, 2)
    x.sum().backward(inputs=[])


def input_is_no_tensor(lib):
    x = leaf(lib, 1, 2)
    x.sum().backward(inputs=[3])


def inner_input(lib):
    x = leaf(lib, 1, 2)
    y = x * 2
    y.sum().backward(inputs=[y])
    return (y.grad.tolist(), x.grad)


def positional(lib):
    x = leaf(lib, 1, 2)
    x.sum().backward(lib.ones(()), None, False, [x])
    return x.grad.tolist()


def gradient_of_a_wrong_shape(lib):
    x = leaf(lib, 1, 2)
    x.sum().backward(gradient=lib.ones(1))


def gradient_of_integers(lib):
    x = leaf(lib, 1, 2)
    y = x.sum()
    y.backward(lib.tensor(1, dtype=lib.int64))


def gradient_of_doubles(lib):
    x = leaf(lib, 1, 2)
    y = x.sum()
    y.backward(lib.tensor(1.0, dtype=lib.float64))
    return str(x.grad.dtype)


def no_tensors(lib):
    lib.autograd.backward([])


def tensors_is_a_number(lib):
    lib.autograd.backward(3)


def inputs_is_a_number(lib):
    lib.autograd.grad(leaf(lib, 1).sum(), 3)


def strides_of_grad(lib):
    x = lib.ones(2, 3).t().requires_grad_()
    (x * 2).sum().backward()
    a = x.grad.stride()
    y = lib.ones(4)[::2].requires_grad_()
    (y * 2).sum().backward()
    z = lib.ones(1).expand(3).requires_grad_()
    (z * 2).sum().backward()
    return (a, y.grad.stride(), z.grad.stride())


def grad_is_not_the_gradient_given(lib):
    x = leaf(lib, 1, 2)
    g = lib.ones(2)
    x.backward(g)
    return (x.grad is g, x.grad.data_ptr() == g.data_ptr())


def create_graph_then_plain(lib):
    x = leaf(lib, 1, 2)
    (x * x).sum().backward(create_graph=True)
    g = x.grad
    (x * x).sum().backward()
    return (x.grad is g, g.requires_grad, x.grad.requires_grad)


def plain_then_create_graph(lib):
    x = leaf(lib, 1, 2)
    (x * x).sum().backward()
    g = x.grad
    (x * x).sum().backward(create_graph=True)
    return (x.grad is g, x.grad.requires_grad)


def leaf_without_gradient(lib):
    x = leaf(lib, 1, 2)
    x.requires_grad = False
    (x * 1).sum().backward()


def leaf_that_stopped_requiring(lib):
    x = leaf(lib, 1, 2)
    y = x * 1
    x.requires_grad_(False)
    y.sum().backward()
    return x.grad


def some_gradients_given(lib):
    x = leaf(lib, 1, 2)
    return lib.autograd.grad([x.sum(), (x * x).sum()], x, [lib.tensor(2.0), None])[0].tolist()


def one_input_twice(lib):
    x = leaf(lib, 1, 2)
    return lib.autograd.grad((x * 2).sum(), [x, x])[1].tolist()


PROGRAMS = [
    no_graph,
    no_inputs,
    unused_input,
    more_gradients_than_tensors,
    gradient_is_no_tensor,
    no_scalar,
    twice,
    grad_of_a_wrong_shape,
    del_grad,
    empty_inputs,
    input_is_no_tensor,
    inner_input,
    positional,
    gradient_of_a_wrong_shape,
    gradient_of_integers,
    gradient_of_doubles,
    no_tensors,
    tensors_is_a_number,
    inputs_is_a_number,
    strides_of_grad,
    grad_is_not_the_gradient_given,
    create_graph_then_plain,
    plain_then_create_graph,
    leaf_without_gradient,
    leaf_that_stopped_requiring,
    some_gradients_given,
    one_input_twice,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_torch(program, real_torch):
    assert_same(program, torch, real_torch)
