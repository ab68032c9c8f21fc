"""`diagnose` finds each of fifteen planted faults, names its place, and finds nothing in ten healthy programs.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import pytest

import reftorch as torch
import reftorch.nn.functional as F
from reftorch import nn
from reftorch.debug import Diagnosis, diagnose
from tests.debug.model.diagnosis import programs
from tests.debug.model.diagnosis.programs import GPT, HEALTHY, MLP, ConvNet, Program, gpt, labels, loop, text

HERE = "test_checklist.py"


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("program", HEALTHY.values(), ids=HEALTHY)
def test_nothing_is_found_in_a_healthy_program(program: Callable[[], Program]) -> None:
    found = diagnose(**program())
    assert found.ok, str(found)
    assert found.checks["one batch"] == "ok"


def found_in(program: Program, check: str, where: str, what: str) -> Diagnosis:
    """Diagnose, and require that this check finds something at this place, in these words."""
    diagnosis = diagnose(**program, steps=5)
    findings = [finding for finding in diagnosis.findings if finding.check == check]
    assert findings, f"{check} found nothing:\n{diagnosis}"
    assert any(where in finding.where and what in finding.what for finding in findings), str(diagnosis)
    assert all(finding.advice for finding in findings)
    return diagnosis


def only(diagnosis: Diagnosis, *checks: str) -> None:
    """Require that no other check found anything: a report of many findings helps nobody."""
    assert {finding.check for finding in diagnosis.findings} <= set(checks), str(diagnosis)


def points() -> tuple[Any, Any]:
    return torch.randn(16, 8), labels(16, 4)


def test_a_frozen_layer() -> None:
    program = programs.conv_net()
    program["model"].features[0].requires_grad_(False)  # for a first phase of the training, and never undone
    only(found_in(program, "frozen parameters", "'features.0'", "never trained"), "frozen parameters")


class TwoBranches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.deep, self.wide, self.head = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        wide = F.relu(self.wide(x)).detach()  # left from a plot of the features
        return self.head(torch.cat([F.relu(self.deep(x)), wide], 1))


def test_a_detached_branch() -> None:
    model = TwoBranches()
    program = loop(model, points(), F.cross_entropy, torch.optim.SGD(model.parameters(), lr=0.1))
    diagnosis = found_in(program, "gradient flow", HERE, "'wide.weight', 'wide.bias': no gradient")
    assert "wide = F.relu(self.wide(x)).detach()" in diagnosis.findings[0].where
    only(diagnosis, "gradient flow")


def test_a_softmax_over_the_wrong_dimension() -> None:
    diagnosis = found_in(gpt(dim=-2), "softmax of an attention", "scores.softmax(self.dim)", "another dimension")
    assert "in module 'attention'" in str(diagnosis)
    only(diagnosis, "softmax of an attention", "future")  # the sum over all queries also shows the later ones


class Mixture(nn.Module):
    """Experts whose weights should add up to one for each sample."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.experts = nn.Linear(8, 3), nn.Linear(8, 12)

    def forward(self, x: Any) -> Any:
        weights = self.gate(x).softmax(0)
        return (self.experts(x).unflatten(1, (3, 4)) * weights.unsqueeze(-1)).sum(1)


def test_a_softmax_over_the_batch() -> None:
    model = Mixture()
    program = loop(model, points(), F.cross_entropy, torch.optim.SGD(model.parameters(), lr=0.1))
    found_in(program, "samples apart", "weights = self.gate(x).softmax(0)", "the first sample")


@pytest.mark.parametrize("shift", [0, 2])
def test_a_shifted_target(shift: int) -> None:
    only(found_in(gpt(shift), "shift of the target", "the batch", "the target"), "shift of the target")


def test_a_loss_that_is_summed_over_the_batch() -> None:
    model = MLP()
    loss = nn.CrossEntropyLoss(reduction="sum")
    program = loop(model, points(), loss, torch.optim.SGD(model.parameters(), lr=0.001))
    found_in(program, "mean over the batch", "the loss", "doubles with the number of samples")


def test_a_learning_rate_that_is_too_high() -> None:
    program = programs.mlp()
    program["optimizer"].param_groups[0]["lr"] = 100.0
    diagnosis = found_in(program, "learning rate", "SGD, lr=100", "it falls to")
    only(diagnosis, "learning rate")
    assert [row.rate for row in diagnosis.learning_rates] == pytest.approx([0.1, 1.0, 10.0, 100.0])


def test_a_missing_zero_grad() -> None:
    program = programs.mlp()

    def train_step(model: Any, optimizer: Any, batch: Any) -> Any:
        model.train()
        loss = F.cross_entropy(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        return loss

    only(found_in({**program, "train_step": train_step}, "zero_grad", "train_step", "add up from step"), "zero_grad")


def test_eval_left_on() -> None:
    program = programs.conv_net()

    def train_step(model: Any, optimizer: Any, batch: Any) -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(batch[0]), batch[1]).backward()
        optimizer.step()

    program["train_step"] = train_step  # eval_step calls model.eval(), and nobody calls model.train()
    only(found_in(program, "training mode", "'features.1', 'drop'", "after eval_step"), "training mode")


def test_eval_left_on_before_a_loop_of_the_tool() -> None:
    model = ConvNet().eval()
    batch = (torch.randn(12, 1, 8, 8), labels(12, 3))
    found_in({"model": model, "batch": batch, "loss_fn": F.cross_entropy}, "training mode", "'drop'", "evaluation mode")


def test_batch_norm_that_learns_from_the_validation() -> None:
    program = programs.conv_net()

    def eval_step(model: Any, batch: Any) -> float:
        with torch.no_grad():  # which is not model.eval()
            return float(F.cross_entropy(model(batch[0]), batch[1]))

    program["eval_step"] = eval_step
    only(found_in(program, "evaluation", "features.1.running_mean", "data that is to test it"), "evaluation")


def test_batch_norm_that_mixes_the_samples() -> None:
    model = ConvNet(lambda width: nn.BatchNorm2d(width, track_running_stats=False))
    batch = (torch.randn(12, 1, 8, 8), labels(12, 3))
    program = loop(model, batch, F.cross_entropy, torch.optim.Adam(model.parameters(), lr=1e-2))
    found_in(program, "samples apart", "'features.1'", "the other samples of the batch")


def test_dead_relu_units() -> None:
    program = programs.mlp()
    with torch.no_grad():
        program["model"].inner.bias -= 6.0  # as after a step that was much too long
    diagnosis = found_in(program, "dead units", "return self.outer(self.act(self.inner(x)))", "of 32 units are zero")
    only(diagnosis, "dead units", "gradient flow", "constant output", "one batch")


class Elman(nn.Module):
    """A recurrence without gates; ``gain`` is the size of the eigenvalues of its weight."""

    def __init__(self, gain: float) -> None:
        super().__init__()
        self.inner, self.recurrent, self.head = nn.Linear(3, 12), nn.Linear(12, 12, bias=False), nn.Linear(12, 3)
        nn.init.orthogonal_(self.recurrent.weight, gain)

    def forward(self, x: Any) -> Any:
        hidden = torch.zeros(x.shape[0], 12)
        for step in range(x.shape[1]):
            hidden = self.inner(x[:, step]) + self.recurrent(hidden)
        return self.head(hidden)


@pytest.mark.parametrize(("gain", "explodes"), [(1.5, True), (0.9, False)])
def test_an_exploding_recurrent_gradient(gain: float, explodes: bool) -> None:
    model = Elman(gain)
    batch = (torch.randn(8, 40, 3), labels(8, 3))
    program = {"model": model, "batch": batch, "loss_fn": F.cross_entropy}
    if explodes:
        found_in(program, "size of gradients", "'recurrent.weight'", "the gradient explodes")
    else:
        assert diagnose(**program).checks["size of gradients"] == "ok"


class Gated(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x: Any) -> Any:
        gate = torch.sigmoid(self.inner(x))
        h = gate * 2
        gate += 1
        return self.outer(h * gate)


def test_an_op_in_place_on_a_saved_tensor() -> None:
    model = Gated()
    program = loop(model, points(), F.cross_entropy, torch.optim.SGD(model.parameters(), lr=0.1))
    diagnosis = found_in(program, "runs", "gate += 1", "gate = torch.sigmoid(self.inner(x))")
    only(diagnosis, "runs")
    assert diagnosis.checks["one batch"] == "not run: see runs"


class Energy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(8, 32), nn.Linear(1, 4)

    def forward(self, x: Any) -> Any:
        energy = (self.inner(x) ** 2).sum(1, keepdim=True)
        return self.outer(energy)


def test_an_overflow_in_half_precision() -> None:
    model = Energy().half()
    batch = (torch.randn(16, 8).half() * 300, labels(16, 4))
    program = {
        "model": model,
        "batch": batch,
        "loss_fn": lambda output, target: F.cross_entropy(output.float(), target),
    }
    diagnosis = found_in(program, "finite numbers", "energy = (self.inner(x) ** 2)", "first Inf")
    assert "65504" in diagnosis.findings[0].advice


def test_a_wrong_broadcast_in_the_loss() -> None:
    program = programs.regression()

    def loss(output: Any, target: Any) -> Any:
        return ((output - target) ** 2).mean()

    program = loop(program["model"], program["batch"], loss, program["optimizer"])
    found_in(program, "shape of the loss", "return ((output - target) ** 2).mean()", "different ranks")


def test_a_wrong_broadcast_inside_mse_loss() -> None:
    program = programs.regression()
    program = loop(program["model"], program["batch"], F.mse_loss, program["optimizer"])
    found_in(program, "shape of the loss", "mse_loss of [16, 1] and [16]", "each prediction meets each target")


def test_weights_that_a_load_untied() -> None:
    trained, model = GPT(), GPT()
    checkpoint = {name: tensor.clone() for name, tensor in trained.state_dict().items()}  # as from a file
    model.load_state_dict(checkpoint, assign=True)
    tokens = text()
    program = loop(
        model, (tokens[:, :7], tokens[:, 1:8]), programs.of_tokens, torch.optim.AdamW(model.parameters(), 1e-2)
    )
    only(found_in(program, "tied parameters", "'tokens.weight' and 'head.weight'", "separate"), "tied parameters")


# --- further faults that the checklist knows --------------------------------------------------------------------------


def test_an_optimizer_of_another_model() -> None:
    model, former = MLP(), MLP()
    program = {"model": model, "batch": points(), "loss_fn": F.cross_entropy}
    program["optimizer"] = torch.optim.SGD([*former.parameters(), *model.outer.parameters()], lr=0.1)
    found_in(program, "optimizer's parameters", "'inner.weight'", "4 tensors that are not in the model")


def test_a_step_that_is_not_taken() -> None:
    program = programs.mlp()

    def train_step(model: Any, optimizer: Any, batch: Any) -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(batch[0]), batch[1]).backward()

    found_in({**program, "train_step": train_step}, "zero_grad", "train_step", "changes no parameter")


def test_a_visible_future() -> None:
    found_in(gpt(causal=False), "future", "the model", "the answer is visible")


def test_a_softmax_before_cross_entropy() -> None:
    model = nn.Sequential(MLP(), nn.Softmax(dim=1))
    program = {"model": model, "batch": points(), "loss_fn": F.cross_entropy}
    found_in(program, "first loss", "the output", "softmax runs twice")


def test_a_large_first_loss() -> None:
    program = programs.mlp()
    with torch.no_grad():
        program["model"].outer.weight *= 300
    found_in(program, "first loss", "the last layer", "log(4) = 1.386")


def test_saturated_units() -> None:
    model = MLP(torch.tanh)
    with torch.no_grad():
        model.inner.weight *= 300
    program = {"model": model, "batch": points(), "loss_fn": F.cross_entropy}
    found_in(program, "saturated units", "tanh at", "of the values are within 1 %")


def test_an_error_of_the_model_is_a_finding() -> None:
    program = {"model": MLP(), "batch": (torch.randn(4, 9), labels(4, 4)), "loss_fn": F.cross_entropy}
    found_in(program, "runs", "inner (Linear)", "RuntimeError")


# --- the tool itself --------------------------------------------------------------------------------------------------


def state_of(program: Program) -> list[Any]:
    model, optimizer = program["model"], program["optimizer"]
    tensors = [t.detach().clone() for t in model.state_dict().values()]
    tensors += [p.grad.clone() for p in model.parameters() if p.grad is not None]
    tensors += [v.clone() for state in optimizer.state.values() for v in state.values() if isinstance(v, torch.Tensor)]
    numbers = [{k: v for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
    modes = [module.training for module in model.modules()]
    return [[t.tolist() for t in tensors], numbers, modes, torch.get_rng_state().tolist(), random.getstate()]


@pytest.mark.parametrize("name", ["conv_net", "gpt", "mlp"])
def test_the_program_is_untouched(name: str) -> None:
    program = HEALTHY[name]()
    model, optimizer = program["model"], program["optimizer"]
    for _ in range(2):
        program["train_step"](model, optimizer, program["batch"])
    next(model.children()).eval()
    tensors = {n: (t, t.grad) for n, t in [*model.named_parameters(), *model.named_buffers()]}
    state = {key: dict(value) for key, value in optimizer.state.items()}
    before = copy.deepcopy(state_of(program))
    diagnose(**program, steps=2)
    assert state_of(program) == before
    assert all(tensors[n] == (t, t.grad) or tensors[n][0] is t for n, t in model.named_parameters())
    assert all(tensors[n][0] is t and tensors[n][1] is t.grad for n, t in model.named_parameters())
    assert all(tensors[n][0] is t for n, t in model.named_buffers())
    assert all(optimizer.state[key][n] is v for key, own in state.items() for n, v in own.items() if n != "step")
    program["train_step"](model, optimizer, program["batch"])


def test_two_diagnoses_are_equal() -> None:
    program = programs.mlp()
    assert str(diagnose(**program, steps=2)) == str(diagnose(**program, steps=2))


def test_the_report() -> None:
    program = programs.mlp()
    program["model"].inner.requires_grad_(False)
    diagnosis = diagnose(**program)
    lines = str(diagnosis).splitlines()
    assert lines[0].startswith("diagnosis: 1 finding in ")
    assert any(line.split() == ["frozen", "parameters", "found"] for line in lines)
    assert any(line.startswith("do ") and "requires_grad_(True)" in line for line in lines)
    html = diagnosis._repr_html_()
    assert "frozen parameters" in html and "learning-rate scan" in html and "#cf222e" in html


def test_wrong_arguments() -> None:
    program = programs.mlp()
    with pytest.raises(TypeError, match="expected a module"):
        diagnose(lambda x: x, program["batch"], F.cross_entropy)
    with pytest.raises(TypeError, match=r"\(inputs, target\)"):
        diagnose(program["model"], torch.ones(2), F.cross_entropy)
    with pytest.raises(TypeError, match="not a loss"):
        diagnose(program["model"], torch.randn(2, 8))
    with pytest.raises(ValueError, match="no check is called"):
        diagnose(**program, skip=["everything"])
    with pytest.raises(ValueError, match="needs an optimizer"):
        diagnose(program["model"], program["batch"], F.cross_entropy, train_step=program["train_step"])
    left = diagnose(**program, skip=["one batch"])
    assert left.checks["one batch"] == "not run: left out"
