"""What a program does with proxies becomes the nodes that it becomes in torch.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx, nn
from reftorch.fx.proxy import ParameterProxy, Scope, ScopeContextManager
from tests.fx import both

PROGRAMS = both.load("proxies", reftorch)


def texts(programs: ModuleType, library: ModuleType, name: str) -> Any:
    program = programs.PROGRAMS[name]
    if not inspect.signature(program).parameters:
        found = program()
    else:
        traced = library.fx.symbolic_trace(program)
        found = [str(traced.graph), traced.code]
    return [both.plain(text).replace("fx_program_proxies_torch", "fx_program_proxies") for text in found]


@pytest.mark.parametrize("name", PROGRAMS.PROGRAMS)
def test_nodes_and_code_are_those_of_torch(name: str, real_torch: ModuleType, noted: Any) -> None:
    ours, theirs = texts(PROGRAMS, reftorch, name), texts(both.load("proxies", real_torch), real_torch, name)
    assert ours == noted(theirs)


def test_proxies_are_copied_with_their_nodes() -> None:
    import copy

    proxy = fx.Proxy(fx.Graph().placeholder("x"))
    copied = copy.deepcopy(proxy)
    assert copied is not proxy and copied.node is not proxy.node and copied.node.name == "x"


def test_parameters_know_their_shape() -> None:
    graph = fx.Graph()
    parameter = nn.Parameter(reftorch.ones(2, 3))
    tracer = fx.proxy.GraphAppendingTracer(graph)
    proxy = ParameterProxy(tracer, graph.get_attr("weight"), "weight", parameter)
    assert repr(proxy) == "ParameterProxy(weight)"
    assert (proxy.shape, proxy.size(), proxy.dim(), proxy.ndim, proxy.numel(), proxy.nelement()) == (
        (2, 3), (2, 3), 2, 2, 6, 6,
    )  # fmt: skip
    with pytest.raises(AssertionError, match="Expected Parameter"):
        ParameterProxy(tracer, proxy.node, "x", reftorch.ones(1))  # type: ignore[arg-type]


def test_scopes_are_restored() -> None:
    scope = Scope("a", int)
    with ScopeContextManager(scope, Scope("b", str)) as inner:
        assert inner is scope and (scope.module_path, scope.module_type) == ("b", str)
    assert (scope.module_path, scope.module_type) == ("a", int)


def test_a_dict_key_cannot_be_a_proxy(real_torch: ModuleType, noted: Any) -> None:
    messages = []
    for library in (reftorch, real_torch):
        with pytest.raises(RuntimeError, match="cannot contain a Node") as error:
            library.fx.symbolic_trace(lambda x: x.f({(x, 1): 1}))
        messages.append(str(error.value))
    assert messages[0] == noted(messages[1])


def test_lengths_and_item_assignment_are_refused(real_torch: ModuleType) -> None:
    for library in (reftorch, real_torch):
        with pytest.raises(RuntimeError, match="'len' is not supported in symbolic tracing by default"):
            library.fx.symbolic_trace(lambda x: len(x))
        with pytest.raises(TypeError, match="'Proxy' object does not support item assignment"):
            library.fx.symbolic_trace(lambda x: exec("x[0] = 1", {"x": x}))
