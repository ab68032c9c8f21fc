"""Thirty healthy models of other people's kinds, of which `diagnose` must say nothing.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import reftorch as torch
import reftorch.nn.functional as F
from reftorch import nn
from tests.debug.model.diagnosis.programs import Program, eval_step, labels, loop


class Calls(nn.Module):
    """A model of named layers and a function that calls them."""

    def __init__(self, forward: Callable, **layers: nn.Module) -> None:
        super().__init__()
        self.layers, self.body = nn.ModuleDict(layers), forward

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.body(self.layers, *args, **kwargs)


def of(model: Any, inputs: Any, target: Any, loss: Callable = F.cross_entropy) -> Program:
    return {"model": model, "batch": (inputs, target), "loss_fn": loss}


def segmentation() -> Program:
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 3, 1))
    return of(model, torch.randn(16, 1, 8, 8), torch.randint(0, 3, (16, 8, 8)))


def segmentation_of_shapes() -> Program:
    model = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 2, 1))
    x = torch.randn(8, 1, 8, 8)
    return of(model, x, (x[:, 0] > 0).long())


def steps_of(begin: Callable, end: Callable, every: int = 1) -> Callable:
    """A loop that updates the parameters in every few calls; the optimizer's ``begin`` and ``end`` clear gradients."""
    count = 0

    def step(model: Any, optimizer: Any, batch: Any) -> None:
        nonlocal count
        model.train()
        begin(optimizer)
        (F.cross_entropy(model(batch[0]), batch[1]) / every).backward()
        count += 1
        if count % every == 0:
            optimizer.step()
            end(optimizer)

    return step


def nothing(optimizer: Any) -> None:
    pass


def points(step: Callable) -> Program:
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
    program = loop(
        model, (torch.randn(16, 8), labels(16, 4)), F.cross_entropy, torch.optim.SGD(model.parameters(), 0.1)
    )
    return {**program, "train_step": step}


def gradient_accumulation() -> Program:
    return points(steps_of(nothing, lambda optimizer: optimizer.zero_grad(), every=4))


def cleared_after_the_step() -> Program:
    return points(steps_of(nothing, lambda optimizer: optimizer.zero_grad()))


def cleared_to_zero() -> Program:
    return points(steps_of(lambda optimizer: optimizer.zero_grad(set_to_none=False), nothing))


def clipped() -> Program:
    def step(model: Any, optimizer: Any, batch: Any) -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(batch[0]), batch[1]).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return points(step)


def recurrent(kind: Callable) -> Program:
    model = Calls(
        lambda m, x: m["head"](m["rnn"](x)[0][:, -1]), rnn=kind(3, 16, batch_first=True), head=nn.Linear(16, 3)
    )
    return of(model, torch.randn(10, 12, 3), labels(10, 3))


def gru() -> Program:
    return recurrent(nn.GRU)


def lstm_of_the_library() -> Program:
    return recurrent(nn.LSTM)


def tagger() -> Program:
    def forward(m: Any, x: Any) -> Any:
        return m["head"](m["rnn"](m["embed"](x))[0]).flatten(0, 1)

    model = Calls(
        forward,
        embed=nn.Embedding(20, 8),
        rnn=nn.LSTM(8, 8, batch_first=True, bidirectional=True),
        head=nn.Linear(16, 4),
    )
    words = torch.randint(0, 20, (8, 6))
    return of(model, words, words % 4, lambda scores, tags: F.cross_entropy(scores, tags.flatten()))


def u_net() -> Program:
    def forward(m: Any, x: Any) -> Any:
        wide = F.relu(m["down"](x))
        deep = F.relu(m["deep"](F.max_pool2d(wide, 2)))
        return m["out"](torch.cat([wide, F.interpolate(deep, scale_factor=2)], 1))

    conv = nn.Conv2d
    model = Calls(forward, down=conv(1, 8, 3, padding=1), deep=conv(8, 8, 3, padding=1), out=conv(16, 1, 1))
    x = torch.randn(6, 1, 8, 8)
    return of(model, x, (x > 0).float(), F.binary_cross_entropy_with_logits)


def group_norm() -> Program:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, groups=1),
        nn.GroupNorm(2, 8),
        nn.SiLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 3),
    )
    return of(model, torch.randn(12, 3, 6, 6), labels(12, 3))


def depthwise() -> Program:
    model = nn.Sequential(
        nn.Conv2d(4, 4, 3, groups=4), nn.Conv2d(4, 8, 1), nn.BatchNorm2d(8), nn.ReLU6(), nn.Flatten(), nn.Linear(128, 3)
    )
    return of(model, torch.randn(12, 4, 6, 6), labels(12, 3))


def many_labels() -> Program:
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 5))
    return of(model, torch.randn(16, 8), (torch.randn(16, 5) > 0.5).float(), F.binary_cross_entropy_with_logits)


def counts() -> Program:
    x = torch.randn(16, 4)
    model = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1), nn.Flatten(0))
    return of(model, x, torch.poisson((x[:, 0] + 1).exp()), F.poisson_nll_loss)


def quantiles() -> Program:
    def pinball(predicted: Any, target: Any) -> Any:
        gap = target - predicted
        return torch.maximum(0.9 * gap, -0.1 * gap).mean()

    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    return of(model, torch.randn(16, 4), torch.randn(16, 1), pinball)


def masked_words() -> Program:
    class Masked(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(12, 16)
            layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
            self.encoder, self.head = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False), nn.Linear(16, 12)

        def forward(self, x: Any) -> Any:
            return self.head(self.encoder(self.embed(x))).flatten(0, 1)

    words = torch.randint(1, 12, (8, 7))
    masked = torch.arange(7) % 3 == 1
    target = torch.where(masked, words, -100)
    return of(Masked(), torch.where(masked, 0, words), target, lambda s, t: F.cross_entropy(s, t.flatten()))


def translation() -> Program:
    class Translation(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.head = nn.Embedding(12, 16), nn.Linear(16, 12)
            self.transformer = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)

        def forward(self, source: Any, former: Any) -> Any:
            mask = nn.Transformer.generate_square_subsequent_mask(former.shape[1])
            out = self.transformer(self.embed(source), self.embed(former), tgt_mask=mask, tgt_is_causal=True)
            return self.head(out).flatten(0, 1)

    source, target = torch.randint(0, 12, (8, 6)), torch.randint(0, 12, (8, 6))
    return of(Translation(), (source, target[:, :-1]), target[:, 1:], lambda s, t: F.cross_entropy(s, t.flatten()))


def vision_transformer() -> Program:
    class Vision(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.patches, self.token = nn.Conv2d(1, 16, 4, stride=4), nn.Parameter(torch.zeros(1, 1, 16))
            self.places = nn.Parameter(torch.randn(1, 5, 16) * 0.02)
            self.layer, self.head = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True), nn.Linear(16, 3)

        def forward(self, x: Any) -> Any:
            h = self.patches(x).flatten(2).transpose(1, 2)
            h = torch.cat([self.token.expand(len(h), -1, -1), h], 1) + self.places
            return self.head(self.layer(h)[:, 0])

    return of(Vision(), torch.randn(12, 1, 8, 8), labels(12, 3))


def mixer() -> Program:
    def forward(m: Any, x: Any) -> Any:
        x = x + m["tokens"](x.transpose(1, 2)).transpose(1, 2)
        return m["head"]((x + m["channels"](x)).mean(1))

    model = Calls(forward, tokens=nn.Linear(6, 6), channels=nn.Linear(8, 8), head=nn.Linear(8, 3))
    return of(model, torch.randn(12, 6, 8), labels(12, 3))


def factorization() -> Program:
    def forward(m: Any, users: Any, items: Any) -> Any:
        return (m["user"](users) * m["item"](items)).sum(-1)

    model = Calls(forward, user=nn.Embedding(6, 8), item=nn.Embedding(7, 8))
    pairs = torch.arange(16)
    return of(model, (pairs % 6, pairs % 7), torch.randn(16), F.mse_loss)


def bag_of_words() -> Program:
    model = Calls(lambda m, x: m["head"](m["bag"](x)), bag=nn.EmbeddingBag(30, 8), head=nn.Linear(8, 2))
    return of(model, torch.randint(0, 30, (12, 5)), labels(12, 2))


def siren() -> Program:
    def forward(m: Any, x: Any) -> Any:
        return m["out"]((3 * m["inner"](x)).sin())

    x = torch.linspace(-1, 1, 16).unsqueeze(1)
    return of(Calls(forward, inner=nn.Linear(1, 32), out=nn.Linear(32, 1)), x, (4 * x).sin(), F.mse_loss)


def flow() -> Program:
    def forward(m: Any, x: Any) -> Any:
        kept, moved = x.chunk(2, 1)
        scale, shift = m["net"](kept).chunk(2, 1)
        z = torch.cat([kept, moved * scale.tanh().exp() + shift], 1)
        return {"loss": ((z**2).sum(1) / 2 - scale.tanh().sum(1)).mean()}

    net = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 4))
    x = torch.randn(16, 4) * 2 + 3
    return {"model": Calls(forward, net=net), "batch": x}


def mixture() -> Program:
    def loss(output: Any, y: Any) -> Any:
        weight, mean, deviation = output.chunk(3, 1)
        each = torch.distributions.Normal(mean, deviation.exp()).log_prob(y) + weight.log_softmax(1)
        return -each.logsumexp(1).mean()

    model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 9))
    x = torch.randn(16, 1)
    return of(model, x, x.sin() + 0.1 * torch.randn(16, 1), loss)


def q_learning() -> Program:
    def loss(values: Any, target: Any) -> Any:
        actions, returns = target
        return F.smooth_l1_loss(values.gather(1, actions.unsqueeze(1)).squeeze(1), returns)

    model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
    return of(model, torch.randn(16, 4), (labels(16, 2), torch.randn(16)), loss)


def policy_gradient() -> Program:
    def loss(scores: Any, target: Any) -> Any:
        actions, advantages = target
        return -(torch.distributions.Categorical(logits=scores).log_prob(actions) * advantages).mean()

    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
    return of(model, torch.randn(16, 4), (labels(16, 2), torch.randn(16).abs() + 0.5), loss)


def speech() -> Program:
    def loss(scores: Any, target: Any) -> Any:
        inputs, outputs = torch.full((8,), 10), torch.full((8,), 3)
        return F.ctc_loss(scores.log_softmax(-1).transpose(0, 1), target, inputs, outputs)

    model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 6))
    return of(model, torch.randn(8, 10, 5), torch.randint(1, 6, (8, 3)), loss)


def double() -> Program:
    model = nn.Sequential(nn.Linear(4, 16), nn.ELU(), nn.Linear(16, 1)).double()
    x = torch.randn(16, 4, dtype=torch.float64)
    return of(model, x, x.sum(1, keepdim=True), F.huber_loss)


def reparametrized() -> Program:
    parametrizations = nn.utils.parametrizations
    model = nn.Sequential(
        parametrizations.weight_norm(nn.Linear(8, 16)), nn.ReLU(), parametrizations.spectral_norm(nn.Linear(16, 3))
    )
    return of(model, torch.randn(12, 8), labels(12, 3))


def in_place() -> Program:
    model = nn.Sequential(nn.ReLU(inplace=True), nn.Linear(8, 32), nn.ReLU(inplace=True), nn.Linear(32, 3))
    return of(model, torch.randn(12, 8), labels(12, 3))


def dilated() -> Program:
    model = nn.Sequential(nn.Conv1d(2, 8, 3, padding=2, dilation=2), nn.GELU(), nn.Conv1d(8, 1, 1))
    x = torch.randn(8, 2, 12)
    return of(model, x, x.sum(1, keepdim=True).cos(), F.l1_loss)


def distillation() -> Program:
    model = Calls(
        lambda m, x: (m["student"](x), m["teacher"](x).detach()),
        student=nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)),
        teacher=nn.Linear(8, 4).requires_grad_(False),
    )

    def loss(output: Any, target: Any) -> Any:
        student, teacher = output
        soft = F.kl_div(student.log_softmax(1), teacher.softmax(1), reduction="batchmean")
        return soft + F.cross_entropy(student, target)

    return {**of(model, torch.randn(12, 8), labels(12, 4), loss), "frozen": ["layers.teacher"]}


def triplets() -> Program:
    def forward(m: Any, anchor: Any, near: Any, far: Any) -> Any:
        return F.triplet_margin_loss(*(F.normalize(m["embed"](x), dim=1) for x in (anchor, near, far)))

    x = torch.randn(12, 8)
    model = Calls(forward, embed=nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)))
    return {"model": model, "batch": (x, x + 0.3 * torch.randn(12, 8), x.flip(0))}


def closure() -> Program:
    def step(model: Any, optimizer: Any, batch: Any) -> None:
        def again() -> Any:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch[0]), batch[1])
            loss.backward()
            return loss

        optimizer.step(again)

    program = points(step)
    return {**program, "optimizer": torch.optim.LBFGS(program["model"].parameters(), lr=0.1, max_iter=3)}


def positions() -> Program:
    """Sinusoids as a buffer, which is not a parameter."""

    class Positions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            places = torch.arange(6).unsqueeze(1) / 10 ** (torch.arange(8) / 4)
            self.register_buffer("places", places.sin(), persistent=False)
            self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
            self.head = nn.Linear(8, 3)

        def forward(self, x: Any) -> Any:
            h = x + self.places
            return self.head((h + self.attention(h, h, h, need_weights=False)[0]).mean(1))

    return of(Positions(), torch.randn(12, 6, 8), labels(12, 3))


def averaged() -> Program:
    """A model that keeps a running mean of its features in a buffer, which the evaluation leaves alone."""

    class Averaged(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.outer = nn.Linear(8, 16), nn.Linear(16, 3)
            self.register_buffer("mean", torch.zeros(16))

        def forward(self, x: Any) -> Any:
            h = self.inner(x).relu()
            if self.training:
                self.mean = 0.9 * self.mean + 0.1 * h.detach().mean(0)
            return self.outer(h - self.mean)

    model, batch = Averaged(), (torch.randn(12, 8), labels(12, 3))
    program = of(model, *batch)
    return {**program, "eval_step": eval_step(F.cross_entropy)}


def temperature() -> Program:
    """Scores divided by a learned temperature, as CLIP's."""

    def forward(m: Any, x: Any) -> Any:
        return F.normalize(m["body"](x), dim=1) @ F.normalize(m["classes"].weight, dim=1).t() / math.exp(-1.5)

    return of(
        Calls(forward, body=nn.Linear(8, 16), classes=nn.Linear(16, 4, bias=False)), torch.randn(12, 8), labels(12, 4)
    )


ZOO: dict[str, Callable[[], Program]] = {
    one.__name__: one
    for one in (
        segmentation, segmentation_of_shapes, gradient_accumulation, cleared_after_the_step, cleared_to_zero, clipped,
        gru, lstm_of_the_library, tagger, u_net, group_norm, depthwise, many_labels, counts, quantiles, masked_words,
        translation, vision_transformer, mixer, factorization, bag_of_words, siren, flow, mixture, q_learning,
        policy_gradient, speech, double, reparametrized, in_place, dilated, distillation, triplets, closure, positions,
        averaged, temperature,
    )
}  # fmt: skip
