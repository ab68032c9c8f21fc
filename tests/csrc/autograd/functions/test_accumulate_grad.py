"""The node behind a leaf: which gradients it takes, and Python code under its lock.

Mirrors: test/test_autograd.py (the tests on gradient accumulation)
"""

import threading
import warnings
from typing import Any

import pytest

import reftorch
from reftorch.utils._python_dispatch import TorchDispatchMode


def _grads_of_hooks(t: Any) -> Any:
    """Gradients that Python code has made, or that Python code still holds."""

    class Sub(t.Tensor):
        pass

    def marked(grad: Any) -> Any:
        result = grad * 3
        result.mark = "mine"
        return result

    held = []

    def kept(grad: Any) -> Any:
        held.append(grad * 4)
        return held[-1]

    results = []
    for hook in (lambda grad: grad * 2, marked, lambda grad: (grad * 2).as_subclass(Sub), kept):
        x = t.ones(2, requires_grad=True)
        x.register_hook(hook)
        (x * 5).sum().backward()
        first = x.grad
        (x * 5).sum().backward()
        results.append((type(x.grad).__name__, hasattr(x.grad, "mark"), x.grad is first, x.grad.tolist()))
    return results, [grad.tolist() for grad in held]


def test_gradients_of_hooks(real_torch: Any) -> None:
    assert _grads_of_hooks(reftorch) == _grads_of_hooks(real_torch)


def test_the_gradient_of_a_hook_is_taken_without_a_copy(real_torch_or_none: Any) -> None:
    for t in filter(None, (reftorch, real_torch_or_none)):
        pointers = []

        def hook(grad: Any, pointers: list[int] = pointers) -> Any:
            result = grad * 2
            pointers.append(result.data_ptr())
            return result

        x = t.ones(2, requires_grad=True)
        x.register_hook(hook)
        (x * 5).sum().backward()
        assert x.grad.data_ptr() == pointers[0]


@pytest.mark.parametrize("first_grad", [None, 1.0])
def test_a_pass_inside_of_an_addition_to_the_same_leaf_ends(first_grad: float | None) -> None:
    """Note [Python under the lock of a leaf]: Python that answers the addition starts a pass to the same leaf."""
    x = reftorch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = None if first_grad is None else reftorch.full((2,), first_grad)
    inner_loss, inner = (x * 10).sum(), []

    class Nested(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func in (reftorch.ops.aten.detach.default, reftorch.ops.aten.add_.Tensor) and not inner:
                inner.append(func)
                inner_loss.backward()
            return func(*args, **(kwargs or {}))

    def work() -> None:
        with Nested():
            (x * 2).sum().backward()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
    assert len(inner) == 1
    assert x.grad is not None and x.grad.tolist() == [12.0 + (first_grad or 0.0)] * 2


def test_a_pass_that_replaces_the_gradient_during_an_addition() -> None:
    """With a graph, .grad is replaced; what a pass inside of the addition has put there counts."""
    x = reftorch.tensor([1.0, 2.0], requires_grad=True)
    x.grad = reftorch.ones(2)
    inner_loss, inner = (x * 10).sum(), []

    class Nested(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is reftorch.ops.aten.add.Tensor and not inner:
                inner.append(func)
                inner_loss.backward(create_graph=True)
            return func(*args, **(kwargs or {}))

    with Nested(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # backward(create_graph=True) makes a cycle
        (x * 2).sum().backward(create_graph=True)
    assert len(inner) == 1 and x.grad.tolist() == [13.0, 13.0]
    x.grad = None
