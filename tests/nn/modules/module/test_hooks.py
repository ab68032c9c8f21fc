"""Hooks around ``forward``.

Mirrors: test/nn/test_module_hooks.py
Leaves out: backward hooks.
"""

import importlib
import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.nn import Module
from reftorch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook


class Add(Module):
    def forward(self, x: Any, *, y: Any = 0) -> Any:
        if y == "broken":
            raise RuntimeError("broken")
        return x + y


def test_pre_hooks_change_the_arguments_in_order() -> None:
    add = Add()
    add.register_forward_pre_hook(lambda module, args: (args[0] * 10,))
    add.register_forward_pre_hook(lambda module, args: args[0] + 1)
    add.register_forward_pre_hook(lambda module, args: None)
    assert add(1, y=2) == 13
    add.register_forward_pre_hook(lambda module, args: args[0] + 1, prepend=True)
    assert add(1, y=2) == 23


def test_pre_hooks_with_kwargs() -> None:
    add = Add()
    add.register_forward_pre_hook(lambda module, args, kwargs: (args, {"y": 5}), with_kwargs=True)
    assert add(1) == 6
    add.register_forward_pre_hook(lambda module, args, kwargs: args, with_kwargs=True)
    with pytest.raises(
        RuntimeError, match="must return None or a tuple of \\(new_args, new_kwargs\\), but got \\(1,\\)"
    ):
        add(1)


def test_hooks_change_the_output_in_order() -> None:
    add = Add()
    seen = []
    add.register_forward_hook(lambda module, args, output: seen.append((module is add, args, output)))
    add.register_forward_hook(lambda module, args, output: output * 2)
    add.register_forward_hook(lambda module, args, kwargs, output: output + kwargs["y"], with_kwargs=True)
    assert add(1, y=2) == 8
    assert seen == [(True, (1,), 3)]
    add.register_forward_hook(lambda module, args, output: output + 1, prepend=True)
    assert add(1, y=2) == 10


def test_a_removed_hook_runs_no_more() -> None:
    add = Add()
    handles = [
        add.register_forward_pre_hook(lambda module, args, kwargs: ((7,), {}), with_kwargs=True),
        add.register_forward_hook(lambda module, args, output: 9, always_call=True),
    ]
    assert add(1) == 9
    for handle in handles:
        handle.remove()
    assert add(1) == 1
    assert not add._forward_pre_hooks_with_kwargs
    assert not add._forward_hooks_always_called


def test_hooks_for_all_modules_run_before_the_module_s_own() -> None:
    add, order = Add(), []
    add.register_forward_pre_hook(lambda module, args: order.append("own pre"))
    add.register_forward_hook(lambda module, args, output: order.append("own"))
    with (
        register_module_forward_pre_hook(lambda module, args: order.append("all pre")),
        register_module_forward_hook(lambda module, args, output: order.append("all")),
    ):
        add(1)
    add(1)
    assert order == ["all pre", "own pre", "all", "own", "own pre", "own"]


def test_always_called_hooks_run_after_an_error() -> None:
    add, seen = Add(), []
    add.register_forward_hook(lambda module, args, output: seen.append("never"))
    add.register_forward_hook(lambda module, args, output: seen.append(output), always_call=True)
    with (
        register_module_forward_hook(
            lambda module, args, kwargs, output: seen.append(kwargs), with_kwargs=True, always_call=True
        ),
        pytest.raises(RuntimeError, match="broken"),
    ):
        add(1, y="broken")
    assert seen == [{"y": "broken"}, None]


def test_the_first_error_comes_through_the_second_is_warned_about() -> None:
    add = Add()

    def bad(module: Module, args: tuple, output: Any) -> None:
        raise ValueError("worse")

    add.register_forward_hook(bad, always_call=True)
    with pytest.warns(UserWarning, match="was silenced .*: worse"), pytest.raises(RuntimeError, match="broken"):
        add(1, y="broken")
    with pytest.raises(ValueError, match="worse"):
        add(1)


def test_hooks_run_in_a_network_and_see_tensors() -> None:
    net = reftorch.nn.Sequential(reftorch.nn.Linear(2, 3), reftorch.nn.ReLU())
    shapes = {}
    for name, module in net.named_modules():
        module.register_forward_hook(lambda m, args, out, name=name: shapes.update({name: tuple(out.shape)}))
    net(reftorch.zeros(4, 2))
    assert shapes == {"0": (4, 3), "1": (4, 3), "": (4, 3)}


def drawn(lib: Any, seed: int) -> list[Any]:
    """The order in which hooks of all kinds run, what they see, and what comes out, for a network of two modules."""
    rng = random.Random(seed)
    seen: list[Any] = []
    net = lib.nn.Sequential(lib.nn.Tanh(), lib.nn.Sequential(lib.nn.Identity()))
    known = importlib.import_module(f"{lib.__name__}.nn.modules.module")
    handles = []

    def hook(label: str, change: bool, fail: bool) -> Any:
        def run(module: Any, *given: Any) -> Any:
            shapes = [sorted(g) if isinstance(g, dict) else None if g is None else type(g).__name__ for g in given]
            seen.append((label, type(module).__name__, shapes))
            if fail:
                raise ValueError(label)
            if not change:
                return None
            value = given[-1] if "forward" in label else given[0]
            if isinstance(value, dict):  # a hook before forward with keywords
                return given[0], value
            return tuple(None if g is None else g * 2 for g in value) if isinstance(value, tuple) else value + 1

        return run

    for i in range(rng.randint(2, 7)):
        module = rng.choice((net, net[0], net[1], net[1][0]))
        kind = rng.choice(("pre", "forward", "full", "full pre", "all pre", "all forward", "all full", "all full pre"))
        run = hook(f"{kind} {i}", rng.random() < 0.4, rng.random() < 0.08)
        prepend, kwargs, always = rng.random() < 0.4, rng.random() < 0.4, rng.random() < 0.5
        if kind == "pre":
            handles.append(module.register_forward_pre_hook(run, prepend=prepend, with_kwargs=kwargs))
        elif kind == "forward":
            handles.append(module.register_forward_hook(run, prepend=prepend, with_kwargs=kwargs, always_call=always))
        elif kind == "full":
            handles.append(module.register_full_backward_hook(run, prepend=prepend))
        elif kind == "full pre":
            handles.append(module.register_full_backward_pre_hook(run, prepend=prepend))
        elif kind == "all pre":
            handles.append(known.register_module_forward_pre_hook(run))
        elif kind == "all forward":
            handles.append(known.register_module_forward_hook(run, always_call=always))
        elif kind == "all full":
            handles.append(known.register_module_full_backward_hook(run))
        else:
            handles.append(known.register_module_full_backward_pre_hook(run))
    if rng.random() < 0.3:
        handles.pop(rng.randrange(len(handles))).remove()
    x = lib.tensor([0.5, -1.0], dtype=lib.float64, requires_grad=rng.random() < 0.8)
    try:
        output = net(x)
        seen.append(output.tolist())
        if output.requires_grad:
            output.sum().backward()
            seen.append(x.grad.tolist())
    except Exception as error:
        seen.append((type(error).__name__, str(error)))
    finally:
        for handle in handles:
            handle.remove()
    return seen


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore")
def test_hooks_run_in_the_order_of_torch(real_torch: ModuleType, seed: int) -> None:
    ours, theirs = drawn(reftorch, seed), drawn(real_torch, seed)
    assert ours == [pytest.approx(t, rel=1e-5) if isinstance(t, list) else t for t in theirs]
