// The cheapest cut that layouts are chosen by, next to all cuts there are.

#include "MinCut.h"
#include "gtest/gtest.h"
#include <random>

using onnxquant::layouts::MinCut;

namespace {
struct Arc {
  unsigned from, to;
  int64_t capacity;
};
} // namespace

static int64_t getCost(const std::vector<Arc> &arcs,
                       const std::vector<bool> &onSourceSide) {
  int64_t cost = 0;
  for (const Arc &arc : arcs)
    if (arc.from != arc.to && onSourceSide[arc.from] && !onSourceSide[arc.to])
      cost += arc.capacity;
  return cost;
}

static std::vector<bool> cut(unsigned nodes, const std::vector<Arc> &arcs) {
  MinCut network;
  for (unsigned node = 2; node < nodes; ++node)
    EXPECT_EQ(network.addNode(), node);
  for (const Arc &arc : arcs)
    network.addArc(arc.from, arc.to, arc.capacity);
  return network.cut();
}

TEST(MinCut, CutsTheCheapestArcOfAChain) {
  std::vector<bool> side = cut(5, {{0, 2, 9}, {2, 3, 4}, {3, 4, 2}, {4, 1, 7}});
  EXPECT_EQ(side, (std::vector<bool>{true, false, true, true, false}));
}

TEST(MinCut, LeavesOnTheSourcesSideWhatNothingPulls) {
  // No arc at all, and arcs of equal cost: as many nodes as can be.
  EXPECT_EQ(cut(3, {}), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(cut(4, {{0, 2, 3}, {2, 3, 3}, {3, 1, 3}}),
            (std::vector<bool>{true, false, true, true}));
}

TEST(MinCut, NeverCutsWhatIsUnlimited) {
  std::vector<bool> side =
      cut(4, {{0, 2, MinCut::unlimited}, {2, 3, 50}, {3, 1, 60}});
  EXPECT_EQ(side, (std::vector<bool>{true, false, true, false}));
}

TEST(MinCut, IsTheCheapestOfAllCuts) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    unsigned nodes = 3 + random() % 6;
    std::vector<Arc> arcs(random() % 20);
    for (Arc &arc : arcs)
      arc = {static_cast<unsigned>(random() % nodes),
             static_cast<unsigned>(random() % nodes),
             static_cast<int64_t>(random() % 5)};
    int64_t least = INT64_MAX;
    size_t most = 0;
    for (unsigned bits = 0; bits < 1u << (nodes - 2); ++bits) {
      std::vector<bool> side = {true, false};
      for (unsigned node = 2; node < nodes; ++node)
        side.push_back(bits >> (node - 2) & 1);
      int64_t cost = getCost(arcs, side);
      size_t count = std::count(side.begin(), side.end(), true);
      if (cost < least || (cost == least && count > most)) {
        least = cost;
        most = count;
      }
    }
    std::vector<bool> side = cut(nodes, arcs);
    ASSERT_TRUE(side[MinCut::source] && !side[MinCut::sink]);
    EXPECT_EQ(getCost(arcs, side), least) << "round " << round;
    EXPECT_EQ(static_cast<size_t>(std::count(side.begin(), side.end(), true)),
              most)
        << "round " << round;
  }
}
