"""The tools for models know every kind of layer: convolutions, pools, norms, recurrent layers, attention, embeddings.

Mirrors: nothing in PyTorch: it has no such tools.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import reftorch as torch
from reftorch.debug import find_nan, record_tensors, summary

nn = torch.nn


def numbers(*shape: int) -> torch.Tensor:
    return (torch.arange(torch.Size(shape).numel()) * 0.7).sin().mul(9).reshape(shape)


def packed() -> Any:
    return nn.utils.rnn.pack_padded_sequence(numbers(5, 3, 4), [5, 3, 2])


# A layer, its inputs, and what the record calls its outputs.
LAYERS: dict[str, Callable[[], tuple[Any, tuple[Any, ...], list[str]]]] = {
    "Conv1d": lambda: (nn.Conv1d(2, 4, 3), (numbers(2, 2, 6),), [""]),
    "Conv2d": lambda: (nn.Conv2d(2, 4, 3), (numbers(2, 2, 6, 6),), [""]),
    "ConvTranspose2d": lambda: (nn.ConvTranspose2d(2, 4, 3), (numbers(2, 2, 6, 6),), [""]),
    "BatchNorm2d": lambda: (nn.BatchNorm2d(2), (numbers(2, 2, 3, 3),), [""]),
    "InstanceNorm2d": lambda: (nn.InstanceNorm2d(2, affine=True), (numbers(2, 2, 3, 3),), [""]),
    "GroupNorm": lambda: (nn.GroupNorm(2, 4), (numbers(2, 4, 3),), [""]),
    "LayerNorm": lambda: (nn.LayerNorm(4), (numbers(2, 4),), [""]),
    "RMSNorm": lambda: (nn.RMSNorm(4), (numbers(2, 4),), [""]),
    "PReLU": lambda: (nn.PReLU(3), (numbers(2, 3),), [""]),
    "Bilinear": lambda: (nn.Bilinear(2, 3, 4), (numbers(5, 2), numbers(5, 3)), [""]),
    "Embedding": lambda: (nn.Embedding(6, 3), (torch.tensor([[0, 5]]),), [""]),
    "EmbeddingBag": lambda: (nn.EmbeddingBag(6, 3), (torch.tensor([[0, 5]]),), [""]),
    "RNN": lambda: (nn.RNN(4, 3), (numbers(5, 2, 4),), ["/0", "/1"]),
    "GRU of two directions": lambda: (nn.GRU(4, 3, bidirectional=True), (numbers(5, 2, 4),), ["/0", "/1"]),
    "LSTM": lambda: (nn.LSTM(4, 3, 2), (numbers(5, 2, 4),), ["/0", "/1/0", "/1/1"]),
    "LSTM of a packed sequence": lambda: (nn.LSTM(4, 3), (packed(),), ["/0/data", "/0/batch_sizes", "/1/0", "/1/1"]),
    "LSTMCell": lambda: (nn.LSTMCell(4, 3), (numbers(2, 4),), ["/0", "/1"]),
    "MultiheadAttention": lambda: (nn.MultiheadAttention(4, 2), (numbers(3, 2, 4),) * 3, ["/0", "/1"]),
    "TransformerEncoderLayer": lambda: (nn.TransformerEncoderLayer(4, 2, 8, 0.0), (numbers(3, 2, 4),), [""]),
    "AdaptiveLogSoftmaxWithLoss": lambda: (
        nn.AdaptiveLogSoftmaxWithLoss(16, 6, [2, 4]), (numbers(3, 16), torch.tensor([0, 3, 5])), ["/output", "/loss"],
    ),
}  # fmt: skip
POOLS: dict[str, Callable[[], Any]] = {
    "MaxPool2d": lambda: nn.MaxPool2d(2),
    "AvgPool2d": lambda: nn.AvgPool2d(2),
    "AdaptiveAvgPool2d": lambda: nn.AdaptiveAvgPool2d(2),
    "Unfold": lambda: nn.Unfold(2),
    "PixelShuffle": lambda: nn.PixelShuffle(2),
    "Upsample": lambda: nn.Upsample(scale_factor=2),
    "ReflectionPad2d": lambda: nn.ReflectionPad2d(1),
    "Dropout2d": lambda: nn.Dropout2d(),
}


class Wrapped(nn.Module):
    """A layer with a name, whatever its inputs and outputs are."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, *inputs: Any) -> Any:
        return self.layer(*inputs)


@pytest.mark.parametrize("name", LAYERS)
def test_summary(name: str) -> None:
    layer, inputs, _ = LAYERS[name]()
    found = summary(Wrapped(layer), *inputs)
    assert found.parameters == sum(p.numel() for p in layer.parameters()) > 0
    row = next(line for line in str(found).splitlines() if line.strip().startswith("layer "))
    first, *_ = row.split()[1:]
    assert first == type(layer).__name__
    weights = [parameter for _, parameter in layer.named_parameters(recurse=False)]
    assert all(str(list(weight.shape)) in row for weight in weights)


@pytest.mark.parametrize("name", LAYERS)
def test_record_tensors(name: str) -> None:
    layer, inputs, outputs = LAYERS[name]()
    model = Wrapped(layer.eval())
    with record_tensors(model) as run:
        model(*inputs)
    assert [key.removeprefix("layer/output") for key in run if key.startswith("layer/output")] == outputs


@pytest.mark.parametrize("name", LAYERS)
def test_find_nan_names_the_weight(name: str) -> None:
    layer, inputs, _ = LAYERS[name]()
    weight, values = next(layer.named_parameters())
    with torch.no_grad():
        values.fill_(float("nan"))
    model = Wrapped(layer)
    with find_nan(model) as found:
        model(*inputs)
    assert found.first is not None
    assert (found.first.kind, found.first.how) == ("NaN", f"it was there before, in 'layer.{weight}'")


# No number is computed from a row of a table, and the gates of a recurrent layer turn infinities into 0 and 1.
SATURATED = (
    "Embedding",
    "EmbeddingBag",
    "RNN",
    "GRU of two directions",
    "LSTM",
    "LSTM of a packed sequence",
    "LSTMCell",
)


@pytest.mark.parametrize("name", [name for name in LAYERS if name not in SATURATED])
def test_find_nan_names_the_layer_in_which_numbers_become_too_large(name: str) -> None:
    layer, inputs, _ = LAYERS[name]()
    model = Wrapped(layer)
    with torch.no_grad():
        weight = next(layer.parameters())
        weight.copy_((torch.arange(weight.numel()) % 2 * 2 - 1).mul(3.4e38).reshape(weight.shape))
    with find_nan(model) as found:
        model(*inputs)
    assert found.first is not None and found.first.module is not None
    assert found.first.how == "made" and found.first.module.split(".")[0] == "layer"
    assert found.first.op.startswith("aten::")


@pytest.mark.parametrize("name", POOLS)
def test_layers_without_parameters(name: str) -> None:
    model, x = nn.Sequential(nn.Identity(), POOLS[name]().train()), numbers(2, 4, 6, 6)
    x[1, 0, 0, 0] = float("nan")
    with record_tensors(model) as run:
        y = model(x)
    assert run["1/output"].shape == y.shape
    assert str(list(y.shape)) in str(summary(model, x))
    with find_nan(model) as found:
        model(x)
    assert found.first is not None and found.first.module == "1"
