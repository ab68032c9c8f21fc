"""Bags of embeddings against torch's, row by row.

Mirrors: test/test_nn.py
"""

import math

import pytest

import reftorch as torch
from reftorch.profiler import profile
from tests.op_db.suite import OpTests

aten = torch.ops.aten
ROWS, BAGS, NO_PLACES = torch.tensor([0, 1, 2]), torch.tensor([0, 0, 1]), torch.zeros(0, 3, dtype=torch.int64)


class TestRows(OpTests):
    FAMILIES = "embedding_bag"


@pytest.mark.parametrize("factors", [torch.ones(1), torch.ones(3, dtype=torch.float64)], ids=["too few", "dtype"])
def test_factors_that_do_not_fit_are_refused(factors: torch.Tensor) -> None:
    """The kernel reads one factor of the gradient's dtype for each row number."""
    arguments = (torch.ones(2, 3), ROWS, BAGS, torch.tensor([2, 1]), NO_PLACES, 4, False, 0)
    assert aten._embedding_bag_dense_backward(*arguments, torch.ones(3), -1).sum() == 9
    with pytest.raises(RuntimeError, match="expected per_sample_weights of the shape of indices and the dtype of grad"):
        aten._embedding_bag_dense_backward(*arguments, factors, -1)


def test_the_gradient_of_factors_needs_one_dtype() -> None:
    weight = torch.ones(4, 3, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="expected grad and weight of one dtype"):
        aten._embedding_bag_per_sample_weights_backward(
            torch.ones(2, 3), weight, ROWS, torch.tensor([0, 2]), BAGS, 0, -1
        )


def test_a_row_with_nan_is_not_scaled() -> None:
    """Its norm is NaN, which is not larger than the limit."""
    table = torch.tensor([[math.nan, 5.0], [3.0, 4.0]])
    torch.embedding_renorm_(table, torch.tensor([0, 1]), 1.0, 2.0)
    assert table[0, 1] == 5
    assert table[1].norm() == pytest.approx(1)
    with pytest.raises(IndexError):
        torch.embedding_renorm_(table, torch.tensor([2]), 1.0, 2.0)


def test_a_row_that_is_looked_up_twice_is_written_once() -> None:
    """Two writes of one row would be a race on CUDA."""
    table = torch.full((4, 3), 2.0)
    with profile(record_shapes=True) as seen:
        torch.embedding_renorm_(table, torch.tensor([[2, 0, 2], [0, 2, 2]]), 1.0, 2.0)
    (write,) = [event for event in seen.events() if event.name == "aten::index_put_"]
    assert write.input_shapes == [[4, 3], [2], [2, 3]]
    torch.testing.assert_close(table.norm(dim=1), torch.tensor([1.0, 12**0.5, 1.0, 12**0.5]))


def test_gradients_of_no_rows_have_any_shape() -> None:
    assert (
        aten.embedding_dense_backward(torch.ones(3, 0), torch.zeros(0, 1, dtype=torch.int64), 4, -1, False).sum() == 0
    )
