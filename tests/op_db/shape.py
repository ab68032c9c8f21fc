"""Views, and tensors made of whole other tensors.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: named tensors.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.op_db.core import DTYPES, NAN_OF_BFLOAT16, Apart, DType, Input, Inputs, Library, OpInfo, Sample

Arguments = tuple[Any, ...]


def of(
    *shape: int, layouts: tuple[str, ...] = ("contiguous", "transposed"), calls: tuple[Arguments, ...] = ((),)
) -> Any:
    """The op on a tensor of that shape, in each layout, with each of the further arguments."""

    def samples(make: Inputs) -> Iterator[Sample]:
        for layout in layouts:
            for arguments in calls:
                yield Sample((make(*shape, layout=layout), *arguments))

    return samples


def row(ops: str, samples: Any, **options: Any) -> OpInfo:
    return OpInfo(ops, samples, dtypes=DTYPES, **options)


NEGATIVE_SIZE = Apart(
    "torch makes a tensor of a negative size where another is 0",
    says="Storage size calculation overflowed",
    when=lambda sample: min(sample.args[1], default=0) < 0,
)


def is_no_unfold(sample: Sample) -> bool:
    """Whether unfold does not make args[0]'s shape of the input's."""
    grad, sizes, dim, size, step = sample.args
    if not -len(sizes) <= dim < len(sizes) or step < 1:
        return True
    unfolded = list(sizes)
    unfolded[dim] = (sizes[dim] - size) // step + 1
    return grad.values.shape != (*unfolded, size)


def only_dense(*shape: int, calls: tuple[Arguments, ...]) -> Any:
    return of(*shape, layouts=("contiguous",), calls=calls)


def lists(*shapes: tuple[int, ...], calls: tuple[Arguments, ...] = ((),)) -> Any:
    def samples(make: Inputs) -> Iterator[Sample]:
        for arguments in calls:
            yield Sample(([make(*shape) for shape in shapes], *arguments))

    return samples


def joined(make: Inputs) -> Iterator[Sample]:
    yield Sample(([make(2, 3), make(1, 3)],))
    yield Sample(([make(2, 1), make(2, 3), make(0)], -1))
    yield Sample(([make(0), make(2, 3)], 0))
    yield Sample(([make(2, 2, layout="transposed"), make(1, 2)], 0))


def with_another(shape: tuple[int, ...], other: tuple[int, ...]) -> Any:
    def samples(make: Inputs) -> Iterator[Sample]:
        yield Sample((make(*shape), make(*other)))

    return samples


def aten(name: str) -> Callable[..., Any]:
    """An op that torch does not show as a function."""

    def call(lib: Library, *args: Any, **kwargs: Any) -> Any:
        functions = lib._C._VariableFunctions if lib.__name__ == "reftorch" else lib.ops.aten
        return getattr(functions, name)(*args, **kwargs)

    return call


ROWS = [
    # the same elements in another shape
    row("view", only_dense(2, 6, calls=(((3, 4),), ((-1,),), ((2, 3, 2),)))),
    row("_unsafe_view", only_dense(2, 6, calls=(((3, 4),), ((-1,),))), call=aten("_unsafe_view")),
    row("reshape", of(2, 6, calls=(((3, 4),), ((-1,),), ((2, 3, 2),)))),
    row("view_as", with_another((2, 3), (6,))),
    row("reshape_as", with_another((2, 3), (3, 2))),
    row("flatten.using_ints", of(2, 3, 2, calls=((), (1,), (0, 1)))),
    row("unflatten.int", of(2, 6, calls=((1, (2, -1)), (0, (2, 1))))),
    row("ravel", of(2, 3)),
    row("squeeze", of(1, 3, 1)),
    row("squeeze.dim", of(1, 3, 1, calls=((0,), (1,), (-1,)))),
    row("squeeze.dims", of(1, 3, 1, calls=(((0, 1),), ((0, -1),)))),
    row("unsqueeze", of(2, 3, calls=((0,), (1,), (-1,)))),
    row("expand", of(3, 1, calls=(((3, 4),), ((2, -1, 2),)))),
    row("expand_as", with_another((3, 1), (2, 3, 2))),
    row("broadcast_to", of(3, 1, calls=(((2, 3, 2),),))),
    row(
        "as_strided",
        only_dense(3, 4, calls=(((2, 3), (1, 2), 1), ((2, 2), (4, 1)), ((5, 3), (1, 1), 2))),
        apart=(NEGATIVE_SIZE,),
    ),
    row("detach", of(2, 3)),
    row("alias", of(2, 3), call=aten("alias")),
    row(
        "view.dtype",
        only_dense(2, 4, calls=((DType("uint8"),), (DType("int8"),), (DType("float32"),))),
        call=lambda lib, x, dtype: x.view(dtype),
        apart=(NAN_OF_BFLOAT16,),
    ),
    row("atleast_1d atleast_1d.Sequence", of(calls=((),), layouts=("contiguous",))),
    row("atleast_2d atleast_2d.Sequence", of(3, layouts=("contiguous",))),
    row("atleast_3d atleast_3d.Sequence", of(3, 2)),
    row("broadcast_tensors", with_another((3, 1), (2, 3, 2))),
    row("sum_to_size", of(2, 3, calls=(((3,),), ((2, 1),), ((1,),)))),
    row("is_same_size", with_another((3, 1), (3, 1))),
    row("is_set_to", with_another((3, 1), (3, 1))),
    # another order of dimensions
    row("permute", of(2, 3, 2, calls=(((2, 0, 1),), ((0, -1, 1),)))),
    row("transpose.int", of(2, 3, 2, calls=((0, 1), (-1, 0)))),
    row("swapaxes", of(2, 3, calls=((0, 1),))),
    row("swapdims", of(2, 3, calls=((0, -1),))),
    row("t", of(2, 3)),
    row("numpy_T", of(2, 3), call=lambda lib, x: x.T),
    row("mT", of(2, 3, 2), call=lambda lib, x: x.mT),
    row("movedim.int", of(2, 3, 2, calls=((0, 2), (-1, 0)))),
    row("mH", of(2, 3, 2), call=lambda lib, x: x.mH),
    row("matrix_H", of(2, 3), call=lambda lib, x: x.H),
    row("adjoint", of(2, 3, 2)),
    row("moveaxis.int", of(2, 3, 2, calls=((0, 2), (-1, 0)))),
    row("moveaxis.intlist", of(2, 3, 2, calls=(((0, 1), (2, 0)),))),
    row("movedim.intlist", of(2, 3, 2, calls=(((0, 1), (2, 0)),))),
    # a part
    row("select.int", of(2, 3, 2, calls=((0, 1), (1, -1)))),
    row("slice.Tensor", of(5, 2, calls=((0, 1, 4), (0, None, None, 2), (1, -1), (0, 4, 2))), call=aten("slice")),
    row("narrow", of(5, 2, calls=((0, 1, 3), (1, -1, 1)))),
    row("narrow.Tensor", lambda make: [Sample((make(5, 2), 0, Input(np.array(2), "int64"), 2))]),
    row("unfold", of(4, 3, calls=((0, 2, 1), (0, 3, 2), (1, 1, 2), (-1, 3, 1), (0, 0, 1)))),
    row(
        "unfold_backward",
        of(2, 3, 2, calls=(((3, 3), 0, 2, 1),)),
        call=aten("unfold_backward"),
        apart=(Apart("torch takes a gradient of a shape that no unfold has", when=is_no_unfold),),
    ),
    row("diagonal", of(3, 4, calls=((), (1,), (-2,), (0, 1, 0)))),
    row("select_backward", of(2, 3, calls=(((2, 4, 3), 1, 2),)), call=aten("select_backward")),
    row("slice_backward", of(2, 3, calls=(((5, 3), 0, 1, 4, 2),)), call=aten("slice_backward")),
    row("diagonal_backward", of(3, calls=(((3, 4), 1, 0, 1),)), call=aten("diagonal_backward")),
    # several parts
    row("unbind.int", of(2, 3, calls=((), (1,)))),
    row("split.Tensor", of(5, 2, calls=((2,), (1, 1)))),
    row("split.sizes", of(5, 2, calls=(([1, 4],),)), call=lambda lib, x, sizes: x.split(sizes)),
    row("split_with_sizes", of(5, 2, calls=(([2, 3],), ([1, 1], 1)))),
    row("chunk", of(5, 2, calls=((2,), (4,), (3, 1)))),
    row("tensor_split.sections", of(5, 2, calls=((2,), (3, 1)))),
    row("tensor_split.indices", of(5, 2, calls=(((1, 3),), ((-1,), 1)))),
    row(
        "tensor_split.tensor_indices_or_sections",
        lambda make: [
            Sample((make(5, 2), make.of(1, 3, dtype="int64"))),
            Sample((make(5, 2), make.of(*[2], dtype="int64"), 1)),
        ],
    ),
    row("hsplit.int hsplit.array", of(2, 4, calls=((2,), ((1, 3),)))),
    row("vsplit.int vsplit.array", of(4, 2, calls=((2,), ((1, 3),)))),
    row("dsplit.int dsplit.array", of(1, 2, 4, calls=((2,), ((1, 3),)))),
    row("unsafe_split.Tensor", of(5, 2, calls=((2,), (1, 1)))),
    row("unsafe_split_with_sizes", of(5, 2, calls=(([2, 3],), ([1, 1], 1)))),
    row("unsafe_chunk", of(5, 2, calls=((2,), (3, 1)))),
    # joined
    row("cat cat.out", joined),
    row("stack stack.out", lists((2, 3), (2, 3), calls=((), (1,), (-1,)))),
    row("concat concat.out", lists((2, 3), (1, 3))),
    row("concatenate concatenate.out", lists((2, 3), (1, 3))),
    row("hstack hstack.out", lists((2, 3), (2, 1))),
    row("vstack vstack.out", lists((3,), (2, 3))),
    row("row_stack row_stack.out", lists((3,), (2, 3))),
    row("dstack dstack.out", lists((2, 3), (2, 3))),
    row("column_stack column_stack.out", lists((2,), (2, 3))),
    row(
        "block_diag",
        lists((2, 3), (2,), ()),
        call=lambda lib, tensors: lib.block_diag(*tensors),
        out=False,
        apart=(
            Apart(
                "torch differentiates as if an empty vector took no row",
                says="gradient of",
                when=lambda sample: any(leaf.values.shape == (0,) for leaf in sample.args[0]),
            ),
        ),
    ),
    row("meshgrid meshgrid.indexing", lists((2,), (3,)), call=lambda lib, t: lib.meshgrid(*t, indexing="xy")),
    row("cartesian_prod", lists((2,), (3,)), call=lambda lib, tensors: lib.cartesian_prod(*tensors)),
    row("combinations", of(4, layouts=("contiguous",), calls=((), (3,), (2, True)))),
    row("tile", of(2, 3, calls=(((2,),), ((2, 1, 2),)))),
    row("repeat_interleave.self_int", of(2, 3, calls=((2,), (2, 1)))),
    row(
        "repeat_interleave.self_Tensor",
        lambda make: [
            Sample((make(2, 3), make.of(2, 1, dtype="int64"), 0)),
            Sample((make(2, 3), make.of(2, dtype="int32"))),
        ],
    ),
    OpInfo("repeat_interleave.Tensor", lambda make: [Sample((make(4, low=0),))], dtypes=("int64", "int32"), low=0),
    row("roll", of(2, 3, calls=((1,), (-2, 1), ((1, 2), (0, 1))))),
    row("rot90", of(2, 3, calls=((), (2,), (-1,), (1, (1, 0))))),
    row("fliplr", of(2, 3)),
    row("flipud", of(2, 3)),
    row("repeat", of(2, 3, calls=(((2, 1),), ((2, 1, 2),)))),
    row("flip", of(2, 3, 2, calls=(((0,),), ((1, 2),), ((),)))),
    # triangles and diagonals
    row("tril", of(3, 4, calls=((), (1,), (-1,)))),
    row("triu", of(2, 3, 2, calls=((), (1,), (-1,)))),
    row("diag diag.out", of(3, 4, layouts=("contiguous",), calls=((), (1,)))),
    row("diagflat", of(2, 3, calls=((), (1,)))),
    row("trace", of(2, 3)),
    row("diag_embed", of(2, 3, layouts=("contiguous",), calls=((), (1,), (0, 0, 2)))),
]

# Each view op has a form that copies.
ROWS += [
    row("alias_copy", of(2, 3)),
    row("detach_copy", of(2, 3)),
    row(
        "as_strided_copy",
        only_dense(3, 4, calls=(((2, 3), (1, 2), 1), ((2, 2), (4, 1)))),
        apart=(NEGATIVE_SIZE,),
    ),
    row("diagonal_copy", of(3, 4, calls=((), (1,), (0, 1, 0)))),
    row("expand_copy", of(3, 1, calls=(((3, 4),), ((2, -1, 2),)))),
    row("permute_copy", of(2, 3, 2, calls=(((2, 0, 1),),))),
    row("select_copy.int", of(3, 4, calls=((0, 1), (1, -1)))),
    row("slice_copy.Tensor", of(3, 4, calls=((), (1, 1, 3), (1, 0, 4, 2)))),
    row("t_copy", of(2, 3)),
    row("transpose_copy.int", of(2, 3, 2, calls=((0, 2),))),
    row("unsqueeze_copy", of(2, 3, calls=((1,), (-1,)))),
    row("squeeze_copy", of(1, 3, 1)),
    row("squeeze_copy.dim", of(1, 3, 1, calls=((0,), (1,)))),
    row("squeeze_copy.dims", of(1, 3, 1, calls=(((0, 2),),))),
    row("unfold_copy", of(3, 4, calls=((1, 2, 1),))),
    row("view_copy", only_dense(2, 6, calls=(((3, 4),), ((-1,),)))),
    row("unbind_copy.int", of(2, 3, calls=((), (1,))), out=False),
    row("split_copy.Tensor", of(5, 2, calls=((2,), (1, 1))), out=False),
    row("split_with_sizes_copy", of(5, 2, calls=(([2, 3],), ([1, 1], 1))), out=False),
]
