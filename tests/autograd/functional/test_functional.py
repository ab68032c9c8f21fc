"""Products with Jacobians and Hessians, against torch: values, graphs, and the messages of strict mode.

Mirrors: test/autograd/test_functional.py
"""

import pytest

import reftorch as torch
from reftorch.autograd import functional
from tests.answers.watched import asked

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
    ours, theirs = outcome(lambda: call(torch)), asked(real_torch, lambda lib: outcome(lambda: call(lib)))
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


# One result of every function in every mode, and what it says of wrong arguments.
APIS = ["vjp", "jvp", "vhp", "hvp", "jacobian", "hessian"]
WITH_VECTOR = APIS[:4]


def of_one(lib, name, func, x, **options):
    functional = lib.autograd.functional
    if name in ("jacobian", "hessian"):
        return getattr(functional, name)(func, x, **options)
    v = lib.ones((), dtype=x.dtype) if name == "vjp" else lib.ones_like(x)
    return getattr(functional, name)(func, x, v, **options)


def cubes(x):
    return (x**3).sum()


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("mode", ["no_grad", "enable_grad", "inference_mode"])
@pytest.mark.parametrize("name", APIS)
def test_in_every_mode(name, mode, requires_grad, create_graph, real_torch):
    def call(lib):
        x = lib.tensor([0.5, -1.0, 2.0], dtype=lib.float64, requires_grad=requires_grad)
        with getattr(lib, mode)():
            return of_one(lib, name, cubes, x, create_graph=create_graph)

    compare(call, real_torch)


MISTAKES = {
    "a list of inputs": lambda lib, f, x, v: f(cubes, [x], v),
    "an input that is no tensor": lambda lib, f, x, v: f(cubes, (x, 2), v),
    "an output that is no tensor": lambda lib, f, x, v: f(lambda x: (cubes(x), "text"), x, v),
    "no output": lambda lib, f, x, v: f(lambda x: None, x, v),
    "a vector that is no tensor": lambda lib, f, x, v: f(cubes, x, (v, 2)),
    "a list of vectors": lambda lib, f, x, v: f(cubes, x, [v]),
    "inputs of integers": lambda lib, f, x, v: f(cubes, lib.arange(3), v),
}


def with_any_error(call):
    def of(lib):
        try:
            return call(lib)
        except (TypeError, NotImplementedError, AssertionError) as error:
            raise RuntimeError(f"{type(error).__name__}: {error}") from error

    return of


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
@pytest.mark.parametrize("name", WITH_VECTOR)
def test_mistakes(name, mistake, real_torch):
    def call(lib):
        x = lib.ones(3, dtype=lib.float64)
        v = lib.ones((), dtype=lib.float64) if name == "vjp" else lib.ones_like(x)
        return mistake(lib, getattr(lib.autograd.functional, name), x, v)

    compare(with_any_error(call), real_torch)


@pytest.mark.parametrize("vectorize", [False, True])
@pytest.mark.parametrize("name", ["jacobian", "hessian"])
def test_mistakes_without_a_vector(name, vectorize, real_torch):
    for func, inputs in (
        (cubes, lambda lib: (lib.ones(3), 2)),
        (lambda x: (cubes(x), "text"), lambda lib: lib.ones(3)),
        (lambda x: (cubes(x), cubes(x)), lambda lib: lib.ones(3)),
        (lambda x: x[:2] ** 3, lambda lib: lib.ones(3)),
        (cubes, lambda lib: lib.arange(3)),
    ):
        call = with_any_error(
            lambda lib, f=func, x=inputs: getattr(lib.autograd.functional, name)(f, x(lib), vectorize=vectorize)
        )
        compare(call, real_torch)


EXCLUDING = [
    {"strict": True, "vectorize": True},
    {"strict": True, "vectorize": True, "strategy": "forward-mode"},
    {"create_graph": True, "vectorize": True, "strategy": "forward-mode"},
    {"vectorize": True, "strategy": "sideways"},
]


@pytest.mark.parametrize("options", EXCLUDING, ids=str)
def test_options_that_exclude_each_other(options, real_torch):
    def call(lib):
        return lib.autograd.functional.jacobian(lambda x: x**2, lib.ones(3), **options)

    assert isinstance(outcome(lambda: with_any_error(call)(torch)), str)
    compare(with_any_error(call), real_torch)


SHAPED = {
    "two matrices": (lambda lib, x, y: (x.cos() * x) @ y.sin(), [(2, 3), (3, 5)]),
    "several outputs": (lambda lib, x, y: ((x * x) @ y, x @ (x.sum(1) * y), y.sum()), [(5, 3), (3, 5)]),
    "inputs as they are": (lambda lib, x, y: (x, y, x, y), [(2,), (3,)]),
    "numbers out": (lambda lib, x, y: (x.sum(), y.sum(), x * y), [(3,), (3,)]),
    "a number in": (lambda lib, x: lib.stack([x, x, x]), [()]),
    "both": (lambda lib, x, y: (y.sum(), x * y), [(), (1,)]),
    "three inputs": (lambda lib, x, y, z: ((x.relu() * x) @ y.sin() @ z).sum(), [(2, 3), (3, 4), (4, 2)]),
    "of one input only": (lambda lib, x, y: (x**2).sum(), [(2,), (3,)]),
    "of no input": (lambda lib, x, y: lib.ones((), dtype=x.dtype), [(2,), (3,)]),
    "one element, not a number": (lambda lib, x: x.sum().view(1, 1, 1), [(2, 2)]),
}


@pytest.mark.parametrize("strategy", ["reverse-mode", "forward-mode"])
@pytest.mark.parametrize("program", SHAPED.values(), ids=SHAPED)
@pytest.mark.parametrize("name", ["jacobian", "hessian"])
def test_vectorized_is_what_rows_are(name, program, strategy, real_torch_or_none):
    func, shapes = program
    option = {"jacobian": "strategy", "hessian": "outer_jacobian_strategy"}[name]

    def call(lib, **options):
        counted = [lib.arange(1, 1 + lib.ones(shape).numel(), dtype=lib.float64) for shape in shapes]
        xs = tuple(numbers.sin().reshape(shape) for numbers, shape in zip(counted, shapes, strict=True))
        inputs = xs[0] if len(xs) == 1 else xs
        return getattr(lib.autograd.functional, name)(lambda *xs: func(lib, *xs), inputs, **options)

    rows = outcome(lambda: call(torch))
    vectorized = outcome(lambda: call(torch, vectorize=True, **{option: strategy}))
    if isinstance(rows, str):
        assert name == "hessian" and "given to hessian should" in rows
        assert vectorized == rows
        if real_torch_or_none is not None:
            assert rows == asked(real_torch_or_none, lambda lib: outcome(lambda: call(lib)))
        return
    same(vectorized, rows)
    if real_torch_or_none is not None:
        same(rows, outcome(lambda: call(real_torch_or_none)))


@pytest.mark.parametrize(
    "shapes", [[(2, 3)], [()], [(1,), (), ()], [(2,), (), (3,)], [(2, 3), (3,), (3, 4, 2)], [(0,)]]
)
def test_the_standard_basis(shapes, real_torch_or_none):
    def basis(lib):
        tensors = tuple(lib.ones(shape, dtype=lib.float64) for shape in shapes)
        return lib.autograd.functional._construct_standard_basis_for(tensors, [t.numel() for t in tensors])

    chunks = basis(torch)
    total = sum(chunk.shape[1] for chunk in chunks)
    assert torch.equal(torch.cat(chunks, 1), torch.eye(total, dtype=torch.float64))
    if real_torch_or_none is not None:
        assert to_lists(chunks) == to_lists(basis(real_torch_or_none))


def test_the_standard_basis_of_nothing():
    basis = functional._construct_standard_basis_for
    with pytest.raises(AssertionError, match="at least one tensor"):
        basis((), ())
    with pytest.raises(AssertionError, match="same length, but got 1 and 0"):
        basis((torch.ones(2),), ())


def test_by_columns_of_a_function_that_changes_its_input():
    """Each example of the batch changes a number of its own."""
    x = torch.tensor([1.0, 2.0, 3.0])
    found = functional.jacobian(lambda x: x.mul_(x), x, strategy="forward-mode", vectorize=True)
    assert found.tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]


def test_a_gradient_summed_to_a_number_is_a_sum(real_torch_or_none):
    """And no view of one: its graph is the shorter."""

    def call(lib):
        x, y = lib.ones(2, 3, requires_grad=True), lib.ones((), requires_grad=True)
        (grad,) = lib.autograd.grad((x * y).sum(), y, create_graph=True)
        return type(grad.grad_fn).__name__, grad._is_view()

    assert call(torch) == ("SumBackward0", False)
    if real_torch_or_none is not None:
        assert call(torch) == asked(real_torch_or_none, call)
