"""Samples of classes for losses.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: the samples that only one family draws, which stand in the file of the family.
"""

import numpy as np

from tests.op_db.core import Input

NONE, MEAN, SUM = 0, 1, 2


def classes(*values: int, dtype: str = "int64") -> Input:
    return Input(np.array(values), dtype)
