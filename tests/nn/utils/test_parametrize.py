"""Parametrizations of one's own: chains, several originals, buffers, removal, transfer, errors.

Mirrors: test/nn/test_parametrization.py
Leaves out: swapping tensors.
"""

from types import ModuleType
from typing import Any

import pytest

from tests.nn.utils.both import compare, tried


def classes(lib: Any) -> dict[str, Any]:
    class Symmetric(lib.nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).mT

        def right_inverse(self, x: Any) -> Any:
            return x.triu()

    class Double(lib.nn.Module):
        def forward(self, x: Any) -> Any:
            return 2 * x

    class Sum(lib.nn.Module):
        def forward(self, x: Any, y: Any) -> Any:
            return x + y

        def right_inverse(self, z: Any) -> Any:
            return 0.75 * z, 0.25 * z

    def returns(forward: Any = None, inverse: Any = None) -> Any:
        members: dict[str, Any] = {"forward": lambda self, *x: x[0] if forward is None else forward(*x)}
        if inverse is not None:
            members["right_inverse"] = lambda self, x: inverse(x)
        return type("Other", (lib.nn.Module,), members)

    return {"Symmetric": Symmetric, "Double": Double, "Sum": Sum, "returns": returns}


def life(lib: Any) -> list[Any]:
    known, p = classes(lib), lib.nn.utils.parametrize
    lib.manual_seed(4)
    layer = lib.nn.Linear(3, 3)
    layer.register_buffer("mean", lib.ones(2))
    weight = layer.weight
    found: list[Any] = [
        p.is_parametrized(layer),
        p.register_parametrization(layer, "weight", known["Symmetric"]()) is layer,
    ]
    p.register_parametrization(layer, "weight", known["Double"]())
    p.register_parametrization(layer, "bias", known["Sum"]())
    p.register_parametrization(layer, "mean", known["Double"]())
    found += [layer.weight, layer.bias, layer.mean, repr(layer), [name for name, _ in layer.named_parameters()]]
    found += [[name for name, _ in layer.named_buffers()], list(layer.state_dict()), sorted(vars(layer))]
    found += [
        layer.parametrizations.weight.original is weight,
        p.is_parametrized(layer, "bias"),
        p.is_parametrized(layer),
    ]
    found += [p.is_parametrized(layer, "other"), p.type_before_parametrizations(layer).__name__, type(layer).__name__]
    found += [tried(lambda: setattr(layer, "weight", lib.eye(3))), tried(lambda: setattr(layer, "bias", lib.ones(3)))]
    found += [layer.bias, layer.parametrizations.bias.original0, isinstance(layer, lib.nn.Linear)]
    found += [p.type_before_parametrizations(lib.nn.ReLU()).__name__]
    layer(lib.ones(1, 3)).sum().backward()
    found += [p_.grad for p_ in layer.parameters()]
    other = lib.nn.Linear(3, 3)
    p.transfer_parametrizations_and_params(layer, other, "bias")
    found += [other.bias, [name for name, _ in other.named_parameters()]]
    found += [other.parametrizations.bias.original0 is layer.parametrizations.bias.original0]
    found.append(tried(lambda: p.remove_parametrizations(layer, "bias", leave_parametrized=False)))
    p.remove_parametrizations(layer, "weight", leave_parametrized=False)
    found += [layer.weight is weight, layer.weight, type(layer).__name__]
    p.remove_parametrizations(layer, "bias")
    p.remove_parametrizations(layer, "mean")
    found += [layer.bias, layer.mean, type(layer).__name__, list(layer.state_dict()), sorted(vars(layer))]
    return found


def test_the_life_of_a_parametrized_module(real_torch: ModuleType) -> None:
    compare(life, real_torch)


def errors(lib: Any) -> list[Any]:
    returns, p = classes(lib)["returns"], lib.nn.utils.parametrize

    def register(cls: Any, **options: Any) -> Any:
        return lambda: repr(p.register_parametrization(lib.nn.Linear(2, 2), "weight", cls(), **options))

    def second(cls: Any) -> Any:
        layer = p.register_parametrization(lib.nn.Linear(2, 2), "weight", lib.nn.Identity())
        return lambda: repr(p.register_parametrization(layer, "weight", cls()))

    def not_there(x: Any) -> Any:
        raise NotImplementedError

    def assign(cls: Any) -> Any:
        layer = p.register_parametrization(lib.nn.Linear(2, 2), "weight", cls(), unsafe=True)
        return lambda: setattr(layer, "weight", lib.ones(2, 2))

    def later(values: list[Any]) -> Any:
        """An inverse that answers each call differently."""
        return lambda x: values.pop(0)

    shape, dtype = (lambda x: x[0]), (lambda x: x.double())
    calls = [
        lambda: p.register_parametrization(lib.nn.Linear(2, 2), "weights", lib.nn.Identity()),
        lambda: p.remove_parametrizations(lib.nn.Linear(2, 2), "weight"),
        lambda: p.ParametrizationList([], lib.ones(2)),
        register(returns(shape)),
        register(returns(shape), unsafe=True),
        register(returns(dtype)),
        register(returns(lambda x: 3)),
        register(returns(None, dtype)),
        register(returns(None, lambda x: 3)),
        register(returns(None, lambda x: (x, 3))),
        register(returns(None, not_there)),
        second(returns(shape)),
        second(returns(dtype)),
        second(returns(lambda x: 3)),
        second(returns(None, shape)),
        second(returns(None, dtype)),
        second(returns(None, lambda x: 3)),
        second(returns(None, not_there)),
        assign(returns()),
        assign(returns(None, later([lib.ones(2, 2), lib.ones(2, 2).double()]))),
        assign(returns(None, later([lib.ones(2, 2), 3]))),
        assign(returns(None, later([(lib.ones(2), lib.ones(2)), 3]))),
        assign(returns(None, later([(lib.ones(2), lib.ones(2)), (lib.ones(2),)]))),
        assign(returns(None, later([(lib.ones(2), lib.ones(2)), (lib.ones(2), 3)]))),
        assign(returns(None, later([(lib.ones(2), lib.ones(2)), (lib.ones(2), lib.ones(2).double())]))),
    ]
    return [tried(call) for call in calls]


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(errors, real_torch)


def test_the_cache_ends_with_the_outermost_block(real_torch: ModuleType) -> None:
    for lib in (__import__("reftorch"), real_torch):
        layer = lib.nn.utils.parametrizations.weight_norm(lib.nn.Linear(2, 2))
        with lib.nn.utils.parametrize.cached():
            with lib.nn.utils.parametrize.cached():
                first = layer.weight
            assert layer.weight is first
        assert layer.weight is not first


@pytest.mark.parametrize("strict", [True, False])
def test_a_parametrized_module_is_called_functionally(real_torch: ModuleType, strict: bool) -> None:
    def program(lib: Any) -> list[Any]:
        lib.manual_seed(3)
        layer = lib.nn.utils.parametrizations.weight_norm(lib.nn.Linear(2, 2))
        given = {name: p.detach() * 2 for name, p in layer.named_parameters()}
        return [lib.func.functional_call(layer, given, lib.ones(1, 2), strict=strict)]

    compare(program, real_torch)
