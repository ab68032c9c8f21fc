"""Two tensors exchange what they are.

Mirrors: test/test_torch.py (``test_swap_basic`` and its neighbours)
"""

import gc
import weakref
from types import ModuleType
from typing import Any

import pytest

import reftorch


@pytest.fixture(params=["reftorch", "torch"])
def lib(request: pytest.FixtureRequest, real_torch: ModuleType, noted: Any) -> Any:
    """Either library. The test says what both do, so there is nothing to note but that it was asked."""
    noted(True)
    return reftorch if request.param == "reftorch" else real_torch


def test_values_classes_and_attributes_are_exchanged(lib: Any) -> None:
    p, t = lib.nn.Parameter(lib.ones(2)), lib.zeros(3, dtype=lib.float64)
    base = lib.arange(4)
    view = base[1:]
    p.name_of_p, t.name_of_t = 1, 2
    lib.utils.swap_tensors(p, t)
    assert type(p) is lib.Tensor and type(t) is lib.nn.Parameter
    assert p.tolist() == [0, 0, 0] and p.dtype == lib.float64 and not p.requires_grad
    assert t.tolist() == [1, 1] and t.requires_grad and t.is_leaf
    assert vars(p) == {"name_of_t": 2} and vars(t) == {"name_of_p": 1}
    lib.utils.swap_tensors(view, p)
    p.zero_()
    assert base.tolist() == [0, 0, 0, 0] and view.tolist() == [0, 0, 0]
    lib.utils.swap_tensors(t, t)
    assert t.tolist() == [1, 1]


def test_gradients_and_hooks_go_with_the_values(lib: Any) -> None:
    seen = []
    a, b = lib.ones(2, requires_grad=True), lib.zeros(3, requires_grad=True)
    a.register_hook(lambda grad: seen.append(grad.tolist()))
    (a * 2).sum().backward()
    lib.utils.swap_tensors(a, b)
    assert a.grad is None and b.grad.tolist() == [2, 2] and seen == [[2, 2]]
    a.sum().backward()
    assert seen == [[2, 2]] and a.grad.tolist() == [1, 1, 1]
    (b * 3).sum().backward()
    assert seen == [[2, 2], [3, 3]] and b.grad.tolist() == [5, 5]


def test_a_graph_from_before_fails(lib: Any) -> None:
    x, y = lib.ones(2, requires_grad=True), lib.zeros(2)
    loss = (x * 2).sum()
    lib.utils.swap_tensors(x, y)
    with pytest.raises(RuntimeError, match="Trying to execute AccumulateGrad node that was poisoned by swap_tensors"):
        loss.backward()
    del loss
    gc.collect()
    (y * 2).sum().backward()
    assert y.grad.tolist() == [2, 2]


def test_objects_die_once_with_what_they_have_now(lib: Any) -> None:
    """C++ holds one of the tensors while they are exchanged, and lets it go later."""
    x, y = lib.ones(2, requires_grad=True), lib.zeros(2)
    loss = (x * 2).sum()
    lib.utils.swap_tensors(x, y)
    dead: list[str] = []
    weakref.finalize(x, dead.append, "x")
    weakref.finalize(y, dead.append, "y")
    del x
    assert dead == ["x"]
    del y
    assert dead == ["x"]  # the node of the leaf holds what was x's
    del loss
    assert dead == ["x", "y"]


class Slots(reftorch.Tensor):
    __slots__ = ("left", "right")


def test_slots_are_exchanged() -> None:
    a, b = (reftorch.ones(n).as_subclass(Slots) for n in (1, 2))
    a.left, b.right = 1, 2  # type: ignore[attr-defined]
    reftorch.utils.swap_tensors(a, b)
    assert (b.left, a.right) == (1, 2) and not hasattr(a, "left") and len(a) == 2  # type: ignore[attr-defined]


def test_what_cannot_be_exchanged(lib: Any) -> None:
    x, y = lib.ones(2, requires_grad=True), lib.zeros(2)
    reference = weakref.ref(y)
    for pair, name in (((x, y), "t2"), ((y, x), "t1")):
        with pytest.raises(RuntimeError, match=f"Cannot swap {name} because it has weakref associated with it"):
            lib.utils.swap_tensors(*pair)
    del reference
    loss = (x * x).sum()
    with pytest.raises(RuntimeError, match="Expected use_count of t1 to be 1 or 2 with an AccumulateGrad node but got"):
        lib.utils.swap_tensors(x, y)
    slots = type("Slots", (lib.Tensor,), {"__slots__": ("slot",)})
    with pytest.raises(RuntimeError, match="Cannot swap t1 and t2 if they have different slots"):
        lib.utils.swap_tensors(y, lib.ones(2).as_subclass(slots))
    loss.backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(TypeError, match="The mod argument should be a string"):
        lib.utils.set_module(slots, 3)
    lib.utils.set_module(slots, "there")
    assert slots.__module__ == "there"
