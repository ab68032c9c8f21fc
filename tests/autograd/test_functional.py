"""Products with Jacobians and Hessians, against torch: values, graphs, and the messages of strict mode.

Mirrors: test/autograd/test_functional.py
"""

import pytest

import reftorch as torch
from reftorch.autograd import functional

X = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]
Y = [1.0, -2.0, 0.5]


def sum_of_squares(lib, x, y):
    return (x * x).sum() + (y * y * y).sum()


def product(lib, x, y):
    return (x * y).sin().sum()


def only_first(lib, x, y):
    return (x.exp() * x).sum()


def linear(lib, x, y):
    return (2 * x).sum() - y.sum()


def constant(lib, x, y):
    return lib.zeros((), dtype=x.dtype)


def several(lib, x, y):
    return x @ y, (x * x).sum(), y.tanh()


def vector(lib, x, y):
    return (x * y).cos().sum(1)


def matrix(lib, x, y):
    return x * x + y


NUMBERS = [sum_of_squares, product, only_first, linear, constant]
PROGRAMS = [*NUMBERS, several, vector, matrix]


def inputs_of(lib, requires_grad=False):
    x = lib.tensor(X, dtype=lib.float64, requires_grad=requires_grad)
    return x, lib.tensor(Y, dtype=lib.float64, requires_grad=requires_grad)


def to_lists(value):
    if isinstance(value, (tuple, list)):
        return tuple(to_lists(v) for v in value)
    return tuple(value.shape), value.requires_grad, value.detach().reshape(-1).tolist()


def same(ours, theirs):
    if ours and isinstance(ours[-1], list):
        assert ours[:2] == theirs[:2]
        assert ours[2] == pytest.approx(theirs[2], rel=1e-10, abs=1e-12)
        return
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        same(a, b)


def outcome(call):
    """What a call returns, or the error it raises."""
    try:
        return to_lists(call())
    except RuntimeError as error:
        return type(error).__name__ + ": " + str(error)


def compare(call, real_torch):
    ours, theirs = outcome(lambda: call(torch)), outcome(lambda: call(real_torch))
    if isinstance(theirs, str):
        assert ours == theirs
    else:
        assert not isinstance(ours, str), ours
        same(ours, theirs)


FLAGS = [{"create_graph": c, "strict": s} for c in (False, True) for s in (False, True)]


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", ["vjp", "jvp", "jacobian"])
def test_first_order(name, program, flags, real_torch):
    def call(lib):
        inputs = inputs_of(lib, requires_grad=flags["create_graph"])
        args = ()
        if name == "jvp":
            args = (tuple(lib.ones_like(x) for x in inputs),)
        if name == "vjp":
            outputs = program(lib, *inputs)
            one = lib.ones_like
            args = (tuple(one(o) for o in outputs) if isinstance(outputs, tuple) else one(outputs),)
        return getattr(lib.autograd.functional, name)(lambda *xs: program(lib, *xs), inputs, *args, **flags)

    compare(call, real_torch)


@pytest.mark.parametrize("flags", FLAGS, ids=str)
@pytest.mark.parametrize("program", NUMBERS)
@pytest.mark.parametrize("name", ["hessian", "vhp", "hvp"])
def test_second_order(name, program, flags, real_torch):
    def call(lib):
        inputs = inputs_of(lib, requires_grad=flags["create_graph"])
        args = () if name == "hessian" else (tuple(lib.ones_like(x) for x in inputs),)
        return getattr(lib.autograd.functional, name)(lambda *xs: program(lib, *xs), inputs, *args, **flags)

    compare(call, real_torch)


@pytest.mark.parametrize("name", ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"])
def test_a_single_tensor_is_not_a_tuple(name, real_torch):
    def call(lib):
        x = lib.tensor(1.5, dtype=lib.float64)
        return getattr(lib.autograd.functional, name)(lambda x: x.sin() * x, x)

    compare(call, real_torch)


WRONG = {
    "too few": lambda lib: (lib.ones(2, 3, dtype=lib.float64),),
    "wrong size": lambda lib: (lib.ones(2, 3, dtype=lib.float64), lib.ones(4, dtype=lib.float64)),
    "none": lambda lib: None,
}


@pytest.mark.parametrize("v", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("name", ["jvp", "vhp", "hvp"])
def test_a_vector_that_does_not_fit(name, v, real_torch):
    def call(lib):
        return getattr(lib.autograd.functional, name)(lambda *xs: sum_of_squares(lib, *xs), inputs_of(lib), v(lib))

    assert isinstance(outcome(lambda: call(torch)), str)
    compare(call, real_torch)


def test_a_vector_that_does_not_fit_the_output(real_torch):
    def call(v):
        return lambda lib: lib.autograd.functional.vjp(lambda x: x * 2, lib.ones(3), v(lib))

    compare(call(lambda lib: None), real_torch)
    compare(call(lambda lib: lib.ones(4)), real_torch)
    compare(call(lambda lib: (lib.ones(3), lib.ones(3))), real_torch)


def test_hessian_of_something_else():
    x = torch.ones(3)
    with pytest.raises(RuntimeError, match="should return a single Tensor"):
        functional.hessian(lambda x: (x.sum(), x.sum()), x)
    with pytest.raises(RuntimeError, match="should contain a single element"):
        functional.vhp(lambda x: x * 2, x, x)


def test_things_that_are_no_tensors():
    with pytest.raises(TypeError, match="the given inputs has type <class 'float'>"):
        functional.vjp(lambda x: x, 1.0)
    with pytest.raises(TypeError, match="the value at index 1 has type <class 'int'>"):
        functional.jacobian(lambda x: (x, 2), torch.ones(2))


def test_a_result_can_be_differentiated():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: functional.jacobian(lambda x: x * x.sum(), x, create_graph=True), (x,))
    assert torch.autograd.gradcheck(
        lambda x: functional.hvp(lambda x: (x * x * x).prod(), x, torch.ones_like(x), create_graph=True)[1], (x,)
    )


def test_an_output_without_elements():
    jacobian = functional.jacobian(lambda x: x[:0], torch.ones(3))
    assert tuple(jacobian.shape) == (0, 3)


def test_nothing_leads_back_into_the_graph():
    x = torch.ones(2, requires_grad=True)
    output, product = functional.vjp(lambda x: x * x, x, torch.ones(2))
    assert not output.requires_grad
    assert not product.requires_grad
    assert x.grad is None


@pytest.mark.parametrize("outer", ["forward-mode", "reverse-mode"])
def test_hessian_in_both_directions(outer):
    def f(x, y):
        return (x.sin() * y).sum() + x.prod()

    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -1.0])
    found = torch.autograd.functional.hessian(f, (x, y), vectorize=True, outer_jacobian_strategy=outer)
    expected = torch.func.hessian(f, (0, 1))(x, y)
    for row, expected_row in zip(found, expected, strict=True):
        for a, b in zip(row, expected_row, strict=True):
            assert torch.allclose(a, b)
