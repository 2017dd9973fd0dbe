// Packs panels of windows: weights in slots, the remainder of loose pairs in
// extra bundles, and all of it in a blob.

#include "OnnxQuant/Support/QuadWindows.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstring>

using namespace onnxquant;
using llvm::ArrayRef;
using llvm::SmallVector;

int64_t onnxquant::quadWindowCount(const WeightShape &weights) {
  return weights.segments * ((weights.length + quadRows - 1) / quadRows);
}

namespace {
/// What a loose pair has beyond the bound, column by column. Either of its two
/// rows can give it away.
struct Remainder {
  int64_t window;
  int slot;
  std::array<int16_t, quadColumns> amounts;

  int32_t place(int which) const { return window * quadRows + slot + which; }
};

/// A lane of an extra bundle that takes in up to two remainders.
struct Lane {
  int count = 0;
  std::array<int16_t, quadColumns> positive{}, negative{};

  bool add(const Remainder &remainder) {
    if (count == 2)
      return false;
    auto up = positive, down = negative;
    for (int c = 0; c < quadColumns; ++c) {
      (remainder.amounts[c] > 0 ? up : down)[c] += remainder.amounts[c];
      if (up[c] > boundOfLane || down[c] < -boundOfLane)
        return false;
    }
    positive = up;
    negative = down;
    ++count;
    return true;
  }
};

class PanelPacker {
public:
  PanelPacker(ArrayRef<int8_t> from, const WeightShape &weights, int64_t panel);
  QuadPanel pack();

private:
  /// Orders a window of `count` rows from `firstRow` on.
  void packWindow(int64_t window, int64_t firstRow, int64_t count);
  /// Notes what the loose pairs of a window have beyond the bound.
  void takeRemainders(int64_t window, const QuadWindow &order);
  /// Moves remainders to extra bundles.
  void packExtras();
  void fillExtra(size_t first);
  int8_t &weightAt(int64_t window, int64_t slot, int64_t column) {
    return slots[window * quadWindowBytes + slot / 4 * 4 * quadColumns +
                 column * 4 + slot % 4];
  }

  const WeightShape &weights;
  const int8_t *matrix;
  int64_t firstColumn, columns;
  QuadPanel result;
  /// Windows in their first order.
  std::vector<int8_t> slots;
  std::vector<int> doubles;
  std::vector<Remainder> remainders;
  std::vector<bool> isDone;
};
} // namespace

PanelPacker::PanelPacker(ArrayRef<int8_t> from, const WeightShape &weights,
                         int64_t panel)
    : weights(weights) {
  int64_t panels = panelCount(weights, {quadColumns, 4});
  matrix = from.data() + panel / panels * weights.rows() * weights.columns;
  firstColumn = panel % panels * quadColumns;
  columns = std::min<int64_t>(quadColumns, weights.columns - firstColumn);
}

void PanelPacker::takeRemainders(int64_t window, const QuadWindow &order) {
  for (int slot = quadRows - 2 * order.loose; slot < quadRows; slot += 2) {
    Remainder remainder = {window, slot, {}};
    for (int c = 0; c < quadColumns; ++c) {
      int sum = weightAt(window, slot, c) + weightAt(window, slot + 1, c);
      remainder.amounts[c] =
          std::max(sum - boundOfLane, 0) + std::min(sum + boundOfLane, 0);
    }
    remainders.push_back(remainder);
  }
}

void PanelPacker::packWindow(int64_t window, int64_t firstRow, int64_t count) {
  std::array<int8_t, quadWindowBytes> rows{};
  for (int64_t row = 0; row < count; ++row)
    std::memcpy(&rows[row * quadColumns],
                matrix + (firstRow + row) * weights.columns + firstColumn,
                columns);
  QuadWindow order = orderWindow(rows);
  doubles[window] = order.doubles;
  for (int slot = 0; slot < quadRows; ++slot) {
    int row = order.rows[slot];
    result.shuffle[window * quadRows + slot] =
        row < count ? row + quadRows - count : quadNothing;
    for (int c = 0; c < quadColumns; ++c)
      weightAt(window, slot, c) = rows[row * quadColumns + c];
  }
  takeRemainders(window, order);
}

/// Opens an extra bundle for a remainder and puts in others that fit and lie
/// within the same 16 bytes.
void PanelPacker::fillExtra(size_t first) {
  struct Member {
    size_t remainder;
    /// Which row of the pair gives its remainder away.
    int which;
    int lane;
  };
  SmallVector<Member, 4> best;
  for (int which : {0, 1}) {
    int32_t begin = remainders[first].place(which), end = begin + quadRows;
    std::array<Lane, 2> lanes;
    lanes[0].add(remainders[first]);
    SmallVector<Member, 4> members = {{first, which, 0}};
    for (size_t i = first + 1; i < remainders.size() && members.size() < 4 &&
                               remainders[i].place(0) < end;
         ++i) {
      if (isDone[i])
        continue;
      for (int lane : {0, 1})
        if (lanes[lane].add(remainders[i])) {
          members.push_back({i, 0, lane});
          break;
        }
    }
    if (members.size() > best.size())
      best = members;
  }

  int32_t begin = remainders[first].place(best[0].which);
  // The last window's bytes are the last that can be loaded.
  int32_t last = result.shuffle.size() - quadRows;
  QuadExtra extra;
  extra.offset = std::min(begin, last);
  extra.shuffle.fill(quadNothing);
  std::array<int, 2> used{};
  for (const Member &member : best) {
    const Remainder &remainder = remainders[member.remainder];
    int slot = 2 * member.lane + used[member.lane]++;
    extra.shuffle[slot] = remainder.place(member.which) - extra.offset;
    for (int c = 0; c < quadColumns; ++c) {
      extra.weights[c * 4 + slot] = remainder.amounts[c];
      weightAt(remainder.window, remainder.slot + member.which, c) -=
          remainder.amounts[c];
    }
    isDone[member.remainder] = true;
  }
  result.extras.push_back(extra);
}

void PanelPacker::packExtras() {
  isDone.assign(remainders.size(), false);
  for (size_t i = 0; i < remainders.size(); ++i)
    if (!isDone[i])
      fillExtra(i);
}

QuadPanel PanelPacker::pack() {
  int64_t windows = quadWindowCount(weights);
  result.shuffle.assign(windows * quadRows, quadNothing);
  slots.assign(windows * quadWindowBytes, 0);
  doubles.assign(windows, 0);
  int64_t window = 0;
  for (int64_t segment = 0; segment < weights.segments; ++segment)
    for (int64_t row = 0; row < weights.length; row += quadRows)
      packWindow(window++, segment * weights.length + row,
                 std::min(quadRows, weights.length - row));
  packExtras();
  for (int kind : {2, 1, 0})
    for (int64_t i = 0; i < windows; ++i) {
      if (doubles[i] != kind)
        continue;
      ++result.classes[2 - kind];
      result.windows.push_back(i);
      const int8_t *begin = &slots[i * quadWindowBytes];
      result.weights.insert(result.weights.end(), begin,
                            begin + quadWindowBytes);
    }
  return std::move(result);
}

QuadPanel onnxquant::packQuadPanel(ArrayRef<int8_t> from,
                                   const WeightShape &weights, int64_t panel) {
  return PanelPacker(from, weights, panel).pack();
}

std::vector<QuadPanel> onnxquant::packQuadPanels(
    ArrayRef<int8_t> from, const WeightShape &weights,
    llvm::function_ref<void(int64_t, llvm::function_ref<void(int64_t)>)>
        parallelFor) {
  std::vector<QuadPanel> panels(weights.groups *
                                panelCount(weights, {quadColumns, 4}));
  parallelFor(panels.size(), [&](int64_t panel) {
    panels[panel] = packQuadPanel(from, weights, panel);
  });
  return panels;
}

//===----------------------------------------------------------------------===//
// Blob
//===----------------------------------------------------------------------===//

QuadBlob onnxquant::quadBlob(const WeightShape &weights) {
  return {weights.groups * panelCount(weights, {quadColumns, 4}),
          quadWindowCount(weights)};
}

std::vector<int8_t> onnxquant::writeQuads(ArrayRef<QuadPanel> panels,
                                          const WeightShape &weights) {
  QuadBlob layout = quadBlob(weights);
  size_t extras = 0;
  for (const QuadPanel &panel : panels)
    extras += panel.extras.size();
  std::vector<int8_t> blob(layout.extras() + extras * quadExtraBytes);
  auto write32 = [&](int64_t at, int32_t value) {
    for (int byte = 0; byte < 4; ++byte)
      blob[at + byte] = static_cast<int8_t>(uint32_t(value) >> (8 * byte));
  };
  int32_t extra = 0;
  for (auto [number, panel] : llvm::enumerate(panels)) {
    int64_t first = number * layout.windows;
    llvm::copy(panel.shuffle,
               blob.begin() + layout.shuffles() + first * quadRows);
    llvm::copy(panel.weights,
               blob.begin() + layout.weights() + first * quadWindowBytes);
    for (auto [place, window] : llvm::enumerate(panel.windows))
      write32(layout.offsets() + 4 * (first + place), window * quadRows);
    int64_t counts = layout.counts() + 4 * 8 * number;
    int32_t end = 0;
    for (int kind = 0; kind < 3; ++kind)
      write32(counts + 4 * kind, end += panel.classes[kind]);
    write32(counts + 12, extra);
    for (const QuadExtra &bundle : panel.extras) {
      int64_t at = layout.extras() + extra++ * quadExtraBytes;
      write32(at, bundle.offset);
      llvm::copy(bundle.shuffle, blob.begin() + at + 4);
      llvm::copy(bundle.weights, blob.begin() + at + 8);
    }
    write32(counts + 16, extra);
  }
  return blob;
}
