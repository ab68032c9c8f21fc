"""Batch and instance normalization against torch's.

Mirrors: test/test_nn.py
"""

from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "normalization"
