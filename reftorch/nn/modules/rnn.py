r"""Recurrent networks: RNN, LSTM and GRU over whole sequences, and their cells for one step.

Mirrors: torch/nn/modules/rnn.py
Leaves out: ``apply_permutation``, which PyTorch deprecates, and what reads modules that were saved before PyTorch 1.8.

The modules hold parameters, check the input and bring it into the form of an op (``torch.lstm`` and its relatives);
``cpp/ATen/native/RNN.cpp`` computes. The file is over 500 lines long because there are eight classes, and the formulas
are in their docstrings.
"""

from __future__ import annotations

import math
import numbers
import weakref
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.amp.autocast_mode import is_autocast_enabled
from reftorch.nn import init
from reftorch.nn.modules.module import Module
from reftorch.nn.parameter import Parameter
from reftorch.nn.utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _draw(module: Module, hidden_size: int) -> None:
    bound = 1 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNBase(Module):
    """The common part of :class:`RNN`, :class:`LSTM` and :class:`GRU`: parameters, checks, and one forward for all.

    Args:
        mode: ``"LSTM"``, ``"GRU"``, ``"RNN_TANH"`` or ``"RNN_RELU"``.
        input_size: the number of features of the input, :math:`I`.
        hidden_size: the number of features of the state, :math:`H`.
        num_layers: the number of layers; each takes the outputs of the layer below.
        bias: whether there are biases.
        batch_first: whether the first dimension of a batch of sequences is the batch, and not the step.
        dropout: the probability of a dropout of the outputs of each layer except the last.
        bidirectional: whether each layer also has a part that goes from the last step to the first.
        proj_size: the number of features to which an LSTM projects its state; 0 for no projection.
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Raises:
        ValueError: a number is out of range, or ``mode`` is unknown.
        TypeError: an argument has the wrong type.

    Example:
        >>> list(torch.nn.RNNBase("GRU", 3, 4).state_dict())
        ['weight_ih_l0', 'weight_hh_l0', 'bias_ih_l0', 'bias_hh_l0']

    Mirrors torch/nn/modules/rnn.py, ``RNNBase``.
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._check_options(dropout)
        outputs = proj_size or hidden_size
        gates = _GATES[mode] * hidden_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                inputs = input_size if layer == 0 else outputs * (2 if bidirectional else 1)
                shapes: dict[str, tuple[int, ...]] = {"weight_ih": (gates, inputs), "weight_hh": (gates, outputs)}
                if bias:
                    shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    self.register_parameter(
                        f"{name}_l{layer}{suffix}", Parameter(_VF.empty(shape, device=device, dtype=dtype))
                    )
                self._all_weights.append([f"{name}_l{layer}{suffix}" for name in shapes])
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self._init_flat_weights()
        self.reset_parameters()

    def _check_options(self, dropout: Any) -> None:
        if not isinstance(dropout, numbers.Number) or isinstance(dropout, bool) or not 0 <= self.dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if self.dropout > 0 and self.num_layers == 1:
            warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={self.num_layers}"
            )
        types: dict[str, type] = {"bias": bool, "batch_first": bool, "input_size": int, "hidden_size": int}
        for name, expected in types.items():
            value = getattr(self, name)
            if not isinstance(value, expected):
                raise TypeError(f"{name} should be of type {expected.__name__}, got: {type(value).__name__}")
            if expected is int and getattr(self, name) <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if self.num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        if self.proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if self.proj_size >= self.hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if self.mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + self.mode)

    # --- the list of parameters -----------------------------------------------------------------------------------

    # The ops take one flat list of parameters. It is kept, and made anew when a parameter has been replaced, as by
    # func.functional_call; weak references tell whether it has.

    def _init_flat_weights(self) -> None:
        self._flat_weights: list[Any] = [getattr(self, name, None) for name in self._flat_weights_names]
        self._flat_weight_refs = [None if weight is None else weakref.ref(weight) for weight in self._flat_weights]
        self.flatten_parameters()

    def _weights_have_changed(self) -> bool:
        for ref, name in zip(self._flat_weight_refs, self._flat_weights_names, strict=True):
            weight = getattr(self, name, None)
            if weight is not None and ref is not None and ref() is not weight:
                return True
        return False

    def _update_flat_weights(self) -> None:
        if self._weights_have_changed():
            self._init_flat_weights()

    def __setattr__(self, attr: str, value: Any) -> None:
        names = self.__dict__.get("_flat_weights_names", ())
        if attr in names:
            self._flat_weights[names.index(attr)] = value
        super().__setattr__(attr, value)

    def flatten_parameters(self) -> None:
        """Do nothing: the parameters of a network on a GPU would be moved next to each other, for cuDNN."""

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        self._flat_weight_refs = []
        result = super()._apply(fn, recurse)
        self._init_flat_weights()
        return result

    def __getstate__(self) -> dict[str, Any]:
        self._update_flat_weights()
        state = self.__dict__.copy()
        del state["_flat_weight_refs"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._flat_weight_refs = [None if weight is None else weakref.ref(weight) for weight in self._flat_weights]

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters, in a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def reset_parameters(self) -> None:
        r"""Draw new parameters between :math:`-1/\sqrt H` and :math:`1/\sqrt H`."""
        _draw(self, self.hidden_size)

    # --- checks ---------------------------------------------------------------------------------------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Check dtype and shape of the input.

        Raises:
            ValueError: the dtype is not that of the parameters, outside of autocast.
            RuntimeError: the shape is wrong.
        """
        dtype = self._flat_weights[0].dtype
        if input.dtype != dtype and not is_autocast_enabled("cpu"):  # inside the mode, the products cast both
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). "
                f"Convert input: input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        dims = 3 if batch_sizes is None else 2
        if input.dim() != dims:
            raise RuntimeError(f"input must have {dims} dimensions, got {input.dim()}")
        if self.input_size != input.size(-1):
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _state_size(self, input: Tensor, batch_sizes: Tensor | None, features: int) -> tuple[int, int, int]:
        if batch_sizes is not None:
            batch = int(batch_sizes[0].item())
        else:
            batch = input.size(0 if self.batch_first else 1)
        return self.num_layers * (2 if self.bidirectional else 1), batch, features

    def get_expected_hidden_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Return the shape of the state, :math:`(L, B, H)`, or :math:`(L, B, P)` with a projection."""
        return self._state_size(input, batch_sizes, self.proj_size or self.hidden_size)

    def check_hidden_size(
        self, hx: Tensor, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Check the shape of a state.

        Raises:
            RuntimeError: the shape is another one.
        """
        if tuple(hx.size()) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Check input and state."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Return the state with its sequences in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def extra_repr(self) -> str:
        usual = {
            "proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False
        }  # fmt: skip
        parts = [f"{self.input_size}, {self.hidden_size}"]
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join(parts)

    # --- forward --------------------------------------------------------------------------------------------------

    def _zeros(self, size: tuple[int, int, int], input: Tensor) -> Tensor:
        return _VF.zeros(size, dtype=input.dtype, device=input.device)

    def _initial(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        """Return a state of zeros."""
        return self._zeros(self.get_expected_hidden_size(input, batch_sizes), input)

    def _batched_state(self, hx: Any, is_batched: bool) -> Any:
        """Check the number of dimensions of a state, and give it a batch dimension."""
        dims = 3 if is_batched else 2
        if hx.dim() != dims:
            raise RuntimeError(
                f"For {'batched' if is_batched else 'unbatched'} {dims}-D input, hx should also be {dims}-D but got "
                f"{hx.dim()}-D tensor"
            )
        return hx if is_batched else hx.unsqueeze(1)

    def _compute(self, op: Any, input: Tensor, batch_sizes: Tensor | None, hx: Any) -> tuple[Tensor, Any]:
        """Call the op; return the outputs and the last state."""
        options = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        if batch_sizes is None:
            return op(input, hx, *options, self.batch_first)
        return op(input, batch_sizes, hx, *options)

    def _forward_packed(self, op: Any, input: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        data, batch_sizes, sorted_indices, unsorted_indices = input
        hx = self._initial(data, batch_sizes) if hx is None else self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, hidden = self._compute(op, data, batch_sizes, hx)
        packed = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return packed, self.permute_hidden(hidden, unsorted_indices)

    def _forward(self, op: Any, input: Any, hx: Any, noun: str = "") -> tuple[Any, Any]:
        self._update_flat_weights()
        if isinstance(input, PackedSequence):
            return self._forward_packed(op, input, hx)
        if input.dim() not in (2, 3):
            kind = type(self)._kind
            raise ValueError(f"{kind}: Expected input to be 2D or 3D, got {input.dim()}D{noun} instead")
        is_batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
        hx = self._initial(input, None) if hx is None else self._batched_state(hx, is_batched)
        self.check_forward_args(input, hx, None)
        output, hidden = self._compute(op, input, None, hx)
        if is_batched:
            return output, hidden
        return output.squeeze(batch_dim), self._without_batch(hidden)

    _kind = "RNN"

    def _without_batch(self, hidden: Any) -> Any:
        return hidden.squeeze(1)


def _refuse_projection(options: dict[str, Any]) -> None:
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    r"""The simplest recurrent network, by Elman: the state is a function of the input and of the last state.

    .. math::
        h_t = \tanh(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh})

    Args:
        input_size: the number of features of the input, :math:`I`.
        hidden_size: the number of features of the state, :math:`H`.
        num_layers: the number of layers; each takes the outputs of the layer below (default 1).
        nonlinearity: ``"tanh"`` (default) or ``"relu"``.
        bias: whether there are biases (default True).
        batch_first: whether a batch of sequences is :math:`(B, T, *)` and not :math:`(T, B, *)` (default False).
        dropout: the probability of a dropout of the outputs of each layer except the last (default 0).
        bidirectional: whether each layer also has a part that goes from the last step to the first (default False).
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        Input :math:`(T, B, I)`, :math:`(T, I)` for one sequence, or a packed batch of sequences; state
        :math:`(L, B, H)` with one slice for each layer and direction, layer by layer; zeros if it is not given.
        Output :math:`(T, B, D H)` with :math:`D` directions, and the last state. ``weight_ih_l0`` :math:`(H, I)`,
        ``weight_hh_l0`` :math:`(H, H)`, ``bias_ih_l0`` and ``bias_hh_l0`` :math:`(H)`; further layers have further
        numbers, and the other direction has names that end with ``_reverse``.

    Raises:
        ValueError: an option is out of range; from a call: the input has the wrong dtype or number of dimensions.
        RuntimeError: (from a call) the sizes do not fit.

    Example:
        >>> net = torch.nn.RNN(3, 4, num_layers=2, bidirectional=True)
        >>> output, hidden = net(torch.ones(5, 1, 3))
        >>> output.shape, hidden.shape
        (torch.Size([5, 1, 8]), torch.Size([4, 1, 4]))

    Mirrors torch/nn/modules/rnn.py, ``RNN``.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        return self._forward(_VF.rnn_tanh if self.mode == "RNN_TANH" else _VF.rnn_relu, input, hx, noun=" tensor")


class LSTM(RNNBase):
    r"""Long short-term memory: gates say what a cell keeps, takes up and shows.

    .. math::
        i, f, o &= \sigma(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh}) \\
        g &= \tanh(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh}) \\
        c_t &= f c_{t-1} + i g \\
        h_t &= o \tanh(c_t)

    The four gates have rows of their own in each parameter, in the order i, f, g, o. With ``proj_size``, the state is
    :math:`W_{hr} h_t`, which has fewer features.

    Args:
        input_size: the number of features of the input, :math:`I`.
        hidden_size: the number of features of the cell, :math:`H`.
        num_layers: the number of layers; each takes the outputs of the layer below (default 1).
        bias: whether there are biases (default True).
        batch_first: whether a batch of sequences is :math:`(B, T, *)` and not :math:`(T, B, *)` (default False).
        dropout: the probability of a dropout of the outputs of each layer except the last (default 0).
        bidirectional: whether each layer also has a part that goes from the last step to the first (default False).
        proj_size: the number of features to which the state is projected, :math:`P`; 0 for no projection (default).
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        Input :math:`(T, B, I)`, :math:`(T, I)` for one sequence, or a packed batch of sequences; the states
        :math:`h_0` :math:`(L, B, H)` (or :math:`(L, B, P)`) and :math:`c_0` :math:`(L, B, H)` with one slice for each
        layer and direction, layer by layer; zeros if they are not given. Output :math:`(T, B, D H)` with :math:`D`
        directions, and the pair of the last states. ``weight_ih_l0`` :math:`(4 H, I)`, ``weight_hh_l0``
        :math:`(4 H, H)`, ``bias_ih_l0`` and ``bias_hh_l0`` :math:`(4 H)`, ``weight_hr_l0`` :math:`(P, H)`; further
        layers have further numbers, and the other direction has names that end with ``_reverse``.

    Raises:
        ValueError: an option is out of range; from a call: the input has the wrong dtype or number of dimensions.
        RuntimeError: (from a call) the sizes do not fit.

    Example:
        >>> net = torch.nn.LSTM(3, 4, batch_first=True, proj_size=2)
        >>> output, (h, c) = net(torch.ones(1, 5, 3))
        >>> output.shape, h.shape, c.shape
        (torch.Size([1, 5, 2]), torch.Size([1, 1, 2]), torch.Size([1, 1, 4]))

    Mirrors torch/nn/modules/rnn.py, ``LSTM``.
    """

    _kind = "LSTM"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Tensor, batch_sizes: Tensor | None) -> tuple[int, int, int]:
        """Return the shape of the cell's state, :math:`(L, B, H)`."""
        return self._state_size(input, batch_sizes, self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Check input and states."""
        self.check_input(input, batch_sizes)
        expected = (self.get_expected_hidden_size, self.get_expected_cell_size)
        for i, size in enumerate(expected):
            self.check_hidden_size(hidden[i], size(input, batch_sizes), f"Expected hidden[{i}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Return the states with their sequences in another order."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _initial(self, input: Tensor, batch_sizes: Tensor | None) -> Any:
        h = super()._initial(input, batch_sizes)
        return h, self._zeros(self.get_expected_cell_size(input, batch_sizes), input)

    def _batched_state(self, hx: Any, is_batched: bool) -> Any:
        dims = 3 if is_batched else 2
        if hx[0].dim() != dims or hx[1].dim() != dims:
            raise RuntimeError(
                f"For {'batched' if is_batched else 'unbatched'} {dims}-D input, hx and cx should also be {dims}-D but "
                f"got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )
        return hx if is_batched else (hx[0].unsqueeze(1), hx[1].unsqueeze(1))

    def _compute(self, op: Any, input: Tensor, batch_sizes: Tensor | None, hx: Any) -> tuple[Tensor, Any]:
        output, h, c = super()._compute(op, input, batch_sizes, hx)  # type: ignore[misc]
        return output, (h, c)

    def _without_batch(self, hidden: Any) -> Any:
        return hidden[0].squeeze(1), hidden[1].squeeze(1)

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]:
        return self._forward(_VF.lstm, input, hx)


class GRU(RNNBase):
    r"""Gated recurrent units: one gate says how much of the old state stays, another how much of it is looked at.

    .. math::
        r, z &= \sigma(W_{ih} x_t + b_{ih} + W_{hh} h_{t-1} + b_{hh}) \\
        n &= \tanh(W_{in} x_t + b_{in} + r (W_{hn} h_{t-1} + b_{hn})) \\
        h_t &= (1 - z) n + z h_{t-1}

    The gates have rows of their own in each parameter, in the order r, z, n.

    Args:
        input_size: the number of features of the input, :math:`I`.
        hidden_size: the number of features of the state, :math:`H`.
        num_layers: the number of layers; each takes the outputs of the layer below (default 1).
        bias: whether there are biases (default True).
        batch_first: whether a batch of sequences is :math:`(B, T, *)` and not :math:`(T, B, *)` (default False).
        dropout: the probability of a dropout of the outputs of each layer except the last (default 0).
        bidirectional: whether each layer also has a part that goes from the last step to the first (default False).
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        As for :class:`RNN`, with three gates: ``weight_ih_l0`` :math:`(3 H, I)`, ``weight_hh_l0`` :math:`(3 H, H)`,
        ``bias_ih_l0`` and ``bias_hh_l0`` :math:`(3 H)`.

    Raises:
        ValueError: an option is out of range; from a call: the input has the wrong dtype or number of dimensions.
        RuntimeError: (from a call) the sizes do not fit.

    Example:
        >>> net = torch.nn.GRU(3, 4)
        >>> packed = torch.nn.utils.rnn.pack_sequence([torch.ones(5, 3), torch.ones(2, 3)])
        >>> output, hidden = net(packed)
        >>> output.data.shape, hidden.shape
        (torch.Size([7, 4]), torch.Size([1, 2, 4]))

    Mirrors torch/nn/modules/rnn.py, ``GRU``.
    """

    _kind = "GRU"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Tensor | None = None) -> tuple[Any, Tensor]:
        return self._forward(_VF.gru, input, hx)


class RNNCellBase(Module):
    """The common part of the cells: the parameters of one step.

    Args:
        input_size: the number of features of the input, :math:`I`.
        hidden_size: the number of features of the state, :math:`H`.
        bias: whether there are biases.
        num_chunks: the number of gates, :math:`G`.
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        ``weight_ih`` :math:`(G H, I)`, ``weight_hh`` :math:`(G H, H)`, ``bias_ih`` and ``bias_hh`` :math:`(G H)`.

    Example:
        >>> list(torch.nn.RNNCellBase(3, 4, bias=False, num_chunks=2).state_dict())
        ['weight_ih', 'weight_hh']

    Mirrors torch/nn/modules/rnn.py, ``RNNCellBase``.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        shapes = {"weight_ih": (rows, input_size), "weight_hh": (rows, hidden_size)}
        shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}  # type: ignore[dict-item]
        for name, shape in shapes.items():
            is_there = bias or name.startswith("weight")
            value = Parameter(_VF.empty(shape, device=device, dtype=dtype)) if is_there else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else text + f", nonlinearity={nonlinearity}"

    def reset_parameters(self) -> None:
        r"""Draw new parameters between :math:`-1/\sqrt H` and :math:`1/\sqrt H`."""
        _draw(self, self.hidden_size)

    def _step(self, op: Any, input: Tensor, hx: Any) -> Any:
        """Check the number of dimensions, and call the op with a batch, which has one example if there is none."""
        kind = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        states = hx if isinstance(hx, (tuple, list)) else () if hx is None else (hx,)
        for i, state in enumerate(states):
            if state.dim() not in (1, 2):
                name = f"hx[{i}]" if isinstance(hx, (tuple, list)) else "hidden"
                raise ValueError(f"{kind}: Expected {name} to be 1D or 2D, got {state.dim()}D instead")
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
            states = tuple(state.unsqueeze(0) for state in states)
        if hx is None:
            zeros = _VF.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            states = (zeros, zeros)
        state = tuple(states) if isinstance(self, LSTMCell) else states[0]
        result = op(input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if is_batched:
            return result
        return tuple(t.squeeze(0) for t in result) if isinstance(self, LSTMCell) else result.squeeze(0)


class RNNCell(RNNCellBase):
    r"""One step of :class:`RNN`: :math:`h' = \tanh(W_{ih} x + b_{ih} + W_{hh} h + b_{hh})`.

    Args:
        input_size: the number of features of the input, :math:`I`.
        hidden_size: the number of features of the state, :math:`H`.
        bias: whether there are biases (default True).
        nonlinearity: ``"tanh"`` (default) or ``"relu"``.
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        Input :math:`(B, I)` or :math:`(I)`; state :math:`(B, H)` or :math:`(H)`, zeros if it is not given; output of
        the shape of the state.

    Raises:
        ValueError: (from a call) the number of dimensions is wrong.
        RuntimeError: (from a call) the sizes do not fit, or ``nonlinearity`` is unknown.

    Example:
        >>> torch.nn.RNNCell(3, 4)(torch.ones(2, 3)).shape
        torch.Size([2, 4])

    Mirrors torch/nn/modules/rnn.py, ``RNNCell``.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=1, device=device, dtype=dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        ops = {"tanh": _VF.rnn_tanh_cell, "relu": _VF.rnn_relu_cell}
        return self._step(ops.get(self.nonlinearity, self._unknown), input, hx)

    def _unknown(self, *args: Any) -> Any:
        raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")


class LSTMCell(RNNCellBase):
    r"""One step of :class:`LSTM`.

    Args:
        input_size: the number of features of the input, :math:`I`.
        hidden_size: the number of features of the states, :math:`H`.
        bias: whether there are biases (default True).
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        Input :math:`(B, I)` or :math:`(I)`; states :math:`h` and :math:`c` :math:`(B, H)` or :math:`(H)`, zeros if they
        are not given; output: the pair of the next states.

    Raises:
        ValueError: (from a call) the number of dimensions is wrong.
        RuntimeError: (from a call) the sizes do not fit.

    Example:
        >>> h, c = torch.nn.LSTMCell(3, 4)(torch.ones(2, 3))
        >>> h.shape, c.shape
        (torch.Size([2, 4]), torch.Size([2, 4]))

    Mirrors torch/nn/modules/rnn.py, ``LSTMCell``.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=4, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        return self._step(_VF.lstm_cell, input, hx)


class GRUCell(RNNCellBase):
    r"""One step of :class:`GRU`.

    Args:
        input_size: the number of features of the input, :math:`I`.
        hidden_size: the number of features of the state, :math:`H`.
        bias: whether there are biases (default True).
        device: the device of the parameters.
        dtype: the floating-point dtype of the parameters.

    Shape:
        Input :math:`(B, I)` or :math:`(I)`; state :math:`(B, H)` or :math:`(H)`, zeros if it is not given; output of
        the shape of the state.

    Raises:
        ValueError: (from a call) the number of dimensions is wrong.
        RuntimeError: (from a call) the sizes do not fit.

    Example:
        >>> torch.nn.GRUCell(3, 4)(torch.ones(3)).shape
        torch.Size([4])

    Mirrors torch/nn/modules/rnn.py, ``GRUCell``.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, num_chunks=3, device=device, dtype=dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._step(_VF.gru_cell, input, hx)
