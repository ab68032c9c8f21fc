"""Hooks around ``forward``.

Mirrors: test/nn/test_module_hooks.py
Leaves out: backward hooks.
"""

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
