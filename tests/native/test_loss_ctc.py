"""Connectionist temporal classification against torch's, row by row.

Mirrors: test/test_nn.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "loss_ctc"


# What differs from a call that is right: log_probs (4, 2, 3), targets (2, 2), input_lengths, target_lengths, blank
REFUSED: dict[str, Any] = {
    **{
        f"targets of {dtype}": lambda lib, dtype=dtype: {"targets": lib.ones(2, 2, dtype=getattr(lib, dtype))}
        for dtype in ("float32", "float64", "float16", "bfloat16", "bool", "int16", "int8", "uint8")
    },
    "log_probs of float16": lambda lib: {"log_probs": lib.zeros(4, 2, 3).half(), "targets": lib.ones(2, 2)},
    "log_probs of int64": lambda lib: {"log_probs": lib.zeros(4, 2, 3).long()},
    "log_probs in a matrix": lambda lib: {"log_probs": lib.zeros(4, 2)},
    "no log_probs": lambda lib: {"log_probs": lib.zeros(4, 0, 3), "targets": lib.ones(2, 2)},
    "dimensions of both": lambda lib: {"log_probs": lib.zeros(4, 2), "targets": lib.ones(2, 2)},
    "dimensions of targets": lambda lib: {"targets": lib.ones(2, 2, 2).long()},
    "a label alone": lambda lib: {"targets": lib.tensor(1)},
    "blank": lambda lib: {"blank": 5},
    "too few input_lengths": lambda lib: {"input_lengths": [4]},
    "too few target_lengths": lambda lib: {"target_lengths": [2]},
    "negative target length": lambda lib: {"target_lengths": [2, -1]},
    "long target": lambda lib: {"target_lengths": [2, 3]},
    "too many targets": lambda lib: {"targets": lib.ones(3, 2).long()},
    "too many labels": lambda lib: {"targets": lib.ones(4).long()},
    "long input": lambda lib: {"input_lengths": [4, 5]},
    "negative input length": lambda lib: {"input_lengths": [4, -5]},
}


@pytest.mark.parametrize("case", REFUSED)
def test_errors_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    def program(lib: ModuleType) -> str:
        call = {
            "log_probs": lib.zeros(4, 2, 3),
            "targets": lib.tensor([[1, 2], [2, 1]]),
            "input_lengths": [4, 4],
            "target_lengths": [2, 1],
            "blank": 0,
        }
        with pytest.raises((RuntimeError, NotImplementedError)) as caught:
            lib.ops.aten._ctc_loss(**{**call, **REFUSED[case](lib)})
        return f"{caught.type.__name__}: {caught.value}"

    assert program(reftorch) == asked(real_torch, program)
