"""Rows of a layer of an LSTM.

Mirrors: test/test_mkldnn.py
Leaves out: other floats than float32, for which torch has other kernels; wrong arguments, which oneDNN does not check.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.op_db.core import Apart, Input, Inputs, OpInfo, Sample


def arguments(make: Inputs, steps: int, batch: int, inputs: int, hidden: int) -> list[Any]:
    """The input, four weights, and two states"""
    gates = 4 * hidden
    weights = [make(gates, inputs), make(gates, hidden), make(gates), make(gates)]
    return [make(steps, batch, inputs), *weights, make(batch, hidden), make(batch, hidden)]


def options(hidden: int, reverse: bool, biases: bool, train: bool) -> list[Any]:
    """What follows the tensors of the forward call: batch_sizes are empty, mode 2 is an LSTM, of one layer"""
    return [reverse, [], 2, hidden, 1, biases, False, False, train]


def layer(lib: Any, *args: Any) -> Any:
    return lib.mkldnn_rnn_layer(*args)[:3]  # the workspace is a private affair of each library


def layer_backward(lib: Any, grad_output: Any, grad_hy: Any, grad_cy: Any, *args: Any) -> Any:
    tensors, (reverse, sizes, mode, hidden, layers, biases, bidirectional, batch_first, train) = args[:7], args[7:]
    *results, workspace = lib.mkldnn_rnn_layer(*args)
    return lib.ops.aten.mkldnn_rnn_layer_backward(
        *tensors, *results, grad_output, grad_hy, grad_cy, reverse, mode, hidden, layers, biases, train, bidirectional,
        sizes, batch_first, workspace,
    )  # fmt: skip


def layer_calls(backward: bool) -> Callable[[Inputs], Iterator[Sample]]:
    """The gradients of the outputs and of both last states for the backward; the arguments of the forward"""

    def samples(make: Inputs) -> Iterator[Sample]:
        if make.dtype != "float32":
            return
        for steps, batch, inputs, hidden in ((3, 2, 5, 3), (1, 1, 1, 1), (2, 3, 1, 20)):
            grads = [make(steps, batch, hidden), make(batch, hidden), make(batch, hidden)] if backward else []
            tensors = arguments(make, steps, batch, inputs, hidden)
            for reverse in (False, True):
                yield Sample((*grads, *tensors, *options(hidden, reverse, biases=True, train=True)))
        if not backward:
            yield Sample((*tensors, *options(hidden, reverse=True, biases=True, train=False)))

    return samples


def does_not_fit(sample: Sample) -> bool:
    """Whether a shape, a dtype or a layout is not what the input and the size of the state ask for."""
    tensors = [argument for argument in sample.args if isinstance(argument, Input)]
    _, *numbers = sample.args[len(tensors) :]
    x, hidden, train = tensors[-7].values, numbers[2], numbers[-1]
    if x.ndim != 3 or x.size == 0 or hidden < 1 or numbers != options(hidden, False, True, train)[1:]:
        return True
    steps, batch, inputs = x.shape
    make = Inputs("float32")
    fitting = arguments(make, steps, batch, inputs, hidden)
    if len(tensors) > len(fitting):
        fitting = [make(steps, batch, hidden), make(batch, hidden), make(batch, hidden), *fitting]
    return [described(tensor) for tensor in tensors] != [described(tensor) for tensor in fitting]


def described(tensor: Input) -> tuple[Any, ...]:
    return tensor.values.shape, tensor.dtype, tensor.layout


LAYER: dict[str, Any] = {
    "dtypes": ("float32",),
    "out": False,
    "low": -1,
    "high": 1,
    "rtol": 1e-4,
    "apart": (Apart("oneDNN reads what it is given, whether or not it fits", when=does_not_fit, crashes=True),),
}

ROWS = [OpInfo("mkldnn_rnn_layer", layer_calls(backward=False), call=layer, **LAYER)]
# In torch as here, a second gradient is that of a formula, and the op itself has none.
VALUES = [OpInfo("mkldnn_rnn_layer_backward", layer_calls(backward=True), call=layer_backward, gradient=False, **LAYER)]
