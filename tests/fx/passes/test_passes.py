"""Every pass on every module of programs/models.py: code and results are torch's.

Mirrors: test/test_fx_experimental.py
"""

from __future__ import annotations

import copy
import operator
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.fx import both

MODELS = both.load("models", reftorch)


def dead_code(library: Any, module: Any) -> Any:
    first = next(n for n in module.graph.nodes if n.op == "placeholder" and not str(n.target).startswith("*"))
    with module.graph.inserting_after(first):
        module.graph.call_function(operator.add, (first, 1))
    assert module.graph.eliminate_dead_code() is True
    module.recompile()
    return module


def replaced_ops(library: Any, module: Any) -> Any:
    for node in module.graph.find_nodes(op="call_function", target=operator.add):
        with module.graph.inserting_before(node):
            new = module.graph.call_function(library.add, node.args, node.kwargs)
        node.replace_all_uses_with(new)
        module.graph.erase_node(node)
    module.recompile()
    return module


def rewritten(library: Any, module: Any) -> Any:
    library.fx.replace_pattern(module, lambda a, b: operator.mul(a, b), lambda a, b: library.mul(b, a))
    library.fx.replace_pattern(module, lambda a: a.relu(), lambda a: library.relu(a))
    return module


def split(library: Any, module: Any) -> Any:
    split_module = __import__(f"{library.__name__}.fx.passes.split_module", fromlist=["x"]).split_module
    number = {node: i for i, node in enumerate(module.graph.nodes)}
    return split_module(module, module, lambda node: 2 * number[node] // len(number))


def fused(library: Any, module: Any) -> Any:
    fuse = __import__(f"{library.__name__}.fx.experimental.optimization", fromlist=["x"]).fuse
    return fuse(module.eval(), no_trace=True)


def shapes(library: Any, module: Any) -> Any:
    shape_prop = __import__(f"{library.__name__}.fx.passes.shape_prop", fromlist=["x"])
    shape_prop.ShapeProp(module).propagate(*module.example_inputs)
    return module


PASSES = {f.__name__: f for f in (dead_code, replaced_ops, rewritten, split, fused, shapes)}
EXCEPT = (
    ("shapes", "Variadic"),  # the interpreter gives all inputs to *args, and none to **kwargs
    ("dead_code", "Variadic"),  # there is no parameter to compute with
    ("dead_code", "InPlace"),  # a function that writes in place and whose result is not used goes, as in torch
    ("split", "ConcreteArgs"),  # the new module takes the leaves of the arguments, as in torch
)
CASES = [(p, m) for p in PASSES for m in MODELS.MODELS if (p, m) not in EXCEPT]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "model"), CASES)
def test_the_pass_does_what_it_does_in_torch(name: str, model: str, real_torch: ModuleType, noted: Any) -> None:
    codes = []
    for library, models in ((reftorch, MODELS), (real_torch, both.load("models", real_torch))):
        module = models.trace(model, models.MODELS[model][0]().eval())
        inputs = both.to_tensors(models.example_inputs(model), library)
        expected = both.tensors_in(module(*copy.copy(inputs)))
        module.example_inputs = inputs
        changed = PASSES[name](library, module)
        changed.graph.lint()
        found = both.tensors_in(changed(*inputs))
        assert len(found) == len(expected) > 0
        assert all(library.allclose(a, b, atol=1e-5) for a, b in zip(found, expected, strict=True))
        codes.append(both.plain(changed.print_readable(print_output=False)))
    assert codes[0] == noted(codes[1])
