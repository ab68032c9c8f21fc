"""Rows of the fused cell of an LSTM.

Mirrors: test/test_nn.py (test_LSTM_cell)
Leaves out: floats of 16 bits, for which the op has no kernel.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.op_db.core import Apart, Inputs, OpInfo, Sample


def composite(lib: Any, a: Any, b: Any, cx: Any, *biases: Any) -> Any:
    """The fused cell in small operations: torch has the op for GPUs only."""
    sum = a + b
    for bias in biases:
        sum = sum if bias is None else sum + bias
    i, f, g, o = sum.chunk(4, 1)
    gates = [i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()]
    cy = gates[1] * cx + gates[0] * gates[2]
    return gates[3] * cy.tanh(), cy, lib.cat(gates, 1).detach()


def fused(lib: Any, *args: Any) -> Any:
    return composite(lib, *args) if lib.__name__ == "torch" else lib._C._VariableFunctions._thnn_fused_lstm_cell(*args)


def fused_backward(lib: Any, grad_hy: Any, grad_cy: Any, a: Any, b: Any, cx: Any, *biases: Any) -> Any:
    if lib.__name__ == "torch":  # its formula of small operations, which the CPU can run
        cy = composite(lib, a, b, cx, *biases)[1]
        op: Any = lib.ops.aten._thnn_differentiable_lstm_cell_backward
        found = op(grad_hy, grad_cy, a, b, *biases, cx, cy)
    else:
        _, cy, workspace = fused(lib, a, b, cx, *biases)
        op = lib.ops.aten._thnn_fused_lstm_cell_backward
        found = op(grad_hy, grad_cy, cx, cy, workspace, biases[0] is not None)
    return [result for result in found if result is not None]


def fused_calls(backward: bool) -> Callable[[Inputs], Iterator[Sample]]:
    """The gradients of the two states for the backward; the gates of input and state, cx, the biases"""

    def samples(make: Inputs) -> Iterator[Sample]:
        if make.dtype not in ("float64", "float32"):
            return
        for batch, hidden, biases in ((2, 3, True), (3, 1, False), (1, 20, False)):
            grads = [make(batch, hidden), make(batch, hidden)] if backward else []
            gates = [make(batch, 4 * hidden), make(batch, 4 * hidden), make(batch, hidden)]
            both = [make(4 * hidden), make(4 * hidden)] if biases else [None, None]
            yield Sample((*grads, *gates, *both))
            if backward and not biases:
                yield Sample((None, grads[1], *gates, *both))
                yield Sample((grads[0], None, *gates, *both))

    return samples


# What stands for the op in torch are small operations, which broadcast, take other dtypes and tell of other mistakes.
REFUSED = tuple(
    Apart("torch has the op for GPUs only, so nothing says what it would refuse", says=f"{op}: expected")
    for op in ("_thnn_fused_lstm_cell", "_thnn_fused_lstm_cell_backward")
)

FUSED: dict[str, Any] = {
    "dtypes": ("float64", "float32"),
    "out": False,
    "low": -2,
    "high": 2,
    "rtol": 1e-5,
    "apart": REFUSED,
}

ROWS = [OpInfo("_thnn_fused_lstm_cell", fused_calls(backward=False), call=fused, **FUSED)]
# In torch as here, a second gradient is that of a formula, and the op itself has none.
VALUES = [
    OpInfo(
        "_thnn_fused_lstm_cell_backward",
        fused_calls(backward=True),
        call=fused_backward,
        gradient=False,
        **FUSED,
    )
]
