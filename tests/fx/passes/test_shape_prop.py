"""Shapes of all results, on the processor and on the meta device.

Mirrors: test/test_fx.py
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import fx, nn
from reftorch.fx.passes.shape_prop import ShapeProp, TensorMetadata
from tests.fx import both

MODELS = both.load("models", reftorch)


def notes_of(graph: Any) -> list[Any]:
    def plain(meta: Any) -> Any:
        if hasattr(meta, "requires_grad") and hasattr(meta, "memory_format"):
            return (
                tuple(meta.shape),
                str(meta.dtype),
                meta.requires_grad,
                tuple(meta.stride),
                str(meta.memory_format),
                meta.is_quantized,
            )
        if isinstance(meta, dict):
            return {key: plain(item) for key, item in meta.items()}
        return [plain(item) for item in meta] if isinstance(meta, (list, tuple)) else meta

    return [(n.name, plain(n.meta.get("tensor_meta")), n.meta["type"].__name__) for n in graph.nodes]


@pytest.mark.parametrize("name", ["ResidualBlock", "GPT", "LSTMCell", "Structures", "Shapes", "Functions"])
def test_shapes_are_those_of_torch(name: str, real_torch: ModuleType, noted: Any) -> None:
    found = []
    for library, models in ((reftorch, MODELS), (real_torch, both.load("models", real_torch))):
        module = models.trace(name, models.MODELS[name][0]())
        passes = __import__(f"{library.__name__}.fx.passes.shape_prop", fromlist=["ShapeProp"])
        passes.ShapeProp(module).propagate(*both.to_tensors(models.example_inputs(name), library))
        found.append(notes_of(module.graph))
        readable = module.print_readable(print_output=False)
        found[-1].append(both.plain(readable))
    assert found[0] == noted(found[1])


def test_the_meta_device_computes_nothing() -> None:
    net = nn.Sequential(nn.Linear(1000, 100_000_000, device="meta"), nn.ReLU())
    module = fx.symbolic_trace(net)
    out = ShapeProp(module).propagate(reftorch.empty(7, 1000, device="meta"))
    assert out.device.type == "meta"
    meta = module.graph.output_node().meta["tensor_meta"]
    assert isinstance(meta, TensorMetadata) and meta.shape == (7, 100_000_000)


def test_an_error_names_the_node(capsys: pytest.CaptureFixture[str]) -> None:
    module = fx.symbolic_trace(lambda x: reftorch.mm(x, x))
    with pytest.raises(RuntimeError, match="ShapeProp error for: node=%mm"):
        ShapeProp(module).propagate(reftorch.ones(2, 3))
    assert "Traceback" in capsys.readouterr().err


def test_a_fake_mode_is_refused() -> None:
    module = fx.symbolic_trace(nn.ReLU())
    with pytest.raises(TypeError, match=r"fake_mode must be None, got int.*meta device"):
        ShapeProp(module, fake_mode=1)  # type: ignore[arg-type]
