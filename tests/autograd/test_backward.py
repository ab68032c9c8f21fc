"""The doors: Tensor.backward, autograd.backward, autograd.grad.

Mirrors: test/test_autograd.py (TestAutograd)
"""

import gc
import warnings
import weakref
from types import MappingProxyType

import pytest

import reftorch as torch


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor([float(v) for v in values], requires_grad=True)


def test_issue_example_equals_torch(real_torch):
    def run(lib, numbers):
        x = lib.tensor(numbers, requires_grad=True)
        (x @ x.t()).tanh().sum().backward()
        return x.grad.tolist()

    numbers = [[0.1 * (i * 4 + j) - 0.5 for j in range(4)] for i in range(3)]
    for ours, theirs in zip(run(torch, numbers), run(real_torch, numbers), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6)


def test_gradients_accumulate_in_place():
    x = leaf(1, 2)
    (x * x).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [4, 8]
    assert not x.grad.requires_grad


def test_broadcast_gradients_are_summed_once_for_every_op():
    w, row = leaf(1, 2, 3), torch.ones(2, 3)
    (w * row + w).sum().backward()
    assert w.grad.tolist() == [4, 4, 4]
    b = torch.ones(2, 1, 3, requires_grad=True)
    (b + torch.ones(4, 3)).sum().backward()
    assert b.grad.shape == (2, 1, 3) and b.grad.tolist() == [[[4, 4, 4]]] * 2


def test_gradient_takes_the_dtype_of_the_input():
    x = leaf(1, 2)
    (x * torch.tensor([3.0, 4.0], dtype=torch.float64)).sum().backward()
    assert x.grad.dtype == torch.float32 and x.grad.tolist() == [3, 4]


def test_backward_of_several_tensors_with_gradients():
    x = leaf(1, 2)
    torch.autograd.backward([x * x, 3 * x], [torch.ones(2), torch.tensor([1.0, 10.0])])
    assert x.grad.tolist() == [5, 34]


def test_backward_into_chosen_inputs():
    x, y = leaf(2), leaf(3)
    inner = x * y
    (inner * y).backward(inputs=[y, inner])
    assert x.grad is None
    assert y.grad.tolist() == [12] and inner.grad.tolist() == [3]


def test_grad_leaves_no_trace():
    x, y = leaf(2), leaf(3)
    dx, dy = torch.autograd.grad(x * y * y, [x, y])
    assert dx.tolist() == [9] and dy.tolist() == [12]
    assert x.grad is None and y.grad is None


def test_grad_of_an_inner_tensor():
    x = leaf(2)
    inner = x * x
    (d,) = torch.autograd.grad(inner * inner, inner)
    assert d.tolist() == [8]


def test_grad_unused_inputs():
    x, y = leaf(2), leaf(3)
    with pytest.raises(RuntimeError, match=r"appears to not have been used in the graph. Set allow_unused=True"):
        torch.autograd.grad(x * x, [x, y])
    assert torch.autograd.grad(x * x, [x, y], allow_unused=True)[1] is None
    assert torch.autograd.grad(x * x, [x, y], materialize_grads=True)[1].tolist() == [0]
    with pytest.raises(ValueError, match="allow_unused"):
        torch.autograd.grad(x * x, x, allow_unused=False, materialize_grads=True)


def test_batched_gradients_are_one_pass():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y, calls = x * x.sum(), []
    y.grad_fn.register_prehook(lambda grads: calls.append(tuple(grads[0].shape)))
    (rows,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
    alone = [torch.autograd.grad(y, x, row, retain_graph=True)[0].tolist() for row in torch.eye(3)]
    assert rows.tolist() == alone
    assert calls == [(3,)] * 4  # each sees the shape of one gradient


def test_batched_gradients_can_be_differentiated_and_left_out():
    x, unused = torch.tensor([1.0, 2.0], requires_grad=True), torch.ones(2, requires_grad=True)
    rows, nothing = torch.autograd.grad(
        x**3, (x, unused), torch.eye(2), is_grads_batched=True, create_graph=True, allow_unused=True
    )
    assert nothing is None
    rows.sum().backward()
    assert x.grad.tolist() == [6, 12]


def test_batched_gradients_of_a_wrong_shape():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="we interpret the first dimension of each grad_output as the batch"):
        torch.autograd.grad(x * x, x, torch.ones(2, 4), is_grads_batched=True)


def test_batched_gradients_through_a_view_changed_in_place():
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = x.clone()
    y[1:].mul_(x[:2])
    (rows,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True)
    assert rows.tolist() == [[1, 0, 0], [2, 1, 0], [0, 3, 2]]


def test_create_graph_gives_higher_derivatives():
    x = torch.tensor(3.0, requires_grad=True)
    (first,) = torch.autograd.grad(x * x * x, x, create_graph=True)
    (second,) = torch.autograd.grad(first, x, create_graph=True)
    (third,) = torch.autograd.grad(second, x)
    assert (first.item(), second.item(), third.item()) == (27, 18, 6)
    assert not third.requires_grad


def test_create_graph_records_accumulation():
    """Sums made in InputBuffer and AccumulateGrad are part of the graph too."""
    x = torch.tensor(2.0, requires_grad=True)
    y = x * x  # used twice below: its gradient is a sum
    (y * y + y).backward(create_graph=True)
    (y * 0 + y).backward(create_graph=True)
    assert x.grad.item() == 36 + 4
    (second,) = torch.autograd.grad(x.grad, x)
    assert second.item() == 12 * 4 + 2 + 2


def test_retain_graph():
    x = leaf(1, 2)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(RuntimeError, match=r"backward through the graph a second time.*retain_graph=True"):
        y.backward()


def test_nothing_saved_can_run_twice():
    x = leaf(1, 2)
    y = (x + 1).sum()
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("run", "error", "text"),
    [
        (lambda x: (x * 2).backward(), RuntimeError, "grad can be implicitly created only for scalar outputs"),
        (
            lambda x: x.detach().sum().backward(),
            RuntimeError,
            "element 0 of tensors does not require grad and does not have a grad_fn",
        ),
        (lambda x: (x * 2).backward(torch.ones(3)), RuntimeError, r"Mismatch in shape: grad_output\[0\]"),
        (lambda x: (x * 2).backward([1.0, 2.0]), TypeError, "gradients can be either Tensors or None"),
        (lambda x: (x * 2).sum().backward(inputs=[]), RuntimeError, "cannot be empty"),
        (
            lambda x: torch.autograd.grad(x.sum(), x.detach()),
            RuntimeError,
            "One of the differentiated Tensors does not require grad",
        ),
        (lambda x: torch.tensor([1], requires_grad=True), RuntimeError, "floating point"),
        (
            lambda x: setattr(x * 2, "requires_grad", False),
            RuntimeError,
            "you can only change requires_grad flags of leaf variables",
        ),
        (lambda x: setattr(x, "requires_grad", 1), RuntimeError, "must be a bool"),
        (lambda x: setattr(x, "grad", torch.ones(3)), RuntimeError, "attempting to assign a gradient of size"),
        (
            lambda x: setattr(x, "grad", torch.ones(2, dtype=torch.float64)),
            RuntimeError,
            "attempting to assign a gradient with dtype",
        ),
        (lambda x: setattr(x, "grad", x), RuntimeError, "can't assign Variable as its own grad"),
        (lambda x: setattr(x, "grad", 3), TypeError, "assigned grad expected to be a Tensor or None"),
        (lambda x: x.detach().retain_grad(), RuntimeError, "can't retain_grad on Tensor that has requires_grad=False"),
        (
            lambda x: torch.add(x, x, out=torch.empty(2)),
            RuntimeError,
            r"add\(\): functions with out=... arguments don't support",
        ),
    ],
)
def test_wrong_use(run, error, text):
    with pytest.raises(error, match=text):
        run(leaf(1, 2))


def test_detach_shares_data_and_version_not_history():
    x = leaf(1, 2)
    y = x * 1
    d = y.detach()
    assert not d.requires_grad and d.is_leaf and d.grad_fn is None
    d.add_(1)
    assert y.tolist() == [2, 3] and y._version == d._version == 1
    y.detach_()
    assert y.is_leaf and not y.requires_grad
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        (x * 1)[0].detach_()


def test_requires_grad_makes_leaves():
    x = torch.ones(2)
    assert x.requires_grad_() is x and x.requires_grad and x.is_leaf
    assert not x.requires_grad_(False).requires_grad


def test_saves_only_what_a_wanted_gradient_reads():
    x, w = leaf(1, 2), torch.ones(2)
    node = (x * w).grad_fn
    assert node._saved_other is w
    assert node._saved_self is None  # w wants no gradient
    assert (x + w).grad_fn._saved_alpha is None  # nor is alpha read for self


def test_a_tensor_dies_with_its_last_user():
    x = leaf(1, 2)
    y = x.exp()
    z = (y * 2).sum()
    ref = weakref.ref(y)
    del y
    z.backward()
    del z
    assert ref() is None
    assert gc.collect() == 0 or ref() is None


def test_memory_stays_flat():
    w = torch.ones(8, 8, requires_grad=True)
    x = torch.ones(4, 8)

    def step():
        loss = ((x @ w).tanh() * x).sum()
        loss.backward()
        w.grad = None

    for _ in range(50):
        step()
    before = torch._C._cpu_memory_stats()["allocated_bytes"]
    for _ in range(3000):
        step()
    assert torch._C._cpu_memory_stats()["allocated_bytes"] == before


def test_gradients_do_not_share_memory():
    """x.view's gradient is a view of y's: each leaf must get its own."""
    x, y = torch.ones(4, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    (x.view(2, 2) + y).sum().backward()
    x.grad.add_(1)
    assert y.grad.tolist() == [[1, 1], [1, 1]]
    a, b = leaf(1), leaf(1)
    (a + b).backward()
    a.grad.add_(1)
    assert b.grad.tolist() == [1]


def test_undifferentiable_argument_is_refused():
    logits = torch.zeros(2, 3, requires_grad=True)
    weight = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="not differentiable with respect to argument 'weight'"):
        torch.nn.functional.nll_loss(logits, torch.tensor([0, 1]), weight=weight)


def test_create_graph_warns_of_the_cycle_once(real_torch_or_none):
    text = "Using backward() with create_graph=True will create a reference cycle between the parameter and its"
    for lib in (torch, real_torch_or_none) if real_torch_or_none else (torch,):
        x = lib.ones(2, requires_grad=True)

        def warned(call, x=x):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call()
            x.grad = None
            assert all(w.category is UserWarning and str(w.message).startswith(text) for w in caught)
            return len(caught)

        def backward(x=x):
            (x * x).sum().backward(create_graph=True)

        assert not lib.is_warn_always_enabled()
        lib.set_warn_always(True)
        try:
            assert [warned(backward), warned(backward)] == [1, 1]
        finally:
            lib.set_warn_always(False)
        assert warned(backward) <= 1
        assert warned(backward) == 0
        assert warned(lambda lib=lib, x=x: lib.autograd.grad((x * x).sum(), x, create_graph=True)) == 0


def test_inputs_in_a_dict():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    grads = torch.autograd.grad((x * y * 3).sum(), {"x": x, "y": y})
    assert {name: grad.tolist() for name, grad in grads.items()} == {"x": [3, 3], "y": [3, 3]}
    (x * y).sum().backward(inputs={"x": x})
    assert x.grad.tolist() == [1, 1]
    assert y.grad is None
    for call, name in ((torch.autograd.grad, "grad"), (torch.autograd.backward, "backward")):
        with pytest.raises(RuntimeError, match=rf"`inputs` argument to `{name}\(\)` cannot be empty"):
            call((x * y).sum(), inputs={})
        with pytest.raises(TypeError, match="must be a dict, not mappingproxy"):
            call((x * y).sum(), inputs=MappingProxyType({"x": x}))


def test_old_arguments_warn():
    x = torch.ones(2, requires_grad=True)
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
        torch.autograd.grad(x.sum(), x, only_inputs=False)
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated"):
        torch.autograd.backward(x * 1, grad_variables=torch.ones(2))
    assert x.grad.tolist() == [1, 1]
    with (
        pytest.warns(FutureWarning, match="`grad_variables` is deprecated"),
        pytest.raises(RuntimeError, match="Please only use `grad_tensors`"),
    ):
        torch.autograd.backward(x * 1, torch.ones(2), grad_variables=torch.ones(2))


def test_materialized_zeros_require_what_the_pass_records():
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    for record in (False, True):
        _, zeros = torch.autograd.grad((x * x).sum(), (x, y), create_graph=record, materialize_grads=True)
        assert zeros.requires_grad == record


def test_an_input_that_no_graph_can_lead_to(real_torch_or_none):
    """A view requires a gradient because its base does, but nothing was recorded for it."""
    for lib in (torch, real_torch_or_none):
        if lib is None:
            continue
        base = lib.ones(2)
        view = base.view(-1)
        base.requires_grad_()
        assert view.requires_grad and view.grad_fn is None
        y = (base * 2).sum()
        with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
            lib.autograd.grad(y, view, retain_graph=True)
        assert lib.autograd.grad(y, view, retain_graph=True, allow_unused=True) == (None,)
        y.backward(inputs=[view])
        assert view.grad is None
