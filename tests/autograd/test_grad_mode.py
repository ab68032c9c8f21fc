"""no_grad, enable_grad, set_grad_enabled.

Mirrors: test/test_autograd.py (the grad mode tests)
"""

import pytest

import reftorch as torch


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


def test_a_class_is_refused():
    with pytest.raises(TypeError, match="Decorate the methods"):
        torch.no_grad()(type("Model", (), {}))


def test_no_grad_records_nothing():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        y = x * 2
        z = torch.ones(2, requires_grad=True)
    assert not y.requires_grad and y.grad_fn is None and z.requires_grad
