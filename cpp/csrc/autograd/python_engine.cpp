// Mirrors: torch/csrc/autograd/python_engine.cpp
//
// Left out: fork handlers; the engine itself notices that its threads belong to another process
// (Engine::start_device_threads).
#include <csrc/autograd/python_engine.h>

#include <csrc/Exceptions.h>
#include <csrc/autograd/engine.h>
#include <csrc/autograd/functions/accumulate_grad.h>
#include <csrc/autograd/functions/basic_ops.h>
#include <csrc/autograd/python_cpp_function.h>
#include <csrc/autograd/python_hook.h>
#include <csrc/autograd/python_traverse.h>
#include <csrc/autograd/python_variable.h>
#include <csrc/python_gil.h>
#include <csrc/python_thread_local_state.h>
#include <csrc/utils/object_ptr.h>
#include <csrc/utils/pybind.h>

#include <c10/core/GradMode.h>

namespace py = pybind11;

namespace reftorch::torch::autograd {

// Returns the edge of a GradientEdge (node, output_nr), which may stand in place of a tensor. The edge is invalid if
// `obj` is not a GradientEdge.
static Edge parse_gradient_edge(py::handle obj) {
  if (!PyTuple_Check(obj.ptr()) || PyTuple_GET_SIZE(obj.ptr()) < 2) {
    return Edge();
  }
  Edge edge(nodeFromPyObject(PyTuple_GET_ITEM(obj.ptr(), 0)), 0);
  if (edge.is_valid()) {
    const auto output_nr = py::cast<int64_t>(py::handle(PyTuple_GET_ITEM(obj.ptr(), 1)));
    const uint32_t outputs = edge.function->num_inputs(); // the outputs of the op are the inputs of its node
    TORCH_CHECK_INDEX(0 <= output_nr && output_nr < outputs, "GradientEdge: expected an output_nr from 0 to ",
                      int64_t(outputs) - 1, " for ", edge.function->name(), ", but got ", output_nr);
    edge.input_nr = static_cast<uint32_t>(output_nr);
  }
  return edge;
}

static Edge root_edge(py::handle obj, size_t i) {
  if (Edge edge = parse_gradient_edge(obj); edge.is_valid()) {
    return edge;
  }
  TORCH_CHECK_TYPE(THPVariable_Check(obj.ptr()), "element ", i,
                   " of tensors tuple is neither a Tensor nor a GradientEdge but a ", Py_TYPE(obj.ptr())->tp_name);
  Edge edge = impl::gradient_edge(THPVariable_Unpack(obj.ptr()));
  TORCH_CHECK(edge.is_valid(), "element ", i, " of tensors does not require grad and does not have a grad_fn");
  return edge;
}

static Variable root_gradient(py::handle obj, const Edge& edge, size_t i) {
  if (obj.is_none()) {
    // Python has made ones for a missing gradient of a scalar. A None that arrives here means zero.
    return edge.function->input_metadata(edge.input_nr).zeros_like();
  }
  TORCH_CHECK_TYPE(THPVariable_Check(obj.ptr()), "element ", i, " of gradients tuple is not a Tensor or None but a ",
                   Py_TYPE(obj.ptr())->tp_name);
  return THPVariable_Unpack(obj.ptr());
}

// The edge at which the pass ends for one element of `inputs`. With accumulate_grad, only a leaf or a tensor that
// retains its gradient has a .grad; a GradientEdge only limits the graph that runs.
static Edge output_edge(py::handle obj, bool accumulate_grad) {
  if (Edge edge = parse_gradient_edge(obj); edge.is_valid()) {
    return edge;
  }
  TORCH_CHECK(THPVariable_Check(obj.ptr()), "all inputs have to be Tensors or GradientEdges, but got ",
              Py_TYPE(obj.ptr())->tp_name);
  const Variable& tensor = THPVariable_Unpack(obj.ptr());
  TORCH_CHECK(tensor.requires_grad(), "One of the differentiated Tensors does not require grad");
  if (accumulate_grad) {
    impl::retain_grad(tensor);
  }
  Edge edge = impl::gradient_edge(tensor);
  if (!edge.is_valid()) {
    // A view may require a gradient only because its base does, and have no node yet. Then no graph leads to the view,
    // so the edge leads to a new node that returns no gradient.
    edge = Edge(std::make_shared<UndefinedGradBackward>(), 0);
  }
  return edge;
}

static py::object run_backward(const py::tuple& tensors, const py::tuple& grad_tensors, bool keep_graph,
                               bool create_graph, const py::tuple& inputs, bool allow_unreachable,
                               bool accumulate_grad) {
  TORCH_CHECK(tensors.size() == grad_tensors.size(), "got ", tensors.size(), " tensors and ", grad_tensors.size(),
              " gradients");
  edge_list roots;
  variable_list grads;
  for (size_t i = 0; i < tensors.size(); i++) {
    roots.push_back(root_edge(tensors[i], i));
    grads.push_back(root_gradient(grad_tensors[i], roots.back(), i));
  }
  edge_list outputs;
  for (py::handle input : inputs) {
    outputs.push_back(output_edge(input, accumulate_grad));
  }

  variable_list captured;
  {
    const RunsNodes runs_nodes;
    const GilRelease no_gil;
    // `grads` lives on: to drop the last reference of C++ to a Python object, the engine would have to take the GIL.
    captured = Engine::get_default_engine().execute(roots, grads, keep_graph, create_graph, accumulate_grad, outputs);
  }
  if (accumulate_grad || inputs.empty()) {
    return py::none();
  }
  for (size_t i = 0; i < captured.size(); i++) {
    TORCH_CHECK(allow_unreachable || captured[i].defined(), "The differentiated Tensor at index ", i,
                " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
  }
  return steal(wrap_variables(captured));
}

static void queue_callback(const py::object& callback) {
  const std::shared_ptr<PyObject> held = share_object(py::object(callback).release().ptr());
  Engine::get_default_engine().queue_callback([held] {
    const GilAcquire gil;
    PyObject* result = PyObject_CallNoArgs(held.get());
    if (result == nullptr) {
      throw_python_error();
    }
    Py_DECREF(result);
  });
}

// Returns the node of a tensor's gradient edge, for GradientEdge.
static py::object grad_fn_or_accumulator(const Variable& tensor) {
  return steal(functionToPyObject(impl::gradient_edge(tensor).function));
}

static bool will_engine_execute_node(py::handle obj) {
  const std::shared_ptr<Node> node = nodeFromPyObject(obj.ptr());
  TORCH_CHECK(node != nullptr, "_will_engine_execute_node expects an grad_fn, but got ", Py_TYPE(obj.ptr())->tp_name);
  const GraphTask* task = GraphTask::current();
  TORCH_CHECK(task != nullptr, "_will_engine_execute_node should only be called during the backward pass");
  const bool will = task->will_execute(node.get());
  const auto info = task->exec_info_.find(node.get());
  TORCH_CHECK(!will || info == task->exec_info_.end() || info->second.captures_.empty() || node->topological_nr() != 0,
              "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This "
              "is currently not supported.");
  return will;
}

// Returns the forecast of GraphTask::execution_order, for tests. The forecast does not know how the ops of the pass, or
// other threads, change the order.
static py::list current_graph_task_execution_order() {
  const GraphTask* task = GraphTask::current();
  TORCH_CHECK(task != nullptr, "_current_graph_task_execution_order should only be called during the backward pass");
  TORCH_CHECK(!c10::BackwardMultithreading::is_enabled(),
              "_current_graph_task_execution_order expects the current backward to be executed with multithreading "
              "disabled, e.g. by running:\n\n>>> with torch.autograd.set_multithreading_enabled(False):\n...     "
              "torch.autograd.grad(...)\n");
  py::list nodes;
  for (Node* node : task->execution_order()) {
    nodes.append(steal(functionToPyObject(node->shared_from_this())));
  }
  return nodes;
}

void initEngine(PyObject* module) {
  py::module_ m = py::reinterpret_borrow<py::module_>(module);
  m.def("_run_backward", &run_backward, py::arg("tensors"), py::arg("grad_tensors"), py::arg("keep_graph"),
        py::arg("create_graph"), py::arg("inputs") = py::tuple(), py::arg("allow_unreachable") = false,
        py::arg("accumulate_grad") = false);
  m.def("_queue_callback", &queue_callback);
  m.def("_grad_fn_or_accumulator", &grad_fn_or_accumulator);
  m.def("_will_engine_execute_node", &will_engine_execute_node);
  m.def("_current_graph_task_execution_order", &current_graph_task_execution_order);
  m.def("_is_checkpoint_valid", [] {
    const GraphTask* task = GraphTask::current();
    return task == nullptr || task->exec_info_.empty();
  });
  m.attr("_autograd").attr("_get_current_graph_task_keep_graph") = py::cpp_function([] {
    const GraphTask* task = GraphTask::current();
    return task != nullptr && task->keep_graph_;
  });
  m.def("_current_graph_task_id", [] {
    const GraphTask* task = GraphTask::current();
    return task != nullptr ? task->id_ : -1;
  });
  m.def("_current_autograd_node", [] { return steal(functionToPyObject(GraphTask::current_node())); });
}

} // namespace reftorch::torch::autograd
