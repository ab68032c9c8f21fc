"""The fused step of stochastic gradient descent: the rows of the op table.

Mirrors: test/optim/test_optim.py
"""

from tests.op_db.suite import OpResultTests


class TestFusedSGD(OpResultTests):
    FAMILIES = "fused_sgd"
