"""Lazy modules: parameters without shapes, before and after the first call, compared with torch's.

Mirrors: test/nn/test_lazy_modules.py
Leaves out: lazy convolutions and norms, which are tested beside their families.
"""

import copy
import pickle
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked


def lazy(lib: ModuleType) -> Any:
    return lib.nn.LazyLinear(3)


BEFORE: dict[str, Callable[[Any, Any], Any]] = {
    "repr": lambda lib, m: [repr(m), repr(m.weight), repr(m.bias)],
    "state": lambda lib, m: [type(m.state_dict()).__name__, repr(dict(m.state_dict()))],
    "shape": lambda lib, m: m.weight.shape,
    "size": lambda lib, m: list(m.weight.size()),
    "numel": lambda lib, m: m.weight.numel(),
    "sum": lambda lib, m: m.weight.sum(),
    "add": lambda lib, m: m.weight + 1,
    "share": lambda lib, m: m.share_memory(),
    "facts": lambda lib, m: [m.weight.requires_grad, m.weight.is_leaf, str(m.weight.dtype), m.weight.grad],
    "double": lambda lib, m: str(m.double().weight.dtype),
    "frozen": lambda lib, m: m.requires_grad_(False).weight.requires_grad,
    "copy": lambda lib, m: [repr(copy.deepcopy(m)), repr(copy.deepcopy(m).weight)],
    "pickle": lambda lib, m: [repr(pickle.loads(pickle.dumps(m))), repr(pickle.loads(pickle.dumps(m)).bias)],
    "into an ordinary one": lambda lib, m: lib.nn.Linear(2, 3).load_state_dict(m.state_dict()),
    "lazy from lazy": lambda lib, m: [str(lazy(lib).load_state_dict(m.state_dict())), m.has_uninitialized_params()],
    "hidden": lambda lib, m: sorted(vars(m)),
    "buffer": lambda lib, m: [repr(lib.nn.UninitializedBuffer()), lib.nn.UninitializedBuffer().requires_grad],
    "kinds": lambda lib, m: [isinstance(m.weight, lib.nn.Parameter), lib.nn.parameter.is_lazy(m.weight)],
    "registered buffer": lambda lib, m: registered(lib),
    "not implemented": lambda lib, m: type("L", (lib.nn.modules.lazy.LazyModuleMixin, lib.nn.Linear), {})(1, 1)(3),
}


def registered(lib: ModuleType) -> list[Any]:
    m = lib.nn.Module()
    m.mean = lib.nn.UninitializedBuffer(persistent=False)
    m.var = lib.nn.UninitializedBuffer(dtype=lib.float64)
    m.var.materialize((2,))
    return [list(m._buffers), list(m.state_dict()), type(m.var).__name__, str(m.var.dtype), list(m.var.shape)]


def answer(lib: ModuleType, case: str) -> Any:
    try:
        return BEFORE[case](lib, lazy(lib))
    except Exception as error:
        return type(error).__name__, str(error).replace("reftorch.", "torch.").split(" in <")[0]


@pytest.mark.parametrize("case", BEFORE)
def test_before_the_first_call(real_torch: ModuleType, case: str) -> None:
    assert answer(reftorch, case) == asked(real_torch, lambda lib: answer(lib, case))


def first_calls(lib: ModuleType) -> list[Any]:
    lib.manual_seed(3)
    net = lib.nn.Sequential(lib.nn.LazyLinear(4), lib.nn.ReLU(), lib.nn.LazyLinear(2, bias=False))
    x = lib.ones(5, 3)
    y = net(x)
    y.sum().backward()
    found: list[Any] = [
        repr(net),
        [type(p).__name__ for p in net.parameters()],
        y.tolist(),
        net[0].weight.grad.tolist(),
    ]
    found += [sorted(vars(net[0])), len(net[0]._forward_pre_hooks), len(net[0]._load_state_dict_pre_hooks)]
    loaded = lib.nn.Sequential(lib.nn.LazyLinear(4), lib.nn.ReLU(), lib.nn.LazyLinear(2, bias=False))
    found += [str(loaded.load_state_dict(net.state_dict())), repr(loaded)]
    try:
        loaded(lib.ones(5, 7))
    except AssertionError as error:
        found.append(str(error))
    return [*found, loaded(x).tolist(), repr(loaded)]


def test_the_first_call_makes_an_ordinary_network(real_torch: ModuleType) -> None:
    assert first_calls(reftorch) == asked(real_torch, first_calls)


def test_a_module_that_leaves_a_parameter_lazy(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):

        class Half(lib.nn.LazyLinear):
            def initialize_parameters(self, input: Any) -> None:  # type: ignore[override]
                self.weight.materialize((3, input.shape[-1]))

        with pytest.raises(RuntimeError, match="module Half has not been fully initialized"):
            Half(3)(lib.ones(2))
        with pytest.raises(RuntimeError, match="can't be used with `DataParallel`"):
            Half(3)._replicate_for_data_parallel()
