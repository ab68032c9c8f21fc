"""Every op has a derivative, or says that it has none, or has none in PyTorch either.

Mirrors: nothing in PyTorch: its code generator refuses an op without either.
"""

import pytest

import reftorch as torch
from reftorch import _C
from reftorch.autograd.derivatives import derivative, non_differentiable

OPS = {schema["name"]: schema for schema in _C._get_all_op_schemas()}

# PyTorch has no formula for these ops either: their node is NotImplemented. The form in place and the out= form follow.
WITHOUT_DERIVATIVE = {
    "_ctc_loss_backward", "_dirichlet_grad", "_embedding_bag_per_sample_weights_backward", "_sample_dirichlet",
    "_scaled_dot_product_flash_attention_for_cpu_backward", "_thnn_fused_lstm_cell_backward",
    "_weight_norm_interface_backward", "bernoulli.p", "floor_divide", "heaviside", "linalg_ldl_factor_ex",
    "linalg_ldl_solve", "mkldnn_rnn_layer_backward", "multi_margin_loss_backward", "multilabel_margin_loss_backward",
    "native_channel_shuffle", "native_group_norm_backward", "scatter.reduce", "scatter.value_reduce",
}  # fmt: skip


def test_there_are_ops():
    assert len(OPS) > 50


def functional(name):
    """``floor_divide`` for ``aten::floor_divide_`` and ``aten::floor_divide.out``."""
    base, _, overload = name.removeprefix("aten::").partition(".")
    overload = "" if overload in ("out", "grad_input") else overload.removesuffix("_out")
    return ".".join(filter(None, [base.removesuffix("_"), overload]))


@pytest.mark.parametrize("name", sorted(OPS))
def test_formula_or_mark(name):
    without = functional(name) in WITHOUT_DERIVATIVE
    assert (_C._derivative_state(name) == "missing") == without, (
        f"{OPS[name]['schema']}, registered at {OPS[name]['file']}:{OPS[name]['line']}, has neither a formula nor a "
        "mark, or stands in WITHOUT_DERIVATIVE for no reason. Add one in reftorch/autograd/derivatives."
    )


def test_the_check_can_fail():
    states = {_C._derivative_state(name) for name in OPS}
    assert states >= {"formula", "non_differentiable", "composite"}


def test_registering_nonsense():
    with pytest.raises(RuntimeError, match="No op of that name"):
        derivative("no_such_op", self=lambda grad: grad)
    with pytest.raises(RuntimeError, match="has a derivative, or a mark that it has none, already"):
        derivative("mul.Tensor", self=lambda grad: grad)
    with pytest.raises(RuntimeError, match="already"):
        non_differentiable("mul.Tensor")


@pytest.mark.parametrize(
    ("formulas", "text"),
    [
        ({"self": lambda grad, nothing: grad}, "a parameter is called 'nothing', which names nothing to save"),
        ({"alpha": lambda grad: grad}, "'alpha' is not a tensor argument"),
        ({"other": lambda grad: grad, "self": lambda grad: grad}, "in the order of the schema"),
    ],
)
def test_registering_a_wrong_formula(formulas, text):
    with pytest.raises(RuntimeError, match=text):
        derivative("add.Tensor", **formulas)
    x = torch.ones(1, requires_grad=True)
    (x + x).backward()
    assert x.grad.tolist() == [2]


def test_formulas_have_names_in_tracebacks():
    x = torch.ones(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda saved: saved, lambda saved: torch.ones(5)):
        y = x * torch.ones(2)  # the formula will multiply by five numbers
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    assert caught.traceback[-1].name == "mul_self"
