"""Backward passes from several threads at once, for the thread sanitizer: ``make tsan``.

Each scenario runs its work on four threads that begin together and asserts the sums that must come out. Run alone it
says what it did; tests/autograd/test_threads.py runs it on the ordinary build.

Mirrors: test/test_autograd.py (TestMultithreadAutograd)
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable

import reftorch as torch

THREADS = 4


def on_threads(work: Callable[[int], None]) -> None:
    """Call ``work(i)`` on each thread; raise what the first of them raised."""
    errors: list[BaseException] = []
    together = threading.Barrier(THREADS)

    def run(i: int) -> None:
        try:
            together.wait()
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def shared_leaves(rounds: int) -> None:
    x, y = torch.ones(64, requires_grad=True), torch.ones(64, requires_grad=True)

    def work(i: int) -> None:
        for _ in range(rounds):
            ((x * y).sum() + (x * x).sum()).backward()

    on_threads(work)
    assert torch.equal(x.grad, torch.full((64,), 3.0 * rounds * THREADS))
    assert torch.equal(y.grad, torch.full((64,), 1.0 * rounds * THREADS))


def shared_graph(rounds: int) -> None:
    x = torch.ones(8, requires_grad=True)
    shared = (x.exp() * x.view(2, 4).tanh().view(8)).sin()

    def work(i: int) -> None:
        for _ in range(rounds):
            (shared * (i + 1)).sum().backward(retain_graph=True)

    on_threads(work)
    (expected,) = torch.autograd.grad(shared.sum(), x)
    assert torch.allclose(x.grad, expected * rounds * sum(range(1, THREADS + 1)))


def a_graph_that_is_freed(rounds: int) -> None:
    """Of four passes over one graph, at least one is right; the others may find it freed, and must say so."""
    for _ in range(rounds):
        x = torch.ones(4, requires_grad=True)
        loss = (x.exp() * x).sum()
        outcomes: list[str] = []

        def work(i: int, loss: torch.Tensor = loss, outcomes: list[str] = outcomes) -> None:
            try:
                loss.backward()
                outcomes.append("done")
            except RuntimeError as error:
                outcomes.append("freed" if "a second time" in str(error) else repr(error))

        on_threads(work)
        assert "done" in outcomes
        assert set(outcomes) <= {"done", "freed"}, outcomes


class Nested(torch.autograd.Function):
    """Runs a pass of its own inside of backward."""

    @staticmethod
    def forward(ctx, x, shared):
        ctx.save_for_backward(x, shared)
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        x, shared = ctx.saved_tensors
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            (inner * inner * shared).sum().backward()  # into the shared leaf, too
        return grad * inner.grad, None


def passes_inside_passes(rounds: int) -> None:
    shared, x = torch.ones(4, requires_grad=True), torch.full((4,), 3.0, requires_grad=True)

    def work(i: int) -> None:
        for _ in range(rounds):
            Nested.apply(x, shared).sum().backward()

    on_threads(work)
    assert torch.equal(x.grad, torch.full((4,), 6.0 * rounds * THREADS))
    assert torch.equal(shared.grad, torch.full((4,), 9.0 * rounds * THREADS))


def deep_passes(rounds: int) -> None:
    """Deeper than one stack may hold: the passes go on on threads of the engine's own."""

    class Deeper(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth > 0:
                with torch.enable_grad():
                    inner = torch.ones(1, requires_grad=True)
                    Deeper.apply(inner, ctx.depth - 1).sum().backward()
            return grad, None

    x = torch.ones(1, requires_grad=True)
    on_threads(lambda i: Deeper.apply(x, 70).sum().backward())
    assert x.grad.item() == THREADS


def hooks_of_all_kinds(rounds: int) -> None:
    x = torch.ones(4, requires_grad=True)
    lock = threading.Lock()
    counts = dict.fromkeys(("tensor", "pre", "post", "accumulated", "all"), 0)

    def count(name: str) -> None:
        with lock:
            counts[name] += 1

    x.register_hook(lambda grad: (count("tensor"), grad * 1)[1])
    x.register_post_accumulate_grad_hook(lambda leaf: count("accumulated"))

    def work(i: int) -> None:
        for _ in range(rounds):
            handle = x.register_hook(lambda grad: None)
            y = x * 2
            y.grad_fn.register_prehook(lambda grads: count("pre"))
            y.grad_fn.register_hook(lambda inputs, outputs: count("post"))
            both = torch.autograd.graph.register_multi_grad_hook((x, y), lambda grads: count("all"))
            y.sum().backward()
            handle.remove()
            both.remove()

    on_threads(work)
    assert torch.equal(x.grad, torch.full((4,), 2.0 * rounds * THREADS))
    assert counts["pre"] == counts["post"] == counts["accumulated"] == rounds * THREADS, counts
    assert counts["tensor"] >= rounds * THREADS
    assert counts["all"] >= rounds * THREADS


def saved_tensors_and_modes(rounds: int) -> None:
    x = torch.ones(4, requires_grad=True)

    def work(i: int) -> None:
        for step in range(rounds):
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
                loss = (x * x).sum()
            with torch.no_grad():
                assert not (x * 2).requires_grad
            with torch.autograd.set_detect_anomaly(step % 2 == 0):
                (grad,) = torch.autograd.grad(loss, x)
            assert torch.equal(grad, torch.full((4,), 2.0))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anomaly mode says that it is on
        on_threads(work)
    # The mode is the process's: a thread that left it between another's beginning and end was put back by that one.
    torch.autograd.set_detect_anomaly(False)


def views_changed_in_place(rounds: int) -> None:
    x = torch.ones(4, requires_grad=True)
    base = x * 1
    base[1:].mul_(3)
    views = [base[i:] for i in range(4)]
    base.add_(1)  # now each thread makes the grad_fn of each view anew

    def work(i: int) -> None:
        for view in views:
            assert view.grad_fn is not None
        torch.autograd.backward([view.sum() for view in views], retain_graph=True)

    on_threads(work)
    assert x.grad.tolist() == [1 * THREADS, 6 * THREADS, 9 * THREADS, 12 * THREADS]


def transforms_and_tangents(rounds: int) -> None:
    x = torch.ones(3)

    def work(i: int) -> None:
        for _ in range(rounds):
            rows = torch.func.vmap(torch.func.grad(lambda row: (row * row).sum()))(x.expand(2, 3))
            assert torch.equal(rows, torch.full((2, 3), 2.0))

    on_threads(work)


SCENARIOS: dict[str, Callable[[int], None]] = {
    f.__name__: f
    for f in (
        shared_leaves,
        shared_graph,
        a_graph_that_is_freed,
        passes_inside_passes,
        deep_passes,
        hooks_of_all_kinds,
        saved_tensors_and_modes,
        views_changed_in_place,
        transforms_and_tangents,
    )
}


def main(names: list[str]) -> None:
    for name in names or SCENARIOS:
        SCENARIOS[name](rounds=200)
        print(f"{name.replace('_', ' ')}: {THREADS} threads, right", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
