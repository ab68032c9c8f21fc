"""A small program, run here and in torch.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any


def outcome(program: Callable[[ModuleType], Any], lib: ModuleType) -> str:
    """What a program returns, or the kind and text of its error; the name of the library it ran on does not count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = repr(program(lib))
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    return result.replace("reftorch", "torch")


def assert_same(program: Callable[[ModuleType], Any], ours: ModuleType, theirs: ModuleType) -> None:
    """Both libraries give the same value, or an error of one kind that begins alike (ours may add a hint)."""
    here, there = outcome(program, ours), outcome(program, theirs)
    common = there
    for end_of_what_counts in (" Please open", " (Triggered", " You can ask", " To fix", " Hint:", " as argument"):
        common = common.split(end_of_what_counts)[0].rstrip()
    common = common.removesuffix(".").removesuffix(", but argument").removesuffix(", but got")
    assert here == there or (": " in there and here.startswith(common)), f"here:  {here}\ntorch: {there}"
