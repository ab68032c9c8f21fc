"""Kernels compiled at run time, on two simulated devices or on a GPU: run by test_devices.py.

Mirrors: test/test_cuda.py, ``test_compile_kernel``

One text has the kernels of most tests, because compiling takes longer than running.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from reftorch.cuda import _kernel_compiler
from reftorch.cuda._kernels import _CudaKernel

SIMULATED = getattr(torch._C, "_cuda_is_simulated", False)
simulated = pytest.mark.skipif(not SIMULATED, reason="of the simulator")

ZOO = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

__constant__ float weights[3] = {1, 10, 100};
__device__ __noinline__ float weighted(float x, int which) { return x * weights[which]; }

extern "C" __global__ void __launch_bounds__(128) add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
__global__ void numbers(double* out, float f, double d, int i, long long l, unsigned char c, bool yes) {
  out[0] = f; out[1] = d; out[2] = i; out[3] = (double)l; out[4] = c; out[5] = yes;
}
__global__ void reverse_in_block(float* x) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = x[i];
  __syncthreads();
  x[i] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void turn(const float* x, float* out) {  // 32 x 32
  extern __shared__ __align__(16) float tile[][33];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
template <typename T, int By> __global__ void scale(T* x, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = x[i] * T(By);
}
__global__ void dot(const float* a, const float* b, float* out) {
  __shared__ float s[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  s[t] = a[i] * b[i];
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) atomicAdd(out, s[0]);
}
__global__ void loads(const float* x, float* out) {
  const float4 v = reinterpret_cast<const float4*>(x)[threadIdx.x];
  const int2 pair = make_int2(3, 4);
  out[threadIdx.x] = max(min(v.x, v.y), 0.5f) + __ldg(x + 4 * threadIdx.x + 2) + v.w + pair.y + weighted(1, 2);
}
__global__ void atomics(int* x) {
  atomicAdd(x + 0, 2);
  atomicSub(x + 1, 2);
  atomicMax(x + 2, (int)threadIdx.x);
  atomicMin(x + 3, -(int)threadIdx.x);
  atomicOr(x + 4, 1 << threadIdx.x % 8);
  atomicXor(x + 5, 1);
  atomicExch(x + 6, 7);
  atomicCAS(x + 7, 0, 1);
  atomicInc((unsigned*)x + 8, 9);
}
__global__ void bits(int* out) {
  int k = 0;
  out[k++] = __popc(0xf0f); out[k++] = __clz(1); out[k++] = __ffs(8); out[k++] = __brev(1) == 0x80000000u;
  out[k++] = __float_as_int(1.0f); out[k++] = __float2int_rn(2.5f); out[k++] = __mulhi(1 << 20, 1 << 20);
  out[k++] = clock64() > 0; out[k++] = (int)(1000 * rsqrtf(4.0f)); out[k++] = (int)__saturatef(5.0f);
  out[k++] = __popcll(~0ull); out[k++] = __ffsll(1ll << 40);
}
__global__ void barriers(int* out) {
  const int many = __syncthreads_count(threadIdx.x % 3 == 0), any = __syncthreads_or(threadIdx.x == 5);
  const int all = __syncthreads_and(threadIdx.x < 95), none = __syncthreads_or(0);
  if (threadIdx.x == 95) { out[0] = many; out[1] = any; out[2] = all; out[3] = none; }
}
__global__ void warps(int* out) {
  const int lane = threadIdx.x % 32;
  int sum = lane;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  const int up = __shfl_up_sync(0xffffffff, lane, 1), down = __shfl_down_sync(0xffffffff, lane, 1, 16);
  const int ballot = __ballot_sync(0xffffffff, lane < 3), active = __activemask() == 0xffffffff;
  const int reduced = __reduce_max_sync(0xffffffff, lane * 3), same = __match_any_sync(0xffffffff, lane / 8);
  __syncwarp();
  const int all[] = {sum, up, down, ballot, active, reduced, same};
  if (threadIdx.x == 47) for (int i = 0; i < 7; i++) out[i] = all[i];
}
__global__ void halves(const __half* x, __half* out, __nv_bfloat16* rounded) {
  const __half2 pair = __halves2half2(x[0], x[1]);
  out[0] = __hadd(x[0], x[1]); out[1] = __hfma(x[0], x[1], __float2half(1.0f));
  out[2] = __low2half(__hmul2(pair, pair));
  out[3] = x[0] < x[1] ? hexp(__float2half(0.0f)) : x[0];
  rounded[0] = __float2bfloat16(1.00390625f);
}
__global__ void groups(float* out) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  const float sum = cg::reduce(tile, float(block.thread_rank()), cg::plus<float>());
  block.sync();
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = sum + tile.size();
}
__global__ void say(int n) { if ((int)threadIdx.x < n) printf("thread %d of block %d\n", threadIdx.x, blockIdx.x); }
__global__ void nothing() {}
"""
NAMES = [
    "add", "numbers", "reverse_in_block", "turn", "dot", "loads", "atomics", "bits", "barriers", "warps", "halves",
    "groups", "say", "nothing",
]  # fmt: skip


@pytest.fixture(scope="module")
def zoo() -> Any:
    names = [*NAMES, "scale<float, 3>", "scale<long long, 2>"]
    kernels = _kernel_compiler.CompiledKernels(ZOO, names, "zoo.cu")
    return {name: _CudaKernel(name, kernels) for name in names}


def ints(kernel: Any, block: int, count: int) -> list[int]:
    out = torch.zeros(count, dtype=torch.int32, device="cuda")
    kernel(block=block, args=[out])
    return out.tolist()


def test_a_kernel_on_tensors(zoo: Any) -> None:
    a, b = torch.randn(1000, device="cuda"), torch.randn(1000, device="cuda")
    out = torch.full((1001,), 7.0, device="cuda")
    zoo["add"](grid=(8, 1, 1), block=(128, 1, 1), args=[a, b, out, a.numel()])
    assert torch.equal(out[:-1], a + b) and out[-1].item() == 7
    zoo["add"](8, 128, [a.cpu().pin_memory(), b, out, 1000])
    assert torch.equal(out[:-1], a + b)
    stream = torch.cuda.Stream()
    zoo["nothing"](stream=stream)
    stream.synchronize()


def test_numbers_become_what_the_kernel_declares(zoo: Any) -> None:
    out = torch.zeros(6, dtype=torch.float64, device="cuda")
    zoo["numbers"](args=[out, 1, 0.1, -3.0, 1 << 40, 255, True])
    assert out.tolist() == [1, 0.1, -3, 1 << 40, 255, 1]


def test_dynamic_shared_memory(zoo: Any) -> None:
    x = torch.arange(64.0, device="cuda")
    zoo["reverse_in_block"](grid=2, block=32, args=[x], shared_mem=32 * 4)
    assert torch.equal(x, torch.arange(64.0, device="cuda").reshape(2, 32).flip(1).reshape(-1))
    x, out = torch.randn(32, 32, device="cuda"), torch.empty(32, 32, device="cuda")
    zoo["turn"](block=(32, 32), args=[x, out], shared_mem=32 * 33 * 4)
    assert torch.equal(out, x.T)


def test_templates_are_named_with_their_arguments(zoo: Any) -> None:
    for name, dtype, by in (("scale<float, 3>", torch.float32, 3), ("scale<long long, 2>", torch.int64, 2)):
        x = torch.arange(10, device="cuda", dtype=dtype)
        zoo[name](block=4, args=[x, 10])
        assert x.tolist() == [by * i for i in range(10)]


def test_a_sum_through_shared_memory_and_atomics(zoo: Any) -> None:
    a, b, out = torch.rand(1024, device="cuda"), torch.rand(1024, device="cuda"), torch.zeros(1, device="cuda")
    zoo["dot"](grid=4, block=256, args=[a, b, out])
    torch.testing.assert_close(out[0], a @ b)


def test_what_kernels_call(zoo: Any) -> None:
    x, out = torch.arange(16.0, device="cuda"), torch.empty(4, device="cuda")
    zoo["loads"](block=4, args=[x, out])
    assert out.tolist() == [109.5 + 0, 4 + 6 + 7 + 104, 8 + 10 + 11 + 104, 12 + 14 + 15 + 104]
    assert ints(zoo["atomics"], 64, 9) == [128, -128, 63, -63, 255, 0, 7, 1, 4]
    assert ints(zoo["bits"], 1, 12) == [8, 31, 4, 1, 0x3F800000, 2, 256, 1, 500, 1, 64, 41]
    assert ints(zoo["barriers"], 96, 4) == [32, 1, 0, 0]
    assert ints(zoo["warps"], 64, 7) == [496, 14, 15, 7, 1, 93, 0xFF00]


def test_halves(zoo: Any) -> None:
    x = torch.tensor([1.5, 2.25], dtype=torch.float16, device="cuda")
    out = torch.empty(4, dtype=torch.float16, device="cuda")
    rounded = torch.empty(1, dtype=torch.bfloat16, device="cuda")
    zoo["halves"](args=[x, out, rounded])
    assert out.tolist() == [3.75, 4.375, 2.25, 1.0] and rounded.item() == 1.0


def test_cooperative_groups(zoo: Any) -> None:
    out = torch.empty(4, device="cuda")
    zoo["groups"](block=32, args=[out])
    assert out.tolist() == [28 + 8, 92 + 8, 156 + 8, 220 + 8]


@simulated
def test_printf(zoo: Any, capfd: pytest.CaptureFixture[str]) -> None:
    zoo["say"](grid=2, block=3, args=[1])
    torch.cuda.synchronize()
    assert sorted(capfd.readouterr().out.splitlines()) == ["thread 0 of block 0", "thread 0 of block 1"]


WRONG = {
    "number": ("[X, X, X]", TypeError, r"add takes 4 arguments \(a, b, out, n\), got 3"),
    "dtype": ("[X, X.double(), X, 4]", TypeError, r"add: b is a pointer to float, got a tensor of torch.float64"),
    "integers": ("[X, X, X.int(), 4]", TypeError, r"add: out is a pointer to float, got a tensor of torch.int32"),
    "CPU": ("[X, X.cpu(), X, 4]", ValueError, "must be CUDA tensors or pinned CPU tensors; add: b is on cpu"),
    "tensor": ("[X, X, X, X[0]]", TypeError, "add: n is a number of type int, got a tensor. Hint"),
    "pointer": ("[X, 3, X, 4]", TypeError, "add: b is a pointer to float, got 3"),
    "fraction": ("[X, X, X, 4.5]", TypeError, "add: n is a number of type int, got 4.5"),
    "infinity": ("[X, X, X, math.inf]", TypeError, "add: n is a number of type int, got inf"),
    "size": ("[X, X, X, 1 << 40]", ValueError, "add: n is a number of type int, and 1099511627776 does not fit"),
    "object": ("[X, X, X, None]", TypeError, "Unsupported argument type: <class 'NoneType'>; add: n is a number"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(zoo: Any, case: str) -> None:
    text, kind, message = WRONG[case]
    args = eval(text, {"X": torch.zeros(4, device="cuda"), "math": __import__("math")})
    with pytest.raises(kind, match=message):
        zoo["add"](args=args)


def test_wrong_launches(zoo: Any) -> None:
    with pytest.raises(RuntimeError, match="CUDA error: invalid configuration argument\nThe launch was nothing with"):
        zoo["nothing"](block=2048)
    with pytest.raises(RuntimeError, match="CUDA error: invalid configuration argument"):
        zoo["nothing"](grid=0)
    with pytest.raises(ValueError, match="grid must be one to three numbers"):
        zoo["nothing"](grid=(1, 2, 3, 4))
    with pytest.raises(ValueError, match="block must be one to three numbers"):
        zoo["nothing"](block=-1)
    with pytest.raises(TypeError, match=r"grid must be .* whole numbers, got float. Hint: n // 128 is a whole number"):
        zoo["nothing"](grid=100 / 8)
    x = torch.zeros(4, device="cuda")
    with pytest.raises(TypeError, match=r"got Tensor. Hint: the kernel's own arguments go into args=\[...\]"):
        zoo["add"](x, x, x, 4)
    with pytest.raises(TypeError, match="add: args must be a list with one argument for each parameter, got a tensor"):
        zoo["add"](args=x)
    with pytest.raises(RuntimeError, match=r"Kernel requires 49152 bytes .*, but not configured"):
        zoo["nothing"](shared_mem=48 * 1024)
    with pytest.raises(RuntimeError, match=r"Requested shared memory \(1048576 bytes\) exceeds device limit"):
        zoo["nothing"].set_shared_memory_config(1 << 20)
    zoo["nothing"].set_shared_memory_config(48 * 1024)
    zoo["nothing"](shared_mem=48 * 1024)
    torch.cuda.synchronize()  # none of the refused launches has spoiled the device


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two devices")
def test_a_tensor_on_another_device(zoo: Any) -> None:
    x, far = torch.zeros(4, device="cuda:0"), torch.zeros(4, device="cuda:1")
    with pytest.raises(ValueError, match="add: b is on cuda:1, but the kernel runs on cuda:0"):
        zoo["add"](args=[x, far, x, 4])


def test_a_text_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "#include <twice.h>\n__global__ void put(int* x) { *x = TWICE(N); }"
    (tmp_path / "twice.h").write_text("#define TWICE(x) (2 * (x))\n")
    folder = str(tmp_path)
    put = torch.cuda._compile_kernel(source, "put", cuda_include_dirs=[folder], nvcc_options=["-DN=21", "-lineinfo"])
    assert ints(put, 1, 1) == [42]
    assert repr(put) == "<CUDA kernel put(x)>"
    monkeypatch.setattr(_kernel_compiler, "run", lambda *_: pytest.fail("compiled again"))
    put = torch.cuda._compile_kernel(source, "put", cuda_include_dirs=[folder], nvcc_options=["-DN=21", "-lineinfo"])
    assert ints(put, 1, 1) == [42]


def test_the_compiler_names_the_lines_of_the_text() -> None:
    source = "__global__ void k(float* x) {\n  extern __shared__ float s[];\n  x[0] = undeclared;\n}\n"
    with pytest.raises(RuntimeError, match="Kernel compilation failed:") as told:
        torch.cuda._compile_kernel(source, "k")
    assert "k.cu:3" in str(told.value).replace("k.cu(3)", "k.cu:3")
    assert "x[0] = undeclared" in str(told.value) and "unit.c" not in str(told.value)


@simulated
def test_what_the_compiler_notices_only_after_the_text() -> None:
    with pytest.raises(RuntimeError, match=r"failed:\nk.cu:1: error: the '\{' of this line is never closed\n"):
        torch.cuda._compile_kernel("__global__ void k(int* x) {\n  if (x) { x[0] = 1;\n}\n", "k")
    with pytest.raises(
        RuntimeError, match=r"failed:\nk returns float\. A kernel returns nothing, `__global__ void k`;"
    ):
        torch.cuda._compile_kernel("__global__ float k(float* x) { return x[0]; }", "k")


def test_a_name_that_is_no_kernel() -> None:
    with pytest.raises(RuntimeError, match="the source has no kernel 'ad'; it has add, numbers"):
        torch.cuda._compile_kernel(ZOO, "ad")
    with pytest.raises(RuntimeError, match="scale is a template: name one of its kernels, such as 'scale<float>'"):
        torch.cuda._compile_kernel(ZOO, "scale")
    with pytest.raises(RuntimeError, match="no function that is declared __global__"):
        torch.cuda._compile_kernel("// __global__ void k() {}", "k")


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX" if SIMULATED else "NVCC", "no-such-compiler")
    with pytest.raises(RuntimeError, match="no compiler 'no-such-compiler'; install"):
        torch.cuda._compile_kernel("__global__ void k() {}", "k")
