"""vmap's own half: dimensions, structures, levels, errors and randomness, against torch where it is there.

Mirrors: test/functorch/test_vmap.py
"""

import warnings

import pytest

import reftorch as torch

ROWS = [[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]]


def same(call, real_torch):
    """The same values from both, or the same error."""

    def outcome(lib):
        try:
            return call(lib)
        except (RuntimeError, ValueError, IndexError) as error:
            return error

    ours, theirs = outcome(torch), outcome(real_torch)
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), ours
        assert str(ours) == str(theirs)
        return
    assert not isinstance(ours, Exception), ours
    ours, theirs = (value if isinstance(value, tuple) else (value,) for value in (ours, theirs))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert tuple(a.shape) == tuple(b.shape)
        assert a.reshape(-1).tolist() == pytest.approx(b.reshape(-1).tolist(), rel=1e-5)


PROGRAMS = {
    "of a product": lambda lib, x: lib.vmap(lib.dot)(x, x),
    "by columns": lambda lib, x: lib.vmap(lambda a: a.sum(), in_dims=1)(x),
    "from the end": lambda lib, x: lib.vmap(lambda a: a * 2, in_dims=-1, out_dims=-1)(x),
    "one argument alone": lambda lib, x: lib.vmap(lib.mul, in_dims=(0, None))(x, x[0]),
    "out in second place": lambda lib, x: lib.vmap(lambda a: a.outer(a), out_dims=1)(x),
    "twice": lambda lib, x: lib.vmap(lambda row: lib.vmap(lambda a: a * row.sum())(row))(x),
    "crosswise": lambda lib, x: lib.vmap(lib.vmap(lib.mul, in_dims=(0, None)), in_dims=(None, 0))(x, x),
    "a constant": lambda lib, x: lib.vmap(lambda a: lib.ones(2))(x),
    "two results": lambda lib, x: lib.vmap(lambda a: (a.sum(), a * 2), out_dims=(0, 1))(x),
    "in place": lambda lib, x: lib.vmap(lambda a: a.clone().mul_(2).add_(a))(x),
    "in place in a view": lambda lib, x: lib.vmap(lambda a: _written(a.clone(), a))(x),
    "in pieces": lambda lib, x: lib.vmap(lambda a: a * a.sum(), chunk_size=1)(x),
    "with an index": lambda lib, x: lib.vmap(lambda a: a[[2, 0]] + a[1:])(x),
    "matrix and vector": lambda lib, x: lib.vmap(lambda a: x @ a)(x),
    "where": lambda lib, x: lib.vmap(lambda a: lib.where(a > 1, a, -a))(x),
    "with a number of each": lambda lib, x: lib.vmap(lambda a, i: a.log_softmax(0)[i] + a[a.argmax()])(x, _places(lib)),
    "with a number among others": lambda lib, x: lib.vmap(lambda a, i: a.outer(a)[1:, i] + a.outer(a)[[0, 1], i])(
        x, _places(lib)
    ),
    "written at a number": lambda lib, x: lib.vmap(lambda a, i: _put(a.clone(), i, a.sum()))(x, _places(lib)),
    "of mixed dtypes": lambda lib, x: lib.vmap(lambda n, a: n * a)(lib.tensor([2.0, 3.0], dtype=lib.float64), x),
}


def _places(lib):
    return lib.tensor([2, 0])


def _put(copy, place, value):
    copy[place] = value
    copy[None, place] *= 2
    return copy


def _written(copy, row):
    copy[0] = row[1] * row[2]
    copy[1:].mul_(row[0])
    return copy


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_values(program, real_torch):
    same(lambda lib: program(lib, lib.tensor(ROWS)), real_torch)


WRONG = {
    "in_dims of a wrong structure": lambda lib, x: lib.vmap(lib.mul, in_dims=(0, 0, 0))(x, x),
    "in_dims of a wrong type": lambda lib, x: lib.vmap(lib.sin, in_dims=[0])(x),
    "in_dim past the end": lambda lib, x: lib.vmap(lambda a: a, in_dims=3)(x),
    "a batch of a number": lambda lib, x: lib.vmap(lambda a, b: a)(x, 3.0),
    "no arguments": lambda lib, x: lib.vmap(lambda: x)(),
    "no batch": lambda lib, x: lib.vmap(lambda a: a, in_dims=None)(x),
    "no batch at all": lambda lib, x: lib.vmap(lambda a, b: a, in_dims=(None, None))(x, x),
    "batches of two sizes": lambda lib, x: lib.vmap(lib.add)(x, lib.ones(3, 3)),
    "an in_dim that is no number": lambda lib, x: lib.vmap(lambda a: a, in_dims=("a",))(x),
    "out_dims of a wrong structure": lambda lib, x: lib.vmap(lambda a: (a, a), out_dims=(0, 0, 0))(x),
    "out_dims of a wrong type": lambda lib, x: lib.vmap(lambda a: a, out_dims="a")(x),
    "a batch where none should be": lambda lib, x: lib.vmap(lambda a: a, out_dims=None)(x),
    "a result that is no tensor": lambda lib, x: lib.vmap(lambda a: 3)(x),
    "a randomness there is not": lambda lib, x: lib.vmap(lambda a: a, randomness="some")(x),
    "a chunk of nothing": lambda lib, x: lib.vmap(lambda a: a, chunk_size=0)(x),
    "a random op": lambda lib, x: lib.vmap(lambda a: a + lib.rand(3))(x),
    "a random op in place": lambda lib, x: lib.vmap(lambda a: a.clone().normal_())(x),
    "strides of another number": lambda lib, x: lib.vmap(lambda a: a.as_strided([1, 1], [1]))(x),
}


@pytest.mark.parametrize("program", WRONG.values(), ids=WRONG)
def test_errors(program, real_torch):
    same(lambda lib: _named(program, lib), real_torch)


def _named(program, lib):
    """torch's spec has line breaks in it, and memory addresses are of nobody's interest."""
    try:
        return program(lib, lib.tensor(ROWS))
    except ValueError as error:
        raise ValueError(" ".join(str(error).split()).replace("reftorch", "torch")) from None


@pytest.mark.parametrize("ask", [lambda a: a.sum().item(), lambda a: a.tolist(), lambda a: a.numpy()])
def test_a_batch_has_no_one_value(ask):
    with pytest.raises(RuntimeError, match="We don't support vmap over calling"):
        torch.vmap(ask)(torch.tensor(ROWS))


def test_in_place_on_what_has_no_batch():
    with pytest.raises(RuntimeError, match=r"vmap: add_\(self, \*extra_args\) is not possible because"):
        torch.vmap(lambda a: torch.zeros(3).add_(a))(torch.tensor(ROWS))


def test_control_flow_by_data():
    with pytest.raises(RuntimeError, match="data-dependent control flow"):
        torch.vmap(lambda a: a if a.sum() > 0 else -a)(torch.tensor(ROWS))


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [("mm", (2, 2, 2), (2,)), ("mv", (2, 2), (2, 2)), ("dot", (2, 2), (2,)), ("bmm", (2, 2), (2, 2))],
)
def test_no_example_may_be_a_batch_of_what_the_op_takes(name, left, right):
    with pytest.raises(RuntimeError, match=f"Shape mismatch: Got incorrect dims for {name}"):
        torch.vmap(getattr(torch, name))(torch.ones(3, *left), torch.ones(3, *right))


@pytest.mark.parametrize("name", ["det", "inv", "svdvals", "qr", "cholesky", "eigvalsh", "matrix_exp", "lu_factor"])
def test_a_row_is_no_matrix(name):
    with pytest.raises(RuntimeError, match="dimension"):
        torch.vmap(getattr(torch.linalg, name))(torch.eye(3))


OUTSIDE = {
    "past the end": (lambda a: a.as_strided([3], [1], 1), (5, 3)),
    "by strides": (lambda a: a.as_strided([4, 4], [4, 1], 0), (5, 3, 5)),
    "of nothing": (lambda a: a.as_strided([3], [1]), (5, 0, 3)),
}


@pytest.mark.parametrize(("call", "shape"), OUTSIDE.values(), ids=OUTSIDE)
def test_a_view_does_not_leave_its_example(call, shape):
    with pytest.raises(RuntimeError, match=r"can access memory outside of `tensor`.*not supported inside of vmap"):
        torch.vmap(call)(torch.ones(shape))
    with pytest.raises(RuntimeError, match="can access memory outside of `tensor`"):
        torch.vmap(lambda a: a.as_strided([2], [1], 0))(torch.ones(2, 5, 3)[1])


def test_classes_as_rows(real_torch):
    same(lambda lib: lib.vmap(lambda a: lib.nn.functional.one_hot(a, 4))(lib.tensor([[0, 3], [1, 2]])), real_torch)
    with pytest.raises(RuntimeError, match="provide an explicit positive num_classes"):
        torch.vmap(torch.nn.functional.one_hot)(torch.tensor([[0, 3], [1, 2]]))
    with pytest.raises(RuntimeError, match="smaller than num_classes"):
        torch.vmap(lambda a: torch.nn.functional.one_hot(a, 2))(torch.tensor([[0, 3], [1, 2]]))


def test_a_shape_that_depends_on_values():
    with pytest.raises(RuntimeError, match="dynamic shape"):
        torch.vmap(lambda a: a.nonzero())(torch.tensor(ROWS))
    with pytest.raises(RuntimeError, match="dynamic shape"):
        torch.vmap(lambda a: a[a > 0])(torch.tensor(ROWS))
    with pytest.raises(RuntimeError, match="Attempted to vmap over aten::where"):
        torch.vmap(lambda a: torch.where(a > 0))(torch.tensor(ROWS))
    with pytest.raises(RuntimeError, match="Batching rule not implemented for aten::equal"):
        torch.vmap(torch.equal)(torch.tensor(ROWS), torch.tensor(ROWS))


def test_randomness():
    x = torch.zeros(4, 3)
    for draw in (lambda a: torch.rand(3), torch.rand_like, lambda a: torch.empty(3).copy_(torch.randn(3))):
        alike = torch.vmap(draw, randomness="same")(x)
        assert all(torch.equal(alike[0], row) for row in alike)
    different = torch.vmap(lambda a: torch.rand(3), randomness="different")(x)
    assert len({tuple(row) for row in different.tolist()}) == 4
    in_place = torch.vmap(lambda a: a.clone().uniform_(), randomness="different")(x)
    assert len({tuple(row) for row in in_place.tolist()}) == 4
    orders = torch.vmap(lambda a: torch.randperm(20), randomness="different")(x)
    assert all(sorted(order) == list(range(20)) for order in orders.tolist())


def drawn(call, *batched, randomness="different"):
    torch.manual_seed(0)
    return torch.vmap(call, in_dims=batched, randomness=randomness)


def test_numbers_drawn_for_each_row_or_by_a_batch_of_probabilities():
    torch.manual_seed(0)
    expected = torch.multinomial(torch.ones(6, 8), 3).reshape(2, 3, 3)
    assert torch.equal(drawn(lambda p: torch.multinomial(p, 3), 0)(torch.ones(2, 3, 8)), expected)
    assert torch.equal(drawn(lambda p, _: torch.multinomial(p, 3), None, 0)(torch.ones(3, 8), torch.ones(2)), expected)
    half = torch.full((3,), 0.5)
    torch.manual_seed(0)
    expected = torch.zeros(4, 3).bernoulli_(half)
    assert torch.equal(drawn(lambda a, p: a.bernoulli_(p), 0, None)(torch.zeros(4, 3), half), expected)
    with pytest.raises(RuntimeError, match="same randomness with a batched tensor input"):
        drawn(lambda a: torch.bernoulli(a, 0.5), 0, randomness="same")(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="has more elements than `self`"):
        drawn(lambda a, p: a.bernoulli_(p), None, 0)(torch.zeros(3), torch.ones(2, 3))


@pytest.mark.parametrize("in_dim", [0, None])
def test_dropout(in_dim):
    call = lambda x, _: torch.nn.functional.dropout(x)  # noqa: E731
    x = torch.ones(4, 50) if in_dim == 0 else torch.ones(50)
    each = drawn(call, in_dim, 0)(x, torch.ones(4))
    assert len({tuple(row) for row in each.tolist()}) == 4
    one = drawn(call, in_dim, 0, randomness="same")(x, torch.ones(4))
    assert all(torch.equal(row, one[0]) for row in one)
    assert set(one[0].tolist()) == {0.0, 2.0}


def test_pieces_draw_the_same_numbers():
    x = torch.zeros(5, 3)
    call = lambda a: a + torch.rand(3)  # noqa: E731
    torch.manual_seed(0)
    whole = torch.vmap(call, randomness="same")(x)
    torch.manual_seed(0)
    assert torch.equal(torch.vmap(call, randomness="same", chunk_size=2)(x), whole)


def test_backward_is_refused_inside():
    leaf = torch.ones(3, requires_grad=True)
    for call in (lambda a: leaf.sum().backward(), lambda a: a.sum().backward(), lambda a: leaf.backward(a)):
        with pytest.raises(RuntimeError, match=r"backward\(\) called inside a functorch transform"):
            torch.vmap(call)(torch.ones(2, 3))
    assert leaf.grad is None


def test_the_first_nan_of_a_batch_of_gradients():
    gradient = torch.vmap(torch.func.grad(lambda a: a.sqrt().sum()))
    with (
        torch.autograd.set_detect_anomaly(True),
        pytest.warns(UserWarning, match="Error detected in SqrtBackward0"),
        pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output"),
    ):
        gradient(torch.tensor([[1.0, 2.0], [1.0, -1.0]]))


def test_structures():
    batch = {"x": torch.tensor(ROWS), "y": (torch.ones(2), 5)}
    result = torch.vmap(
        lambda d: {"sum": d["x"].sum() + d["y"][0], "n": [d["y"][1] * d["x"]]}, in_dims=({"x": 0, "y": (0, None)},)
    )(batch)
    assert result["sum"].tolist() == [7, 2.5]
    assert result["n"][0].tolist() == (5 * torch.tensor(ROWS)).tolist()


def test_an_op_without_a_rule_runs_example_by_example_and_says_so():
    x = torch.tensor([[1.0, 2.0, 2.5], [0.0, 0.0, 3.0]])
    with pytest.warns(UserWarning, match="have not yet implemented the batching rule for aten::histc"):
        counts = torch.vmap(lambda a: a.histc(3, 0, 3))(x)
    assert counts.tolist() == [x[0].histc(3, 0, 3).tolist(), x[1].histc(3, 0, 3).tolist()]


def test_ops_with_a_rule_run_once():
    calls = []
    x = torch.tensor(ROWS, requires_grad=True)
    y = torch.vmap(lambda a: calls.append(None) or (a * a).sum())(x)
    y.sum().backward()
    assert len(calls) == 1
    assert x.grad.tolist() == (2 * torch.tensor(ROWS)).tolist()


def test_gradients_of_what_was_closed_over():
    weight = torch.ones(3, requires_grad=True)
    torch.vmap(lambda a: (a * weight).sum())(torch.tensor(ROWS)).sum().backward()
    assert weight.grad.tolist() == [1.5, 1, 5]


def test_the_gradient_of_the_log_probability_of_a_class():
    gradient = torch.func.grad(lambda a, i: -a.log_softmax(0)[i])
    found = torch.vmap(gradient)(torch.tensor(ROWS), torch.tensor([2, 0]))
    expected = torch.tensor(ROWS).softmax(1) - torch.nn.functional.one_hot(torch.tensor([2, 0]), 3)
    assert torch.allclose(found, expected)


def test_a_tensor_that_escaped():
    kept = []
    torch.vmap(lambda a: kept.append(a) or a)(torch.tensor(ROWS))
    with pytest.raises(RuntimeError, match="used after vmap has returned"):
        kept[0] + 1
    with pytest.raises(RuntimeError, match="doesn't have storage"):
        kept[0].data_ptr()


def test_ordinary_ops_are_as_ever_afterwards():
    with pytest.raises(ZeroDivisionError):
        torch.vmap(lambda a: a * (1 / 0))(torch.tensor(ROWS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (torch.ones(2) + 1).tolist() == [2, 2]
    assert torch._C._functorch.maybe_current_level() is None


def test_what_is_seen_inside(real_torch):
    def shown(lib):
        texts = []
        x = lib.tensor([[1.0, 2.0]])
        lib.vmap(lambda a: texts.append(repr(a)) or a)(x)
        lib.func.grad(lambda a: texts.append(repr(a)) or a.sum())(x)
        return texts

    assert shown(torch)[0] == shown(real_torch)[0]
    assert shown(torch)[1].split("(")[0] == shown(real_torch)[1].split("(")[0]


def test_a_copy_in_the_order_of_channels_is_refused(real_torch_or_none):
    """The batch would be counted among the dimensions."""
    for lib in (torch, real_torch_or_none) if real_torch_or_none else (torch,):
        x = lib.ones(2, 3, 4, 5, 6)
        with pytest.raises(RuntimeError, match=r"only supported with memory_format torch\.preserve_format"):
            lib.func.vmap(lambda x, lib=lib: x.clone(memory_format=lib.channels_last))(x)
        copy = lib.func.vmap(lambda x, lib=lib: x.clone(memory_format=lib.contiguous_format), in_dims=1)(x)
        assert tuple(copy.shape) == (3, 2, 4, 5, 6)


@pytest.mark.filterwarnings("ignore:There is a performance drop:UserWarning")
def test_counts_are_a_batch_where_they_are_of_one_length(real_torch_or_none):
    for lib in (torch, real_torch_or_none) if real_torch_or_none else (torch,):
        counts = lib.func.vmap(lib.bincount)(lib.tensor([[0, 2, 2], [2, 1, 0]]))
        assert counts.tolist() == [[1, 0, 2], [1, 1, 1]]
        with pytest.raises(RuntimeError, match="equal size"):
            lib.func.vmap(lib.bincount)(lib.tensor([[0, 1], [2, 3]]))
