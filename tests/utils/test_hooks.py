"""The handle that takes a hook away.

Mirrors: torch/utils/hooks.py
"""

import importlib
import pickle
from collections import OrderedDict
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.utils.hooks import RemovableHandle


def test_a_handle_removes_its_hook_and_what_is_said_about_it() -> None:
    hooks: OrderedDict = OrderedDict()
    flags: OrderedDict = OrderedDict()
    first, second = RemovableHandle(hooks, extra_dict=[flags]), RemovableHandle(hooks, extra_dict=flags)
    for handle in (first, second):
        hooks[handle.id] = print
        flags[handle.id] = True
    first.remove()
    first.remove()
    assert list(hooks) == list(flags) == [second.id]


def test_a_handle_keeps_the_hooks_not_alive() -> None:
    hooks: OrderedDict = OrderedDict()
    handle = RemovableHandle(hooks)
    del hooks
    assert handle.hooks_dict_ref() is None
    handle.remove()


def test_a_pickled_handle_goes_with_its_hooks() -> None:
    hooks: OrderedDict = OrderedDict()
    handle = RemovableHandle(hooks)
    hooks[handle.id] = "hook"
    again, hooks_again = pickle.loads(pickle.dumps((handle, hooks)))
    again.remove()
    assert not hooks_again
    assert hooks
    assert RemovableHandle(hooks).id > again.id


def test_saving_warns_of_hooks_without_the_mark(real_torch: ModuleType, noted: Any) -> None:
    for lib in (reftorch, real_torch):
        hooks = importlib.import_module(f"{lib.__name__}.utils.hooks")
        x = lib.ones(2, requires_grad=True)
        hooks.warn_if_has_hooks(x)
        x.register_hook(hooks.unserializable_hook(lambda grad: None))
        hooks.warn_if_has_hooks(x)
        x.register_hook(print)
        with pytest.warns(UserWarning, match="print") as caught:
            hooks.warn_if_has_hooks(x)
        assert [str(each.message) for each in caught] == [
            "backward hook <built-in function print> on tensor will not be serialized.  If this is expected, you can "
            "decorate the function with @torch.utils.hooks.unserializable_hook to suppress this warning"
        ]
        noted(len(caught))


def test_the_hook_of_a_module_is_at_its_place() -> None:
    from reftorch.utils.hooks import BackwardHook

    assert BackwardHook.__module__ == "reftorch.utils.hooks"
    net, seen = reftorch.nn.Identity(), []
    hook = BackwardHook(net, [lambda module, grad_input, grad_output: seen.append(grad_input)], [])
    x = reftorch.ones(2, requires_grad=True)
    (inside,) = hook.setup_input_hook((x,))
    hook.setup_output_hook(inside * 3).sum().backward()
    assert [grad.tolist() for grad in seen[0]] == [[3.0, 3.0]]
