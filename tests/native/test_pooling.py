"""Pooling against torch's.

Mirrors: test/nn/test_pooling.py
"""

from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "max_pooling average_pooling"
