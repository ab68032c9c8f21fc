"""Hooks on the gradients of modules: the same programs here and in torch.

Mirrors: test/nn/test_module_hooks.py
Leaves out: the deprecated backward hooks.
"""

import copy
import gc
import pickle
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.nn.modules.module import backward_hooks


def network(lib: ModuleType) -> Any:
    net = lib.nn.Sequential(lib.nn.Linear(2, 2), lib.nn.Tanh(), lib.nn.Linear(2, 1))
    with lib.no_grad():
        for i, parameter in enumerate(net.parameters()):
            parameter.copy_(lib.arange(parameter.numel()).reshape(parameter.shape) * 0.1 - 0.2 * i)
    return net


def pair(lib: ModuleType) -> Any:
    """Two inputs, one that is none, and a keyword; two results and one that is none."""

    class Pair(lib.nn.Module):
        def forward(self, a: Any, b: Any, power: Any, scale: Any = 1) -> Any:
            return a * b * scale, "text", a**power

    return Pair()


def values(grads: Any) -> Any:
    if isinstance(grads, tuple):
        return tuple(values(grad) for grad in grads)
    return None if grads is None else [round(value, 5) for value in grads.reshape(-1).tolist()]


def point(lib: ModuleType, *numbers: float, grad: bool = True) -> Any:
    return lib.tensor([numbers], requires_grad=grad)


def order_in_a_network(lib: ModuleType) -> Any:
    net, seen = network(lib), []
    for name, module in net.named_modules():
        module.register_full_backward_hook(
            lambda m, grad_input, grad_output, name=name: seen.append((name, values(grad_input), values(grad_output)))
        )
        module.register_full_backward_pre_hook(lambda m, grads, name=name: seen.append((name, "pre", values(grads))))
    x = point(lib, 1.0, -2.0)
    net(x).sum().backward()
    return seen, values(x.grad), [values(p.grad) for p in net.parameters()]


def several_inputs(lib: ModuleType) -> Any:
    module, seen = pair(lib), []
    module.register_full_backward_hook(lambda m, gi, go: seen.append((values(gi), values(go))))
    a, b, s = point(lib, 1.0, 2.0), point(lib, 3.0, 4.0, grad=False), point(lib, 5.0, 6.0)
    first, text, second = module(a, b, 2, scale=s)
    (first.sum() + second.sum()).backward()
    return seen, text, values(a.grad), values(s.grad), b.grad


def hooks_that_replace(lib: ModuleType) -> Any:
    net = network(lib)
    net[1].register_full_backward_pre_hook(lambda m, grads: (grads[0] * 2,))
    net[1].register_full_backward_hook(lambda m, gi, go: (gi[0] * 10 + go[0],))
    net[1].register_full_backward_hook(lambda m, gi, go: (gi[0] + 1,), prepend=True)
    net[1].register_full_backward_pre_hook(lambda m, grads: (grads[0] + 3,), prepend=True)
    x = point(lib, 1.0, -2.0)
    net(x).sum().backward()
    return values(x.grad)


def no_input_with_a_gradient(lib: ModuleType) -> Any:
    net, seen = network(lib), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append((gi, values(go))))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        net(point(lib, 1.0, 2.0, grad=False)).sum().backward()
    return seen, [str(w.message).split(" See ")[0] for w in caught], values(net[0].weight.grad)


def without_a_graph(lib: ModuleType) -> Any:
    net, seen = network(lib), []
    net.register_full_backward_hook(lambda m, gi, go: seen.append("never"))
    with lib.no_grad():
        y = net(point(lib, 1.0, 2.0))
    return seen, y.requires_grad, values(y)


def global_hooks(lib: ModuleType) -> Any:
    net, seen = network(lib), []
    everywhere = lib.nn.modules.module
    net[1].register_full_backward_hook(lambda m, gi, go: seen.append("own"))
    with (
        everywhere.register_module_full_backward_pre_hook(lambda m, go: seen.append(("pre", type(m).__name__))),
        everywhere.register_module_full_backward_hook(lambda m, gi, go: seen.append((type(m).__name__, values(go)))),
    ):
        net(point(lib, 1.0, 2.0)).sum().backward()
    net(point(lib, 1.0, 2.0)).sum().backward()
    return seen


def removed(lib: ModuleType) -> Any:
    net, seen = network(lib), []
    handle = net.register_full_backward_hook(lambda m, gi, go: seen.append("hook"))
    net(point(lib, 1.0, 2.0)).sum().backward()
    handle.remove()
    net(point(lib, 1.0, 2.0)).sum().backward()
    return seen, len(net._backward_hooks)


def twice_through(lib: ModuleType) -> Any:
    net, seen = network(lib), []
    net[1].register_full_backward_hook(lambda m, gi, go: seen.append((values(gi), values(go))))
    x = point(lib, 1.0, -2.0)
    net[1](net[1](x)).sum().backward()
    return seen, values(x.grad)


def double_backward(lib: ModuleType) -> Any:
    tanh, seen = lib.nn.Tanh(), []
    tanh.register_full_backward_hook(lambda m, gi, go: seen.append((values(gi), values(go))))
    x = point(lib, 0.5)
    (grad,) = lib.autograd.grad(tanh(x).sum(), x, create_graph=True)
    grad.sum().backward()
    return seen, values(x.grad)


def invalid_number_of_inputs(lib: ModuleType) -> Any:
    tanh = lib.nn.Tanh()
    tanh.register_full_backward_hook(lambda m, gi, go: (*gi, None))
    tanh(point(lib, 0.5)).sum().backward()


def invalid_number_of_outputs(lib: ModuleType) -> Any:
    tanh = lib.nn.Tanh()
    tanh.register_full_backward_pre_hook(lambda m, go: (*go, None))
    tanh(point(lib, 0.5)).sum().backward()


def gradients_for_no_input(lib: ModuleType) -> Any:
    linear = lib.nn.Linear(1, 1)
    linear.register_full_backward_hook(lambda m, gi, go: go)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        linear(point(lib, 0.5, grad=False)).sum().backward()


def with_a_forward_hook(lib: ModuleType) -> Any:
    tanh, seen = lib.nn.Tanh(), []
    tanh.register_forward_pre_hook(lambda m, args: args[0] * 2)
    tanh.register_forward_hook(lambda m, args, output: output * 3)
    tanh.register_full_backward_hook(lambda m, gi, go: seen.append((values(gi), values(go))))
    x = point(lib, 0.5)
    tanh(x).sum().backward()
    return seen, values(x.grad)


def results_in_a_dict(lib: ModuleType) -> Any:
    class Named(lib.nn.Module):
        def forward(self, x: Any) -> Any:
            return {"y": x * 2}

    module = Named()
    module.register_full_backward_hook(lambda m, gi, go: None)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = module(point(lib, 1.0))["y"]
    return [str(w.message) for w in caught], values(y)


PROGRAMS = [
    order_in_a_network,
    several_inputs,
    hooks_that_replace,
    no_input_with_a_gradient,
    without_a_graph,
    global_hooks,
    removed,
    twice_through,
    double_backward,
    with_a_forward_hook,
    results_in_a_dict,
]
FAILING = [invalid_number_of_inputs, invalid_number_of_outputs, gradients_for_no_input]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_hooks_see_what_torch_s_see(program: Callable, real_torch: ModuleType) -> None:
    assert program(reftorch) == program(real_torch)


@pytest.mark.parametrize("program", FAILING, ids=lambda program: program.__name__)
def test_the_same_errors(program: Callable, real_torch: ModuleType) -> None:
    messages = []
    for lib in (reftorch, real_torch):
        with pytest.raises(RuntimeError) as raised:
            program(lib)
        messages.append(str(raised.value))
    assert messages[0] == messages[1]


def test_the_hooks_see_the_gradients_of_inputs_and_outputs() -> None:
    seen, grad = twice_through(reftorch)
    assert len(seen) == 2
    assert seen[0][1] == ([1.0, 1.0],) and seen[1][1] == seen[0][0] and seen[1][0] == (grad,)


def test_forward_sees_a_view_that_may_not_be_changed() -> None:
    relu = reftorch.nn.ReLU(inplace=True)
    relu.register_full_backward_hook(lambda m, gi, go: None)
    with pytest.raises(RuntimeError, match="view"):
        relu(reftorch.ones(2, requires_grad=True) * 2)


def double_it(module: Any, grad_input: tuple, grad_output: tuple) -> tuple:
    return (grad_input[0] * 2,)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))])
def test_a_copy_has_the_hooks(duplicate: Callable) -> None:
    tanh = reftorch.nn.Tanh()
    handle = tanh.register_full_backward_hook(double_it)
    other = duplicate(tanh)
    handle.remove()
    x = reftorch.zeros(1, requires_grad=True)
    (tanh(x) + other(x)).sum().backward()
    assert x.grad.item() == 3.0


def test_calls_look_no_closer_once_the_hooks_are_gone() -> None:
    gc.collect()  # modules of other tests
    before = dict(backward_hooks._closer_look)
    tanh = reftorch.nn.Tanh()
    tanh.register_full_backward_hook(double_it)
    handle = tanh.register_full_backward_pre_hook(lambda module, grads: None)
    assert len(backward_hooks._closer_look) == len(before) + 2
    handle.remove()
    assert len(backward_hooks._closer_look) == len(before) + 1
    del tanh, handle
    gc.collect()
    assert dict(backward_hooks._closer_look) == before


# Hooks of old programs, at the last node of a module


def old_hooks(lib: Any, case: str) -> list[Any]:
    """The shapes that the hook sees, and the warnings of the forward pass."""
    seen: list[Any] = []

    class Net(lib.nn.Module):
        def forward(self, x: Any) -> Any:
            if case == "several nodes":
                return (x * 2).exp()
            if case == "two outputs":
                return x * 2, x.exp()
            if case == "list":
                return [x * 2]
            if case == "dict":
                return {"y": x * 2}
            if case == "no gradient":
                return x.detach()
            return x * 2

    def hook(module: Any, grad_input: Any, grad_output: Any) -> Any:
        seen.append((module is net, [g.tolist() for g in grad_input if g is not None], grad_output[0].tolist()))
        return (grad_input[0] * 10, *grad_input[1:]) if case == "changes" else None

    net = Net()
    handle = net.register_backward_hook(hook)
    x = lib.ones(2, requires_grad=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y = net(x)
    y = y["y"] if isinstance(y, dict) else y[0] if isinstance(y, (tuple, list)) else y
    if y.requires_grad:
        y.sum().backward()
        seen.append(x.grad.tolist())
    handle.remove()
    return [seen, [(w.category.__name__, str(w.message)) for w in caught]]


@pytest.mark.parametrize("case", ["one node", "several nodes", "two outputs", "list", "dict", "no gradient", "changes"])
def test_hooks_of_old_programs(real_torch: Any, case: str) -> None:
    assert old_hooks(reftorch, case) == old_hooks(real_torch, case)


def test_the_two_kinds_of_hooks_do_not_meet(real_torch: Any) -> None:
    for lib in (reftorch, real_torch):
        one, other = lib.nn.ReLU(), lib.nn.ReLU()
        one.register_backward_hook(lambda *args: None)
        other.register_full_backward_hook(lambda *args: None)
        for register in (one.register_full_backward_hook, other.register_backward_hook):
            with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
                register(lambda *args: None)


def test_global_hooks_of_old_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    from reftorch.nn.modules.module import backward_hooks

    monkeypatch.setattr(backward_hooks, "_global_is_full_backward_hook", None)
    seen: list[Any] = []
    with backward_hooks.register_module_backward_hook(lambda module, *grads: seen.append(type(module).__name__)):
        with pytest.warns(FutureWarning, match="contains multiple autograd Nodes"):  # the leaf's node is the second
            reftorch.nn.Tanh()(reftorch.ones(1, requires_grad=True)).sum().backward()
        with pytest.raises(RuntimeError, match="as a global Module hook"):
            backward_hooks.register_module_full_backward_hook(lambda *args: None)
    assert seen == ["Tanh"]
