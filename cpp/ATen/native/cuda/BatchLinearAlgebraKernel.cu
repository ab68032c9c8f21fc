// Mirrors: aten/src/ATen/native/cuda/linalg/BatchLinearAlgebra.cpp
//
// Factorizations and solutions of matrices on CUDA, which the host computes: a kernel of this file copies its tensors
// to the host, calls the kernel of the CPU for the same stub (LAPACK), and copies back what that kernel wrote. MAGMA,
// with which PyTorch computes some of these ops, leaves parts of its factorizations to the host in the same way. The
// factors and the errors are those of the CPU, and so are its limits: all drivers of lstsq, and no LU without pivoting.
// A call waits for the stream, as every copy to the host does. Left out: cuSOLVER, with which PyTorch computes these
// ops on the device. It is not used because nobody who wrote this file could run it. So on a GPU, each op of this file
// costs copies in both directions, and the GPU waits while the host computes.
#include <ATen/native/BatchLinearAlgebra.h>

#include <ATen/EmptyTensor.h>
#include <ATen/Functions.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace reftorch::at::native {
namespace {

// What the kernel of the CPU does with a tensor.
enum Use { In, InOut, Out };

// What the kernel of the CPU gets in place of an argument: for a tensor, a tensor of the host with the same strides.
// Any other argument stays as it is.
template <typename Arg>
struct HostArgument {
  Arg value;
  HostArgument(Arg arg, Use /*use*/) : value(arg) {}
  void copy_back() const {}
};
template <>
struct HostArgument<const Tensor&> {
  Tensor original, value;
  Use use;
  HostArgument(const Tensor& t, Use use)
      : original(t), value(detail::empty_strided_generic(t.sizes(), t.strides(), t.scalar_type())), use(use) {
    if (use != Out) { // nobody has written the memory of a result yet
      at::copy_(value, t);
    }
  }
  void copy_back() {
    if (use != In) {
      at::copy_(original, value);
    }
  }
};

template <auto& stub, typename FnPtr, Use... uses>
struct OnHost;
template <auto& stub, typename... Args, Use... uses>
struct OnHost<stub, void (*)(Args...), uses...> {
  static void kernel(Args... args) {
    static_assert(sizeof...(uses) == (0 + ... + std::is_same_v<Args, const Tensor&>), "a use for each tensor");
    call(std::index_sequence_for<Args...>(), args...);
  }
  template <size_t... I>
  static void call(std::index_sequence<I...> /*arguments*/, Args... args) {
    constexpr Use use_of[sizeof...(Args)] = {uses...}; // the tensors are the first arguments
    std::tuple<HostArgument<Args>...> host(HostArgument<Args>{args, use_of[I]}...);
    stub(c10::DeviceType::CPU, std::get<I>(host).value...);
    (std::get<I>(host).copy_back(), ...);
  }
};

// The kernel for CUDA of a stub, with the use of each of its tensors, in the order of native/BatchLinearAlgebra.h.
template <auto& stub, Use... uses>
constexpr auto on_host = OnHost<stub, typename std::remove_reference_t<decltype(stub)>::fn_ptr, uses...>::kernel;

constexpr auto lu_factor_kernel_cuda = on_host<lu_factor_stub, InOut, Out, InOut>;
constexpr auto permutation_matrix_kernel_cuda = on_host<permutation_matrix_stub, InOut, In>;
constexpr auto det_kernel_cuda = on_host<det_stub, In, In, Out, Out, Out>;
constexpr auto lu_solve_kernel_cuda = on_host<lu_solve_stub, In, In, InOut>;
constexpr auto ldl_factor_kernel_cuda = on_host<ldl_factor_stub, InOut, Out, InOut>;
constexpr auto ldl_solve_kernel_cuda = on_host<ldl_solve_stub, In, In, InOut>;
constexpr auto cholesky_kernel_cuda = on_host<cholesky_stub, InOut, InOut>;
constexpr auto cholesky_solve_kernel_cuda = on_host<cholesky_solve_stub, InOut, In>;
constexpr auto triangular_solve_kernel_cuda = on_host<triangular_solve_stub, In, InOut>;
constexpr auto geqrf_kernel_cuda = on_host<geqrf_stub, InOut, Out>;
constexpr auto orgqr_kernel_cuda = on_host<orgqr_stub, InOut, In>;
constexpr auto svd_kernel_cuda = on_host<svd_stub, In, Out, Out, Out, InOut>; // A is overwritten, but only on the host
constexpr auto eigh_kernel_cuda = on_host<eigh_stub, InOut, Out, InOut>;
constexpr auto lstsq_kernel_cuda = on_host<lstsq_stub, In, InOut, Out, Out, InOut>;

} // namespace

REGISTER_CUDA_DISPATCH(lu_factor_stub, lu_factor_kernel_cuda)
REGISTER_CUDA_DISPATCH(permutation_matrix_stub, permutation_matrix_kernel_cuda)
REGISTER_CUDA_DISPATCH(det_stub, det_kernel_cuda)
REGISTER_CUDA_DISPATCH(lu_solve_stub, lu_solve_kernel_cuda)
REGISTER_CUDA_DISPATCH(ldl_factor_stub, ldl_factor_kernel_cuda)
REGISTER_CUDA_DISPATCH(ldl_solve_stub, ldl_solve_kernel_cuda)
REGISTER_CUDA_DISPATCH(cholesky_stub, cholesky_kernel_cuda)
REGISTER_CUDA_DISPATCH(cholesky_solve_stub, cholesky_solve_kernel_cuda)
REGISTER_CUDA_DISPATCH(triangular_solve_stub, triangular_solve_kernel_cuda)
REGISTER_CUDA_DISPATCH(geqrf_stub, geqrf_kernel_cuda)
REGISTER_CUDA_DISPATCH(orgqr_stub, orgqr_kernel_cuda)
REGISTER_CUDA_DISPATCH(svd_stub, svd_kernel_cuda)
REGISTER_CUDA_DISPATCH(eigh_stub, eigh_kernel_cuda)
REGISTER_CUDA_DISPATCH(lstsq_stub, lstsq_kernel_cuda)

} // namespace reftorch::at::native
