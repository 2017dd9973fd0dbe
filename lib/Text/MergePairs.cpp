// Byte-pair encoding of one piece of text: neighbours are merged in the order
// of their ranks, the leftmost first, until none is left.

#include "OnnxQuant/Text/Unicode.h"
#include "TokenizerTables.h"
#include <queue>

using namespace onnxquant;

namespace {

constexpr size_t none = ~size_t(0);

/// A token of the piece in a chain: merging takes the right one out.
struct Link {
  int64_t token;
  size_t previous, next;
};

/// Two neighbours that could be merged when this was found.
struct Candidate {
  uint32_t rank;
  size_t left;
  int64_t first, second, merged;

  bool operator<(const Candidate &other) const {
    return std::tie(rank, left) > std::tie(other.rank, other.left);
  }
};

class Merger {
public:
  explicit Merger(const Tokenizer::Tables &tables) : tables(tables) {}

  void add(char32_t code);
  void merge();
  void append(std::vector<int64_t> &tokens) const;

private:
  void push(int64_t token);
  void consider(size_t left);

  const Tokenizer::Tables &tables;
  std::vector<Link> links;
  std::priority_queue<Candidate> candidates;
  bool endsInUnknown = false;
};

} // namespace

void Merger::push(int64_t token) {
  size_t index = links.size();
  if (index > 0)
    links.back().next = index;
  links.push_back({token, index == 0 ? none : index - 1, none});
}

void Merger::add(char32_t code) {
  std::string text;
  appendUtf8(text, code);
  auto found = tables.vocabulary.find(text);
  bool wasUnknown = endsInUnknown;
  endsInUnknown = false;
  if (found != tables.vocabulary.end())
    return push(found->second);
  bool hasBytes = tables.fallsBackToBytes;
  for (unsigned char byte : text)
    hasBytes &= tables.byteTokens[byte] >= 0;
  if (hasBytes) {
    for (unsigned char byte : text)
      push(tables.byteTokens[byte]);
    return;
  }
  // Without a token for it, what is unknown is left out.
  if (!tables.unknown)
    return;
  endsInUnknown = true;
  if (!wasUnknown || !tables.fusesUnknown)
    push(*tables.unknown);
}

/// Notes the pair that begins at a link, if it can be merged.
void Merger::consider(size_t left) {
  if (left == none || links[left].next == none)
    return;
  int64_t first = links[left].token, second = links[links[left].next].token;
  auto found = tables.merges.find({first, second});
  if (found != tables.merges.end())
    candidates.push(
        {found->second.rank, left, first, second, found->second.token});
}

void Merger::merge() {
  for (size_t i = 0; i + 1 < links.size(); ++i)
    consider(i);
  while (!candidates.empty()) {
    Candidate best = candidates.top();
    candidates.pop();
    Link &left = links[best.left];
    // Another merge may have taken one of the two since.
    if (left.token != best.first || left.next == none ||
        links[left.next].token != best.second)
      continue;
    Link &right = links[left.next];
    left.token = best.merged;
    left.next = right.next;
    if (right.next != none)
      links[right.next].previous = best.left;
    right.token = -1;
    consider(left.previous);
    consider(best.left);
  }
}

void Merger::append(std::vector<int64_t> &tokens) const {
  for (size_t i = links.empty() ? none : 0; i != none; i = links[i].next)
    tokens.push_back(links[i].token);
}

void onnxquant::mergePairs(const Tokenizer::Tables &tables, const Codes &piece,
                           std::vector<int64_t> &tokens) {
  if (tables.ignoresMerges) {
    auto whole = tables.vocabulary.find(encodeUtf8(piece));
    if (whole != tables.vocabulary.end()) {
      tokens.push_back(whole->second);
      return;
    }
  }
  Merger merger(tables);
  for (char32_t code : piece)
    merger.add(code);
  merger.merge();
  merger.append(tokens);
}
