"""Products of matrices and vectors.

Mirrors: test/test_linalg.py (test_addmm, test_bmm, test_matmul, ...)
"""

import itertools
from types import ModuleType

import numpy as np
import pytest

import reftorch
from tests.native.differential import Program, assert_same, assert_same_error, assert_same_gradients, numbers

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8")
TOLERANCE = {"float16": 2e-3, "bfloat16": 2e-2}

# How a matrix may lie in memory; what BLAS cannot read is copied.
LAYOUTS = {
    "rows": lambda t, m, n, d: numbers(t, m, n, dtype=d),
    "columns": lambda t, m, n, d: numbers(t, n, m, dtype=d).t(),
    "wide rows": lambda t, m, n, d: numbers(t, m, n + 3, dtype=d)[:, 1:-2],
    "wide columns": lambda t, m, n, d: numbers(t, n, m + 2, dtype=d).t()[2:],
    "steps": lambda t, m, n, d: numbers(t, 2 * m, 2 * n, dtype=d)[::2, ::2],
    "expanded": lambda t, m, n, d: numbers(t, n, dtype=d).expand(m, n),
}


@pytest.mark.parametrize(("a", "b"), list(itertools.product(LAYOUTS, LAYOUTS)))
def test_layouts(a: str, b: str, real_torch: ModuleType) -> None:
    for m, k, n in ((3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1)):

        def product(t: ModuleType, m: int = m, k: int = k, n: int = n) -> object:
            return t.mm(LAYOUTS[a](t, m, k, "float64"), LAYOUTS[b](t, k, n, "float64"))

        assert_same(product, real_torch)


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str, real_torch: ModuleType) -> None:
    def program(t: ModuleType) -> object:
        a, b = numbers(t, 3, 4, dtype=dtype), numbers(t, 4, 5, dtype=dtype, start=3)
        c, v = numbers(t, 3, 5, dtype=dtype, start=1), numbers(t, 4, dtype=dtype, start=2)
        return [
            a @ b,
            a @ b.t().contiguous().t(),
            t.addmm(c, a, b, beta=2, alpha=3),
            a.mv(v),
            v.dot(v),
            v.outer(v),
            t.bmm(a.expand(2, 3, 4), b.expand(2, 4, 5)),
            t.addmv(c[:, 0], a, v, alpha=2),
        ]

    assert_same(program, real_torch, rtol=TOLERANCE.get(dtype, 1e-5), atol=TOLERANCE.get(dtype, 1e-5))


@pytest.mark.parametrize("threads", [1, 2])
def test_large(threads: int, real_torch: ModuleType) -> None:
    def program(t: ModuleType) -> object:
        before = t.get_num_threads()
        t.set_num_threads(threads)
        try:
            return [
                numbers(t, m, 150, dtype="float64") @ numbers(t, 150, n, dtype="float64")
                for m, n in ((200, 130), (130, 200))
            ]
        finally:
            t.set_num_threads(before)

    assert_same(program, real_torch, rtol=1e-9, atol=1e-9)


RANKS = [(), (4,), (3, 4), (2, 3, 4), (5, 1, 3, 4)]
RIGHT_RANKS = [(), (4,), (4, 6), (2, 4, 6), (1, 4, 6), (2, 4, 6), (5, 2, 4, 6)]


@pytest.mark.parametrize(("left", "right"), list(itertools.product(RANKS[1:], RIGHT_RANKS[1:])))
def test_matmul(left: tuple[int, ...], right: tuple[int, ...], real_torch: ModuleType) -> None:
    assert_same(lambda t: numbers(t, *left, dtype="float64") @ numbers(t, *right, dtype="float64"), real_torch)
    assert_same_gradients(lambda t, a, b: a @ b, real_torch, left, right)


RESULTS: dict[str, Program] = {
    "empty": lambda t: [
        t.mm(t.zeros(0, 3), t.zeros(3, 2)),
        t.mm(t.zeros(2, 0), t.zeros(0, 3)),
        t.bmm(t.zeros(0, 2, 3), t.zeros(0, 3, 4)),
        t.zeros(0).dot(t.zeros(0)),
        t.zeros(2, 0).mv(t.zeros(0)),
    ],
    "mm out": lambda t: [
        t.mm(numbers(t, 2, 3), numbers(t, 3, 4), out=t.empty(0)),
        t.mm(numbers(t, 2, 3), numbers(t, 3, 4), out=t.empty(4, 2).t()),
    ],
    "beta 0 does not read": lambda t: [
        t.addmm(t.full((2, 2), float("nan")), t.ones(2, k), t.ones(k, 2), beta=0) for k in (3, 0)
    ],
    "addmm broadcasts": lambda t: [
        t.addmm(numbers(t, *s), numbers(t, 2, 3), numbers(t, 3, 4)) for s in ((4,), (2, 1), ())
    ],
    "addmm_": lambda t: numbers(t, 2, 4).addmm_(numbers(t, 2, 3), numbers(t, 3, 4), alpha=0.5),
    "addmm_ transposed": lambda t: numbers(t, 4, 2).t().addmm_(numbers(t, 2, 3), numbers(t, 3, 4)),
    "addmm k 0": lambda t: t.addmm(numbers(t, 2, 4), t.zeros(2, 0), t.zeros(0, 4), beta=3),
    "addmv of nothing": lambda t: [
        t.addmv(t.ones(shape).bool(), t.ones(rows, columns).bool(), t.ones(columns).bool(), beta=beta)
        for shape, rows, columns in ((3, 3, 0), ((), 0, 4))
        for beta in (0, 1)
    ],
    "addbmm of no batches": lambda t: [
        t.addbmm(t.ones(3), t.ones(0, 4, 2).double(), t.ones(0, 2, 3), beta=beta) for beta in (0, 1, 2.5)
    ],
    "bmm of nothing and another dtype": lambda t: [
        t.bmm(t.zeros(2, 2, 0), t.zeros(2, 0, 3, dtype=t.int16)),
        t.bmm(t.zeros(0, 2, 3, dtype=t.bool), t.zeros(0, 3, 2)),
        t.einsum("c,cad->", t.zeros(0, dtype=t.uint8), t.zeros(0, 3, 1, dtype=t.uint8)),
    ],
    "baddbmm": lambda t: t.baddbmm(numbers(t, 4), numbers(t, 2, 3, 5), numbers(t, 2, 5, 4), beta=0.5, alpha=2),
    "bmm transposed": lambda t: t.bmm(numbers(t, 2, 3, 4).transpose(1, 2), numbers(t, 2, 5, 3).transpose(1, 2)),
    "bmm of permuted batches": lambda t: t.bmm(
        numbers(t, 3, 2, 4).transpose(0, 1), numbers(t, 4, 2, 5).transpose(0, 1)
    ),
    "mv strided": lambda t: numbers(t, 3, 8)[:, ::2].mv(numbers(t, 8)[::2]),
    "mv transposed": lambda t: numbers(t, 4, 3).t().mv(numbers(t, 4)),
    "mv expanded": lambda t: numbers(t, 3, 4).mv(numbers(t, 1).expand(4)),
    "dot strided": lambda t: numbers(t, 8)[::2].dot(numbers(t, 4)),
    "linear": lambda t: [
        t.nn.functional.linear(numbers(t, *s, 3), numbers(t, 4, 3), numbers(t, 4))
        for s in ((), (2,), (2, 5), (2, 1, 5))
    ],
    "linear without bias": lambda t: t.nn.functional.linear(numbers(t, 2, 3), numbers(t, 4, 3)),
}


@pytest.mark.parametrize("name", RESULTS)
def test_result(name: str, real_torch: ModuleType) -> None:
    assert_same(RESULTS[name], real_torch, rtol=1e-5, atol=1e-5)


ERRORS: dict[str, Program] = {
    "mm shapes": lambda t: t.mm(t.zeros(2, 3), t.zeros(2, 3)),
    "mm self": lambda t: t.mm(t.zeros(2), t.zeros(2, 3)),
    "mm mat2": lambda t: t.mm(t.zeros(2, 2), t.zeros(3)),
    "mm dtypes": lambda t: t.mm(t.zeros(2, 3), t.zeros(3, 2, dtype=t.float64)),
    "mm long": lambda t: t.mm(t.zeros(2, 3, dtype=t.int64), t.zeros(3, 2)),
    "inner of bools": lambda t: t.inner(t.zeros(2).bool(), t.zeros(2).bool()),
    "inner of no bools": lambda t: t.inner(t.zeros(0).bool(), t.zeros(0).bool()),
    "cross dtypes": lambda t: t.linalg.cross(t.zeros(2, 3), t.zeros(2, 3).double()),
    "cross of integers and floats": lambda t: t.linalg.cross(t.zeros(2, 3).int(), t.zeros(2, 3)),
    "cross of bools and floats": lambda t: t.linalg.cross(t.zeros(2, 3).bool(), t.zeros(2, 3)),
    "mm bool": lambda t: t.mm(t.zeros(2, 3, dtype=t.bool), t.zeros(3, 2, dtype=t.bool)),
    "mm out dtype": lambda t: t.mm(t.zeros(2, 3), t.zeros(3, 2), out=t.zeros(2, 2, dtype=t.float64)),
    "addmm mat1": lambda t: t.addmm(t.zeros(2, 4), t.zeros(2, 3, 1), t.zeros(3, 4)),
    "addmm mat2": lambda t: t.addmm(t.zeros(2, 4), t.zeros(2, 3), t.zeros(3)),
    "addmm shapes": lambda t: t.addmm(t.zeros(2, 3), t.zeros(2, 3), t.zeros(2, 3)),
    "addmm self": lambda t: t.addmm(t.zeros(2, 3), t.zeros(2, 3), t.zeros(3, 4)),
    "addmm dtypes": lambda t: t.addmm(t.zeros(2, 4, dtype=t.float64), t.zeros(2, 3), t.zeros(3, 4)),
    "bmm of bools": lambda t: t.bmm(t.ones(2, 3, 4).bool(), t.zeros(2, 4, 3)),
    "bmm batch1": lambda t: t.bmm(t.zeros(2, 3), t.zeros(2, 3)),
    "bmm batch2": lambda t: t.bmm(t.zeros(2, 3, 4), t.zeros(2, 3)),
    "bmm batches": lambda t: t.bmm(t.zeros(2, 3, 4), t.zeros(3, 4, 3)),
    "bmm shapes": lambda t: t.bmm(t.zeros(2, 3, 4), t.zeros(2, 3, 3)),
    "bmm dtypes": lambda t: t.bmm(t.zeros(2, 3, 4), t.zeros(2, 4, 3, dtype=t.float64)),
    "bmm bool": lambda t: t.bmm(t.zeros(2, 3, 4, dtype=t.bool), t.zeros(2, 4, 3, dtype=t.bool)),
    "baddbmm self": lambda t: t.baddbmm(t.zeros(2, 3, 4), t.zeros(2, 3, 4), t.zeros(2, 4, 3)),
    "baddbmm dtypes": lambda t: t.baddbmm(t.zeros(2, 3, 3, dtype=t.float64), t.zeros(2, 3, 4), t.zeros(2, 4, 3)),
    "mv sizes": lambda t: t.mv(t.zeros(2, 3), t.zeros(2)),
    "mv of vectors": lambda t: t.mv(t.zeros(2), t.zeros(2)),
    "mv dtypes": lambda t: t.mv(t.zeros(2, 3), t.zeros(3, dtype=t.float64)),
    "addmv sizes": lambda t: t.addmv(t.zeros(3), t.zeros(2, 3), t.zeros(3)),
    "dot sizes": lambda t: t.dot(t.zeros(2), t.zeros(3)),
    "dot dims": lambda t: t.dot(t.zeros(2, 2), t.zeros(3)),
    "dot dtypes": lambda t: t.dot(t.zeros(2), t.zeros(2, dtype=t.float64)),
    "dot bool": lambda t: t.dot(t.zeros(2, dtype=t.bool), t.zeros(2, dtype=t.bool)),
    "outer self": lambda t: t.outer(t.zeros(2, 2), t.zeros(2)),
    "outer vec2": lambda t: t.outer(t.zeros(2), t.zeros(2, 2)),
    "matmul scalar": lambda t: t.matmul(t.zeros(()), t.zeros(3)),
    "matmul sizes": lambda t: t.matmul(t.zeros(2, 3), t.zeros(2)),
    "matmul batches": lambda t: t.matmul(t.zeros(2, 3, 4), t.zeros(3, 4, 5)),
    "matmul inner": lambda t: t.matmul(t.zeros(2, 3, 4), t.zeros(2, 3, 4)),
    "linear shapes": lambda t: t.nn.functional.linear(t.zeros(2, 3), t.zeros(4, 2)),
    "linear bias": lambda t: t.nn.functional.linear(t.zeros(2, 3), t.zeros(4, 3), t.zeros(3)),
}


@pytest.mark.parametrize("name", ERRORS)
def test_error(name: str, real_torch: ModuleType) -> None:
    assert_same_error(ERRORS[name], real_torch)


GRADIENTS = {
    "mm": (lambda t, a, b: t.mm(a, b), (2, 3), (3, 4)),
    "mm of transposed": (lambda t, a, b: t.mm(a.t(), b.t()), (3, 2), (4, 3)),
    "addmm": (lambda t, c, a, b: t.addmm(c, a, b, beta=2, alpha=3), (4,), (2, 3), (3, 4)),
    "bmm": (lambda t, a, b: t.bmm(a, b), (2, 3, 4), (2, 4, 2)),
    "baddbmm": (lambda t, c, a, b: t.baddbmm(c, a, b, beta=2, alpha=3), (3, 1), (2, 3, 4), (2, 4, 2)),
    "mv": (lambda t, a, b: t.mv(a, b), (2, 3), (3,)),
    "addmv": (lambda t, c, a, b: t.addmv(c, a, b, beta=2, alpha=3), (2,), (2, 3), (3,)),
    "dot": (lambda t, a, b: t.dot(a, b), (3,), (3,)),
    "outer": (lambda t, a, b: t.outer(a, b), (3,), (2,)),
    "linear": (lambda t, x, w, b: t.nn.functional.linear(x, w, b), (5, 3), (4, 3), (4,)),
    "linear 3-d": (lambda t, x, w, b: t.nn.functional.linear(x, w, b), (2, 5, 3), (4, 3), (4,)),
    "linear without bias": (lambda t, x, w: t.nn.functional.linear(x, w), (2, 3), (4, 3)),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradient(name: str, real_torch: ModuleType) -> None:
    program, *shapes = GRADIENTS[name]
    assert_same_gradients(program, real_torch, *shapes)


def test_gradients_lie_like_their_inputs(real_torch: ModuleType) -> None:
    def program(t: ModuleType) -> object:
        x, w = numbers(t, 5, 3), numbers(t, 4, 3).requires_grad_()
        t.nn.functional.linear(x, w, numbers(t, 4)).sum().backward()
        return w.grad

    assert_same(program, real_torch)


@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (0, 0), (4, 0)])
def test_matrices_without_elements_have_any_strides(shape: tuple[int, int]) -> None:
    """numpy's have strides that BLAS could not read a matrix with; contiguous() leaves them as they are."""
    rows, cols = shape
    for strides in ((0, 4), (4, 0), (0, 0), (7, 5)):
        m = reftorch.empty(0).as_strided(shape, strides)
        assert reftorch.mv(m, reftorch.ones(cols)).tolist() == [0] * rows
        assert (m @ reftorch.ones(cols, 2)).shape == (rows, 2)
        assert reftorch.addmv(reftorch.ones(rows), m, reftorch.ones(cols)).tolist() == [1] * rows
        assert reftorch.bmm(m.expand(2, *shape), reftorch.ones(2, cols, 3)).tolist() == [[[0] * 3] * rows] * 2
    assert reftorch.from_numpy(np.zeros(shape)).mv(reftorch.ones(cols).double()).shape == (rows,)


def test_integers_are_summed_away_in_their_own_dtype(real_torch: ModuleType) -> None:
    for dtype in ("int32", "uint8", "int64", "float32"):
        assert_same(
            lambda t, dtype=dtype: t.tensordot(
                t.ones(2, 1, dtype=getattr(t, dtype)), numbers(t, 3, 2, dtype=dtype), dims=([0, 1], [1, 0])
            ),
            real_torch,
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_in_16_bits_are_rounded_where_torch_rounds(dtype: str, real_torch: ModuleType) -> None:
    def outer(t: ModuleType, **factors: float) -> object:
        a, b, c = (
            numbers(t, 5, 7, dtype=dtype),
            numbers(t, 5, dtype=dtype, start=3),
            numbers(t, 7, dtype=dtype, start=9),
        )
        return t.addr(a, b, c, **factors)

    def batches(t: ModuleType, **factors: float) -> object:
        a, b = numbers(t, 3, 4, 5, dtype=dtype), numbers(t, 3, 5, 6, dtype=dtype, start=7)
        return t.addbmm(numbers(t, 4, 6, dtype=dtype), a, b, **factors)

    for program in (outer, batches):
        for factors in ({}, {"beta": 0.3, "alpha": 1.7}, {"beta": 0, "alpha": 1.7}, {"alpha": 1.7}):
            assert_same(lambda t, p=program, f=factors: p(t, **f), real_torch, rtol=0, atol=0)


MISMATCHED: dict[str, Program] = {
    "linear": lambda t: t.nn.functional.linear(t.ones(2, 3).double(), t.ones(4, 3), t.ones(4)),
    "linear, integers": lambda t: t.nn.functional.linear(t.ones(2, 3).long(), t.ones(4, 3), t.ones(4)),
    "linear of a batch": lambda t: t.nn.functional.linear(t.ones(5, 2, 3).double(), t.ones(4, 3), t.ones(4)),
    "linear of a row": lambda t: t.nn.functional.linear(t.ones(3).double(), t.ones(4, 3), t.ones(4)),
    "linear without bias": lambda t: t.nn.functional.linear(t.ones(2, 3).double(), t.ones(4, 3)),
    "linear, another bias": lambda t: t.nn.functional.linear(t.ones(2, 3), t.ones(4, 3), t.ones(4).double()),
    "addmm": lambda t: t.addmm(t.ones(2), t.ones(2, 3).half(), t.ones(3, 2)),
    "mm": lambda t: t.mm(t.ones(2, 3).int(), t.ones(3, 2)),
    "bilinear": lambda t: t.nn.functional.bilinear(t.ones(2, 2).double(), t.ones(2, 3), t.ones(2, 2, 3)),
}


@pytest.mark.parametrize("name", MISMATCHED)
def test_words_about_dtypes_that_differ(name: str, real_torch: ModuleType) -> None:
    assert_same_error(MISMATCHED[name], real_torch)
