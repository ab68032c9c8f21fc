"""One Python object for each tensor, for as long as Python or the graph needs the tensor.

Mirrors: test/test_torch.py (the tests of PyObject preservation: test_tensor_resurrected_weak_clear and its neighbours)
"""

import gc
import os
import subprocess
import sys
import threading
import weakref

import pytest

import reftorch as torch
from tests.autograd import objects

DELETED: list[str] = []


class Tracked(torch.Tensor):
    """A tensor that notes its end. Its ops return plain tensors."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    def __del__(self):
        if "label" in self.__dict__:
            DELETED.append(self.label)


@pytest.fixture(autouse=True)
def _no_names():
    DELETED.clear()


def tracked(label: str) -> Tracked:
    x = torch.ones(2).as_subclass(Tracked).requires_grad_()
    x.label = label
    return x


def test_a_leaf_that_only_the_graph_holds_keeps_its_class_its_hooks_and_its_end():
    seen = []
    x = tracked("x")
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.label))
    y = (x * 2).sum()
    del x
    gc.collect()
    y.backward()
    assert seen == [[2, 2], "x"] and DELETED == []
    del y
    assert DELETED == ["x"]


def test_an_object_comes_and_goes_as_often_as_the_program_likes():
    x = tracked("x")
    x.note = note = ["mine"]
    seen = []
    x.register_hook(lambda grad: seen.append(1))
    ref, identity = weakref.ref(x), id(x)
    y = (x * 3).sum()
    node = y.grad_fn.next_functions[0][0].next_functions[0][0]
    del x
    for _ in range(5):
        gc.collect()
        leaf = node.variable
        assert leaf is ref() and id(leaf) == identity and leaf.note is note and type(leaf) is Tracked
        del leaf
    y.backward(retain_graph=True)
    y.backward()
    assert len(seen) == 2 and DELETED == []
    del node, y
    assert DELETED == ["x"] and ref() is None


class Saver:
    """Puts its tensor back into the program when the collector finds it."""

    saved: list[torch.Tensor] = []

    def __init__(self, tensor):
        self.tensor, self.me = tensor, self

    def __del__(self):
        Saver.saved.append(self.tensor)


@pytest.mark.parametrize("kind", ["plain", "subclass", "with a cycle"])
def test_a_tensor_that_another_object_saves_during_a_collection_is_whole(kind):
    Saver.saved.clear()
    x = torch.ones(2, requires_grad=True) if kind == "plain" else tracked("x")
    x.note, seen = ["mine"], []
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    if kind == "with a cycle":
        x.me = x
    ref = weakref.ref(x)
    Saver(x)
    del x
    gc.collect()
    (x,) = Saver.saved
    Saver.saved.clear()
    assert x.note == ["mine"]
    (x * 2).sum().backward()
    assert seen == [[2, 2]] and x.grad.tolist() == [2, 2]
    assert ref() in (x, None)  # Python clears the weak references of what it finds, before it asks the objects
    again = weakref.ref(x)
    del x
    gc.collect()
    assert again() is None


def test_an_inner_tensor_and_its_graph_survive_a_rescue():
    Saver.saved.clear()
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: y * 0 + grad)  # a cycle through the graph
    y.retain_grad()
    Saver(y)
    del y
    gc.collect()
    y = Saver.saved.pop()
    (y * 3).sum().backward()
    assert x.grad.tolist() == [6, 6] and y.grad.tolist() == [3, 3]


def test_del_brings_a_tensor_back_once():
    kept = []

    class Staying(torch.Tensor):
        def __del__(self):
            if "label" in self.__dict__:
                DELETED.append(self.label)
                kept.append(self)

    x = torch.ones(2).as_subclass(Staying).requires_grad_()
    x.label = "x"
    x.register_hook(lambda grad: grad * 10)
    del x
    assert DELETED == ["x"]
    x = kept.pop()
    x.sum().backward()
    assert x.label == "x" and x.grad.tolist() == [10, 10]
    ref = weakref.ref(x)
    del x
    assert DELETED == ["x"] and kept == [] and ref() is None  # Python calls __del__ once for each object


def test_a_saved_tensor_keeps_slots_and_attributes():
    class Slotted(torch.Tensor):
        __slots__ = ("extra",)
        __torch_function__ = torch._C._disabled_torch_function_impl

    x = torch.ones(2).as_subclass(Slotted).requires_grad_()
    x.extra, x.note = "slot", "dict"
    y = x * x
    ref = weakref.ref(x)
    del x
    gc.collect()
    saved = y.grad_fn._saved_self
    assert saved is ref() and (saved.extra, saved.note) == ("slot", "dict")
    del saved, y
    assert ref() is None


def test_a_gradient_is_one_object_while_its_leaf_lives():
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    x.grad.note = "mine"
    ref = weakref.ref(x.grad)
    gc.collect()
    assert x.grad is ref() and x.grad.note == "mine"
    x.grad = None
    assert ref() is None


def test_a_hook_may_keep_its_gradient():
    kept = []
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(kept.append)
    x.register_hook(kept.append)
    y.sum().backward()
    (first, second), ref = kept, weakref.ref(kept[0])
    assert first.tolist() == [1, 1] and second.tolist() == [2, 2]
    x.grad.add_(1)
    assert second.tolist() == [2, 2]
    del first
    kept.clear()
    assert ref() is None


def test_threads_that_drop_what_the_others_pass():
    """Counts rise and fall on threads without the GIL: the op is so long that it lets go of it."""
    x = tracked("x")
    big = torch.ones(200, 200, requires_grad=True)
    failures = []

    def work():
        try:
            for _ in range(20):
                y = big * 2
                y.note = ["mine"]
                z = y * y
                ref = weakref.ref(y)
                del y
                assert z.grad_fn._saved_self is ref() and ref().note == ["mine"]
                (z.sum() + x.sum()).backward()
                del z
                assert ref() is None
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        gc.collect()
    for thread in threads:
        thread.join()
    assert failures == [] and DELETED == []
    assert x.grad.tolist() == [80, 80]


AT_EXIT = """
import reftorch as torch

class Tracked(torch.Tensor):
    def __del__(self):
        if "label" in self.__dict__:
            print("del", self.label)

class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.x = x
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2

def tracked(label):
    x = torch.ones(2).as_subclass(Tracked).requires_grad_()
    x.label = label
    x.register_hook(lambda grad: print(label))
    return x

held = tracked("held")
graph = (tracked("of the graph") * 2).sum()
function = Twice.apply(tracked("of a function"))
node = Twice.apply(tracked("of a node")).grad_fn
node.me = node
cycle = tracked("cycle")
cycle.me = cycle
print("end")
"""


def test_the_end_of_the_interpreter():
    done = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("end\n")


def test_drawn_programs(real_torch_or_none):
    """``python -m tests.autograd.objects`` runs more of them, and so does ``REFTORCH_PROGRAMS=20000``."""
    count = int(os.environ.get("REFTORCH_PROGRAMS", "200"))
    compared = objects.run_programs(0, count, real_torch_or_none)
    assert real_torch_or_none is None or compared > count // 10
