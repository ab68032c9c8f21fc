// Mirrors: aten/src/ATen/MemoryOverlap.cpp
#include <ATen/MemoryOverlap.h>

#include <ATen/EmptyTensor.h>

namespace reftorch::at {

bool has_internal_overlap(const Tensor& t) {
  if (t.is_contiguous() || t.numel() == 0) {
    return false;
  }
  for (int64_t i = 0; i < t.dim(); i++) {
    if (t.strides()[i] == 0 && t.sizes()[i] > 1) {
      return true;
    }
  }
  return false;
}

void assert_no_internal_overlap(const Tensor& t) {
  TORCH_CHECK(
      !has_internal_overlap(t),
      "unsupported operation: more than one element of the written-to tensor refers to a single memory location. ",
      "Please clone() the tensor before performing the operation.");
}

bool warn_of_internal_overlap(const Tensor& t, const char* op, const char* as_assignment) {
  const bool overlaps = has_internal_overlap(t);
  if (overlaps) {
    TORCH_WARN("Use of ", op, " on expanded tensors is deprecated. Please clone() the tensor before performing this ",
               "operation. This also applies to advanced indexing e.g. ", as_assignment);
  }
  return overlaps;
}

enum class MemOverlapStatus { No, Partial, Full, TooHard };

static MemOverlapStatus get_overlap_status(const Tensor& a, const Tensor& b) {
  if (a.is_same(b)) {
    return MemOverlapStatus::Full;
  }
  if (a.numel() == 0 || b.numel() == 0 || !a.is_alias_of(b)) {
    return MemOverlapStatus::No;
  }
  if (!a.unsafeGetTensorImpl()->is_non_overlapping_and_dense() ||
      !b.unsafeGetTensorImpl()->is_non_overlapping_and_dense()) {
    return MemOverlapStatus::TooHard;
  }
  // Both tensors are on one storage, so byte offsets can be compared instead of addresses. This also works for meta
  // tensors, which have no memory.
  const auto bytes_a = static_cast<int64_t>(a.itemsize()), bytes_b = static_cast<int64_t>(b.itemsize());
  const int64_t begin_a = a.storage_offset() * bytes_a, end_a = begin_a + a.numel() * bytes_a;
  const int64_t begin_b = b.storage_offset() * bytes_b, end_b = begin_b + b.numel() * bytes_b;
  if (begin_a == begin_b && end_a == end_b) {
    return a.strides() == b.strides() ? MemOverlapStatus::Full : MemOverlapStatus::Partial;
  }
  return begin_a < end_b && begin_b < end_a ? MemOverlapStatus::Partial : MemOverlapStatus::No;
}

static constexpr const char* kOverlapMessage =
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. "
    "Please clone() the tensor before performing the operation.";

void assert_no_partial_overlap(const Tensor& a, const Tensor& b) {
  TORCH_CHECK(get_overlap_status(a, b) != MemOverlapStatus::Partial, kOverlapMessage);
}

void assert_no_overlap(const Tensor& a, const Tensor& b) {
  const MemOverlapStatus status = get_overlap_status(a, b);
  TORCH_CHECK(status != MemOverlapStatus::Partial && status != MemOverlapStatus::Full, kOverlapMessage);
}

} // namespace reftorch::at
