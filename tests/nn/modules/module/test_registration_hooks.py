"""Hooks that see what modules register: the same programs here and in torch.

Mirrors: test/nn/test_module_hooks.py
"""

from types import ModuleType
from typing import Any

import reftorch


def registrations(lib: ModuleType) -> list[Any]:
    """What the three hooks see while modules are made, assigned to and registered."""
    everywhere, seen = lib.nn.modules.module, []

    def noting(kind: str) -> Any:
        return lambda module, name, value: seen.append((kind, type(module).__name__, name, type(value).__name__))

    with (
        everywhere.register_module_parameter_registration_hook(noting("parameter")),
        everywhere.register_module_buffer_registration_hook(noting("buffer")),
        everywhere.register_module_module_registration_hook(noting("module")),
    ):
        module = lib.nn.Sequential(lib.nn.Linear(2, 3, bias=False), lib.nn.ReLU())
        module.extra = lib.nn.Parameter(lib.ones(1))
        module.extra = None
        module.register_parameter("none", None)
        module.mean = lib.nn.Buffer(lib.ones(1))
        module.mean = lib.zeros(1)
        module.act = lib.nn.Tanh()
        module.act = None
    module.later = lib.nn.Tanh()
    return seen


def replacements(lib: ModuleType) -> list[Any]:
    everywhere, module = lib.nn.modules.module, lib.nn.Module()
    with (
        everywhere.register_module_parameter_registration_hook(lambda m, n, p: lib.nn.Parameter(p.detach() * 2)),
        everywhere.register_module_buffer_registration_hook(lambda m, n, b: b + 1),
        everywhere.register_module_module_registration_hook(lambda m, n, child: lib.nn.Tanh()),
    ):
        module.weight = lib.nn.Parameter(lib.ones(1))
        module.register_buffer("mean", lib.ones(1))
        module.child = lib.nn.ReLU()
    return [module.weight.tolist(), module.mean.tolist(), type(module.child).__name__]


def test_what_the_hooks_see(real_torch_or_none: ModuleType | None) -> None:
    seen = registrations(reftorch)
    assert seen[:2] == [("parameter", "Linear", "weight", "Parameter"), ("module", "Sequential", "0", "Linear")]
    assert "later" not in {name for _, _, name, _ in seen}
    if real_torch_or_none is not None:
        assert seen == registrations(real_torch_or_none)


def test_a_hook_may_register_something_else(real_torch_or_none: ModuleType | None) -> None:
    assert replacements(reftorch) == [[2.0], [2.0], "Tanh"]
    if real_torch_or_none is not None:
        assert replacements(real_torch_or_none) == [[2.0], [2.0], "Tanh"]
