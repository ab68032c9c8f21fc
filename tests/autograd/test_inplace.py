"""Versions, views, and what an in-place op does to history.

Mirrors: test/test_autograd.py (the in-place and view tests)
"""

import pytest

import reftorch as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor([float(v) for v in values], requires_grad=True)


def test_changed_output_is_noticed():
    x = leaf(1, 2, 3)
    y = x.exp()
    y.add_(1)
    with pytest.raises(RuntimeError) as caught:
        y.sum().backward()
    text = str(caught.value)
    assert text.startswith(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [3]], which is output 0 of Exp, is at version 1; expected version 0 instead. "
        "Hint: "
    )


FORWARD_OPS = {
    "sum_dim": lambda lib, x: x.sum(0),
    "clamp": lambda lib, x: x.clamp(0, 1),
    "pow": lambda lib, x: 2**x,
    "mul": lambda lib, x: x * 2,
    "copy_": lambda lib, x: lib.zeros(2, 2).copy_(x),
    "fill_": lambda lib, x: (x * 2).fill_(3.0),
    "transpose_": lambda lib, x: (x * 2).transpose_(0, 1),
    "squeeze_": lambda lib, x: (x * 2).squeeze_(0),
    "exp of bfloat16": lambda lib, x: x.to(lib.bfloat16).exp(),
}


@pytest.mark.parametrize("op", FORWARD_OPS.values(), ids=FORWARD_OPS)
def test_the_error_names_the_op_that_made_the_tensor(op, real_torch):
    def says(lib):
        y = op(lib, lib.ones(2, 2, requires_grad=True))
        z = (y * y).sum()
        with lib.no_grad():
            y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
            z.backward()
        return str(caught.value).split(" Hint: ")[0]

    assert says(torch) == says(real_torch)


def test_a_saved_tensor_that_was_detached_and_changed(real_torch):
    def says(lib):
        y = lib.ones(3, requires_grad=True) * 1
        z = (y * y).sum()
        y.detach_().add_(1)
        with pytest.raises(RuntimeError, match="detached in-place") as caught:
            z.backward()
        return str(caught.value)

    assert says(torch) == says(real_torch)


def test_changed_input_is_noticed():
    x, w = leaf(1, 2), torch.ones(2)
    y = x * w
    w.add_(1)
    with pytest.raises(RuntimeError, match=r"\[torch.FloatTensor \[2\]\] is at version 1; expected version 0 instead"):
        y.sum().backward()


def test_change_through_a_view_or_detached_is_noticed():
    for change in (lambda t: t[0].zero_(), lambda t: t.detach().zero_(), lambda t: t.view(-1).mul_(2)):
        x, w = leaf(1, 2), torch.ones(2)
        y = x * w
        change(w)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()


def test_change_through_data_is_not_noticed():
    x, w = leaf(1, 2), torch.ones(2)
    y = x * w
    w.data.mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_versions_are_counted_by_every_kind_of_write():
    x = torch.zeros(3)
    assert x._version == 0
    x.add_(1)
    x[0] = 5
    torch.add(x, x, out=x)
    assert x._version == 3
    assert x[1:]._version == 3


def test_inplace_on_a_leaf():
    x = leaf(1, 2)
    with pytest.raises(
        RuntimeError, match=r"^a leaf Variable that requires grad is being used in an in-place operation"
    ):
        x.add_(1)
    with pytest.raises(
        RuntimeError, match=r"^a view of a leaf Variable that requires grad is being used in an in-place"
    ):
        x[0] = 3
    with torch.no_grad():
        x.add_(1)
    assert x.tolist() == [2, 3] and x.is_leaf


def test_inplace_uses_the_value_before():
    x = leaf(1, 2)
    y = x * 3
    y.mul_(y.detach() + 0)
    y.sum().backward()
    assert x.grad.tolist() == [9, 18]
    x.grad = None
    w = leaf(5, 6)
    z = x * 1
    z.mul_(w)  # w's gradient reads z as it was
    z.sum().backward()
    assert w.grad.tolist() == [1, 2] and x.grad.tolist() == [5, 6]


def test_setitem_is_an_inplace_op_on_a_view():
    x, v = leaf(1, 2, 3), leaf(7)
    y = x * 2
    y[1] = v[0]
    y[2] = 5.0
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    (y * y).sum().backward()
    assert x.grad.tolist() == [8, 0, 0] and v.grad.tolist() == [14]


def test_views_of_views():
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    y = x * 1
    row = y[0]
    tail = row[1:]
    tail.mul_(10)
    assert tail._base is y and row._base is y and tail._is_view()
    for t in (row, tail):
        assert t.grad_fn.name() == "AsStridedBackward0"
    (y * y).sum().backward(retain_graph=True)
    assert x.grad.tolist() == [[2, 400, 600], [8, 10, 12]]
    x.grad = None
    row.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [[1, 10, 10], [0, 0, 0]]
    x.grad = None
    (tail * tail).sum().backward()
    assert x.grad.tolist() == [[0, 400, 600], [0, 0, 0]]


def test_inplace_on_the_base_reaches_the_view():
    x = leaf(1, 2, 3)
    y = x * 1
    view = y[1:]
    y.mul_(4)
    view.sum().backward()
    assert x.grad.tolist() == [0, 4, 4]


def test_the_history_of_a_view_keeps_no_values():
    x = leaf(1, 2, 3)
    y = x * 1
    view = y[1:]
    view.mul_(2)
    before = view * 1
    y.add_(1)
    before.sum().backward()
    assert x.grad.tolist() == [0, 2, 2]


def test_base_gets_a_graph_through_its_view():
    base, x = torch.zeros(3), leaf(2)
    view = base[1:2]
    view.copy_(x)
    assert base.requires_grad and view.requires_grad and not base.is_leaf
    (base * base).sum().backward()
    assert x.grad.tolist() == [4]


def test_inplace_saves_its_output_in_a_view():
    x = leaf(1, 2, 3)
    y = x * 1
    y[1:].tanh_()
    y.sum().backward()
    expected = [1.0] + [1 - torch.tensor(v).tanh().item() ** 2 for v in (2.0, 3.0)]
    assert x.grad.tolist() == pytest.approx(expected, rel=1e-4)


def test_second_order_through_copy_slices():
    def f(x, v):
        y = x * x
        y[0] = v * v
        y[1:].mul_(y[:-1].clone())
        return y

    x = torch.tensor([0.5, 1.5, 2.5], dtype=torch.float64, requires_grad=True)
    v = torch.tensor(0.75, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, (x, v))
    assert torch.autograd.gradgradcheck(f, (x, v))


def test_same_as_torch(real_torch):
    def run(lib):
        x = lib.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
        y = x * 2
        a = y.t()
        b = a[1]
        b.mul_(3)
        y[0, 0] = y[1, 1].clone() * x[0, 0]
        a[2].mul_(x[:, 0])
        y.view(-1)[3:5].add_(x[0, :2] * y[0, 1].clone())
        (y * y).sum().backward()
        return x.grad

    for ours, theirs in zip(run(torch).tolist(), run(real_torch).tolist(), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5)


def test_forbidden_views():
    x = leaf(1, 2, 3)
    with torch.no_grad():
        made_without_grad = x[:2]
    with pytest.raises(RuntimeError, match=r"^A view was created in no_grad mode and is being modified inplace"):
        made_without_grad.add_(1)
    first, *_ = (x * 1).unbind(0)
    with pytest.raises(RuntimeError, match=r"^Output 0 of Unbind is a view and is being modified inplace"):
        first.add_(1)


def test_retain_grad_follows_the_tensor():
    x = leaf(1, 2)
    y = x * 3
    y.retain_grad()
    assert y.retains_grad
    y.mul_(2)
    (y * y).sum().backward()
    assert y.grad.tolist() == [12, 24]  # of the value after mul_
    assert x.grad.tolist() == [72, 144]


@pytest.mark.parametrize("change", ["t_", "unsqueeze_", "squeeze_", "transpose_"])
def test_a_view_seen_anew_leaves_its_base_alone(change, real_torch_or_none):
    arguments = {"unsqueeze_": (0,), "transpose_": (0, 1)}.get(change, ())
    for lib in (torch, real_torch_or_none) if real_torch_or_none else (torch,):
        x = lib.arange(6.0).view(2, 3).requires_grad_()
        y = x * 1
        view = y.view_as(y)
        getattr(view, change)(*arguments)
        assert y.grad_fn.name() == "MulBackward0"
        assert view.grad_fn.name() != "AsStridedBackward0"
        (view * view).sum().backward(retain_graph=True)
        y.sum().backward()
        assert x.grad.tolist() == [[1, 3, 5], [7, 9, 11]]


def test_a_saved_tensor_that_was_detached_in_place_is_refused(real_torch_or_none):
    for lib in (torch, real_torch_or_none) if real_torch_or_none else (torch,):
        x = lib.ones(2, requires_grad=True)
        y = x * 1
        product = y * y
        y.detach_()
        with pytest.raises(RuntimeError, match="a saved tensor that has been detached in-place"):
            product.sum().backward()


def test_a_function_that_changes_a_view_has_its_say_in_the_gradient():
    class Tripled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(3)

        @staticmethod
        def backward(ctx, grad):
            return grad * 3

    for make_view in (lambda x: x[:1], lambda x: x.view_as(x)):
        leaf = torch.ones(2, requires_grad=True)
        base = leaf.clone()
        view = Tripled.apply(make_view(base))
        view.sum().backward()
        assert leaf.grad.tolist() == ([3, 0] if view.numel() == 1 else [3, 3])
        assert type(base.grad_fn).__name__ == "CopySlices"


def test_inference_tensors_among_themselves_are_not_recorded():
    with torch.inference_mode():
        x = torch.ones(2, requires_grad=True)
        assert x.resize_(1) is x
    y = x * x
    assert not y.requires_grad and y.is_leaf
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * torch.ones(1, requires_grad=True)


def test_a_shape_that_is_there_already_is_no_change():
    x = torch.ones(3)
    x.resize_(3)
    x.resize_as_(torch.zeros(3))
    assert x._version == 0
    x.resize_as_(torch.zeros(1, 3))
    x.resize_(2)
    assert x._version == 2


def names_back(fn):
    """The names on the way from a node to the end, by each node's first edge."""
    found = []
    while fn is not None:
        found.append(type(fn).__name__)
        fn = fn.next_functions[0][0] if fn.next_functions else None
    return found


CHAINS = {
    "one view": lambda x: x.view(-1),
    "a view of a view": lambda x: x.t()[1],
    "three": lambda x: x.unsqueeze(0).transpose(1, 2).select(2, 1),
    "diagonal": lambda x: x.diagonal(),
}


def changed(lib, chain, replay):
    x = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    with lib.autograd._force_original_view_tracking(replay):
        base = x * 1
        view = chain(base)
        view.mul_(3)
        other = chain(base)
        base.mul_(2)
        names = names_back(view.grad_fn), names_back(other.grad_fn)
    (view.sum() + (other * other).sum()).backward()
    return *names, x.grad.tolist()


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_a_view_s_history_is_replayed(chain, real_torch_or_none):
    replayed, plain = changed(torch, chain, True), changed(torch, chain, False)
    assert replayed[2] == plain[2]
    assert plain[0][0] == plain[1][0] == "AsStridedBackward0"
    assert "AsStridedBackward0" not in replayed[0] + replayed[1]
    if real_torch_or_none is not None:
        assert replayed == changed(real_torch_or_none, chain, True)
        assert plain == changed(real_torch_or_none, chain, False)


def test_a_view_made_before_is_replayed_from_its_strides():
    base = leaf(1, 2, 3, 4) * 1
    former = base.view(2, 2)
    with torch.autograd._force_original_view_tracking(True):
        view = former[1]
        base.mul_(2)
        assert names_back(view.grad_fn)[:2] == ["SelectBackward0", "AsStridedBackward0"]


def test_a_view_that_was_turned_is_no_longer_what_its_op_made():
    with torch.autograd._force_original_view_tracking(True):
        x = torch.arange(6.0).requires_grad_()
        view = (x * 1).view(2, 3)
        view.t_()
        view.mul_(2)
    assert tuple(view.shape) == (3, 2)
    (view * torch.tensor([[1.0], [10.0], [100.0]])).sum().backward()
    assert x.grad.tolist() == [2, 20, 200, 2, 20, 200]


def test_view_replay_is_on_where_it_was_asked_for():
    enabled = torch.autograd.is_view_replay_enabled

    @torch.autograd._force_original_view_tracking(True)
    def inside():
        return enabled()

    assert not enabled()
    assert inside()
    with torch.autograd._force_original_view_tracking(True):
        with torch.autograd._force_original_view_tracking(False):
            assert not enabled()
        assert enabled()
    assert not enabled()
