r"""The docs of recurrent networks.

Mirrors: torch/nn/modules/rnn.py
Leaves out: the packed weights of cuDNN.

The formulas are in the docstrings of ``torch.nn.RNN``, ``LSTM`` and ``GRU``, whose modules call these ops.
"""

from reftorch._torch_docs._entries import add_docstr

_NETWORKS = {
    "rnn_tanh": ("the simple recurrent network with tanh", "RNN", 1),
    "rnn_relu": ("the simple recurrent network with relu", "RNN", 1),
    "gru": ("gated recurrent units", "GRU", 3),
    "lstm": ("long short-term memory", "LSTM", 4),
}

for _name, (_words, _module, _gates) in _NETWORKS.items():
    _is_lstm = _name == "lstm"
    _pair = "; a pair of states, h and c" if _is_lstm else ""
    _projection = ";\n        then weight_hr (P, H) if the states have different sizes" if _is_lstm else ""
    _results = "output, h, c" if _is_lstm else "output, h"
    add_docstr(
        _name,
        rf"""
Run {_words} over sequences: the op of ``torch.nn.{_module}``, whose docs have the formulas.

There are two forms. The second one takes packed sequences, and the number of sequences of each step.

Args:
    input: :math:`(T, B, I)`, or :math:`(B, T, I)` if ``batch_first``.
    data: packed sequences, with the sum of ``batch_sizes`` rows of I features.
    batch_sizes: the number of sequences of each step, :math:`(T)`, int64 on the CPU.
    hx: the first state, :math:`(L, B, H)` with a slice for each layer and direction{_pair}.
    params: for each layer and direction: weight_ih :math:`({_gates} H, I)`, weight_hh :math:`({_gates} H, H)`, and if
        ``has_biases``, bias_ih and bias_hh, :math:`({_gates} H)`{_projection}.
    has_biases: whether ``params`` has biases.
    num_layers: the number of layers.
    dropout: the probability of a dropout of the outputs of each layer except the last.
    train: whether there is dropout at all.
    bidirectional: whether each layer also goes from the last step to the first.
    batch_first: whether the first dimension of ``input`` and of the output is the batch.

Shape: the output, :math:`(T, B, D H)` for D directions, and the last state, of the shape of ``hx``.

Raises:
    RuntimeError: the sizes, dtypes or devices do not fit, or there are no steps.

Example:
    >>> x, h = torch.ones(3, 1, 2), torch.zeros(1, 1, 4)
    >>> params = [torch.zeros({_gates * 4}, 2), torch.zeros({_gates * 4}, 4)]
    >>> {_results} = torch.{_name}(x, {"(h, h)" if _is_lstm else "h"}, params, False, 1, 0.0, False, False, False)
    >>> output.shape, h.shape
    (torch.Size([3, 1, 4]), torch.Size([1, 1, 4]))
""",
    )
    _cell = f"{_name}_cell"
    _call = f"torch.{_cell}(torch.ones(1, 2), {'(h, h)' if _is_lstm else 'h'}, w_ih, w_hh)"
    add_docstr(
        _cell,
        rf"""
Compute one step of {_words}: the op of ``torch.nn.{_module}Cell``.

Args:
    input: :math:`(B, I)`.
    hx: the last state, :math:`(B, H)`{"; a pair of states, h and c" if _is_lstm else ""}.
    w_ih: the weight of the input, :math:`({_gates} H, I)`.
    w_hh: the weight of the state, :math:`({_gates} H, H)`.
    b_ih: the bias beside ``w_ih``, :math:`({_gates} H)`, or None.
    b_hh: the bias beside ``w_hh``, :math:`({_gates} H)`, or None.

Shape: the next state, :math:`(B, H)`{"; a pair" if _is_lstm else ""}.

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> h, w_ih, w_hh = torch.zeros(1, 4), torch.zeros({_gates * 4}, 2), torch.zeros({_gates * 4}, 4)
    >>> {_call}{"[0]" if _is_lstm else ""}
    tensor([[0., 0., 0., 0.]])
""",
    )
