"""Functions of networks as torch itself has them.

Mirrors: test/test_nn.py
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
from tests.nn.functions import TARGETS, W, X, Y, check, numbers

Z = numbers("z", 4, 3)

FUNCTIONS: dict[str, Callable] = {
    "batch_norm": lambda lib, F, x: lib.batch_norm(
        x, W(lib)[0], Y(lib)[0], Y(lib)[1].clone(), W(lib)[1].clone(), True, 0.1, 1e-5, False
    ),
    "batch_norm in evaluation": lambda lib, F, x: lib.batch_norm(
        x, None, None, Y(lib)[1], W(lib)[1], False, 0.1, 1e-5, False
    ),
    "instance_norm": lambda lib, F, x: lib.instance_norm(
        x.reshape(2, 2, 3), W(lib)[0, :2], None, None, None, True, 0.1, 1e-5, False
    ),
    "group_norm": lambda lib, F, x: lib.group_norm(x.reshape(2, 6), 3),
    "rms_norm": lambda lib, F, x: lib.rms_norm(x, (3,), W(lib)[0], 0.1),
    "embedding": lambda lib, F, x: lib.embedding(x, lib.tensor([[3, 0], [0, 1]])),
    "embedding with a row that learns nothing": lambda lib, F, x: lib.embedding(x, lib.tensor([3, 0, 0]), 0),
}
LOSSES: dict[str, Callable] = {
    "kl_div": lambda lib, F, x, r: lib.kl_div(x, TARGETS(lib), r),
    "kl_div of logarithms": lambda lib, F, x, r: lib.kl_div(x, Y(lib), r, log_target=True),
    "logits": lambda lib, F, x, r: lib.binary_cross_entropy_with_logits(x, TARGETS(lib), W(lib), W(lib)[0], r),
    "cosine": lambda lib, F, x, r: lib.cosine_embedding_loss(x, Y(lib), lib.tensor([1, -1, 1, -1]), 0.1, r),
    "hinge": lambda lib, F, x, r: lib.hinge_embedding_loss(x, lib.tensor([1, -1, 1]), 0.5, r),
    "ranking": lambda lib, F, x, r: lib.margin_ranking_loss(x, Y(lib), lib.tensor([[1, -1, 1]]), 0.5, r),
    "poisson": lambda lib, F, x, r: lib.poisson_nll_loss(x, TARGETS(lib), True, True, 1e-8, r),
    "triplet": lambda lib, F, x, r: lib.triplet_margin_loss(x, Y(lib), Z(lib), 1.5, 1, 1e-6, True, r),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, real_torch: ModuleType) -> None:
    check(FUNCTIONS[name], real_torch)


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, reduction: int, real_torch: ModuleType) -> None:
    check(LOSSES[name], real_torch, reduction)


def test_a_number_that_is_no_reduction_reduces_nothing(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        assert lib.kl_div(X(lib), X(lib), 3).shape == (4, 3)


def test_a_loss_is_not_reduced_by_default(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        assert lib.kl_div(X(lib), Y(lib)).shape == lib.margin_ranking_loss(X(lib), Y(lib), Z(lib)).shape == (4, 3)
        assert lib._C._nn.mse_loss(X(lib), Y(lib)).shape == (4, 3)
        assert lib.ops.aten.kl_div(X(lib), Y(lib)).shape == lib.ops.aten.mse_loss(X(lib), Y(lib)).shape == ()


@pytest.mark.parametrize("lengths", ["ints", "tensors"])
def test_ctc_loss_of_torch_and_the_op_have_different_defaults(lengths: str, real_torch: ModuleType) -> None:
    found = []
    for lib in (reftorch, real_torch):
        log_probs = (lib.arange(24, dtype=lib.float64).reshape(4, 2, 3) * 0.7).sin().log_softmax(-1)
        sizes = [[4, 3], [2, 1]] if lengths == "ints" else [lib.tensor([4, 3]), lib.tensor([2, 1])]
        arguments = (log_probs, lib.tensor([[1, 2], [2, 1]]), *sizes)
        losses = [lib.ctc_loss(*arguments, *more).tolist() for more in ((), (0, 1), (0, 2), (1, 0, True))]
        found.append([*losses, lib.ops.aten.ctc_loss(*arguments).tolist()])
    assert len(found[0][0]) == 2
    for ours, theirs in zip(found[0], found[1], strict=True):
        assert ours == pytest.approx(theirs)
