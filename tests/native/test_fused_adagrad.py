"""The fused step of Adagrad: the rows of the op table.

Mirrors: test/optim/test_optim.py
"""

from tests.op_db.suite import OpResultTests


class TestFusedAdagrad(OpResultTests):
    FAMILIES = "fused_adagrad"
