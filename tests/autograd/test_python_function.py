"""The node of a custom Function and its Python object keep each other alive, and no longer than that.

Mirrors: test/test_autograd.py (the tests of PyNode's and THPFunction's lifetime)
"""

import gc
import threading
import weakref

import pytest

import reftorch as torch


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        assert x.requires_grad
        return grad * 2


def leaf():
    return torch.ones(2, requires_grad=True)


def test_one_object_for_as_long_as_the_graph_lives():
    y = Twice.apply(leaf())
    y.grad_fn.note = ["mine"]
    y.grad_fn.metadata["key"] = y.grad_fn.note
    ref, identity = weakref.ref(y.grad_fn), id(y.grad_fn)
    z = y * 1
    del y
    gc.collect()
    for _ in range(3):  # each time the program takes it, and lets it go
        node = z.grad_fn.next_functions[0][0]
        assert node is ref() and id(node) == identity
        assert node.note == ["mine"] and node.metadata == {"key": ["mine"]}
        del node
        gc.collect()
    del z
    assert ref() is None


def test_the_context_of_backward_is_the_node():
    seen = []

    class Noting(Twice):
        @staticmethod
        def backward(ctx, grad):
            seen.append((ctx, ctx.note))
            return grad

    y = Noting.apply(leaf())
    y.grad_fn.note = "set after forward"
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert seen == [(y.grad_fn, "set after forward")] * 2


def test_a_node_alone_leads_on():
    x = leaf()
    middle = Twice.apply(x)
    node = Twice.apply(middle).grad_fn
    calls = []
    middle.grad_fn.register_hook(lambda inputs, outputs: calls.append(len(inputs)))
    del middle
    gc.collect()
    inner, _ = node.next_functions[0]
    accumulate, _ = inner.next_functions[0]
    assert accumulate.variable is x
    del inner
    gc.collect()
    edge = torch.autograd.graph.GradientEdge(node, 0)
    assert torch.autograd.grad(edge, x, torch.ones(2))[0].tolist() == [4, 4]
    assert calls == [1]


def test_a_node_that_the_program_alone_holds_goes_with_it():
    y = Twice.apply(leaf() * 3)
    node, saved = y.grad_fn, weakref.ref(y.grad_fn.saved_tensors[0])
    ref = weakref.ref(node)
    del y
    assert saved() is not None
    del node
    assert ref() is None and saved() is None


def test_a_node_from_a_weak_reference_is_as_good_as_any():
    y = Twice.apply(leaf())
    ref = weakref.ref(y.grad_fn)
    node = ref()
    del y
    assert node.next_functions[0][0].name() == "torch::autograd::AccumulateGrad"
    assert node.saved_tensors[0].tolist() == [1, 1]
    del node
    assert ref() is None


@pytest.mark.parametrize("error", [False, True])
def test_a_call_that_is_not_recorded_leaves_nothing(error):
    refs = []

    class Unrecorded(Twice):
        @staticmethod
        def forward(ctx, x):
            refs.append(weakref.ref(ctx))
            if error:
                raise ValueError("no")
            return x * 2

    try:
        Unrecorded.apply(torch.ones(2))
    except ValueError:
        assert error
    assert refs[0]() is None


def of_itself():
    node = Twice.apply(leaf()).grad_fn
    node.me = node
    return node


def of_its_output():
    y = Twice.apply(leaf())
    node = y.grad_fn
    node.output, node.me = y, node
    return node


def of_a_later_output():
    y = Twice.apply(leaf())
    node = y.grad_fn
    node.later, node.me = (y * 3).sum(), node
    return node


def of_its_hook():
    node = Twice.apply(leaf()).grad_fn
    node.register_hook(lambda inputs, outputs: node)
    return node


def of_a_hook_further_down():
    x = leaf()
    inner = x * 1
    node = Twice.apply(inner).grad_fn
    inner.grad_fn.register_prehook(lambda grads: node)
    return node


def of_two_contexts():
    first = Twice.apply(leaf())
    second = Twice.apply(first)
    first.grad_fn.other, second.grad_fn.other = second.grad_fn, first.grad_fn
    return second.grad_fn


def of_a_hook_that_also_holds_its_output():
    y = Twice.apply(leaf())
    node = y.grad_fn
    y.register_hook(lambda grad: (y, node))
    node.register_prehook(lambda grads: (y, node))
    return node


def of_itself_and_of_a_hook():
    y = Twice.apply(leaf())
    node = y.grad_fn
    node.me = node
    y.register_hook(lambda grad: y)
    return node


CYCLES = [of_itself, of_its_output, of_a_later_output, of_its_hook, of_a_hook_further_down, of_two_contexts,
          of_a_hook_that_also_holds_its_output, of_itself_and_of_a_hook]  # fmt: skip


@pytest.mark.parametrize("cycle", CYCLES, ids=lambda cycle: cycle.__name__)
def test_a_cycle_is_collected(cycle):
    gc.collect()
    before = torch._C._cpu_memory_stats()["allocated_bytes"]
    ref = weakref.ref(cycle())
    assert ref() is not None
    gc.collect()
    assert ref() is None
    assert torch._C._cpu_memory_stats()["allocated_bytes"] == before


@pytest.mark.parametrize("cycle", CYCLES, ids=lambda cycle: cycle.__name__)
def test_a_cycle_that_the_graph_holds_survives(cycle):
    node = cycle()
    ref = weakref.ref(node)
    probe = torch.ones(2, requires_grad=True) * 1
    probe.grad_fn.metadata["node"] = node
    del node
    gc.collect()
    gc.collect()
    assert ref() is probe.grad_fn.metadata["node"]
    assert ref().saved_tensors[0].tolist() in ([1, 1], [2, 2])
    assert len(ref().next_functions) == 1


class Ending:
    ended = 0

    def __del__(self):
        Ending.ended += 1


@pytest.mark.parametrize("generation", [0, 1, 2])
def test_what_the_graph_holds_is_not_taken_for_garbage(generation):
    """A context that refers to itself has no other reference that Python's collector can see."""
    ended = Ending.ended
    y = Twice.apply(leaf())
    node = y.grad_fn
    node.me, node.ending = node, Ending()
    ref = weakref.ref(node)
    del node
    gc.collect(generation)
    assert Ending.ended == ended and ref() is y.grad_fn
    del y
    gc.collect()
    gc.collect()
    assert Ending.ended == ended + 1 and ref() is None


def test_what_the_program_holds_survives_its_tensor():
    y = Twice.apply(leaf())
    y.me, node, ref = y, y.grad_fn, weakref.ref(y)
    node.note, node.metadata["key"] = "mine", ["value"]
    del y
    gc.collect()
    assert ref() is None
    assert node.note == "mine" and node.metadata == {"key": ["value"]}
    assert node.saved_tensors[0].tolist() == [1, 1]


def test_many_calls_hold_memory_flat():
    def rounds(count):
        for _ in range(count):
            y = Twice.apply(leaf())
            node = y.grad_fn
            y.sum().backward()
            del y
            node.note = node.next_functions
        del node
        gc.collect()
        return torch._C._cpu_memory_stats()["allocated_bytes"], len(gc.get_objects())

    (bytes_before, objects_before), (bytes_after, objects_after) = rounds(50), rounds(1000)
    assert bytes_after == bytes_before
    assert abs(objects_after - objects_before) < 20


class Chained(torch.autograd.Function):
    """Each context also holds its input, and by that the one before it."""

    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        ctx.save_for_backward(x)
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad


@pytest.mark.parametrize(("last", "length"), [("tensor", 200_000), ("context", 60_000), ("backward", 60_000)])
def test_a_long_chain_is_freed_without_recursion(last, length):
    x = leaf()
    y = x * 1
    first = weakref.ref(y)
    for _ in range(length):
        y = Chained.apply(y)
    if last == "backward":
        y.sum().backward()
        assert x.grad.tolist() == [1, 1]
    if last == "context":
        y = y.grad_fn
    assert first() is not None
    del y
    assert first() is None


def test_contexts_that_hold_each_other_are_freed_without_recursion():
    y, node = leaf(), None
    for _ in range(50_000):
        y = Twice.apply(y)
        y.grad_fn.before = node
        node = y.grad_fn
    ref = weakref.ref(node)
    del y
    assert ref() is node
    del node
    assert ref() is None


def test_threads_that_take_and_drop_the_node_of_a_running_pass():
    x = leaf()
    y = Twice.apply(x)
    y.grad_fn.note = "mine"
    z = (y * 1).sum()
    failures = []

    def work():
        try:
            for _ in range(200):
                node = z.grad_fn.next_functions[0][0].next_functions[0][0]
                assert node.note == "mine"
                del node
                z.backward(retain_graph=True)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert x.grad.tolist() == [1600, 1600]


def test_messages_call_a_node_by_its_name():
    node = (leaf() * 2).grad_fn
    with pytest.raises(AttributeError, match=r"^'MulBackward0' object has no attribute 'missing'"):
        _ = node.missing
    assert type(node).__module__.endswith("_C._functions")
