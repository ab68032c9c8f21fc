"""Products of matrices and vectors.

Mirrors: torch/testing/_internal/opinfo/definitions/linalg.py
Leaves out: decompositions.
"""

from collections.abc import Iterator
from typing import Any

from tests.op_db.core import DTYPES, Apart, Inputs, OpInfo, Sample

Shapes = tuple[tuple[int, ...], ...]


def of(*calls: Shapes, **kwargs: Any) -> Any:
    def samples(make: Inputs) -> Iterator[Sample]:
        for shapes in calls:
            yield Sample(tuple(make(*shape) for shape in shapes))
            layouts = [make(*shape, layout="transposed" if len(shape) > 1 else "contiguous") for shape in shapes]
            yield Sample(tuple(layouts), kwargs)

    return samples


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, dtypes=tuple(d for d in DTYPES if d != "bool"), rtol=1e-5, **options)


ROWS = [
    row("mm", of(((2, 3), (3, 2)), ((1, 3), (3, 1)), ((2, 0), (0, 3)))),
    row("addmm", of(((2, 2), (2, 3), (3, 2)), ((2,), (2, 3), (3, 2)), beta=2, alpha=3)),
    row("bmm", of(((2, 3, 2), (2, 2, 3)))),
    row("baddbmm", of(((2, 3, 3), (2, 3, 2), (2, 2, 3)), ((3,), (2, 3, 2), (2, 2, 3)), beta=2, alpha=3)),
    row("mv", of(((3, 4), (4,)))),
    row("addmv", of(((3,), (3, 4), (4,)), beta=2, alpha=3),
        apart=(Apart("torch stumbles over its own message", says="Dimension specified as 0"),)),
    row("dot", of(((4,), (4,)), ((0,), (0,)))),
    row("vdot", of(((4,), (4,)))),
    row("outer", of(((4,), (3,)))),
    row("ger", of(((4,), (3,)))),
    row("addr", of(((3, 2), (3,), (2,)), ((2,), (3,), (2,)), beta=2, alpha=3)),
    row("addbmm", of(((3, 3), (2, 3, 2), (2, 2, 3)), ((3,), (2, 3, 2), (2, 2, 3)), beta=2, alpha=3)),
    row("inner", of(((2, 3), (4, 3)), ((3,), (3,)), ((2, 3), (3,)), ((), (2, 3)))),
    row("kron", of(((2, 3), (3, 2)), ((3,), (2, 2)), ((), (2,)))),
    row("tensordot", lambda make: [
        Sample((make(2, 3, 4), make(4, 3, 2)), {"dims": dims}) for dims in (1, ([1, 2], [1, 0]), ([-1], [0]), 0)]
        + [Sample((make(2, 3), make(3, 2)), {"dims": 1})]),
    row("einsum", lambda make: [Sample((equation, *(make(*shape) for shape in shapes))) for equation, shapes in (
        ("ij,jk->ik", ((2, 3), (3, 2))), ("bij,bjk->bki", ((2, 2, 3), (2, 3, 2))), ("ii->i", ((3, 3),)),
        ("i,j", ((2,), (3,))), ("...ij->...ji", ((2, 3, 2),)), ("ij,j,i->", ((2, 3), (3,), (2,))),
        ("...a,...a->...", ((2, 3), (3,))), ("bn,anm,bm->ba", ((2, 3), (4, 3, 2), (2, 2))), ("iij->j", ((2, 2, 3),)))],
        call=lambda lib, *args: lib.einsum(*args)),
    row("chain_matmul", lambda make: [Sample(([make(2, 3), make(3, 4), make(4, 1)],))],
        call=lambda lib, matrices, **kwargs: lib.chain_matmul(*matrices, **kwargs)),
    row("linalg_multi_dot", lambda make: [
        Sample(([make(2, 3), make(3, 4), make(4, 1)],)), Sample(([make(3), make(3, 4), make(4)],))]),
    row("linalg_vecdot", of(((2, 3), (2, 3)), ((3,), (3,)), ((2, 3), (3,)))),
    row("linalg_cross", of(((2, 3), (2, 3)), ((1, 3), (2, 3)))),
    row("cross", lambda make: [
        Sample((make(2, 3), make(2, 3)), {"dim": 1}), Sample((make(3, 2), make(3, 1)), {"dim": 0}),
        Sample((make(2, 3), make(1, 3)), {"dim": -1}), Sample((make(3, 3, layout="transposed"), make(3, 3), 0)),
        Sample((make(2, 3), make(3), 1)), Sample((make(2, 3), make(2, 3), 0))]),
    row("linalg_vander", of(((3,),), ((2, 3),))),
    row("vander", lambda make: [
        Sample((make(3),)), Sample((make(3),), {"N": 2, "increasing": True}), Sample((make(4), 2)),
        Sample((make(3), 4, True)), Sample((make(0),))],
        torch_gradient=False),
    row("linalg_matmul", of(((2, 3), (3, 2)), ((2, 2, 3), (3, 2)))),
    row("matmul", of(((2, 3), (3, 2)), ((3,), (3, 2)), ((2, 3), (3,)), ((3,), (3,)), ((2, 2, 3), (3, 2)),
                     ((2, 3), (2, 3, 2)),
                     ((2, 1, 3), (1, 3, 2)), ((3, 1, 2, 3), (2, 3, 2)), ((3,), (2, 3, 2)), ((2, 0, 3), (3, 2)),
                     ((2, 3), (0, 3, 2)), ((2, 2, 0), (2, 0, 3)))),
    row("linear", of(((2, 3), (4, 3), (4,)), ((2, 3), (4, 3)), ((3,), (2, 3), (2,)), ((2, 2, 3), (2, 3), (2,))),
        out=False),
]  # fmt: skip
