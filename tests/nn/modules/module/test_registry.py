"""The dicts of a module that mirror into its ``__dict__``.

Mirrors: nothing in PyTorch: there they are plain dicts
Leaves out: nothing.
"""

import gc
import weakref
from collections.abc import Callable

import pytest

import reftorch
from reftorch.nn import Module, Parameter


def module_of(**params: Parameter | None) -> Module:
    module = Module()
    for name, param in params.items():
        module.register_parameter(name, param)
    return module


def parameter() -> Parameter:
    return Parameter(reftorch.zeros(1))


WRITES: dict[str, Callable[[Module, Parameter], None]] = {
    "setitem": lambda m, p: m._parameters.__setitem__("b", p),
    "update": lambda m, p: m._parameters.update(b=p),
    "update by pairs": lambda m, p: m._parameters.update([("b", p)]),
    "setdefault": lambda m, p: m._parameters.setdefault("b", p),
    "ior": lambda m, p: m._parameters.__ior__({"b": p}),
    "replaced": lambda m, p: setattr(m, "_parameters", {**m._parameters, "b": p}),
}
REMOVALS: dict[str, Callable[[Module], object]] = {
    "delitem": lambda m: m._parameters.__delitem__("b"),
    "pop": lambda m: m._parameters.pop("b"),
    "popitem": lambda m: m._parameters.popitem(),
    "clear": lambda m: m._parameters.clear(),
    "delattr": lambda m: delattr(m, "b"),
    "replaced": lambda m: setattr(m, "_parameters", {}),
}


@pytest.mark.parametrize("how", WRITES)
def test_what_is_written_is_an_attribute(how: str) -> None:
    module, p = module_of(a=parameter()), parameter()
    WRITES[how](module, p)
    assert module.b is p
    assert module.__dict__["b"] is p
    assert list(module._parameters) == ["a", "b"]
    assert module.__dict__["a"] is module._parameters["a"]


@pytest.mark.parametrize("how", REMOVALS)
def test_what_is_removed_is_no_attribute(how: str) -> None:
    module = module_of(a=parameter(), b=parameter())
    REMOVALS[how](module)
    assert "b" not in module.__dict__
    assert "b" not in module._parameters
    with pytest.raises(AttributeError, match="'Module' object has no attribute 'b'"):
        module.b  # noqa: B018


def test_removals_of_what_is_not_there() -> None:
    module = module_of()
    assert module._parameters.pop("a", 3) == 3
    with pytest.raises(KeyError):
        module._parameters.pop("a")
    with pytest.raises(KeyError):
        module._parameters.popitem()


def test_a_copy_belongs_to_nobody() -> None:
    module = module_of(a=parameter())
    copy = module._parameters.copy()
    copy["b"] = parameter()
    assert type(copy) is dict
    assert not hasattr(module, "b")


def test_a_dropped_module_is_freed_at_once() -> None:
    gc.collect()
    gc.disable()
    try:
        net = reftorch.nn.Sequential(reftorch.nn.Linear(2, 2), reftorch.nn.ReLU())
        module, weight = weakref.ref(net), weakref.ref(net[0].weight)
        del net
        assert module() is None
        assert weight() is None
    finally:
        gc.enable()


def test_a_registry_outlives_its_module() -> None:
    module = module_of(a=parameter())
    registry = module._parameters
    del module
    registry["b"] = parameter()
    assert list(registry) == ["a", "b"]
