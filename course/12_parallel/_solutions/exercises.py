"""The exercises of chapter 12, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 700 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 12: parallel
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 12.1")` in a cell of its own. Done? `course("check 12")` runs the notebook, as
# last saved, from top to bottom.
#
# The ranks of these exercises are threads, as in the lesson. If your ranks wait for each other, they get an error after
# ten seconds.

# %%
import copy
import sys
import threading
import time
from contextlib import suppress
from unittest import mock

import reftorch as torch
import reftorch.distributed as dist
from course._tools import check, course, stops_in_torch, use_mytorch, write_for_torch
from reftorch import nn
from reftorch.nn.parallel import DistributedDataParallel
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from reftorch.utils.data import DistributedSampler


def on_ranks(ranks, program):
    """Run a function on several ranks, and return the list of its results."""
    return spawn_threads_and_init_comms(program, timeout=10, world_size=ranks)()


# %% [markdown] exercise="12.1" role="task" kind="read" title="what a step sends"
# ## 12.1 Read: what a step sends
#
# ★☆☆, 15 minutes. Whether more ranks make a training quicker depends on the messages that they send. The model and
# three options decide all messages, so you can count them with the help of the source.
#
# `data` has 103 samples, and four ranks use `DistributedSampler(data, ...)`. `model_12_1()` is the model; each rank
# wraps it as `DistributedDataParallel(model, bucket_cap_mb=0.01)` and takes three steps, 0 to 2. Answer with whole
# numbers:
#
# - `"samples of a rank"`: how many indices does each rank get in an epoch?
# - `"samples that come twice"`: how many samples come on two ranks?
# - `"samples of a rank, drop_last"`: how many indices does each rank get with `drop_last=True`?
# - `"all_reduce, step 0"`, `"all_reduce, step 2"`: how many times is `all_reduce` called in the backward of this step?
# - `"numbers, step 2"`: how many numbers does a rank pass to `all_reduce` in this step, in all calls together?
# - `"broadcast, step 2"`: how many times is `broadcast` called in the forward of this step?
#
# The check counts how many of your seven answers are right.


# %% exercise="12.1" role="given"
def model_12_1():
    return nn.Sequential(nn.Linear(100, 50), nn.BatchNorm1d(50), nn.Linear(50, 50), nn.ReLU(), nn.Linear(50, 4))


# %% exercise="12.1" role="answer"
def numbers() -> dict[str, int]:
    """The seven answers, as `{"samples of a rank": ..., ...}`."""
    # BEGIN SOLUTION
    return {
        "samples of a rank": 26,
        "samples that come twice": 1,
        "samples of a rank, drop_last": 25,
        "all_reduce, step 0": 1,
        "all_reduce, step 2": 2,
        "numbers, step 2": 7904,
        "broadcast, step 2": 2,
    }
    # END SOLUTION


# %% exercise="12.1" role="check"
def counted_steps():
    """For each step, the sizes of the tensors that rank 0 of two passes to all_reduce, and to broadcast."""
    c10d, sizes = dist.distributed_c10d, []

    def noting(name):
        real = getattr(c10d, name)

        def call(tensor, *args, **kwargs):
            sizes[-1][name] += [tensor.numel()] * (dist.get_rank() == 0)
            return real(tensor, *args, **kwargs)

        return mock.patch.object(c10d, name, call)

    def training():
        parallel = DistributedDataParallel(model_12_1(), bucket_cap_mb=0.01)
        for _ in range(3):
            dist.barrier()
            sizes.extend([{"all_reduce": [], "broadcast": []}] * (dist.get_rank() == 0))
            dist.barrier()
            parallel(torch.ones(4, 100)).sum().backward()
            dist.barrier()

    sizes.append({"all_reduce": [], "broadcast": []})  # of the constructor
    with noting("all_reduce"), noting("broadcast"):
        on_ranks(2, training)
    return sizes[1:]


with check("12.1", "what a step sends") as c:
    answered = numbers()
    shares = [list(DistributedSampler(range(103), num_replicas=4, rank=rank)) for rank in range(4)]
    dropped = DistributedSampler(range(103), num_replicas=4, rank=0, drop_last=True)
    steps = counted_steps()
    truth = {
        "samples of a rank": len(shares[0]),
        "samples that come twice": sum(map(len, shares)) - 103,
        "samples of a rank, drop_last": len(list(dropped)),
        "all_reduce, step 0": len(steps[0]["all_reduce"]),
        "all_reduce, step 2": len(steps[2]["all_reduce"]),
        "numbers, step 2": sum(steps[2]["all_reduce"]),
        "broadcast, step 2": len(steps[2]["broadcast"]),
    }
    look = "`DistributedSampler.__init__`, `_compute_bucket_assignment_by_size`, `_broadcast_coalesced`."
    c.answers("the seven numbers", came=answered, truth=truth, look=look)

# %% [markdown] exercise="12.1" role="debrief"
# **In PyTorch** the numbers are the same. The two broadcasts carry the buffers of the batch norm: one message for
# float32, and one for the int64 counter of batches. A model without buffers sends none. The price of the second
# bucket is the latency of one more message; its gain is that the first bucket is sent while backward still runs.

# %% [markdown] exercise="12.1" role="hint"
# 0.01 MB are 10,485 bytes, and a float32 has four. The gradients arrive from the last layer to the first one. A
# bucket is full when it has reached its limit, so it may be larger than the limit.

# %% [markdown] exercise="12.1" role="hint"
# `show_source("_broadcast_coalesced in distributed/_reducer.py")`: tensors of the same dtype are sent together. Which
# dtypes have the buffers of a batch norm?


# %% [markdown] exercise="12.2" role="task" kind="build" title="data parallel from hooks"
# ## 12.2 Build: data parallel from hooks
#
# ★★☆, 40 minutes. Write the core of `DistributedDataParallel`, without buckets: one message for each parameter, which
# is sent while backward still runs.
#
# - `Parallel(module)` is a module. When it is made, the parameters and buffers of rank 0 are copied to all ranks.
# - Calling it calls the module with the same arguments.
# - In `backward()`, the `dist.all_reduce` of a parameter's gradient starts as soon as this gradient is complete, and
#   the hook does not wait until it is done (`async_op=True` returns an object with a method `wait`).
# - `finish()`, which is called after `backward()`, waits for all these calls. Then `.grad` of each parameter is the
#   average over the ranks.
# - A parameter that requires no gradient is sent only at the start.
# - This holds for any number of steps, each with `zero_grad`, forward, backward, `finish()`, and a step of an
#   optimizer.
#
# `parameter.register_post_accumulate_grad_hook(hook)` calls `hook(parameter)` when `.grad` is complete.


# %% exercise="12.2" role="answer"
class Parallel(nn.Module):
    def __init__(self, module):
        super().__init__()
        # BEGIN SOLUTION
        self.module, self.under_way = module, []
        for tensor in (*module.parameters(), *module.buffers()):
            dist.broadcast(tensor.detach(), src=0)
        for parameter in module.parameters():
            if parameter.requires_grad:
                parameter.register_post_accumulate_grad_hook(self.send)
        # END SOLUTION

    def forward(self, *args):
        # BEGIN SOLUTION
        return self.module(*args)

    def send(self, parameter):
        parameter.grad /= dist.get_world_size()
        self.under_way.append(dist.all_reduce(parameter.grad, async_op=True))
        # END SOLUTION

    def finish(self):
        # BEGIN SOLUTION
        for work in self.under_way:
            work.wait()
        self.under_way.clear()
        # END SOLUTION


# %% exercise="12.2" role="check"
torch.manual_seed(12)
models = [nn.Sequential(nn.Linear(6, 5), nn.BatchNorm1d(5), nn.Tanh(), nn.Linear(5, 3)) for _ in range(2)]
models[1][1].running_mean += 7
samples, classes = torch.randn(12, 6), torch.arange(12) % 3


def trained(kind, finish, freeze=False):
    """The losses, and the parameters and buffers, of a rank after three steps of a training."""
    rank = dist.get_rank()
    model = copy.deepcopy(models[rank])
    model[0].bias.requires_grad_(not freeze)
    parallel = kind(model)
    begun = [each.detach().clone() for each in (*model.parameters(), *model.buffers())]
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
    mine, gradients = slice(6 * rank, 6 * rank + 6), []
    for _ in range(3):
        optimizer.zero_grad()
        nn.functional.cross_entropy(parallel(samples[mine]), classes[mine]).backward()
        finish(parallel)
        gradients.append([p.grad.clone() for p in model.parameters() if p.requires_grad])
        optimizer.step()
    return begun, gradients, [p.detach() for p in model.parameters()]


def order_of_events():
    """What happens in one backward of rank 0, in order: gradients that arrive, and calls of all_reduce."""
    events, real = [], dist.all_reduce

    def noting(tensor, *args, **kwargs):
        work = real(tensor, *args, **kwargs)
        events.extend([("sent", work is not None)] * (dist.get_rank() == 0))
        return work

    def program():
        parallel = Parallel(nn.Sequential(nn.Linear(6, 5, bias=False), nn.Linear(5, 3, bias=False)))
        entry = torch.ones(2, 6, requires_grad=True)
        entry.register_hook(lambda _: events.extend([("the first layer is done",)] * (dist.get_rank() == 0)))
        parallel(entry).sum().backward()
        parallel.finish()

    with mock.patch.object(dist, "all_reduce", noting):
        on_ranks(2, program)
    return events


with check("12.2", "data parallel from hooks") as c:
    case = c.case("two ranks that begin with different weights and buffers")
    came = on_ranks(2, lambda: trained(Parallel, lambda parallel: parallel.finish()))
    expected = on_ranks(2, lambda: trained(DistributedDataParallel, lambda parallel: None))
    for rank in (0, 1):
        for ours, theirs in zip(came[rank][0], expected[0][0], strict=True):
            c.close(f"{case}: a parameter or buffer of rank {rank} at the start", came=ours, expected=theirs)
        for step in range(3):
            for ours, theirs in zip(came[rank][1][step], expected[rank][1][step], strict=True):
                c.close(f"{case}: a gradient of rank {rank} in step {step}", came=ours, expected=theirs)
        for ours, theirs in zip(came[rank][2], expected[rank][2], strict=True):
            c.close(f"{case}: a parameter of rank {rank} after three steps", came=ours, expected=theirs)
    case = c.case("a bias that requires no gradient")
    came = on_ranks(2, lambda: trained(Parallel, lambda parallel: parallel.finish(), freeze=True))
    c.equal(f"{case}: the bias of rank 1", came=came[1][2][1].tolist(), expected=models[0][0].bias.tolist())
    c.equal(f"{case}: gradients of a step", came=len(came[0][1][0]), expected=5)
    case = c.case("what happens in backward, on rank 0")
    events = order_of_events()
    c.equal(f"{case}: messages", came=sum(event[0] == "sent" for event in events), expected=2)
    c.true(
        f"{case}: the gradient of the second layer is sent first",
        events[0][0] == "sent",
        came="nothing was sent before the first layer was done",
        expected="a message that leaves before the gradient of the first layer is there",
    )
    c.true(
        f"{case}: no call waits in backward",
        all(event[1] for event in events if event[0] == "sent"),
        came="a call of all_reduce that returned when it was done",
        expected="calls with async_op=True, and finish() that waits",
    )

# %% [markdown] exercise="12.2" role="debrief"
# **In PyTorch** `DistributedDataParallel` does two things more. It fills buckets, because a model has hundreds of small
# parameters, and each message costs its latency. And the engine calls it at the end of backward (`queue_callback`), so
# that nobody has to remember `finish()`. The price: a bucket waits for all its parameters, so a parameter that gets no
# gradient must be found beforehand (`find_unused_parameters`), or the next step raises an error.

# %% [markdown] exercise="12.2" role="hint"
# Keep what `dist.all_reduce(..., async_op=True)` returns in a list. `finish()` calls `wait()` on each, and empties the
# list for the next step.

# %% [markdown] exercise="12.2" role="hint"
# `dist.broadcast(tensor, src=0)` writes into the tensor. A parameter that requires a gradient refuses to be written
# into: give `parameter.detach()`, which is the same memory. Divide the gradient before you send it, or after you have
# waited.


# %% [markdown] exercise="12.3" role="task" kind="read" title="name the line from two stacks"
# ## 12.3 Read: name the line from two stacks
#
# ★★☆, 20 minutes. A training on two ranks hangs. Somebody has taken the stacks of both ranks, and this is all
# you get: the next cell prints the program, with line numbers, and the two stacks, the outermost call first.
#
# - `"if"`: the number of the line in `train` with the `if` at which the ranks took different ways.
# - `"step of rank 0"`, `"step of rank 1"`: in which step is each rank?
# - `"who takes the if"`: the rank for which the condition of this `if` is true.
# - `"rank 0 calls next"`: if you let rank 0 go on without waiting, which function of `dist` does it call next?
#
# The check counts how many of your five answers are right. You may change the program and run it again, but there is no
# need to.


# %% exercise="12.3" role="given"
PROGRAM = """\
def average(gradient):
    dist.all_reduce(gradient)
    return gradient / dist.get_world_size()


def share_the_best(weights):
    if dist.get_rank() == 0:
        dist.send(weights, dst=1)
    else:
        dist.recv(weights, src=0)


def train(losses):
    weights, best = torch.zeros(2), 9.0
    for step, loss in enumerate(losses):
        if step % 2 == 1:
            weights -= average(torch.ones(2))
        if loss < best / 2:
            best = loss
            share_the_best(weights)
    dist.barrier()


train([4.0, 3.5, 3.0, 0.5] if dist.get_rank() == 0 else [4.0, 1.5, 0.7, 0.6])
"""


def stand_still(note=lambda frame, event, argument: None):
    """Run PROGRAM on two ranks until both wait for each other; return the frames of each rank, outermost first."""
    groups, frames, names = [], {}, {"dist": dist, "torch": torch}

    def program():
        groups.append(dist.group.WORLD)
        sys.settrace(lambda frame, event, argument: note if frame.f_code.co_filename == "program.py" else None)
        exec(compile(PROGRAM, "program.py", "exec"), dict(names))

    def start():
        with suppress(dist.DistBackendError):
            spawn_threads_and_init_comms(program, world_size=2)()

    starter = threading.Thread(target=start)
    starter.start()
    while starter.is_alive() and {each[-1] for each in frames.values()} != {"all_reduce", "recv"}:
        time.sleep(0.05)
        frames = {}
        for thread in [each for each in threading.enumerate() if each.name in ("rank 0", "rank 1")]:
            frame, stack = sys._current_frames().get(thread.ident), []
            while frame is not None and frame.f_code.co_filename != "program.py":
                stack, frame = [frame.f_code.co_name], frame.f_back
            while frame is not None and frame.f_code.co_filename == "program.py":
                stack.insert(0, (frame.f_lineno, frame.f_code.co_name, dict(frame.f_locals)))
                frame = frame.f_back
            frames[thread.name] = stack or [None]
    for group in groups:
        group.abort()
    starter.join()
    return frames


for number, line in enumerate(PROGRAM.splitlines(), start=1):
    print(f"{number:2} {line}")
for name, stack in sorted(stand_still().items()):
    print(name, *(f"line {number:2} in {function}" for number, function, _ in stack[:-1]), stack[-1], sep="\n    ")


# %% exercise="12.3" role="answer"
def desync() -> dict[str, int | str]:
    """The five answers, as `{"if": ..., ...}`."""
    # BEGIN SOLUTION
    return {
        "if": 18,
        "step of rank 0": 3,
        "step of rank 1": 1,
        "who takes the if": 1,
        "rank 0 calls next": "send",
    }
    # END SOLUTION


# %% exercise="12.3" role="check"
with check("12.3", "name the line from two stacks") as c:
    answered = desync()
    lines = {"rank 0": [], "rank 1": []}

    def note(frame, event, argument):
        lines[threading.current_thread().name] += [frame.f_lineno] * (frame.f_code.co_name == "train")
        return note

    frames = stand_still(note)
    parted = next(i for i, pair in enumerate(zip(*lines.values(), strict=False)) if len(set(pair)) == 2)
    text = PROGRAM.splitlines()
    steps = {name: stack[1][2]["step"] for name, stack in frames.items()}
    loss, best = (frames["rank 0"][1][2][name] for name in ("loss", "best"))
    c.true(
        "the program still parts at an `if`", " if " in text[lines["rank 0"][parted - 1] - 1], came="no", expected="yes"
    )
    truth = {
        "if": lines["rank 0"][parted - 1],
        "step of rank 0": steps["rank 0"],
        "step of rank 1": steps["rank 1"],
        "who takes the if": [lines[name][parted] for name in ("rank 0", "rank 1")].index(19),
        "rank 0 calls next": ["barrier", "send"][loss < best / 2],
    }
    look = "Walk through `train` once with each list of losses, and note the line after each `if`."
    c.answers("the five answers", came=answered, truth=truth, look=look)

# %% [markdown] exercise="12.3" role="debrief"
# **In PyTorch** the stacks come from `py-spy dump --pid` of each process, from a debugger, or, with NCCL, from its
# flight recorder, which writes the last calls of every rank. Here `rank_stacks()` of the lesson prints them. Then you
# read the stacks from the bottom to the first line that differs. Before this line there is an `if` that is true on one
# rank and false on another, because its condition uses a number that only one rank has. The repair costs one more
# `all_reduce`: every rank must compute the condition from a number that all ranks share.

# %% [markdown] exercise="12.3" role="hint"
# The frame of `train` is at a different line on each rank. Rank 1 has gone past the `if` that rank 0 has not taken.
# In which step can rank 0 be, so that it waits in the line of `average`? Rank 0 has passed this line once before.

# %% [markdown] exercise="12.3" role="hint"
# `best` begins with 9.0, so both ranks take the `if` in step 0, with 4.0. In step 1, rank 0 compares 3.5 with 2.0, and
# rank 1 compares 1.5 with 2.0. Both were in `average` in this step, so nothing was wrong until then.


# %% [markdown] exercise="12.4" role="task" kind="fix" title="an accuracy that is too high"
# ## 12.4 Fix: an accuracy that is too high
#
# ★★☆, 25 minutes. Four ranks evaluate a model on five samples, and report 75 percent: six right of eight. In one
# process the same model has three right of five, which are 60 percent. The sampler repeats samples, which is wrong
# for an evaluation. `BrokenSampler` is the sampler of that program. Write a sampler that is right:
#
# - `FairSampler(dataset, num_replicas, rank, shuffle=False, seed=0)` yields each index exactly once over all ranks
#   together, for any number of samples, including 0 samples and fewer samples than ranks;
# - the shares of two ranks differ by one index at most, and `len(sampler)` is the length of this rank's share;
# - rank 0 takes the places 0, `num_replicas`, `2 * num_replicas` and so on of the order, rank 1 begins at place 1, as
#   in `DistributedSampler`;
# - with `shuffle=True` the order is the order of `DistributedSampler`: it depends on `seed` plus the epoch.
#   `set_epoch(epoch)` sets the epoch, which is 0 at first.


# %% exercise="12.4" role="given"
class BrokenSampler(DistributedSampler):
    def __init__(self, dataset, num_replicas, rank, shuffle=False, seed=0):
        super().__init__(dataset, num_replicas, rank, shuffle, seed)


right = [True, True, True, False, False]
counted = [right[index] for rank in range(4) for index in BrokenSampler(range(5), 4, rank)]
print(f"four ranks: {sum(counted)} of {len(counted)} right, one process: {sum(right)} of {len(right)} right")


# %% exercise="12.4" role="answer"
class FairSampler:
    def __init__(self, dataset, num_replicas, rank, shuffle=False, seed=0):
        # BEGIN SOLUTION
        self.total, self.num_replicas, self.rank = len(dataset), num_replicas, rank
        self.shuffle, self.seed, self.epoch = shuffle, seed, 0
        # END SOLUTION

    def __iter__(self):
        # BEGIN SOLUTION
        order = list(range(self.total))
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = torch.randperm(self.total, generator=generator).tolist()
        return iter(order[self.rank :: self.num_replicas])
        # END SOLUTION

    def __len__(self):
        # BEGIN SOLUTION
        return len(range(self.rank, self.total, self.num_replicas))
        # END SOLUTION

    def set_epoch(self, epoch):
        # BEGIN SOLUTION
        self.epoch = epoch
        # END SOLUTION


# %% exercise="12.4" role="check"
def shares_of(samples, ranks, epoch=0, **options):
    samplers = [FairSampler(range(samples), ranks, rank, **options) for rank in range(ranks)]
    for sampler in [each for each in samplers if epoch]:
        sampler.set_epoch(epoch)
    shares = [list(sampler) for sampler in samplers]
    c.equal(
        "the lengths that the samplers give", came=[len(each) for each in samplers], expected=list(map(len, shares))
    )
    return shares


with check("12.4", "an accuracy that is too high") as c:
    for samples, ranks in ((5, 4), (8, 4), (61, 2), (2, 4), (0, 3), (7, 1)):
        for shuffle in (False, True):
            case = c.case(f"{samples} samples, {ranks} ranks, shuffle={shuffle}")
            shares = shares_of(samples, ranks, shuffle=shuffle)
            indices = sorted(index for share in shares for index in share)
            c.equal(f"{case}: all indices, sorted", came=indices, expected=list(range(samples)))
            uneven = max(map(len, shares)) - min(map(len, shares)) > 1
            c.equal(f"{case}: two shares differ by more than 1", came=uneven, expected=False)
    case = c.case("5 samples, 2 ranks")
    c.equal(f"{case}: the shares", came=shares_of(5, 2), expected=[[0, 2, 4], [1, 3]])
    for epoch, seed in ((0, 0), (3, 0), (0, 3), (2, 5)):
        case = c.case(f"8 samples, 2 ranks, shuffled, epoch {epoch}, seed {seed}")
        library = [DistributedSampler(range(8), 2, rank, seed=seed) for rank in range(2)]
        for sampler in library:
            sampler.set_epoch(epoch)
        came = shares_of(8, 2, epoch, shuffle=True, seed=seed)
        c.equal(f"{case}: the shares", came=came, expected=[list(sampler) for sampler in library])

# %% [markdown] exercise="12.4" role="debrief"
# **In PyTorch** there is no such sampler, because shares of different lengths are dangerous in training: a rank that
# has one batch less calls the collectives less often, and the other ranks wait. For an evaluation without collectives
# in the loop, such a sampler is right: add the numbers of right answers and of samples with one `all_reduce` after
# the loop. For training with uneven shares there is `DistributedDataParallel.join`.

# %% [markdown] exercise="12.4" role="hint"
# Without padding you need not compute any length: a slice with a step takes the indices that exist.

# %% [markdown] exercise="12.4" role="hint"
# `len(range(rank, total, num_replicas))` counts the places. `DistributedSampler.__iter__` shows how the order is drawn.


# %% [markdown] exercise="12.5" role="task" kind="build" title="a loss for unequal parts"
# ## 12.5 Build: a loss for unequal parts
#
# ★★★, 30 minutes. Write the loss that the lesson's `train.py` should have used. `targets` of -100 mark samples without
# a label.
#
# - `whole_mean(logits, targets)` is called on all ranks, each with its part, and returns a loss for this rank.
# - If the gradients of these losses are averaged over the ranks, as `DistributedDataParallel` does, the result is the
#   gradient of the mean `cross_entropy` over all labelled samples of all ranks.
# - The average of the returned losses over the ranks is that mean.
# - A rank may have no labelled sample. Then its loss is 0, its gradients are zeros, and nothing is nan.
# - If no rank has a labelled sample, each loss is 0.


# %% exercise="12.5" role="answer"
def whole_mean(logits, targets):
    # BEGIN SOLUTION
    count = (targets != -100).sum()
    dist.all_reduce(count)
    total = nn.functional.cross_entropy(logits, targets, reduction="sum")
    return total / count.clamp(min=1) * dist.get_world_size()
    # END SOLUTION


# %% exercise="12.5" role="check"
def gradients_of(parts, labels):
    """The mean loss and the gradient that two or more ranks get, and those that one process gets."""
    torch.manual_seed(5)
    layer, samples = nn.Linear(3, 4), torch.randn(len(labels), 3)
    ends = [sum(parts[: rank + 1]) for rank in range(len(parts))]

    def program():
        rank, model = dist.get_rank(), copy.deepcopy(layer)
        mine = slice(ends[rank] - parts[rank], ends[rank])
        parallel = DistributedDataParallel(model)
        loss = whole_mean(parallel(samples[mine]), labels[mine])
        loss.backward()
        return loss.detach(), model.weight.grad

    answers = on_ranks(len(parts), program)
    total = nn.functional.cross_entropy(layer(samples), labels, reduction="sum") / max((labels != -100).sum().item(), 1)
    total.backward()
    return sum(loss for loss, _ in answers) / len(parts), answers[0][1], total.detach(), layer.weight.grad, answers


with check("12.5", "a loss for unequal parts") as c:
    for case, parts, labels in (
        ("parts of 4 and 4, all labelled", (4, 4), [0, 1, 2, 3, 0, 1, 2, 3]),
        ("parts of 6 and 2", (6, 2), [0, 1, 2, 3, 0, 1, 2, 3]),
        ("12 and 4 labels", (12, 12), [0, 1, 2, 3] * 3 + [-100, 1, -100, -100] * 2 + [2, -100, -100, 3]),
        ("three ranks, one without a label", (3, 3, 2), [0, 1, -100, -100, -100, -100, 2, 3]),
    ):
        c.case(case)
        mean, gradient, expected, whole, _ = gradients_of(parts, torch.tensor(labels))
        c.close(f"{case}: the gradient", came=gradient, expected=whole)
        c.close(f"{case}: the average of the losses", came=mean, expected=expected)
    c.case("no label anywhere")
    _, gradient, _, _, answers = gradients_of((2, 2), torch.tensor([-100] * 4))
    c.equal("no label anywhere: the losses", came=[loss.item() for loss, _ in answers], expected=[0.0, 0.0])
    c.equal("no label anywhere: the gradient", came=gradient.abs().sum().item(), expected=0.0)

# %% [markdown] exercise="12.5" role="debrief"
# **In PyTorch** no loss does this for you. Trainers of language models count the tokens of all ranks before the step,
# as you did, because sentences have different lengths. You can make the same mistake in *gradient accumulation*: the
# mean of the means of several small batches is not the mean of all tokens. The price is one more message in each
# step, of one number.

# %% [markdown] exercise="12.5" role="hint"
# By which number must all ranks divide? And the average over the ranks divides once more: by which number?

# %% [markdown] exercise="12.5" role="hint"
# `cross_entropy(..., reduction="sum")` of a part without labels is 0, and its gradient consists of zeros. The mean of
# such a part is nan, and nan times 0 is nan.


# %% [markdown] exercise="12.6" role="task" kind="read" title="in PyTorch: the first buckets"
# ## 12.6 Read, in PyTorch: the first buckets
#
# ★★☆, 20 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# `IN_TORCH` makes a group of one rank, and a `DistributedDataParallel`. Stop in `_ddp_init_helper` of
# `torch/nn/parallel/distributed.py`, before the line `self.logger = dist.Logger(self.reducer)`. Return:
#
# - `"bucket_indices"`: the value of this variable, a list of lists;
# - `"reduced first"`: the first bucket that the reducer gets, as a list of the numbers of its parameters;
# - `"first limit"`: the first number of `bucket_size_limits`;
# - `"name of parameter 4"`: the name in `param_to_name_mapping`.


# %% exercise="12.6" role="given"
IN_TORCH = """\
import torch
import torch.distributed as dist
from torch import nn

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.Linear(16, 16), nn.Linear(16, 2))
nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.0006, find_unused_parameters=True)
dist.destroy_process_group()
"""
print(write_for_torch(IN_TORCH, "in_torch_12_6.py"))


# %% exercise="12.6" role="answer"
def first_buckets() -> dict[str, list | int | str]:
    # BEGIN SOLUTION
    return {
        "bucket_indices": [[0, 1, 2], [3, 4], [5, 6, 7]],
        "reduced first": [5, 6, 7],
        "first limit": 629,
        "name of parameter 4": "2.weight",
    }
    # END SOLUTION


# %% exercise="12.6" role="check"
with check("12.6", "the first buckets") as c:
    answered = first_buckets()
    asked = ["bucket_indices", "list(reversed(bucket_indices))[0]", "bucket_size_limits[0]", "param_to_name_mapping[4]"]
    file, place = "torch/nn/parallel/distributed.py", "DistributedDataParallel._ddp_init_helper"
    (stop,) = stops_in_torch(IN_TORCH, file, place, "self.logger = dist.Logger(self.reducer)", asked)
    indices, first, limit, name = (eval(value) for value in stop.values())
    truth = {"bucket_indices": indices, "reduced first": first, "first limit": limit, "name of parameter 4": name}
    look = "`break torch/nn/parallel/distributed.py:NUMBER`, then `p` with the name of each variable."
    c.answers("the first buckets", came=answered, truth=truth, look=look)

# %% [markdown] exercise="12.6" role="debrief"
# **In PyTorch** the buckets are made in the order of the parameters, and passed to the reducer in reverse order.
# Without `find_unused_parameters` the first limit is the largest possible number, so there is one bucket. After the
# first step PyTorch makes the real buckets, in the order in which the gradients came. With the search for unused
# parameters the order could differ from step to step, so the buckets of the constructor are kept.

# %% [markdown] exercise="12.6" role="hint"
# `longlist` at a stop in the function shows its lines with their numbers. The call of `dist.Reducer` is one statement
# of many lines: its second argument is `list(reversed(bucket_indices))`.

# %% [markdown] exercise="12.6" role="hint"
# `python -m pdb in_torch_12_6.py`, then `break torch/nn/parallel/distributed.py:NUMBER`, `continue`, `p
# bucket_indices`.


# %% [markdown] exercise="12.7" role="task" kind="build" title="an optimizer whose state is sharded"
# ## 12.7 Project: an optimizer whose state is sharded
#
# ★★★, an evening. Adam keeps two numbers for each element of a parameter, and every rank keeps the same numbers. With
# eight ranks, seven of eight copies are wasted. Write an optimizer whose state is divided: each rank keeps a share:
#
# - `Sharded(params, optimizer_class, **defaults)` wraps any optimizer class. `params` is a list of parameters, which
#   are equal on all ranks, and every rank makes such an object.
# - `shares` is a list with a sorted list for each rank: the numbers of its parameters (their places in `params`). All
#   ranks have the same `shares`. The parameters are dealt out from the largest to the smallest, by their number of
#   elements (if two have the same size, the earlier one first). Each goes to the rank that has the fewest elements so
#   far (if there are two such ranks, to the lower one).
# - A rank keeps state for the parameters of its own share only. `local` is its optimizer, an `optimizer_class` for
#   these parameters, or None if the share is empty.
# - `zero_grad()` sets the gradients of *all* parameters to None.
# - `step()`: each rank updates its share, and sends it to all others. Afterwards all ranks have the same parameters,
#   and these are equal to the parameters that a single `optimizer_class(params, **defaults)` would have after its
#   step. In one step `dist.broadcast` is called at most once for each rank.
# - A parameter whose gradient is None stays as it is.
# - `full_state()`, called on all ranks, returns on each rank the state dict of the whole optimizer. An
#   `optimizer_class(params, **defaults)` that loads this dict continues as if it had made all steps itself.
#
# The gradients are averaged already, as after a backward of `DistributedDataParallel`.
#
# One case of the check shards an optimizer of your own: the `Lion` of exercise 09.6, from your package
# `course/work/mytorch`. If you have not written it, the next cell takes the course's.


# %% exercise="12.7" role="given"
use_mytorch("lion", fill=True)

# %% exercise="12.7" role="given"
from mytorch.lion import Lion


# %% exercise="12.7" role="answer"
class Sharded:
    def __init__(self, params, optimizer_class, **defaults):
        # BEGIN SOLUTION
        self.params = list(params)
        ranks = dist.get_world_size()
        self.shares, sizes = [[] for _ in range(ranks)], [0] * ranks
        for index in sorted(range(len(self.params)), key=lambda index: -self.params[index].numel()):
            rank = sizes.index(min(sizes))
            self.shares[rank].append(index)
            sizes[rank] += self.params[index].numel()
        self.shares = [sorted(share) for share in self.shares]
        self.mine = self.shares[dist.get_rank()]
        self.local = optimizer_class([self.params[index] for index in self.mine], **defaults) if self.mine else None
        # END SOLUTION

    def zero_grad(self):
        # BEGIN SOLUTION
        for parameter in self.params:
            parameter.grad = None
        # END SOLUTION

    def step(self):
        # BEGIN SOLUTION
        if self.local is not None:
            self.local.step()
        with torch.no_grad():
            for rank, share in enumerate(self.shares):
                if share:
                    flat = torch.cat([self.params[index].flatten() for index in share])
                    dist.broadcast(flat, src=rank)
                    parts = flat.split([self.params[index].numel() for index in share])
                    for index, part in zip(share, parts, strict=True):
                        self.params[index].copy_(part.view_as(self.params[index]))
        # END SOLUTION

    def full_state(self):
        # BEGIN SOLUTION
        states = [None] * dist.get_world_size()
        dist.all_gather_object(states, self.local.state_dict() if self.local is not None else None)
        whole = {}
        for share, state in zip(self.shares, states, strict=True):
            if state is not None:
                whole |= {share[place]: value for place, value in state["state"].items()}
                groups = state["param_groups"]
        return {"state": whole, "param_groups": [{**groups[0], "params": list(range(len(self.params)))}]}
        # END SOLUTION


# %% exercise="12.7" role="check"
def parameters_of(sizes):
    torch.manual_seed(3)
    return [nn.Parameter(torch.randn(*size)) for size in sizes]


def give_gradients(params, step, without=()):
    torch.manual_seed(100 + step)
    for index, parameter in enumerate(params):
        gradient = torch.randn(*parameter.shape)
        parameter.grad = None if index in without else gradient


def sharded_run(ranks, sizes, kind, steps, without=(), **defaults):
    """The results of each rank after some steps (parameters, shares, places with state, full state), and broadcasts."""
    calls, real = [], dist.broadcast

    def noting(tensor, *args, **kwargs):
        calls.append(dist.get_rank())
        return real(tensor, *args, **kwargs)

    def program():
        params = parameters_of(sizes)
        optimizer = Sharded(params, kind, **defaults)
        for step in range(steps):
            optimizer.zero_grad()
            cleared = all(parameter.grad is None for parameter in params)
            give_gradients(params, step, without)
            optimizer.step()
        held = [] if optimizer.local is None else list(optimizer.local.state)
        places = sorted(index for index, parameter in enumerate(params) if any(parameter is each for each in held))
        return [each.detach() for each in params], optimizer.shares, places, cleared, optimizer.full_state()

    with mock.patch.object(dist, "broadcast", noting):
        return on_ranks(ranks, program), calls.count(0)


def whole_run(sizes, kind, steps, without=(), state=None, begin=0, params=None, **defaults):
    params = parameters_of(sizes) if params is None else params
    optimizer = kind(params, **defaults)
    for each in [state] * (state is not None):
        optimizer.load_state_dict(each)
    for step in range(begin, begin + steps):
        give_gradients(params, step, without)
        optimizer.step()
    return [each.detach() for each in params]


SIZES = [(4, 3), (3,), (3, 5), (5,), (2, 2)]
with check("12.7", "an optimizer whose state is sharded") as c:
    for case, ranks, sizes, kind, defaults in (
        ("two ranks, Adam", 2, SIZES, torch.optim.Adam, {"lr": 0.1}),
        ("three ranks, SGD with momentum", 3, SIZES, torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
        ("two ranks, your Lion", 2, SIZES, Lion, {"lr": 0.1, "weight_decay": 0.1}),
        ("three ranks, two parameters", 3, [(2,), (3,)], torch.optim.Adam, {"lr": 0.1}),
        ("one rank", 1, SIZES, torch.optim.Adam, {"lr": 0.1}),
    ):
        c.case(case)
        answers, calls = sharded_run(ranks, sizes, kind, 3, **defaults)
        expected = whole_run(sizes, kind, 3, **defaults)
        for rank, (params, shares, places, cleared, _) in enumerate(answers):
            c.equal(f"{case}: shares on rank {rank}", came=shares, expected=answers[0][1])
            c.equal(f"{case}: all gradients are None after zero_grad, rank {rank}", came=cleared, expected=True)
            for index, (ours, theirs) in enumerate(zip(params, expected, strict=True)):
                c.close(f"{case}: parameter {index} of rank {rank}", came=ours, expected=theirs, rtol=0, atol=0)
            c.equal(f"{case}: parameters with state on rank {rank}", came=places, expected=shares[rank])
        c.true(
            f"{case}: broadcasts of a step",
            calls <= 3 * ranks,
            came=f"{calls} in 3 steps on {ranks} ranks",
            expected="one for each rank in a step, at most",
        )
        for rank, (params, _, _, _, state) in enumerate(answers):
            copies = [nn.Parameter(each.clone()) for each in params]
            came = whole_run(sizes, kind, 2, state=state, begin=3, params=copies, **defaults)
            for ours, theirs in zip(came, whole_run(sizes, kind, 5, **defaults), strict=True):
                what = f"{case}: two steps with the full state of rank {rank}"
                c.close(what, came=ours, expected=theirs, rtol=0, atol=0)
    c.case("the shares of parameters with 12, 3, 15, 5 and 4 elements on two ranks")
    answers, _ = sharded_run(2, SIZES, torch.optim.SGD, 1, lr=0.1)
    c.equal("12, 3, 15, 5 and 4 elements on two ranks", came=answers[0][1], expected=[[2, 4], [0, 1, 3]])
    c.case("the shares of three equal parameters on three ranks")
    answers, _ = sharded_run(3, [(2, 2), (4,), (4,)], torch.optim.SGD, 1, lr=0.1)
    c.equal("three equal parameters on three ranks", came=answers[0][1], expected=[[0], [1], [2]])
    case = c.case("parameters 1 and 2 have no gradient, with weight decay")
    options = {"without": (1, 2), "lr": 0.1, "weight_decay": 0.1}
    answers, _ = sharded_run(2, SIZES, torch.optim.Adam, 2, **options)
    expected = whole_run(SIZES, torch.optim.Adam, 2, **options)
    for rank in (0, 1):
        for ours, theirs in zip(answers[rank][0], expected, strict=True):
            c.close(f"{case}: a parameter of rank {rank}", came=ours, expected=theirs, rtol=0, atol=0)

# %% [markdown] exercise="12.7" role="debrief"
# **In PyTorch** this is `ZeroRedundancyOptimizer`, the first stage of *ZeRO*. Its `consolidate_state_dict` collects
# the state on one rank, because a large model's state would not fit on all of them. The second stage shards the
# gradients, too: each rank reduces only its share (`reduce_scatter` instead of `all_reduce`). The third stage shards
# the parameters: `fully_shard` gathers those of a layer just before its forward, and drops them after it. Each stage
# saves memory, and the price of the third stage is additional messages in forward.

# %% [markdown] exercise="12.7" role="hint"
# Assign the parameters to the ranks in the constructor, before you make the optimizer. `sorted(range(n), key=lambda
# i: -params[i].numel())` keeps the earlier one of two equal sizes first, because `sorted` is stable.

# %% [markdown] exercise="12.7" role="hint"
# One message for a share: `torch.cat` of the flattened parameters, `dist.broadcast(flat, src=rank)`, and `split` on all
# ranks. All ranks must call `broadcast` equally often and in the same order, including ranks whose share is empty.

# %% [markdown] exercise="12.7" role="hint"
# The state dict of `local` counts its parameters from 0. `shares` says which number each of them has in `params`.
# `dist.all_gather_object(list_of_none, mine)` gives every rank the state dicts of all.
