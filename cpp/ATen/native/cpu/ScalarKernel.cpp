// Mirrors: aten/src/ATen/native/Scalar.cpp (_local_scalar_dense_cpu)
#include <ATen/native/Scalar.h>

#include <ATen/Dispatch.h>

namespace reftorch::at::native {

static Scalar local_scalar_dense_kernel(const Tensor& self) {
  const void* data = self.data_ptr(); // data_ptr<scalar_t>() would compare the dtype again
  if (self.scalar_type() == c10::kUInt64) {
    return Scalar(*static_cast<const uint64_t*>(data));
  }
  return AT_DISPATCH_ALL_TYPES_AND_BOOL(self.scalar_type(), "_local_scalar_dense_cpu",
                                        [&] { return Scalar(*static_cast<const scalar_t*>(data)); });
}

REGISTER_CPU_DISPATCH(local_scalar_dense_stub, local_scalar_dense_kernel)

} // namespace reftorch::at::native
