"""Wrong answers to the exercises of chapter 06: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which stand in exercises.py.
"""


# %% exercise="06.1" role="mutant" why="in the order of the forward"
def order_of_nodes() -> dict[str, list[str]]:
    to_h = ["SumBackward0", "SubBackward0", "ExpBackward0", "SinBackward0"]
    return {
        "loss.backward()": [*to_h, "MulBackward0", "AccumulateGrad", "AccumulateGrad"],
        "grad(loss, x)": [*to_h, "MulBackward0"],
        "grad(loss, h)": to_h,
    }


# %% exercise="06.1" role="mutant" why="the node of the input runs too"
def order_of_nodes() -> dict[str, list[str]]:
    to_h = ["SumBackward0", "SubBackward0", "SinBackward0", "ExpBackward0", "MulBackward0"]
    return {
        "loss.backward()": [*to_h, "AccumulateGrad", "AccumulateGrad"],
        "grad(loss, x)": [*to_h, "AccumulateGrad"],
        "grad(loss, h)": to_h,
    }


# %% exercise="06.2" role="mutant" why="runs a node at its first gradient"
def gradients(output, leaves):
    arrived, seen, ready = {}, {output.grad_fn}, [(output.grad_fn, [torch.ones_like(output)])]
    while ready:
        node, buffer = ready.pop()
        if hasattr(node, "variable"):
            arrived[id(node.variable)] = buffer[0]
            continue
        for (child, place), gradient in zip(node.next_functions, call(node, buffer), strict=True):
            if child is not None and child not in seen:
                seen.add(child)
                fresh = [None] * len(child._input_metadata)
                fresh[place] = gradient
                ready.append((child, fresh))
    return [arrived.get(id(leaf)) for leaf in leaves]


# %% exercise="06.2" role="mutant" why="walks every way through the graph"
def gradients(output, leaves):
    arrived, ready = {}, [(output.grad_fn, 0, torch.ones_like(output))]
    while ready:
        node, place, gradient = ready.pop()
        if hasattr(node, "variable"):
            arrived[id(node.variable)] = arrived.get(id(node.variable), 0) + gradient
            continue
        buffer = [None] * len(node._input_metadata)
        buffer[place] = gradient
        for (child, at), result in zip(node.next_functions, call(node, buffer), strict=True):
            if child is not None and result is not None:
                ready.append((child, at, result))
    return [arrived.get(id(leaf)) for leaf in leaves]


# %% exercise="06.2" role="mutant" why="lets the real engine do it, into .grad"
def gradients(output, leaves):
    output.sum().backward(retain_graph=True)
    return [leaf.grad for leaf in leaves]


# %% exercise="06.3" role="mutant" why="counts all that can be reached from the loss"
NEEDED = r"""
#include <csrc/autograd/variable.h>

#include <unordered_set>

using namespace reftorch::torch::autograd;

int64_t needed_nodes(const at::Tensor& loss, const at::Tensor& input) {
  Node* const root = impl::gradient_edge(loss).function.get();
  std::unordered_set<Node*> seen{root};
  std::vector<Node*> pending{root};
  while (!pending.empty()) {
    Node* const node = pending.back();
    pending.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (edge.is_valid() && seen.insert(edge.function.get()).second) {
        pending.push_back(edge.function.get());
      }
    }
  }
  return static_cast<int64_t>(seen.size());
}
"""

# %% exercise="06.3" role="mutant" why="takes the node's depth for it"
NEEDED = r"""
#include <csrc/autograd/variable.h>

using namespace reftorch::torch::autograd;

int64_t needed_nodes(const at::Tensor& loss, const at::Tensor& input) {
  Node* const root = impl::gradient_edge(loss).function.get();
  Node* const target = impl::gradient_edge(input).function.get();
  return static_cast<int64_t>(root->topological_nr() - target->topological_nr());
}
"""


# %% exercise="06.4" role="mutant" why="one pass with ones: adds before it squares"
def jacobian_penalty(f, x):
    x = x.detach().requires_grad_()
    y = f(x)
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0].pow(2).sum()


# %% exercise="06.4" role="mutant" why="the right number, without a graph"
def jacobian_penalty(f, x):
    return torch.autograd.functional.jacobian(f, x).pow(2).sum().detach()


# %% exercise="06.4" role="mutant" why="goes through .grad"
def jacobian_penalty(f, x):
    x.requires_grad_()
    total = 0
    for entry in f(x):
        x.grad = None
        entry.backward(create_graph=True)
        total = total + x.grad.pow(2).sum()
    return total


# %% exercise="06.5" role="mutant" why="the bug as it was"
def hessian_vector(f, x, v):
    return broken_hessian_vector(f, x, v)


# %% exercise="06.5" role="mutant" why="right numbers, but not for a linear function"
def hessian_vector(f, x, v):
    (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(slope, x, v)[0]


# %% exercise="06.5" role="mutant" why="subtracts the gradient, and leaves it in .grad"
def hessian_vector(f, x, v):
    x.grad = None
    f(x).backward(create_graph=True)
    first = x.grad.detach().clone()
    (x.grad * v).sum().backward()
    return (x.grad - first).detach()


# %% exercise="06.6" role="mutant" why="every gradient is copied"
def copies() -> dict[str, int]:
    return {"(x * w).sum()": 2, "(x + w).sum()": 2, "(x * 2).exp().sum()": 1, "x.sum()": 1, "(x * x).sum()": 1}


# %% exercise="06.6" role="mutant" why="only what two leaves share is copied"
def copies() -> dict[str, int]:
    return {"(x * w).sum()": 0, "(x + w).sum()": 2, "(x * 2).exp().sum()": 0, "x.sum()": 0, "(x * x).sum()": 0}
