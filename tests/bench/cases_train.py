"""Whole training steps: what a user waits for.

Mirrors: torch/utils/benchmark/examples/end_to_end.py
Left out: the loading of data (cases_data.py).
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

from cases import Library, function
from networks import GPTConfig, causal_mask, cnn, gpt, recurrent


def mlp(lib: Library, *widths: int) -> Any:
    layers: list[Any] = []
    for i, (inputs, outputs) in enumerate(pairwise(widths)):
        layers += [lib.nn.ReLU()] * bool(i) + [lib.nn.Linear(inputs, outputs)]
    return lib.nn.Sequential(*layers)


def step_of(optimizer: Any, loss: Callable[[], Any]) -> Callable[[], object]:
    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step


def mlp_step(rule: str, batch: int, *widths: int, **options: float) -> Callable[[Library], Callable[[], object]]:
    def make(lib: Library) -> Callable[[], object]:
        model = mlp(lib, *widths)
        optimizer = getattr(lib.optim, rule)(model.parameters(), **options)
        x, target = lib.randn(batch, widths[0]), lib.T.randint(0, widths[-1], (batch,))
        cross_entropy = lib.F.cross_entropy
        return step_of(optimizer, lambda: cross_entropy(model(x), target))

    return make


function("train", "mlp_sgd", mlp_step("SGD", 64, 784, 256, 128, 10, lr=1e-3))
function("train", "mlp_sgd_tiny", mlp_step("SGD", 2, 4, 4, 4, 2, lr=1e-3))
function("train", "mlp_adam", mlp_step("Adam", 64, 784, 256, 128, 10, lr=1e-3))


def mlp_forward(lib: Library) -> Callable[[], object]:
    model, x = mlp(lib, 784, 256, 128, 10), lib.randn(64, 784)

    def forward() -> None:
        with lib.T.no_grad():
            model(x)

    return forward


function("train", "mlp_forward", mlp_forward)


def cnn_step(lib: Library) -> Callable[[], object]:
    model, x, target = cnn(lib), lib.randn(64, 1, 28, 28), lib.T.randint(0, 10, (64,))
    optimizer = lib.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    return step_of(optimizer, lambda: lib.F.cross_entropy(model(x), target))


def gpt_step(batch: int, config: GPTConfig) -> Callable[[Library], Callable[[], object]]:
    def make(lib: Library) -> Callable[[], object]:
        model, mask = gpt(lib, config), causal_mask(lib, config.length)
        tokens, target = (lib.T.randint(0, config.vocabulary, (batch, config.length)) for _ in range(2))
        optimizer = lib.optim.AdamW(model.parameters(), lr=1e-3)
        cross_entropy = lib.F.cross_entropy
        return step_of(optimizer, lambda: cross_entropy(model(tokens, mask).flatten(0, 1), target.flatten()))

    return make


def recurrent_step(layer: str) -> Callable[[Library], Callable[[], object]]:
    """32 sequences of 50 characters, 128 numbers for each character."""

    def make(lib: Library) -> Callable[[], object]:
        model = recurrent(lib, layer, vocabulary=65, width=128)
        tokens, target = (lib.T.randint(0, 65, (32, 50)) for _ in range(2))
        optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)
        cross_entropy = lib.F.cross_entropy
        return step_of(optimizer, lambda: cross_entropy(model(tokens).flatten(0, 1), target.flatten()))

    return make


SMALL_GPT = GPTConfig(layers=4, width=128, heads=4, vocabulary=65, length=64)
function("train", "cnn_sgd", cnn_step)
function("train", "gpt_adamw", gpt_step(12, SMALL_GPT))
function("train", "gpt_adamw_sdpa", gpt_step(12, replace(SMALL_GPT, fused_attention=True)))
function("train", "lstm_adam", recurrent_step("LSTM"))
function("train", "gru_adam", recurrent_step("GRU"))
