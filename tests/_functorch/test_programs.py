"""Programs made of transforms, as torch runs them: optimization, meta-learning, ensembles, implicit functions.

Mirrors: test/functorch/test_eager_transforms.py (TestExamplesCorrectness)
"""

import itertools

import pytest

import reftorch
from reftorch.utils._pytree import tree_leaves
from tests.answers.watched import asked

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # torch's own


def waves(lib, *shape):
    count = 1
    for n in shape:
        count *= n
    return lib.arange(count, dtype=lib.float64).mul(0.7).add(0.3).sin().reshape(shape)


def network(lib, *sizes):
    """Layers with tanh between them, of the same parameters in both libraries."""
    layers = []
    for i, (n, m) in enumerate(itertools.pairwise(sizes)):
        layers += [lib.nn.Linear(n, m).double(), lib.nn.Tanh()]
        with lib.no_grad():
            layers[-2].weight.copy_(waves(lib, m, n) * (0.5 + 0.1 * i))
            layers[-2].bias.copy_(waves(lib, m) * 0.1)
    return lib.nn.Sequential(*layers[:-1])


def parameters_of(model):
    return {name: p.detach() for name, p in model.named_parameters()}


def updated(parameters, gradients, rate):
    return {name: p - rate * gradients[name] for name, p in parameters.items()}


def a_newton_step_by_conjugate_gradients(lib):
    """The Hessian only ever meets a vector: forward mode over reverse mode."""
    func = lib.func
    matrix = waves(lib, 4, 4)
    start = waves(lib, 4)

    def loss(x):
        return (matrix @ x).cosh().sum() + (x**4).sum()

    def hessian_times(v):
        return func.jvp(func.grad(loss), (start,), (v,))[1]

    residual = -func.grad(loss)(start)
    step, direction = lib.zeros_like(start), residual
    for _ in range(4):
        product = hessian_times(direction)
        alpha = residual.dot(residual) / direction.dot(product)
        step, rest = step + alpha * direction, residual - alpha * product
        direction, residual = rest + rest.dot(rest) / residual.dot(residual) * direction, rest
    return step, lib.linalg.solve(func.hessian(loss)(start), -func.grad(loss)(start))


def a_gauss_newton_step(lib):
    """The Jacobian of a network's outputs by its parameters, for all examples, in both modes."""
    func, model, x = lib.func, network(lib, 2, 3, 1), waves(lib, 5, 2)

    def residuals(parameters, x):
        return func.functional_call(model, parameters, (x,)).squeeze(-1) - x.sum(-1)

    parameters = parameters_of(model)
    by_rows = func.vmap(func.jacrev(residuals), in_dims=(None, 0))(parameters, x)
    by_columns = func.jacfwd(lambda p: residuals(p, x))(parameters)
    rows = lib.cat([j.reshape(5, -1) for j in by_rows.values()], 1)
    step = lib.linalg.solve(rows.mT @ rows + 0.1 * lib.eye(rows.size(1)).double(), rows.mT @ residuals(parameters, x))
    return by_rows, by_columns, step


def a_gradient_penalty(lib):
    """The norm of each example's gradient by its input, differentiated by the parameters."""
    func, model, x = lib.func, network(lib, 3, 4, 1), waves(lib, 6, 3)

    def penalty(parameters):
        def critic(x):
            return func.functional_call(model, parameters, (x,)).squeeze()

        norms = func.vmap(func.grad(critic))(x).norm(dim=1)
        return ((norms - 1) ** 2).mean()

    return func.grad_and_value(penalty)(parameters_of(model))


def gradients_of_each_example(lib):
    func, model, x = lib.func, network(lib, 3, 5, 4), waves(lib, 6, 3)
    classes = lib.tensor([0, 3, 1, 2, 2, 0])

    def loss(parameters, x, place):
        return -func.functional_call(model, parameters, (x,)).log_softmax(0).gather(0, place)[0]

    each = func.vmap(func.grad(loss), in_dims=(None, 0, 0), chunk_size=4)(parameters_of(model), x, classes.unsqueeze(1))
    norms = sum(g.reshape(6, -1).square().sum(1) for g in each.values()).sqrt()
    clipped = {name: (g.reshape(6, -1) / norms.clamp(min=1)[:, None]).mean(0) for name, g in each.items()}
    return each, clipped


def an_implicit_function(lib):
    """A fixed point z = f(a, z), differentiated through what it solves and not how it was found."""
    func = lib.func
    weight = waves(lib, 3, 3) * 0.3

    def f(a, z):
        return (weight @ z + a).tanh()

    def solved(a):
        z = lib.zeros_like(a)
        for _ in range(100):
            z = f(a, z)
        return z

    a = waves(lib, 3)
    z = solved(a)
    by_a, by_z = func.jacrev(f, argnums=(0, 1))(a, z)
    implicit = lib.linalg.solve(lib.eye(3).double() - by_z, by_a)
    return implicit, func.jacfwd(solved)(a)


def an_ensemble(lib):
    """Several models trained a step at once, each with a rate of its own."""
    func = lib.func
    models = [network(lib, 2, 4, 1) for _ in range(3)]
    with lib.no_grad():
        for i, model in enumerate(models):
            model[0].weight.add_(0.2 * i)
    parameters, buffers = func.stack_module_state(models)
    assert all(p.is_leaf and p.requires_grad for p in parameters.values())
    x, base = waves(lib, 5, 2), models[0]

    def step(parameters, buffers, rate):
        def loss(parameters):
            return func.functional_call(base, (parameters, buffers), (x,)).squeeze(-1).sub(x.prod(1)).square().mean()

        gradients, value = func.grad_and_value(loss)(parameters)
        return value, updated(parameters, gradients, rate)

    return func.vmap(step)(parameters, buffers, lib.tensor([0.1, 0.2, 0.3]).double())


def learning_to_learn(lib):
    """MAML: the loss after two inner steps on each task, differentiated by where they start."""
    func, model = lib.func, network(lib, 1, 6, 1)

    def loss(parameters, x, amplitude):
        return func.functional_call(model, parameters, (x,)).sub(amplitude * x.sin()).square().mean()

    def after_learning(parameters, amplitude):
        learned = parameters
        for _ in range(2):
            learned = updated(learned, func.grad(loss)(learned, waves(lib, 8, 1), amplitude), 0.1)
        return loss(learned, waves(lib, 4, 1) * 2, amplitude)

    def over_tasks(parameters):
        amplitudes = lib.tensor([0.5, 1.0, 2.0]).double()
        return func.vmap(after_learning, in_dims=(None, 0))(parameters, amplitudes).mean()

    return func.grad_and_value(over_tasks)(parameters_of(model))


def a_flow(lib):
    """The trace of a Jacobian, exactly and by random directions that both libraries share."""
    func, model, x = lib.func, network(lib, 3, 4, 3), waves(lib, 5, 3)
    signs = waves(lib, 7, 3).sign()

    def divergence(x):
        return func.jacrev(model)(x).trace()

    def estimate(x):
        return func.vmap(lambda v: v.dot(func.jvp(model, (x,), (v,))[1]))(signs).mean()

    return func.vmap(divergence)(x), func.vmap(estimate)(x), func.grad(lambda x: func.vmap(divergence)(x).sum())(x)


PROGRAMS = [
    a_newton_step_by_conjugate_gradients, a_gauss_newton_step, a_gradient_penalty, gradients_of_each_example,
    an_implicit_function, an_ensemble, learning_to_learn, a_flow,
]  # fmt: skip


def results(program, lib):
    return [leaf.detach().reshape(-1).tolist() for leaf in tree_leaves(program(lib))]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program, real_torch):
    ours, theirs = results(program, reftorch), asked(real_torch, lambda lib: results(program, lib))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert a == pytest.approx(b, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("program", [a_newton_step_by_conjugate_gradients, an_implicit_function])
def test_two_ways_to_the_same(program):
    one, other = program(reftorch)
    assert reftorch.allclose(one, other, rtol=1e-6)
