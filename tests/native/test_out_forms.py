"""Out forms that only torch.ops shows: of backward ops, and of ops whose form torchgen makes.

Mirrors: test/test_ops.py (test_out)
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db import OPS
from tests.op_db.checks import assert_same_outcome, outcome
from tests.op_db.core import OpInfo

# The overload of the form, and the names of its outputs.
FORMS = {
    **dict.fromkeys(("log_sigmoid_forward",), ("output", ("output", "buffer"))),
    **dict.fromkeys(("multilabel_margin_loss_forward",), ("output", ("output", "is_target"))),
    **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), ("output", ("output", "total_weight"))),
    "native_dropout": ("out", ("out0", "out1")),
    "native_batch_norm": ("out", ("out", "save_mean", "save_invstd")),
    "huber_loss_backward": ("out", ("grad_input",)),
    **dict.fromkeys(
        (
            "binary_cross_entropy_with_logits", "channel_shuffle", "constant_pad_nd", "embedding_renorm",
            "native_dropout_backward",
        ),
        ("out", ("out",)),
    ),
}  # fmt: skip
ROWS = {op.function: op for op in OPS}


def with_grad_input(lib: Any) -> list[str]:
    """The backward ops of the table that can write into a tensor."""
    names = [name for name in ROWS if name.endswith("_backward") and hasattr(lib.ops.aten, name)]
    return [name for name in names if hasattr(getattr(lib.ops.aten, name), "grad_input")]


def form_of(name: str) -> tuple[str, tuple[str, ...]]:
    return FORMS.get(name, ("grad_input", ("grad_input",)))


class Writing:
    """A library, or a module of it, whose op of one name writes into ``outs``."""

    def __init__(self, lib: Any, name: str, function: Any) -> None:
        self._of = lib, name, function

    def __getattr__(self, attribute: str) -> Any:
        lib, name, function = self._of
        if attribute == name:
            return function
        value = getattr(lib, attribute)
        return Writing(value, name, function) if attribute in ("ops", "aten", "_C", "_nn") else value


def written(lib: Any, op: OpInfo, sample: Any, shapes: list[Any], dtypes: list[Any]) -> Any:
    """The tensors into which the out form has written; the form returns the same tensors."""
    overload, names = form_of(op.function)
    outs = {
        name: lib.zeros(shape, dtype=getattr(lib, dtype))
        for name, shape, dtype in zip(names, shapes, dtypes, strict=True)
    }

    def write(*args: Any, **kwargs: Any) -> Any:
        result = getattr(getattr(lib.ops.aten, op.function), overload)(*args, **kwargs, **outs)
        results = result if isinstance(result, tuple) else (result,)
        assert all(r is out for r, out in zip(results, outs.values(), strict=True))
        return tuple(outs.values())

    args, kwargs = sample.build(lib)
    return op.run(Writing(lib, op.function, write), args, kwargs)


NAMES = sorted({*FORMS, *with_grad_input(reftorch)})


def test_the_same_backward_ops_have_the_form_as_in_torch(real_torch: ModuleType) -> None:
    assert with_grad_input(reftorch) == asked(real_torch, with_grad_input)


@pytest.mark.parametrize("name", NAMES)
def test_out_forms_write_what_those_of_torch_write(real_torch: ModuleType, name: str) -> None:
    op, compared = ROWS[name], 0
    for sample in op.each("float32"):
        args, kwargs = sample.build(reftorch)
        result, error = outcome(lambda: op.run(reftorch, args, kwargs))  # noqa: B023
        if error is not None or compared == 3:
            continue
        results = result if isinstance(result, (list, tuple)) else (result,)
        dtypes = [str(r.dtype).removeprefix("torch.") for r in results]
        shapes = [tuple(r.shape) for r in results]
        for chosen in (dtypes, ["int64"] * len(dtypes)):  # of the results, and one to which floats cannot be cast
            assert_same_outcome(
                lambda: written(reftorch, op, sample, shapes, chosen),  # noqa: B023
                lambda: written(real_torch, op, sample, shapes, chosen),  # noqa: B023
                f"{name}({sample}), {chosen}",
                op.rtol,
            )
        compared += 1
    assert compared, f"{name}: no call succeeds"
