"""The parts of batch normalization between which ranks exchange numbers, row by row.

Mirrors: test/test_nn.py (test_sync_batchnorm_accuracy_cuda)
"""

import pytest

import reftorch as torch
from tests.op_db.suite import OpResultTests


class TestRows(OpResultTests):
    FAMILIES = "sync_batch_norm"


def test_parts_of_a_batch_give_the_statistics_of_the_whole() -> None:
    x = torch.randn(7, 3, 4, dtype=torch.float64)
    parts = x.split([4, 3])
    each = [torch.batch_norm_stats(part, 1e-5) for part in parts]
    mean, invstd = (torch.stack(values) for values in zip(*each, strict=True))
    counts = torch.tensor([16.0, 12.0], dtype=torch.float64)
    norm = torch.nn.BatchNorm1d(3, momentum=0.3).double()
    running = norm.running_mean.clone(), norm.running_var.clone()
    whole = torch.batch_norm_gather_stats_with_counts(x, mean, invstd, *running, 0.3, 1e-5, counts)
    assert all(torch.allclose(a, b) for a, b in zip(whole, torch.batch_norm_stats(x, 1e-5), strict=True))
    y = norm(x)
    assert torch.allclose(torch.batch_norm_elemt(x, norm.weight, norm.bias, *whole, 1e-5), y)
    assert torch.allclose(running[0], norm.running_mean) and torch.allclose(running[1], norm.running_var)


def test_halves_have_statistics_of_float32() -> None:
    x = torch.randn(4, 3, 5).half()
    mean, invstd = torch.batch_norm_stats(x, 1e-5)
    assert mean.dtype == invstd.dtype == torch.float32
    weight = torch.ones(3)
    assert torch.batch_norm_elemt(x, weight, weight, mean, invstd, 1e-5).dtype == torch.float16
    sums = torch.batch_norm_backward_reduce(x, x, mean, invstd, weight, True, True, False)
    assert [None if t is None else t.dtype for t in sums] == [torch.float32] * 3 + [None]
    assert torch.batch_norm_backward_elemt(x, x, mean, invstd, weight, *sums[:2], torch.ones(1)).dtype == torch.float16


def test_mistakes_are_named() -> None:
    x = torch.ones(2, 3)
    with pytest.raises(RuntimeError, match=r"expected an input of at least 2 dimensions .* but got \[3\]"):
        torch.batch_norm_stats(torch.ones(3), 0.1)
    with pytest.raises(NotImplementedError, match="\"batch_norm_stats\" not implemented for 'Long'"):
        torch.batch_norm_stats(x.long(), 0.1)
    with pytest.raises(RuntimeError, match="a count for each rank"):
        torch.batch_norm_gather_stats_with_counts(x, x, x, None, None, 0.1, 0.1, torch.ones(3))
