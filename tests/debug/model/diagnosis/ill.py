"""Models that do not learn, each for one reason that people meet, with the finding and the remedy that they need.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import reftorch as torch
import reftorch.nn.functional as F
from reftorch import nn
from tests.debug.model.diagnosis import programs
from tests.debug.model.diagnosis.programs import MLP, ConvNet, Program, labels, loop
from tests.debug.model.diagnosis.zoo import Calls, of


class Ill(NamedTuple):
    """A program with what `diagnose` must say: the check, words of the place or the fact, and words of the remedy."""

    make: Callable[[], Program]
    check: str
    says: str
    remedy: str
    also: tuple[str, ...] = ()  # checks that see the same fault from another side


def points() -> tuple[Any, Any]:
    return torch.randn(16, 8), labels(16, 4)


def sgd(model: Any, **options: Any) -> Any:
    return torch.optim.SGD(model.parameters(), **{"lr": 0.1, **options})


def dead_units() -> Program:
    program = programs.mlp()
    with torch.no_grad():
        program["model"].inner.bias -= 6.0
    return program


def high_rate() -> Program:
    program = programs.mlp()
    program["optimizer"].param_groups[0]["lr"] = 100.0
    return program


def low_rate() -> Program:
    program = programs.mlp()
    program["optimizer"].param_groups[0]["lr"] = 1e-7
    return program


def strong_decay() -> Program:
    program = programs.mlp()
    program["optimizer"] = sgd(program["model"], lr=0.5, weight_decay=3.0)
    return program


def no_zero_grad() -> Program:
    def step(model: Any, optimizer: Any, batch: Any) -> None:
        model.train()
        F.cross_entropy(model(batch[0]), batch[1]).backward()
        optimizer.step()

    return {**programs.mlp(), "train_step": step}


def softmax_before_cross_entropy() -> Program:
    return of(nn.Sequential(MLP(), nn.Softmax(dim=1)), *points())


def scores_into_nll_loss() -> Program:
    return of(MLP(), *points(), F.nll_loss)


def probabilities_into_nll_loss() -> Program:
    return of(nn.Sequential(MLP(), nn.Softmax(dim=1)), *points(), F.nll_loss)


def sigmoid_before_bce_with_logits() -> Program:
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())
    return of(model, torch.randn(16, 8), labels(16, 2).float()[:, None], F.binary_cross_entropy_with_logits)


def frozen_by_accident() -> Program:
    program = programs.conv_net()
    program["model"].features.requires_grad_(False)
    return program


def detached_features() -> Program:
    model = Calls(
        lambda m, x: m["head"](torch.cat([m["deep"](x).relu(), m["wide"](x).relu().detach()], 1)),
        deep=nn.Linear(8, 8),
        wide=nn.Linear(8, 8),
        head=nn.Linear(16, 4),
    )
    return of(model, *points())


def loss_made_again() -> Program:
    return of(MLP(), *points(), lambda output, target: torch.tensor(F.cross_entropy(output, target).item()))


def large_targets() -> Program:
    return of(MLP(), torch.randn(16, 8), torch.randn(16, 4) * 100 + 300, F.mse_loss)


def sigmoid_stack() -> Program:
    layers = [layer for _ in range(24) for layer in (nn.Linear(8, 8), nn.Sigmoid())]
    return of(nn.Sequential(*layers, nn.Linear(8, 4)), *points())


def large_recurrent_weight() -> Program:
    def forward(m: Any, x: Any) -> Any:
        hidden = torch.zeros(len(x), 12)
        for step in range(x.shape[1]):
            hidden = m["inner"](x[:, step]) + m["again"](hidden)
        return m["head"](hidden)

    model = Calls(forward, inner=nn.Linear(3, 12), again=nn.Linear(12, 12, bias=False), head=nn.Linear(12, 3))
    nn.init.orthogonal_(model.layers["again"].weight, 1.5)
    return of(model, torch.randn(8, 40, 3), labels(8, 3))


def batch_norm_of_one_sample() -> Program:
    model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4))
    return of(model, torch.randn(1, 8), torch.tensor([2]))


def dropout_in_evaluation() -> Program:
    def step(model: Any, batch: Any) -> None:
        with torch.no_grad():
            F.cross_entropy(model(batch[0]), batch[1])

    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))
    return {**loop(model, points(), F.cross_entropy, sgd(model)), "eval_step": step}


def evaluation_mode_in_training() -> Program:
    return of(ConvNet().eval(), torch.randn(12, 1, 8, 8), labels(12, 3))


def layer_replaced_after_the_optimizer() -> Program:
    model = MLP()
    optimizer = sgd(model)
    model.outer = nn.Linear(32, 4)  # for the classes of another task
    return {**of(model, *points()), "optimizer": optimizer}


def input_times_zero() -> Program:
    model = MLP()
    program = of(model, *points())
    return {**program, "model": Calls(lambda m, x: m["net"](x * 0), net=model)}


def missing_values() -> Program:
    x, y = points()
    x[3, 2] = float("nan")
    return of(MLP(), x, y)


def labels_from_one() -> Program:
    return of(MLP(), torch.randn(16, 8), labels(16, 4) + 1)


def sorted_data() -> Program:
    return of(MLP(), torch.randn(16, 8), torch.full((16,), 2))


def overwritten_inputs() -> Program:
    return of(MLP(), torch.randn(1, 8).expand(16, 8).clone(), labels(16, 4))


def tie_lost_by_deepcopy() -> Program:
    class Words(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.body = nn.Embedding(12, 16), nn.Linear(16, 16)
            self.head = nn.Linear(16, 12, bias=False)
            self.head.weight = nn.Parameter(self.embed.weight.detach().clone())

        def forward(self, x: Any) -> Any:
            return self.head(self.body(self.embed(x)).relu())

    return of(Words(), torch.arange(12), (torch.arange(12) + 5) % 12)


def predictions_against_all_targets() -> Program:
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
    return of(model, torch.randn(16, 4), torch.randn(16), lambda y, t: ((y - t) ** 2).mean())


def summed_loss() -> Program:
    return of(MLP(), *points(), nn.CrossEntropyLoss(reduction="sum"))


# What a model shows besides whose outputs are all equal.
ALL_EQUAL = ("constant output", "gradient flow", "one batch")

ILL = {
    "dead units": Ill(dead_units, "dead units", "of 32 units are zero", "lower the learning rate", ALL_EQUAL),
    "a learning rate that explodes": Ill(high_rate, "learning rate", "SGD, lr=100", "set lr to about 1"),
    "a learning rate that does nothing": Ill(low_rate, "learning rate", "does not move", "set lr to about 0."),
    "weight decay": Ill(strong_decay, "learning rate", "weight_decay=3", "lower weight_decay"),
    "no zero_grad": Ill(no_zero_grad, "zero_grad", "add up from step to step", "call optimizer.zero_grad()"),
    "softmax twice": Ill(softmax_before_cross_entropy, "first loss", "softmax runs twice", "return the scores"),
    "scores into nll_loss": Ill(scores_into_nll_loss, "first loss", "not logarithms", "take cross_entropy"),
    "probabilities into nll_loss": Ill(probabilities_into_nll_loss, "first loss", "not logarithms", "log_softmax"),
    "sigmoid twice": Ill(sigmoid_before_bce_with_logits, "first loss", "sigmoid runs twice", "return the scores"),
    "frozen by accident": Ill(frozen_by_accident, "frozen parameters", "never trained", "requires_grad_(True)"),
    "detached features": Ill(detached_features, "gradient flow", "detach at", "remove the detach"),
    "a loss made again": Ill(loss_made_again, "runs", "the loss has no graph", "look for .item()"),
    "large targets": Ill(large_targets, "size of gradients", "explodes", "normalize the targets", ("one batch",)),
    "a stack of sigmoids": Ill(
        sigmoid_stack, "size of gradients", "it vanishes", "use residual connections", ALL_EQUAL
    ),
    "a large recurrent weight": Ill(
        large_recurrent_weight, "size of gradients", "explodes", "in a recurrence", ("first loss", "one batch")
    ),
    "batch norm of one sample": Ill(batch_norm_of_one_sample, "runs", "more than 1 value", "take a larger batch"),
    "dropout in evaluation": Ill(dropout_in_evaluation, "evaluation", "'2'", "call model.eval() before"),
    "evaluation mode in training": Ill(evaluation_mode_in_training, "training mode", "'drop'", "call model.train()"),
    "a layer replaced too late": Ill(
        layer_replaced_after_the_optimizer, "optimizer's parameters", "'outer.weight'", "make the optimizer from"
    ),
    "an input that is not used": Ill(
        input_times_zero, "constant output", "same for all 16 samples", "does not use its input", ALL_EQUAL
    ),
    "missing values": Ill(missing_values, "data", "1 of 128 values are NaN", "clean the data", ("finite numbers",)),
    "labels from one": Ill(labels_from_one, "runs", "Target 4 is out of bounds", "from 0 to C - 1"),
    "sorted data": Ill(sorted_data, "data", "all 16 targets are 2", "shuffle the data"),
    "overwritten inputs": Ill(overwritten_inputs, "data", "16 of 16 samples", "how the data is loaded", ("one batch",)),
    "a tie that was lost": Ill(tie_lost_by_deepcopy, "tied parameters", "separate tensors", "tie them after"),
    "each prediction with each target": Ill(
        predictions_against_all_targets, "shape of the loss", "different ranks", "give both the same shape"
    ),
    "a summed loss": Ill(summed_loss, "mean over the batch", "doubles with the number", 'reduction="mean"'),
}
