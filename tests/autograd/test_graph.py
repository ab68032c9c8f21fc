"""Nodes as Python sees them, and hooks.

Mirrors: test/test_autograd.py (hooks, graph.Node)
"""

import gc
import weakref

import pytest

import reftorch as torch
from reftorch.autograd.graph import GradientEdge, Node, get_gradient_edge
from tests.answers.watched import asked


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor([float(v) for v in values], requires_grad=True)


def test_a_node_is_one_object():
    y = leaf(1) * 2
    node = y.grad_fn
    assert node is y.grad_fn
    node.metadata["note"] = 1
    del node
    assert y.grad_fn.metadata == {"note": 1}
    assert isinstance(y.grad_fn, Node)


def test_edges_lead_to_the_leaves():
    x, w = leaf(1), leaf(2)
    y = (x * w) + x
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "AddBackward0"
    (mul, nr), (accumulate, _) = y.grad_fn.next_functions
    assert (mul.name(), nr) == ("MulBackward0", 0)
    assert accumulate.variable is x
    assert [node.variable is t for (node, _), t in zip(mul.next_functions, (x, w), strict=True)] == [True, True]
    assert mul.next_functions[0][0] is accumulate
    assert (x * 2.5).grad_fn.next_functions[1] == (None, 0)
    assert y.grad_fn._sequence_nr() > mul._sequence_nr()


def test_node_names_equal_torch(real_torch):
    def names(lib):
        x = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        results = [
            x + x, x + 1, x - x, x * x, x * 2, x / x, x / 2, -x, x**2, x.exp(), x.log(), x.tanh(), x.sigmoid(),
            x.relu(), x.sqrt(), x.abs(), x.sum(), x.sum(0), x.mean(), x.mean(0), x.max(), x.max(0)[0], x @ x, x.mm(x),
            x.t(), x.view(-1), x.reshape(4), x.transpose(0, 1), x.permute(1, 0), x[0], x[:1], x.unsqueeze(0),
            x.squeeze(), x.expand(2, 2, 2), x.clone(), lib.cat([x, x]), x.softmax(0),
            x.log_softmax(0),
            x.unbind(0)[0], x.var(), x.pow(x), x.clamp(min=0.0), x[lib.tensor([0])], lib.where(x > 0, x, x), x.double(),
            x.masked_fill(x > 1, 0.0), x.log1p(),
        ]  # fmt: skip
        return [type(r.grad_fn).__name__ for r in results]

    assert names(torch) == asked(real_torch, names)


def test_node_names_of_changes_in_place_equal_torch(real_torch):
    """PyTorch numbers the overloads of a name, and counts forms that change in place beside those that do not."""

    def names(lib):
        x = lib.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
        number, first = lib.tensor(0.5, requires_grad=True), lib.tensor([[0]])

        def node_of(change, *args):
            changed = getattr(x * 1, change)(*args) if isinstance(change, str) else change(x * 1)
            return type(changed.grad_fn).__name__, changed.grad_fn.name()

        return [
            node_of("t_"), node_of("transpose_", 0, 1), node_of("swapaxes_", 0, 1), node_of("swapdims_", 0, 1),
            node_of("as_strided_", (2,), (1,)), node_of("unsqueeze_", 0), node_of("squeeze_"), node_of("squeeze_", 0),
            node_of("squeeze_", (0,)), node_of("fill_", 2.0), node_of("fill_", number), node_of("zero_"),
            node_of("copy_", x), node_of("random_"), node_of("random_", 5), node_of("bernoulli_"),
            node_of("bernoulli_", lib.ones(1, 3)), node_of("polygamma_", 1), node_of("scatter_", 0, first, 1.0),
            node_of("scatter_", 0, first, x), node_of("clamp_", 0, 1), node_of("clamp_", number),
            node_of("masked_fill_", x > 0, 1.0), node_of("lerp_", x, x), node_of("div_", 2),
            node_of(lambda t: t.median(0)[0]), node_of(lambda t: t.nanmedian(0)[0]),
            node_of(lambda t: t.scatter(0, first, 1.0)), node_of(lambda t: lib.special.xlog1py(t, 2.0)),
            node_of(lambda t: lib.special.xlog1py(2.0, t)),
        ]  # fmt: skip

    assert names(torch) == names(real_torch)


def test_ops_without_a_derivative_have_the_nodes_and_errors_of_torch(real_torch):
    """An op without formula has the node NotImplemented; a formula that refuses has a node of the op's name."""

    def refusals(lib):
        x = lib.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        y, aten = lib.ones(2, 2, requires_grad=True), lib.ops.aten
        index, bags, column = lib.tensor([0, 1]), lib.tensor([0, 0]), lib.ones(2, 1, requires_grad=True)

        def second(call):
            return lib.autograd.grad(call().sum(), x, create_graph=True)[0]

        calls = {
            "heaviside": lambda: lib.heaviside(x, y),
            "heaviside_": lambda: (x * 1).heaviside_(y),
            "floor_divide": lambda: lib.floor_divide(x, y),
            "floor_divide_": lambda: (x * 1).floor_divide_(y),
            "bernoulli.p": lambda: lib.bernoulli(x, 0.5),
            "_sample_dirichlet": lambda: lib._sample_dirichlet(x),
            "_dirichlet_grad": lambda: lib._dirichlet_grad(x, x, y),
            "native_channel_shuffle": lambda: lib.native_channel_shuffle(x[None], 2),
            "linalg_ldl_factor_ex": lambda: lib.linalg.ldl_factor_ex(x)[0],
            "linalg_ldl_solve": lambda: lib.linalg.ldl_solve(x, index.int() + 1, y),
            "multi_margin_loss": lambda: second(lambda: lib.nn.functional.multi_margin_loss(x, index)),
            "multilabel_margin_loss": lambda: second(
                lambda: lib.nn.functional.multilabel_margin_loss(x, lib.tensor([[0, -1], [1, -1]]))
            ),
            "ctc_loss": lambda: second(lambda: lib.nn.functional.ctc_loss(x[:, None], index[1:], (2,), (1,))),
            "_weight_norm": lambda: aten._weight_norm_interface_backward(x, y, column, column.detach(), 0)[0],
            "geqrf": lambda: lib.geqrf(x)[0],
            "_pdist_backward": lambda: aten._pdist_backward(lib.ones(1), x, 2.0, lib.ones(1)),
            "_cdist_backward": lambda: aten._cdist_backward(y, x, x, 1.0, y),
            "embedding_renorm_": lambda: lib.embedding_renorm_(x * 1, index, 1.0, 2.0),
            "_embedding_bag_dense_backward": lambda: aten._embedding_bag_dense_backward(
                x, index, bags, index, index, 3, False, 0, None
            ),
            "igamma": lambda: lib.igamma(x, y),
            "unique": lambda: lib.unique(x),
        }
        found = {}
        for name, call in calls.items():
            node = call().grad_fn
            with pytest.raises(RuntimeError) as error:
                lib.autograd.grad(call().sum(), x)
            edges = [None if edge is None else edge.name() for edge, _ in node.next_functions]
            found[name] = node.name(), edges, type(error.value).__name__, str(error.value)
        return found

    assert refusals(torch) == asked(real_torch, refusals)


@pytest.mark.parametrize("change", ["t_", "swapaxes_", "swapdims_", "transpose_"])
def test_a_view_that_is_turned_in_place_names_the_turn(change, real_torch):
    def names(lib):
        base = lib.ones(3, 4, requires_grad=True) * 1
        view = base.view(4, 3)
        getattr(view, change)(*() if change == "t_" else (0, 1))
        (grad,) = lib.autograd.grad((view * lib.arange(12.0).view(3, 4)).sum(), base)
        return type(view.grad_fn).__name__, tuple(view.shape), grad.tolist()

    assert names(torch) == names(real_torch)


def test_saved_tensors_can_be_read_until_freed():
    x = leaf(1, 2)
    y = x.exp()
    assert y.grad_fn._saved_result.tolist() == y.tolist()
    assert y.grad_fn._saved_result.grad_fn is y.grad_fn
    with pytest.raises(AttributeError):
        y.grad_fn._saved_nothing  # noqa: B018
    node = y.grad_fn
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        node._saved_result  # noqa: B018


def test_saved_input_keeps_its_identity():
    x, w = leaf(1), torch.ones(1)
    w.note = "kept"
    y = x * w
    ref = weakref.ref(w)
    del w
    assert ref() is not None and y.grad_fn._saved_other.note == "kept"


def test_tensor_hooks():
    x, seen = leaf(1, 2), []
    y = x * 2
    handle = y.register_hook(lambda grad: seen.append(grad.tolist()))
    y.register_hook(lambda grad: grad * 10)
    y.sum().backward(retain_graph=True)
    assert seen == [[1, 1]] and x.grad.tolist() == [20, 20]
    handle.remove()
    y.sum().backward()
    assert len(seen) == 1 and x.grad.tolist() == [40, 40]


def test_leaf_hooks():
    x = leaf(1, 2)
    x.register_hook(lambda grad: -grad)
    (x * 3).sum().backward()
    assert x.grad.tolist() == [-3, -3]
    (d,) = torch.autograd.grad((x * 3).sum(), x)
    assert d.tolist() == [-3, -3]


def test_hook_on_a_tensor_without_gradient():
    with pytest.raises(RuntimeError, match="cannot register a hook on a tensor that doesn't require gradient"):
        torch.ones(1).register_hook(print)


def test_hook_returning_nonsense():
    x = leaf(1)
    x.register_hook(lambda grad: 3)
    with pytest.raises(TypeError, match="expected Variable, but hook returned 'int'"):
        (x * 1).backward()


def test_post_accumulate_grad_hook_sees_the_very_leaf():
    x = torch.nn.Parameter(torch.ones(2))
    seen = []

    def hook(p):
        seen.append((p is x, p.grad.tolist()))
        p.grad = None

    x.register_post_accumulate_grad_hook(hook)
    (x * 3).sum().backward()
    assert seen == [(True, [3, 3])] and x.grad is None


def test_node_hooks():
    x, seen = leaf(1, 2), []
    y = x * 2
    y.grad_fn.register_prehook(lambda grads: (grads[0] * 5,))
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append((inputs[0].tolist(), inputs[1], outputs[0].tolist())))
    handle = y.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] + 1, None))
    y.sum().backward(retain_graph=True)
    assert seen == [([10, 10], None, [5, 5])] and x.grad.tolist() == [11, 11]
    handle.remove()
    x.grad = None
    y.sum().backward()
    assert x.grad.tolist() == [10, 10]


def test_gradient_is_one_object():
    x = leaf(1)
    (x * 2).backward()
    x.grad.note = 1
    assert x.grad is x.grad and x.grad.note == 1


def test_gradient_edge():
    x = leaf(2)
    y = x * x
    edge = get_gradient_edge(y)
    assert isinstance(edge, GradientEdge) and edge.node is y.grad_fn
    z = y * 3
    assert torch.autograd.grad(z, edge, retain_graph=True)[0].tolist() == [3]
    assert torch.autograd.grad(edge, x, torch.tensor([5.0]))[0].tolist() == [20]
    assert get_gradient_edge(x).node.variable is x
    with pytest.raises(RuntimeError, match="does not require gradients"):
        get_gradient_edge(torch.ones(1))


def test_hooks_of_a_leaf_are_no_leak():
    def hooked():
        x = leaf(1)
        x.register_hook(lambda grad: x)
        return weakref.ref(x)

    ref = hooked()
    gc.collect()
    assert ref() is None


def test_hook_error_keeps_its_traceback():
    def broken(grad):
        raise KeyError("from the hook")

    x = leaf(1)
    y = x * 2
    y.register_hook(broken)
    with pytest.raises(KeyError, match="from the hook") as caught:
        y.backward()
    assert caught.traceback[-1].name == "broken"
    (x * 2).backward()  # the thread's engine is in order again
    assert x.grad.tolist() == [2]


def test_backward_runs_to_an_edge_that_is_no_leaf():
    x, y = (torch.ones(2, requires_grad=True).clone() for _ in range(2))
    edges = [GradientEdge(t.grad_fn, t.output_nr) for t in (x, y)]
    seen = []
    x.register_hook(seen.append)
    out = x * 3
    torch.autograd.backward(out.sum(), inputs=(edges[0], y), retain_graph=True)
    torch.autograd.backward(out.sum(), inputs=edges)
    assert [grad.tolist() for grad in seen] == [[3, 3]] * 2
    assert y.grad is None


def test_an_edge_keeps_its_graph_alive():
    class Clone(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            return grad.clone()

    x = torch.ones(1, requires_grad=True)
    for clone in (torch.clone, Clone.apply):
        out = clone(x * 2)
        edge = get_gradient_edge(out)
        del out
        gc.collect()
        torch.autograd.backward(edge)
    assert x.grad.tolist() == [4]


def test_a_node_is_called_with_as_many_gradients_as_it_has_outputs():
    x = torch.ones(2, requires_grad=True)
    node = (x * 2).grad_fn
    with pytest.raises(TypeError, match="expected 1 arguments, got 2 instead"):
        node(x.detach(), x.detach())
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        node()
    assert node(torch.ones(2))[0].tolist() == [2, 2]


def test_dir_names_what_a_node_keeps():
    x = torch.ones(2, 2, requires_grad=True)
    names = dir((x * x).grad_fn)
    assert {"_saved_self", "_saved_other", "_raw_saved_self", "_raw_saved_other", "next_functions"} <= set(names)
    assert len(names) == len(set(names))
    assert "_raw_saved_dim" not in dir(x.sum(0).grad_fn)
    assert "_saved_self" not in dir((x + 1).grad_fn)


def test_hooks_of_a_tensor_stay_with_its_former_value():
    seen = []
    x = torch.ones(1, requires_grad=True)
    y = x.clone()
    y.register_hook(lambda grad: (seen.append(("before", grad.item())), grad * 2)[1])
    y.mul_(2)
    y.register_hook(lambda grad: (seen.append(("after", grad.item())), grad * 2)[1])
    y.sum().backward()
    assert seen == [("after", 1.0), ("before", 4.0)]
    assert x.grad.item() == 8


def test_another_view_keeps_its_gradient_after_a_change_in_place():
    base = torch.ones(1, requires_grad=True).clone()
    first, second = base[:], base[:]
    first.retain_grad()
    second.retain_grad()
    first.mul_(2)
    (first + second).sum().backward()
    assert first.grad.tolist() == second.grad.tolist() == [1]


def test_the_gradient_of_what_is_no_leaf_warns():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    with pytest.warns(UserWarning, match="The .grad attribute of a Tensor that is not a leaf Tensor is being accessed"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None
    assert x.grad is None
    y.sum().backward()
    assert y.grad.tolist() == [1, 1]


def test_what_has_no_formula_says_so():
    x = torch.rand(2, requires_grad=True) + 1
    with pytest.raises(NotImplementedError, match="the derivative for 'igamma: input' is not implemented"):
        torch.igamma(x, x).sum().backward()
    with pytest.raises(RuntimeError, match="derivative for aten::heaviside is not implemented"):
        torch.heaviside(x, x).sum().backward()


@pytest.mark.parametrize("make", ["rand", "randn", "randint"])
def test_fresh_random_tensors_have_version_zero(make):
    assert getattr(torch, make)(*((3,) if make == "randint" else ()), (2,))._version == 0
    x = torch.zeros(2)
    getattr(torch, make)(*((3,) if make == "randint" else ()), (2,), out=x)
    assert x._version == 1


def test_a_tensor_hook_hears_of_passes_that_go_by():
    x = torch.ones(2, requires_grad=True)
    first, second = x.unbind()
    heard = []
    first.register_hook(heard.append)
    second.backward()
    first.backward()
    assert heard == [None, torch.tensor(1.0)]


def test_a_leaf_with_a_new_storage_is_a_new_leaf():
    x = torch.ones(2, requires_grad=True)
    edge = get_gradient_edge(x)
    y = x.clone()
    with torch.no_grad():
        x.set_(torch.zeros(3))
    with pytest.raises(RuntimeError, match="appears to not have been used in the graph"):
        torch.autograd.grad(y.sum(), x)
    assert torch.autograd.grad(y.sum(), edge)[0].tolist() == [1, 1]
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_a_gradient_that_post_hooks_see_is_the_leafs_own():
    x = torch.ones(2, requires_grad=True)
    node = x.view_as(x).grad_fn.next_functions[0][0]
    seen = []
    node.register_hook(lambda inputs, outputs: seen.append(outputs[0].data_ptr()))
    (x * 2).sum().backward()
    assert seen == [x.grad.data_ptr()]


def test_the_order_of_a_pass_is_known_before():
    a, b = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)
    c, d = b.sin(), a.cos()
    out = c * d
    foreseen, ran = [], []
    for node in (
        out.grad_fn,
        d.grad_fn,
        c.grad_fn,
        *(n for n, _ in (*c.grad_fn.next_functions, *d.grad_fn.next_functions)),
    ):
        node.register_prehook(lambda grads, node=node: ran.append(node))
    out.register_hook(lambda grad: foreseen.extend(torch._C._current_graph_task_execution_order()))
    with pytest.raises(RuntimeError, match="should only be called during the backward pass"):
        torch._C._current_graph_task_execution_order()
    with pytest.raises(RuntimeError, match="expects the current backward to be executed with multithreading disabled"):
        out.backward(retain_graph=True)
    with torch.autograd.set_multithreading_enabled(False):
        out.backward(retain_graph=True)
        assert foreseen == ran and len(ran) == 5
        foreseen.clear()
        torch.autograd.grad(out, a, retain_graph=True)
    assert [node.name() for node in foreseen] == ["MulBackward0", "CosBackward0", "torch::autograd::AccumulateGrad"]


def test_a_node_can_ask_whether_the_graph_is_kept():
    kept = []
    x = torch.ones((), requires_grad=True)
    y = x * 2
    y.register_hook(lambda grad: kept.append(torch._C._autograd._get_current_graph_task_keep_graph()))
    y.backward(retain_graph=True)
    y.backward()
    assert kept == [True, False]
    assert not torch._C._autograd._get_current_graph_task_keep_graph()


def test_a_tensor_saved_twice_is_copied_once():
    with torch.autograd.graph.allow_mutation_on_saved_tensors() as context:
        x = torch.ones(2, requires_grad=True).clone()
        y, z = x**2, x**3
        assert len(context.tid_to_weakhandle) == 1
        x.zero_()
        assert (len(context.cloned), len(context.original), len(context.tid_to_weakhandle)) == (1, 0, 0)
        w = x**2
        x.add_(1)
        assert len(context.cloned) == 2
        del y, z
        assert len(context.cloned) == 1
        assert torch.autograd.grad(w.sum(), x, allow_unused=True) == (None,)


def test_nodes_and_what_makes_them_are_nodes():
    for kind in (Node, torch._C._functions.AccumulateGrad, torch._C._functions.DelayedError):
        assert issubclass(kind, Node)
    assert not isinstance(Node, Node) and not issubclass(int, Node)


def test_a_reference_that_keeps_nothing_alive():
    x = torch.ones(2)
    ref = torch._C._WeakTensorRef(x)
    assert not ref.expired()
    del x
    assert ref.expired()
    with pytest.raises(TypeError, match="_WeakTensorRef expects a Tensor, but got int"):
        torch._C._WeakTensorRef(3)


@pytest.mark.parametrize("output_nr", [1, 99, -1, 2**32, 2**40])
def test_an_edge_names_an_output_that_its_node_has(output_nr):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    edge = GradientEdge(y.grad_fn, output_nr)
    with pytest.raises(IndexError, match="expected an output_nr from 0 to 0"):
        torch.autograd.grad(y.sum(), [edge])
    with pytest.raises(IndexError):
        torch.autograd.grad([edge], [x], [torch.ones(2)])
