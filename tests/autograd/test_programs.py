"""Programs that differentiate twice, or in unusual places, as torch runs them.

Mirrors: test/test_autograd.py
"""

import pytest

from tests.answers.watched import asked

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # torch's own


def both(program, real_torch):
    """What a program gives in both libraries: lists of numbers."""
    import reftorch

    ours, theirs = program(reftorch), asked(real_torch, program)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert a == pytest.approx(b, rel=1e-8, abs=1e-10)


def numbers(*tensors):
    return [tensor.detach().reshape(-1).tolist() for tensor in tensors]


def points(lib, *shape):
    count = 1
    for n in shape:
        count *= n
    return lib.arange(count, dtype=lib.float64).view(*shape).mul(0.37).sin()


def test_a_newton_step(real_torch):
    def program(lib):
        x = lib.tensor([1.2, -0.7], dtype=lib.float64, requires_grad=True)
        path = []
        for _ in range(4):
            value = (1 - x[0]) ** 2 + 10 * (x[1] - x[0] ** 2) ** 2
            (gradient,) = lib.autograd.grad(value, x, create_graph=True)
            hessian = lib.stack([lib.autograd.grad(g, x, retain_graph=True)[0] for g in gradient])
            x = (x - lib.linalg.solve(hessian, gradient)).detach().requires_grad_()
            path.append(x)
        return numbers(*path)

    both(program, real_torch)


def test_a_gradient_penalty(real_torch):
    def program(lib):
        weights = [points(lib, 4, 3).requires_grad_(), points(lib, 1, 4).requires_grad_()]
        real, fake = points(lib, 5, 3), points(lib, 5, 3) + 0.5
        mixed = (0.3 * real + 0.7 * fake).requires_grad_()
        score = (mixed @ weights[0].t()).tanh() @ weights[1].t()
        (slope,) = lib.autograd.grad(score.sum(), mixed, create_graph=True)
        penalty = ((slope.norm(2, dim=1) - 1) ** 2).mean()
        penalty.backward()
        return numbers(penalty, *(w.grad for w in weights))

    both(program, real_torch)


def test_unrolled_descent(real_torch):
    """The gradient of what five steps of descent lead to, by the length of the step."""

    def program(lib):
        rate = lib.tensor(0.1, dtype=lib.float64, requires_grad=True)
        x = lib.tensor([2.0, -1.0], dtype=lib.float64, requires_grad=True)
        moving = x
        for _ in range(5):
            (gradient,) = lib.autograd.grad((moving**4).sum() + moving.prod(), moving, create_graph=True)
            moving = moving - rate * gradient
        moving.square().sum().backward()
        return numbers(moving, rate.grad, x.grad)

    both(program, real_torch)


def test_implicit_differentiation(real_torch):
    """x*(a) solves x = cos(a x); dx*/da by the implicit function theorem, in a Function whose backward solves."""

    def program(lib):
        class FixedPoint(lib.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                x = lib.zeros_like(a)
                for _ in range(200):
                    x = (a * x).cos() * 0.5 + x * 0.5
                ctx.save_for_backward(a, x)
                return x

            @staticmethod
            def backward(ctx, grad):
                a, x = ctx.saved_tensors
                slope = -(a * x).sin()
                return grad * slope * x / (1 - slope * a)

        a = lib.tensor([0.5, 1.0, 1.3], dtype=lib.float64, requires_grad=True)
        x = FixedPoint.apply(a)
        x.sum().backward()
        return numbers(x, a.grad)

    both(program, real_torch)


def test_a_function_with_a_double_backward(real_torch):
    def program(lib):
        class Cube(lib.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x**3

            @staticmethod
            def backward(ctx, grad):
                return CubeBackward.apply(grad, *ctx.saved_tensors)

        class CubeBackward(lib.autograd.Function):
            @staticmethod
            def forward(ctx, grad, x):
                ctx.save_for_backward(grad, x)
                return 3 * grad * x * x

            @staticmethod
            def backward(ctx, outer):
                grad, x = ctx.saved_tensors
                return 3 * outer * x * x, 6 * outer * grad * x

        x = lib.tensor([1.0, 2.0, -1.5], dtype=lib.float64, requires_grad=True)
        (first,) = lib.autograd.grad(Cube.apply(x).sum(), x, create_graph=True)
        (second,) = lib.autograd.grad(first.sum(), x, create_graph=True)
        return numbers(first, second)

    both(program, real_torch)


def test_in_place_on_views_of_views(real_torch):
    def program(lib):
        x = points(lib, 3, 4).requires_grad_()
        base = x * 2
        rows = base[1:]
        corner = rows.t()[1:3]
        corner.mul_(x[:2, :2])
        rows[0].add_(corner.sum())
        base.view(-1)[::5].sub_(1).pow_(2)
        value = (base * rows.sum()).sum() + corner.prod()
        value.backward()
        return numbers(value, x.grad)

    both(program, real_torch)


def test_a_jacobian_by_forward_and_by_reverse_mode(real_torch):
    def program(lib):
        def f(x):
            return lib.stack([x.prod(), x.norm(), (x.outer(x) @ x).sum(), x.cumsum(0).logsumexp(0)])

        x = lib.tensor([0.5, -1.0, 2.0], dtype=lib.float64)
        return numbers(lib.func.jacfwd(f)(x), lib.func.jacrev(f)(x), lib.autograd.functional.jacobian(f, x))

    both(program, real_torch)
