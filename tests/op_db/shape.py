"""Views, and tensors made of whole other tensors.

Mirrors: torch/testing/_internal/common_methods_invocations.py
Leaves out: named tensors.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tests.op_db.core import DTYPES, Inputs, Library, OpInfo, Sample

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
    row("as_strided", only_dense(3, 4, calls=(((2, 3), (1, 2), 1), ((2, 2), (4, 1)), ((5, 3), (1, 1), 2)))),
    row("detach", of(2, 3)),
    row("alias", of(2, 3), call=aten("alias")),
    # another order of dimensions
    row("permute", of(2, 3, 2, calls=(((2, 0, 1),), ((0, -1, 1),)))),
    row("transpose.int", of(2, 3, 2, calls=((0, 1), (-1, 0)))),
    row("swapaxes", of(2, 3, calls=((0, 1),))),
    row("swapdims", of(2, 3, calls=((0, -1),))),
    row("t", of(2, 3)),
    row("numpy_T", of(2, 3), call=lambda lib, x: x.T),
    row("mT", of(2, 3, 2), call=lambda lib, x: x.mT),
    row("movedim.int", of(2, 3, 2, calls=((0, 2), (-1, 0)))),
    row("movedim.intlist", of(2, 3, 2, calls=(((0, 1), (2, 0)),))),
    # a part
    row("select.int", of(2, 3, 2, calls=((0, 1), (1, -1)))),
    row("slice.Tensor", of(5, 2, calls=((0, 1, 4), (0, None, None, 2), (1, -1), (0, 4, 2))), call=aten("slice")),
    row("narrow", of(5, 2, calls=((0, 1, 3), (1, -1, 1)))),
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
    # joined
    row("cat cat.out", joined),
    row("stack stack.out", lists((2, 3), (2, 3), calls=((), (1,), (-1,)))),
    row("hstack", lists((2, 3), (2, 1)), out=False),
    row("vstack", lists((3,), (2, 3)), out=False),
    row("repeat", of(2, 3, calls=(((2, 1),), ((2, 1, 2),)))),
    row("flip", of(2, 3, 2, calls=(((0,),), ((1, 2),), ((),)))),
    # triangles and diagonals
    row("tril", of(3, 4, calls=((), (1,), (-1,)))),
    row("triu", of(2, 3, 2, calls=((), (1,), (-1,)))),
    row("diag", of(3, 4, layouts=("contiguous",), calls=((), (1,))), out=False),
    row("diag_embed", of(2, 3, layouts=("contiguous",), calls=((), (1,), (0, 0, 2)))),
]
