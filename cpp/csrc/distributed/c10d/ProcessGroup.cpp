// Mirrors: torch/csrc/distributed/c10d/ProcessGroup.cpp, torch/csrc/distributed/c10d/Utils.hpp
#include <csrc/distributed/c10d/ProcessGroup.h>

#include <ATen/EmptyTensor.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <numeric>

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace reftorch::c10d {

// The groups of this process, oldest first. Never destroyed, because groups may outlive this file's variables.
static auto* const living_groups = new std::vector<const ProcessGroup*>;
static std::mutex living_groups_mutex;

ProcessGroup::ProcessGroup(int rank, int size, Milliseconds timeout)
    : rank_(rank),
      size_(size),
      timeout_(timeout),
      maker_(::pthread_self()),
      maker_tid_(static_cast<int>(::syscall(SYS_gettid))) {
  std::lock_guard lock(living_groups_mutex);
  living_groups->push_back(this);
}

ProcessGroup::~ProcessGroup() {
  std::lock_guard lock(living_groups_mutex);
  living_groups->erase(std::find(living_groups->begin(), living_groups->end(), this));
}

// Allocates nothing, because gdb may have stopped the process in the allocator.
const char* ProcessGroup::rankOfThread(int tid) {
  static std::array<char, 200> text;
  text[0] = '\0';
  const std::unique_lock lock(living_groups_mutex, std::try_to_lock);
  if (!lock.owns_lock()) { // gdb has stopped a thread that makes a group
    return text.data();
  }
  const ProcessGroup *of_worker = nullptr, *of_maker = nullptr, *oldest = nullptr;
  bool one_maker = true;
  for (const ProcessGroup* const group : *living_groups) {
    oldest = oldest == nullptr ? group : oldest;
    one_maker = one_maker && group->maker_ == oldest->maker_;
    of_worker = of_worker == nullptr && group->worker_tid_ == tid ? group : of_worker;
    of_maker = of_maker == nullptr && group->maker_tid_ == tid ? group : of_maker;
  }
  const ProcessGroup* found = of_worker != nullptr ? of_worker : of_maker;
  found = found == nullptr && one_maker ? oldest : found;
  if (found != nullptr) {
    const bool has_desc = !found->group_desc.empty() && found->group_desc != "undefined";
    const std::string& name = has_desc ? found->group_desc : found->group_name;
    std::snprintf(text.data(), text.size(), "rank %d of %d%s%s", found->rank_, found->size_,
                  name.empty() ? "" : ", group ", name.c_str());
  }
  return text.data();
}

// Called by rt-bt in gdb, in a process that is stopped. gdb finds a C function by its name without reading debug info.
extern "C" __attribute__((visibility("default"), noinline, used)) const char* reftorch_debug_rank(int tid) {
  return ProcessGroup::rankOfThread(tid);
}

[[noreturn]] static void not_supported(const ProcessGroup& group, const char* op) {
  TORCH_CHECK_NOT_IMPLEMENTED(false, "Backend ", group.getBackendName(), " does not support ", op);
}

Tensors ProcessGroup::column(const std::vector<Tensors>& lists, size_t i) {
  Tensors result;
  for (const Tensors& list : lists) {
    TORCH_CHECK_VALUE(i < list.size(),
                      "all_gather_coalesced: expected a tensor for each input in the list of each rank, ",
                      "but got only ", list.size());
    result.push_back(list[i]);
  }
  return result;
}

std::map<int, std::string> ProcessGroup::stacksOfRanks(Milliseconds timeout) {
  not_supported(*this, "the stacks of ranks");
}
void ProcessGroup::noteTimes(bool on) {
  not_supported(*this, "times of collectives");
}
WorkPtr ProcessGroup::allreduce(const at::Tensor& tensor, const AllreduceOptions& opts) {
  not_supported(*this, "allreduce");
}
WorkPtr ProcessGroup::broadcast(const at::Tensor& tensor, const BroadcastOptions& opts) {
  not_supported(*this, "broadcast");
}
WorkPtr ProcessGroup::reduce(const at::Tensor& tensor, const ReduceOptions& opts) {
  not_supported(*this, "reduce");
}
WorkPtr ProcessGroup::allgather(const Tensors& outputs, const at::Tensor& input, const AllgatherOptions& opts) {
  not_supported(*this, "allgather");
}
WorkPtr ProcessGroup::reduce_scatter(const at::Tensor& output, const Tensors& inputs,
                                     const ReduceScatterOptions& opts) {
  not_supported(*this, "reduce_scatter");
}
WorkPtr ProcessGroup::allreduce_coalesced(const Tensors& tensors, const AllreduceOptions& opts) {
  std::vector<WorkPtr> works;
  for (const at::Tensor& tensor : tensors) {
    works.push_back(allreduce(tensor, opts));
  }
  return std::make_shared<CoalescedWork>(std::move(works));
}
WorkPtr ProcessGroup::allgather_coalesced(const std::vector<Tensors>& outputs, const Tensors& inputs,
                                          const AllgatherOptions& opts) {
  std::vector<WorkPtr> works;
  for (size_t i = 0; i < inputs.size(); i++) {
    works.push_back(allgather(column(outputs, i), inputs[i], opts));
  }
  return std::make_shared<CoalescedWork>(std::move(works));
}
WorkPtr ProcessGroup::gather(const Tensors& outputs, const at::Tensor& input, const GatherOptions& opts) {
  not_supported(*this, "gather");
}
WorkPtr ProcessGroup::scatter(const at::Tensor& output, const Tensors& inputs, const ScatterOptions& opts) {
  not_supported(*this, "scatter");
}
WorkPtr ProcessGroup::alltoall(const Tensors& outputs, const Tensors& inputs, const AllToAllOptions& opts) {
  not_supported(*this, "alltoall");
}
WorkPtr ProcessGroup::barrier(const BarrierOptions& opts) {
  not_supported(*this, "barrier");
}
WorkPtr ProcessGroup::send(const at::Tensor& tensor, int to, int tag) {
  not_supported(*this, "send");
}
WorkPtr ProcessGroup::recv(const at::Tensor& tensor, int from, int tag) {
  not_supported(*this, "recv");
}
void ProcessGroup::startCoalescing() {
  not_supported(*this, "coalescing");
}
WorkPtr ProcessGroup::endCoalescing() {
  not_supported(*this, "coalescing");
}
void ProcessGroup::monitoredBarrier(const BarrierOptions& opts, bool wait_all_ranks) {
  not_supported(*this, "monitored_barrier");
}

// Returns the numbers [begin, begin + size) of a contiguous tensor, without autograd history.
static at::Tensor part(const at::Tensor& tensor, int64_t begin, int64_t size) {
  return at::detail::alias_with_sizes_and_strides(tensor, {size}, {1}, tensor.storage_offset() + begin);
}

static void check_contiguous(const at::Tensor& tensor, const char* op) {
  TORCH_CHECK(tensor.is_contiguous(), op, ": Tensors must be contiguous. Hint: tensor.contiguous() makes a copy");
}

static Tensors equal_parts(const at::Tensor& tensor, int count) {
  Tensors parts;
  const int64_t size = tensor.numel() / count;
  for (int64_t i = 0; i < count; i++) {
    parts.push_back(part(tensor, i * size, size));
  }
  return parts;
}

static void check_base(const at::Tensor& all, const at::Tensor& one, int count, const char* op, const char* hint) {
  check_contiguous(all, op);
  check_contiguous(one, op);
  TORCH_CHECK_VALUE(all.numel() == one.numel() * count, op, ": ", hint, ": expected ", one.numel(), " * ", count,
                    " elements, but got ", all.numel());
  TORCH_CHECK_TYPE(all.scalar_type() == one.scalar_type(), op,
                   ": output tensor must have the same type as input tensor, ", "but the two are ",
                   c10::toString(all.scalar_type()), " and ", c10::toString(one.scalar_type()));
}

WorkPtr ProcessGroup::allgather_base(const at::Tensor& output, const at::Tensor& input, const AllgatherOptions& opts) {
  check_base(output, input, size_, "all_gather_into_tensor",
             "output tensor size must be equal to world_size times input tensor size");
  return allgather(equal_parts(output, size_), part(input, 0, input.numel()), opts);
}

WorkPtr ProcessGroup::reduce_scatter_base(const at::Tensor& output, const at::Tensor& input,
                                          const ReduceScatterOptions& opts) {
  check_base(input, output, size_, "reduce_scatter_tensor",
             "input tensor must be the same size as output size times world size");
  return reduce_scatter(part(output, 0, output.numel()), equal_parts(input, size_), opts);
}

// Returns the part for each rank: sizes[r] of the slices along dimension 0.
static Tensors parts_of(const at::Tensor& tensor, const std::vector<int64_t>& sizes, int count, const char* which) {
  const int64_t rows = tensor.dim() == 0 ? 0 : tensor.size(0);
  if (sizes.empty()) {
    TORCH_CHECK_VALUE(rows % count == 0, "Tensor's dim 0 does not divide equally across group size: the ", which,
                      " of all_to_all_single has ", rows, " rows for ", count, " ranks");
    return equal_parts(tensor, count);
  }
  TORCH_CHECK_VALUE(sizes.size() == static_cast<size_t>(count),
                    "Number of tensor splits not equal to group size: all_to_all_single got ", sizes.size(),
                    " for the ", which, " and ", count, " ranks");
  TORCH_CHECK_VALUE(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) == rows,
                    "Split sizes doesn't match total dim 0 size: the ", which, " of all_to_all_single has ", rows,
                    " rows");
  Tensors parts;
  const int64_t row = rows == 0 ? 0 : tensor.numel() / rows;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    TORCH_CHECK_VALUE(size >= 0, "all_to_all_single: a split size of the ", which, " is negative: ", size);
    parts.push_back(part(tensor, begin * row, size * row));
    begin += size;
  }
  return parts;
}

WorkPtr ProcessGroup::alltoall_base(const at::Tensor& output, const at::Tensor& input,
                                    const std::vector<int64_t>& output_sizes, const std::vector<int64_t>& input_sizes,
                                    const AllToAllOptions& opts) {
  check_contiguous(output, "all_to_all_single");
  check_contiguous(input, "all_to_all_single");
  return alltoall(parts_of(output, output_sizes, size_, "output"), parts_of(input, input_sizes, size_, "input"), opts);
}

} // namespace reftorch::c10d
