"""Gradients that are missing, useless or wrong are told apart.

Mirrors: nothing in PyTorch: it has gradcheck, for functions.
"""

from typing import Any

import pytest

import reftorch as torch
from reftorch.debug import check_gradients
from tests.debug.models import nested, numbers


class Halved(torch.autograd.Function):
    """The square, with half of its gradient."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        return grad * ctx.saved_tensors[0]


class Troubled(torch.nn.Module):
    """A parameter for each trouble."""

    def __init__(self) -> None:
        super().__init__()
        for name in ("good", "wrong", "unused", "zero", "large", "fixed", "nan"):
            setattr(self, name, torch.nn.Parameter(torch.tensor([0.5, 2.0])))
        self.fixed.requires_grad_(False)
        self.nan.data[0] = 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * self.good + Halved.apply(self.wrong) + self.zero * 0 + self.large * 1e5 + self.fixed
        return y + self.nan.sqrt() * 0


def test_each_trouble_has_its_name() -> None:
    found = check_gradients(Troubled(), torch.ones(3, 2))
    status = {row.name: row.status for row in found.rows}
    assert status["good"] == "ok" and status["fixed"] == "not trained"
    assert status["unused"] == "no gradient" and status["zero"] == "zero"
    assert status["large"] == "exploding" and status["nan"] == "NaN in 1 of 2"
    assert status["wrong"].startswith("wrong at [")
    assert set(found.problems) == {"wrong", "unused", "zero", "large", "nan"} and not found.ok
    assert str(found).startswith("gradients: 5 of 7 parameters have a problem")
    assert "color:" in found._repr_html_()


def test_a_wrong_gradient_is_told_with_the_slope() -> None:
    model = Troubled()
    found = check_gradients(model, torch.ones(1, 2), loss=lambda y: y.sum())
    assert found.problems["wrong"] == "wrong at [1]: 2, measured 4"


def test_a_sound_model() -> None:
    found = check_gradients(nested(), numbers())
    sizes = {name: parameter.numel() for name, parameter in nested().named_parameters()}
    assert found.ok and all(row.checked == min(4, sizes[row.name]) for row in found.rows)
    assert str(found).startswith("gradients: all ok")


def test_gradients_that_are_there() -> None:
    model = Troubled()
    model(torch.ones(3, 2)).sum().backward()
    found = check_gradients(model)
    assert set(found.problems) == {"unused", "zero", "large", "nan"}  # nothing is measured
    assert check_gradients(model, large=1e7).problems.keys() == {"unused", "zero", "nan"}


def test_the_model_stays_as_it_was() -> None:
    model = nested()
    model(numbers()).sum().backward()
    before = [(p.detach().clone(), p.grad) for p in model.parameters()]
    state = torch.get_rng_state()
    check_gradients(model, numbers())
    assert all(p.equal(old) and p.grad is grad for p, (old, grad) in zip(model.parameters(), before, strict=True))
    assert torch.get_rng_state().equal(state) and model.b.weight.dtype == torch.float32


def test_a_kink_is_no_wrong_gradient() -> None:
    class Kinked(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.tensor([0.0, 1.0]))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (self.w * x).relu()

    found = check_gradients(Kinked(), torch.ones(2), loss=lambda y: y.sum())
    assert found.ok and found.rows[0].checked == 1


def test_the_same_numbers_are_drawn_each_time() -> None:
    class Noisy(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.w * x * torch.rand(3)

    assert check_gradients(Noisy(), torch.ones(3)).ok


def test_what_cannot_be_checked() -> None:
    with pytest.raises(ValueError, match="a loss needs inputs"):
        check_gradients(nested(), loss=lambda y: y.sum())
    with pytest.raises(ValueError, match=r"must be a single number, got the shape \(2, 1\)"):
        check_gradients(nested(), numbers(), loss=lambda y: y)
    with pytest.raises(ValueError, match="no floating-point tensor"):
        check_gradients(torch.nn.Identity(), torch.arange(3))


def test_a_forgotten_backward_is_guessed() -> None:
    model = nested()
    assert "Was backward called?" in str(check_gradients(model))
    model(numbers()).sum().backward()
    assert "Was backward called?" not in str(check_gradients(model))
