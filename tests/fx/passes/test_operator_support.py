"""Which nodes a backend supports, by a table and by functions.

Mirrors: test/test_fx_experimental.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch


def traced(library: ModuleType) -> Any:
    class Net(library.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.fc = library.nn.Linear(2, 2)

        def forward(self, x, index):  # type: ignore[no-untyped-def]
            return library.add(self.fc(x), other=index).index_select(0, index) + library.add(index, index)

    module = library.fx.symbolic_trace(Net())
    shape_prop = __import__(f"{library.__name__}.fx.passes.shape_prop", fromlist=["x"])
    shape_prop.ShapeProp(module).propagate(library.ones(2, 2), library.tensor([0, 1]))
    return module


def test_tables_and_their_combinations_support_what_they_support_in_torch(real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library in (reftorch, real_torch):
        support = __import__(f"{library.__name__}.fx.passes.operator_support", fromlist=["x"])
        module = traced(library)
        float_, int_ = library.float32, library.int64
        tables = [
            support.OperatorSupport(),
            support.OperatorSupport({"torch.add": None, "torch.nn.modules.linear.Linear": None}),
            support.OperatorSupport({"torch.add": (([float_],), {})}),
            support.OperatorSupport({"torch.add": (([float_],), {"other": [float_]})}),
            support.OperatorSupport({"torch.add": ((None,), {"other": [int_]})}),
            support.OperatorSupport({"index_select": (([float_], [int_], [int_]), {})}),
            support.OpSupports.decline_if_input_dtype(int_),
            support.OpSupports.decline_if_node_in_names({"fc", "x"}),
        ]
        tables += [support.chain(tables[1], tables[6]), support.any_chain(tables[2], tables[5])]
        submodules = dict(module.named_modules())
        nodes = [node for node in module.graph.nodes if node.op != "output"]
        found.append([[node.name for node in nodes if one.is_node_supported(submodules, node)] for one in tables])
    assert found[0] == noted(found[1])
    assert len({tuple(names) for names in found[0]}) == 8  # the tables do not support the same nodes by chance


def test_the_base_class_is_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        reftorch.fx.passes.operator_support.OperatorSupportBase()  # type: ignore[abstract]
