"""Cycles through the graph are collected, and what is in use is not.

Mirrors: test/test_autograd.py (the hook closure cycle tests)
"""

import gc
import threading
import time
import weakref

import pytest

import reftorch as torch


class Identity(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad


def leaf():
    return torch.ones(2, requires_grad=True)


def hook_on_an_inner_tensor():
    y = leaf() * 2
    y.register_hook(lambda grad: y)
    return y


def hook_that_holds_two_tensors():
    x = leaf()
    y = x * 2
    y.register_hook(lambda grad: (x, y))
    return y


def hook_on_a_leaf():
    x = leaf()
    y = x * 2
    x.register_hook(lambda grad: y)
    return y


def hook_on_what_a_later_op_saved():
    x, w = leaf(), leaf()
    y = x * 2
    y.register_hook(lambda grad: z)
    z = (y * w + y).sum()
    return z


def hook_after_accumulation():
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda p: x)
    return x


def node_hook():
    y = leaf() * 2
    y.grad_fn.register_hook(lambda inputs, outputs: y)
    return y


def node_prehook_further_down():
    x = leaf()
    y = (x * 2).exp()
    y.grad_fn.next_functions[0][0].register_prehook(lambda grads: y)
    return y


def node_metadata():
    y = leaf() * 2
    y.grad_fn.metadata["tensor"] = y
    return y


def context_attribute():
    y = Identity.apply(leaf())
    y.grad_fn.output = y
    return y


def context_attribute_further_down():
    y = Identity.apply(leaf() * 3)
    z = (y * 3).sum()
    y.grad_fn.output = z
    return z


def packed_tensor():
    y = leaf() * 2
    with torch.autograd.graph.saved_tensors_hooks(lambda t: [t], lambda held: held[0]):
        z = y.exp()  # keeps its own output
    return z


def change_through_a_view():
    y = leaf() * 1
    view = y[:1]
    view.mul_(2)
    y.register_hook(lambda grad: view)
    return y


def hook_at_the_end_of_a_long_chain():
    y = first = leaf() * 2
    for _ in range(20_000):
        y = y + 1
    first.register_hook(lambda grad: y)
    return y


CYCLES = [
    hook_on_an_inner_tensor, hook_that_holds_two_tensors, hook_on_a_leaf, hook_on_what_a_later_op_saved,
    hook_after_accumulation, node_hook, node_prehook_further_down, node_metadata, context_attribute,
    context_attribute_further_down, packed_tensor, change_through_a_view, hook_at_the_end_of_a_long_chain,
]  # fmt: skip


@pytest.mark.parametrize("cycle", CYCLES, ids=lambda cycle: cycle.__name__)
def test_a_cycle_is_collected(cycle):
    gc.collect()
    before = torch._C._cpu_memory_stats()["allocated_bytes"]
    ref = weakref.ref(cycle())
    gc.collect()
    gc.collect()
    assert ref() is None
    assert torch._C._cpu_memory_stats()["allocated_bytes"] == before


def test_the_test_can_fail():
    keep = hook_on_an_inner_tensor()
    ref = weakref.ref(keep)
    gc.collect()
    assert ref() is keep


@pytest.mark.parametrize("cycle", CYCLES, ids=lambda cycle: cycle.__name__)
def test_a_graph_in_use_survives(cycle):
    """The collector runs while only the graph holds what the cycle is made of."""
    user = cycle() * 1
    gc.collect()
    gc.collect()
    node = user.grad_fn.next_functions[0][0]
    assert node is not None and isinstance(node.metadata, dict)


def test_a_tensor_that_only_the_graph_holds_keeps_what_it_is():
    x, w = leaf(), leaf()
    y = x * 2
    y.note = ["kept"]
    y.cycle = y.note
    z = y * w
    ref = weakref.ref(y)
    del y
    gc.collect()
    gc.collect()
    assert ref() is not None and z.grad_fn._saved_self is ref()
    assert z.grad_fn._saved_self.note == ["kept"]


def test_hooks_work_after_a_collection():
    seen = []

    def hooked():
        y = leaf() * 2
        y.register_hook(lambda grad: seen.append((grad.tolist(), y.shape)))
        return y.sum()

    z = hooked()
    gc.collect()
    gc.collect()
    z.backward()
    assert seen == [([1, 1], (2,))]


def test_collecting_while_other_threads_run_passes():
    failures = []
    x = leaf()

    def work():
        try:
            for _ in range(200):
                y = x * 2
                y.register_hook(lambda grad: grad * y.detach() * 0 + 1)  # noqa: B023
                (y * y).sum().backward()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        gc.collect()
        time.sleep(0.001)  # a full collection of a large heap is long, and each thread needs the GIL a thousand times
    for thread in threads:
        thread.join()
    assert failures == []
    assert (x.grad % 2).sum().item() == 0


def train(steps):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    data, target = torch.randn(4, 8), torch.randn(4, 1)
    sizes = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = ((model(data) - target) ** 2).mean()
        loss.register_hook(lambda grad, step=step: grad)
        loss.backward()
        optimizer.step()
        if step in (steps // 3, steps - 1):
            gc.collect()
            sizes.append((torch._C._cpu_memory_stats()["allocated_bytes"], len(gc.get_objects())))
    return sizes


def test_a_training_loop_holds_memory_flat():
    (bytes_early, objects_early), (bytes_late, objects_late) = train(600)
    assert bytes_late == bytes_early
    assert abs(objects_late - objects_early) < 20


def test_only_a_full_collection_walks_the_graph():
    """A young one comes every few hundred objects: it must not walk a long graph each time."""
    y = hook_on_an_inner_tensor()
    gone = weakref.ref(y)
    del y
    gc.collect(1)
    assert gone() is not None
    gc.collect()
    assert gone() is None
