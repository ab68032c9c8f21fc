"""Ten small programs that are as they should be: each is what a user passes to `diagnose`.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import reftorch as torch
import reftorch.nn.functional as F
from reftorch import nn

Program = dict[str, Any]  # the arguments of diagnose by name


def train_step(loss_fn: Callable) -> Callable:
    """The body of a loop as it should be."""

    def step(model: Any, optimizer: Any, batch: Any) -> Any:
        model.train()
        optimizer.zero_grad()
        loss = loss_fn(model(batch[0]), batch[1])
        loss.backward()
        optimizer.step()
        return loss

    return step


def eval_step(loss_fn: Callable) -> Callable:
    def step(model: Any, batch: Any) -> float:
        model.eval()
        with torch.no_grad():
            return float(loss_fn(model(batch[0]), batch[1]))

    return step


def loop(model: Any, batch: Any, loss_fn: Callable, optimizer: Any) -> Program:
    """A program with a loop of its own."""
    steps = {"train_step": train_step(loss_fn), "eval_step": eval_step(loss_fn)}
    return {"model": model, "batch": batch, "loss_fn": loss_fn, "optimizer": optimizer, **steps}


def labels(count: int, classes: int) -> Any:
    return torch.arange(count) % classes


class MLP(nn.Module):
    """A classifier of points; ``act`` is its activation."""

    def __init__(self, act: Callable = F.relu) -> None:
        super().__init__()
        self.inner, self.outer, self.act = nn.Linear(8, 32), nn.Linear(32, 4), act

    def forward(self, x: Any) -> Any:
        return self.outer(self.act(self.inner(x)))


def mlp() -> Program:
    model = MLP()
    return loop(
        model, (torch.randn(16, 8), labels(16, 4)), F.cross_entropy, torch.optim.SGD(model.parameters(), lr=0.1)
    )


class ConvNet(nn.Module):
    """Convolution, batch norm, relu, pooling, dropout: a classifier of images."""

    def __init__(self, norm: Callable = nn.BatchNorm2d) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), norm(8), nn.ReLU(), nn.MaxPool2d(2))
        self.drop, self.head = nn.Dropout(0.1), nn.Linear(8 * 4 * 4, 3)

    def forward(self, x: Any) -> Any:
        return self.head(self.drop(self.features(x).flatten(1)))


def conv_net() -> Program:
    model = ConvNet()
    return loop(
        model,
        (torch.randn(12, 1, 8, 8), labels(12, 3)),
        F.cross_entropy,
        torch.optim.AdamW(model.parameters(), lr=1e-2),
    )


class ResidualBlock(nn.Module):
    """Its last batch norm begins with a scale of zero, so the branch gets no gradient in the first step."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        nn.init.zeros_(self.bn2.weight)

    def forward(self, x: Any) -> Any:
        return F.relu(x + self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))))


def res_net() -> Program:
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        ResidualBlock(8),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 3),
    )
    return loop(
        model, (torch.randn(12, 3, 4, 4), labels(12, 3)), F.cross_entropy, torch.optim.SGD(model.parameters(), lr=0.05)
    )


class Attention(nn.Module):
    """Causal self-attention with a softmax of its own."""

    def __init__(self, width: int, dim: int = -1, causal: bool = True) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dim, self.causal = dim, causal

    def forward(self, x: Any) -> Any:
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        if self.causal:
            future = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
            scores = scores.masked_fill(future, -1e9)
        return self.out(scores.softmax(self.dim) @ v)


class GPT(nn.Module):
    """A language model of one block, whose embedding is its last layer."""

    def __init__(self, vocabulary: int = 11, width: int = 16, length: int = 8, **attention: Any) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.norm, self.attention = nn.LayerNorm(width), Attention(width, **attention)
        self.mlp = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )
        self.head = nn.Linear(width, vocabulary, bias=False)
        nn.init.normal_(self.tokens.weight, std=0.1)
        self.head.weight = self.tokens.weight

    def forward(self, x: Any) -> Any:
        h = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        h = h + self.attention(self.norm(h))
        return self.head(h + self.mlp(h))


def of_tokens(scores: Any, target: Any) -> Any:
    return F.cross_entropy(scores.flatten(0, 1), target.flatten())


def text() -> Any:
    """Sequences that are easy to learn: each token follows from the one before."""
    start = torch.arange(8).reshape(8, 1)
    return (start + torch.arange(9) * (1 + start % 2)) % 11


def gpt(shift: int = 1, **attention: Any) -> Program:
    model, tokens = GPT(**attention), text()
    batch = (tokens[:, :7], tokens[:, shift : 7 + shift])
    return loop(model, batch, of_tokens, torch.optim.AdamW(model.parameters(), lr=1e-2))


class Cell(nn.Module):
    """An LSTM cell of linear layers, called once for each step."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.gates = nn.Linear(inputs + width, 4 * width)

    def forward(self, x: Any, state: tuple) -> tuple:
        hidden, cell = state
        i, f, g, o = self.gates(torch.cat([x, hidden], 1)).chunk(4, 1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        return o.sigmoid() * cell.tanh(), cell


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell, self.head = Cell(3, 12), nn.Linear(12, 3)

    def forward(self, x: Any) -> Any:
        state = (torch.zeros(x.shape[0], 12), torch.zeros(x.shape[0], 12))
        for step in range(x.shape[1]):
            state = self.cell(x[:, step], state)
        return self.head(state[0])


def lstm() -> Program:
    model = Recurrent()
    return loop(
        model, (torch.randn(10, 6, 3), labels(10, 3)), F.cross_entropy, torch.optim.Adam(model.parameters(), lr=1e-2)
    )


def autoencoder() -> Program:
    model = nn.Sequential(nn.Linear(10, 6), nn.Tanh(), nn.Linear(6, 10), nn.Sigmoid())
    x = torch.rand(12, 10)
    return {"model": model, "batch": (x, x), "loss_fn": F.mse_loss, "optimizer": torch.optim.Adam(model.parameters())}


def regression() -> Program:
    model = nn.Sequential(nn.Linear(5, 16), nn.SiLU(), nn.Linear(16, 1))
    x = torch.randn(16, 5)
    return loop(
        model,
        (x, x.sum(1).sin()),
        lambda output, target: ((output.squeeze(-1) - target) ** 2).mean(),
        torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9),
    )


def fine_tuning() -> Program:
    """A frozen body in evaluation mode, and a new head."""
    model = ConvNet()
    model.features.requires_grad_(False)
    batch = (torch.randn(12, 1, 8, 8), labels(12, 3))
    optimizer = torch.optim.Adam(model.head.parameters(), lr=1e-2)
    return {"frozen": ["features"], **loop(model, batch, F.cross_entropy, optimizer)}


class Encoder(nn.Module):
    """An encoder layer of the library, and a mean over the positions; it computes its own loss from keywords."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
        self.encoder, self.head = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(16, 2)

    def forward(self, tokens: Any, label: Any) -> dict[str, Any]:
        scores = self.head(self.encoder(self.embed(tokens)).mean(1))
        return {"scores": scores, "loss": F.cross_entropy(scores, label)}


def encoder() -> Program:
    model = Encoder()
    batch = {"tokens": (torch.arange(48).reshape(8, 6) * 7) % 20, "label": labels(8, 2)}
    return {"model": model, "batch": batch, "optimizer": torch.optim.AdamW(model.parameters(), lr=1e-3)}


class Variational(nn.Module):
    """A variational autoencoder: it draws random numbers, and its loss has two terms."""

    def __init__(self) -> None:
        super().__init__()
        self.encode, self.decode = nn.Linear(6, 4), nn.Linear(2, 6)

    def forward(self, x: Any) -> tuple:
        mean, log_variance = self.encode(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        return self.decode(z), mean, log_variance


def evidence(output: tuple, x: Any) -> Any:
    decoded, mean, log_variance = output
    divergence = (mean**2 + log_variance.exp() - 1 - log_variance).sum(1).mean() / 2
    return ((decoded - x) ** 2).sum(1).mean() + divergence


def variational() -> Program:
    model, x = Variational(), torch.randn(16, 6)
    return {
        "model": model,
        "batch": (x, x),
        "loss_fn": evidence,
        "optimizer": torch.optim.Adam(model.parameters(), 1e-2),
    }


HEALTHY: dict[str, Callable[[], Program]] = {
    one.__name__: one
    for one in (mlp, conv_net, res_net, gpt, lstm, autoencoder, regression, fine_tuning, encoder, variational)
}
