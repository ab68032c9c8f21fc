"""Recurrent networks against torch's, row by row.

Mirrors: test/test_nn.py
"""

import pytest

from tests.op_db.suite import OpTests


@pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
class TestRows(OpTests):
    FAMILIES = "rnn"
