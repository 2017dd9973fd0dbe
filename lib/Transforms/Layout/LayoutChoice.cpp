// Which tensors are stored in which order.
//
// From the transposes of a block two orders per tensor spread through all ops
// that can compute in either: that of the side before a transpose and that of
// the side after it. An op has one of two labels, a tensor whose producer and
// consumers differ costs its bytes, and the cheapest labels are a minimum cut.
// Where a third order would meet the two, spreading ends.

#include "LayoutChoice.h"
#include "MinCut.h"
#include "OnnxQuant/Dialect/ONNX/ConstantValues.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Debug.h"
#include <deque>

#define DEBUG_TYPE "onnx-propagate-layout"

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::onnx;
using namespace onnxquant::layouts;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Guesses for a dimension of a known name, and of which nothing is known.
static constexpr StringLiteral namedSize = "256";
static constexpr int64_t unknownSize = 32;

/// The value of an expression with every name in it taken as a number.
static int64_t estimate(const Dim &dim) {
  if (std::optional<int64_t> index = dim.getConstant())
    return *index;
  if (!dim.isValid() || dim.isAnonymous())
    return unknownSize;
  std::string text = dim.str(), replaced;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (llvm::isAlnum(text[end]) || text[end] == '_'))
      ++end;
    if (end == i) {
      replaced += text[i++];
      continue;
    }
    StringRef word = StringRef(text).slice(i, end);
    bool isName =
        !llvm::isDigit(word[0]) && !(end < text.size() && text[end] == '(');
    replaced += isName ? StringRef(namedSize) : word;
    i = end;
  }
  return Dim::parse(replaced).getConstant().value_or(unknownSize);
}

/// The bytes of a tensor, or a guess.
static int64_t getBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isIntOrFloat())
    return 1;
  ShapeContext ctx;
  double bytes = std::max(1u, type.getElementTypeBitWidth() / 8);
  if (std::optional<Dims> dims = ctx.getDims(value))
    for (const Dim &dim : *dims)
      bytes *= static_cast<double>(std::max<int64_t>(1, estimate(dim)));
  return static_cast<int64_t>(std::min(bytes, 1e15));
}

static bool movesBytes(Operation *op) {
  std::optional<Permutation> perm = getTransposition(op);
  return perm && !keepsOrder(op->getOperand(0).getType(), *perm) &&
         !getConstant(op->getOperand(0));
}

int64_t layouts::getTransposedBytes(Block &block) {
  int64_t bytes = 0;
  for (Operation &op : block)
    if (movesBytes(&op))
      bytes += getBytes(op.getOperand(0));
  return bytes;
}

//===----------------------------------------------------------------------===//
// Spreading
//===----------------------------------------------------------------------===//

namespace {

/// The two orders that a tensor may be stored in.
using Orders = std::array<Permutation, 2>;

/// A flexible op: its layout under either label, and its node of the network.
struct Flexible {
  std::array<OpLayout, 2> layouts;
  unsigned node;
};

class Chooser {
public:
  explicit Chooser(Block &block) : block(block) {}

  /// Spreads from a transpose to all that can be stored in either order.
  void spread(Operation *transpose);
  /// Takes the cheapest labels.
  void decide();
  /// The chosen layouts.
  Layouts getLayouts() const;
  /// The bytes that transposes move under the labels given by `layouts`.
  int64_t getCost(const Layouts &layouts) const;
  /// Whether a transpose was reached from another.
  bool reaches(Operation *transpose) const {
    return orders.contains(transpose->getOperand(0)) &&
           orders.contains(transpose->getResult(0));
  }

private:
  Block &block;
  llvm::MapVector<Value, Orders> orders;
  llvm::MapVector<Operation *, Flexible> flexible;
  llvm::SmallDenseSet<Operation *> rigid;
  std::deque<Value> queue;
  MinCut network;
  std::vector<bool> atSource;

  void add(Value value, const Orders &values);
  bool agrees(Value value, const Orders &values) const;
  void visit(Operation *op, Value value, TensorPlace place);
  void cross(Operation *transpose, Value value);
  std::optional<unsigned> getFixedNode(Value value, bool swap) const;
  void connect(Value root, bool swap);
  bool prefersSecond() const;
};

} // namespace

/// Whether orders are stated for a tensor: constants are rewritten instead.
static bool isCarried(Value value) {
  return isa<RankedTensorType>(value.getType()) && !getConstant(value);
}

void Chooser::add(Value value, const Orders &values) {
  if (orders.insert({value, values}).second)
    queue.push_back(value);
}

bool Chooser::agrees(Value value, const Orders &values) const {
  auto it = orders.find(value);
  return it == orders.end() ||
         (isSameOrder(value.getType(), it->second[0], values[0]) &&
          isSameOrder(value.getType(), it->second[1], values[1]));
}

/// The other side of a transpose is stored the same way.
void Chooser::cross(Operation *transpose, Value value) {
  Permutation perm = *getTransposition(transpose);
  bool down = value == transpose->getOperand(0);
  Value other =
      down ? Value(transpose->getResult(0)) : transpose->getOperand(0);
  if (!isCarried(other))
    return;
  const Orders from = orders.find(value)->second;
  Orders to;
  for (unsigned i = 0; i < 2; ++i)
    to[i] = compose(down ? invert(perm) : perm, from[i]);
  if (agrees(other, to))
    add(other, to);
}

/// An op that reads or makes a tensor joins if it can have both layouts and
/// they agree with what is known of its other tensors.
void Chooser::visit(Operation *op, Value value, TensorPlace place) {
  if (op->getBlock() != &block || flexible.contains(op) || rigid.contains(op))
    return;
  if (getTransposition(op))
    return cross(op, value);
  auto layoutOp = dyn_cast<LayoutOpInterface>(op);
  auto refuse = [&] { rigid.insert(op); };
  if (!layoutOp || op->getNumRegions() != 0)
    return refuse();
  Flexible entry;
  const Orders own = orders.find(value)->second;
  for (unsigned i = 0; i < 2; ++i) {
    FailureOr<OpLayout> layout = layoutOp.getLayout(place, own[i]);
    if (failed(layout))
      return refuse();
    entry.layouts[i] = std::move(*layout);
  }
  SmallVector<std::pair<Value, Orders>> tensors;
  auto collect = [&](ValueRange values,
                     SmallVector<Permutation> OpLayout::*of) {
    for (auto [index, tensor] : llvm::enumerate(values)) {
      Orders pair = {(entry.layouts[0].*of)[index],
                     (entry.layouts[1].*of)[index]};
      if (isCarried(tensor) && !pair[0].empty())
        tensors.emplace_back(tensor, pair);
    }
  };
  collect(op->getOperands(), &OpLayout::operands);
  collect(op->getResults(), &OpLayout::results);
  for (auto &[tensor, pair] : tensors)
    if (!agrees(tensor, pair))
      return refuse();
  entry.node = network.addNode();
  flexible.insert({op, std::move(entry)});
  for (auto &[tensor, pair] : tensors)
    add(tensor, pair);
}

void Chooser::spread(Operation *transpose) {
  Permutation perm = *getTransposition(transpose);
  add(transpose->getOperand(0), {getIdentity(perm.size()), perm});
  while (!queue.empty()) {
    Value value = queue.front();
    queue.pop_front();
    if (Operation *maker = value.getDefiningOp())
      visit(maker, value,
            {/*isResult=*/true, cast<OpResult>(value).getResultNumber()});
    for (OpOperand &use : value.getUses())
      visit(use.getOwner(), value,
            {/*isResult=*/false, use.getOperandNumber()});
  }
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

/// The side of something that needs a tensor as it is.
std::optional<unsigned> Chooser::getFixedNode(Value value, bool swap) const {
  const Orders &pair = orders.find(value)->second;
  if (keepsOrder(value.getType(), pair[swap]))
    return MinCut::source;
  if (keepsOrder(value.getType(), pair[!swap]))
    return MinCut::sink;
  return std::nullopt;
}

/// Which of the two orders ops need that can't have another: theirs is that of
/// the source, where as much as possible goes.
bool Chooser::prefersSecond() const {
  int64_t votes = 0;
  for (const auto &entry : orders) {
    Value value = entry.first;
    const Orders &pair = entry.second;
    auto vote = [&](Operation *op) {
      if (!op || !rigid.contains(op) || op->hasTrait<OpTrait::IsTerminator>())
        return;
      votes += keepsOrder(value.getType(), pair[1]);
      votes -= keepsOrder(value.getType(), pair[0]);
    };
    vote(value.getDefiningOp());
    for (Operation *user : value.getUsers())
      vote(user);
  }
  return votes > 0;
}

/// Adds the cost of a tensor, with all that is transposed from it.
void Chooser::connect(Value root, bool swap) {
  Operation *maker = root.getDefiningOp();
  const Orders &own = orders.find(root)->second;
  if (isSameOrder(root.getType(), own[0], own[1]))
    return;
  std::optional<unsigned> producer;
  if (auto it = flexible.find(maker); maker && it != flexible.end())
    producer = it->second.node;
  else
    producer = getFixedNode(root, swap);
  if (!producer)
    return;
  SmallVector<unsigned> consumers;
  SmallVector<Value> copies = {root};
  for (size_t i = 0; i < copies.size(); ++i) {
    Value copy = copies[i];
    for (OpOperand &use : copy.getUses()) {
      Operation *user = use.getOwner();
      auto it = flexible.find(user);
      if (it != flexible.end() &&
          !it->second.layouts[0].operands[use.getOperandNumber()].empty()) {
        consumers.push_back(it->second.node);
      } else if (getTransposition(user) && user->getBlock() == &block &&
                 orders.contains(user->getResult(0))) {
        copies.push_back(user->getResult(0));
      } else if (std::optional<unsigned> node = getFixedNode(copy, swap)) {
        consumers.push_back(*node);
      }
    }
  }
  // One transpose serves all consumers on the other side.
  int64_t bytes = getBytes(root);
  unsigned down = network.addNode(), up = network.addNode();
  network.addArc(*producer, down, bytes);
  network.addArc(up, *producer, bytes);
  for (unsigned consumer : consumers) {
    network.addArc(down, consumer, MinCut::unlimited);
    network.addArc(consumer, up, MinCut::unlimited);
  }
}

void Chooser::decide() {
  bool swap = prefersSecond();
  for (auto &[value, pair] : orders)
    if (!getTransposition(value.getDefiningOp()) ||
        !orders.contains(value.getDefiningOp()->getOperand(0)))
      connect(value, swap);
  atSource = network.cut();
  // From here on true is the first of the two layouts.
  if (swap)
    atSource.flip();
}

Layouts Chooser::getLayouts() const {
  Layouts layouts;
  for (auto &[op, entry] : flexible)
    layouts.insert({op, entry.layouts[atSource[entry.node] ? 0 : 1]});
  return layouts;
}

/// Every order that a tensor is wanted in, but for that in which it is made,
/// takes a transpose.
int64_t Chooser::getCost(const Layouts &layouts) const {
  int64_t bytes = 0;
  auto orderOf = [&](Operation *op, unsigned index, bool isResult,
                     Value value) {
    auto it = layouts.find(op);
    if (it != layouts.end()) {
      const OpLayout &layout = it->second;
      const Permutation &perm =
          isResult ? layout.results[index] : layout.operands[index];
      if (!perm.empty())
        return perm;
    }
    return getIdentity(cast<RankedTensorType>(value.getType()).getRank());
  };
  for (const auto &entry : orders) {
    Value root = entry.first;
    const Orders &pair = entry.second;
    Operation *maker = root.getDefiningOp();
    if (getTransposition(maker) && orders.contains(maker->getOperand(0)))
      continue;
    Permutation made =
        maker
            ? orderOf(maker, cast<OpResult>(root).getResultNumber(), true, root)
            : getIdentity(pair[0].size());
    SmallVector<Permutation> wanted;
    SmallVector<std::pair<Value, Permutation>> copies = {
        {root, getIdentity(pair[0].size())}};
    for (size_t i = 0; i < copies.size(); ++i) {
      auto [copy, path] = copies[i];
      for (OpOperand &use : copy.getUses()) {
        Operation *user = use.getOwner();
        std::optional<Permutation> perm = getTransposition(user);
        if (perm && user->getBlock() == &block) {
          copies.emplace_back(user->getResult(0), compose(path, *perm));
          continue;
        }
        Permutation order =
            compose(path, orderOf(user, use.getOperandNumber(), false, copy));
        bool known = isSameOrder(root.getType(), order, made) ||
                     llvm::any_of(wanted, [&](const Permutation &other) {
                       return isSameOrder(root.getType(), order, other);
                     });
        if (!known)
          wanted.push_back(order);
      }
    }
    bytes += static_cast<int64_t>(wanted.size()) * getBytes(root);
  }
  return bytes;
}

Layouts layouts::chooseLayouts(Block &block, bool mustGain) {
  Layouts all;
  SmallVector<Operation *> transposes;
  for (Operation &op : block)
    if (movesBytes(&op))
      transposes.push_back(&op);
  llvm::SmallDenseSet<Operation *> done;
  for (Operation *op : transposes) {
    if (done.contains(op))
      continue;
    Chooser chooser(block);
    chooser.spread(op);
    for (Operation *other : transposes)
      if (chooser.reaches(other))
        done.insert(other);
    chooser.decide();
    Layouts layouts = chooser.getLayouts();
    bool isTaken = llvm::any_of(
        layouts, [&](const auto &entry) { return all.contains(entry.first); });
    int64_t before = chooser.getCost({}), after = chooser.getCost(layouts);
    bool isBetter = after < before || (after == before && !mustGain);
    LLVM_DEBUG(llvm::dbgs()
               << op->getLoc() << ": layouts of " << layouts.size()
               << " ops would move " << after << " bytes instead of " << before
               << (isTaken     ? ", but some ops have layouts\n"
                   : !isBetter ? ": not taken\n"
                               : ": taken\n"));
    if (isTaken || !isBetter)
      continue;
    for (auto &[member, layout] : layouts)
      all.insert({member, layout});
  }
  return all;
}
