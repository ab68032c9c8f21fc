"""Reading an image at the places of a grid against torch's, row by row.

Mirrors: test/test_nn.py
"""

import math
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "grid_sampler"


@pytest.mark.parametrize(
    ("dims", "mode"), [(2, "bilinear"), (2, "nearest"), (2, "bicubic"), (3, "bilinear"), (3, "nearest")]
)
@pytest.mark.parametrize("align_corners", [False, True])
def test_a_place_that_is_not_finite(mode: str, align_corners: bool, dims: int, real_torch: Any) -> None:
    """In images of two dimensions, interpolation shows NaN. With another padding than zeros torch crashes."""

    def results(torch: Any) -> list[list[float]]:
        image = torch.arange(1.0, 2**dims + 1).view(1, 1, *[2] * dims).requires_grad_()
        found = []
        for value in (math.nan, math.inf, -math.inf, 1e10, 3e38):
            for which in range(dims):
                place = [0.25] * dims
                place[which] = value
                grid = torch.tensor(place).view(1, *[1] * dims, dims).requires_grad_()
                sampled = torch.nn.functional.grid_sample(
                    image, grid, mode=mode, padding_mode="zeros", align_corners=align_corners
                )
                grads = torch.autograd.grad(sampled.sum(), [image, grid])
                found.append([sampled.item(), *(number for g in grads for number in g.flatten().tolist())])
        return found

    for got, want in zip(results(reftorch), asked(real_torch, results), strict=True):
        assert got == pytest.approx(want, nan_ok=True)
