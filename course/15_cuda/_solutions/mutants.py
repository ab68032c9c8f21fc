"""Wrong answers to the exercises of chapter 15: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.

The wrong allocators of exercise 15.7 are the right one with one method changed: the first of them keeps the right one
as `Right`. The wrong prefetchers of 15.3 are the broken class that is given, with another loop. Wrong kernels are in
mutants_kernels.py. The file is more than 500 lines long, because all other wrong answers of a chapter are in one file.
"""


# %% exercise="15.1" role="mutant" why="only what shows a number waits"
def lines_that_wait() -> dict[str, bool]:
    return {letter: letter in "dj" for letter in "abcdefghij"}


# %% exercise="15.1" role="mutant" why="whatever has a mask or an index waits"
def lines_that_wait() -> dict[str, bool]:
    return {letter: letter in "bcdefij" for letter in "abcdefghij"}


# %% exercise="15.1" role="mutant" why="each copy from the host waits"
def lines_that_wait() -> dict[str, bool]:
    return {letter: letter in "bdfgj" for letter in "abcdefghij"}


# %% exercise="15.2" role="mutant" why="the clock of the host, and nobody waits"
def device_milliseconds(function, repeats=5):
    function()
    begin = time.perf_counter()
    for _ in range(repeats):
        function()
    return (time.perf_counter() - begin) * 1000 / repeats


# %% exercise="15.2" role="mutant" why="waits at the end, and not before the start"
def device_milliseconds(function, repeats=5):
    function()
    begin = time.perf_counter()
    for _ in range(repeats):
        function()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1000 / repeats


# %% exercise="15.2" role="mutant" why="no warm-up"
def device_milliseconds(function, repeats=5):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / repeats


# %% exercise="15.2" role="mutant" why="the warm-up is measured"
def device_milliseconds(function, repeats=5):
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats + 1):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / (repeats + 1)


# %% exercise="15.2" role="mutant" why="the time of all calls"
def device_milliseconds(function, repeats=5):
    function()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats):
        function()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


# %% exercise="15.2" role="mutant" why="marks in the default stream"
def device_milliseconds(function, repeats=5):
    function()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record(torch.cuda.default_stream())
    for _ in range(repeats):
        function()
    end.record(torch.cuda.default_stream())
    end.synchronize()
    return begin.elapsed_time(end) / repeats


# %% exercise="15.2" role="mutant" why="the clock of the host, which waits for the whole device"
def device_milliseconds(function, repeats=5):
    function()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(repeats):
        function()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) * 1e3 / repeats


# %% exercise="15.3" role="mutant" why="the class as it was"
class Prefetcher(BrokenPrefetcher):
    pass


# %% exercise="15.3" role="mutant" why="the order of the work, and not the life of the memory"
class Prefetcher(BrokenPrefetcher):
    def __iter__(self):
        while self.ready is not None:
            batch = self.ready
            torch.cuda.current_stream().wait_stream(self.side)
            self.fetch()
            yield batch
            del batch


# %% exercise="15.3" role="mutant" why="the life of the memory, and not the order of the work"
class Prefetcher(BrokenPrefetcher):
    def __iter__(self):
        while self.ready is not None:
            batch = self.ready
            batch.record_stream(torch.cuda.current_stream())
            self.fetch()
            yield batch
            del batch


# %% exercise="15.3" role="mutant" why="tells the allocator of the stream that it knows already"
class Prefetcher(BrokenPrefetcher):
    def __iter__(self):
        while self.ready is not None:
            batch = self.ready
            torch.cuda.current_stream().wait_stream(self.side)
            batch.record_stream(self.side)
            self.fetch()
            yield batch
            del batch


# %% exercise="15.3" role="mutant" why="the host waits for the batch"
class Prefetcher(BrokenPrefetcher):
    def __iter__(self):
        while self.ready is not None:
            batch = self.ready
            self.side.synchronize()
            batch.record_stream(torch.cuda.current_stream())
            self.fetch()
            yield batch
            del batch


# %% exercise="15.3" role="mutant" why="no stream of its own, and nothing is ahead of time"
class Prefetcher:
    def __init__(self, batches, prepare):
        self.batches, self.prepare = iter(batches), prepare

    def __iter__(self):
        for batch in self.batches:
            yield self.prepare(batch)


# %% exercise="15.3" role="mutant" why="prepares the next batch only when the model has been given its work"
class Prefetcher:
    def __init__(self, batches, prepare):
        self.batches, self.prepare = iter(batches), prepare
        self.side = torch.cuda.Stream()

    def __iter__(self):
        for number in self.batches:
            self.side.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(self.side):
                batch = self.prepare(number)
            torch.cuda.current_stream().wait_stream(self.side)
            batch.record_stream(torch.cuda.current_stream())
            yield batch
            del batch


# %% exercise="15.3" role="mutant" why="waits for the whole side stream, and so for the batch after this one, too"
class Prefetcher(BrokenPrefetcher):
    def __iter__(self):
        while self.ready is not None:
            batch, current = self.ready, torch.cuda.current_stream()
            self.fetch()
            current.wait_stream(self.side)
            batch.record_stream(current)
            yield batch
            del batch


# %% exercise="15.4" role="mutant" why="does not wait at all"
class Uploader:
    def __init__(self, size):
        self.buffer = torch.empty(size).pin_memory()

    def upload(self, batch):
        part = self.buffer[: batch.numel()]
        part.copy_(batch.flatten())
        return part.to("cuda", non_blocking=True).view(batch.shape)


# %% exercise="15.4" role="mutant" why="waits for the whole queue before it writes"
class Uploader:
    def __init__(self, size):
        self.buffer = torch.empty(size).pin_memory()

    def upload(self, batch):
        torch.cuda.current_stream().synchronize()
        part = self.buffer[: batch.numel()]
        part.copy_(batch.flatten())
        return part.to("cuda", non_blocking=True).view(batch.shape)


# %% exercise="15.4" role="mutant" why="waits for its own copy"
class Uploader:
    def __init__(self, size):
        self.buffer = torch.empty(size).pin_memory()

    def upload(self, batch):
        part = self.buffer[: batch.numel()]
        part.copy_(batch.flatten())
        return part.to("cuda").view(batch.shape)


# %% exercise="15.4" role="mutant" why="pins memory for each batch"
class Uploader:
    def __init__(self, size):
        self.buffer = torch.empty(size).pin_memory()

    def upload(self, batch):
        return batch.pin_memory().to("cuda", non_blocking=True)


# %% exercise="15.4" role="mutant" why="a buffer that is not pinned: the copy takes the numbers at once"
class Uploader:
    def __init__(self, size):
        self.buffer = torch.empty(size)

    def upload(self, batch):
        part = self.buffer[: batch.numel()]
        part.copy_(batch.flatten())
        return part.to("cuda", non_blocking=True).view(batch.shape)


# %% exercise="15.4" role="mutant" why="forgets the shape"
class Uploader:
    def __init__(self, size):
        self.buffer = torch.empty(size).pin_memory()
        self.read = torch.cuda.Event()

    def upload(self, batch):
        self.read.synchronize()
        part = self.buffer[: batch.numel()]
        part.copy_(batch.flatten())
        there = part.to("cuda", non_blocking=True)
        self.read.record()
        return there


# %% exercise="15.4" role="mutant" why="a stream of its own for the copies, and nobody waits for it"
class Uploader:
    def __init__(self, size):
        self.buffer, self.side = torch.empty(size).pin_memory(), torch.cuda.Stream()

    def upload(self, batch):
        self.side.synchronize()
        part = self.buffer[: batch.numel()]
        part.copy_(batch.flatten())
        with torch.cuda.stream(self.side):
            return part.to("cuda", non_blocking=True).view(batch.shape)


# %% exercise="15.5" role="mutant" why="the function as it was"
def centred(x):
    side = torch.cuda.Stream()
    result = torch.empty(x.shape, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.sub(x, x.mean(), out=result)
    torch.cuda.current_stream().wait_stream(side)
    result.record_stream(torch.cuda.current_stream())
    x.record_stream(side)
    return result


# %% exercise="15.5" role="mutant" why="only the memory is on the device of x"
def centred(x):
    side = torch.cuda.Stream()
    result = torch.empty(x.shape, device=x.device)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.sub(x, x.mean(), out=result)
    torch.cuda.current_stream().wait_stream(side)
    return result


# %% exercise="15.5" role="mutant" why="makes the device current, and leaves it so"
def centred(x):
    torch.cuda.set_device(x.device)
    current, side = torch.cuda.current_stream(), torch.cuda.Stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        result = x - x.mean()
    current.wait_stream(side)
    return result


# %% exercise="15.5" role="mutant" why="changes the device back, but not where an error comes first"
def centred(x):
    before = torch.cuda.current_device()
    torch.cuda.set_device(x.device)
    current, side = torch.cuda.current_stream(), torch.cuda.Stream()
    side.wait_stream(current)
    with torch.cuda.stream(side):
        result = x - x.mean()
    current.wait_stream(side)
    torch.cuda.set_device(before)
    return result


# %% exercise="15.5" role="mutant" why="waits at the end with the stream of the current device"
def centred(x):
    with torch.cuda.device_of(x):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            result = x - x.mean()
    torch.cuda.current_stream().wait_stream(side)
    return result


# %% exercise="15.5" role="mutant" why="does not wait for what is on the current stream"
def centred(x):
    with torch.cuda.device_of(x):
        current, side = torch.cuda.current_stream(), torch.cuda.Stream()
        with torch.cuda.stream(side):
            result = x - x.mean()
        current.wait_stream(side)
    return result


# %% exercise="15.5" role="mutant" why="the host waits for the side stream"
def centred(x):
    with torch.cuda.device_of(x):
        current, side = torch.cuda.current_stream(), torch.cuda.Stream()
        side.wait_stream(current)
        with torch.cuda.stream(side):
            result = x - x.mean()
        side.synchronize()
    return result


# %% exercise="15.5" role="mutant" why="no side stream"
def centred(x):
    return x - x.mean()


# %% exercise="15.5" role="mutant" why="only the mean is computed on the side stream"
def centred(x):
    with torch.cuda.device_of(x):
        current, side = torch.cuda.current_stream(), torch.cuda.Stream()
        side.wait_stream(current)
        with torch.cuda.stream(side):
            mean = x.mean()
        current.wait_stream(side)
        mean.record_stream(current)
        return x - mean


# %% exercise="15.6" role="mutant" why="the seeds are in the queue, in the order of the program"
def before_the_start() -> dict[str, int | str | list | bool]:
    return {"queued": 4, "last": "manual_seed.<locals>.cb", "seeds": [7, 5, 9], "started": False}


# %% exercise="15.6" role="mutant" why="only what the program has asked for is queued"
def before_the_start() -> dict[str, int | str | list | bool]:
    return {"queued": 1, "last": "set_rng_state.<locals>.cb", "seeds": [9], "started": False}


# %% exercise="15.7" role="mutant" why="first fit: the lowest address"
Right = Allocator


class Allocator(Right):
    def find(self, size, small, stream):
        for segment in self.held:
            for block in segment["blocks"]:
                fits = segment["small"] == small and segment["stream"] == stream and block["size"] >= size
                if fits and not block["used"]:
                    return segment, block
        return None


# %% exercise="15.7" role="mutant" why="of equal holes the one that was found last"
class Allocator(Right):
    def find(self, size, small, stream):
        fitting = [
            (block["size"], -block["address"], segment, block)
            for segment in self.held
            if segment["small"] == small and segment["stream"] == stream
            for block in segment["blocks"]
            if not block["used"] and block["size"] >= size
        ]
        return min(fitting, key=lambda each: each[:2])[2:] if fitting else None


# %% exercise="15.7" role="mutant" why="does not ask for the stream"
class Allocator(Right):
    def find(self, size, small, stream):
        for each in {segment["stream"] for segment in self.held}:
            if found := Right.find(self, size, small, each):
                return found
        return None


# %% exercise="15.7" role="mutant" why="merges with the right neighbour only"
class Allocator(Right):
    def merge(self, blocks, place):
        if place < len(blocks) - 1 and not blocks[place + 1]["used"]:
            blocks[place]["size"] += blocks.pop(place + 1)["size"]


# %% exercise="15.7" role="mutant" why="never merges"
class Allocator(Right):
    def merge(self, blocks, place):
        pass


# %% exercise="15.7" role="mutant" why="one kind of segment, of 2 MiB or more"
class Allocator(Right):
    def grow(self, size, small, stream):
        return Right.grow(self, max(size, 10 << 20) if not small else size, small, stream)


# %% exercise="15.7" role="mutant" why="is out of memory without giving anything back"
class Allocator(Right):
    def grow(self, size, small, stream):
        total = 2 << 20 if small else 20 << 20 if size < 10 << 20 else -(-size // (2 << 20)) * (2 << 20)
        if self.reserved() + total > self.capacity:
            raise OutOfMemory(size)
        return Right.grow(self, size, small, stream)


# %% exercise="15.7" role="mutant" why="gives unused segments back as soon as they are unused"
class Allocator(Right):
    def free(self, address):
        Right.free(self, address)
        self.held = [segment for segment in self.held if any(block["used"] for block in segment["blocks"])]


# %% exercise="15.7" role="mutant" why="never out of memory"
class Allocator(Right):
    def __init__(self, capacity):
        Right.__init__(self, 1 << 60)


# %% exercise="15.7" role="mutant" why="sizes are rounded to 256"
class Allocator(Right):
    def malloc(self, size, stream=0):
        size = max(-(-size // 256) * 256, 256)
        small = size <= 1 << 20
        segment, block = self.find(size, small, stream) or self.grow(size, small, stream)
        rest = block["size"] - size
        if rest >= 512 if small else rest > 1 << 20:
            place = segment["blocks"].index(block)
            segment["blocks"].insert(place + 1, {"address": block["address"] + size, "size": rest, "used": False})
            block["size"] = size
        block["used"] = True
        return block["address"]


# %% exercise="15.7" role="mutant" why="splits whatever is left"
class Allocator(Right):
    def malloc(self, size, stream=0):
        size = max(-(-size // 512) * 512, 512)
        small = size <= 1 << 20
        segment, block = self.find(size, small, stream) or self.grow(size, small, stream)
        rest = block["size"] - size
        if rest >= 512:
            place = segment["blocks"].index(block)
            segment["blocks"].insert(place + 1, {"address": block["address"] + size, "size": rest, "used": False})
            block["size"] = size
        block["used"] = True
        return block["address"]


# %% exercise="15.7" role="mutant" why="the request gets the upper part"
class Allocator(Right):
    def malloc(self, size, stream=0):
        address = Right.malloc(self, size, stream)
        for segment in self.held:
            blocks = segment["blocks"]
            for place, block in enumerate(blocks[:-1]):
                if block["address"] == address and not blocks[place + 1]["used"]:
                    rest = blocks[place + 1]["size"]
                    blocks[place]["size"], blocks[place]["used"] = rest, False
                    blocks[place + 1] = {"address": address + rest, "size": segment_of(size), "used": True}
                    return address + rest
        return address


def segment_of(size):
    return max(-(-size // 512) * 512, 512)


# %% exercise="15.7" role="mutant" why="each segment begins at 0"
class Allocator(Right):
    def grow(self, size, small, stream):
        found = Right.grow(self, size, small, stream)
        found[1]["address"] = 0
        return found


# %% exercise="15.7" role="mutant" why="blames whatever is in use"
Allocator = Right
explain_rightly = explain


def explain(events, capacity):
    report = explain_rightly(events, capacity)
    if report:
        report["to blame"] = [name for what, name, *_ in events if what == "malloc"][:-1]
    return report


# %% exercise="15.7" role="mutant" why="counts the reserved memory as the largest hole"
def explain(events, capacity):
    report = explain_rightly(events, capacity)
    if report:
        report["largest hole"] = report["reserved"] - report["allocated"]
    return report


# %% exercise="15.7" role="mutant" why="returns a report where there is memory for all"
def explain(events, capacity):
    return explain_rightly(events, capacity) or {}
