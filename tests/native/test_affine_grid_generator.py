"""The grid of an affine map against torch's, row by row.

Mirrors: test/test_nn.py
"""

from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "affine_grid_generator"
