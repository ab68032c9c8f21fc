"""Tracing a network of twelve transformer blocks, and running the generated module.

Mirrors: torch/utils/benchmark/examples/end_to_end.py
Left out: passes.
"""

from collections.abc import Callable
from typing import Any

from cases import Library, function
from networks import GPTConfig, gpt

CONFIG = GPTConfig(layers=12, width=32, heads=4, vocabulary=64, length=16)
WIDE = GPTConfig(layers=12, width=128, heads=4, vocabulary=64, length=64)  # the kernels take most of its time


def fx_trace(lib: Library) -> Callable[[], object]:
    model, fx = gpt(lib, CONFIG), lib.part("fx")
    return lambda: fx.symbolic_trace(model)  # type: ignore[attr-defined]


def fx_run(lib: Library, config: GPTConfig = CONFIG) -> Callable[[], object]:
    traced: Any = lib.part("fx").symbolic_trace(gpt(lib, config))  # type: ignore[attr-defined]
    tokens, mask = lib.T.randint(0, config.vocabulary, (2, config.length)), lib.T.zeros(config.length, config.length)

    def run() -> None:
        with lib.T.no_grad():
            traced(tokens, mask)

    return run


function("fx", "fx_trace", fx_trace)
function("fx", "fx_run", fx_run)
function("fx", "fx_run_wide", lambda lib: fx_run(lib, WIDE))
