// Mirrors: torch/csrc/profiler/python/combined_traceback.h (the frames of Python)
#include <csrc/profiler/python_frames.h>

#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace reftorch::torch::profiler {

static std::string text_of(PyObject* string) {
  const char* text = PyUnicode_AsUTF8(string);
  if (text == nullptr) { // the name is not UTF-8
    PyErr_Clear();
    return "??";
  }
  return text;
}

std::optional<std::vector<Frame>> python_frames() {
  if (PyGILState_Check() == 0) {
    return std::nullopt;
  }
  std::vector<Frame> frames;
  PyFrameObject* frame = PyEval_GetFrame();
  Py_XINCREF(frame);
  while (frame != nullptr) {
    PyCodeObject* const code = PyFrame_GetCode(frame);
    frames.push_back({text_of(code->co_filename), PyFrame_GetLineNumber(frame), text_of(code->co_name)});
    Py_DECREF(code);
    PyFrameObject* const back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return frames;
}

std::vector<std::string> python_stack() {
  std::vector<std::string> stack;
  if (const auto frames = python_frames()) {
    for (const Frame& frame : *frames) {
      stack.push_back(frame.filename + "(" + std::to_string(frame.line) + "): " + frame.name);
    }
  }
  return stack;
}

} // namespace reftorch::torch::profiler
