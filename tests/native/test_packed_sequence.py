"""Packing and padding sequences against torch's, row by row, and the graphs of what is built on them.

Mirrors: test/nn/test_packed_sequence.py
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from tests.op_db.checks import check_error
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "packed_sequence weight_norm"


def padded_again(rnn: Any, x: Any) -> Any:
    packed = rnn.pack_padded_sequence(x, [3, 2, 1, 1], batch_first=True)
    return rnn.pad_packed_sequence(packed, batch_first=True, padding_value=1.0, total_length=5)[0]


GRAPHS: dict[str, Callable[[Any, Any], Any]] = {
    "packed": lambda lib, x: lib.nn.utils.rnn.pack_padded_sequence(x.T, [3, 3, 2, 1]).data,
    "packed unsorted": lambda lib, x: (
        lib.nn.utils.rnn.pack_padded_sequence(x.T, [1, 3, 2, 2], enforce_sorted=False).data
    ),
    "padded again": lambda lib, x: padded_again(lib.nn.utils.rnn, x),
    "padded": lambda lib, x: lib.nn.utils.rnn.pad_sequence([x[0], x[1, :2], x[2, 1:]], batch_first=True),
    "padded to the left": lambda lib, x: lib.nn.utils.rnn.pad_sequence([x, x[:2]], padding_side="left"),
    "weight norm": lambda lib, x: lib._weight_norm(x, x[:, :1] * 2),
    "weight norm of the last dimension": lambda lib, x: lib._weight_norm(x, x[:1] * 2, 1),
    "weight norm of all": lambda lib, x: lib._weight_norm(x, x[0, 0] * 2, -1),
    "weight norm in the middle": lambda lib, x: lib._weight_norm(x[:, None], x[:1, :1, None], 1),
    "norm_except_dim": lambda lib, x: lib.norm_except_dim(x[:, None], 2, 2),
    "pdist": lambda lib, x: lib.pdist(x.T),
    "cdist": lambda lib, x: lib.cdist(x, x[:2]),
    "cdist by a product": lambda lib, x: lib.cdist(x, x[:2], compute_mode="use_mm_for_euclid_dist"),
    "cdist of batches by a product": lambda lib, x: lib.cdist(
        x[:, None], x[:1, None].expand(4, 2, 3), compute_mode="use_mm_for_euclid_dist"
    ),
    "prelu": lambda lib, x: lib.prelu(x, x[0]),
    "prelu of one weight": lambda lib, x: lib.nn.functional.prelu(x, x[0, :1]),
    "rrelu": lambda lib, x: lib.nn.functional.rrelu(x, training=True),
    "rrelu in place": lambda lib, x: lib.rrelu_(x * 1, 0.25, 0.25, True),
}


def nodes(node: Any) -> list[str]:
    return [] if node is None else [node.name(), *(name for before, _ in node.next_functions for name in nodes(before))]


@pytest.mark.parametrize("case", GRAPHS)
def test_graphs_and_gradients_are_those_of_torch(case: str, real_torch: Any) -> None:
    found = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(1)
        x = (lib.arange(12, dtype=lib.float64).reshape(4, 3) * 0.7).cos().requires_grad_()
        y = GRAPHS[case](lib, x)
        (y * (lib.arange(y.numel()).reshape(y.shape) * 0.3).sin()).sum().backward()
        found.append((nodes(y.grad_fn), y.tolist(), x.grad.flatten().tolist()))
    assert found[0][0] == found[1][0]
    assert reftorch.tensor(found[0][1]).allclose(reftorch.tensor(found[1][1]))
    assert found[0][2] == pytest.approx(found[1][2])


@pytest.mark.parametrize("batch_sizes", [[2, -1], [1, 2], [-3]])
def test_batch_sizes_that_no_packed_batch_has(batch_sizes: list[int]) -> None:
    with pytest.raises(RuntimeError, match=r"batch_sizes in decreasing order and none below 0|negative dimension"):
        reftorch._pad_packed_sequence(reftorch.ones(4, 2), reftorch.tensor(batch_sizes), False, 0.0, -1)


def test_backward_of_weight_norm_looks_at_the_layout_before_the_dtype(real_torch_or_none: Any) -> None:
    def call(lib: Any) -> Any:
        v, row = lib.ones(2, 3, dtype=lib.int64), lib.ones(1, 6, dtype=lib.int64)
        return lib.ops.aten._weight_norm_interface_backward(v, v, row[:, ::2].contiguous(), row[:, ::2], 1)

    check_error(call, RuntimeError, "saved_norm must be contiguous", real_torch_or_none)


def test_backward_of_weight_norm_of_a_weight_without_dimensions(real_torch_or_none: Any) -> None:
    def call(lib: Any) -> Any:
        return lib.ops.aten._weight_norm_differentiable_backward(*[lib.ones(())] * 4, 1)

    check_error(call, IndexError, "Dimension specified as -1 but tensor has no dimensions", real_torch_or_none)
