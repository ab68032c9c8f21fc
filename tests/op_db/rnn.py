"""Rows of recurrent networks: whole sequences, packed sequences, and cells.

Mirrors: torch/testing/_internal/common_methods_invocations.py, torch/testing/_internal/common_modules.py
Leaves out: dropout, whose draws test_rnn.py compares.
"""

from collections.abc import Callable, Iterator

import numpy as np

from tests.op_db.core import FLOATS, Apart, Input, Inputs, OpInfo, Sample

# Options of a call: has_biases, num_layers, bidirectional.
OPTIONS = ((True, 1, False), (False, 1, True), (True, 2, True))


def parameters(
    make: Inputs, gates: int, inputs: int, hidden: int, biases: bool, layers: int, bidirectional: bool, projection: int
) -> list[Input]:
    """The flat list that a module passes."""
    found, outputs, directions = [], projection or hidden, 2 if bidirectional else 1
    for layer in range(layers):
        for _ in range(directions):
            found += [make(gates * hidden, inputs if layer == 0 else outputs * directions)]
            found += [make(gates * hidden, outputs)]
            found += [make(gates * hidden), make(gates * hidden)] if biases else []
            found += [make(projection, hidden)] if projection else []
    return found


def calls(gates: int, states: int, packed: bool) -> Callable[[Inputs], Iterator[Sample]]:
    def call(
        make: Inputs, option: tuple, steps: int = 3, inputs: int = 5, hidden: int = 3, projection: int = 0
    ) -> Sample:
        biases, layers, bidirectional = option
        params = parameters(make, gates, inputs, hidden, *option, projection)
        slices = layers * (2 if bidirectional else 1)
        hx = [make(slices, 2, projection or hidden), make(slices, 2, hidden)][:states]
        state = hx if states == 2 else hx[0]
        options = (params, biases, layers, 0.0, True, bidirectional)
        if packed:
            sizes = [2] + [1] * (steps - 1)
            return Sample((make(sum(sizes), inputs), Input(np.array(sizes), "int64"), state, *options))
        return Sample((make(steps, 2, inputs), state, *options, False))

    def samples(make: Inputs) -> Iterator[Sample]:
        # For the LSTM of other dtypes, torch has a kernel that reads parameters without a check.
        if not make.is_float or (states == 2 and make.dtype not in ("float64", "float32")):
            return
        if states == 2 and make.dtype == "float32":
            yield call(make, OPTIONS[0])
            return
        for option in OPTIONS:
            yield call(make, option)
        yield call(make, (False, 1, False), steps=2 if states == 1 else 1, inputs=1, hidden=1)  # few, for differences
        if states == 2:
            yield call(make, OPTIONS[0], projection=1)
            yield call(make, OPTIONS[1], projection=2)
        whole = call(make, OPTIONS[0])
        if not packed:
            yield Sample((*whole.args[:-1], True))  # batch_first
        number = 3 if packed else 2
        yield Sample((*whole.args[:number], whole.args[number][:-1], *whole.args[number + 1 :]))
        yield Sample((*whole.args[: number + 2], 2, *whole.args[number + 3 :]))  # more layers than states

    return samples


def cells(gates: int, states: int) -> Callable[[Inputs], Iterator[Sample]]:
    def samples(make: Inputs) -> Iterator[Sample]:
        if not make.is_float:
            return
        weights = (make(gates, 1), make(gates, 1))
        yield Sample((make(1, 1), [make(1, 1), make(1, 1)] if states == 2 else make(1, 1), *weights))
        for biases in (True, False):
            hx = [make(2, 3), make(2, 3)][:states]
            weights = (make(3 * gates, 2), make(3 * gates, 3), *((make(3 * gates), make(3 * gates)) if biases else ()))
            state = hx if states == 2 else hx[0]
            yield Sample((make(2, 2), state, *weights))
            yield Sample((make(2, 4), state, *weights))
            yield Sample((make(1, 2), state, *weights))
            yield Sample((make(2, 2), state, make(2, 2), *weights[1:]))

    return samples


def other_gates(gates: int, states: int, packed: bool) -> Apart:
    """The rows of a weight are not those of its gates: torch cuts them into too few parts and reads beyond the list."""

    def when(sample: Sample) -> bool:
        hidden = sample.args[2 if packed else 1]
        state = (hidden[-1] if states == 2 else hidden).values
        params = [p.values for p in sample.args[3 if packed else 2]]
        projected = hidden[0].values.shape[-1:] if states == 2 else ()
        if not state.ndim or not state.shape[-1]:
            return True
        return any(
            not p.ndim or (p.shape[0] % (gates * state.shape[-1]) != 0 and p.shape[:1] != projected) for p in params
        )

    return Apart("torch reads beyond the gates of weights with other rows than its state", when=when, crashes=True)


# Without these checks torch reads beyond memory, or another error follows.
PACKED = tuple(
    Apart("of packed sequences that do not fit, torch tells something else or nothing", says=words)
    for words in (
        "batch_sizes must",
        "packed data must have 2 dimensions",
        "Expected hx to have the",
        "Expected sequence length to be larger",
        "should be 3-D but got",
    )
)

COMMON = {"dtypes": FLOATS, "out": False, "low": -1, "high": 1}

ROWS = [
    *(
        OpInfo(
            f"{name}.{form}",
            calls(gates, states, form == "data"),
            rtol=1e-5 if name == "lstm" else None,
            apart=(
                *((other_gates(gates, states, form == "data"),) if gates > 1 else ()),
                *(PACKED if form == "data" else ()),
            ),
            **COMMON,
        )
        for name, gates, states in (("rnn_tanh", 1, 1), ("rnn_relu", 1, 1), ("gru", 3, 1), ("lstm", 4, 2))
        for form in ("input", "data")
    ),
    OpInfo("rnn_tanh_cell", cells(1, 1), **COMMON),
    OpInfo("rnn_relu_cell", cells(1, 1), **COMMON),
    OpInfo("gru_cell", cells(3, 1), **COMMON),
    OpInfo("lstm_cell", cells(4, 2), **COMMON),
]
