// Normalizes text and splits it into pieces.

#include "OnnxQuant/Text/Unicode.h"
#include "TokenizerTables.h"
#include "llvm/ADT/STLExtras.h"

using namespace onnxquant;
using Match = SplitStep::Match;

//===----------------------------------------------------------------------===//
// Bytes as characters
//===----------------------------------------------------------------------===//

/// Bytes that are printable in Latin-1 stand for themselves.
static bool standsForItself(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) ||
         byte >= 0xAE;
}

/// The others follow from U+0100 on, in order.
static const std::array<char32_t, 256> &byteCharacters() {
  static const std::array<char32_t, 256> table = []() {
    std::array<char32_t, 256> table;
    char32_t next = 0x100;
    for (unsigned byte = 0; byte < 256; ++byte)
      table[byte] = standsForItself(byte) ? char32_t(byte) : next++;
    return table;
  }();
  return table;
}

char32_t onnxquant::byteCharacter(unsigned char byte) {
  return byteCharacters()[byte];
}

std::optional<unsigned char> onnxquant::characterByte(char32_t code) {
  const std::array<char32_t, 256> &table = byteCharacters();
  const auto *found = llvm::find(table, code);
  if (found == table.end())
    return std::nullopt;
  return found - table.begin();
}

//===----------------------------------------------------------------------===//
// Normalizing
//===----------------------------------------------------------------------===//

static llvm::Error replaceAll(const Pattern &pattern, const Codes &by,
                              Codes &codes) {
  auto found = pattern.findAll(codes);
  if (!found)
    return found.takeError();
  Codes result;
  size_t at = 0;
  for (Pattern::Span span : *found) {
    result.insert(result.end(), codes.begin() + at, codes.begin() + span.begin);
    result.insert(result.end(), by.begin(), by.end());
    at = span.end;
  }
  result.insert(result.end(), codes.begin() + at, codes.end());
  codes = std::move(result);
  return llvm::Error::success();
}

static llvm::Error normalize(const NormalizeStep &step, Codes &codes) {
  switch (step.kind) {
  case NormalizeStep::Kind::Prepend: {
    Codes content = decodeUtf8(step.content);
    if (!codes.empty())
      codes.insert(codes.begin(), content.begin(), content.end());
    break;
  }
  case NormalizeStep::Kind::Replace:
    return replaceAll(*step.pattern, decodeUtf8(step.content), codes);
  case NormalizeStep::Kind::Lowercase:
    for (char32_t &code : codes) {
      if (categoryOf(code) == Category::UpperLetter && code > 0x7F)
        return llvm::createStringError(
            "the tokenizer makes text lower case, which is supported for "
            "ASCII only");
      if (code >= 'A' && code <= 'Z')
        code += 'a' - 'A';
    }
    break;
  case NormalizeStep::Kind::Compose:
    // Text without marks of their own is composed already.
    if (llvm::any_of(codes, [](char32_t code) {
          return categoryOf(code) == Category::Mark && code >= 0x300 &&
                 code <= 0x36F;
        }))
      return llvm::createStringError(
          "the text has combining marks; give it in the form NFC, which the "
          "tokenizer asks for");
    break;
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// A stretch of text, and whether the pattern matched it.
struct Part {
  size_t begin, end;
  bool isMatch;
};

/// The matches and what is between them, without gaps.
static std::vector<Part> coverAll(llvm::ArrayRef<Pattern::Span> matches,
                                  size_t size, bool isInverted) {
  std::vector<Part> parts;
  size_t at = 0;
  for (Pattern::Span span : matches) {
    if (span.begin > at)
      parts.push_back({at, span.begin, isInverted});
    parts.push_back({span.begin, span.end, !isInverted});
    at = span.end;
  }
  if (at < size)
    parts.push_back({at, size, isInverted});
  return parts;
}

/// Joins parts as the rule for matches says.
static std::vector<Part> joinParts(std::vector<Part> parts, Match rule) {
  std::vector<Part> joined;
  for (Part part : parts) {
    bool joins = false;
    if (!joined.empty()) {
      const Part &last = joined.back();
      joins = (rule == Match::WithPrevious && part.isMatch && !last.isMatch) ||
              (rule == Match::WithNext && last.isMatch && !part.isMatch) ||
              (rule == Match::Contiguous && part.isMatch == last.isMatch);
    }
    if (rule == Match::Removed && part.isMatch)
      continue;
    if (joins) {
      joined.back().end = part.end;
      // What has been joined takes no further part.
      joined.back().isMatch = rule == Match::WithPrevious ||
                              (rule == Match::Contiguous && part.isMatch);
      continue;
    }
    joined.push_back(part);
  }
  return joined;
}

static llvm::Error splitByPattern(const SplitStep &step,
                                  std::vector<Codes> &pieces) {
  std::vector<Codes> result;
  for (const Codes &piece : pieces) {
    auto matches = step.pattern->findAll(piece);
    if (!matches)
      return matches.takeError();
    for (Part part : joinParts(
             coverAll(*matches, piece.size(), step.isInverted), step.match))
      result.emplace_back(piece.begin() + part.begin, piece.begin() + part.end);
  }
  pieces = std::move(result);
  return llvm::Error::success();
}

/// Spaces become another character; a piece begins at each.
static void splitAtSpaces(const SplitStep &step, bool isFirst,
                          std::vector<Codes> &pieces) {
  std::vector<Codes> result;
  for (auto [index, piece] : llvm::enumerate(pieces)) {
    std::replace(piece.begin(), piece.end(), U' ', step.replacement);
    bool addsPrefix =
        step.prefix == SplitStep::Prefix::Always ||
        (step.prefix == SplitStep::Prefix::First && isFirst && index == 0);
    if (addsPrefix && !piece.empty() && piece.front() != step.replacement)
      piece.insert(piece.begin(), step.replacement);
    if (!step.splits) {
      result.push_back(std::move(piece));
      continue;
    }
    for (auto [at, code] : llvm::enumerate(piece)) {
      if (code == step.replacement || at == 0)
        result.emplace_back();
      result.back().push_back(code);
    }
  }
  pieces = std::move(result);
}

/// Each byte of the text becomes the character that stands for it.
static void spellBytes(std::vector<Codes> &pieces) {
  for (Codes &piece : pieces) {
    Codes spelt;
    for (unsigned char byte : encodeUtf8(piece))
      spelt.push_back(byteCharacter(byte));
    piece = std::move(spelt);
  }
}

llvm::Expected<std::vector<Codes>>
onnxquant::splitText(const Tokenizer::Tables &tables, llvm::StringRef text,
                     bool isFirst) {
  std::vector<Codes> pieces = {decodeUtf8(text)};
  for (const NormalizeStep &step : tables.normalize)
    if (llvm::Error error = normalize(step, pieces[0]))
      return error;
  for (const SplitStep &step : tables.split) {
    if (step.kind == SplitStep::Kind::Metaspace) {
      splitAtSpaces(step, isFirst, pieces);
      continue;
    }
    if (step.prefix == SplitStep::Prefix::Always)
      for (Codes &piece : pieces)
        if (!piece.empty() && piece.front() != ' ')
          piece.insert(piece.begin(), ' ');
    if (step.pattern)
      if (llvm::Error error = splitByPattern(step, pieces))
        return error;
    if (step.kind == SplitStep::Kind::ByteLevel)
      spellBytes(pieces);
  }
  llvm::erase_if(pieces, [](const Codes &piece) { return piece.empty(); });
  return pieces;
}
