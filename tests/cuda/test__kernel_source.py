"""What the text of CUDA C++ becomes for simulated devices, and which kernels it has.

Mirrors: nothing in PyTorch: tests of a text that it does not rewrite.
"""

from __future__ import annotations

import pytest

from reftorch.cuda._kernel_source import as_cpp, kernels_of

REWRITTEN = {
    "launch": ("k<<<2, 32>>>(x);", "k->*cudasim::configuration(2, 32)(x);"),
    "launch of a template": (
        "k<float, A<B<int>>><<<dim3(g(1), 2), b[0]>>>(x);",
        "k<float, A<B<int>>>->*cudasim::configuration(dim3(g(1), 2), b[0])(x);",
    ),
    "two launches": ("a<<<1>>>(); b<<<3>>>();", "a->*cudasim::configuration(1)(); b->*cudasim::configuration(3)();"),
    "comments and strings": ("// k<<<1, 2>>>\n/* <<< */ \"<<<\" '<'", "// k<<<1, 2>>>\n/* <<< */ \"<<<\" '<'"),
    "shared": (
        "void k() { extern __shared__ float s[]; }", "void k() { float* const s = cudasim::DynamicShared(); }",
    ),
    "shared, aligned, in two lines": (
        "void k() {\nextern __shared__ __align__(16)\n  unsigned char s[];\n}",
        "void k() {\n__align__(16) unsigned char* const s = cudasim::DynamicShared();\n\n}",
    ),
    "shared rows": (
        "void k() { extern __shared__ T s[][33]; }", "void k() { T (*const s)[33] = cudasim::DynamicShared(); }",
    ),
    "shared outside": (
        "namespace a { extern __shared__ float s[]; }",
        "namespace a { static cudasim::DynamicSharedArray<float> s; }",
    ),
    "shared of a known size": ("__shared__ float s[32];", "__shared__ float s[32];"),
    "never inlined": ("__device__ __noinline__ int f();", "__device__ __attribute__((noinline)) int f();"),
    "a number with separators": ("int x = 1'000; k<<<1, 2>>>();", "int x = 1'000; k->*cudasim::configuration(1, 2)();"),
}  # fmt: skip


@pytest.mark.parametrize("case", REWRITTEN)
def test_rewritten(case: str) -> None:
    source, wanted = REWRITTEN[case]
    assert as_cpp(source) == wanted
    assert source.count("\n") == wanted.count("\n")


def test_kernels() -> None:
    found = kernels_of("""
        // __global__ void no() {}
        extern "C" __global__ void __launch_bounds__(256) a(const float* x /* in, put */, std::array<int, 3> n = {}) {}
        static void __global__ b() {}
        __device__ int not_one(int x) { return x; }
        __global__ void a(const float* x, std::array<int, 3> n);
        template <typename T, int N = 4>
        __global__ void c(T* __restrict__ x, int rows[]) {}
    """)
    assert [(each.name, each.parameters, each.is_template) for each in found] == [
        ("a", ("x", "n"), False), ("b", (), False), ("c", ("x", "rows"), True),
    ]  # fmt: skip
