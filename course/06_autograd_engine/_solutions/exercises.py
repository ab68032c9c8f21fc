"""The exercises of chapter 06, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.
"""

# %% [markdown]
# # Exercises 06: the engine
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# Stuck? `course("hint 06.1")` in a cell of its own. Done? `course("check 06")` runs the notebook, as last saved, from
# top to bottom. C++ is compiled when its check runs, which takes some three seconds.

# %%
from collections import Counter

import reftorch as torch
from course._tools import check, course, graph, queue_steps, show_source
from course._tools.graphs import in_order, short_name
from reftorch.autograd import python_engine
from reftorch.debug import call_tree
from reftorch.utils.cpp_extension import load_inline

# %% [markdown] exercise="06.1" role="task" kind="read" title="who runs, and in which order"
# ## 06.1 Read: who runs, and in which order
#
# A hook of yours fires before another and you expected it the other way round; or it does not fire at all. Both
# follow from the queue and from what was asked. For the three calls below give the names of the nodes that the engine
# runs, in order. A leaf's node is called `AccumulateGrad`.


# %% exercise="06.1" role="given"
def forward():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    h = x * w
    early = h.exp()
    late = h.sin()
    return x, h, (late - early).sum()


RUNS = {
    "loss.backward()": lambda x, h, loss: loss.backward(),
    "grad(loss, x)": lambda x, h, loss: torch.autograd.grad(loss, x),
    "grad(loss, h)": lambda x, h, loss: torch.autograd.grad(loss, h),
}


# %% exercise="06.1" role="answer"
def order_of_nodes() -> dict[str, list[str]]:
    """For each of RUNS the names of the nodes in the order in which the engine runs them."""
    # BEGIN SOLUTION
    to_h = ["SumBackward0", "SubBackward0", "SinBackward0", "ExpBackward0"]
    return {
        "loss.backward()": [*to_h, "MulBackward0", "AccumulateGrad", "AccumulateGrad"],
        "grad(loss, x)": [*to_h, "MulBackward0"],
        "grad(loss, h)": to_h,
    }
    # END SOLUTION


# %% exercise="06.1" role="check"
def nodes_that_run(run):
    x, h, loss = forward()
    ran = []
    for node in in_order(loss.grad_fn):
        node.register_prehook(lambda grads, node=node: ran.append(short_name(node)))
    run(x, h, loss)
    return ran


with check("06.1", "who runs, and in which order") as c:
    answer = order_of_nodes()
    for text, run in RUNS.items():
        c.equal(f"the nodes that run in {text}", came=answer.get(text), expected=nodes_that_run(run))

# %% [markdown] exercise="06.1" role="hint"
# `x, h, loss = forward()`, then `queue_steps(loss)` draws the queue of `backward`. The node recorded last is the
# first of those that are ready; where it stands in the subtraction does not matter.

# %% [markdown] exercise="06.1" role="hint"
# With inputs a gradient is caught on its way *into* the node of the input, which then does not run itself: for a leaf
# that is its AccumulateGrad, for `h` the node of the product.


# %% [markdown] exercise="06.2" role="task" kind="build" title="an engine"
# ## 06.2 Build: an engine
#
# Who has written the loop once reads `engine.cpp` in an evening. Write it: send ones through the graph behind
# `output` and return the gradient of each leaf. `call` below runs one node: it takes a list with a gradient (or None)
# for each of `node._input_metadata` and returns one for each of `node.next_functions`. Do not call a leaf's node,
# which has a `variable`; what arrives there is the answer.
#
# A node must be called once, with the sum of all that leads to it. Graphs are deep: no recursion.


# %% exercise="06.2" role="given"
def call(node, gradients):
    """What a node makes of the gradients of its op's outputs; each with the shape and dtype of what it is for."""
    with torch.no_grad():
        results = node(*gradients)
    results = results if isinstance(results, tuple) else (results,)
    return [
        gradient if gradient is None or edge[0] is None else python_engine.validate(gradient, edge)
        for gradient, edge in zip(results, node.next_functions, strict=True)
    ]


# %% exercise="06.2" role="answer"
def gradients(output, leaves):
    """The gradients of `output.sum()` for each of `leaves`; None for a leaf that is not reached."""
    # BEGIN SOLUTION
    root = output.grad_fn
    missing, buffers, pending = Counter(), {root: [None] * len(root._input_metadata)}, [root]
    while pending:
        for child, _ in pending.pop().next_functions:
            if child is not None:
                missing[child] += 1
                if child not in buffers:
                    buffers[child] = [None] * len(child._input_metadata)
                    pending.append(child)
    buffers[root][output.output_nr] = torch.ones_like(output)
    ready = [root]
    while ready:
        node = ready.pop()
        if hasattr(node, "variable"):
            continue
        for (child, place), gradient in zip(node.next_functions, call(node, buffers[node]), strict=True):
            if child is None:
                continue
            if gradient is not None:
                former = buffers[child][place]
                buffers[child][place] = gradient if former is None else former + gradient
            missing[child] -= 1
            if missing[child] == 0:
                ready.append(child)
    arrived = {id(node.variable): buffer[0] for node, buffer in buffers.items() if hasattr(node, "variable")}
    return [arrived.get(id(leaf)) for leaf in leaves]
    # END SOLUTION


# %% exercise="06.2" role="check"
class Counted(torch.autograd.Function):
    """The identity, which counts how often its backward runs."""

    runs = 0

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        Counted.runs += 1
        return grad


def ladder(x, rungs):
    """Each rung uses the former one twice: the number of ways down doubles with each."""
    for _ in range(rungs):
        x = x.sin() + x.cos()
    return x


def repeated(x, times):
    for _ in range(times):
        x = x + 0.001
    return x


with check("06.2", "an engine") as c:
    x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    w = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    b = torch.tensor([1.0], requires_grad=True)
    for what, output in [
        ("a chain", x.exp().sin()),
        ("a tensor used twice", x * x + x.exp() * x),
        ("a matrix product, and b broadcast", w @ x + b),
        ("an op with several outputs", torch.stack(x.sin().unbind()[:2]).exp()),
        ("eight rungs, 256 ways", ladder(x, 8)),
    ]:
        leaves = [leaf for leaf in (x, w, b) if leaf is x or "broadcast" in what]
        expected = torch.autograd.grad(output.sum(), leaves, retain_graph=True)
        for came, right in zip(gradients(output, leaves), expected, strict=True):
            c.close(what, came=came, expected=right)
    c.equal("a leaf that is not reached", came=gradients(x.exp(), [w]), expected=[None])
    c.equal("no .grad was touched", came=[leaf.grad for leaf in (x, w, b)], expected=[None, None, None])
    gradients(ladder(Counted.apply(x), 4), [x])
    c.equal("how often a node with 16 ways to it ran", came=Counted.runs, expected=1)
    Counted.runs = 0
    deep = gradients(repeated(x, 3000), [x])[0]
    c.close("a chain of 3000 nodes", came=deep, expected=torch.ones(3))

# %% [markdown] exercise="06.2" role="hint"
# Two loops. The first walks the graph once with a list of nodes to visit and counts, for each child, the edges that
# lead to it: `compute_dependencies` in `reftorch/autograd/python_engine.py`. The second starts with the root.

# %% [markdown] exercise="06.2" role="hint"
# Each node has a buffer, `[None] * len(node._input_metadata)`. The root's gets `torch.ones_like(output)` at
# `output.output_nr`. For each edge `(child, place)`: add the gradient to `buffers[child][place]`, count down, and at
# zero the child is ready. Count down also where the gradient is None.

# %% [markdown] exercise="06.2" role="hint"
# In the end the buffers of the nodes that have a `variable` hold the answers. Tensors compare by value, so look
# leaves up by `id(leaf)`.


# %% [markdown] exercise="06.3" role="task" kind="build" title="how much of the graph is needed, in C++"
# ## 06.3 Build: how much of the graph is needed, in C++
#
# Before it runs `grad(loss, input)`, the engine marks the nodes from which the input can be reached. Write that as a
# function that *counts* them: the nodes that will be called. The node of the input itself is not called.
#
# Types as in the engine: `Node`, with `next_edges()`, each an `Edge` with a `function`, which may be null. The
# function runs in your notebook's process, and a graph may be 100,000 nodes deep: a recursion would end the process.

# %% exercise="06.3" role="answer"
NEEDED = r"""
#include <csrc/autograd/variable.h>

#include <unordered_map>
#include <unordered_set>

using reftorch::torch::autograd::Edge;
using reftorch::torch::autograd::Node;
using reftorch::torch::autograd::impl::gradient_edge;

int64_t needed_nodes(const at::Tensor& loss, const at::Tensor& input) {
  Node* const root = gradient_edge(loss).function.get();
  Node* const target = gradient_edge(input).function.get();
  // BEGIN SOLUTION
  std::unordered_map<Node*, std::vector<Node*>> parents;
  std::unordered_set<Node*> seen{root};
  std::vector<Node*> pending{root};
  while (!pending.empty()) {
    Node* const node = pending.back();
    pending.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (!edge.is_valid()) {
        continue;
      }
      parents[edge.function.get()].push_back(node);
      if (seen.insert(edge.function.get()).second) {
        pending.push_back(edge.function.get());
      }
    }
  }
  // Back from the input: what is met on the way is needed.
  std::unordered_set<Node*> needed;
  pending = {target};
  while (!pending.empty()) {
    Node* const node = pending.back();
    pending.pop_back();
    for (Node* parent : parents[node]) {
      if (needed.insert(parent).second) {
        pending.push_back(parent);
      }
    }
  }
  return static_cast<int64_t>(needed.size());
  // END SOLUTION
}
"""


# %% exercise="06.3" role="check"
def called_by_grad(loss, input):
    """How many nodes a real pass calls."""
    ran = []
    handles = [n.register_prehook(lambda grads, n=n: ran.append(n)) for n in in_order(loss.grad_fn)]
    torch.autograd.grad(loss, input, retain_graph=True, allow_unused=True)
    for handle in handles:
        handle.remove()
    return len(ran)


def chain(x, length):
    for _ in range(length):
        x = x + 1
    return x


with check("06.3", "how much of the graph is needed, in C++") as c:
    needed_nodes = load_inline("needed_nodes", NEEDED, functions="needed_nodes").needed_nodes
    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    hidden = (x * w).exp()
    side = hidden.sin()
    loss = (side * w + hidden.cos()).sum()
    for name, tensor in {"x": x, "w": w, "hidden": hidden, "side": side}.items():
        came = needed_nodes(loss, tensor)
        c.equal(f"the nodes that grad(loss, {name}) calls", came=came, expected=called_by_grad(loss, tensor))
    stranger = torch.ones(3, requires_grad=True)
    c.equal("an input that is not in the graph", came=needed_nodes(loss, stranger), expected=0)
    ladder_top = hidden
    for _ in range(40):
        ladder_top = ladder_top.sin() + ladder_top.cos()
    c.equal("40 rungs, a million million ways", came=needed_nodes(ladder_top, x), expected=40 * 3 + 2)
    c.equal("a chain of 100,000 nodes", came=needed_nodes(chain(x, 100_000), x), expected=100_000)

# %% [markdown] exercise="06.3" role="hint"
# A `std::vector<Node*>` of nodes to visit and a `std::unordered_set<Node*>` of nodes that were seen walk the graph
# without recursion. `edge.function.get()` is null where no gradient is wanted.

# %% [markdown] exercise="06.3" role="hint"
# The engine keeps a stack and asks each node when all its children have answered. Easier: on the walk note, for each
# child, its parents; then walk again, from `target` along the parents. What the second walk meets is needed.

# %% [markdown] exercise="06.4" role="task" kind="build" title="a penalty on the Jacobian"
# ## 06.4 Build: a penalty on the Jacobian
#
# A network is made robust by a penalty on ‖*J*‖², the squared Frobenius norm of its Jacobian at a sample. Write
# it exact, by one of the lesson's ways, for a function of one vector. It is a penalty: it must itself have a graph,
# so that `backward` on it reaches the parameters inside `f`. And it must leave every `.grad` as it is.


# %% exercise="06.4" role="answer"
def jacobian_penalty(f, x):
    """The sum of the squares of all entries of the Jacobian of `f` at the vector `x`, differentiable."""
    # BEGIN SOLUTION
    x = x.detach().requires_grad_()
    y = f(x)
    units = torch.eye(y.numel(), dtype=y.dtype)
    (rows,) = torch.autograd.grad(y, x, units, create_graph=True, is_grads_batched=True)
    return rows.pow(2).sum()
    # END SOLUTION


# %% exercise="06.4" role="check"
with check("06.4", "a penalty on the Jacobian") as c:
    torch.manual_seed(0)
    weight = torch.randn(4, 3, requires_grad=True)
    point = torch.randn(3)

    def network(x):
        return (weight @ x).tanh()

    for what, f in [
        ("tanh of a product", network),
        ("rows that cancel", lambda x: torch.tensor([[5.0, 7.0, 1.0], [-5.0, -7.0, -1.0]]) @ x),
        ("fewer outputs than inputs", lambda x: (x * x)[:1]),
    ]:
        expected = torch.autograd.functional.jacobian(f, point).pow(2).sum()
        c.close(what, came=jacobian_penalty(f, point), expected=expected.detach())
    penalty = jacobian_penalty(network, point)
    c.equal("the penalty has a graph", came=penalty.requires_grad, expected=True)
    slopes = (1 - network(point) ** 2).reshape(4, 1)
    (expected,) = torch.autograd.grad((slopes * weight).pow(2).sum(), weight)
    c.close("its gradient for the weight", came=torch.autograd.grad(penalty, weight)[0], expected=expected)
    c.equal("weight.grad and point.grad", came=(weight.grad, point.grad), expected=(None, None))

# %% [markdown] exercise="06.4" role="hint"
# `x.detach().requires_grad_()` is a fresh leaf, so the caller's tensor is left alone. Rows come from
# `torch.autograd.grad(y, x, torch.eye(...), is_grads_batched=True)`.

# %% [markdown] exercise="06.4" role="hint"
# `create_graph=True` records the pass. It also keeps the graph, so a loop over the rows works as well.


# %% [markdown] exercise="06.5" role="task" kind="fix" title="a Hessian that remembers"
# ## 06.5 Fix: a Hessian that remembers
#
# The product of the Hessian and a vector needs two passes, the second through the first. This one is wrong on its
# first call, more wrong on its second, and memory grows. Mend it: the right numbers, each time; no `.grad` is
# touched; and a function whose gradient is constant has a Hessian of zeros, not an error.


# %% exercise="06.5" role="given"
def broken_hessian_vector(f, x, v):
    """The Hessian of the scalar function `f` at the leaf `x`, times `v`."""
    f(x).backward(create_graph=True)
    (x.grad * v).sum().backward()
    return x.grad


# %% exercise="06.5" role="answer"
def hessian_vector(f, x, v):
    """The Hessian of the scalar function `f` at the leaf `x`, times `v`."""
    # BEGIN SOLUTION
    (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not slope.requires_grad:
        return torch.zeros_like(x)
    (product,) = torch.autograd.grad(slope, x, v, materialize_grads=True)
    return product
    # END SOLUTION


# %% exercise="06.5" role="check"
with check("06.5", "a Hessian that remembers") as c:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([1.0, -1.0])
    scale = torch.tensor([3.0, 5.0], requires_grad=True)
    for what, f, expected in [
        ("x0^2 x1", lambda x: x[0] ** 2 * x[1], [2.0, 2.0]),
        ("the same again", lambda x: x[0] ** 2 * x[1], [2.0, 2.0]),
        ("a sum, whose gradient is constant", lambda x: x.sum(), [0.0, 0.0]),
        ("linear in x, with a parameter", lambda x: (scale * x).sum(), [0.0, 0.0]),
    ]:
        c.close(what, came=hessian_vector(f, x, v), expected=torch.tensor(expected))
    c.equal("x.grad and scale.grad", came=(x.grad, scale.grad), expected=(None, None))
    c.equal(
        "the result needs no gradient",
        came=hessian_vector(lambda x: x.pow(3).sum(), x, v).requires_grad,
        expected=False,
    )

# %% [markdown] exercise="06.5" role="hint"
# `x.grad` after the first `backward` holds the gradient, and the second one *adds* to it. `torch.autograd.grad`
# returns its result and touches nothing.

# %% [markdown] exercise="06.5" role="hint"
# `(slope,) = grad(f(x), x, create_graph=True)`, then `grad(slope, x, v)`: `grad_outputs` is the vector. The gradient
# of a linear function may have no graph at all (`slope.requires_grad` is False), or one without `x` in it:
# `materialize_grads=True` gives zeros.


# %% [markdown] exercise="06.6" role="task" kind="read" title="which gradients are copied"
# ## 06.6 Read: which gradients are copied
#
# The first gradient of a leaf may become its `.grad` as it is; else memory for another is needed, for each parameter
# of a model. Read Note [Stealing a gradient] and `can_steal` in `accumulate_grad.cpp`. How many of the gradients
# below are copied, when `x` and `w` are leaves that require one and both have no `.grad` yet?

# %% exercise="06.6" role="given"
LOSSES = {
    "(x * w).sum()": lambda x, w: (x * w).sum(),
    "(x + w).sum()": lambda x, w: (x + w).sum(),
    "(x * 2).exp().sum()": lambda x, w: (x * 2).exp().sum(),
    "x.sum()": lambda x, w: x.sum(),
    "(x * x).sum()": lambda x, w: (x * x).sum(),
}


# %% exercise="06.6" role="answer"
def copies() -> dict[str, int]:
    """For each of LOSSES how many gradients are copied into a `.grad`."""
    # BEGIN SOLUTION
    return {
        "(x * w).sum()": 0,
        "(x + w).sum()": 2,
        "(x * 2).exp().sum()": 0,
        "x.sum()": 1,
        "(x * x).sum()": 0,
    }
    # END SOLUTION


# %% exercise="06.6" role="check"
from course._tools.trees import bare


def calls_of(function, nodes, times=1):
    """How often a function was called in a tree, whose lines may stand for several equal calls."""
    here = sum(times * node.count for node in nodes if bare(node.name) == function)
    return here + sum(calls_of(function, node.children, times * node.count) for node in nodes)


def copies_made(loss_of):
    x, w = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    loss = loss_of(x, w)
    with call_tree(only="clone_obey_contract") as tree:
        loss.backward()
    return calls_of("clone_obey_contract", tree.threads[0])


with check("06.6", "which gradients are copied") as c:
    answer = copies()
    for text, loss_of in LOSSES.items():
        c.equal(f"gradients copied by {text}", came=answer.get(text), expected=copies_made(loss_of))

# %% [markdown] exercise="06.6" role="hint"
# What is the gradient of a sum? One number, *expanded* to the shape of the input: strides of 0. Does it obey the
# layout contract of a parameter?

# %% [markdown] exercise="06.6" role="hint"
# `with call_tree(only="AccumulateGrad|clone_obey") as tree: loss.backward()` shows for each leaf whether it was
# copied.
