"""A small program, run here and in torch.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tests.answers.watched import asked


def outcome(program: Callable[[ModuleType], Any], lib: ModuleType) -> str:
    """What a program returns, or the kind and text of its error; the name of the library it ran on does not count."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = repr(program(lib))
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    return result.replace("reftorch", "torch")


def what_counts(outcome: str) -> str:
    """An outcome without the end of an error's message where the two libraries have their own words."""
    for end in (" Please open", " (Triggered", " You can ask", " To fix", " Hint:", " as argument"):
        outcome = outcome.split(end)[0].rstrip()
    return outcome.removesuffix(".").removesuffix(", but argument").removesuffix(", but got")


def assert_same(program: Callable[[ModuleType], Any], ours: ModuleType, theirs: ModuleType) -> None:
    """Both libraries give the same value, or an error of one kind that begins alike (ours may add a hint)."""
    here, there = outcome(program, ours), asked(theirs, lambda lib: what_counts(outcome(program, lib)))
    assert here == there or (": " in there and here.startswith(there)), f"here:  {here}\ntorch: {there}"
