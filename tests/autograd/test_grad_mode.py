"""no_grad, enable_grad, set_grad_enabled, inference_mode.

Mirrors: test/test_autograd.py (the grad mode tests)
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch as torch
from tests.autograd.programs import assert_same


def test_context_managers_nest_and_restore():
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert torch.is_grad_enabled()
            with torch.set_grad_enabled(False):
                assert not torch.is_grad_enabled()
            assert torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_an_error_restores_too():
    with pytest.raises(ValueError, match="inside"), torch.no_grad():
        raise ValueError("inside")
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("decorate", [torch.no_grad(), torch.no_grad])
def test_decorator(decorate):
    @decorate
    def mode(add):
        "text"
        return torch.is_grad_enabled(), add

    assert mode(add=1) == (False, 1)
    assert mode.__name__ == "mode" and mode.__doc__ == "text"
    assert torch.is_grad_enabled()


def test_decorated_function_may_call_itself():
    @torch.no_grad()
    def count(n):
        assert not torch.is_grad_enabled()
        return 0 if n == 0 else 1 + count(n - 1)

    assert count(3) == 3
    assert torch.is_grad_enabled()


def test_decorated_generator_switches_only_inside():
    caught = []

    @torch.no_grad()
    def generate():
        assert not torch.is_grad_enabled()
        received = yield 1
        assert not torch.is_grad_enabled()
        try:
            yield received
        except KeyError as error:
            caught.append((error.args[0], torch.is_grad_enabled()))
            yield 3
        return 4

    generator = generate()
    assert next(generator) == 1 and torch.is_grad_enabled()
    assert generator.send(2) == 2 and torch.is_grad_enabled()
    assert generator.throw(KeyError("thrown")) == 3
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == 4 and caught == [("thrown", False)]


def test_set_grad_enabled_as_a_call_and_decorator():
    try:
        torch.set_grad_enabled(False)
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)

    @torch.set_grad_enabled(False)
    def mode():
        return torch.is_grad_enabled()

    assert torch.is_grad_enabled() and mode() is False


def test_a_class_is_decorated_with_a_warning(real_torch_or_none):
    for lib in (torch, real_torch_or_none) if real_torch_or_none else (torch,):

        class Model:
            def __init__(self, lib=lib):
                self.enabled = lib.is_grad_enabled()

        with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):
            make = lib.no_grad()(Model)
        assert not make().enabled


def test_no_grad_records_nothing():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
        z = torch.ones(2, requires_grad=True)
    assert not y.requires_grad and y.grad_fn is None and z.requires_grad


# inference mode: each program runs here and in torch


def makes_inference_tensors(lib):
    with lib.inference_mode():
        a = lib.ones(3)
        r = [a.is_inference(), a.requires_grad]
        a.requires_grad_()
        a2 = lib.ones(3, requires_grad=True)
        r += [a2.requires_grad, (a2 * 2).requires_grad]
    return [*r, str(a)]


def inplace_outside(lib):
    with lib.inference_mode():
        a = lib.ones(3)
    a.add_(1)


def setitem_outside(lib):
    with lib.inference_mode():
        a = lib.ones(3)
    a[0] = 3


def version(lib):
    with lib.inference_mode():
        a = lib.ones(3)
    return a._version


def saved_for_backward(lib):
    with lib.inference_mode():
        a = lib.ones(3)
    return lib.ones(3, requires_grad=True) * a


def not_saved_for_backward(lib):
    with lib.inference_mode():
        a = lib.ones(3)
    return [
        (lib.ones(3, requires_grad=True) + a).tolist(),
        a.clone().is_inference(),
        a.view(3).is_inference(),
        a.view(3)._is_view(),
        a.detach().is_inference(),
        a.data.is_inference(),
    ]


def requires_grad_outside(lib):
    with lib.inference_mode():
        a = lib.ones(3)
    a.requires_grad = True


def views_of_normal_tensors(lib):
    m = lib.ones(3)
    with lib.inference_mode():
        v = m[:2]
        m.add_(1)
        r = [v.is_inference(), v._is_view(), m._version, m.clone().is_inference(), m.detach().is_inference()]
    v.add_(1)
    return [*r, m.tolist(), m._version]


def inplace_on_a_view_of_a_leaf(lib):
    n = lib.ones(3, requires_grad=True)
    with lib.inference_mode():
        q = n[:2]
    q.add_(1)


def recorded_inplace_on_a_view(lib):
    m = lib.ones(3)
    with lib.inference_mode():
        v = m[:2]
    v.add_(lib.ones(2, requires_grad=True))


def switched_off_inside(lib):
    with lib.inference_mode(), lib.inference_mode(False):
        return [lib.is_grad_enabled(), lib.ones(1).is_inference(), lib.is_inference_mode_enabled()]


def decorators(lib):

    @lib.inference_mode
    def f():
        return lib.is_inference_mode_enabled()

    @lib.inference_mode(mode=False)
    def g():
        return lib.is_inference_mode_enabled()

    @lib.inference_mode()
    def h():
        yield lib.is_inference_mode_enabled()
        yield lib.is_inference_mode_enabled()

    return [f(), g(), list(h()), lib.is_inference_mode_enabled()]


def backward_inside(lib):
    n = lib.ones(3, requires_grad=True)
    s = n.sum()
    with lib.inference_mode():
        s.backward()
        return n.grad.is_inference()


def out(lib):
    with lib.inference_mode():
        a = lib.ones(3)
    lib.add(lib.ones(3), lib.ones(3), out=a)


def multithreading(lib):
    r = [lib.autograd.is_multithreading_enabled()]
    with lib.autograd.set_multithreading_enabled(False):
        r.append(lib.autograd.is_multithreading_enabled())
    lib.autograd.set_multithreading_enabled(True)
    return [*r, lib.autograd.is_multithreading_enabled()]


def wrong_mode(lib):
    lib.set_grad_enabled(1)


PROGRAMS = [
    makes_inference_tensors,
    inplace_outside,
    setitem_outside,
    version,
    saved_for_backward,
    not_saved_for_backward,
    requires_grad_outside,
    views_of_normal_tensors,
    inplace_on_a_view_of_a_leaf,
    recorded_inplace_on_a_view,
    switched_off_inside,
    decorators,
    backward_inside,
    out,
    multithreading,
    wrong_mode,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same_as_torch(program, real_torch):
    assert_same(program, torch, real_torch)


def test_hidden_changes():
    x, y = torch.ones(2), torch.ones(2)
    x.add_(1)
    with torch.autograd._unsafe_preserve_version_counter((x, y)):
        x[:1].add_(1)
        y.add_(1)
        assert (x._version, y._version) == (2, 1)
    assert (x._version, y._version, x[:1]._version) == (1, 0, 1)
    assert x.tolist() == [3, 2]
    with pytest.raises(RuntimeError, match="Cannot set a version_counter to a value below 0: -1"):
        torch._C._autograd._unsafe_set_version_counter((x,), (-1,))
    with pytest.raises(TypeError, match="expects tensors, but got int"):
        torch._C._autograd._unsafe_set_version_counter((1,), (1,))


def made_in_inference(t: Any) -> dict[str, Any]:
    with t.inference_mode():
        return {"w": t.nn.Parameter(t.ones(2)), "layer": t.nn.Embedding(3, 2), "plain": t.ones(2)}


INFERENCE: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "a number": lambda t, m: ((m["w"] * 3).sum().backward(), m["w"].grad.tolist())[1],
    "a normal tensor": lambda t, m: ((m["w"] + t.ones(2)).sum().backward(), m["w"].grad.tolist())[1],
    "rows": lambda t, m: (m["layer"](t.tensor([1])).sum().backward(), m["layer"].weight.grad.tolist())[1],
    "a gradient": lambda t, m: t.autograd.grad((m["w"] * 2).sum(), m["w"])[0].tolist(),
    "a copy": lambda t, m: (m["w"].clone().requires_grad, m["plain"].clone().is_inference()),
    "only itself": lambda t, m: (m["w"] * m["w"]).requires_grad,
    "one argument": lambda t, m: (m["w"].exp().requires_grad, m["w"].view(2).requires_grad),
    "saved": lambda t, m: t.ones(2, requires_grad=True) * m["w"],
    "in place": lambda t, m: m["plain"].add_(1),
    "inside": lambda t, m: t.inference_mode()(lambda: (m["w"] * 3).requires_grad)(),
}


@pytest.mark.parametrize("name", INFERENCE)
def test_a_parameter_that_was_made_in_inference_mode(name: str, real_torch: ModuleType) -> None:
    def outcome(t: Any) -> Any:
        try:
            return INFERENCE[name](t, made_in_inference(t))
        except RuntimeError as error:
            return str(error)[:60]

    assert outcome(torch) == outcome(real_torch)
