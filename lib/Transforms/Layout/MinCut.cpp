// The cheapest cut by the largest flow (Dinic's way): flows along shortest
// paths until none is left. What can't reach the sink then is on the source's
// side.

#include "MinCut.h"
#include <algorithm>

using namespace onnxquant::layouts;

void MinCut::addArc(unsigned from, unsigned to, int64_t capacity) {
  if (from == to || capacity <= 0)
    return;
  arcsOf[from].push_back(static_cast<unsigned>(arcs.size()));
  arcs.push_back({to, capacity});
  arcsOf[to].push_back(static_cast<unsigned>(arcs.size()));
  arcs.push_back({from, 0});
}

/// Distances from the source; whether the sink has one.
bool MinCut::measure() {
  level.assign(arcsOf.size(), -1);
  std::vector<unsigned> queue = {source};
  level[source] = 0;
  for (size_t i = 0; i < queue.size(); ++i)
    for (unsigned index : arcsOf[queue[i]]) {
      const Arc &arc = arcs[index];
      if (arc.capacity <= 0 || level[arc.to] >= 0)
        continue;
      level[arc.to] = level[queue[i]] + 1;
      queue.push_back(arc.to);
    }
  return level[sink] >= 0;
}

/// Sends up to `limit` to the sink along one path; the path is walked without
/// recursion, for networks are as deep as models.
int64_t MinCut::push(unsigned from, int64_t limit) {
  std::vector<unsigned> path;
  unsigned node = from;
  while (node != sink) {
    if (next[node] == arcsOf[node].size()) {
      if (path.empty())
        return 0;
      // A dead end: never again.
      node = arcs[path.back() ^ 1].to;
      path.pop_back();
      ++next[node];
      continue;
    }
    unsigned index = arcsOf[node][next[node]];
    const Arc &arc = arcs[index];
    if (arc.capacity > 0 && level[arc.to] == level[node] + 1) {
      path.push_back(index);
      node = arc.to;
    } else {
      ++next[node];
    }
  }
  for (unsigned index : path)
    limit = std::min(limit, arcs[index].capacity);
  for (unsigned index : path) {
    arcs[index].capacity -= limit;
    arcs[index ^ 1].capacity += limit;
  }
  return limit;
}

std::vector<bool> MinCut::cut() {
  while (measure()) {
    next.assign(arcsOf.size(), 0);
    while (push(source, unlimited) > 0)
      ;
  }
  std::vector<bool> atSource(arcsOf.size(), true);
  std::vector<unsigned> queue = {sink};
  atSource[sink] = false;
  for (size_t i = 0; i < queue.size(); ++i)
    for (unsigned index : arcsOf[queue[i]]) {
      unsigned before = arcs[index].to;
      if (arcs[index ^ 1].capacity <= 0 || !atSource[before])
        continue;
      atSource[before] = false;
      queue.push_back(before);
    }
  return atSource;
}
