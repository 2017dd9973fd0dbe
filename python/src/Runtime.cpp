// onnxquant._runtime: compiled models as Python objects, on the C runtime only.
//
// Inputs that are contiguous arrays of the right type are read where they are,
// outputs of known size are written straight into new arrays, others belong to
// the arrays that hold them. A run holds no GIL, and any number of threads may
// run one session: each takes a workspace from a pool.

#include "onnxquant-c/runtime.h"
#include <chrono>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <vector>

namespace py = pybind11;

namespace {

[[noreturn]] void throwError(const char *kind, const std::string &text,
                             const std::string &file = "") {
  py::object error = py::module_::import("onnxquant.errors")
                         .attr("make")(kind, text, file, "");
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())),
                  error.ptr());
  throw py::error_already_set();
}

/// NumPy's type for elements; types that it lacks come as their bits.
py::dtype dtypeOf(int32_t type) {
  switch (type) {
  case ONNXQ_BFLOAT16:
    return py::dtype("uint16");
  case ONNXQ_FLOAT8E4M3FN:
  case ONNXQ_FLOAT8E4M3FNUZ:
  case ONNXQ_FLOAT8E5M2:
  case ONNXQ_FLOAT8E5M2FNUZ:
  case ONNXQ_UINT4:
  case ONNXQ_FLOAT4E2M1:
    return py::dtype("uint8");
  case ONNXQ_INT4:
    return py::dtype("int8");
  default:
    return py::dtype(onnxq_type_name(type));
  }
}

/// What is known of an input or output.
struct Port {
  std::string name;
  int32_t type;
  std::vector<int64_t> dims;
  py::dtype dtype;
  py::object key;
  bool isStatic = true;
  size_t bytes = 0;
};

Port describe(const onnxq_tensor_info &info) {
  Port port{info.name,
            info.type,
            {info.dims, info.dims + info.rank},
            dtypeOf(info.type),
            py::str(info.name)};
  port.bytes = onnxq_element_bytes(info.type);
  for (int64_t dim : port.dims) {
    port.isStatic = port.isStatic && dim >= 0;
    port.bytes *= dim >= 0 ? dim : 0;
  }
  return port;
}

std::string shapeText(const std::vector<int64_t> &dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + (dims[i] < 0 ? "?" : std::to_string(dims[i]));
  return text + "]";
}

/// Whatever holds numbers as an array; the data stays where it is if it can.
py::array toArray(const py::handle &value, const Port &port) {
  static constexpr const char *packages = "numpy";
  if (py::isinstance<py::array>(value))
    return py::reinterpret_borrow<py::array>(value);
  py::module_ numpy = py::module_::import(packages);
  if (py::hasattr(value, "__dlpack__")) {
    try {
      return numpy.attr("from_dlpack")(value);
    } catch (py::error_already_set &error) {
      // What can't be shared, such as a tensor with a gradient, may still say
      // how it becomes an array.
      if (!py::hasattr(value, "__array__"))
        throw;
    }
  }
  py::array array = numpy.attr("asarray")(value);
  if (array.dtype().kind() == 'O')
    throwError("DataError",
               "input '" + port.name + "' expects numbers, but got " +
                   py::cast<std::string>(
                       py::str(py::type::handle_of(value).attr("__name__"))));
  return array;
}

class Session {
public:
  Session(py::object source, std::string name) : sourceName(std::move(name)) {
    if (py::isinstance<py::capsule>(source)) {
      owner = source;
      model = static_cast<const onnxq_model *>(
          PyCapsule_GetPointer(source.ptr(), "onnxq_model"));
      if (!model)
        throw py::error_already_set();
    } else {
      auto path = py::cast<std::string>(source);
      onnxq_error error;
      onnxq_library *opened = nullptr;
      int32_t code;
      {
        py::gil_scoped_release release;
        code = onnxq_open(path.c_str(), &opened, &error);
      }
      if (code != ONNXQ_OK)
        throwError("ModelError", error.message, path);
      library.reset(opened);
      model = onnxq_get(opened);
    }
    for (int32_t i = 0; i < model->num_inputs; ++i)
      inputs.push_back(describe(model->inputs[i]));
    for (int32_t i = 0; i < model->num_outputs; ++i)
      outputs.push_back(describe(model->outputs[i]));
  }
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Feeds by name; results by name.
  py::dict run(const py::dict &feeds, const py::object &out) {
    std::vector<py::object> arrays(inputs.size());
    size_t found = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      PyObject *value =
          PyDict_GetItemWithError(feeds.ptr(), inputs[i].key.ptr());
      if (!value)
        throwError("DataError", "input '" + inputs[i].name +
                                    "' is missing; the model has " +
                                    listNames(inputs));
      arrays[i] = py::reinterpret_borrow<py::object>(value);
      ++found;
    }
    if (found != static_cast<size_t>(PyDict_Size(feeds.ptr())))
      complainOfNames(feeds, inputs, "input");
    std::vector<py::object> results = execute(arrays, out);
    py::dict named;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (PyDict_SetItem(named.ptr(), outputs[i].key.ptr(), results[i].ptr()) !=
          0)
        throw py::error_already_set();
    return named;
  }

  /// Inputs in order; one result, or a tuple of them.
  py::object call(const py::args &arguments) {
    if (arguments.size() != inputs.size())
      throwError("DataError", "the model has " + std::to_string(inputs.size()) +
                                  " inputs, but got " +
                                  std::to_string(arguments.size()));
    std::vector<py::object> arrays;
    for (py::handle argument : arguments)
      arrays.push_back(py::reinterpret_borrow<py::object>(argument));
    std::vector<py::object> results = execute(arrays, py::none());
    if (results.size() == 1)
      return results[0];
    py::tuple all(results.size());
    for (size_t i = 0; i < results.size(); ++i)
      all[i] = results[i];
    return std::move(all);
  }

  /// Seconds of each of `count` runs on the same inputs.
  std::vector<double> time(const py::dict &feeds, int64_t count) {
    std::vector<py::object> arrays;
    for (const Port &port : inputs)
      arrays.push_back(feeds[port.key]);
    std::vector<double> times;
    for (int64_t i = 0; i < count; ++i) {
      if (PyErr_CheckSignals() != 0)
        throw py::error_already_set();
      double seconds = 0;
      execute(arrays, py::none(), &seconds);
      times.push_back(seconds);
    }
    return times;
  }

  py::list describePorts(bool in) const {
    py::list list;
    for (const Port &port : in ? inputs : outputs) {
      py::list dims;
      for (int64_t dim : port.dims)
        dims.append(dim < 0 ? py::object(py::none()) : py::int_(dim));
      list.append(py::make_tuple(port.key, onnxq_type_name(port.type), dims));
    }
    return list;
  }

  /// (text, nanoseconds, calls) of the parts of a model compiled to be
  /// measured.
  py::object profile(bool reset) const {
    if (!library)
      return py::none();
    // The symbol is in the library; the handle is found again by its model.
    Dl_info info;
    if (!dladdr(model, &info) || !info.dli_fname)
      return py::none();
    void *handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    if (!handle)
      return py::none();
    auto *data =
        static_cast<onnxq_profile_data *>(dlsym(handle, "onnxq_profile"));
    py::object result = py::none();
    if (data) {
      py::list list;
      for (int64_t i = 0; i < data->count; ++i) {
        list.append(py::make_tuple(data->texts[i], data->nanoseconds[i],
                                   data->calls[i]));
        if (reset)
          data->nanoseconds[i] = data->calls[i] = 0;
      }
      result = list;
    }
    dlclose(handle);
    return result;
  }

  int64_t workspaceBytes() const { return model->workspace_bytes; }
  std::string modelName() const { return model->name; }
  const std::string &source() const { return sourceName; }

private:
  struct FreeWorkspace {
    void operator()(void *memory) const { onnxq_free_workspace(memory); }
  };
  struct CloseLibrary {
    void operator()(onnxq_library *library) const { onnxq_close(library); }
  };
  using Workspace = std::unique_ptr<void, FreeWorkspace>;

  static std::string listNames(const std::vector<Port> &ports) {
    std::string text;
    for (const Port &port : ports)
      text += (text.empty() ? "'" : ", '") + port.name + "'";
    return text;
  }

  static void complainOfNames(const py::dict &given,
                              const std::vector<Port> &ports,
                              const char *what) {
    for (auto [key, value] : given) {
      bool known = false;
      for (const Port &port : ports)
        known = known || key.equal(port.key);
      if (!known)
        throwError("DataError", std::string("the model has no ") + what + " " +
                                    py::cast<std::string>(py::repr(key)) +
                                    "; it has " + listNames(ports));
    }
  }

  Workspace takeWorkspace() {
    if (model->workspace_bytes == 0)
      return nullptr;
    {
      std::lock_guard<std::mutex> lock(mutex);
      if (!spare.empty()) {
        Workspace workspace = std::move(spare.back());
        spare.pop_back();
        return workspace;
      }
    }
    Workspace made(onnxq_make_workspace(model));
    if (!made)
      throw std::bad_alloc();
    return made;
  }

  /// Lets the runtime read an array; `keep` holds a copy if one is needed.
  void view(const Port &port, py::object &value, onnxq_tensor &tensor) {
    py::array array = toArray(value, port);
    if (!(array.flags() & py::array::c_style) || !array.dtype().is(port.dtype))
      array = prepare(port, array);
    if (array.ndim() > ONNXQ_MAX_RANK)
      throwError("DataError",
                 "input '" + port.name + "' has too many dimensions");
    value = array;
    // The runtime only reads inputs.
    tensor.data = const_cast<void *>(array.data());
    tensor.bytes = static_cast<size_t>(array.nbytes());
    tensor.type = port.type;
    tensor.rank = static_cast<int32_t>(array.ndim());
    for (ssize_t i = 0; i < array.ndim(); ++i)
      tensor.dims[i] = array.shape(i);
  }

  /// Types are never changed silently; the layout is.
  py::array prepare(const Port &port, const py::array &array) {
    if (!array.dtype().equal(port.dtype)) {
      auto have = py::cast<std::string>(py::str(array.dtype()));
      bool isBits = array.dtype().itemsize() == port.dtype.itemsize() &&
                    have == onnxq_type_name(port.type);
      if (!isBits && have.substr(0, 6) != "float8")
        throwError("DataError",
                   "input '" + port.name + "' expects elements of " +
                       onnxq_type_name(port.type) + ", but got " + have);
      return py::reinterpret_borrow<py::array>(array.attr("view")(port.dtype));
    }
    return py::reinterpret_borrow<py::array>(
        py::module_::import("numpy").attr("ascontiguousarray")(array));
  }

  std::vector<py::object> execute(std::vector<py::object> &arrays,
                                  const py::object &out,
                                  double *seconds = nullptr) {
    std::vector<onnxq_tensor> in(inputs.size()), results(outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      view(inputs[i], arrays[i], in[i]);
    std::vector<py::object> made(outputs.size());
    if (!out.is_none())
      complainOfNames(py::cast<py::dict>(out), outputs, "output");
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Port &port = outputs[i];
      if (!out.is_none() && py::cast<py::dict>(out).contains(port.key))
        made[i] = checkedOut(port, py::cast<py::dict>(out)[port.key]);
      else if (port.isStatic)
        made[i] = py::array(port.dtype, port.dims);
      if (made[i]) {
        auto array = py::reinterpret_borrow<py::array>(made[i]);
        results[i].data = array.mutable_data();
        results[i].bytes = static_cast<size_t>(array.nbytes());
        // An empty array may have no place; the run then makes one.
        if (results[i].bytes == 0)
          results[i].data = nullptr;
      }
    }
    Workspace workspace = takeWorkspace();
    onnxq_error error;
    int32_t code;
    {
      py::gil_scoped_release release;
      auto start = std::chrono::steady_clock::now();
      code = onnxq_run(model, workspace.get(), in.data(),
                       static_cast<int32_t>(in.size()), results.data(),
                       static_cast<int32_t>(results.size()), &error);
      if (seconds)
        *seconds = std::chrono::duration<double>(
                       std::chrono::steady_clock::now() - start)
                       .count();
    }
    if (workspace) {
      std::lock_guard<std::mutex> lock(mutex);
      spare.push_back(std::move(workspace));
    }
    if (code == ONNXQ_NO_MEMORY)
      throw std::bad_alloc();
    if (code != ONNXQ_OK)
      throwError(code == ONNXQ_RUN_FAILED ? "RunError" : "DataError",
                 error.message);
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!made[i] || results[i].owned)
        made[i] = adopt(outputs[i], results[i], made[i]);
      else if (!outputs[i].isStatic)
        checkShape(outputs[i], py::reinterpret_borrow<py::array>(made[i]),
                   {results[i].dims, results[i].dims + results[i].rank});
    }
    return made;
  }

  static py::object checkedOut(const Port &port, const py::object &value) {
    if (!py::isinstance<py::array>(value))
      throwError("DataError",
                 "out: output '" + port.name + "' expects an array");
    auto array = py::reinterpret_borrow<py::array>(value);
    if (!array.dtype().equal(port.dtype) ||
        !(array.flags() & py::array::c_style) || !array.writeable())
      throwError("DataError", "out: output '" + port.name +
                                  "' expects a writable contiguous array of " +
                                  onnxq_type_name(port.type));
    // What is open shows when the run is over.
    if (port.isStatic)
      checkShape(port, array, port.dims);
    return value;
  }

  static void checkShape(const Port &port, const py::array &array,
                         const std::vector<int64_t> &expected) {
    std::vector<int64_t> dims(array.shape(), array.shape() + array.ndim());
    if (dims != expected)
      throwError("DataError", "out: output '" + port.name + "' expects shape " +
                                  shapeText(expected) + ", but got " +
                                  shapeText(dims));
  }

  /// An array that owns what a run allocated.
  static py::object adopt(const Port &port, onnxq_tensor &tensor,
                          const py::object &instead) {
    if (instead) {
      onnxq_release(&tensor);
      return instead;
    }
    std::vector<int64_t> dims(tensor.dims, tensor.dims + tensor.rank);
    if (!tensor.data)
      return py::array(port.dtype, dims);
    py::capsule owner(tensor.data, [](void *data) {
      onnxq_tensor tensor = {};
      tensor.data = data;
      tensor.owned = 1;
      onnxq_release(&tensor);
    });
    return py::array(port.dtype, dims, tensor.data, owner);
  }

  std::string sourceName;
  py::object owner;
  std::unique_ptr<onnxq_library, CloseLibrary> library;
  const onnxq_model *model = nullptr;
  std::vector<Port> inputs, outputs;
  std::mutex mutex;
  std::vector<Workspace> spare;
};

} // namespace

PYBIND11_MODULE(_runtime, module) {
  module.doc() = "Compiled models: open and run them.";
  py::class_<Session>(module, "Session", py::dynamic_attr())
      .def(py::init<py::object, std::string>(), py::arg("source"),
           py::arg("name"))
      .def("run", &Session::run, py::arg("feeds"), py::arg("out") = py::none(),
           "Run once: a dictionary of arrays by input name in, one by output "
           "name out. `out` may hold arrays to write to.")
      .def("__call__", &Session::call,
           "Run once on arrays in the inputs' order: an array, or a tuple.")
      .def("_time", &Session::time, py::arg("feeds"), py::arg("count"))
      .def("_ports", &Session::describePorts, py::arg("inputs"))
      .def("_profile", &Session::profile, py::arg("reset"))
      .def_property_readonly("workspace_bytes", &Session::workspaceBytes,
                             "Bytes that a run needs beside its tensors.")
      .def_property_readonly("name", &Session::modelName)
      .def_property_readonly("source", &Session::source);
}
