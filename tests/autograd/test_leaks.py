"""Memory that a long loop needs: as much at its end as at its beginning.

Mirrors: test/test_autograd.py (the leak tests)
"""

import gc
import os
import subprocess
import sys
import weakref

import reftorch as torch


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.save_for_backward(x, weight)
        ctx.me = ctx  # a cycle, for the collector
        return x * weight

    @staticmethod
    def backward(ctx, grad):
        x, weight = ctx.saved_tensors
        return grad * weight, grad * x


def steps(weight: torch.Tensor, x: torch.Tensor, count: int) -> None:
    """So many, a thousand at a time: how long cycles wait for the collector is then no matter of what else there is."""
    for i in range(count):
        if i % 1000 == 0:
            gc.collect()
        hidden = (x * weight).tanh()
        hidden.register_hook(lambda grad, hidden=hidden: None)  # a cycle through a hook
        Scaled.apply(hidden, weight).sum().backward()
        with torch.no_grad():
            weight -= 1e-6 * weight.grad
        weight.grad = None


def growth_of_ten_thousand_steps() -> tuple[int, int]:
    """Bytes and Python objects by which the last 8000 steps grew this process."""
    weight, x = torch.ones(256, requires_grad=True), torch.linspace(0, 1, 256)
    steps(weight, x, 2000)
    gc.collect()
    before, objects = resident(), len(gc.get_objects())
    steps(weight, x, 8000)
    gc.collect()
    return resident() - before, len(gc.get_objects()) - objects


def test_ten_thousand_steps_hold_memory_flat():
    """In a process of their own: what other tests left behind is freed at any time, or grows. The address sanitizer
    keeps freed memory back, to catch late uses of it; here it may keep 1 MB.
    """
    options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
    done = subprocess.run(
        [sys.executable, __file__],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "ASAN_OPTIONS": options},
    )
    grown, objects = map(int, done.stdout.split())
    assert grown < 4 << 20  # what 8000 steps made is 80 MB
    assert objects < 200


def test_cycles_through_hooks_and_ctx_are_collected():
    class Marked:
        pass

    def once() -> list[weakref.ref]:
        x = torch.ones(2, requires_grad=True)
        y = Scaled.apply(x * 2, x)
        marked = Marked()
        y.register_hook(lambda grad, y=y, marked=marked: None)
        y.grad_fn.register_prehook(lambda grads, y=y, marked=marked: None)
        y.grad_fn.metadata["y"] = y
        return [weakref.ref(marked), weakref.ref(y.grad_fn)]

    found = once()
    gc.collect()
    assert [ref() for ref in found] == [None, None]


def test_a_tensor_that_only_the_graph_holds_keeps_its_identity():
    x = torch.ones(2, requires_grad=True)
    inner = x * 2
    inner.note = "mine"
    identity = id(inner)
    outer = inner * inner
    del inner
    gc.collect()
    again = outer.grad_fn._saved_self
    assert id(again) == identity
    assert again.note == "mine"
    assert outer.grad_fn._saved_other is again


if __name__ == "__main__":
    print(*growth_of_ten_thousand_steps())
