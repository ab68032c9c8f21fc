"""Checkpoints: the gradients are those without, and what is recomputed, when and how often, is as PyTorch has it.

Mirrors: test/test_autograd.py (the checkpoint tests, TestNestedCheckpoint)
"""

import contextlib
import gc
import weakref

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.utils.checkpoint import (
    CheckpointError,
    GraphExecGroup,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

both_ways = pytest.mark.parametrize("use_reentrant", [True, False])


class Counted:
    """Counts the calls of a function."""

    def __init__(self, function):
        self.function = function
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


def then(first, later):
    """A function that does one thing the first time, and another after that."""
    calls = []

    def function(x):
        calls.append(1)
        return (first if len(calls) == 1 else later)(x)

    return function


def leaf(*values):
    return torch.tensor([float(v) for v in values], requires_grad=True)


@both_ways
def test_gradients_are_those_without_it(use_reentrant):
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x, y = torch.randn(5, 3, requires_grad=True), None
    model(x).sum().backward()
    expected = [p.grad.clone() for p in model.parameters()] + [x.grad.clone()]
    for p in (*model.parameters(), x):
        p.grad = None
    block = Counted(model)
    y = checkpoint(block, x, use_reentrant=use_reentrant)
    assert block.calls == 1
    y.sum().backward()
    assert block.calls == 2
    for p, grad in zip((*model.parameters(), x), expected, strict=True):
        torch.testing.assert_close(p.grad, grad)


@both_ways
def test_random_numbers_are_drawn_again(use_reentrant):
    x = torch.ones(50, requires_grad=True)
    y = checkpoint(lambda x: x * x * torch.rand(50), x, use_reentrant=use_reentrant)
    after = torch.rand(1)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * y.detach())
    torch.manual_seed(4)
    y = checkpoint(lambda x: x * x * torch.rand(50), x, use_reentrant=use_reentrant)
    expected = torch.rand(2)
    torch.manual_seed(4)
    y = checkpoint(lambda x: x * x * torch.rand(50), x, use_reentrant=use_reentrant)
    y.sum().backward()  # the state of the program's own random numbers is not touched
    assert torch.equal(torch.rand(2), expected) and after.shape == (1,)


def test_saves_nothing_and_keeps_nothing():
    seen = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            kept = x.clone()
            ctx.save_for_backward(kept)
            seen.append(weakref.ref(kept))
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return grad * 2 * ctx.saved_tensors[0]

    gc.disable()
    try:
        y = checkpoint(lambda x: Square.apply(x) * 1, leaf(1, 2), use_reentrant=False)
        assert seen[0]() is None
        y.sum().backward(retain_graph=True)
        y.sum().backward()
        assert [ref() for ref in seen] == [None, None, None]
    finally:
        gc.enable()


def test_early_stop():
    tail = Counted(torch.clone)  # it saves nothing, so a recomputation may stop before it

    def run(**kwargs):
        tail.calls = 0
        return checkpoint(lambda x: tail(x.sin().cos()), leaf(1), use_reentrant=False, **kwargs)

    for kwargs, calls in (({}, 1), ({"early_stop": False}, 2), ({"early_stop": True}, 1)):
        run(**kwargs).backward()
        assert tail.calls == calls
    for outer, inner, calls in ((False, True, 2), (True, False, 1)):  # the context manager decides
        with set_checkpoint_early_stop(outer):
            y = run(early_stop=inner)
        y.backward()
        assert tail.calls == calls


def test_a_saved_tensor_is_recomputed_for_each_look():
    block = Counted(torch.exp)
    y = checkpoint(block, leaf(1, 2), use_reentrant=False)
    for calls in (2, 3):
        torch.testing.assert_close(y.grad_fn._saved_result, y)
        assert block.calls == calls
    y.sum().backward()
    assert block.calls == 4
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        _ = y.grad_fn._saved_result


def test_saved_tensors_can_be_unpacked_once_in_a_pass():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            (_,) = ctx.saved_tensors
            return ctx.saved_tensors[0] * grad

    with pytest.raises(CheckpointError, match="already unpacked once"):
        checkpoint(lambda x: Twice.apply(x.sin()), leaf(1), use_reentrant=False).backward()


def three(x):
    return x.sin().exp().sin()


def two(x):
    return x.sin().exp()


@pytest.mark.parametrize(
    ("second", "early_stop", "message"),
    [
        (two, True, "A different number of tensors was saved during the original forward and recomputation"),
        (lambda x: three(three(x)), False, "trying to save more tensors during recomputation"),
        (lambda x: x.sin().exp().sin().expand(2).sin(), False, "trying to save more tensors during recomputation"),
        (lambda x: x.expand(2).sin().exp().sin(), True, "Recomputed values .* have different metadata(.|\n)*shape"),
    ],
)
def test_what_is_not_deterministic_is_noticed(second, early_stop, message):
    y = checkpoint(then(three, second), leaf(1), use_reentrant=False, early_stop=early_stop)
    with pytest.raises(CheckpointError, match=message):
        y.backward()


def test_the_check_can_be_left_out():
    y = checkpoint(then(three, lambda x: three(x.double())), leaf(1), use_reentrant=False, determinism_check="none")
    y.backward()
    with pytest.raises(ValueError, match=r"determinism_check should be one of \['default', 'none'\], but got all"):
        checkpoint(three, leaf(1), use_reentrant=False, determinism_check="all")


def test_more_than_was_needed_is_not_even_computed():
    x = leaf(1)
    checkpoint(then(two, three), x, use_reentrant=False).backward()
    expected = leaf(1)
    two(expected).backward()
    torch.testing.assert_close(x.grad, expected.grad)


@pytest.mark.parametrize(("setting", "debug"), [(None, True), (True, False)])
def test_debug_shows_the_ops_of_both_runs(setting, debug):
    def different(x):
        return x.cos() * torch.ones(2)

    with set_checkpoint_debug_enabled(setting):
        y = checkpoint(then(two, different), leaf(1), use_reentrant=False, debug=debug)
    with pytest.raises(CheckpointError, match="because you passed `debug=True` to checkpoint") as caught:
        y.backward()
    forward, recomputed = str(caught.value).split("Operations executed during recomputation:")
    assert "aten::sin(float32[1])" in forward and "aten::cos(float32[1])" in recomputed
    assert f"{__file__}:{two.__code__.co_firstlineno + 1}:two" in forward
    assert "different metadata" in str(caught.value.__cause__)
    with set_checkpoint_debug_enabled(False), pytest.raises(CheckpointError, match="Hint: the function did something"):
        checkpoint(then(two, different), leaf(1), use_reentrant=False, debug=True).backward()


def test_contexts_are_entered_for_each_run():
    entered = []

    @contextlib.contextmanager
    def noting(name):
        entered.append(name)
        yield

    y = checkpoint(torch.exp, leaf(1), use_reentrant=False, context_fn=lambda: (noting("forward"), noting("again")))
    assert entered == ["forward"]
    y.backward()
    assert entered == ["forward", "again"]
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(torch.exp, leaf(1), use_reentrant=True, context_fn=lambda: (noting("a"), noting("b")))
    with pytest.raises(ValueError, match="incompatible with non-default context_fn"):
        checkpoint(torch.exp, leaf(1), use_reentrant=False, context_fn=lambda: (noting("a"), noting("b")), debug=True)


def test_a_context_must_not_swallow_the_error_of_forward():
    def fails(x):
        raise KeyError("no")

    with pytest.raises(RuntimeError, match="suppressed an exception raised during the checkpointed forward"):
        checkpoint(
            fails,
            leaf(1),
            use_reentrant=False,
            context_fn=lambda: (contextlib.suppress(KeyError), contextlib.nullcontext()),
        )
    with pytest.raises(KeyError):
        checkpoint(fails, leaf(1), use_reentrant=False)


def test_keyword_arguments_and_structures_go_through():
    def function(inputs, scale=None):
        return {"out": inputs["x"].sin().exp() * scale}, "text"

    x, scale = leaf(1, 2), leaf(3)
    out, text = checkpoint(function, {"x": x}, scale=scale, use_reentrant=False)
    expected = torch.autograd.grad(function({"x": x}, scale)[0]["out"].sum(), (x, scale))
    assert text == "text"
    for grad, wanted in zip(torch.autograd.grad(out["out"].sum(), (x, scale)), expected, strict=True):
        torch.testing.assert_close(grad, wanted)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        checkpoint(function, {"x": x}, scale=scale, use_reentrant=True)


def test_the_reentrant_way_goes_to_all_leaves_or_none():
    x = leaf(1)
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad"):
        torch.autograd.grad(checkpoint(torch.exp, x, use_reentrant=True), x)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        checkpoint(lambda x: x.detach() * 2, x, use_reentrant=True).backward()
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(torch.exp, torch.ones(1), use_reentrant=True)
    checkpoint(torch.exp, x, use_reentrant=True).backward()
    torch.testing.assert_close(x.grad, x.detach().exp())


def test_which_way_should_be_said():
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.exp, leaf(1))
    with pytest.warns(UserWarning, match="checkpoint_sequential: the use_reentrant parameter"):
        checkpoint_sequential([torch.exp], 1, leaf(1))


@both_ways
def test_sequential(use_reentrant):
    layers = [Counted(nn.Linear(3, 3)) for _ in range(5)]
    x = torch.randn(2, 3, requires_grad=True)
    y = checkpoint_sequential(layers, 2, x, use_reentrant=use_reentrant)
    y.sum().backward()
    assert [layer.calls for layer in layers] == [2, 2, 1, 1, 1]  # the last segment is kept
    grad, x.grad = x.grad, None
    model = nn.Sequential(*(layer.function for layer in layers))
    model(x).sum().backward()
    torch.testing.assert_close(grad, x.grad)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: debug"):
        checkpoint_sequential(model, 2, x, use_reentrant=use_reentrant, debug=True)


def test_several_passes_share_a_recomputation_in_a_group():
    def function(x):
        y = x.sin().cos()
        return y, y.sin().cos()

    for group, calls in ((GraphExecGroup(), 2), (contextlib.nullcontext(), 3)):
        block, x = Counted(function), torch.randn(3, requires_grad=True)
        y, z = checkpoint(block, x, use_reentrant=False)
        with group:
            (grad,) = torch.autograd.grad(z, y, torch.ones(3))
            torch.autograd.grad(y, x, grad)
        assert block.calls == calls
    y = checkpoint(two, leaf(1), use_reentrant=False)
    with GraphExecGroup():
        y.backward(retain_graph=True)
        with pytest.raises(CheckpointError, match="Performing two backward calls that overlap"):
            y.backward()
        with pytest.raises(RuntimeError, match="GraphExecGroup contexts cannot be nested"), GraphExecGroup():
            pass


# ---- checkpoints in checkpoints, and backward in checkpoints


def gradient(function):
    def wrapped(x):
        with torch.enable_grad():
            (grad,) = torch.autograd.grad(function(x).sum(), x, create_graph=True)
        return grad

    return wrapped


def checkpointed(function):
    return lambda x: checkpoint(function, x, use_reentrant=False)


def with_backward_inside(x):
    inner = x.sin().exp().sin()
    (grad,) = torch.autograd.grad(inner.sum(), x)
    return x.cos() * grad


g, c = gradient, checkpointed
NESTED = {
    "c": (lambda f: f, c),
    "cc": (lambda f: f, lambda f: c(c(f))),
    "gc": (g, lambda f: g(c(f))),
    "gcc": (g, lambda f: g(c(c(f)))),
    "gcg": (lambda f: g(g(f)), lambda f: g(c(g(f)))),
    "cggc": (lambda f: g(g(f)), lambda f: c(g(g(c(f))))),
    "gcgc": (lambda f: g(g(f)), lambda f: g(c(g(c(f))))),
    "gcgcgc": (lambda f: g(g(g(f))), lambda f: g(c(g(c(g(c(f))))))),
}


@pytest.mark.parametrize("early_stop", [True, False])
@pytest.mark.parametrize("function", [three, with_backward_inside], ids=["three", "backward inside"])
@pytest.mark.parametrize("name", NESTED)
def test_nested(name, function, early_stop):
    plain, nested = NESTED[name]
    x = torch.tensor([0.3, -1.2], requires_grad=True)
    with set_checkpoint_early_stop(early_stop):
        torch.testing.assert_close(nested(function)(x), plain(function)(x))


@pytest.mark.parametrize("early_stop", [True, False])
def test_two_inside_of_one(early_stop):
    def inner(x):
        return c(torch.cos)(c(three)(x))

    x = torch.tensor([0.3, -1.2], requires_grad=True)
    with set_checkpoint_early_stop(early_stop):
        torch.testing.assert_close(g(c(g(c(inner))))(x), g(g(lambda x: three(x).cos()))(x))


def test_graphs_die_with_their_outputs():
    class Note:
        pass

    def notes():
        x, noted = torch.tensor([0.3], requires_grad=True), []
        stack, seen = [g(c(g(c(three))))(x).grad_fn], set()
        while stack:
            node = stack.pop()
            if node is not None and node not in seen:
                seen.add(node)
                node.metadata["note"] = note = Note()
                noted.append(weakref.ref(note))
                stack += [following for following, _ in node.next_functions]
        return noted

    found = notes()
    assert len(found) > 5
    assert all(ref() is None for ref in found)


def test_hooks_of_the_program_are_called_once():
    weight, calls = torch.randn(3, requires_grad=True), []
    weight.register_hook(calls.append)
    checkpoint(lambda x: weight * x, weight * 2, use_reentrant=False).sum().backward()
    assert len(calls) == 1
