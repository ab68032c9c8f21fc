"""Backward passes from several threads at once, for the thread sanitizer: ``make tsan``.

Each scenario runs its work on four threads that begin together and asserts the sums that must come out.
tests/autograd/test_threads.py runs the scenarios on the ordinary build.

Mirrors: test/test_autograd.py (TestMultithreadAutograd)
"""

from __future__ import annotations

import sys
import threading
import warnings

import pytest

import reftorch as torch
from tests.scenarios import THREADS, by_name, main, on_threads


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


def first_views_of_one_tensor(rounds: int) -> None:
    """The first views are taken at once; all must share one version, or a change in place goes unseen."""
    for _ in range(rounds):
        base = torch.ones(20_000)  # large: view ops give the GIL up
        views: list[torch.Tensor] = []

        def work(i: int, base: torch.Tensor = base, views: list[torch.Tensor] = views) -> None:
            views.append(base.view(100, 200))

        on_threads(work)
        base.add_(1)
        assert [view._version for view in views] == [1] * THREADS


def views_and_changes_in_place(rounds: int) -> None:
    base = torch.zeros(THREADS, 20_000)

    def work(i: int) -> None:
        for _ in range(rounds):
            base[i].add_(1)
            _ = base.t().transpose(0, 1)[i].sum()

    on_threads(work)
    assert torch.equal(base, torch.full((THREADS, 20_000), float(rounds)))
    assert base._version == rounds * THREADS


def a_change_that_a_saved_tensor_notices(rounds: int) -> None:
    for _ in range(rounds):
        w = torch.ones(20_000, requires_grad=True)
        data = torch.ones(20_000)
        losses: list[torch.Tensor] = []

        def work(i: int, w: torch.Tensor = w, data: torch.Tensor = data, losses: list[torch.Tensor] = losses) -> None:
            losses.append((w * data.view(20_000)).sum())

        on_threads(work)
        data.mul_(2)
        for loss in losses:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                loss.backward()


def hooks_come_and_go_while_passes_run(rounds: int) -> None:
    """Half of the threads run passes over one graph; the others register hooks on its tensors and remove them."""
    x = torch.ones(20_000, requires_grad=True)
    y = x * 2
    loss = y.sum()

    def work(i: int) -> None:
        for _ in range(rounds):
            if i % 2 == 0:
                loss.backward(retain_graph=True)
                continue
            handles = [
                x.register_hook(lambda grad: grad * 1),
                y.register_hook(lambda grad: None),
                x.register_post_accumulate_grad_hook(lambda leaf: None),
                y.grad_fn.register_prehook(lambda grads: None),
                y.grad_fn.register_hook(lambda inputs, outputs: None),
            ]
            for handle in handles:
                handle.remove()

    on_threads(work)
    assert torch.equal(x.grad, torch.full((20_000,), 2.0 * rounds * THREADS / 2))


def gradients_read_while_passes_run(rounds: int) -> None:
    """One thread replaces ``.grad`` under others that read it."""
    x = torch.ones(20_000, requires_grad=True)

    def work(i: int) -> None:
        for _ in range(rounds):
            if i == 0:
                x.grad = None
            elif i == 1:
                (x * 2).sum().backward(create_graph=True)
            else:
                grad = x.grad
                assert grad is None or grad[0].item() % 2 == 0

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # create_graph with backward() warns of a cycle
        on_threads(work)
    x.grad = None


def tangents_of_views(rounds: int) -> None:
    """The tangent of a view is made when it is first read; here several threads read it at once."""
    with torch.autograd.forward_ad.dual_level():
        for _ in range(rounds):
            dual = torch.autograd.forward_ad.make_dual(torch.ones(20_000), torch.full((20_000,), 3.0))
            view = dual.view(100, 200)

            def work(i: int, view: torch.Tensor = view) -> None:
                tangent = torch.autograd.forward_ad.unpack_dual(view * 2).tangent
                assert tangent is not None
                assert tangent[0, 0].item() == 6

            on_threads(work)


SCENARIOS = by_name(
    (
        shared_leaves,
        shared_graph,
        a_graph_that_is_freed,
        passes_inside_passes,
        deep_passes,
        hooks_of_all_kinds,
        saved_tensors_and_modes,
        views_changed_in_place,
        transforms_and_tangents,
        first_views_of_one_tensor,
        views_and_changes_in_place,
        a_change_that_a_saved_tensor_notices,
        hooks_come_and_go_while_passes_run,
        gradients_read_while_passes_run,
        tangents_of_views,
    )
)


if __name__ == "__main__":
    main(SCENARIOS, sys.argv[1:])
