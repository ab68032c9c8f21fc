"""The handle that takes a hook away.

Mirrors: torch/utils/hooks.py
"""

import pickle
from collections import OrderedDict

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
