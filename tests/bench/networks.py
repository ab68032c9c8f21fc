"""Networks that several cases of the benchmark use.

Mirrors: torch/utils/benchmark/examples/end_to_end.py
Left out: pretrained weights.
"""

from dataclasses import dataclass
from typing import Any

from cases import Library


@dataclass(frozen=True)
class GPTConfig:
    """``width`` numbers for each token, ``layers`` blocks, ``length`` tokens in a sequence, out of ``vocabulary``."""

    layers: int
    width: int
    heads: int
    vocabulary: int
    length: int
    fused_attention: bool = False  # scaled_dot_product_attention, or the product, mask and softmax written out


def gpt(lib: Library, config: GPTConfig) -> Any:
    """A decoder of transformer blocks; it takes the tokens and a mask that is added to the attention scores."""
    nn: Any = lib.nn
    width, heads = config.width, config.heads

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x, mask):  # type: ignore[no-untyped-def]
            batch, length, dim = x.shape
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            q, k, v = (part.view(batch, length, heads, dim // heads).transpose(1, 2) for part in (q, k, v))
            if config.fused_attention:
                out = lib.F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                scores = (q @ k.transpose(-2, -1)) * (width // heads) ** -0.5 + mask
                out = lib.T.softmax(scores, dim=-1) @ v
            return self.proj(out.transpose(1, 2).reshape(batch, length, dim))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln1, self.attention, self.ln2 = nn.LayerNorm(width), Attention(), nn.LayerNorm(width)
            self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

        def forward(self, x, mask):  # type: ignore[no-untyped-def]
            x = x + self.attention(self.ln1(x), mask)
            return x + self.mlp(self.ln2(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wte = nn.Embedding(config.vocabulary, width)
            self.wpe = nn.Parameter(lib.T.zeros(config.length, width))
            self.blocks = nn.ModuleList([Block() for _ in range(config.layers)])
            self.ln, self.head = nn.LayerNorm(width), nn.Linear(width, config.vocabulary, bias=False)

        def forward(self, tokens, mask):  # type: ignore[no-untyped-def]
            x = self.wte(tokens) + self.wpe
            for block in self.blocks:
                x = block(x, mask)
            return self.head(self.ln(x))

    return GPT()


def causal_mask(lib: Library, length: int) -> Any:
    """Minus infinity where a token would look at a later one, else 0."""
    return lib.T.triu(lib.T.full((length, length), float("-inf")), 1)


def cnn(lib: Library) -> Any:
    """LeNet-5's layers for one channel of 28 x 28 pixels."""
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )  # fmt: skip


def recurrent(lib: Library, layer: str, vocabulary: int, width: int) -> Any:
    """A language model: embedding, one recurrent layer (``"LSTM"`` or ``"GRU"``), a linear layer."""
    nn: Any = lib.nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embedding = nn.Embedding(vocabulary, width)
            self.layer = getattr(nn, layer)(width, width, batch_first=True)
            self.head = nn.Linear(width, vocabulary)

        def forward(self, tokens):  # type: ignore[no-untyped-def]
            return self.head(self.layer(self.embedding(tokens))[0])

    return Model()
