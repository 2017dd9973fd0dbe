// Gives the compiled graph its C interface: see onnxquant-c/model.h.
// Enters: the LLVM dialect, the graph as a function over memref descriptors.
// Leaves: NAME_run, NAME_model and the run's context functions. The graph takes
// its ends from the caller's arrays: as arguments and results, those of wide
// graphs would be thousands.

#include "OnnxQuant/Dialect/ONNX/ElementTypes.h"
#include "OnnxQuant/Dialect/ONNXQ/Attributes.h"
#include "OnnxQuant/Transforms/Codegen/Passes.h"
#include "OutputWriter.h"
#include "llvm/ADT/MapVector.h"

namespace onnxquant {
#define GEN_PASS_DEF_EMITENTRYPOINT
#include "OnnxQuant/Transforms/Codegen/Passes.h.inc"
} // namespace onnxquant

using namespace mlir;
using namespace onnxquant;

static constexpr int32_t abiVersion = 1;
/// Elements of constant arrays that are set one after the other.
static constexpr size_t mostInArray = 32;
/// Calls of a kernel that it may be copied to.
static constexpr unsigned mostInlined = 16;
/// The first of constructors that isn't for the system's own libraries.
static constexpr int32_t loadPriority = 101;
/// Linux's call of x86-64 that allows a process more state of the processor,
/// and the state of tiles.
static constexpr int64_t archPrctl = 158, askForState = 0x1023, tileState = 18;

namespace {

/// One end of the graph as callers see it.
struct End {
  std::string name;
  int64_t dataType = 0;
  SmallVector<int64_t> shape;
  unsigned elementBytes = 0;
};

/// Writes the interface of one graph.
class EntryWriter : public OutputWriter {
public:
  EntryWriter(ModuleOp module, LLVM::LLVMFuncOp graph, StringRef name,
              unsigned indexBits)
      : OutputWriter(module, indexBits), graph(graph), name(name) {}

  LogicalResult run();

private:
  LogicalResult readEnds();
  void writeLoad();
  Block *askForTiles(LLVM::LLVMFuncOp run);
  void writeRun();
  void connectEnds();
  void keepKernels();
  void sinkToUses(Block &block);
  SmallVector<Value> takeResults(LLVM::ReturnOp result);
  Block *checkWorkspace(LLVM::LLVMFuncOp run, Value workspace, int64_t bytes);
  void passInputs(Value inputs, SmallVectorImpl<Value> &arguments);
  Value placeOutput(unsigned index, Value buffers, Value inWorkspace);
  void copyOutputs(LLVM::ReturnOp result, Value runContext, Value workspace,
                   Value buffers);
  void copyOutput(unsigned index, Value descriptor, Value buffers,
                  Value runContext);
  void giveOpen(unsigned index, Value descriptor, Value data, Value buffers,
                Value runContext);
  void writeModel();
  void returnError(Value error, Value message);
  LLVM::GlobalOp constantGlobal(const Twine &symbol, Type type,
                                function_ref<Value()> value);

  LLVM::LLVMFuncOp graph;
  std::string name;
  std::vector<End> inputs, outputs;
  /// Where the inputs begin and how many bytes they have.
  SmallVector<std::pair<Value, Value>> inputRanges;
  /// What is read from the caller's description of them.
  DenseSet<Operation *> inputLoads;
  /// Outputs that the graph computes where it is told, with their places in the
  /// workspace.
  llvm::SmallMapVector<unsigned, int64_t, 4> placed;
};

struct EmitEntryPoint
    : public onnxquant::impl::EmitEntryPointBase<EmitEntryPoint> {
  using EmitEntryPointBase::EmitEntryPointBase;
  void runOnOperation() override;
};

} // namespace

LogicalResult EntryWriter::readEnds() {
  auto read = [&](Attribute attribute, Attribute nameAttr,
                  std::vector<End> &ends) -> LogicalResult {
    auto type = dyn_cast_or_null<TypeAttr>(attribute);
    auto tensor =
        type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
    if (!tensor)
      return graph.emitError("expects the types of the graph's ends");
    End end;
    auto string = dyn_cast_or_null<StringAttr>(nameAttr);
    end.name = string ? string.str() : "";
    end.dataType =
        onnx::onnxFromElementType(tensor.getElementType()).value_or(0);
    end.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    end.elementBytes =
        (tensor.getElementType().getIntOrFloatBitWidth() + 7) / 8;
    ends.push_back(end);
    return success();
  };
  auto ends = graph->getAttrOfType<DictionaryAttr>(signatureAttr);
  if (!ends)
    return graph.emitError("expects the description of the graph's ends");
  for (StringRef which : {"inputs", "outputs"})
    for (Attribute element : ends.getAs<ArrayAttr>(which)) {
      auto dict = cast<DictionaryAttr>(element);
      if (failed(read(dict.get("type"), dict.get("name"),
                      which == "inputs" ? inputs : outputs)))
        return failure();
    }
  if (auto pairs = graph->getAttrOfType<DenseI64ArrayAttr>(placedResultsAttr))
    for (int64_t i = 0; i + 1 < pairs.size(); i += 2)
      placed.insert({static_cast<unsigned>(pairs[i]), pairs[i + 1]});
  return success();
}

/// Expands every input buffer to the fields of its memref descriptor.
void EntryWriter::passInputs(Value buffers, SmallVectorImpl<Value> &arguments) {
  auto read = [&](Value value) {
    inputLoads.insert(value.getDefiningOp());
    return value;
  };
  for (auto [index, end] : llvm::enumerate(inputs)) {
    Value data = read(loadPointer(dataField(buffers, index)));
    Value dims = read(loadPointer(dimsField(buffers, index)));
    arguments.append({data, data, number(0)});
    SmallVector<Value> sizes;
    for (auto [axis, size] : llvm::enumerate(end.shape))
      sizes.push_back(
          ShapedType::isDynamic(size)
              ? read(LLVM::LoadOp::create(b, i64, fieldAt(dims, 8 * axis)))
              : number(size));
    SmallVector<Value> strides(end.shape.size());
    Value stride = number(1);
    for (int64_t axis = end.shape.size() - 1; axis >= 0; --axis) {
      strides[axis] = stride;
      stride = LLVM::MulOp::create(b, stride, sizes[axis]);
    }
    arguments.append(sizes);
    arguments.append(strides);
    Value bytes = LLVM::MulOp::create(b, stride, number(end.elementBytes));
    inputRanges.push_back({data, bytes});
  }
}

static int64_t countBytes(const End &end) {
  int64_t bytes = end.elementBytes;
  for (int64_t size : end.shape)
    bytes *= size;
  return bytes;
}

/// Where the graph computes an output: in the caller's memory, unless that
/// overlaps with an input, which is still read, or with another output.
Value EntryWriter::placeOutput(unsigned index, Value buffers,
                               Value inWorkspace) {
  auto address = [&](Value data) -> Value {
    return LLVM::PtrToIntOp::create(b, this->index, data);
  };
  auto isLess = [&](Value x, Value y) -> Value {
    return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, x, y);
  };
  SmallVector<std::pair<Value, Value>> others(inputRanges);
  for (auto [other, end] : llvm::enumerate(outputs))
    if (other != index && !ShapedType::isDynamicShape(end.shape))
      others.push_back(
          {loadPointer(dataField(buffers, other)), number(countBytes(end))});
  Value given = loadPointer(dataField(buffers, index));
  Value start = address(given);
  Value stop =
      LLVM::AddOp::create(b, start, number(countBytes(outputs[index])));
  Value overlaps = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, given,
                                        LLVM::ZeroOp::create(b, pointer));
  for (auto [data, bytes] : others) {
    Value first = address(data);
    Value behind = LLVM::AddOp::create(b, first, bytes);
    Value both =
        LLVM::AndOp::create(b, isLess(first, stop), isLess(start, behind));
    overlaps = LLVM::OrOp::create(b, overlaps, both);
  }
  return LLVM::SelectOp::create(b, overlaps, inWorkspace, given);
}

/// Copies a result to where the caller wants it, if it isn't there.
void EntryWriter::copyOutput(unsigned index, Value descriptor, Value buffers,
                             Value runContext) {
  const End &end = outputs[index];
  Value data =
      LLVM::ExtractValueOp::create(b, descriptor, ArrayRef<int64_t>{1});
  Value offset =
      LLVM::ExtractValueOp::create(b, descriptor, ArrayRef<int64_t>{2});
  Value elementBytes = number(end.elementBytes);
  data = LLVM::GEPOp::create(
      b, pointer, b.getI8Type(), data,
      ArrayRef<LLVM::GEPArg>{
          LLVM::MulOp::create(b, offset, elementBytes).getResult()});
  if (ShapedType::isDynamicShape(end.shape))
    return giveOpen(index, descriptor, data, buffers, runContext);
  // The caller knows the size and brings the memory.
  Value bytes = number(countBytes(end));
  if (outputs.size() > mostInlined && !placed.contains(index)) {
    LLVM::CallOp::create(b, copyFunction(),
                         ValueRange{dataField(buffers, index), data, bytes});
    return;
  }
  Value given = loadPointer(dataField(buffers, index));
  Block *done = nullptr;
  if (placed.contains(index)) {
    Region *region = b.getInsertionBlock()->getParent();
    Block *current = b.getInsertionBlock();
    Block *copy = b.createBlock(region);
    done = b.createBlock(region);
    b.setInsertionPointToEnd(current);
    LLVM::CondBrOp::create(b, equal(given, data), done, copy);
    b.setInsertionPointToStart(copy);
  }
  LLVM::MemcpyOp::create(b, given, data, bytes, /*isVolatile=*/false);
  if (done) {
    LLVM::BrOp::create(b, ValueRange{}, done);
    b.setInsertionPointToStart(done);
  }
}

/// Gives the caller a result whose size is known now: where it wants it, or in
/// memory that becomes its own.
void EntryWriter::giveOpen(unsigned index, Value descriptor, Value data,
                           Value buffers, Value runContext) {
  Block *current = b.getInsertionBlock();
  Region *region = current->getParent();
  Value bytes = number(outputs[index].elementBytes);
  SmallVector<Value> sizes;
  for (int64_t axis = 0, e = outputs[index].shape.size(); axis < e; ++axis) {
    Value extent =
        LLVM::ExtractValueOp::create(b, descriptor, ArrayRef<int64_t>{3, axis});
    sizes.push_back(extent);
    bytes = LLVM::MulOp::create(b, bytes, extent);
  }
  Value dims = loadPointer(dimsField(buffers, index));
  Block *writeDims = b.createBlock(region);
  Block *findData = b.createBlock(region);
  Block *allocate = b.createBlock(region);
  Block *full = b.createBlock(region);
  Block *copy =
      b.createBlock(region, region->end(), {pointer}, {module.getLoc()});
  Block *done = b.createBlock(region);
  b.setInsertionPointToEnd(current);
  LLVM::CondBrOp::create(b, equal(dims, null()), findData, writeDims);
  b.setInsertionPointToStart(writeDims);
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    Value wide = size;
    if (size.getType() != i64)
      wide = LLVM::ZExtOp::create(b, i64, size);
    LLVM::StoreOp::create(b, wide, fieldAt(dims, 8 * axis));
  }
  LLVM::BrOp::create(b, ValueRange{}, findData);
  b.setInsertionPointToStart(findData);
  Value slot = dataField(buffers, index);
  Value given = loadPointer(slot);
  LLVM::CondBrOp::create(b, equal(given, null()), allocate, ValueRange{}, copy,
                         ValueRange{given});
  b.setInsertionPointToStart(allocate);
  if (allocates()) {
    // What the run allocated for it becomes the caller's.
    Block *give = b.createBlock(region);
    Block *makeOne = b.createBlock(region);
    b.setInsertionPointToEnd(allocate);
    Value taken = LLVM::CallOp::create(b, b.getI1Type(), takeFunction,
                                       ValueRange{runContext, data, bytes})
                      .getResult();
    LLVM::CondBrOp::create(b, taken, give, makeOne);
    b.setInsertionPointToStart(give);
    LLVM::StoreOp::create(b, data, slot);
    LLVM::BrOp::create(b, ValueRange{}, done);
    b.setInsertionPointToStart(makeOne);
  }
  auto malloc = declare("malloc", pointer, {i64});
  // At least a byte, so that a tensor without elements is no failure.
  Value fresh =
      LLVM::CallOp::create(b, malloc,
                           ValueRange{LLVM::AddOp::create(b, bytes, number(1))})
          .getResult();
  LLVM::StoreOp::create(b, fresh, slot);
  LLVM::CondBrOp::create(b, equal(fresh, null()), full, ValueRange{}, copy,
                         ValueRange{fresh});
  b.setInsertionPointToStart(full);
  failMemory(runContext);
  b.setInsertionPointToStart(copy);
  LLVM::MemcpyOp::create(b, copy->getArgument(0), data, bytes,
                         /*isVolatile=*/false);
  LLVM::BrOp::create(b, ValueRange{}, done);
  b.setInsertionPointToStart(done);
}

/// Gives the caller what the graph returns.
void EntryWriter::copyOutputs(LLVM::ReturnOp result, Value runContext,
                              Value workspace, Value buffers) {
  SmallVector<Value> results = takeResults(result);
  if (!outputs.empty())
    writeStatedSizes(buffers, name + "_outputs", outputs.size());
  SmallVector<PlacedOutput> inWorkspace;
  for (auto [index, value] : llvm::enumerate(results)) {
    std::optional<int64_t> offset;
    if (outputs.size() > mostInlined && !placed.contains(index) &&
        !ShapedType::isDynamicShape(outputs[index].shape))
      offset = findInWorkspace(value, workspace);
    if (offset)
      inWorkspace.push_back(
          {static_cast<int64_t>(index), *offset, countBytes(outputs[index])});
    else
      copyOutput(index, value, buffers, runContext);
  }
  if (!inWorkspace.empty())
    copyPlaced(workspace, buffers, inWorkspace);
  LLVM::ReturnOp::create(b, ValueRange{});
}

/// Gives the caller a message, if it wants one, and returns.
void EntryWriter::returnError(Value error, Value message) {
  Region *region = b.getInsertionBlock()->getParent();
  Block *current = b.getInsertionBlock();
  Block *report = b.createBlock(region);
  Block *leave = b.createBlock(region);
  b.setInsertionPointToEnd(current);
  Value null = LLVM::ZeroOp::create(b, pointer);
  Value wants = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, error, null);
  LLVM::CondBrOp::create(b, wants, report, leave);
  b.setInsertionPointToStart(report);
  LLVM::StoreOp::create(b, message, error);
  LLVM::BrOp::create(b, ValueRange{}, leave);
  b.setInsertionPointToStart(leave);
  LLVM::ReturnOp::create(
      b, LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(1)));
}

/// Refuses a run without the workspace that it needs; gives the block in which
/// the run goes on.
Block *EntryWriter::checkWorkspace(LLVM::LLVMFuncOp run, Value workspace,
                                   int64_t bytes) {
  StringRef message =
      stringGlobal("onnxq_no_workspace", "the run needs a workspace of " +
                                             std::to_string(bytes) + " bytes");
  Block *entry = b.getInsertionBlock();
  Block *missing = b.createBlock(&run.getBody());
  Block *given = b.createBlock(&run.getBody());
  b.setInsertionPointToEnd(entry);
  Value null = LLVM::ZeroOp::create(b, pointer);
  Value isNull =
      LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, workspace, null);
  LLVM::CondBrOp::create(b, isNull, missing, given);
  b.setInsertionPointToStart(missing);
  returnError(entry->getArgument(3),
              LLVM::AddressOfOp::create(b, pointer, message));
  b.setInsertionPointToStart(given);
  return given;
}

/// Asks the system once for the memory of x86's tiles, and refuses the run if
/// it says no; gives the block in which the run goes on.
Block *EntryWriter::askForTiles(LLVM::LLVMFuncOp run) {
  constexpr StringLiteral answer = "onnxq_has_tiles";
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, i32, /*isConstant=*/false,
                           LLVM::Linkage::Internal, answer,
                           b.getI32IntegerAttr(0));
  }
  StringRef message = stringGlobal(
      "onnxq_no_tiles", "the system doesn't let this process use AMX");
  auto ask = declare("syscall", i64, {i64, i64, i64});
  Block *entry = b.getInsertionBlock();
  Block *asking = b.createBlock(&run.getBody());
  Block *refused = b.createBlock(&run.getBody());
  Block *granted = b.createBlock(&run.getBody());
  Block *go = b.createBlock(&run.getBody());
  b.setInsertionPointToEnd(entry);
  Value place = LLVM::AddressOfOp::create(b, pointer, answer);
  Value zero = LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(0));
  // Whichever run asks first; all get the same answer.
  Value known = LLVM::LoadOp::create(b, i32, place, /*alignment=*/4,
                                     /*isVolatile=*/false,
                                     /*isNonTemporal=*/false,
                                     /*isInvariant=*/false,
                                     /*isInvariantGroup=*/false,
                                     LLVM::AtomicOrdering::monotonic);
  LLVM::CondBrOp::create(
      b, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, known, zero), go,
      asking);
  b.setInsertionPointToStart(asking);
  Value result =
      LLVM::CallOp::create(
          b, ask,
          ValueRange{number(archPrctl), number(askForState), number(tileState)})
          .getResult();
  LLVM::CondBrOp::create(
      b, LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, result, number(0)),
      granted, refused);
  b.setInsertionPointToStart(refused);
  returnError(run.getBody().front().getArgument(3),
              LLVM::AddressOfOp::create(b, pointer, message));
  b.setInsertionPointToStart(granted);
  LLVM::StoreOp::create(
      b, LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(1)), place,
      /*alignment=*/4, /*isVolatile=*/false, /*isNonTemporal=*/false,
      /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic);
  LLVM::BrOp::create(b, ValueRange{}, go);
  b.setInsertionPointToStart(go);
  return go;
}

/// Lets what is computed at load run before any constructor that may want to
/// run the model.
void EntryWriter::writeLoad() {
  auto load = module.lookupSymbol<LLVM::LLVMFuncOp>(loadFunction);
  if (!load)
    return;
  load.setSymName((name + "_" + loadFunction).str());
  load.setLinkage(LLVM::Linkage::External);
  load.setVisibility_(LLVM::Visibility::Hidden);
  auto zero = LLVM::ZeroAttr::get(context);
  LLVM::GlobalCtorsOp::create(
      b, b.getArrayAttr(FlatSymbolRefAttr::get(load.getSymNameAttr())),
      b.getI32ArrayAttr(loadPriority), b.getArrayAttr(zero));
}

/// The descriptors that the graph returns, each by itself: where there are
/// several, they are the parts of one value.
SmallVector<Value> EntryWriter::takeResults(LLVM::ReturnOp result) {
  Value value = result.getArg();
  result.erase();
  if (outputs.size() == 1)
    return {value};
  SmallVector<Value> results(outputs.size());
  SmallVector<Operation *> parts;
  while (auto part = value.getDefiningOp<LLVM::InsertValueOp>()) {
    Value &known = results[part.getPosition().front()];
    if (!known)
      known = part.getValue();
    parts.push_back(part);
    value = part.getContainer();
  }
  for (Operation *part : parts)
    part->erase();
  return results;
}

/// Moves what has no effect, and what is read of the inputs, to its first use
/// in a block. Thousands of values that are there from the beginning on would
/// all wait for their use, and LLVM compares them with each other.
void EntryWriter::sinkToUses(Block &block) {
  DenseMap<Operation *, unsigned> place;
  SmallVector<std::pair<unsigned, Operation *>> order;
  unsigned end = 0;
  for (Operation &op : block)
    place[&op] = ++end;
  for (Operation &op : llvm::reverse(block)) {
    bool moves = !op.use_empty() && !op.hasTrait<OpTrait::IsTerminator>() &&
                 (inputLoads.contains(&op) || isMemoryEffectFree(&op));
    if (moves) {
      unsigned first = end;
      for (Operation *user : op.getUsers())
        first = std::min(first, user->getBlock() == &block ? place[user] : 0);
      if (first > 0)
        place[&op] = first;
    }
  }
  for (Operation &op : block)
    order.push_back({place[&op], &op});
  // Those of the same place are in order: the one that was there is the last.
  llvm::stable_sort(order, llvm::less_first());
  for (auto [number, op] : order)
    op->moveBefore(&block, block.end());
}

/// Makes the graph a function of a context, a workspace and the arrays of its
/// inputs and outputs.
void EntryWriter::connectEnds() {
  OpBuilder::InsertionGuard guard(b);
  Region &body = graph.getBody();
  Block *first = &body.front();
  Block *entry =
      b.createBlock(&body, body.begin(), {pointer, pointer, pointer, pointer},
                    SmallVector<Location>(4, graph.getLoc()));
  Value runContext = entry->getArgument(0), workspace = entry->getArgument(1);
  Value buffers = entry->getArgument(3);
  int64_t workspaceBytes =
      graph->getAttrOfType<IntegerAttr>(workspaceBytesAttr).getInt();
  SmallVector<Value> arguments = {
      runContext, workspace, workspace, number(0), number(workspaceBytes),
      number(1)};
  passInputs(entry->getArgument(2), arguments);
  for (auto [index, offset] : placed) {
    Value place = placeOutput(index, buffers, fieldAt(workspace, offset));
    arguments.append({place, place, number(0),
                      number(countBytes(outputs[index])), number(1)});
  }
  for (auto [argument, value] : llvm::zip(first->getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  entry->getOperations().splice(entry->end(), first->getOperations());
  first->erase();
  sinkToUses(*entry);
  for (Block &block : body)
    if (auto result = dyn_cast<LLVM::ReturnOp>(block.getTerminator());
        result && result.getArg()) {
      b.setInsertionPointToEnd(&block);
      copyOutputs(result, runContext, workspace, buffers);
      break;
    }
  graph.setFunctionType(LLVM::LLVMFunctionType::get(
      none(), {pointer, pointer, pointer, pointer}));
  graph.removeArgAttrsAttr();
  graph.removeResAttrsAttr();
}

/// Keeps kernels that are called often out of their callers: blocks of many
/// copies of them take long to compile, and a call takes little.
void EntryWriter::keepKernels() {
  DenseMap<StringAttr, unsigned> calls;
  module.walk([&](LLVM::CallOp call) {
    if (FlatSymbolRefAttr callee = call.getCalleeAttr())
      ++calls[callee.getAttr()];
  });
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(kernelAttr) &&
        calls[function.getSymNameAttr()] > mostInlined)
      function.setNoInline(true);
}

void EntryWriter::writeRun() {
  connectEnds();
  auto run = LLVM::LLVMFuncOp::create(
      b, name + "_run",
      LLVM::LLVMFunctionType::get(i32, {pointer, pointer, pointer, pointer}));
  OpBuilder::InsertionGuard guard(b);
  Block *entry = run.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  Value workspace = entry->getArgument(2);
  int64_t workspaceBytes =
      graph->getAttrOfType<IntegerAttr>(workspaceBytesAttr).getInt();
  Block *start = entry;
  if (workspaceBytes > 0)
    start = checkWorkspace(run, workspace, workspaceBytes);
  if (module->hasAttr(tilesAttr))
    start = askForTiles(run);
  Value runContext = LLVM::ZeroOp::create(b, pointer);
  Value zero = LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(0));
  if (canFail() || allocates()) {
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), contextBytes);
    runContext =
        LLVM::AllocaOp::create(b, pointer, type, number(1), /*alignment=*/64);
    Value null = LLVM::ZeroOp::create(b, pointer);
    LLVM::StoreOp::create(b, null, fieldAt(runContext, messageField));
    LLVM::StoreOp::create(b, null, fieldAt(runContext, blocksField));
    LLVM::StoreOp::create(b, number(0), fieldAt(runContext, usedField));
    auto setJump = declare("_setjmp", i32, {pointer}, {"returns_twice"});
    Value returned = LLVM::CallOp::create(
                         b, setJump, ValueRange{fieldAt(runContext, jumpField)})
                         .getResult();
    Value isFirst =
        LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, returned, zero);
    Block *work = b.createBlock(&run.getBody());
    Block *failed = b.createBlock(&run.getBody());
    b.setInsertionPointToEnd(start);
    LLVM::CondBrOp::create(b, isFirst, work, failed);
    b.setInsertionPointToStart(failed);
    if (allocates())
      LLVM::CallOp::create(b, TypeRange{}, releaseFunction,
                           ValueRange{runContext});
    returnError(entry->getArgument(3),
                loadPointer(fieldAt(runContext, messageField)));
    b.setInsertionPointToStart(work);
  }
  if (retainsMemory())
    LLVM::CallOp::create(b, TypeRange{}, retainFunction, ValueRange{});
  LLVM::CallOp::create(b, graph,
                       ValueRange{runContext, workspace, entry->getArgument(0),
                                  entry->getArgument(1)});
  if (allocates())
    LLVM::CallOp::create(b, TypeRange{}, releaseFunction,
                         ValueRange{runContext});
  LLVM::ReturnOp::create(b, zero);
}

//===----------------------------------------------------------------------===//
// The description
//===----------------------------------------------------------------------===//

LLVM::GlobalOp EntryWriter::constantGlobal(const Twine &symbol, Type type,
                                           function_ref<Value()> value) {
  auto global = LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, symbol.str(),
                                       Attribute());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(b, value());
  return global;
}

void EntryWriter::writeModel() {
  Type infoType = this->infoType();
  auto address = [&](StringRef symbol) -> Value {
    return LLVM::AddressOfOp::create(b, pointer, symbol);
  };
  auto i32Value = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, i32, b.getI32IntegerAttr(value));
  };
  auto build = [&](Type type, ArrayRef<Value> fields) {
    Value value = LLVM::UndefOp::create(b, type);
    for (auto [index, field] : llvm::enumerate(fields))
      value = LLVM::InsertValueOp::create(
          b, value, field, ArrayRef<int64_t>{static_cast<int64_t>(index)});
    return value;
  };
  auto writeEnds = [&](StringRef which, const std::vector<End> &ends) {
    std::vector<std::pair<std::string, std::string>> symbols;
    for (auto [index, end] : llvm::enumerate(ends)) {
      std::string prefix = (name + "_" + which + "_" + Twine(index)).str();
      stringGlobal(prefix + "_name", end.name);
      SmallVector<int64_t> dims;
      for (int64_t size : end.shape)
        dims.push_back(ShapedType::isDynamic(size) ? -1 : size);
      if (dims.empty())
        dims.push_back(0);
      auto dimsType = LLVM::LLVMArrayType::get(i64, dims.size());
      auto attr = DenseElementsAttr::get(
          RankedTensorType::get({static_cast<int64_t>(dims.size())}, i64),
          ArrayRef<int64_t>(dims));
      LLVM::GlobalOp::create(b, dimsType, true, LLVM::Linkage::Internal,
                             prefix + "_dims", attr);
      symbols.push_back({prefix + "_name", prefix + "_dims"});
    }
    // An array; a long one is a pair of halves, which lie in memory as it
    // would: setting one element after the other would copy all of them each.
    auto typeOf = [&](auto &self, size_t count) -> Type {
      if (count <= mostInArray)
        return LLVM::LLVMArrayType::get(infoType, std::max<size_t>(count, 1));
      return LLVM::LLVMStructType::getLiteral(
          context, {self(self, count / 2), self(self, count - count / 2)});
    };
    auto valueOf = [&](auto &self, size_t first, size_t count) -> Value {
      Type type = typeOf(typeOf, count);
      if (count > mostInArray)
        return build(type, {self(self, first, count / 2),
                            self(self, first + count / 2, count - count / 2)});
      SmallVector<Value> infos;
      for (size_t i = first; i < first + count; ++i)
        infos.push_back(build(infoType, {address(symbols[i].first),
                                         i32Value(ends[i].dataType),
                                         i32Value(ends[i].shape.size()),
                                         address(symbols[i].second)}));
      return infos.empty() ? LLVM::ZeroOp::create(b, type).getResult()
                           : build(type, infos);
    };
    return constantGlobal(name + "_" + which, typeOf(typeOf, ends.size()),
                          [&]() { return valueOf(valueOf, 0, ends.size()); });
  };
  LLVM::GlobalOp inputInfos = writeEnds("inputs", inputs);
  LLVM::GlobalOp outputInfos = writeEnds("outputs", outputs);
  StringRef modelName = stringGlobal(name + "_name", name);
  auto modelType = LLVM::LLVMStructType::getLiteral(
      context, {i32, i32, i32, i32, pointer, pointer, pointer, i64, pointer});
  int64_t workspaceBytes =
      graph->getAttrOfType<IntegerAttr>(workspaceBytesAttr).getInt();
  LLVM::GlobalOp model = constantGlobal(name + "_model", modelType, [&]() {
    Value bytes =
        LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(workspaceBytes));
    return build(modelType,
                 {i32Value(abiVersion), i32Value(inputs.size()),
                  i32Value(outputs.size()), i32Value(0), address(modelName),
                  address(inputInfos.getSymName()),
                  address(outputInfos.getSymName()), bytes,
                  address(name + "_run")});
  });
  model.setLinkage(LLVM::Linkage::External);
  module->setAttr(modelNameAttr, b.getStringAttr(name));
}

LogicalResult EntryWriter::run() {
  if (failed(readEnds()))
    return failure();
  write(/*outputs=*/llvm::any_of(outputs, [](const End &end) {
    return ShapedType::isDynamicShape(end.shape);
  }));
  graph.setLinkage(LLVM::Linkage::Internal);
  keepKernels();
  writeLoad();
  writeRun();
  writeModel();
  return success();
}

void EmitEntryPoint::runOnOperation() {
  ModuleOp module = getOperation();
  LLVM::LLVMFuncOp graph;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(workspaceBytesAttr))
      graph = function;
  if (!graph) {
    module.emitError("expects a planned graph");
    return signalPassFailure();
  }
  if (failed(EntryWriter(module, graph, name, indexBits).run()))
    signalPassFailure();
}
