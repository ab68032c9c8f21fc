"""Programs that use TorchScript compute the same without it.

Mirrors: nothing in PyTorch: its tests are of the compiler.
"""

# mypy: allow-untyped-defs

import importlib
import typing
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
import reftorch._jit_internal
from tests.answers.watched import asked


def scripted_function(t: Any) -> Any:
    return t.jit.script(_squared)(t.tensor([1.0, -2.0])).tolist()


def _squared(x):  # no types: the compiler of PyTorch would read them
    return x * x


def traced_module(t: Any) -> Any:
    net = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.ReLU())
    t.nn.init.ones_(net[0].weight)
    t.nn.init.zeros_(net[0].bias)
    return t.jit.trace(net, (t.ones(1, 2),))(t.ones(3, 2)).tolist()


def decorators(t: Any) -> Any:
    class Net(t.nn.Module):  # type: ignore[misc]
        @t.jit.ignore  # type: ignore[untyped-decorator]
        def plain(self, x: Any) -> Any:
            return x + 1

        @t.jit.unused  # type: ignore[untyped-decorator]
        def not_used(self, x: Any) -> Any:
            return x + 3

        @t.jit.export  # type: ignore[untyped-decorator]
        def exported(self, x: Any) -> Any:
            return x + 4

    net, x = Net(), t.zeros(1)
    return [f(x).item() for f in (net.plain, net.not_used, net.exported)], isinstance(net, t.jit.ScriptModule)


def questions(t: Any) -> Any:
    later = t.jit.script_if_tracing(_squared)
    return t.jit.is_scripting(), t.jit.is_tracing(), t.jit.annotate(int, 3), later(t.tensor(3.0)).item()


@pytest.mark.parametrize("program", [scripted_function, traced_module, decorators, questions])
def test_as_in_torch(program: Callable[[Any], Any], real_torch_or_none: ModuleType | None) -> None:
    ours = program(reftorch)
    if real_torch_or_none is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # PyTorch has given TorchScript up
            assert ours == asked(real_torch_or_none, program)


def test_script_and_trace_return_what_they_get() -> None:
    net = reftorch.nn.Linear(2, 2)
    assert reftorch.jit.script(net) is net and reftorch.jit.trace_module(net, {"forward": reftorch.ones(2)}) is net
    assert reftorch.jit.script_method(_squared) is _squared


def test_files_of_the_compiler_are_refused_in_one_sentence() -> None:
    with pytest.raises(RuntimeError, match=r"^torch\.jit\.load: there is no TorchScript interpreter here\. Hint: "):
        reftorch.jit.load("net.pt")
    with pytest.raises(RuntimeError, match=r"^torch\.jit\.save: there is no TorchScript compiler here\. Hint: "):
        reftorch.jit.save(reftorch.nn.ReLU(), "net.pt")


def test_declarations_of_types_for_the_compiler_are_accepted() -> None:
    class Layer:
        @reftorch.jit._overload_method
        def forward(self, x: list[int]) -> int: ...

        @reftorch.jit._overload_method
        def forward(self, x: int) -> int: ...  # noqa: F811

        def forward(self, x: Any) -> int:  # noqa: F811
            return 3

    assert Layer().forward(1) == 3
    net = reftorch.nn.ReLU()
    assert reftorch.jit.freeze(net) is net and reftorch.jit.optimize_for_inference(net) is net


def test_a_boolean_chooses_the_function() -> None:
    dispatch = reftorch._jit_internal.boolean_dispatch(
        "flag", 1, False, lambda x, flag: 1, lambda x, flag=0: 0, "m", "f"
    )
    assert dispatch("x") == 0 and dispatch("x", True) == 1 and dispatch("x", flag=True) == 1
    assert dispatch.__name__ == "f" and dispatch.__module__ == "m"


def test_names_of_types_that_programs_import() -> None:
    annotations: Any = importlib.import_module("reftorch.jit.annotations")
    assert annotations.BroadcastingList2[int] == annotations.BroadcastingList3[int] == list[int]
    assert not isinstance(reftorch.nn.ReLU(), reftorch.ScriptModule)  # type: ignore[attr-defined]
    assert annotations.List is typing.List and annotations.Optional is typing.Optional  # noqa: UP006
