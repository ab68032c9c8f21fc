"""Each threshold of `diagnose` has a model just below it and one just above it.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import reftorch as torch
import reftorch.nn.functional as F
from reftorch import nn
from reftorch.debug import Diagnosis, diagnose
from reftorch.debug.model.diagnosis import checklist, training
from reftorch.debug.model.diagnosis.findings import LearningRate
from tests.debug.model.diagnosis.programs import MLP, Program, labels
from tests.debug.model.diagnosis.zoo import nothing, of, points, steps_of


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


def result(program: Program, check: str) -> str:
    """The result of one check."""
    names = [*checklist.BEFORE_A_CALL, *checklist.RUNS, *checklist.OF_A_CALL, "learning rate", "one batch"]
    found: Diagnosis = diagnose(**program, skip=[name for name in names if name != check])
    return found.checks[check]


def units(act: Callable, idle: int, low: float) -> Program:
    """A classifier with 32 units, of which some are at one end for each sample, and the others are not."""
    model = MLP(act)
    with torch.no_grad():
        model.inner.weight.zero_()
        model.inner.bias.fill_(0.5)
        model.inner.bias[:idle] = low
    return of(model, torch.randn(16, 8), labels(16, 4))


@pytest.mark.parametrize(("idle", "wanted"), [(19, "ok"), (20, "found")])
def test_dead_units_are_more_than_six_of_ten(idle: int, wanted: str) -> None:
    assert result(units(F.relu, idle, -1.0), "dead units") == wanted


@pytest.mark.parametrize(("idle", "wanted"), [(28, "ok"), (29, "found")])
def test_saturated_values_are_more_than_nine_of_ten(idle: int, wanted: str) -> None:
    assert result(units(torch.tanh, idle, 9.0), "saturated units") == wanted


@pytest.mark.parametrize(("bias", "wanted"), [(2.2, "ok"), (2.4, "found")])
def test_a_saturated_value_is_within_a_hundredth_of_the_range(bias: float, wanted: str) -> None:
    assert result(units(torch.tanh, 32, bias), "saturated units") == wanted  # 0.976 and 0.984: the margin is 0.02


@pytest.mark.parametrize(("samples", "wanted"), [(7, "not run"), (8, "found")])
def test_eight_values_of_a_unit_are_enough(samples: int, wanted: str) -> None:
    program = units(F.relu, 32, -1.0)
    program["batch"] = (torch.randn(samples, 8), labels(samples, 4))
    assert result(program, "dead units").startswith(wanted)


class Slopes(nn.Module):
    """A loss with a chosen gradient for each of two weights of ones."""

    def __init__(self, *slopes: float) -> None:
        super().__init__()
        self.slopes = slopes
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(2, 2, dtype=torch.float64)) for _ in slopes])

    def forward(self, x: Any) -> Any:
        return {
            "loss": sum((w * slope).sum() for w, slope in zip(self.weights, self.slopes, strict=True)) + 0 * x.sum()
        }


@pytest.mark.parametrize(("slope", "wanted"), [(990.0, "ok"), (1010.0, "found")])
def test_a_gradient_explodes_at_a_thousand_times_the_parameter(slope: float, wanted: str) -> None:
    assert result({"model": Slopes(slope), "batch": torch.ones(8, 1)}, "size of gradients") == wanted


@pytest.mark.parametrize(("slope", "wanted"), [(1.1e-9, "ok"), (0.9e-9, "found")])
def test_a_gradient_vanishes_at_a_billionth_of_the_largest(slope: float, wanted: str) -> None:
    assert result({"model": Slopes(1.0, slope), "batch": torch.ones(8, 1)}, "size of gradients") == wanted


@pytest.mark.parametrize(("gap", "wanted"), [(5.1, "ok"), (5.2, "found")])
def test_the_first_loss_may_be_three_guesses_and_one(gap: float, wanted: str) -> None:
    model = nn.Linear(2, 4)
    with torch.no_grad():
        model.weight.zero_()
        model.bias.copy_(torch.tensor([gap, 0.0, 0.0, 0.0]))
    assert result(of(model, torch.randn(8, 2), torch.ones(8, dtype=torch.long)), "first loss") == wanted


@pytest.mark.parametrize(("growth", "wanted"), [(1.985, "ok"), (1.995, "found"), (2.015, "ok")])
def test_a_summed_loss_doubles_within_a_hundredth(growth: float, wanted: str) -> None:
    def loss(output: Any, target: Any) -> Any:
        return F.mse_loss(output, target) * len(target) ** math.log2(growth)

    assert result(of(nn.Linear(2, 1), torch.randn(8, 2), torch.randn(8, 1), loss), "mean over the batch") == wanted


@pytest.mark.parametrize(("part", "wanted"), [(1e-5, "ok"), (1e-2, "found")])
def test_samples_mix_if_more_than_a_ten_thousandth_changes(part: float, wanted: str) -> None:
    class Mixing(nn.Linear):
        def forward(self, x: Any) -> Any:
            y = super().forward(x)
            return y + part * y.mean(0)

    assert result(of(Mixing(4, 3), torch.randn(8, 4), labels(8, 3)), "samples apart") == wanted


@pytest.mark.parametrize(("uses", "recurrence"), [(2, False), (3, True)])
def test_a_recurrence_uses_a_weight_three_times(uses: int, recurrence: bool) -> None:
    class Repeated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = nn.Linear(4, 4), nn.Linear(4, 1)
            nn.init.orthogonal_(self.body.weight, 100.0)

        def forward(self, x: Any) -> Any:
            for _ in range(uses):
                x = self.body(x)
            return self.head(x)

    found = diagnose(Repeated(), (torch.randn(8, 4), torch.randn(8, 1)), F.mse_loss)
    (finding,) = [each for each in found.findings if each.check == "size of gradients"]
    assert ("recurrent weight" in finding.advice) is recurrence


def test_a_twentieth_of_the_loss_counts_as_learned() -> None:
    assert training.learned(LearningRate(0.1, 1.0, 0.949)) and not training.learned(LearningRate(0.1, 1.0, 0.951))
    assert training.learned(LearningRate(0.1, -1.0, -1.051)) and not training.learned(LearningRate(0.1, -1.0, -1.049))


class Slow(nn.Module):
    """A loss that falls by one thousandth of its first value with each step of Adam, whose step is the rate."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.zeros(3)), scale

    def forward(self, x: Any) -> Any:
        return {"loss": 1 - self.scale * self.weight.mean() + 0 * x.sum()}


@pytest.mark.parametrize(("scale", "wanted"), [(0.0045, "found"), (0.0055, "ok")])
def test_a_batch_is_learned_in_a_hundred_steps_or_never(scale: float, wanted: str) -> None:
    # At the rate 0.1, a hundred steps of Adam move the weights by 10, and the loss falls by ten times the scale.
    assert result({"model": Slow(scale), "batch": torch.ones(2, 1)}, "one batch") == wanted


@pytest.mark.parametrize(("loss", "wanted"), [(0.9e-3, "ok"), (1.1e-3, "found")])
def test_a_small_loss_counts_as_learned(loss: float, wanted: str) -> None:
    class Constant(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(8))

        def forward(self, x: Any) -> Any:
            return {"loss": loss + 0 * self.weight.sum() + 0 * x.sum()}

    assert result({"model": Constant(), "batch": torch.ones(2, 1)}, "one batch") == wanted


@pytest.mark.parametrize(("width", "wanted"), [(31, "not run"), (32, "found")])
def test_more_targets_than_parameters_are_not_learned_by_heart(width: int, wanted: str) -> None:
    class Deaf(nn.Module):
        """A model whose output does not move."""

        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.zeros(width))

        def forward(self, x: Any) -> Any:
            return x + 0 * self.weight.sum()

    assert result(of(Deaf(), torch.zeros(8, 4), torch.ones(8, 4), F.mse_loss), "one batch").startswith(wanted)


@pytest.mark.parametrize(("every", "wanted"), [(32, "ok"), (33, "found")])
def test_gradients_of_thirty_two_calls_may_be_collected(every: int, wanted: str) -> None:
    program = points(steps_of(nothing, lambda optimizer: optimizer.zero_grad(), every))
    assert result(program, "zero_grad") == wanted


def test_gradients_that_are_collected_and_never_cleared_are_found() -> None:
    program = points(steps_of(nothing, nothing, every=4))
    assert result(program, "zero_grad") == "found"


def decaying(decay: float) -> Program:
    """A loss, the sum of four weights, that a step moves away from zero; the decay takes a part of the step back."""
    model = Slopes(1.0)
    with torch.no_grad():
        model.weights[0].fill_(-1.0)
    return {
        "model": model,
        "batch": torch.ones(8, 1),
        "optimizer": torch.optim.SGD(model.parameters(), lr=0.01, weight_decay=decay),
    }


@pytest.mark.parametrize(("decay", "wanted"), [(0.7, "ok"), (0.8, "found")])
def test_weight_decay_may_take_half_of_what_is_learned_and_a_twentieth(decay: float, wanted: str) -> None:
    # Ten steps of 0.01 move the loss by 0.4, and decay leaves 0.4 * (1 - decay); a twentieth of the loss is 0.2.
    assert result(decaying(decay), "learning rate") == wanted


@pytest.mark.parametrize(("rate", "wanted"), [(1.5e-6, "ok"), (0.5e-6, "found")])
def test_a_rate_that_moves_a_hundred_thousandth_of_the_loss_is_no_rate(rate: float, wanted: str) -> None:
    # The loss is 4 and falls by 4 times the rate in each of ten steps.
    model = Slopes(1.0)
    program = {
        "model": model,
        "batch": torch.ones(8, 1),
        "optimizer": torch.optim.SGD(model.parameters(), lr=rate),
    }
    assert result(program, "learning rate") == wanted


@pytest.mark.parametrize(("sum_of_row", "wanted"), [(1.009, "ok"), (1.011, "found")])
def test_probabilities_add_up_to_one_within_a_hundredth(sum_of_row: float, wanted: str) -> None:
    class Rows(nn.Linear):
        def forward(self, x: Any) -> Any:
            return super().forward(x).log_softmax(1) + math.log(sum_of_row)

    assert result(of(Rows(4, 3), torch.randn(8, 4), labels(8, 3), F.nll_loss), "first loss") == wanted


@pytest.mark.parametrize(("samples", "wanted"), [(15, "ok"), (16, "found")])
def test_sixteen_equal_targets_are_not_chance(samples: int, wanted: str) -> None:
    assert result(of(MLP(), torch.randn(samples, 8), torch.ones(samples).long()), "data") == wanted


@pytest.mark.parametrize(("doubtful", "wanted"), [(8, "ok"), (9, "found")])
def test_more_than_half_of_the_samples_contradict_each_other(doubtful: int, wanted: str) -> None:
    x = torch.randn(16, 8)
    x[:doubtful] = x[0].clone()
    assert result(of(MLP(), x, labels(16, 4)), "data") == wanted


REMEDIES: dict[str, tuple[Callable[[], Program], str, str]] = {
    "large targets": (
        lambda: of(MLP(), torch.randn(16, 8), torch.randn(16, 4) * 100 + 300, F.mse_loss),
        "size of gradients",
        "normalize the targets: their mean is ",
    ),
    "large inputs": (
        lambda: of(MLP(), torch.randn(16, 8) * 3e4, torch.randn(16, 4), F.mse_loss),
        "size of gradients",
        "normalize the inputs: their mean is ",
    ),
    "large weights": (
        lambda: of(
            nn.Sequential(*[nn.Linear(8, 8) for _ in range(12)], nn.Linear(8, 1)).apply(enlarge),
            torch.randn(16, 8),
            torch.randn(16, 1),
            F.mse_loss,
        ),
        "size of gradients",
        "initialize the weights with smaller values",
    ),
    "a recurrent layer": (
        lambda: of(Recurrence(), torch.randn(8, 30, 3), torch.randn(8, 1), F.mse_loss),
        "size of gradients",
        "in a recurrence, keep the norm of the recurrent weight near 1",
    ),
}


def enlarge(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.orthogonal_(module.weight, 4.0)


class Recurrence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn, self.head = nn.RNN(3, 12, nonlinearity="relu", batch_first=True), nn.Linear(12, 1)
        nn.init.orthogonal_(self.rnn.weight_hh_l0, 3.0)

    def forward(self, x: Any) -> Any:
        return self.head(self.rnn(x)[0][:, -1])


@pytest.mark.parametrize(("program", "check", "advice"), REMEDIES.values(), ids=REMEDIES)
def test_the_remedy_fits_the_cause(program: Callable[[], Program], check: str, advice: str) -> None:
    found = diagnose(**program(), skip=["one batch", "learning rate"])
    texts = [finding.advice for finding in found.findings if finding.check == check]
    assert texts and all(text.startswith(advice) for text in texts), str(found)
