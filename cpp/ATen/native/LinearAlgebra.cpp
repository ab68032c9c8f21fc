// Mirrors: aten/src/ATen/native/LinearAlgebra.cpp
//
// Products of two matrices and of two batches of matrices. Ops composed of these products are in Matmul.cpp,
// Tensordot.cpp, Einsum.cpp and MatrixChain.cpp. Left out: sparse operands, the argument out_dtype.
#include <ATen/native/LinearAlgebra.h>

#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/Resize.h>
#include <ATen/TensorIterator.h>
#include <ATen/TypePromotion.h>
#include <ATen/core/library.h>
#include <ATen/native/Fill.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TypeMetaName.h>

#include <algorithm>
#include <vector>

namespace reftorch::at::native {

DEFINE_DISPATCH(addmm_stub)
DEFINE_DISPATCH(baddbmm_stub)

// Allocates or resizes `out`; raises if a given `out` has another dtype.
static void prepare_output(Tensor& out, IntArrayRef sizes, const Tensor& like) {
  if (!out.defined()) {
    out = detail::empty_generic(sizes, like.scalar_type(), like.device());
    return;
  }
  TORCH_CHECK(out.scalar_type() == like.scalar_type(), "Expected out tensor to have dtype ",
              type_meta_name(like.scalar_type()), ", but got ", type_meta_name(out.scalar_type()), " instead");
  resize_output(out, sizes);
}

// result (m, n) = alpha * mat1 (m, k) @ mat2 (k, n) + beta * result
static void addmm_impl(const Tensor& result, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                       const Scalar& alpha) {
  if (result.numel() == 0) {
    return;
  }
  if (mat1.sizes()[1] == 0 && beta.equal(0)) {
    zero_impl(result);
    return;
  }
  assert_no_overlap(result, mat1);
  assert_no_overlap(result, mat2);
  addmm_stub(result.device().type(), result, mat1, mat2, beta, alpha);
}

static void check_shapes_multiply(const Tensor& mat1, const Tensor& mat2) {
  TORCH_CHECK(mat1.sizes()[1] == mat2.sizes()[0], "mat1 and mat2 shapes cannot be multiplied (", mat1.sizes()[0], "x",
              mat1.sizes()[1], " and ", mat2.sizes()[0], "x", mat2.sizes()[1], ")");
}

static void mm_out(const Tensor& self, const Tensor& mat2, Tensor& out) {
  TORCH_CHECK(self.dim() == 2, "self must be a matrix");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix");
  check_shapes_multiply(self, mat2);
  TORCH_CHECK(self.scalar_type() == mat2.scalar_type(),
              "expected m1 and m2 to have the same dtype, but got: ", type_meta_name(self.scalar_type()),
              " != ", type_meta_name(mat2.scalar_type()));
  prepare_output(out, {self.sizes()[0], mat2.sizes()[1]}, self);
  addmm_impl(out, self, mat2, /*beta=*/0, /*alpha=*/1);
}

// out = beta * self + alpha * mat1 @ mat2; self is broadcast.
static void addmm_out(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
                      const Scalar& alpha, Tensor& out) {
  TORCH_CHECK(mat1.dim() == 2, "mat1 must be a matrix, got ", mat1.dim(), "-D tensor");
  TORCH_CHECK(mat2.dim() == 2, "mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  check_shapes_multiply(mat1, mat2);
  TORCH_CHECK(mat1.scalar_type() == mat2.scalar_type(), "mat1 and mat2 must have the same dtype, but got ",
              mat1.scalar_type(), " and ", mat2.scalar_type());
  TORCH_CHECK(self.scalar_type() == mat2.scalar_type(), "self and mat2 must have the same dtype, but got ",
              self.scalar_type(), " and ", mat2.scalar_type());
  const DimVector sizes = {mat1.sizes()[0], mat2.sizes()[1]};
  if (out.defined() && out.is_same(self)) {
    TORCH_CHECK(self.sizes() == IntArrayRef(sizes), "Bad in-place call: input tensor size ", self.sizes(),
                " and output tensor size ", IntArrayRef(sizes), " should match");
  } else {
    const Tensor addend = at::expand(self, sizes); // before `out` is allocated: raises for a shape that does not fit
    prepare_output(out, sizes, mat1);
    if (!beta.equal(0)) {
      at::copy_(out, addend);
    }
  }
  addmm_impl(out, mat1, mat2, beta, alpha);
}

// --- batches: (b, m, k) @ (b, k, n) ----------------------------------------------------------------------------------

static void check_bmm(const Tensor& batch1, const Tensor& batch2) {
  TORCH_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
  TORCH_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
  const DimVector expected = {batch1.sizes()[0], batch1.sizes()[2]};
  TORCH_CHECK(batch2.sizes().slice(0, 2) == IntArrayRef(expected),
              "Expected size for first two dimensions of batch2 tensor to be: ", IntArrayRef(expected),
              " but got: ", batch2.sizes().slice(0, 2), ".");
}

static void baddbmm_impl(const char* name, const Tensor& result, const Tensor& batch1, const Tensor& batch2,
                         const Scalar& beta, const Scalar& alpha) {
  if (result.numel() == 0) {
    return;
  }
  if (batch1.sizes()[2] == 0 && beta.equal(0)) {
    zero_impl(result);
    return;
  }
  assert_no_overlap(result, batch1);
  assert_no_overlap(result, batch2);
  baddbmm_stub(result.device().type(), name, result, batch1, batch2, beta, alpha);
}

static void bmm_out(const Tensor& self, const Tensor& mat2, Tensor& out) {
  check_bmm(self, mat2);
  // An empty product is allowed for operands of different dtypes. There is no product of bools, and the kernel reports
  // this.
  const bool nothing = self.numel() == 0 || mat2.numel() == 0;
  TORCH_CHECK(nothing || self.scalar_type() == kBool || self.scalar_type() == mat2.scalar_type(),
              "expected scalar type ", self.scalar_type(), " but found ", mat2.scalar_type());
  prepare_output(out, {self.sizes()[0], self.sizes()[1], mat2.sizes()[2]}, mat2);
  baddbmm_impl("bmm", out, self, mat2, /*beta=*/0, /*alpha=*/1);
}

static void baddbmm_out(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                        const Scalar& alpha, Tensor& out) {
  const bool inplace = out.defined() && out.is_same(self);
  Tensor addend = self;
  if (!inplace) { // raises for a shape that does not fit, before any other check
    addend = at::expand(self, {batch1.size(0), batch1.size(1), batch2.size(2)});
  }
  check_bmm(batch1, batch2);
  TORCH_CHECK(self.scalar_type() == batch1.scalar_type() && batch1.scalar_type() == batch2.scalar_type(),
              "Input dtypes must be the same, got: input ", type_meta_name(self.scalar_type()),
              ", batch1: ", type_meta_name(batch1.scalar_type()), ", batch2: ", type_meta_name(batch2.scalar_type()));
  const DimVector sizes = {batch1.sizes()[0], batch1.sizes()[1], batch2.sizes()[2]};
  if (inplace) {
    TORCH_CHECK(self.sizes() == IntArrayRef(sizes), "Bad in-place call: input tensor size ", self.sizes(),
                " and output tensor size ", IntArrayRef(sizes), " should match");
  } else {
    prepare_output(out, sizes, batch1);
    if (!beta.equal(0)) {
      at::copy_(out, addend);
    }
  }
  baddbmm_impl("baddbmm", out, batch1, batch2, beta, alpha);
}

// out (m, n) = beta * self + alpha * sum over b of batch1[b] @ batch2[b]. The batch dimension and the inner dimension
// are both summed, so they are merged into one: (m, b * k) @ (b * k, n). 16-bit floats round the sum after each b, as
// in PyTorch.
static void addbmm_out(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta,
                       const Scalar& alpha, Tensor& out) {
  at::expand(self, {batch1.size(1), batch2.size(2)}); // raises for a shape that does not fit
  TORCH_CHECK(batch1.dim() == 3, "batch1 must be a 3D tensor");
  TORCH_CHECK(batch2.dim() == 3, "batch2 must be a 3D tensor");
  const IntArrayRef size1 = batch1.sizes(), size2 = batch2.sizes();
  TORCH_CHECK(size1[0] == size2[0], "batch1 and batch2 must have same number of batches, got ", size1[0], " and ",
              size2[0]);
  TORCH_CHECK(size1[2] == size2[1], "Incompatible matrix sizes for bmm (", size1[1], "x", size1[2], " and ", size2[1],
              "x", size2[2], ")");
  if (size1[0] == 0) { // an empty batch adds nothing, whatever its dtype is
    const DimVector sizes = {size1[1], size2[2]};
    prepare_output(out, sizes, self);
    if (beta.equal(0)) {
      zero_impl(out);
    } else {
      at::mul_out(out, at::expand(self, sizes), detail::wrapped_scalar_tensor(beta));
    }
    return;
  }
  if (c10::isReducedFloatingType(batch1.scalar_type())) {
    addmm_out(self, at::select(batch1, 0, 0), at::select(batch2, 0, 0), beta, alpha, out);
    for (int64_t b = 1; b < size1[0]; b++) {
      addmm_out(out, at::select(batch1, 0, b), at::select(batch2, 0, b), /*beta=*/1, alpha, out);
    }
    return;
  }
  const int64_t inner = size1[0] * size1[2];
  addmm_out(self, at::reshape(at::transpose(batch1, 0, 1), {size1[1], inner}), at::reshape(batch2, {inner, size2[2]}),
            beta, alpha, out);
}

// --- addr: beta * self + alpha * vec1 (n) times vec2 (m) -------------------------------------------------------------

static void check_addr_scalar(const char* name, const Scalar& scalar, ScalarType dtype) {
  TORCH_CHECK(!scalar.isBoolean() || dtype == kBool, "Boolean ", name, " only supported for Boolean results.");
  TORCH_CHECK(c10::isFloatingType(dtype) || scalar.isIntegral(/*includeBool=*/true),
              "For integral input tensors, argument ", name, " must not be a floating point number.");
}

static void addr_out(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta,
                     const Scalar& alpha, Tensor& out) {
  TORCH_CHECK(vec1.dim() == 1, "addr: Expected 1-D argument vec1, but got ", vec1.dim(), "-D");
  TORCH_CHECK(vec2.dim() == 1, "addr: Expected 1-D argument vec2, but got ", vec2.dim(), "-D");
  const DimVector sizes = {vec1.sizes()[0], vec2.sizes()[0]};
  const bool inplace = out.defined() && out.is_same(self);
  TORCH_CHECK(!inplace || self.dim() == 2, "2D tensor expected, got ", self.dim(), "D tensor for input");
  const Tensor addend = at::expand(self, sizes); // raises for a shape that does not fit
  const ScalarType dtype = result_type(std::vector<Tensor>{self, vec1, vec2});
  check_addr_scalar("beta", beta, dtype);
  check_addr_scalar("alpha", alpha, dtype);
  auto number = [dtype](const Scalar& value) { // alpha and beta do not change the dtype
    return detail::scalar_tensor(value, dtype);
  };
  Tensor sum = at::mul(at::mul(number(alpha), at::to(at::unsqueeze(vec1, 1), dtype)), vec2);
  if (!beta.equal(0)) {
    sum = at::add(at::mul(at::to(addend, dtype), number(beta)), sum);
  }
  TORCH_CHECK(!inplace || self.sizes() == IntArrayRef(sizes), "Bad in-place call: input tensor size ", self.sizes(),
              " and output tensor size ", IntArrayRef(sizes), " should match");
  if (!inplace) { // an iterator over all operands checks `out` or chooses its strides
    TensorIteratorConfig()
        .add_output(out)
        .add_input(addend)
        .add_input(at::unsqueeze(vec1, 1))
        .add_input(vec2)
        .promote_inputs_to_common_dtype(true)
        .allow_cpu_scalars(true)
        .build();
  }
  TORCH_CHECK(c10::canCast(dtype, out.scalar_type()), "result type ", dtype,
              " can't be cast to the desired output type ", out.scalar_type());
  at::copy_(out, sum);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def_structured("mm(Tensor self, Tensor mat2) -> Tensor", TORCH_FN(mm_out),
                   kernels(fill_stub, zero_stub, addmm_stub), derive::OUT);
  m.def_structured("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                   TORCH_FN(addmm_out), kernels(fill_stub, zero_stub, addmm_stub));
  m.def_structured("bmm(Tensor self, Tensor mat2) -> Tensor", TORCH_FN(bmm_out),
                   kernels(fill_stub, zero_stub, baddbmm_stub), derive::OUT);
  m.def_structured("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                   TORCH_FN(baddbmm_out), kernels(fill_stub, zero_stub, baddbmm_stub));
  m.def_structured("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                   TORCH_FN(addbmm_out), kernels(fill_stub, zero_stub, addmm_stub, baddbmm_stub));
  m.def_structured("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
                   TORCH_FN(addr_out));
}

} // namespace reftorch::at::native
