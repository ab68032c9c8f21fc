"""The engine: order, depth, threads, passes inside passes.

Mirrors: test/test_autograd.py, test/cpp/api/autograd.cpp
"""

import threading

import pytest

import reftorch as torch
from reftorch import _C


def test_a_chain_of_200_000_ops():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y + 1
    y.backward()
    assert x.grad.tolist() == [1]
    del y  # freed without recursion, or the process is gone


def test_a_chain_that_was_never_run_is_freed():
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y * y
    del y
    assert x.grad is None


def test_later_nodes_run_first():
    order = []
    x = torch.ones(1, requires_grad=True)
    first, second = x * 2, x * 3
    first.register_hook(lambda grad: order.append("first"))
    second.register_hook(lambda grad: order.append("second"))
    (first + second).backward()
    assert order == ["second", "first"]


def test_backward_inside_backward():
    class Inner(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                again = x.detach().requires_grad_()
                (again * again).sum().backward()
            return grad * again.grad

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Inner.apply(Inner.apply(x))
    y.sum().backward()
    assert x.grad.tolist() == [4, 32]
    assert torch.is_grad_enabled()


def test_backward_inside_a_hook_on_the_same_leaf():
    x, depth = torch.ones(1, requires_grad=True), []

    def hook(leaf):
        if len(depth) < 3:
            depth.append(leaf.grad.item())
            with torch.enable_grad():
                (x * 1).backward()

    x.register_post_accumulate_grad_hook(hook)
    (x * 1).backward()
    assert depth == [1, 2, 3] and x.grad.tolist() == [4]


def test_deep_reentrant():
    class Deep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth > 0:
                with torch.enable_grad():
                    x = torch.ones(1, requires_grad=True)
                    Deep.apply(x, ctx.depth - 1).backward()
                    grad = grad + x.grad
            return grad, None

    x = torch.ones(1, requires_grad=True)
    Deep.apply(x, 60).backward()
    assert x.grad.tolist() == [61]


def test_threads_on_a_shared_leaf():
    w = torch.ones(4, requires_grad=True)
    failures = []

    def work():
        try:
            for _ in range(200):
                (w * 2 + w).sum().backward()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert w.grad.tolist() == [4 * 200 * 3] * 4


def test_threads_on_a_shared_graph():
    w = torch.ones(4, requires_grad=True)
    shared = (w * w).exp()
    failures = []

    def work():
        try:
            for _ in range(50):
                (shared * 2).sum().backward(retain_graph=True)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert w.grad.tolist() == pytest.approx([200 * 4 * 2.718281828] * 4, rel=1e-4)


def test_grad_mode_is_per_thread():
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append(torch.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_grad_mode_in_a_pass():
    seen = []

    class Look(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(torch.is_grad_enabled())
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            seen.append(torch.is_grad_enabled())
            return grad

    x = torch.ones(1, requires_grad=True)
    Look.apply(x).backward()
    torch.autograd.grad(Look.apply(x), x, create_graph=True)
    assert seen == [False, False, False, True]


def test_final_callbacks():
    order = []

    class Queue(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            _C._queue_callback(lambda: order.append("callback"))
            order.append("backward")
            return grad

    x = torch.ones(1, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda p: order.append("leaf"))
    Queue.apply(x).backward()
    assert order == ["backward", "leaf", "callback"]
    with pytest.raises(RuntimeError, match="Final callbacks can only be installed during backward pass"):
        _C._queue_callback(lambda: None)


def test_wrong_gradient_shape_is_named():
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return torch.ones(7)

    x = torch.ones(2, requires_grad=True)
    text = r"^Function WrongBackward returned an invalid gradient at index 0 - got \[7\] but expected"
    with pytest.raises(RuntimeError, match=text):
        Wrong.apply(x).sum().backward()


def test_passes_nested_deeper_than_a_stack_is():
    """Past kMaxReentrantDepth a pass moves to a thread of its own; what the first thread has set goes along."""
    seen = []

    class Deep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth == 0:
                seen.append((threading.current_thread() is threading.main_thread(), torch.is_grad_enabled()))
                return grad, None
            with torch.enable_grad():
                x = torch.ones(1, requires_grad=True)
                Deep.apply(x, ctx.depth - 1).backward()
            return grad + x.grad, None

    x = torch.ones(1, requires_grad=True)
    Deep.apply(x, 600).backward()
    assert x.grad.tolist() == [601] and seen == [(False, False)]


def test_an_error_deep_inside_comes_out():
    class Deep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, depth):
            ctx.depth = depth
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            if ctx.depth == 0:
                raise KeyError("deep inside")
            with torch.enable_grad():
                Deep.apply(torch.ones(1, requires_grad=True), ctx.depth - 1).backward()
            return grad, None

    with pytest.raises(KeyError, match="deep inside") as caught:
        Deep.apply(torch.ones(1, requires_grad=True), 150).backward()
    assert caught.traceback[-1].name == "backward"
    x = torch.ones(1, requires_grad=True)
    (x * 2).backward()
    assert x.grad.tolist() == [2]


def test_threads_with_hooks_packing_and_anomaly_mode():
    """Everything that takes the GIL inside of a pass, at once, on shared leaves and a shared graph."""
    w = torch.ones(20_000, requires_grad=True)  # large: ops give the GIL up
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        shared = (w * w).exp()
    shared.register_hook(lambda grad: grad * 1)
    failures = []

    def work():
        try:
            for _ in range(10):
                with torch.autograd.graph.save_on_cpu():
                    loss = (shared * w).sum()
                loss.backward(retain_graph=True)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    with torch.autograd.set_detect_anomaly(True):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    e = 2.718281828
    assert w.grad[0].item() == pytest.approx(40 * (e + 2 * e), rel=1e-4)
