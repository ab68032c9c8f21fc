// Mirrors: torch/csrc/autograd/profiler_kineto.cpp (the activities of a device)
//
// Only a build with the simulator has these functions: see Note [Activities] in c10/cuda/sim/activities.h.
#include <csrc/cuda/python_activities.h>

#include <ATen/record_function.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <pybind11/pybind11.h>

#if defined(CUDA_SIM)
#include <c10/cuda/sim/activities.h>

namespace py = pybind11;

namespace reftorch::torch {
namespace {

int64_t begin_call(const char* name) {
  return at::RecordFunction::begin(name);
}

py::tuple triple(const dim3& size) {
  return py::make_tuple(size.x, size.y, size.z);
}

// Waits for the work of all devices, so that the last operations have an end, too.
void wait_for_devices() {
  const py::gil_scoped_release no_gil;
  for (c10::DeviceIndex device = 0; device < c10::cuda::device_count(); device++) {
    const c10::cuda::CUDAGuard guard(device);
    c10::cuda::device_synchronize();
  }
}

// Ends the recording and returns a dict for each operation. Times are in ns of steady_clock. If a kernel has failed,
// the error is raised after the recording has ended.
py::list stop() {
  try {
    wait_for_devices();
  } catch (...) {
    cudasim::stop_activities();
    throw;
  }
  py::list result;
  for (const cudasim::Activity& activity : cudasim::stop_activities()) {
    py::dict fields;
    fields["name"] = activity.name;
    fields["device"] = activity.device;
    fields["stream"] = activity.stream;
    fields["call"] = activity.call;
    fields["start_ns"] = activity.start_ns;
    fields["end_ns"] = activity.end_ns;
    if (activity.about.function != nullptr) {
      fields["grid"] = triple(activity.about.grid);
      fields["block"] = triple(activity.about.block);
      fields["shared_memory"] = activity.about.shared_bytes;
    } else {
      fields["bytes"] = activity.about.bytes;
    }
    result.append(fields);
  }
  return result;
}

} // namespace

void initActivities(py::module_& m) {
  m.def("_cuda_start_activities", [] { cudasim::start_activities({&begin_call, &at::RecordFunction::end}); });
  m.def("_cuda_stop_activities", &stop);
}

} // namespace reftorch::torch
#endif
