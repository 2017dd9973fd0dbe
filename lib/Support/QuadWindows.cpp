// Orders the rows of one window: quads by depth-first search, pairs of the rest
// by the largest matching.
//
// The search is bounded by a number of steps, not by time, so that its result
// is the same everywhere.

#include "OnnxQuant/Support/QuadWindows.h"
#include "OnnxQuant/Support/DotCost.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace onnxquant;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// A set of rows.
using RowSet = uint16_t;

/// Per column what positive weights, and negative ones, sum to: 128 at most.
struct Load {
  std::array<uint8_t, 2 * quadColumns> sums;
};

class WindowSolver {
public:
  explicit WindowSolver(ArrayRef<int8_t> weights);
  QuadWindow solve();

private:
  static constexpr int numRows = quadRows;
  static constexpr RowSet allRows = 0xffff;
  static constexpr int maxSteps = 3000;

  void findPairs();
  void findQuads();
  /// The most pairs in bound that the rows of a set make.
  int countPairs(RowSet rows);
  int costOf(int quads, RowSet rest);
  /// Covers the rows `open` by quads or leaves them to `rest`.
  void search(RowSet open, RowSet rest);
  void placePairs(RowSet rest, QuadWindow &window, int slot);

  Load loads[numRows];
  Load pairLoads[numRows][numRows];
  /// Rows that go with a row in a lane.
  RowSet partners[numRows] = {};
  /// Quads by their first row.
  SmallVector<RowSet, 64> quads[numRows];
  std::array<int8_t, 1 << numRows> pairCounts;
  SmallVector<RowSet, 4> current, best;
  int bestCost = 0;
  int steps = 0;
};
} // namespace

/// Whether two loads go into one lane.
static bool fit(const Load &a, const Load &b) {
  // Bytes all the way, so that the loop becomes vector instructions.
  uint8_t isOut = 0;
  for (int i = 0; i < 2 * quadColumns; ++i) {
    uint8_t room = boundOfLane - b.sums[i];
    isOut |= a.sums[i] > room ? 1 : 0;
  }
  return !isOut;
}

WindowSolver::WindowSolver(ArrayRef<int8_t> weights) {
  for (int row = 0; row < numRows; ++row)
    for (int column = 0; column < quadColumns; ++column) {
      int weight = weights[row * quadColumns + column];
      loads[row].sums[column] = std::max(weight, 0);
      loads[row].sums[quadColumns + column] = std::max(-weight, 0);
    }
  findPairs();
  findQuads();
}

void WindowSolver::findPairs() {
  for (int a = 0; a < numRows; ++a)
    for (int b = a + 1; b < numRows; ++b) {
      if (!fit(loads[a], loads[b]))
        continue;
      partners[a] |= 1 << b;
      partners[b] |= 1 << a;
      for (int i = 0; i < 2 * quadColumns; ++i)
        pairLoads[a][b].sums[i] = loads[a].sums[i] + loads[b].sums[i];
    }
}

/// The first row of a set.
static int firstOf(RowSet rows) { return llvm::countr_zero(rows); }
static RowSet withoutFirst(RowSet rows) { return rows & (rows - 1); }

void WindowSolver::findQuads() {
  for (int a = 0; a < numRows; ++a) {
    RowSet above = partners[a] & ~((2 << a) - 1);
    for (RowSet bs = above; bs; bs = withoutFirst(bs)) {
      int b = firstOf(bs);
      RowSet both = above & partners[b] & ~((2 << b) - 1);
      for (RowSet cs = both; cs; cs = withoutFirst(cs)) {
        int c = firstOf(cs);
        RowSet all = both & partners[c] & ~((2 << c) - 1);
        for (RowSet ds = all; ds; ds = withoutFirst(ds)) {
          int d = firstOf(ds);
          if (fit(pairLoads[a][b], pairLoads[c][d]))
            quads[a].push_back(1 << a | 1 << b | 1 << c | 1 << d);
        }
      }
    }
  }
}

int WindowSolver::countPairs(RowSet rows) {
  if (!rows)
    return 0;
  int8_t &known = pairCounts[rows];
  if (known >= 0)
    return known;
  RowSet others = withoutFirst(rows);
  int most = llvm::popcount(rows) / 2, found = 0;
  for (RowSet mates = partners[firstOf(rows)] & others; mates && found < most;
       mates = withoutFirst(mates))
    found = std::max(found, 1 + countPairs(others & ~(1 << firstOf(mates))));
  if (found < most)
    found = std::max(found, countPairs(others));
  return known = found;
}

int WindowSolver::costOf(int quads, RowSet rest) {
  int single = (llvm::popcount(rest) + 4 * (quads % 2)) / 4;
  int loose = llvm::popcount(rest) / 2 - countPairs(rest);
  return quads / 2 * dotcost::doubleQuad + single * dotcost::bundle +
         loose * dotcost::loosePair;
}

void WindowSolver::search(RowSet open, RowSet rest) {
  if (++steps > maxSteps)
    return;
  if (!open) {
    int cost = costOf(current.size(), rest);
    if (cost < bestCost) {
      bestCost = cost;
      best = current;
    }
    return;
  }
  int doubles = (current.size() + llvm::popcount(open) / 4) / 2;
  int least =
      doubles * dotcost::doubleQuad + (4 - 2 * doubles) * dotcost::bundle;
  if (least >= bestCost)
    return;
  for (RowSet quad : quads[firstOf(open)]) {
    if ((quad & open) != quad)
      continue;
    current.push_back(quad);
    search(open & ~quad, rest);
    current.pop_back();
  }
  search(withoutFirst(open), rest | (open & -open));
}

void WindowSolver::placePairs(RowSet rest, QuadWindow &window, int slot) {
  SmallVector<int, quadRows> alone;
  while (rest) {
    int row = firstOf(rest), pairs = countPairs(rest);
    RowSet others = withoutFirst(rest);
    rest = others;
    RowSet mates = partners[row] & others;
    while (mates && 1 + countPairs(others & ~(1 << firstOf(mates))) != pairs)
      mates = withoutFirst(mates);
    if (!mates) {
      alone.push_back(row);
      continue;
    }
    window.rows[slot++] = row;
    window.rows[slot++] = firstOf(mates);
    rest &= ~(1 << firstOf(mates));
  }
  window.loose = alone.size() / 2;
  for (int row : alone)
    window.rows[slot++] = row;
}

QuadWindow WindowSolver::solve() {
  pairCounts.fill(-1);
  bestCost = costOf(0, allRows);
  search(allRows, 0);

  QuadWindow window;
  window.doubles = best.size() / 2;
  RowSet rest = allRows;
  SmallVector<std::array<int, 4>, 4> rows;
  for (RowSet quad : best) {
    rest &= ~quad;
    auto &members = rows.emplace_back();
    for (int i = 0; quad; quad = withoutFirst(quad))
      members[i++] = firstOf(quad);
  }
  int slot = 0;
  for (int i = 0; i < window.doubles; ++i) {
    const auto &a = rows[2 * i], &b = rows[2 * i + 1];
    for (int row : {a[0], a[1], b[0], b[1], a[2], a[3], b[2], b[3]})
      window.rows[slot++] = row;
  }
  // A quad without a second one is two pairs.
  if (best.size() % 2)
    for (int row : rows.back())
      window.rows[slot++] = row;
  placePairs(rest, window, slot);
  return window;
}

QuadWindow onnxquant::orderWindow(ArrayRef<int8_t> weights) {
  return WindowSolver(weights).solve();
}
