"""Recurrent networks against torch's, row by row.

Mirrors: test/test_nn.py
"""

from typing import Any

import pytest

import reftorch as torch
from tests.op_db.suite import OpTests


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
class TestRows(OpTests):
    FAMILIES = "rnn"


@pytest.mark.parametrize("rows", [2, 5])
@pytest.mark.parametrize(
    ("op", "state"),
    [(torch.gru, torch.ones(1, 1, 2)), (torch.lstm, (torch.ones(1, 1, 2), torch.ones(1, 1, 2)))],
    ids=["gru", "lstm"],
)
def test_weights_with_too_few_rows_are_refused(op: Any, state: Any, rows: int) -> None:
    """The step would read a gate that is not there."""
    weights = [torch.ones(rows, 3), torch.ones(rows, 2)]
    with pytest.raises(RuntimeError, match="expected the weights of a cell to have"):
        op(torch.ones(2, 1, 3), state, weights, False, 1, 0.0, False, False, False)
