"""Convolutions and the windows of images against torch's.

Mirrors: test/nn/test_convolution.py
"""

from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "convolution im2_col"
