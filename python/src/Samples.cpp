// Samples that Python gives: a list that is there, or an iterator that is asked
// for one at a time.

#include "Samples.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <pybind11/numpy.h>

using namespace onnxquant;
using namespace onnxquant::python;

int32_t python::onnxTypeOf(const py::object &array) {
  py::dtype type = py::cast<py::array>(array).dtype();
  struct Entry {
    char kind;
    ssize_t bytes;
    int32_t type;
  };
  static constexpr Entry entries[] = {{'f', 4, 1},  {'u', 1, 2},  {'i', 1, 3},
                                      {'u', 2, 4},  {'i', 2, 5},  {'i', 4, 6},
                                      {'i', 8, 7},  {'b', 1, 9},  {'f', 2, 10},
                                      {'f', 8, 11}, {'u', 4, 12}, {'u', 8, 13}};
  for (const Entry &entry : entries)
    if (entry.kind == type.kind() && entry.bytes == type.itemsize())
      return entry.type;
  return 0;
}

/// A sample as tensors, by the names of inputs if it has some; the GIL is held.
static Tensors toTensors(const Call &call, const py::handle &sample,
                         int64_t index) {
  Tensors tensors;
  const std::vector<std::string> &known = call.inputs();
  for (py::handle part : sample) {
    auto pair = py::cast<py::tuple>(part);
    auto array = py::cast<py::array>(pair[1]);
    HostTensor tensor;
    tensor.name = py::cast<std::string>(pair[0]);
    if (!tensor.name.empty() && !known.empty() &&
        !llvm::is_contained(known, tensor.name))
      throwError("DataError", "sample " + std::to_string(index) +
                                  ": the model has no input '" + tensor.name +
                                  "'; it has '" + llvm::join(known, "', '") +
                                  "'");
    tensor.type = onnxTypeOf(array);
    tensor.dims.assign(array.shape(), array.shape() + array.ndim());
    const char *data = static_cast<const char *>(array.data());
    tensor.data.assign(data, data + array.nbytes());
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// Set where Python raised something that the call keeps.
static llvm::Error raised() {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "reading samples failed");
}

namespace {

/// Python's objects are let go of with the GIL held.
struct Held {
  explicit Held(py::object object) : object(std::move(object)) {}
  ~Held() {
    py::gil_scoped_acquire acquire;
    object = py::object();
  }
  py::object object;
};

class ListSource : public DataSource {
public:
  ListSource(Call &call, py::object list)
      : call(call), list(std::move(list)),
        count(static_cast<int64_t>(py::len(this->list.object))) {
    std::vector<std::vector<int64_t>> first;
    for (py::handle sample : this->list.object) {
      std::vector<std::vector<int64_t>> shapes;
      for (py::handle part : sample) {
        auto array = py::cast<py::array>(py::cast<py::tuple>(part)[1]);
        shapes.emplace_back(array.shape(), array.shape() + array.ndim());
      }
      uniform = uniform && (first.empty() || first == shapes);
      first = std::move(shapes);
    }
  }
  int64_t size() const override { return count; }
  bool isUniform() const override { return uniform; }
  std::string placeOf(int64_t index) const override {
    return "sample " + std::to_string(index);
  }
  llvm::Expected<Tensors> load(int64_t index) const override {
    py::gil_scoped_acquire acquire;
    try {
      return toTensors(call, list.object[py::int_(index)], index);
    } catch (py::error_already_set &error) {
      call.keep(error);
      return raised();
    }
  }

private:
  Call &call;
  Held list;
  int64_t count;
  bool uniform = true;
};

class IteratorSource : public DataSource {
public:
  IteratorSource(Call &call, py::object iterator, int64_t known)
      : call(call), iterator(std::move(iterator)), known(known) {}
  int64_t size() const override { return known; }
  bool isStream() const override { return true; }
  bool isUniform() const override { return false; }
  std::string placeOf(int64_t index) const override {
    return "sample " + std::to_string(index);
  }
  bool has(int64_t index) const override {
    py::gil_scoped_acquire acquire;
    try {
      while (!ended && !failed && read <= index) {
        PyObject *item = PyIter_Next(iterator.object.ptr());
        if (!item && PyErr_Occurred())
          throw py::error_already_set();
        if (!item) {
          ended = true;
        } else if (auto sample = py::reinterpret_steal<py::object>(item);
                   ++read > index) {
          current = toTensors(call, sample, index);
        }
      }
    } catch (py::error_already_set &error) {
      call.keep(error);
      failed = true;
    }
    // The error is what loading gives.
    return failed || read > index;
  }
  llvm::Expected<Tensors> load(int64_t index) const override {
    if (failed)
      return raised();
    return std::move(current);
  }

private:
  Call &call;
  Held iterator;
  int64_t known;
  mutable int64_t read = 0;
  mutable bool ended = false, failed = false;
  mutable Tensors current;
};

} // namespace

std::shared_ptr<DataSource>
python::readSamples(Call &call, const py::object &samples, int64_t size) {
  if (samples.is_none())
    return nullptr;
  if (py::isinstance<py::list>(samples))
    return std::make_shared<ListSource>(call, samples);
  return std::make_shared<IteratorSource>(call, samples, size);
}

NoteSink python::warningsOf(Call &call) {
  return [&call](const std::string &message) {
    mlir::emitWarning(mlir::UnknownLoc::get(call.context())) << message;
  };
}

DataOptions python::readData(Call &call, const py::dict &options,
                             const py::object &samples, int64_t size) {
  DataOptions data;
  check("Usage",
        readDataOptions(readTable(calibrateOptionTable(), options), data));
  data.source = readSamples(call, samples, size);
  data.note = warningsOf(call);
  return data;
}
