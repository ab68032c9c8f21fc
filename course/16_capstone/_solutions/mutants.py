"""Wrong answers to the exercises of chapter 16: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.

The file is more than 500 lines long, because all wrong answers of a chapter are in one file.
"""


# %% exercise="16.1" role="mutant" why="draws the bias first"
def reset(layer):
    bound = 1 / math.sqrt(layer.weight[0].numel())
    nn.init.uniform_(layer.bias, -bound, bound)
    nn.init.kaiming_uniform_(layer.weight, a=math.sqrt(5))


class Linear(Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        self.bias = nn.Parameter(torch.empty(outputs))
        reset(self)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


# %% exercise="16.1" role="mutant" why="borrows the layer of the library"
class Linear(Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        layer = nn.Linear(inputs, outputs)
        self.weight, self.bias = layer.weight, layer.bias

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


# %% exercise="16.1" role="mutant" why="multiplies and adds, which rounds otherwise and is another op"
class Linear(Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.bias = nn.Parameter(torch.empty(outputs))
        self.weight = nn.Parameter(torch.empty(outputs, inputs))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        nn.init.uniform_(self.bias, -1 / math.sqrt(inputs), 1 / math.sqrt(inputs))

    def forward(self, x):
        return F.linear(x, self.weight) + self.bias


# %% exercise="16.1" role="mutant" why="an embedding with small first values"
class Embedding(Module):
    def __init__(self, count, width):
        super().__init__()
        self.weight = nn.Parameter(nn.init.normal_(torch.empty(count, width), std=0.02))

    def forward(self, x):
        return F.embedding(x, self.weight)


# %% exercise="16.1" role="mutant" why="a convolution that draws with the bound of its channels alone"
class Conv2d(Module):
    def __init__(self, inputs, outputs, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, size, size))
        self.bias = nn.Parameter(torch.empty(outputs))
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        nn.init.uniform_(self.bias, -1 / math.sqrt(inputs), 1 / math.sqrt(inputs))

    def forward(self, x):
        return F.conv2d(x, self.weight, self.bias, padding=self.weight.shape[-1] // 2)


# %% exercise="16.1" role="mutant" why="a convolution whose padding fits a size of 3 alone"
class Conv2d(Module):
    def __init__(self, inputs, outputs, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(outputs, inputs, size, size))
        self.bias = nn.Parameter(torch.empty(outputs))
        reset(self)

    def forward(self, x):
        return F.conv2d(x, self.weight, self.bias, padding=1)


# %% exercise="16.1" role="mutant" why="a norm whose factor and offset are not parameters"
class LayerNorm(Module):
    def __init__(self, width):
        super().__init__()
        self.weight, self.bias = torch.ones(width), torch.zeros(width)

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias)


# %% exercise="16.1" role="mutant" why="a class of its own, which registers nothing"
class LayerNorm:
    def __init__(self, width):
        self.weight, self.bias = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width))

    def __call__(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias)


# %% exercise="16.1" role="mutant" why="a parameter with two names is there twice"
def parameters(module: Module) -> list:
    return [parameter for _, parameter in module.named_parameters()]


# %% exercise="16.1" role="mutant" why="a set has no order"
def parameters(module: Module) -> list:
    return sorted({parameter for _, parameter in module.named_parameters()}, key=lambda parameter: parameter.numel())


# %% exercise="16.2" role="mutant" why="draws the order from the default generator"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self):
        order = torch.randperm(len(self.dataset)).tolist()
        yield from SurvivingLoader(Subset(self.dataset, order), self.batch_size, self.num_workers)


# %% exercise="16.2" role="mutant" why="draws the sampler's seed, and forgets the loader's"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self):
        generator = torch.Generator().manual_seed(drawn_number())
        order = torch.randperm(len(self.dataset), generator=generator).tolist()
        yield from SurvivingLoader(Subset(self.dataset, order), self.batch_size, self.num_workers)


# %% exercise="16.2" role="mutant" why="takes the first of the two numbers as the sampler's seed"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self):
        generator = torch.Generator().manual_seed(drawn_number())
        drawn_number()
        order = torch.randperm(len(self.dataset), generator=generator).tolist()
        yield from SurvivingLoader(Subset(self.dataset, order), self.batch_size, self.num_workers)


# %% exercise="16.2" role="mutant" why="draws a number after each epoch"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self):
        drawn_number()
        generator = torch.Generator().manual_seed(drawn_number())
        order = torch.randperm(len(self.dataset), generator=generator).tolist()
        yield from SurvivingLoader(Subset(self.dataset, order), self.batch_size, self.num_workers)
        drawn_number()


# %% exercise="16.2" role="mutant" why="draws one order for all epochs"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers
        self.order = None

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self):
        drawn_number()
        generator = torch.Generator().manual_seed(drawn_number())
        self.order = self.order or torch.randperm(len(self.dataset), generator=generator).tolist()
        yield from SurvivingLoader(Subset(self.dataset, self.order), self.batch_size, self.num_workers)


# %% exercise="16.2" role="mutant" why="loses the last samples in its length"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size, self.num_workers = dataset, batch_size, num_workers

    def __len__(self):
        return len(self.dataset) // self.batch_size

    def __iter__(self):
        drawn_number()
        generator = torch.Generator().manual_seed(drawn_number())
        order = torch.randperm(len(self.dataset), generator=generator).tolist()
        yield from SurvivingLoader(Subset(self.dataset, order), self.batch_size, self.num_workers)


# %% exercise="16.2" role="mutant" why="takes the library's loader"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.loader = DataLoader(dataset, batch_size, shuffle=True)

    def __len__(self):
        return len(self.loader)

    def __iter__(self):
        return iter(self.loader)


# %% exercise="16.2" role="mutant" why="makes the batches without workers"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size = dataset, batch_size

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self):
        drawn_number()
        generator = torch.Generator().manual_seed(drawn_number())
        order = torch.randperm(len(self.dataset), generator=generator)
        for indices in order.split(self.batch_size):
            samples = [self.dataset[index] for index in indices.tolist()]
            yield [torch.tensor(part) for part in zip(*samples, strict=True)]


# %% exercise="16.2" role="mutant" why="one worker, whatever was asked for"
class ShuffledLoader:
    def __init__(self, dataset, batch_size, num_workers):
        self.dataset, self.batch_size = dataset, batch_size

    def __len__(self):
        return -(-len(self.dataset) // self.batch_size)

    def __iter__(self):
        drawn_number()
        generator = torch.Generator().manual_seed(drawn_number())
        order = torch.randperm(len(self.dataset), generator=generator).tolist()
        yield from SurvivingLoader(Subset(self.dataset, order), self.batch_size, 1)


# %% exercise="16.3" role="mutant" why="the paper's formulas, under the library's names"
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in [p for p in group["params"] if p.grad is not None]:
                state = self.state[p]
                if not state:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                step = state["step"].item()
                state["exp_avg"] = beta1 * state["exp_avg"] + (1 - beta1) * p.grad
                state["exp_avg_sq"] = beta2 * state["exp_avg_sq"] + (1 - beta2) * p.grad * p.grad
                mean, squares = state["exp_avg"] / (1 - beta1**step), state["exp_avg_sq"] / (1 - beta2**step)
                p -= group["lr"] * mean / (squares.sqrt() + group["eps"])


# %% exercise="16.3" role="mutant" why="a mean that is multiplied and added"
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in [p for p in group["params"] if p.grad is not None]:
                state = self.state[p]
                if not state:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                step = state["step"].item()
                state["exp_avg"].mul_(beta1).add_(p.grad, alpha=1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denominator = (state["exp_avg_sq"].sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
                p.addcdiv_(state["exp_avg"], denominator, value=-group["lr"] / (1 - beta1**step))


# %% exercise="16.3" role="mutant" why="corrects the squares and not their root"
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in [p for p in group["params"] if p.grad is not None]:
                state = self.state[p]
                if not state:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                step = state["step"].item()
                state["exp_avg"].lerp_(p.grad, 1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denominator = (state["exp_avg_sq"] / (1 - beta2**step)).sqrt().add_(group["eps"])
                p.addcdiv_(state["exp_avg"], denominator, value=-group["lr"] / (1 - beta1**step))


# %% exercise="16.3" role="mutant" why="counts steps with an integer"
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in [p for p in group["params"] if p.grad is not None]:
                state = self.state[p]
                if not state:
                    state["step"] = torch.tensor(0)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                step = state["step"].item()
                state["exp_avg"].lerp_(p.grad, 1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denominator = (state["exp_avg_sq"].sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
                p.addcdiv_(state["exp_avg"], denominator, value=-group["lr"] / (1 - beta1**step))


# %% exercise="16.3" role="mutant" why="counts the steps in the optimizer, so that a loaded state begins at one"
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in [p for p in group["params"] if p.grad is not None]:
                state = self.state[p]
                if not state:
                    state["step"], self.steps = torch.tensor(0.0), {}
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                steps = self.__dict__.setdefault("counts", {})
                step = steps[id(state)] = steps.get(id(state), 0) + 1
                state["step"].fill_(step)
                state["exp_avg"].lerp_(p.grad, 1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denominator = (state["exp_avg_sq"].sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
                p.addcdiv_(state["exp_avg"], denominator, value=-group["lr"] / (1 - beta1**step))


# %% exercise="16.3" role="mutant" why="puts new memory into the parameter"
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in [p for p in group["params"] if p.grad is not None]:
                state = self.state[p]
                if not state:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                step = state["step"].item()
                state["exp_avg"].lerp_(p.grad, 1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denominator = (state["exp_avg_sq"].sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
                p.data = p.addcdiv(state["exp_avg"], denominator, value=-group["lr"] / (1 - beta1**step))


# %% exercise="16.3" role="mutant" why="a parameter without a gradient is an error"
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["step"] = torch.tensor(0.0)
                    state["exp_avg"], state["exp_avg_sq"] = torch.zeros_like(p), torch.zeros_like(p)
                state["step"] += 1
                step = state["step"].item()
                state["exp_avg"].lerp_(p.grad, 1 - beta1)
                state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denominator = (state["exp_avg_sq"].sqrt() / (1 - beta2**step) ** 0.5).add_(group["eps"])
                p.addcdiv_(state["exp_avg"], denominator, value=-group["lr"] / (1 - beta1**step))


# %% exercise="16.3" role="mutant" why="a class that is no Optimizer, without groups and state"
class Adam:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        self.params, self.lr, self.betas, self.eps = list(params), lr, betas, eps
        self.means = [(torch.zeros_like(p), torch.zeros_like(p)) for p in self.params]
        self.steps = 0

    @torch.no_grad()
    def step(self):
        self.steps += 1
        beta1, beta2 = self.betas
        for p, (mean, squares) in zip(self.params, self.means, strict=True):
            if p.grad is not None:
                mean.lerp_(p.grad, 1 - beta1)
                squares.mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
                denominator = (squares.sqrt() / (1 - beta2**self.steps) ** 0.5).add_(self.eps)
                p.addcdiv_(mean, denominator, value=-self.lr / (1 - beta1**self.steps))


# %% exercise="16.3" role="mutant" why="the library's own"
class Adam(torch.optim.Adam):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, lr, betas, eps, foreach=False, fused=False)


# %% exercise="16.3" role="mutant" why="calls the library's function"
class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8):
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})
        self.others = [
            torch.optim.Adam(g["params"], lr, betas, eps, foreach=False, fused=False) for g in self.param_groups
        ]
        self.state = self.others[0].state

    def step(self):
        for other in self.others:
            other.step()


# %% exercise="16.4" role="mutant" why="takes floats for real numbers"
def equal_bits() -> dict[str, bool]:
    return dict.fromkeys("abcdefghi", True)


# %% exercise="16.4" role="mutant" why="takes each operation for a rounding"
def equal_bits() -> dict[str, bool]:
    return {"a": True, "b": False, "c": False, "d": False, "e": False, "f": False, "g": False, "h": True, "i": False}


# %% exercise="16.4" role="mutant" why="takes 0.1 for a float"
def equal_bits() -> dict[str, bool]:
    return {"a": True, "b": False, "c": True, "d": True, "e": True, "f": False, "g": False, "h": True, "i": False}


# %% exercise="16.5" role="mutant" why="reads the storage as if it were contiguous"
def product(a: NDArray, b: NDArray) -> NDArray:
    (n, k), (other, m) = a.sizes, b.sizes
    if k != other:
        raise ValueError("sizes do not fit")
    result = NDArray.arange(n, m)
    left, right = a.storage, b.storage
    result.storage[:] = [
        sum(left[a.offset + i * k + x] * right[b.offset + x * m + j] for x in range(k))
        for i in range(n)
        for j in range(m)
    ]
    return result


# %% exercise="16.5" role="mutant" why="forgets the offset"
def product(a: NDArray, b: NDArray) -> NDArray:
    (n, k), (other, m) = a.sizes, b.sizes
    if k != other:
        raise ValueError("sizes do not fit")
    result = NDArray.arange(n, m)
    result.storage[:] = [
        sum(
            a.storage[i * a.strides[0] + x * a.strides[1]] * b.storage[x * b.strides[0] + j * b.strides[1]]
            for x in range(k)
        )
        for i in range(n)
        for j in range(m)
    ]
    return result


# %% exercise="16.5" role="mutant" why="takes the shorter of two sizes that do not fit"
def product(a: NDArray, b: NDArray) -> NDArray:
    rows, columns = a.tolist(), b.transpose(0, 1).tolist()
    result = NDArray.arange(a.sizes[0], b.sizes[1])
    result.storage[:] = [sum(x * y for x, y in zip(row, column)) for row in rows for column in columns]  # noqa: B905
    return result


# %% exercise="16.5" role="mutant" why="returns the transposed product as a view"
def product(a: NDArray, b: NDArray) -> NDArray:
    if a.sizes[1] != b.sizes[0]:
        raise ValueError("sizes do not fit")
    rows, columns = a.tolist(), b.transpose(0, 1).tolist()
    result = NDArray.arange(b.sizes[1], a.sizes[0])
    result.storage[:] = [sum(x * y for x, y in zip(row, column, strict=True)) for column in columns for row in rows]
    return result.transpose(0, 1)


# %% exercise="16.5" role="mutant" why="lets the library transpose, and copies the transposed numbers"
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.tensor(product(array_of(x), array_of(y)).tolist())

    @staticmethod
    def backward(ctx, grad):
        (x, y), for_x, for_y = ctx.saved_tensors, None, None
        if ctx.needs_input_grad[0]:
            for_x = torch.tensor(product(array_of(grad), array_of(y.t())).tolist())
        if ctx.needs_input_grad[1]:
            for_y = torch.tensor(product(array_of(x.t()), array_of(grad)).tolist())
        return for_x, for_y


# %% exercise="16.5" role="mutant" why="computes both gradients always"
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.tensor(product(array_of(x), array_of(y)).tolist())

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        gradient = array_of(grad)
        for_x = torch.tensor(product(gradient, array_of(y).transpose(0, 1)).tolist())
        return for_x, torch.tensor(product(array_of(x).transpose(0, 1), gradient).tolist())


# %% exercise="16.5" role="mutant" why="leaves the backward pass to the library"
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.tensor(product(array_of(x), array_of(y)).tolist())

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return (grad @ y.t() if ctx.needs_input_grad[0] else None), (x.t() @ grad if ctx.needs_input_grad[1] else None)


# %% exercise="16.5" role="mutant" why="exchanges the factors of a gradient"
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return torch.tensor(product(array_of(x), array_of(y)).tolist())

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        gradient, for_x, for_y = array_of(grad), None, None
        if ctx.needs_input_grad[0]:
            for_x = torch.tensor(product(array_of(y), gradient.transpose(0, 1)).tolist())
        if ctx.needs_input_grad[1]:
            for_y = torch.tensor(product(gradient.transpose(0, 1), array_of(x)).tolist())
        return for_x, for_y


# %% exercise="16.6" role="mutant" why="a program that fails whatever the library does"
def reproduction() -> str:
    return "import torch\n\nassert torch.__version__ == '0.1'"


# %% exercise="16.6" role="mutant" why="a program that is longer than ten lines"
def reproduction() -> str:
    return "import torch\n" + "x = 1\n" * 10 + "assert x == 2"


# %% exercise="16.6" role="mutant" why="a program that raises another error"
def reproduction() -> str:
    return "import torch\n\nw = torch.zeros(1)\nw.grad.item()\nassert w.item() == 0"


# %% exercise="16.6" role="mutant" why="prints, and asserts nothing"
def reproduction() -> str:
    return """
import torch

w = torch.nn.Parameter(torch.zeros(1))
trained, loaded = (torch.optim.SGD([w], lr=0.1, momentum=0.9) for _ in range(2))
w.grad = torch.ones(1)
trained.step()
loaded.load_state_dict(trained.state_dict())
print(trained.state[w]["momentum_buffer"] is loaded.state[w]["momentum_buffer"])
"""


# %% exercise="16.6" role="mutant" why="copies momentum and means, and shares the step count"
def patch() -> str:
    return """
             if isinstance(value, torch.Tensor):
+                value = value.clone() if key != "step" else value
"""


# %% exercise="16.6" role="mutant" why="casts step to the parameter's dtype"
def patch() -> str:
    return """
             if isinstance(value, torch.Tensor):
+                return value.clone().to(dtype=param.dtype)
"""


# %% exercise="16.6" role="mutant" why="copies a tensor of the state, and not those in lists and dicts"
def patch() -> str:
    return """
             if isinstance(value, torch.Tensor):
+                value = value.clone() if param_groups and key not in (None, "deep") else value
"""


# %% exercise="16.6" role="mutant" why="changes the caller's dict"
def patch() -> str:
    return """
             if isinstance(value, torch.Tensor):
+                value.add_(0 * value.add_(1))
+                value = value.clone()
"""


# %% exercise="16.6" role="mutant" why="a test that compares what has not changed"
def test() -> str:
    return """
import torch

def test_load_state_dict_copies_tensors(self):
    p, q = (torch.nn.Parameter(torch.zeros(2)) for _ in range(2))
    trained, loaded = (torch.optim.Adam([each], lr=0.1) for each in (p, q))
    p.grad = torch.ones(2)
    trained.step()
    loaded.load_state_dict(trained.state_dict())
    self.assertEqual(list(loaded.state[q]), list(trained.state[p]))
"""


# %% exercise="16.6" role="mutant" why="a test of SGD alone"
def test() -> str:
    return """
import torch

def test_load_state_dict_copies_tensors(self):
    p, q = (torch.nn.Parameter(torch.zeros(2)) for _ in range(2))
    trained, loaded = (torch.optim.SGD([each], lr=0.1, momentum=0.9) for each in (p, q))
    p.grad = torch.ones(2)
    trained.step()
    loaded.load_state_dict(trained.state_dict())
    self.assertIsNot(loaded.state[q]["momentum_buffer"], trained.state[p]["momentum_buffer"])
"""


# %% exercise="16.6" role="mutant" why="a test of the step count alone"
def test() -> str:
    return """
import torch

def test_load_state_dict_copies_tensors(self):
    p, q = (torch.nn.Parameter(torch.zeros(2)) for _ in range(2))
    trained, loaded = (torch.optim.Adam([each], lr=0.1, foreach=False) for each in (p, q))
    p.grad = torch.ones(2)
    trained.step()
    loaded.load_state_dict(trained.state_dict())
    self.assertIsNot(loaded.state[q]["step"], trained.state[p]["step"])
"""


# %% exercise="16.6" role="mutant" why="a test without a real step, of momentum that is zero"
def test() -> str:
    return """
import torch

def test_load_state_dict_copies_tensors(self):
    for rule in (torch.optim.SGD, torch.optim.Adam):
        p, q = (torch.nn.Parameter(torch.zeros(2)) for _ in range(2))
        options = {"momentum": 0.9} if rule is torch.optim.SGD else {"foreach": False}
        trained, loaded = (rule([each], lr=0.1, **options) for each in (p, q))
        p.grad = torch.zeros(2)
        trained.step()
        loaded.load_state_dict(trained.state_dict())
        for name, value in trained.state[p].items():
            self.assertTrue(name == "step" or value is not loaded.state[q][name])
"""


# %% exercise="16.6" role="mutant" why="a test that raises where it should assert"
def test() -> str:
    return """
import torch

def test_load_state_dict_copies_tensors(self):
    raise ValueError("tensors are shared")
"""


# %% exercise="16.6" role="mutant" why="a title without the function, and with a full stop"
def pull_request() -> str:
    return """
Fix a bug in the optimizer.

The memory of test_load_state_dict_copies_tensors in torch/optim/optimizer.py. See #106082.
"""


# %% exercise="16.6" role="mutant" why="a title that nobody can read in a list"
def pull_request() -> str:
    return """
Make a copy of each of the tensors of the state in Optimizer.load_state_dict, so that they are not shared

The memory of test_load_state_dict_copies_tensors in torch/optim/optimizer.py. See #106082.
"""


# %% exercise="16.6" role="mutant" why="says nothing of the price"
def pull_request() -> str:
    return """
Copy the tensors of the state in Optimizer.load_state_dict

The state is shared between optimizers. `test_load_state_dict_copies_tensors` shows it. The change is in
torch/optim/optimizer.py and takes back #106082.
"""


# %% exercise="16.6" role="mutant" why="does not name the change that made the copy shallow"
def pull_request() -> str:
    return """
Copy the tensors of the state in Optimizer.load_state_dict

The state is shared between optimizers. `test_load_state_dict_copies_tensors` shows it. The change is in
torch/optim/optimizer.py, and needs the memory of the state once more.
"""


# %% exercise="16.6" role="mutant" why="tells a story"
def pull_request() -> str:
    return (
        """
Copy the tensors of the state in Optimizer.load_state_dict

test_load_state_dict_copies_tensors torch/optim/optimizer.py memory #106082
"""
        + "and then I looked at another file " * 40
    )
