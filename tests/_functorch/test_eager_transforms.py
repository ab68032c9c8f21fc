"""Transforms of functions, alone and in each other, against torch.

Mirrors: test/functorch/test_eager_transforms.py
"""

import pytest

import reftorch as torch
from reftorch.func import debug_unwrap, functionalize, grad, grad_and_value, jacfwd, jacrev, jvp, linearize, vjp
from reftorch.utils._pytree import tree_leaves
from tests.answers.watched import asked

pytestmark = [  # torch's own
    pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node:UserWarning"),
]

V = [1.0, 2.0, 3.0]
M = [[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]]


def number(lib):
    return lambda x: (x.sin() * x.prod()).sum()


def several(lib):
    return lambda x: {"outer": x.outer(x), "sum": x.exp().sum(), "none": lib.ones(2)}


def filling(lib):
    def f(x):
        out = x.new_zeros(3)
        out[0] = x[0] * x[1]
        out[1:] = x[1:] ** 2
        return out.sum() * x[0]

    return f


def changing(lib):
    def f(x):
        y = x.clone()
        y[0].mul_(x[1])
        y.view(3)[1:].add_(x[:2])
        return (y * y).sum()

    return f


def layers(lib):
    def f(x):
        weight = lib.tensor([[0.5, -1.0, 2.0], [1.0, 0.25, -0.5]])
        return ((weight @ x).tanh().log_softmax(0) - lib.tensor([0.5, -0.5])).square().mean()

    return f


NUMBERS = {"product": number, "filling": filling, "changing": changing, "layers": layers}
TRANSFORMS = {
    "grad": lambda lib, F, f, v, m: F.grad(f)(v),
    "grad and value": lambda lib, F, f, v, m: F.grad_and_value(f)(v),
    "grad of grad": lambda lib, F, f, v, m: F.grad(lambda x: F.grad(f)(x).sum())(v),
    "hessian": lambda lib, F, f, v, m: F.hessian(f)(v),
    "rows of rows": lambda lib, F, f, v, m: F.jacrev(F.jacrev(f))(v),
    "columns of columns": lambda lib, F, f, v, m: F.jacfwd(F.jacfwd(f))(v),
    "rows of columns": lambda lib, F, f, v, m: F.jacrev(F.jacfwd(f))(v),
    "forward over reverse": lambda lib, F, f, v, m: F.jvp(F.grad(f), (v,), (v * 2,)),
    "reverse over forward": lambda lib, F, f, v, m: F.grad(lambda x: F.jvp(f, (x,), (x.cos(),))[1])(v),
    "forward over forward": lambda lib, F, f, v, m: F.jvp(lambda x: F.jvp(f, (x,), (x,))[1], (v,), (v * 2,)),
    "a batch of gradients": lambda lib, F, f, v, m: F.vmap(F.grad(f))(m),
    "the gradient of a batch": lambda lib, F, f, v, m: F.grad(lambda x: F.vmap(f)(x).sum())(m),
    "a batch of Hessians": lambda lib, F, f, v, m: F.vmap(F.hessian(f))(m),
    "the Jacobian of a batch": lambda lib, F, f, v, m: F.jacrev(F.vmap(f))(m),
    "a batch of tangents": lambda lib, F, f, v, m: F.vmap(lambda t: F.jvp(f, (v,), (t,))[1])(m),
    "a batch of batches": lambda lib, F, f, v, m: F.vmap(lambda x: F.vmap(lambda s: F.grad(f)(x * s))(x))(m),
}


def same(call, real_torch):
    def leaves(lib):
        return [(tuple(x.shape), x.requires_grad, x.reshape(-1).tolist()) for x in tree_leaves(call(lib, lib.func))]

    ours, theirs = leaves(torch), asked(real_torch, leaves)
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert a[:2] == b[:2]
        assert a[2] == pytest.approx(b[2], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("program", NUMBERS.values(), ids=NUMBERS)
def test_transforms(program, transform, real_torch):
    same(lambda lib, F: transform(lib, F, program(lib), lib.tensor(V), lib.tensor(M)), real_torch)


OF_SEVERAL = {
    "vjp": lambda lib, F, f, v: F.vjp(f, v)[1](F.vjp(f, v)[0]),
    "jvp": lambda lib, F, f, v: F.jvp(f, (v,), (v.cos(),)),
    "jacrev": lambda lib, F, f, v: F.jacrev(f)(v),
    "jacfwd": lambda lib, F, f, v: F.jacfwd(f)(v),
}


@pytest.mark.parametrize("transform", OF_SEVERAL.values(), ids=OF_SEVERAL)
def test_functions_with_several_results(transform, real_torch):
    same(lambda lib, F: transform(lib, F, several(lib), lib.tensor(V)), real_torch)


ARGUMENTS = {
    "the second": lambda lib, F, f, v, d: F.grad(f, argnums=1)(v, d),
    "both": lambda lib, F, f, v, d: F.grad(f, argnums=(0, 1))(v, d),
    "the last": lambda lib, F, f, v, d: F.jacrev(f, argnums=-1)(v, d),
    "columns of both": lambda lib, F, f, v, d: F.jacfwd(f, argnums=(1, 0))(v, d),
    "Hessian of both": lambda lib, F, f, v, d: F.hessian(f, argnums=(0, 1))(v, d),
    "with more": lambda lib, F, f, v, d: F.grad(lambda x, d: (f(x, d), {"x": x * 2}), has_aux=True)(v, d),
    "value with more": lambda lib, F, f, v, d: F.grad_and_value(lambda x, d: (f(x, d), x * 2), has_aux=True)(v, d),
    "rows with more": lambda lib, F, f, v, d: F.jacrev(lambda x, d: (f(x, d) * x, x + 1), has_aux=True)(v, d),
    "columns with more": lambda lib, F, f, v, d: F.jacfwd(lambda x, d: (f(x, d) * x, x + 1), has_aux=True)(v, d),
}


@pytest.mark.parametrize("transform", ARGUMENTS.values(), ids=ARGUMENTS)
def test_arguments(transform, real_torch):
    def call(lib, F):
        def f(x, d):
            return (x * d["w"]).sum() + d["b"][0] * x.prod()

        return transform(lib, F, f, lib.tensor(V), {"w": lib.tensor([2.0, -1.0, 0.5]), "b": [lib.tensor(3.0)]})

    same(call, real_torch)


def test_levels_are_kept_apart():
    # d/dx x (d/dy (x + y)) = 1, and not 2
    assert grad(lambda x: x * grad(lambda y: x + y)(torch.tensor(1.0)))(torch.tensor(1.0)).item() == 1
    assert jvp(lambda x: x * jvp(lambda y: x + y, (x,), (torch.tensor(1.0),))[1], (torch.tensor(1.0),),
               (torch.tensor(1.0),))[1].item() == 1  # fmt: skip


def test_what_is_closed_over_has_a_gradient_outside():
    weight = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    result = grad(lambda x: (x * x * weight).sum())(torch.tensor(V))
    assert result.requires_grad
    result.sum().backward()
    assert weight.grad.tolist() == [2, 4, 6]
    assert not grad(lambda x: (x * x).sum())(torch.tensor(V)).requires_grad


def test_no_grad_outside_changes_nothing_inside():
    with torch.no_grad():
        assert grad(lambda x: (x * x).sum())(torch.tensor(V)).tolist() == [2, 4, 6]
    assert grad(lambda x: (x * x.detach()).sum())(torch.tensor(V)).tolist() == V

    def partly(x):
        with torch.no_grad():
            y = x * 2
        return (x * y).sum()

    assert grad(partly)(torch.tensor(V)).tolist() == [2, 4, 6]


def test_a_captured_tensor_is_not_to_be_changed():
    outside = torch.zeros(3)
    with pytest.raises(RuntimeError, match="would mutate a captured Tensor"):
        grad(lambda x: outside.copy_(x).sum())(torch.tensor(V))
    assert outside.tolist() == [0, 0, 0]


def test_values_can_be_asked_for_where_there_is_one():
    assert grad(lambda x: x.sum() * (2.0 if x.sum().item() > 0 else 1.0))(torch.tensor(V)).tolist() == [2, 2, 2]


def test_a_pull_back_can_be_used_again():
    value, pull_back = vjp(lambda x: x**3, torch.tensor(V))
    once, twice = pull_back(torch.ones(3)), pull_back(torch.ones(3) * 2)
    assert [2 * x for x in once[0].tolist()] == twice[0].tolist()
    assert value.tolist() == [1, 8, 27]


@pytest.mark.parametrize("aux", [1, 2.5, "abc", None])
def test_what_is_handed_on_is_tensors(aux):
    x = torch.tensor(V)
    calls = [
        lambda f: vjp(f, x, has_aux=True),
        lambda f: jvp(f, (x,), (x,), has_aux=True),
        lambda f: grad(lambda x: (x.sum(), f(x)[1]), has_aux=True)(x),
        lambda f: jacrev(f, has_aux=True)(x),
        lambda f: jacfwd(f, has_aux=True)(x),
    ]
    for call in calls:
        for f in (lambda x: (x, aux), lambda x: (x, [x, aux])):
            with pytest.raises(RuntimeError, match="Expected tensors, got unsupported type"):
                call(f)


def test_a_view_whose_base_changes_afterwards(real_torch):
    def call(lib, F):
        def f(x):
            y = x.clone()
            first = y[0]
            y.sin_()
            return first

        return F.grad(f)(lib.tensor(V)), F.jacrev(f)(lib.tensor(V)), F.jvp(f, (lib.tensor(V),), (lib.ones(3),))

    same(call, real_torch)


def test_inference_mode_outside(real_torch):
    def call(lib, F):
        f = number(lib)
        with lib.inference_mode():
            x = lib.tensor(V)
            results = (
                F.grad(f)(x),
                F.vjp(f, x)[1](lib.tensor(1.0)),
                F.jvp(f, (x,), (x,)),
                F.hessian(f)(x),
                F.vmap(F.grad(f))(lib.tensor(M)),
                F.grad(lambda m: F.vmap(f)(m).sum())(lib.tensor(M)),
            )
            assert lib.is_inference_mode_enabled()
        assert not lib.is_inference_mode_enabled()
        return results

    same(call, real_torch)


IN_PLACE = {
    "all": (lambda x, y: (x.copy_(y),), (2, 6)),
    "a view": (lambda x, y: _copied(x, x[:, ::2], y), (2, 3)),
    "the base of a view": (lambda x, y: (x[0, ::2], x.copy_(y)), (2, 6)),
    "a view of a copy": (lambda x, y: _copied(x.clone(), None, y), (6,)),
}


def _copied(x, view, y):
    view = x[0] if view is None else view
    return view.copy_(y), x


@pytest.mark.parametrize(("f", "shape"), IN_PLACE.values(), ids=IN_PLACE)
def test_tangents_changed_in_place_under_vmap(f, shape, real_torch):
    def call(lib, F):
        x = lib.arange(24.0).sin().view(2, 2, 6)
        y = lib.arange(24.0).cos()[: 2 * _count(shape)].view(2, *shape)
        return F.vmap(lambda x, xt, y, yt: F.jvp(f, (x, y), (xt, yt)))(x, x * 2, y, y * 3)

    same(call, real_torch)


def _count(shape):
    return shape[0] * (shape[1] if len(shape) > 1 else 1)


ERRORS = {
    "no number": (
        lambda: grad(lambda x: x * 2)(torch.tensor(V)),
        RuntimeError,
        "Expected f.* to return a scalar Tensor",
    ),
    "no tensor": (lambda: grad(lambda x: 2.0)(torch.tensor(V)), RuntimeError, "to return a Tensor, got <class"),
    "no such argument": (lambda: grad(lambda x: x, 2)(torch.tensor(V)), RuntimeError, "Got argnum=2, but only 1"),
    "no tuple": (
        lambda: jvp(lambda x: x, torch.ones(1), torch.ones(1)),
        RuntimeError,
        "Expected primals to be a tuple",
    ),
    "two structures": (lambda: jvp(lambda x: x, (torch.ones(1),), ()), RuntimeError, "the same python structure"),
    "wrong cotangents": (
        lambda: vjp(lambda x: (x, x), torch.ones(1))[1](torch.ones(1)),
        RuntimeError,
        "pytree structure",
    ),
    "wrong tangent": (lambda: jvp(lambda x: x, (torch.ones(2),), (torch.ones(3),)), RuntimeError, "different size"),
    "no result": (lambda: jacrev(lambda x: ())(torch.ones(1)), RuntimeError, "non-empty output"),
    "no pair": (
        lambda: grad_and_value(lambda x: x.sum(), has_aux=True)(torch.ones(2)),
        RuntimeError,
        "should be a tuple",
    ),
    "no formula": (
        lambda: jacfwd(lambda x: x // x)(torch.ones(2)),
        NotImplementedError,
        "use forward AD with aten::floor_div",
    ),
}


@pytest.mark.parametrize(("call", "error", "message"), ERRORS.values(), ids=ERRORS)
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()
    assert torch._C._functorch.maybe_current_level() is None


LINEAR = {
    "one": lambda lib, F: F.linearize(lambda x: (x * x.sum()).sin(), lib.tensor(V)),
    "two": lambda lib, F: F.linearize(lambda x, y: x.outer(y).exp(), lib.tensor(V), lib.tensor(V)),
    "a tree": lambda lib, F: F.linearize(lambda x: {"a": x["v"] * 2, "b": x["v"].prod()}, {"v": lib.tensor(V)}),
}
TANGENTS = {
    "one": lambda lib: (lib.tensor(V),),
    "two": lambda lib: (lib.tensor(V), lib.ones(3)),
    "a tree": lambda lib: ({"v": lib.tensor(V)},),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linearize(name, real_torch):
    def call(lib, F):
        output, push_forward = LINEAR[name](lib, F)
        return output, push_forward(*TANGENTS[name](lib)), push_forward(*TANGENTS[name](lib))

    same(call, real_torch)


def test_linearize_runs_its_function_once_and_nests():
    runs = []

    def f(x):
        runs.append(1)
        return x.sin()

    _, push_forward = linearize(f, torch.tensor(V))
    rows = torch.vmap(push_forward)(torch.eye(3))
    assert torch.equal(rows, torch.tensor(V).cos().diag())
    assert len(runs) == 1
    with pytest.raises(RuntimeError, match=r"tangent:0 with shape .* doesn't match"):
        push_forward(torch.ones(2))
    with pytest.raises(RuntimeError, match="same argspec"):
        push_forward(torch.ones(3), torch.ones(3))


def test_functionalize():
    def f(x):
        x.view(-1).add_(1)
        return x * 2

    x = torch.zeros(2)
    assert functionalize(f)(x).tolist() == [2, 2]
    assert x.tolist() == [1, 1]
    assert torch.vmap(functionalize(f, remove="mutations_and_views"))(torch.zeros(2, 1)).tolist() == [[2], [2]]
    with pytest.raises(RuntimeError, match="received invalid argument for remove=views"):
        functionalize(f, remove="views")


def test_debug_unwrap():
    seen = []

    def f(x):
        seen.extend([debug_unwrap(x), debug_unwrap(x, recurse=False)])
        return x.sum()

    x = torch.tensor(M)
    torch.vmap(grad(f))(x)
    assert seen[0].shape == (2, 3)
    assert seen[1].shape == (3,)
    assert debug_unwrap(x) is x


STRICT = "The output of f is independent of the inputs. This is not allowed with strict=True."


def test_strict():
    ones = torch.ones(2)
    assert jvp(lambda x: torch.ones(3), (ones,), (ones,))[1].tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match=STRICT):
        jvp(lambda x: torch.ones(3), (ones,), (ones,), strict=True)


REFUSED = {
    "requires_grad_ in vmap": lambda lib: lib.vmap(lambda x: x.requires_grad_())(lib.ones(2)),
    "requires_grad_ in grad": lambda lib: lib.func.grad(lambda x: x.requires_grad_())(lib.tensor(1.0)),
    "requires_grad_ in jvp": lambda lib: lib.func.jvp(lambda x: x.requires_grad_(), (lib.ones(2),), (lib.ones(2),)),
    "retain_grad": lambda lib: lib.func.grad(lambda x: x.sin().retain_grad())(lib.tensor(1.0)),
    "autograd.functional": lambda lib: lib.vmap(lambda x: lib.autograd.functional.jacobian(lib.sin, x))(lib.ones(2)),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_what_a_function_under_a_transform_may_not_do(call, real_torch_or_none):
    for lib in (torch, real_torch_or_none) if real_torch_or_none else (torch,):
        with pytest.raises(RuntimeError, match=r"You are attempting to call Tensor\.(requires_grad_|retain_grad)"):
            call(lib)
    weight = torch.ones(2, requires_grad=True)
    assert grad(lambda x: (x * weight).sum())(torch.ones(2)).requires_grad


def test_hooks_on_saved_tensors_are_refused():
    message = "don't yet support saved tensor hooks"
    with torch.autograd.graph.save_on_cpu(), pytest.raises(RuntimeError, match=message):
        grad(lambda x: x * x)(torch.tensor(1.0))

    def f(x):
        with torch.autograd.graph.save_on_cpu():
            return x * x

    with pytest.raises(RuntimeError, match=message):
        vjp(f, torch.tensor(1.0))


def test_an_argument_that_is_not_differentiated_may_be_written_to(real_torch):
    def call(lib, F):
        def f(x, y):
            y.copy_(x * 2)
            return (x * y).sum()

        return F.grad(f)(lib.tensor(V), lib.zeros(3)), F.jacfwd(f)(lib.tensor(V), lib.zeros(3))

    same(call, real_torch)


def test_there_is_no_level_below_the_last_one():
    for call in (lambda: torch._C._functorch._call_below(lambda: None), torch._C._functorch._decrement_nesting):
        with pytest.raises(RuntimeError, match="there is no function transform at work"):
            call()
    assert torch.func.grad(lambda x: x * x)(torch.tensor(3.0)).item() == 6.0
