// Mirrors: aten/src/ATen/native/Distributions.cpp, aten/src/ATen/native/DistributionTemplates.h
//
// Fills tensors with random numbers in place: uniform, normal, integers, Bernoulli. The other distributions are in
// DistributionsMore.cpp. Left out: gradients through samples.
#include <ATen/native/Distributions.h>

#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Functions.h>
#include <ATen/Resize.h>
#include <ATen/core/library.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/native/TypeMetaName.h>

#include <limits>

namespace reftorch::at::native {

DEFINE_DISPATCH(uniform_stub)
DEFINE_DISPATCH(normal_stub)
DEFINE_DISPATCH(random_stub)
DEFINE_DISPATCH(random_from_to_stub)
DEFINE_DISPATCH(bernoulli_scalar_stub)
DEFINE_DISPATCH(bernoulli_tensor_stub)
DEFINE_DISPATCH(randperm_stub)

// Both ends of the interval and its width must be finite in the dtype.
static void check_uniform_bounds(ScalarType dtype, double from, double to) {
  dispatch<FloatingTypesAndReduced>(dtype, "check_uniform_bounds", [&](auto type) {
    using scalar_t = typename decltype(type)::type;
    const auto max = static_cast<double>(std::numeric_limits<scalar_t>::max());
    TORCH_CHECK(-max <= from && from <= max, "from is out of bounds for ", type_meta_name(dtype));
    TORCH_CHECK(-max <= to && to <= max, "to is out of bounds for ", type_meta_name(dtype));
    TORCH_CHECK(from <= to, "uniform_ expects to return a [from, to) range, but found from=", from, " > to=", to);
    TORCH_CHECK(to - from <= max, "uniform_ expects to-from <= std::numeric_limits<", dtype,
                ">::max(), but found to=", to, " and from=", from, " which result in to-from to exceed the limit");
  });
}

static Tensor& uniform_(Tensor& self, double from, double to, const OptionalGenerator& generator) {
  TORCH_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "\"check_uniform_bounds\" not implemented for '",
                              self.scalar_type(), "'");
  check_uniform_bounds(self.scalar_type(), from, to);
  auto iter = TensorIterator::nullary_op(self);
  uniform_stub(iter.device_type(), iter, from, to, generator);
  return self;
}

static Tensor& normal_(Tensor& self, double mean, double std, const OptionalGenerator& generator) {
  TORCH_CHECK(std >= 0.0, "normal expects std >= 0.0, but found std ", std);
  if (self.numel() == 0) { // an empty tensor may have any dtype
    return self;
  }
  normal_stub(self.device().type(), self, mean, std, generator);
  return self;
}

static Tensor& random_(Tensor& self, const OptionalGenerator& generator) {
  auto iter = TensorIterator::nullary_op(self);
  random_stub(iter.device_type(), iter, generator);
  return self;
}

// The largest value of an integer dtype. For a float dtype, the largest integer up to which every integer is exact.
static int64_t max_integer(ScalarType dtype) {
  switch (dtype) {
    case kByte: return std::numeric_limits<uint8_t>::max();
    case kChar: return std::numeric_limits<int8_t>::max();
    case kShort: return std::numeric_limits<int16_t>::max();
    case kInt: return std::numeric_limits<int32_t>::max();
    case kBool: return 1;
    case kHalf: return int64_t(1) << 11;
    case kBFloat16: return int64_t(1) << 8;
    case kFloat: return int64_t(1) << 24;
    case kDouble: return int64_t(1) << 53;
    default: return std::numeric_limits<int64_t>::max();
  }
}

// A float dtype with `digits` bits rounds a bound that has more bits. Such a bound is moved inward to the next number
// of the dtype, as in PyTorch; the step is the distance of two such numbers.
static int64_t step_of(int64_t bound, int digits) {
  int bits = 0;
  for (uint64_t rest = static_cast<uint64_t>(bound < 0 ? -bound : bound); rest >>= 1;) {
    bits++;
  }
  return int64_t(1) << (bits - digits + 1);
}

template <typename scalar_t>
static void round_bounds(int64_t& from, int64_t& to) {
  using opmath_t = opmath_type<scalar_t>;
  constexpr int digits = std::numeric_limits<scalar_t>::digits;
  auto rounded = [](int64_t n) {
    return static_cast<int64_t>(static_cast<opmath_t>(scalar_t(static_cast<opmath_t>(n))));
  };
  const int64_t first = rounded(from + 1), last = rounded(to - 1);
  if (first < from) {
    from = first + step_of(from + 1, digits);
  }
  if (last >= to) {
    to = last - step_of(to - 1, digits);
  }
  TORCH_CHECK(from < to,
              "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got from=", from,
              " >= to=", to);
}

static Tensor& random_from_to_(Tensor& self, int64_t from, std::optional<int64_t> to_opt,
                               const OptionalGenerator& generator) {
  const int64_t largest = max_integer(self.scalar_type());
  uint64_t range = 0;
  if (to_opt.has_value()) {
    int64_t to = *to_opt;
    TORCH_CHECK(from < to, "random_ expects 'from' to be less than 'to', but got from=", from, " >= to=", to);
    if (c10::isIntegralType(self.scalar_type(), /*includeBool=*/true)) {
      const int64_t smallest = !c10::isSignedType(self.scalar_type()) ? 0 : -largest - 1;
      TORCH_CHECK(smallest <= from && from <= largest, "from is out of bounds for ",
                  type_meta_name(self.scalar_type()));
      TORCH_CHECK(to - 1 <= largest, "to - 1 is out of bounds for ", type_meta_name(self.scalar_type()));
    } else {
      dispatch<FloatingTypesAndReduced>(self.scalar_type(), "random_update_from_to", [&](auto type) {
        using scalar_t = typename decltype(type)::type;
        round_bounds<scalar_t>(from, to);
        const double limit = static_cast<double>(std::numeric_limits<scalar_t>::max());
        const char* name = type_meta_name(self.scalar_type());
        TORCH_CHECK(-limit <= from && from <= limit, "from is out of bounds for ", name);
        TORCH_CHECK(-limit <= to - 1 && to - 1 <= limit, "to - 1 is out of bounds for ", name);
      });
    }
    range = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  } else if (from == std::numeric_limits<int64_t>::min()) { // all 64-bit integers: the range 2^64 wraps around to 0
    TORCH_CHECK_NOT_IMPLEMENTED(self.scalar_type() != kHalf && self.scalar_type() != kBool,
                                "\"random_full_64_bits_range_kernel_cpu\" not implemented for '", self.scalar_type(),
                                "'");
    TORCH_CHECK(self.scalar_type() == kLong || c10::isFloatingType(self.scalar_type()),
                "random_full_64_bits_range_kernel_cpu handles only int64, double, float and bfloat16");
  } else {
    TORCH_CHECK(from <= largest, "from is out of bounds for ", type_meta_name(self.scalar_type()));
    range = static_cast<uint64_t>(largest) - static_cast<uint64_t>(from) + 1;
  }
  auto iter = TensorIterator::nullary_op(self);
  random_from_to_stub(iter.device_type(), iter, range, from, generator);
  return self;
}

static Tensor& random_to_(Tensor& self, int64_t to, const OptionalGenerator& generator) {
  return native::random_from_to_(self, 0, to, generator);
}

static Tensor& bernoulli_float_(Tensor& self, double p, const OptionalGenerator& generator) {
  TORCH_CHECK(0 <= p && p <= 1, "bernoulli_ expects p to be in [0, 1], but got p=", p);
  auto iter = TensorIterator::nullary_op(self);
  bernoulli_scalar_stub(iter.device_type(), iter, p, generator);
  return self;
}

static Tensor& bernoulli_tensor_(Tensor& self, const Tensor& p, const OptionalGenerator& generator) {
  if (self.numel() == 0) { // an empty tensor may have any dtype
    return self;
  }
  TORCH_CHECK_NOT_IMPLEMENTED(p.is_floating_point(), "\"bernoulli_tensor_cpu_p_\" not implemented for '",
                              p.scalar_type(), "'");
  const Tensor p_float = at::expand(p.scalar_type() == kDouble ? p : at::to(p, kFloat), self.sizes());
  auto iter =
      TensorIteratorConfig().add_output(self, self.scalar_type()).add_input(p_float).no_resize_outputs(true).build();
  bernoulli_tensor_stub(iter.device_type(), iter, generator);
  return self;
}

static Tensor bernoulli(const Tensor& self, const OptionalGenerator& generator) {
  Tensor result = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt, MemoryFormat::Contiguous);
  return bernoulli_tensor_(result, self, generator);
}

static Tensor bernoulli_p(const Tensor& self, double p, const OptionalGenerator& generator) {
  Tensor result = empty_like_impl(self, std::nullopt, std::nullopt, std::nullopt, MemoryFormat::Contiguous);
  return bernoulli_float_(result, p, generator);
}

static Tensor& bernoulli_out(const Tensor& self, const OptionalGenerator& generator, Tensor& out) {
  resize_output(out, self.sizes());
  return bernoulli_tensor_(out, self, generator);
}

// --- normal numbers, with a mean and a standard deviation for each element -------------------------------------------

static Tensor normal_float_float(double mean, double std, IntArrayRef size, const OptionalGenerator& generator,
                                 OptionalType dtype, OptionalLayout, OptionalDevice device, OptionalBool pin_memory) {
  Tensor result = empty_impl(size, dtype, device, pin_memory);
  return native::normal_(result, mean, std, generator);
}

static Tensor& normal_float_float_out(double mean, double std, IntArrayRef size, const OptionalGenerator& generator,
                                      OptionalType dtype, OptionalLayout, OptionalDevice, OptionalBool, Tensor& out) {
  check_out_dtype(dtype, out);
  resize_output(out, size);
  return native::normal_(out, mean, std, generator);
}

// out = mean + std * z, where z is a standard normal number.
static void normal_Tensor_float_out(const Tensor& mean, double std, const OptionalGenerator& generator, Tensor& out) {
  if (!out.defined()) {
    out = empty_like_impl(mean, std::nullopt, std::nullopt, std::nullopt, MemoryFormat::Contiguous);
  }
  resize_output(out, mean.sizes());
  native::normal_(out, 0, std, generator);
  at::add_(out, mean);
}

static void check_std(const Tensor& std) {
  TORCH_CHECK(std.device().is_meta() || std.numel() == 0 ||
                  at::all(at::le(detail::wrapped_scalar_tensor(0), std)).item().toBool(),
              "normal expects all elements of std >= 0.0");
}

static void normal_float_Tensor_out(double mean, const Tensor& std, const OptionalGenerator& generator, Tensor& out) {
  check_std(std);
  if (!out.defined()) {
    out = empty_like_impl(std, std::nullopt, std::nullopt, std::nullopt, MemoryFormat::Contiguous);
  }
  resize_output(out, std.sizes());
  native::normal_(out, 0, 1, generator);
  at::mul_(out, std);
  // of out's dtype, because a float cannot be added to an empty integer tensor in place
  Tensor shift = at::zeros({}, out.scalar_type(), out.device());
  at::add_(out, at::fill_(shift, mean));
}

static void normal_Tensor_Tensor_out(const Tensor& mean, const Tensor& std, const OptionalGenerator& generator,
                                     Tensor& out) {
  check_std(std);
  const DimVector shape = infer_size_dimvector(mean.sizes(), std.sizes());
  if (!out.defined()) {
    out = detail::empty_generic(shape, mean.scalar_type(), mean.device());
  }
  resize_output(out, shape);
  native::normal_(out, 0, 1, generator);
  at::mul_(out, std);
  at::add_(out, mean);
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  constexpr int METHOD = variants::METHOD, FUNCTION = variants::FUNCTION;
  m.def("uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)",
        TORCH_FN(uniform_), kernels(uniform_stub), tags(Tag::nondeterministic_seeded, Tag::overwrites), METHOD);
  m.def("normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)",
        TORCH_FN(normal_), kernels(normal_stub), tags(Tag::nondeterministic_seeded, Tag::overwrites), METHOD);
  m.def("random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)", TORCH_FN(random_), kernels(random_stub),
        tags(Tag::nondeterministic_seeded, Tag::overwrites), METHOD);
  m.def("random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)", TORCH_FN(random_to_),
        kernels(random_from_to_stub), tags(Tag::nondeterministic_seeded, Tag::overwrites), METHOD);
  m.def("random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
        TORCH_FN(random_from_to_), kernels(random_from_to_stub), tags(Tag::nondeterministic_seeded, Tag::overwrites),
        METHOD);
  m.def("bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)",
        TORCH_FN(bernoulli_float_), kernels(bernoulli_scalar_stub), tags(Tag::nondeterministic_seeded, Tag::overwrites),
        METHOD);
  m.def("bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)",
        TORCH_FN(bernoulli_tensor_), kernels(bernoulli_tensor_stub),
        tags(Tag::nondeterministic_seeded, Tag::overwrites), METHOD);
  m.def("bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", TORCH_FN(bernoulli),
        kernels(bernoulli_tensor_stub), tags(Tag::nondeterministic_seeded));
  m.def("bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", TORCH_FN(bernoulli_p),
        kernels(bernoulli_scalar_stub), tags(Tag::nondeterministic_seeded));
  m.def("bernoulli.out(Tensor self, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)",
        TORCH_FN(bernoulli_out), kernels(bernoulli_tensor_stub), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def(
      "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, ScalarType? dtype=None, "
      "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
      TORCH_FN(normal_float_float), kernels(normal_stub), tags(Tag::nondeterministic_seeded), FUNCTION);
  m.def_out("normal.float_float", TORCH_FN(normal_float_float_out), kernels(normal_stub),
            tags(Tag::nondeterministic_seeded));
  m.def_structured("normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
                   TORCH_FN(normal_Tensor_float_out), kernels(normal_stub), tags(Tag::nondeterministic_seeded),
                   derive::OUT, FUNCTION);
  m.def_structured("normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
                   TORCH_FN(normal_float_Tensor_out), kernels(normal_stub), tags(Tag::nondeterministic_seeded),
                   derive::OUT, FUNCTION);
  m.def_structured("normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
                   TORCH_FN(normal_Tensor_Tensor_out), kernels(normal_stub), tags(Tag::nondeterministic_seeded),
                   derive::OUT, FUNCTION);
}

} // namespace reftorch::at::native
