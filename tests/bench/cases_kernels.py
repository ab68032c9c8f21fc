"""Large tensors: what the kernels and the allocator do.

Mirrors: benchmarks/operator_benchmark/pt/
Left out: quantized and sparse kernels.
"""

from typing import Any

from cases import Library, statement

SIZES = {"1e6": 1_000_000, "1e7": 10_000_000}
COLUMNS = 1000


def over(name: str, text: str, columns: bool = False) -> None:
    """A statement over tensors ``a`` and ``b`` of a million and ten million elements; ``columns``: 1000 in a row."""

    def names(lib: Library, size: int) -> dict[str, Any]:
        a, b = lib.randn(size), lib.randn(size)
        if columns:
            a, b = a.reshape(-1, COLUMNS), b[:COLUMNS]
        return {"T": lib.T, "F": lib.F, "a": a, "b": b, "mask": a > 0}

    for label, size in SIZES.items():
        statement("kernels", f"{name}_{label}", text, lambda lib, size=size: names(lib, size))


over("add", "a + b")
over("mul", "a * b")
over("iadd", "a.add_(b)")
over("exp", "a.exp()")
over("tanh", "a.tanh()")
over("sigmoid", "a.sigmoid()")
over("gelu", "F.gelu(a)")
over("relu", "a.relu()")
over("gt", "a > b")
over("where", "T.where(mask, a, b)")
over("sum", "a.sum()")
over("max", "a.max()")
over("sum_dim0", "a.sum(0)", columns=True)
over("sum_dim1", "a.sum(1)", columns=True)
over("argmax", "a.argmax(1)", columns=True)
over("broadcast", "a + b", columns=True)
over("transpose_copy", "a.t().contiguous()", columns=True)
over("softmax", "a.softmax(-1)", columns=True)
over("layer_norm", "F.layer_norm(a, (1000,), b, b)", columns=True)

for n in (64, 128, 256, 512, 1024, 2048):
    statement("kernels", f"matmul_{n}", "a @ b", lambda lib, n=n: {"a": lib.randn(n, n), "b": lib.randn(n, n)})
statement("kernels", "matmul_nt_512", "a @ b.t()", lambda lib: {"a": lib.randn(512, 512), "b": lib.randn(512, 512)})
statement(
    "kernels", "linear_64x784_256", "F.linear(x, w, b)",
    lambda lib: {"F": lib.F, "x": lib.randn(64, 784), "w": lib.randn(256, 784), "b": lib.randn(256)},
)  # fmt: skip
statement(
    "kernels", "bmm_48x64x32", "T.bmm(a, b)",
    lambda lib: {"T": lib.T, "a": lib.randn(48, 64, 32), "b": lib.randn(48, 32, 64)},
)  # fmt: skip
statement(
    "kernels", "cross_entropy_4096x1000", "F.cross_entropy(x, t)",
    lambda lib: {"F": lib.F, "x": lib.randn(4096, 1000), "t": lib.T.randint(0, 1000, (4096,))},
)  # fmt: skip
statement("kernels", "randn_1e6", "T.randn(1000000)", lambda lib: {"T": lib.T})
statement("kernels", "rand_1e6", "T.rand(1000000)", lambda lib: {"T": lib.T})
statement(
    "kernels", "cat_2x1e6", "T.cat([a, b])",
    lambda lib: {"T": lib.T, "a": lib.randn(1_000_000), "b": lib.randn(1_000_000)},
)  # fmt: skip


def layer(name: str, text: str, *shapes: tuple[int, ...]) -> None:
    """A function of networks, forward alone and with the gradients of its tensors ``a``, ``b`` and ``c``."""

    def names(lib: Library, grad: bool) -> dict[str, Any]:
        tensors = {n: lib.randn(*shape, grad=grad) for n, shape in zip("abc", shapes, strict=False)}
        return {"T": lib.T, "F": lib.F, **tensors}

    statement("kernels", f"{name}_forward", text, lambda lib: names(lib, False))
    inputs = ", ".join("abc"[: len(shapes)])
    statement(
        "kernels", f"{name}_gradients", f"T.autograd.grad(({text}).sum(), ({inputs},))", lambda lib: names(lib, True)
    )


layer("conv2d_32x3x32", "F.conv2d(a, b, c, padding=1)", (32, 3, 32, 32), (32, 3, 3, 3), (32,))
layer("conv2d_32x32x16", "F.conv2d(a, b, c, padding=1)", (32, 32, 16, 16), (64, 32, 3, 3), (64,))
layer("conv2d_64x1x8", "F.conv2d(a, b, c, padding=1)", (64, 1, 8, 8), (32, 1, 3, 3), (32,))
layer("conv2d_8x64x56_1x1", "F.conv2d(a, b)", (8, 64, 56, 56), (256, 64, 1, 1))
layer("conv2d_8x64x56_depthwise", "F.conv2d(a, b, padding=1, groups=64)", (8, 64, 56, 56), (64, 1, 3, 3))
layer("max_pool2d_32x32x32", "F.max_pool2d(a, 2)", (32, 32, 32, 32))
layer("avg_pool2d_32x32x32", "F.avg_pool2d(a, 2)", (32, 32, 32, 32))
layer("batch_norm_32x32x32", "F.batch_norm(a, None, None, b, c, True)", (32, 32, 32, 32), (32,), (32,))

# Normalized by the batch itself, as in training.
layer("batch_norm_16x64x56", "F.batch_norm(a, None, None, b, c, True)", (16, 64, 56, 56), (64,), (64,))
SDPA = "F.scaled_dot_product_attention(a, b, c, is_causal=True)"
layer("sdpa_8x8x256x64", SDPA, (8, 8, 256, 64), (8, 8, 256, 64), (8, 8, 256, 64))
