"""The exercises of chapter 15, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is more than 500 lines long, because an exercise is one piece. The kernels, 15.8 to 15.11, are in
exercises_kernels.py.
"""

# %% [markdown]
# # Exercises 15: CUDA
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 15.1")` in a cell of its own. Done? `course("check 15")` runs the notebook,
# as last saved, from top to bottom.
#
# The devices are simulated, as in the lesson. `busy(n)` keeps the current stream busy for about `n` milliseconds, and
# the call itself returns at once.

# %%
import os

os.environ["REFTORCH_CUDA_SIM"] = "2"  # before the import: two simulated devices

import json
import time
from contextlib import suppress
from pathlib import Path
from unittest import mock

import reftorch as torch
from course._tools import check, course, stops_in_torch, write_for_torch


def busy(milliseconds):
    """Keep the current stream busy."""
    torch.cuda._sleep(int(milliseconds * 720_000))


# %% [markdown] exercise="15.1" role="task" kind="read" title="which lines wait"
# ## 15.1 Read: which lines wait
#
# ★☆☆, 15 minutes. While a line waits for the device, the queue becomes empty, and a GPU with an empty queue is idle.
# Ten lines are given, and `x`, `mask`, `index` and `host` are small tensors. Which lines wait? Answer each letter
# with True or False:
#
# - `"a"`: `x.argmax()`
# - `"b"`: `mask.nonzero()`
# - `"c"`: `torch.where(mask, x, 0.0)`
# - `"d"`: `x.tolist()`
# - `"e"`: `x[index]`, where `index` is a CUDA tensor of integers
# - `"f"`: `host.to("cuda")`, where `host` is an ordinary CPU tensor
# - `"g"`: `host.pin_memory().to("cuda", non_blocking=True)`
# - `"h"`: `torch.zeros(8, device="cuda")`
# - `"i"`: `x.masked_fill_(mask, 0.0)`
# - `"j"`: `x.unique()`
#
# The check counts how many of your ten answers are right.


# %% exercise="15.1" role="answer"
def lines_that_wait() -> dict[str, bool]:
    """The ten answers, as `{"a": ..., "b": ...}`."""
    # BEGIN SOLUTION
    return {
        "a": False,
        "b": True,
        "c": False,
        "d": True,
        "e": False,
        "f": True,
        "g": False,
        "h": False,
        "i": False,
        "j": True,
    }
    # END SOLUTION


# %% exercise="15.1" role="check"
def waits(line):
    """Whether a line waits for the device: in this mode such a line raises an error."""
    ended = []
    torch.cuda.set_sync_debug_mode("error")
    with suppress(RuntimeError):
        line()
        ended.append(True)
    torch.cuda.set_sync_debug_mode("default")
    return not ended


with check("15.1", "which lines wait") as c:
    answered = lines_that_wait()
    x, host = torch.arange(8.0, device="cuda"), torch.arange(8.0)
    mask, index = x > 3, torch.tensor([1, 2], device="cuda")
    lines = {
        "a": lambda: x.argmax(),
        "b": lambda: mask.nonzero(),
        "c": lambda: torch.where(mask, x, 0.0),
        "d": lambda: x.tolist(),
        "e": lambda: x[index],
        "f": lambda: host.to("cuda"),
        "g": lambda: host.pin_memory().to("cuda", non_blocking=True),
        "h": lambda: torch.zeros(8, device="cuda"),
        "i": lambda: x.masked_fill_(mask, 0.0),
        "j": lambda: x.unique(),
    }
    truth = {letter: waits(line) for letter, line in lines.items()}
    look = "For each line ask: does the host need a number, or a size that depends on numbers, before it can go on?"
    c.answers("the ten lines", came=answered, truth=truth, look=look)

# %% [markdown] exercise="15.1" role="debrief"
# **In PyTorch** `torch.cuda.set_sync_debug_mode("warn")` finds such lines in a training, with a warning for each. A
# mask that chooses (`x[mask]`) waits, because the size of the result must be known; a mask that says where to fill
# (`masked_fill_`) or which of two numbers to take (`torch.where`) does not. The price of a loop without waits is that
# you see its losses late.

# %% [markdown] exercise="15.1" role="hint"
# The host allocates each result, so it must know the *size* of the result. For which of these lines does the size
# depend on the numbers in the tensors?

# %% [markdown] exercise="15.1" role="hint"
# Try it: `torch.cuda.set_sync_debug_mode("warn")`, and then a line.


# %% [markdown] exercise="15.2" role="task" kind="build" title="a timer for the device"
# ## 15.2 Build: a timer for the device
#
# ★☆☆, 20 minutes. This exercise solves the problem of the lesson once and for all. Write
# `device_milliseconds(function, repeats)`:
#
# - It calls `function()` once to warm up, and then `repeats` times for the measurement. No further calls.
# - It returns the milliseconds that one measured call takes *on the device*, on average, as a float.
# - Work that was in the queue before, and the warm-up, are not part of the time.
# - It measures the work of the *current stream*, whichever that is, and not the work of other streams.


# %% exercise="15.2" role="answer"
def device_milliseconds(function, repeats=5):
    # BEGIN SOLUTION
    function()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / repeats
    # END SOLUTION


# %% exercise="15.2" role="check"
def milliseconds_of(queued=0, first=0, beside=0):
    """Return the time that the answer measures, the right time, and the number of calls.

    `queued` milliseconds of work come before. The first call takes `first` milliseconds longer. Each call also puts
    `beside` milliseconds of work into the default stream.
    """
    marks = []

    def function():
        marks.append([torch.cuda.Event(enable_timing=True) for _ in range(2)])
        marks[-1][0].record()
        busy(15 if len(marks) > 1 else 15 + first)
        marks[-1][1].record()
        with torch.cuda.stream(torch.cuda.default_stream()):
            busy(beside)

    busy(queued)
    measured = device_milliseconds(function, repeats=8)
    torch.cuda.synchronize()
    return measured, marks[-8][0].elapsed_time(marks[-1][1]) / 8, len(marks)


with check("15.2", "a timer for the device") as c:
    for case, arguments in {
        "a kernel of 15 ms": {},
        "500 ms of work are in the queue before": {"queued": 500},
        "the first call takes 500 ms longer": {"first": 500},
    }.items():
        c.case(case)
        measured, right, calls = milliseconds_of(**arguments)
        c.equal(f"{case}: the type of the result", came=type(measured).__name__, expected="float")
        c.equal(f"{case}: calls for repeats=8", came=calls, expected=9)
        near = abs(measured - right) < right / 4 + 5
        c.true(case, near, came=f"{measured:.1f} ms", expected=f"about {right:.1f} ms")
    case = c.case("on a stream of its own; each call also puts 60 ms of work into the default stream")
    with torch.cuda.stream(torch.cuda.Stream()):
        measured, right, _ = milliseconds_of(beside=60)
    near = abs(measured - right) < right / 4 + 5
    c.true(case, near, came=f"{measured:.1f} ms", expected=f"about {right:.1f} ms")

# %% [markdown] exercise="15.2" role="debrief"
# **In PyTorch** `torch.utils.benchmark.Timer` synchronizes before each reading of the host's clock. This is simple,
# but the time includes the launches. Events measure the device alone; but if the host is too slow to keep the queue
# full, they measure the gaps between the kernels, too. To see whether the host or the device limits your program,
# measure in both ways.

# %% [markdown] exercise="15.2" role="hint"
# `torch.cuda.Event(enable_timing=True)` records on the current stream. Record the first event after the warm-up.

# %% [markdown] exercise="15.2" role="hint"
# `begin.elapsed_time(end)` works only if the device has passed both marks: `end.synchronize()` waits for one of them.
# For which mark is it enough to wait?


# %% [markdown] exercise="15.3" role="task" kind="fix" title="a prefetcher that is wrong now and then"
# ## 15.3 Fix: a prefetcher that is wrong now and then
#
# ★★☆, 30 minutes. `BrokenPrefetcher(batches, prepare)` prepares the next batch on a stream of its own, while your
# model computes on the current stream. **Symptom.** With `CUDA_LAUNCH_BLOCKING=1` everything is right. Without it, a
# batch has wrong numbers now and then: sometimes it looks as if it had not been prepared, and sometimes it has the
# numbers of a *later* batch. Write `Prefetcher`, used in the same way, without these faults:
#
# - The work of the program on a batch, on its current stream, runs after the batch has been prepared.
# - The numbers are also right for work that is still in the queue when the program drops the batch.
# - The host does not wait when it makes a `Prefetcher` or takes a batch.
# - The next batch is prepared while the program works on the one before.


# %% exercise="15.3" role="given"
class BrokenPrefetcher:
    def __init__(self, batches, prepare):
        self.batches, self.prepare = iter(batches), prepare
        self.side = torch.cuda.Stream()
        self.fetch()

    def fetch(self):
        batch = next(self.batches, None)
        self.ready = None
        if batch is not None:
            with torch.cuda.stream(self.side):
                self.ready = self.prepare(batch)

    def __iter__(self):
        while self.ready is not None:
            batch = self.ready
            self.fetch()
            yield batch
            del batch


# %% exercise="15.3" role="answer"
class Prefetcher:
    """Yields the result of `prepare` for each batch, computed in advance on a stream of its own."""

    def __init__(self, batches, prepare):
        # BEGIN SOLUTION
        self.batches, self.prepare = iter(batches), prepare
        self.side = torch.cuda.Stream()
        self.fetch()

    def fetch(self):
        batch = next(self.batches, None)
        self.ready = None
        if batch is not None:
            with torch.cuda.stream(self.side):
                self.ready = self.prepare(batch)
                self.prepared = self.side.record_event()
        # END SOLUTION

    def __iter__(self):
        # BEGIN SOLUTION
        while self.ready is not None:
            batch = self.ready
            current = torch.cuda.current_stream()
            current.wait_event(self.prepared)
            batch.record_stream(current)
            self.fetch()
            yield batch
            del batch
        # END SOLUTION


# %% exercise="15.3" role="check"
def prefetched(preparing, using, count=3):
    """Use prefetched batches; return the results, the time of the host, and two lists of milliseconds.

    For each batch but the last: from the time when the next batch was ready until the program's work on this batch
    ended, and from the time when that work began until the next batch was ready.
    """
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    begin, ready, begun, used, sums = time.perf_counter(), [], [], [], []

    def prepare(number):
        batch = torch.zeros(4000, device="cuda")
        busy(preparing)
        batch.add_(number)
        ready.append(torch.cuda.Event(enable_timing=True))
        ready[-1].record()
        return batch

    for batch in Prefetcher(range(1, count + 1), prepare):
        begun.append(torch.cuda.Event(enable_timing=True))
        begun[-1].record()
        busy(using)
        sums.append(batch.sum())
        used.append(torch.cuda.Event(enable_timing=True))
        used[-1].record()
        del batch
    host = time.perf_counter() - begin
    torch.cuda.synchronize()
    ahead = [ready[number + 1].elapsed_time(used[number]) for number in range(count - 1)]
    early = [begun[number].elapsed_time(ready[number + 1]) for number in range(count - 1)]
    return [each.item() / 4000 for each in sums], host, ahead, early


with check("15.3", "a prefetcher that is wrong now and then") as c:
    case = c.case("a slow prepare")
    came, host, _, early = prefetched(preparing=250, using=0)
    c.equal(f"{case}: the numbers of the batches", came=came, expected=[1.0, 2.0, 3.0])
    c.true(
        f"{case}: the host does not wait", host < 0.25, came=f"{host:.2f} s on the host", expected="less than 0.25 s"
    )
    c.true(
        f"{case}: the model does not wait for the batch after its own",
        min(early) > 20,
        came="work on a batch that began only when the next batch was ready",
        expected="work that begins as soon as its own batch is ready",
    )
    case = c.case("a slow model")
    came, host, ahead, _ = prefetched(preparing=5, using=250)
    c.equal(f"{case}: the numbers of the batches", came=came, expected=[1.0, 2.0, 3.0])
    c.true(
        f"{case}: the host does not wait", host < 0.25, came=f"{host:.2f} s on the host", expected="less than 0.25 s"
    )
    c.true(
        f"{case}: the next batch is prepared while the model works",
        min(ahead) > 20,
        came="a batch that was prepared after the work on the one before",
        expected="a batch that is ready before the work on the one before ends",
    )

# %% [markdown] exercise="15.3" role="debrief"
# **In PyTorch** `DistributedDataParallel` and `FSDP` do the same two things wherever a tensor changes streams: an
# event for the order of the work, and `record_stream` for the life of the memory. `record_stream` has a price: the
# allocator has to ask for the event later, so the block comes back late. Code that needs to know when its memory
# comes back, such as `FSDP`, does it in another way: it waits for an event of the consumer before it drops the
# tensor.

# %% [markdown] exercise="15.3" role="hint"
# Two places are wrong. Which stream has to wait for which stream? And when must the mark be recorded, so that it is
# not behind the work of the next batch?

# %% [markdown] exercise="15.3" role="hint"
# A batch is allocated while `side` is current, so its block belongs to `side`. When the program drops the batch, the
# next `prepare` gets the block at once. What must the allocator know about the current stream?


# %% [markdown] exercise="15.4" role="task" kind="build" title="one pinned buffer for all batches"
# ## 15.4 Build: one pinned buffer for all batches
#
# ★★☆, 25 minutes. Pinning memory is slow, so a program pins one buffer and uses it for every batch. Write the class
# that does this:
#
# - `Uploader(size)` makes `self.buffer`, a pinned CPU tensor of `size` floats. It is used for all uploads.
# - `upload(batch)` takes a CPU tensor of at most `size` floats, of any shape, copies its numbers into the buffer, and
#   from there to the device, on the current stream. It returns the CUDA tensor, in the shape of `batch`.
# - `upload` does not wait for its own copy to the device.
# - Before `upload` writes into the buffer, it waits until the copy of the upload before has read the buffer. It waits
#   for nothing else: not for work that was put into the queue after that copy.


# %% exercise="15.4" role="answer"
class Uploader:
    def __init__(self, size):
        # BEGIN SOLUTION
        self.buffer = torch.empty(size).pin_memory()
        self.read = torch.cuda.Event()
        # END SOLUTION

    def upload(self, batch):
        # BEGIN SOLUTION
        self.read.synchronize()
        part = self.buffer[: batch.numel()]
        part.copy_(batch.flatten())
        there = part.to("cuda", non_blocking=True).view(batch.shape)
        self.read.record()
        return there
        # END SOLUTION


# %% exercise="15.4" role="check"
with check("15.4", "one pinned buffer for all batches") as c:
    case = c.case("two uploads while the device is busy for 400 ms")
    uploader = Uploader(12)
    place = uploader.buffer.data_ptr()
    busy(400)
    begin = time.perf_counter()
    first = uploader.upload(torch.arange(12.0).reshape(3, 4))
    alone = time.perf_counter() - begin
    second = uploader.upload(torch.arange(6.0) * 10)
    c.close(f"{case}: the first batch", came=first.cpu(), expected=torch.arange(12.0).reshape(3, 4))
    c.close(f"{case}: the second batch", came=second.cpu(), expected=torch.arange(6.0) * 10)
    c.equal(f"{case}: where the results are", came=[str(first.device), str(second.device)], expected=["cuda:0"] * 2)
    c.true(
        f"{case}: the first upload does not wait for its copy",
        alone < 0.2,
        came=f"{alone:.3f} s on the host",
        expected="less than 0.2 s",
    )
    c.equal("the buffer is pinned", came=uploader.buffer.is_pinned(), expected=True)
    used, real = [], torch.Tensor.pin_memory
    with mock.patch.object(torch.Tensor, "pin_memory", lambda *args: used.append(1) or real(*args)):
        third = uploader.upload(torch.arange(12.0))
    c.equal("memory that an upload pins", came=len(used), expected=0)
    c.equal("the buffer stays where it is", came=uploader.buffer.data_ptr() == place, expected=True)
    c.close("the numbers in the buffer after the third upload", came=uploader.buffer, expected=torch.arange(12.0))
    case = c.case("on a stream of its own, which is busy for 500 ms; then the program writes into the buffer")
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        busy(500)
        there = uploader.upload(torch.arange(12.0))
        time.sleep(0.05)
        uploader.buffer.fill_(7)
        c.close(f"{case}: the copy, which runs after this work", came=there.cpu(), expected=torch.full((12,), 7.0))
    case = c.case("400 ms of work come after the copy of the upload before")
    torch.cuda.synchronize()
    uploader.upload(torch.arange(12.0))
    busy(400)
    begin = time.perf_counter()
    uploader.upload(torch.arange(12.0))
    waited = time.perf_counter() - begin
    torch.cuda.synchronize()
    c.true(case, waited < 0.2, came=f"the upload waited {waited:.3f} s", expected="less than 0.2 s")

# %% [markdown] exercise="15.4" role="debrief"
# **In PyTorch** you seldom need this: pinned memory has a caching allocator of its own, `CachingHostAllocator`. A
# copy with `non_blocking=True` records an event for its block, and the block is reused after the event. But this
# holds for blocks that you *drop*. If you keep a buffer and write into it, you have to wait yourself, and no tool
# warns you. With two buffers that are used in turns, the host would hardly ever wait: this is called *double
# buffering*.

# %% [markdown] exercise="15.4" role="hint"
# An event marks a place in the queue: record the event directly after the copy. `event.synchronize()` lets the host
# wait for this place. An event that was never recorded does not make anybody wait.

# %% [markdown] exercise="15.4" role="hint"
# `self.buffer[:n]` is a view of pinned memory, and a view of pinned memory is pinned.


# %% [markdown] exercise="15.5" role="task" kind="fix" title="right on device 0 only"
# ## 15.5 Fix: right on device 0 only
#
# ★★☆, 20 minutes. `broken_centred(x)` subtracts the mean, on a side stream. **Symptom.** All tests passed on a machine
# with one GPU. On a machine with two, the function raises an error for a tensor on `cuda:1`. Write `centred`:
#
# - It works for a tensor on any device, whichever device is current. The result is on the device of `x`.
# - All its work on the numbers runs on a side stream of the device of `x`. This work runs after the work that is
#   already on the current stream *of that device*, and later work on that stream runs after it.
# - Afterwards the current device is the same as before, even if the function raises an error, as it does for a tensor
#   of integers.
# - The host does not wait.


# %% exercise="15.5" role="given"
def broken_centred(x):
    side = torch.cuda.Stream()
    result = torch.empty(x.shape, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.sub(x, x.mean(), out=result)
    torch.cuda.current_stream().wait_stream(side)
    result.record_stream(torch.cuda.current_stream())
    x.record_stream(side)
    return result


# %% exercise="15.5" role="answer"
def centred(x):
    """x minus its mean, computed on a side stream."""
    # BEGIN SOLUTION
    with torch.cuda.device_of(x):
        current, side = torch.cuda.current_stream(), torch.cuda.Stream()
        side.wait_stream(current)
        with torch.cuda.stream(side):
            result = x - x.mean()
        current.wait_stream(side)
        result.record_stream(current)
        x.record_stream(side)
    return result
    # END SOLUTION


# %% exercise="15.5" role="check"
from reftorch.utils._python_dispatch import TorchDispatchMode


def centred_on(device, current, before=0, within=0):
    """Call the answer while another device may be current; return the result, and what the check asks of it."""
    used, real = [], torch.Tensor.mean

    def mean(tensor, *args):
        with torch.cuda.stream(torch.cuda.current_stream(tensor.device)):
            busy(within)
        return real(tensor, *args)

    class Streams(TorchDispatchMode):
        """Records the current stream of the device for each op that works on numbers."""

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            works = not any(word in str(func) for word in ("empty", "record_stream"))
            used.extend([torch.cuda.current_stream(device)] * works)
            return func(*args, **(kwargs or {}))

    with torch.cuda.device(device):
        x = torch.zeros(4, device="cuda")
        busy(before)
        x += torch.arange(4, device="cuda")
    torch.cuda.set_device(current)
    begin = time.perf_counter()
    with mock.patch.object(torch.Tensor, "mean", mean), Streams():
        result = centred(x)
    host, now = time.perf_counter() - begin, torch.cuda.current_device()
    torch.cuda.set_device(0)
    with torch.cuda.device(device):
        numbers = (result * 1).cpu()  # on the current stream of the device
    on_side = bool(used) and all(s.device.index == device and s != torch.cuda.default_stream(device) for s in used)
    return result.device.index, now, numbers, on_side, host


with check("15.5", "right on device 0 only") as c:
    for device, current in ((1, 0), (0, 1), (1, 1)):
        for when, busy_ones in {"before": {"before": 200}, "within": {"within": 200}}.items():
            case = c.case(f"x on cuda:{device}, cuda:{current} is current, slow work {when}")
            place, now, numbers, on_side, host = centred_on(device, current, **busy_ones)
            c.equal(f"{case}: the device of the result", came=place, expected=device)
            c.equal(f"{case}: the current device afterwards", came=now, expected=current)
            c.close(f"{case}: the result", came=numbers, expected=torch.tensor([-1.5, -0.5, 0.5, 1.5]))
            c.true(
                f"{case}: all work on numbers runs on a side stream of cuda:{device}",
                on_side,
                came="work on another stream",
                expected=f"a new stream of cuda:{device}",
            )
            c.true(f"{case}: the host does not wait", host < 0.1, came=f"{host:.3f} s", expected="less than 0.1 s")
    case = c.case("a tensor of integers on cuda:1")
    c.raises(case, RuntimeError, "", centred, torch.ones(3, dtype=torch.int64, device="cuda:1"))
    now = torch.cuda.current_device()
    torch.cuda.set_device(0)
    c.equal(f"{case}: the current device afterwards", came=now, expected=0)

# %% [markdown] exercise="15.5" role="debrief"
# **In PyTorch** an extension in C++ begins with `const at::cuda::CUDAGuard guard(x.device());`, for this reason.
# Without the guard, a kernel of an extension runs on a stream of device 0 with pointers to device 1: on some machines
# that is an error, and on machines whose devices can read each other's memory it is slow or wrong. Ops of the library
# have guards already; streams, events and `device="cuda"` ask for the current device.

# %% [markdown] exercise="15.5" role="hint"
# `with torch.cuda.device_of(x):` makes the device of `x` current for the block. Which lines have to be inside?

# %% [markdown] exercise="15.5" role="hint"
# Two calls of `torch.cuda.current_stream()` return different streams if the current device has changed between the
# calls.


# %% [markdown] exercise="15.6" role="task" kind="read" title="in PyTorch: what waits for the start"
# ## 15.6 Read, in PyTorch: what waits for the start
#
# ★★☆, 20 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. A PyTorch for the CPU is enough: it comes as far as the start of CUDA, and fails only there.
#
# The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb. Stop in `_lazy_init`
# of `torch/cuda/__init__.py`, before the line `if not hasattr(torch._C, "_cuda_getDeviceCount"):`. Return:
#
# - `"queued"`: the number of calls in `_queued_calls`;
# - `"last"`: the `__qualname__` of the function in the last of them (each is a pair, of a function and a stack);
# - `"seeds"`: a list of the seeds that will be set, in the order in which they will be set. `get_calls()` of
#   `_lazy_seed_tracker` returns pairs of the same form, and the seed is the value in the closure of the function;
# - `"started"`: the value of `_initialized`.


# %% exercise="15.6" role="given"
IN_TORCH = """\
import torch

torch.cuda.manual_seed(7)
torch.cuda.manual_seed_all(5)
torch.cuda.set_rng_state(torch.zeros(16, dtype=torch.uint8))
torch.cuda.manual_seed(9)
try:
    torch.ones(1, device="cuda")
except AssertionError as error:
    print(error)
"""
print(write_for_torch(IN_TORCH, "in_torch_15_6.py"))


# %% exercise="15.6" role="answer"
def before_the_start() -> dict[str, int | str | list | bool]:
    # BEGIN SOLUTION
    return {"queued": 4, "last": "set_rng_state.<locals>.cb", "seeds": [5, 9], "started": False}
    # END SOLUTION


# %% exercise="15.6" role="check"
with check("15.6", "what waits for the start") as c:
    answered = before_the_start()
    asked = [
        "len(_queued_calls)",
        "_queued_calls[-1][0].__qualname__",
        "[call[0].__closure__[0].cell_contents for call in _lazy_seed_tracker.get_calls()]",
        "_initialized",
    ]
    file, line = "torch/cuda/__init__.py", "if not hasattr(torch._C"
    (stop,) = stops_in_torch(IN_TORCH, file, "_lazy_init", line, asked)
    truth = dict(zip(("queued", "last", "seeds", "started"), map(eval, stop.values()), strict=True))
    look = "`break torch/cuda/__init__.py:NUMBER`, `continue`, then `p` with the name of each variable."
    c.answers("what waits for the start", came=answered, truth=truth, look=look)

# %% [markdown] exercise="15.6" role="debrief"
# **In PyTorch** the import itself queues three of the calls: two checks of the device, and the kernels of Triton.
# PyTorch keeps only the latest seed of each kind, because a new seed replaces the seeds before it. The order of the
# two kinds matters, so PyTorch keeps this order, too. reftorch starts its devices in a moment, so a generator exists
# as soon as a program asks for it, and no call has to be queued. The price of the queue is that an error in a queued
# call comes late. Therefore PyTorch keeps each call together with the stack from which it was queued.

# %% [markdown] exercise="15.6" role="hint"
# `python -m pdb in_torch_15_6.py`, then `break torch/cuda/__init__.py:NUMBER`, `continue`, `p len(_queued_calls)`. The
# lesson shows the lines of `_lazy_init`.

# %% [markdown] exercise="15.6" role="hint"
# `p [call[0].__closure__[0].cell_contents for call in _lazy_seed_tracker.get_calls()]`


# %% [markdown] exercise="15.7" role="task" kind="build" title="an allocator, and a trace that runs out of memory"
# ## 15.7 Project: an allocator, and a trace that runs out of memory
#
# ★★★, an evening. `trace.json` has the requests to the allocator in a training that ended with *out of memory*, with
# 1.77 GiB reserved but unallocated. Write the allocator, replay the trace, and find the tensor that is to blame.
#
# `Allocator(capacity)` has PyTorch's rules. All sizes are bytes:
#
# - `malloc(size, stream=0)` returns an address, and `free(address)` gives a block back. Sizes are rounded up to a
#   multiple of 512.
# - Two pools: for (rounded) sizes of at most 1 MiB, and for larger ones. Small segments have 2 MiB. A large request
#   of less than 10 MiB gets a segment of 20 MiB, a larger request gets a segment of its own size, rounded up to a
#   multiple of 2 MiB.
# - A request takes the smallest unused block of its pool and its stream that is large enough; if several have this
#   size, it takes the block with the lowest address. If there is no such block, the request takes a new segment,
#   whose addresses are above all addresses that were ever in use.
# - A block is split if the rest has at least 512 bytes (small pool) or *more* than 1 MiB (large pool). The request
#   gets the lower part.
# - A freed block is merged with unused neighbours in its segment, on both sides.
# - All segments together have at most `capacity` bytes. If a new segment does not fit, the allocator gives back all
#   segments without a used block, and tries once more. If the segment still does not fit, `malloc` raises
#   `OutOfMemory`.
# - `segments()` returns a list with `(total size, stream, blocks)` for each segment, sorted by address, where `blocks`
#   is a list of `(size, is used)` from the lowest address to the highest.
#
# `explain(events, capacity)` replays the events of a trace (`["malloc", name, size]` and `["free", name]`) on a new
# allocator. It returns None if there is memory for all requests. Otherwise it returns a dict that describes the first
# failure:
#
# - `"request"`: the name of the tensor that failed; `"reserved"`: the bytes of all segments; `"allocated"`: the bytes
#   of all used blocks; `"largest hole"`: the bytes of the largest unused block;
# - `"to blame"`: the names of the tensors in the segment that has the most unused bytes, from the lowest address to
#   the highest.


# %% exercise="15.7" role="answer"
class OutOfMemory(Exception):
    """There is no memory for a request."""


class Allocator:
    def __init__(self, capacity):
        # BEGIN SOLUTION
        self.capacity, self.held, self.top = capacity, [], 0  # a segment: small or not, stream, list of blocks
        # END SOLUTION

    def malloc(self, size, stream=0):
        # BEGIN SOLUTION
        size = max(-(-size // 512) * 512, 512)
        small = size <= 1 << 20
        segment, block = self.find(size, small, stream) or self.grow(size, small, stream)
        rest = block["size"] - size
        if rest >= 512 if small else rest > 1 << 20:
            place = segment["blocks"].index(block)
            segment["blocks"].insert(place + 1, {"address": block["address"] + size, "size": rest, "used": False})
            block["size"] = size
        block["used"] = True
        return block["address"]

    def find(self, size, small, stream):
        fitting = [
            (block["size"], block["address"], segment, block)
            for segment in self.held
            if segment["small"] == small and segment["stream"] == stream
            for block in segment["blocks"]
            if not block["used"] and block["size"] >= size
        ]
        return min(fitting, key=lambda each: each[:2])[2:] if fitting else None

    def grow(self, size, small, stream):
        total = 2 << 20 if small else 20 << 20 if size < 10 << 20 else -(-size // (2 << 20)) * (2 << 20)
        if self.reserved() + total > self.capacity:
            self.held = [segment for segment in self.held if any(block["used"] for block in segment["blocks"])]
        if self.reserved() + total > self.capacity:
            raise OutOfMemory(f"no memory for {size} bytes")
        block = {"address": self.top, "size": total, "used": False}
        self.held.append({"small": small, "stream": stream, "blocks": [block]})
        self.top += total
        return self.held[-1], block
        # END SOLUTION

    def free(self, address):
        # BEGIN SOLUTION
        for segment in self.held:
            for place, block in enumerate(segment["blocks"]):
                if block["address"] == address and block["used"]:
                    block["used"] = False
                    self.merge(segment["blocks"], place)
                    return

    def merge(self, blocks, place):
        for left in (place, place - 1):
            if 0 <= left < len(blocks) - 1 and not blocks[left]["used"] and not blocks[left + 1]["used"]:
                blocks[left]["size"] += blocks.pop(left + 1)["size"]

    def reserved(self):
        return sum(block["size"] for segment in self.held for block in segment["blocks"])
        # END SOLUTION

    def segments(self):
        # BEGIN SOLUTION
        return [
            (sum(block["size"] for block in blocks), segment["stream"], [(b["size"], b["used"]) for b in blocks])
            for segment in self.held
            for blocks in [segment["blocks"]]
        ]
        # END SOLUTION


def explain(events, capacity):
    # BEGIN SOLUTION
    allocator, addresses = Allocator(capacity), {}
    for what, name, *size in events:
        if what == "free":
            allocator.free(addresses.pop(name))
            continue
        try:
            addresses[name] = allocator.malloc(*size)
        except OutOfMemory:
            break
    else:
        return None
    owners = {address: name for name, address in addresses.items()}
    blocks = [block for segment in allocator.held for block in segment["blocks"]]

    def unused(segment):
        return sum(block["size"] for block in segment["blocks"] if not block["used"])

    emptiest = max(allocator.held, key=unused)
    return {
        "request": name,
        "reserved": allocator.reserved(),
        "allocated": sum(block["size"] for block in blocks if block["used"]),
        "largest hole": max((block["size"] for block in blocks if not block["used"]), default=0),
        "to blame": [owners[block["address"]] for block in emptiest["blocks"] if block["used"]],
    }
    # END SOLUTION


# %% exercise="15.7" role="check"
KIB, MIB = 1 << 10, 1 << 20


def attempt(function, *args):
    """An address, or None if there is no memory."""
    with suppress(OutOfMemory, torch.OutOfMemoryError):
        return function(*args)


def by_the_library(events, capacity):
    """The segments of the library's allocator after each event, and whether it was out of memory."""
    torch.cuda.synchronize(1)
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction(capacity / (4096 * MIB), 1)
    streams = [torch.cuda.default_stream(1), torch.cuda.Stream(1)]
    numbers = {stream.stream_id: number for number, stream in enumerate(streams)}
    places, found = {}, []

    def malloc(name, size, stream=0):
        places[name] = attempt(torch.cuda.caching_allocator_alloc, size, 1, streams[stream])
        return places[name] is None

    def free(name):
        torch.cuda.caching_allocator_delete(places.pop(name))
        return False

    for what, *rest in events:
        full = {"malloc": malloc, "free": free}[what](*rest)
        there = [segment for segment in torch.cuda.memory_snapshot() if segment["device"] == 1]
        segments = [
            (
                each["total_size"],
                numbers[each["stream"]],
                [(b["size"], b["state"] != "inactive") for b in each["blocks"]],
            )
            for each in there
        ]
        found.append((segments, full))
    for address in filter(None, places.values()):
        torch.cuda.caching_allocator_delete(address)
    torch.cuda.empty_cache()
    return found


def by_yours(events, capacity):
    """After each event: the event, the segments of your allocator, and whether it is out of memory."""
    yours, places = Allocator(capacity), {}

    def malloc(name, size, stream=0):
        places[name] = attempt(yours.malloc, size, stream)
        return places[name] is None

    def free(name):
        yours.free(places.pop(name))
        return False

    for what, *rest in events:
        full = {"malloc": malloc, "free": free}[what](*rest)
        yield [what, *rest], list(yours.segments()), full


CASES = {
    "sizes are rounded": [["malloc", "a", 1], ["malloc", "b", 513], ["malloc", "c", MIB], ["malloc", "d", MIB + 1]],
    "sizes of segments": [["malloc", "a", 9 * MIB], ["malloc", "b", 10 * MIB], ["malloc", "c", 11 * MIB + 1]],
    "best fit": [
        *(["malloc", f"{kind} {size}", size * KIB] for size in (40, 20, 80) for kind in ("hole", "wall")),
        *(["free", f"hole {size}"] for size in (40, 20, 80)),
        ["malloc", "a", 15 * KIB],
        ["malloc", "b", 30 * KIB],
    ],
    "the lowest of two equal holes": [
        *(["malloc", f"{number}", 4 * KIB] for number in range(5)),
        ["free", "3"],
        ["free", "1"],
        ["malloc", "a", 4 * KIB],
    ],
    "a large rest of 1 MiB is not split off": [["malloc", "a", 19 * MIB], ["malloc", "b", 19 * MIB - 512]],
    "neighbours are merged": [
        *(["malloc", f"{number}", 3 * MIB] for number in range(5)),
        ["free", "1"],
        ["free", "3"],
        ["free", "2"],
        ["malloc", "a", 9 * MIB],
    ],
    "two streams": [
        ["malloc", "a", 3 * MIB],
        ["free", "a"],
        ["malloc", "b", 3 * MIB, 1],
        ["malloc", "c", 3 * MIB],
    ],
    "unused segments are given back": [
        ["malloc", "a", 40 * MIB],
        ["malloc", "b", 30 * MIB],
        ["malloc", "c", 3 * MIB],
        ["free", "a"],
        ["free", "b"],
        ["malloc", "d", 70 * MIB],
        ["malloc", "e", 30 * MIB],
        ["malloc", "f", 15 * MIB],
    ],
}

with check("15.7", "an allocator, and a trace that runs out of memory") as c:
    for case, events in CASES.items():
        c.case(case)
        right = by_the_library(events, 100 * MIB)
        for (event, came, full), (expected, is_full) in zip(by_yours(events, 100 * MIB), right, strict=True):
            c.equal(f"{case}: out of memory after {event}", came=full, expected=is_full)
            c.equal(f"{case}: the segments after {event}", came=sorted(came), expected=sorted(expected))
    case = c.case("addresses")
    allocator = Allocator(100 * MIB)
    first, second, third = (allocator.malloc(size) for size in (1, 600, 5 * MIB))
    c.equal(f"{case}: two blocks of one segment, 1 and 600 bytes", came=second - first, expected=512)
    c.true(
        f"{case}: a new segment is above",
        third >= first + 2 * MIB,
        came=str(third),
        expected=f"{first + 2 * MIB} or more",
    )
    case = c.case("a small trace that fits")
    c.equal(
        case,
        came=explain([["malloc", "a", 5 * MIB], ["free", "a"], ["malloc", "b", 30 * MIB]], 30 * MIB),
        expected=None,
    )
    case = c.case("a small trace that does not fit")
    events = [
        ["malloc", "a", 60 * MIB],
        ["free", "a"],
        ["malloc", "b", 9 * MIB],
        ["malloc", "c", 9 * MIB],
        ["free", "b"],
    ]
    expected = {"request": "d", "reserved": 60 * MIB, "allocated": 9 * MIB, "largest hole": 42 * MIB, "to blame": ["c"]}
    c.equal(case, came=explain([*events, ["malloc", "d", 50 * MIB]], 100 * MIB), expected=expected)
    case = c.case("trace.json, on 4 GiB")
    events = json.loads(Path("trace.json").read_text())
    report = explain(events, 4096 * MIB)
    c.equal(f"{case}: the request that fails", came=report["request"], expected=events[-1][1])
    expected, _ = by_the_library(events, 4096 * MIB)[-1]
    reserved = sum(total for total, _, _ in expected)
    allocated = sum(size for _, _, blocks in expected for size, used in blocks if used)
    c.equal(
        f"{case}: reserved and allocated",
        came=(report["reserved"], report["allocated"]),
        expected=(reserved, allocated),
    )
    blamed = {name: size for what, name, *size in events if name in report["to blame"] and what == "malloc"}
    without = [event for event in events if event[1] not in blamed]
    c.true(
        f"{case}: without the tensors to blame there is memory for all",
        explain(without, 4096 * MIB) is None and 0 < len(blamed) < 3,
        came=f"{len(blamed)} tensors, and still out of memory, or too many of them",
        expected="the few tensors that keep the emptiest segment",
    )

# %% [markdown] exercise="15.7" role="debrief"
# **In PyTorch** this is `DeviceCachingAllocator`. What you have found is real: one forgotten hidden state of 29 MiB
# lies in the middle of a segment of 1,500 MiB, which is left from the first validation. Because of this tensor the
# whole segment cannot go back to CUDA. There are three remedies. Do not keep the tensor on the device (`.cpu()`). Or
# forbid the allocator to cut large blocks (`max_split_size_mb`), which always wastes a little memory. Or set
# `expandable_segments:True`: then memory is mapped page by page under one range of addresses, so that a segment can
# shrink in the middle. `torch.cuda.memory._record_memory_history()` records a trace like yours, with the stack of
# each request.

# %% [markdown] exercise="15.7" role="hint"
# A segment is a list of blocks in the order of their addresses. Splitting a block inserts an element, and merging two
# blocks removes one. After a `free`, look at the neighbour to the right first, and then at the one to the left.

# %% [markdown] exercise="15.7" role="hint"
# `-(-size // 512) * 512` rounds up. The rounded size of a request decides its pool; a block never changes its pool.

# %% [markdown] exercise="15.7" role="hint"
# For `explain`, keep a dict from names to addresses. At the failure, turn it around: from addresses to names.
