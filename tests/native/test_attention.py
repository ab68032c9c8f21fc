"""Attention: the kernel by tiles against small operations, and both against torch's.

Mirrors: test/test_transformers.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "attention"


# batch, heads, groups of keys, queries, keys, size of a head: less than a tile, several tiles, their borders
SIZES = (
    (1, 2, 2, 3, 5, 4),
    (2, 2, 1, 64, 64, 3),
    (1, 4, 2, 65, 130, 8),
    (1, 1, 1, 130, 1030, 2),
    (1, 1, 1, 200, 70, 1),
)


def inputs(sizes: tuple[int, ...], dtype: reftorch.dtype) -> list[reftorch.Tensor]:
    B, H, G, L, S, E = sizes
    reftorch.manual_seed(1)
    shapes = ((B, H, L, E), (B, G, S, E), (B, G, S, E))
    return [reftorch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]


@pytest.mark.parametrize("masked", [False, True], ids=["without mask", "masked"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_tiles_equal_small_operations(sizes: tuple[int, ...], causal: bool, masked: bool) -> None:
    """The first rung of the ladder is _scaled_dot_product_attention_math."""
    found = []
    for flash in (True, False):
        query, key, value = inputs(sizes, reftorch.float64)
        mask = None
        if masked:
            mask = reftorch.randn(sizes[3:5], dtype=reftorch.float64).masked_fill_(
                reftorch.rand(sizes[3:5]) < 0.3, -1e4
            )
            mask[0] = -reftorch.inf  # a query without a key
        if flash:
            y, logsumexp = reftorch._scaled_dot_product_flash_attention_for_cpu(
                query, key, value, is_causal=causal, attn_mask=mask
            )
            assert not logsumexp.requires_grad and logsumexp.shape == query.shape[:3]
        else:
            earlier = reftorch.ones(sizes[3:5], dtype=reftorch.bool).tril()
            both = (
                mask
                if not causal
                else (0 if mask is None else mask)
                + reftorch.zeros(sizes[3:5], dtype=reftorch.float64).masked_fill(~earlier, -reftorch.inf)
            )
            y, _ = reftorch._scaled_dot_product_attention_math(query, key, value, both, enable_gqa=True)
        grad = reftorch.arange(y.numel(), dtype=y.dtype).reshape(y.shape).sin()
        found.append([y, *reftorch.autograd.grad(y, (query, key, value), grad)])
    for ours, theirs in zip(*found, strict=True):
        reftorch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-11)


def program(lib: ModuleType, layout: str, dtype: str, **options: Any) -> Any:
    """The output, its strides, the gradients and the name of the node of one call."""
    lib.manual_seed(3)
    shape = (2, 3, 5, 4)
    leaves = [lib.randn(shape).to(getattr(lib, dtype)).requires_grad_() for _ in range(3)]
    tensors = leaves
    if layout == "heads inside":  # as a projection leaves them: (B, L, H, E)
        tensors = [t.reshape(2, 5, 3, 4).transpose(1, 2) for t in leaves]
    elif layout == "rows apart":
        tensors = [t.transpose(2, 3).contiguous().transpose(2, 3) for t in leaves]
    elif layout == "one row":
        tensors = [leaves[0][:, :, :1].expand(2, 3, 5, 4), *leaves[1:]]
    elif layout == "three dimensions":
        tensors = [t[0] for t in leaves]
    y = lib.nn.functional.scaled_dot_product_attention(*tensors, **options)
    y.float().square().sum().backward()
    numbers = [v.float().flatten().tolist() for v in (y, *(leaf.grad for leaf in leaves))]
    return tuple(y.shape), y.stride(), type(y.grad_fn).__name__, numbers


@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("layout", ["plain", "heads inside", "rows apart", "one row", "three dimensions"])
def test_layouts_and_nodes_equal_torch(layout: str, causal: bool, real_torch: ModuleType) -> None:
    ours, theirs = (program(lib, layout, "float32", is_causal=causal) for lib in (reftorch, real_torch))
    assert ours[:3] == theirs[:3]
    for one, other in zip(ours[3], theirs[3], strict=True):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_floats_are_near_torch(dtype: str, real_torch: ModuleType) -> None:
    ours, theirs = (program(lib, "plain", dtype) for lib in (reftorch, real_torch))
    assert ours[:3] == theirs[:3]
    for one, other in zip(ours[3], theirs[3], strict=True):
        assert one == pytest.approx(other, rel=2e-2, abs=2e-2)


def test_a_mask_of_booleans_and_a_causal_one_together(real_torch: ModuleType) -> None:
    found = []
    for lib in (reftorch, real_torch):
        lib.manual_seed(4)
        x, mask = lib.randn(1, 2, 6, 3), lib.rand(6, 6) < 0.7
        found.append(lib.nn.functional.scaled_dot_product_attention(x, x, x, mask, is_causal=True).flatten().tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_keys_of_another_length_than_values_are_refused() -> None:
    """torch reads beyond the values."""
    x = reftorch.ones(1, 1, 2, 3)
    with pytest.raises(RuntimeError, match="expected key and value of one shape"):
        reftorch.nn.functional.scaled_dot_product_attention(x, reftorch.ones(1, 1, 5, 3), reftorch.ones(1, 1, 4, 3))


def test_two_orders_of_gradients() -> None:
    x = [reftorch.randn(1, 2, 3, 2, dtype=reftorch.float64, requires_grad=True) for _ in range(3)]
    attend = reftorch.nn.functional.scaled_dot_product_attention
    for options in ({}, {"is_causal": True}):
        assert reftorch.autograd.gradgradcheck(lambda *x, o=options: attend(*x, **o), x)


def test_heads_without_elements_have_gradients_of_two_orders() -> None:
    tensors = [reftorch.zeros(1, 2, 3, 0, requires_grad=True) for _ in range(3)]
    output, _ = reftorch.ops.aten._scaled_dot_product_flash_attention_for_cpu(*tensors)
    firsts = reftorch.autograd.grad(output.sum(), tensors, create_graph=True)
    assert [first.shape for first in firsts] == [(1, 2, 3, 0)] * 3


@pytest.mark.parametrize("dims", [2, 4])
def test_example_by_example(dims: int) -> None:
    x = [reftorch.randn(3, 2, 2, 5, 4) for _ in range(3)]
    mask = reftorch.randn(3, *(2, 2, 5, 5)[-dims:])
    attend = reftorch.nn.functional.scaled_dot_product_attention
    for in_dim in (0, None):
        batched = reftorch.func.vmap(attend, in_dims=(0, 0, 0, in_dim))(*x, mask if in_dim == 0 else mask[0])
        for i in range(3):
            alone = attend(*(t[i] for t in x), mask[i if in_dim == 0 else 0])
            assert reftorch.allclose(batched[i], alone, atol=1e-6)


def test_meta() -> None:
    x = reftorch.empty(2, 3, 4, 5, device="meta")
    assert reftorch.nn.functional.scaled_dot_product_attention(x, x, x).shape == x.shape
