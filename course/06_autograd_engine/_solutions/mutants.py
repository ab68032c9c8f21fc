"""Wrong answers to the exercises of chapter 06: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
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


# %% exercise="06.2" role="mutant" why="every gradient is copied"
def copies() -> dict[str, int]:
    return {"(x * w).sum()": 2, "(x + w).sum()": 2, "(x * 2).exp().sum()": 1, "x.sum()": 1, "(x * x).sum()": 1}


# %% exercise="06.2" role="mutant" why="only what two leaves share is copied"
def copies() -> dict[str, int]:
    return {"(x * w).sum()": 0, "(x + w).sum()": 2, "(x * 2).exp().sum()": 0, "x.sum()": 0, "(x * x).sum()": 0}


# %% exercise="06.3" role="mutant" why="runs a node at its first gradient"
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


# %% exercise="06.3" role="mutant" why="walks every way through the graph"
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


# %% exercise="06.3" role="mutant" why="lets the real engine do it, into .grad"
def gradients(output, leaves):
    output.sum().backward(retain_graph=True)
    return [leaf.grad for leaf in leaves]


# %% exercise="06.3" role="mutant" why="lets the real engine do it, and touches no .grad"
def gradients(output, leaves):
    return list(torch.autograd.grad(output.sum(), leaves, retain_graph=True, allow_unused=True))


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


# %% exercise="06.6" role="mutant" why="never adds in place: right, and without the memory that was saved"
def fix() -> tuple[str, str]:
    return (
        "csrc/autograd/input_buffer.cpp",
        """
 static bool can_accumulate_inplace(const Variable& sum, const Variable& var) {
+  return false;
""".strip("\n"),
    )


# %% exercise="06.6" role="mutant" why="guards the other place that adds in place, which was right"
def fix() -> tuple[str, str]:
    return (
        "csrc/autograd/functions/accumulate_grad.cpp",
        """
-    at::add_(grad, new_grad); // in place, so that every holder of .grad sees the sum
+    impl::set_grad(variable, at::add(grad, new_grad));
""".strip("\n"),
    )


# %% exercise="06.6" role="mutant" why="asks for an owner too many"
def fix() -> tuple[str, str]:
    return (
        "csrc/autograd/input_buffer.cpp",
        """
-  return !c10::GradMode::is_enabled() && sum.storage().use_count() == 1 &&
+  return !c10::GradMode::is_enabled() && sum.use_count() <= 2 && sum.storage().use_count() == 1 &&
""".strip("\n"),
    )


# %% exercise="06.7" role="mutant" why="counts all that can be reached from the loss"
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


# %% exercise="06.7" role="mutant" why="takes the node's depth for it"
NEEDED = r"""
#include <csrc/autograd/variable.h>

using namespace reftorch::torch::autograd;

int64_t needed_nodes(const at::Tensor& loss, const at::Tensor& input) {
  Node* const root = impl::gradient_edge(loss).function.get();
  Node* const target = impl::gradient_edge(input).function.get();
  return static_cast<int64_t>(root->topological_nr() - target->topological_nr());
}
"""


# %% exercise="06.8" role="mutant" why="create_graph is forgotten"
Solved = Engine


class Engine(Solved):
    def grad(self, output, inputs, gradient=None, create_graph=False):
        return super().grad(output, inputs, gradient)


# %% exercise="06.8" role="mutant" why="what a hook returns is thrown away"
class Engine(Solved):
    def register_hook(self, tensor, hook):
        super().register_hook(tensor, lambda grad: (hook(grad), None)[1])


# %% exercise="06.8" role="mutant" why="hooks see each piece, and the order is that of arrival"
class Engine:
    def __init__(self):
        self.hooks = {}

    def register_hook(self, tensor, hook):
        self.hooks.setdefault(python_engine.gradient_edge(tensor), []).append(hook)

    def walk(self, output, gradient, create_graph):
        if gradient is None and output.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        arrived = {}
        ready = [(python_engine.gradient_edge(output), torch.ones_like(output) if gradient is None else gradient)]
        with torch.set_grad_enabled(create_graph):
            while ready:
                (node, place), gradient = ready.pop(0)
                for hook in self.hooks.get((node, place), ()):
                    replaced = hook(gradient)
                    gradient = gradient if replaced is None else replaced
                arrived[node, place] = arrived.get((node, place), 0) + gradient
                if not hasattr(node, "variable"):
                    buffer = [None] * len(node._input_metadata)
                    buffer[place] = gradient
                    for edge, result in zip(node.next_functions, results_of(node, buffer), strict=True):
                        if edge[0] is not None and result is not None:
                            ready.append((edge, result))
        return arrived

    def grad(self, output, inputs, gradient=None, create_graph=False):
        arrived = self.walk(output, gradient, create_graph)
        return [arrived.get(python_engine.gradient_edge(each)) for each in inputs]

    def backward(self, output, gradient=None, create_graph=False):
        for (node, _), arrived in self.walk(output, gradient, create_graph).items():
            if hasattr(node, "variable"):
                node.variable.grad = arrived if node.variable.grad is None else node.variable.grad + arrived


# %% exercise="06.8" role="mutant" why="lets the real engine do it"
class Engine:
    def register_hook(self, tensor, hook):
        tensor.register_hook(hook)

    def grad(self, output, inputs, gradient=None, create_graph=False):
        options = {"retain_graph": True, "create_graph": create_graph, "allow_unused": True}
        return list(torch.autograd.grad(output, inputs, gradient, **options))

    def backward(self, output, gradient=None, create_graph=False):
        output.backward(gradient, retain_graph=True, create_graph=create_graph)


# %% exercise="06.8" role="mutant" why="a loop that counts, runs every node, and knows no hooks"
class Engine:
    def register_hook(self, tensor, hook):
        pass

    def arrived(self, output, gradient, create_graph):
        if gradient is None and output.numel() != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        root, number = python_engine.gradient_edge(output)
        missing = python_engine.compute_dependencies([(root, number)])
        buffers = {node: [None] * len(node._input_metadata) for node in missing}
        buffers[root][number] = torch.ones_like(output) if gradient is None else gradient
        ready = [root]
        with torch.set_grad_enabled(create_graph):
            while ready:
                node = ready.pop()
                if hasattr(node, "variable"):
                    continue
                for (child, place), result in zip(node.next_functions, results_of(node, buffers[node]), strict=True):
                    if child is not None:
                        former = buffers[child][place]
                        buffers[child][place] = result if former is None else former + result
                        missing[child] -= 1
                        if missing[child] == 0:
                            ready.append(child)
        return buffers

    def grad(self, output, inputs, gradient=None, create_graph=False):
        buffers = self.arrived(output, gradient, create_graph)
        edges = [python_engine.gradient_edge(each) for each in inputs]
        return [buffers[node][place] if node in buffers else None for node, place in edges]

    def backward(self, output, gradient=None, create_graph=False):
        for node, buffer in self.arrived(output, gradient, create_graph).items():
            if hasattr(node, "variable"):
                leaf = node.variable
                leaf.grad = buffer[0] if leaf.grad is None else leaf.grad + buffer[0]


# %% exercise="06.9" role="mutant" why="takes inputs= for a sign of grad()"
def engine_calls() -> dict[str, tuple[bool, bool]]:
    return {"first": (True, True), "second": (False, True), "third": (False, False)}


# %% exercise="06.9" role="mutant" why="thinks that create_graph alone frees the graph"
def engine_calls() -> dict[str, tuple[bool, bool]]:
    return {"first": (True, True), "second": (False, False), "third": (True, False)}
