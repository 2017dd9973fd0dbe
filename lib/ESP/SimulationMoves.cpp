// Ops that only move elements. Exponents stay: the device copies bytes.

#include "GraphPieces.h"
#include "Simulation.h"

using namespace onnxquant;
using namespace onnxquant::esp;

std::optional<Dims> Simulation::reshapedDims(const Dims &input) {
  int64_t rank = input.size(), count = elementCount(input);
  if (node->opType == "Flatten") {
    int64_t axis = axisOf(node->getInt("axis", 1), rank);
    if (axis < 0 || axis > rank)
      return std::nullopt;
    int64_t rows = elementCount(Dims(input.begin(), input.begin() + axis));
    return Dims{rows, rows ? count / rows : 0};
  }
  bool isReshape = node->opType == "Reshape";
  auto given = integers(1, isReshape ? "shape" : "axes");
  if (!given)
    return std::nullopt;
  if (isReshape) {
    int64_t known = 1;
    for (auto [axis, size] : llvm::enumerate(*given)) {
      if (size == 0 && int64_t(axis) < rank)
        size = input[axis];
      if (size < -1 || known > mostElements || size > mostElements)
        return std::nullopt;
      known *= size == -1 ? 1 : size;
    }
    for (int64_t &size : *given)
      if (size == -1)
        size = known ? count / known : 0;
    return elementCount(*given) == count ? given : std::nullopt;
  }
  bool adds = node->opType == "Unsqueeze";
  int64_t whole = adds ? rank + given->size() : rank;
  std::set<int64_t> axes;
  for (int64_t axis : *given)
    axes.insert(axisOf(axis, whole));
  if (axes.size() != given->size() || axes.empty() || *axes.begin() < 0 ||
      *axes.rbegin() >= whole)
    return std::nullopt;
  Dims dims;
  for (int64_t axis = 0, from = 0; axis < whole; ++axis) {
    if (adds && axes.count(axis))
      dims.push_back(1);
    else if (adds || !axes.count(axis))
      dims.push_back(input[adds ? from++ : axis]);
  }
  return elementCount(dims) == count ? std::optional(dims) : std::nullopt;
}

llvm::Error Simulation::reshaped() {
  Operand x = operand(0);
  Result y = result();
  if (isStreaming && y.dims && elementCount(*y.dims) != x.term.numElements()) {
    auto dims = reshapedDims(x.term.dims);
    if (!dims)
      return fail("can't be shaped for the frames of a run");
    return finish(graph.reshape(x.term, *dims));
  }
  if (!y.dims && node->opType != "Identity")
    return fail("has no declared shape");
  return finish(x.term, 0, /*isReshape=*/true);
}

llvm::Error Simulation::transposed() {
  Operand x = operand(0);
  auto order = permutationOf(*node, x.term.rank());
  return order ? finish(graph.transpose(x.term, *order)) : order.takeError();
}

/// The shape of a Slice with constant bounds; nothing if they are none.
static std::optional<Dims> sliced(const Dims &input,
                                  const std::optional<Dims> &starts,
                                  const std::optional<Dims> &ends,
                                  std::optional<Dims> axes,
                                  std::optional<Dims> steps) {
  int64_t rank = input.size();
  if (!starts || !ends || starts->size() != ends->size())
    return std::nullopt;
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < starts->size(); ++i)
      axes->push_back(i);
  }
  if (!steps)
    steps = Dims(starts->size(), 1);
  Dims dims = input;
  for (size_t i = 0; i < starts->size(); ++i) {
    if (i >= axes->size() || i >= steps->size() || (*steps)[i] == 0)
      return std::nullopt;
    int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + rank : (*axes)[i];
    if (axis < 0 || axis >= rank)
      return std::nullopt;
    int64_t size = input[axis], step = (*steps)[i];
    auto inside = [&](int64_t place, int64_t low, int64_t high) {
      return std::clamp(place < 0 ? place + size : place, low, high);
    };
    int64_t begin = step > 0 ? inside((*starts)[i], 0, size)
                             : inside((*starts)[i], 0, size - 1);
    int64_t end = step > 0             ? inside((*ends)[i], 0, size)
                  : (*ends)[i] < -size ? -1
                                       : inside((*ends)[i], -1, size - 1);
    int64_t span = step > 0 ? end - begin : begin - end;
    int64_t by = std::abs(step);
    dims[axis] = std::max<int64_t>((span + by - 1) / by, 0);
  }
  return dims;
}

llvm::Error Simulation::moved() {
  std::vector<Term> inputs;
  for (size_t i = 0; i < node->inputs.size(); ++i)
    inputs.push_back(operand(i).term);
  if (inputs.empty() || !inputs[0])
    return fail("has no input");
  std::optional<Dims> dims = inputs[0].dims;
  if (node->opType == "Expand")
    dims = result().dims;
  if (node->opType == "Slice")
    dims = sliced(inputs[0].dims, integers(1, "starts"), integers(2, "ends"),
                  integers(3, "axes"), integers(4, "steps"));
  if (node->opType == "Gather" && inputs.size() > 1) {
    int64_t axis = axisOf(node->getInt("axis", 0), inputs[0].rank());
    if (axis < 0 || axis >= inputs[0].rank())
      return fail("has an axis that its input lacks");
    dims->erase(dims->begin() + axis);
    dims->insert(dims->begin() + axis, inputs[1].dims.begin(),
                 inputs[1].dims.end());
  }
  if (!dims)
    return fail("expects constant bounds");
  // A scalar index is written with one dimension, which the result then lacks.
  bool isPick = node->opType == "Gather" && inputs.size() > 1 &&
                inputs[1].numElements() == 1;
  return finish(graph.node(node->opType, inputs, inputs[0].type, *dims,
                           settingsOf(*node)),
                /*index=*/0, /*isReshape=*/isPick);
}

llvm::Error Simulation::concatenated() {
  std::vector<Term> parts;
  for (size_t i = 0; i < node->inputs.size(); ++i)
    parts.push_back(operand(i).term);
  if (parts.empty() || !parts[0])
    return fail("has no inputs");
  int64_t rank = parts[0].rank(), axis = axisOf(node->getInt("axis", 1), rank);
  if (axis < 0 || axis >= rank)
    return fail("has an axis that its inputs lack");
  for (const Term &part : parts)
    if (part.rank() != rank || part.type != parts[0].type)
      return fail("has inputs of different ranks or types");
  return finish(graph.concat(parts, axis));
}

llvm::Error Simulation::padded() {
  Operand x = operand(0), value = operand(2);
  auto pads = integers(1, "pads");
  auto axes = integers(3, "axes");
  int64_t rank = x.term.rank();
  if (!pads)
    return fail("expects constant pads");
  if (!axes) {
    axes.emplace();
    for (int64_t i = 0; i < rank; ++i)
      axes->push_back(i);
  }
  if (pads->size() != 2 * axes->size())
    return fail("has " + llvm::Twine(pads->size()) + " pads for " +
                llvm::Twine(axes->size()) + " axes");
  Dims all(2 * rank), dims = x.term.dims;
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t axis = axisOf((*axes)[i], rank);
    if (axis < 0 || axis >= rank)
      return fail("has an axis that its input lacks");
    all[axis] = (*pads)[i];
    all[rank + axis] = (*pads)[axes->size() + i];
    for (int64_t pad : {all[axis], all[rank + axis]})
      if (pad < -mostElements || pad > mostElements)
        return fail("has a pad of " + llvm::Twine(pad));
    dims[axis] += all[axis] + all[rank + axis];
  }
  std::string mode = node->getString("mode", "constant");
  std::vector<Term> inputs = {x.term, graph.ints(Int64, {2 * rank}, all)};
  if (mode == "constant") {
    // The value has the input's exponent.
    Term filled = graph.number(x.type(), 0);
    if (value && value.constant && value.constant->numElements() > 0)
      filled = graph.number(x.type(), value.constant->at(0));
    inputs.push_back(filled);
  }
  return finish(graph.node("Pad", inputs, x.type(), dims, {{"mode", mode}}));
}

llvm::Error Simulation::split() {
  Operand x = operand(0);
  int64_t rank = x.term.rank(), axis = axisOf(node->getInt("axis", 0), rank);
  if (axis < 0 || axis >= rank)
    return fail("has an axis that its input lacks");
  int64_t count = node->outputs.size(), whole = x.term.dims[axis];
  Dims sizes;
  if (auto given = integers(1, "split"))
    sizes = *given;
  else
    for (int64_t i = 0, each = (whole + count - 1) / count; i < count; ++i)
      sizes.push_back(std::clamp<int64_t>(whole - i * each, 0, each));
  int64_t total = 0;
  for (int64_t size : sizes)
    total += size;
  if (int64_t(sizes.size()) != count || total != whole)
    return fail("has parts that don't add up to its input");
  for (int64_t i = 0, begin = 0; i < count; begin += sizes[i++])
    if (llvm::Error error =
            finish(graph.slice(x.term, axis, begin, begin + sizes[i]), i))
      return error;
  return llvm::Error::success();
}

llvm::Error Simulation::streamingCache() {
  Operand x = operand(0);
  int64_t rank = x.term.rank(),
          axis = axisOf(node->getInt("frame_axis", 1), rank),
          frames = node->getInt("window_size", 1) - 1;
  if (axis < 0 || axis >= rank || frames < 0)
    return fail("has an axis that its input lacks");
  if (frames == 0)
    return finish(x.term);
  // A run begins as the device does: with frames of zeros.
  Dims dims = x.term.dims;
  dims[axis] = frames;
  int64_t count = elementCount(dims);
  if (count > mostElements)
    return fail("keeps more frames than any chip holds");
  Term kept = graph.constant(x.type(), dims,
                             std::vector<char>(count * bytesOf(x.type())));
  return finish(graph.concat({kept, x.term}, axis));
}
