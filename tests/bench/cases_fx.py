"""Tracing a network of twelve transformer blocks, and running the generated module.

Mirrors: torch/utils/benchmark/examples/end_to_end.py
Leaves out: passes.
"""

from collections.abc import Callable
from typing import Any

from cases import Library, function

LAYERS, DIM, HEADS, WORDS, LENGTH = 12, 32, 4, 64, 16


def gpt(lib: Library) -> Any:
    nn: Any = lib.nn

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.proj = nn.Linear(DIM, 3 * DIM), nn.Linear(DIM, DIM)

        def forward(self, x, mask):  # type: ignore[no-untyped-def]
            batch, length, dim = x.shape
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            q, k, v = (part.view(batch, length, HEADS, dim // HEADS).transpose(1, 2) for part in (q, k, v))
            scores = (q @ k.transpose(-2, -1)) * (DIM // HEADS) ** -0.5 + mask
            out = lib.T.softmax(scores, dim=-1) @ v
            return self.proj(out.transpose(1, 2).reshape(batch, length, dim))

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln1, self.attention, self.ln2 = nn.LayerNorm(DIM), Attention(), nn.LayerNorm(DIM)
            self.mlp = nn.Sequential(nn.Linear(DIM, 4 * DIM), nn.GELU(), nn.Linear(4 * DIM, DIM))

        def forward(self, x, mask):  # type: ignore[no-untyped-def]
            x = x + self.attention(self.ln1(x), mask)
            return x + self.mlp(self.ln2(x))

    class GPT(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wte, self.wpe = nn.Embedding(WORDS, DIM), nn.Parameter(lib.T.zeros(LENGTH, DIM))
            self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
            self.ln, self.head = nn.LayerNorm(DIM), nn.Linear(DIM, WORDS, bias=False)

        def forward(self, tokens, mask):  # type: ignore[no-untyped-def]
            x = self.wte(tokens) + self.wpe
            for block in self.blocks:
                x = block(x, mask)
            return self.head(self.ln(x))

    return GPT().eval()


def fx_trace(lib: Library) -> Callable[[], object]:
    model, fx = gpt(lib), lib.part("fx")
    return lambda: fx.symbolic_trace(model)  # type: ignore[attr-defined]


def fx_run(lib: Library) -> Callable[[], object]:
    traced: Any = lib.part("fx").symbolic_trace(gpt(lib))  # type: ignore[attr-defined]
    tokens, mask = lib.T.randint(0, WORDS, (2, LENGTH)), lib.T.zeros(LENGTH, LENGTH)

    def run() -> None:
        with lib.T.no_grad():
            traced(tokens, mask)

    return run


function("fx", "fx_trace", fx_trace)
function("fx", "fx_run", fx_run)
