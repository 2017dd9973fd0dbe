// What a tokenizer.json holds, ready for use.

#ifndef ONNXQUANT_LIB_TEXT_TOKENIZERTABLES_H
#define ONNXQUANT_LIB_TEXT_TOKENIZERTABLES_H

#include "OnnxQuant/Text/Pattern.h"
#include "OnnxQuant/Text/Tokenizer.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include <array>

namespace onnxquant {

using Codes = std::vector<char32_t>;

/// A change of the text before it is split.
struct NormalizeStep {
  enum class Kind { Prepend, Replace, Lowercase, Compose } kind;
  std::string content;
  std::optional<Pattern> pattern;
};

/// One way to split text into pieces, in which pairs are then merged.
struct SplitStep {
  enum class Kind { ByteLevel, Pattern, Metaspace };
  /// What becomes of the matches of a pattern.
  enum class Match { Isolated, Removed, WithPrevious, WithNext, Contiguous };
  enum class Prefix { Never, First, Always };

  explicit SplitStep(Kind kind) : kind(kind) {}

  Kind kind;
  std::optional<onnxquant::Pattern> pattern;
  Match match = Match::Isolated;
  /// The pattern tells the pieces, not what is between them.
  bool isInverted = false;
  /// A space, or what stands for it, is put before the text.
  Prefix prefix = Prefix::Never;
  char32_t replacement = ' ';
  bool splits = true;
};

/// How the text of a token becomes bytes.
struct DecodeStep {
  enum class Kind { ByteLevel, ByteFallback, Replace, StripFirst } kind;
  std::string from, to;
  size_t count = 0;
};

struct AddedToken {
  std::string content;
  int64_t id;
  bool isSpecial, isNormalized, stripsLeft, stripsRight, isSingleWord;
};

/// What two neighbours become, and how soon: the least rank goes first.
struct Merge {
  uint32_t rank;
  int64_t token;
};

struct Tokenizer::Tables {
  llvm::StringMap<int64_t> vocabulary;
  /// By identifier; missing ones are empty.
  std::vector<std::string> texts;
  llvm::DenseMap<std::pair<int64_t, int64_t>, Merge> merges;
  std::optional<int64_t> unknown;
  bool fusesUnknown = false, fallsBackToBytes = false, ignoresMerges = false;
  /// `<0x00>` and on, if the vocabulary has them.
  std::array<int64_t, 256> byteTokens;

  std::vector<NormalizeStep> normalize;
  std::vector<SplitStep> split;
  std::vector<DecodeStep> decode;
  std::vector<AddedToken> added;
  /// Of the added tokens, by identifier.
  llvm::DenseMap<int64_t, bool> isSpecial;
  /// Put before and behind every text.
  std::vector<int64_t> prefix, suffix;
};

/// The characters that stand for bytes in the vocabularies of GPT-2's kind.
char32_t byteCharacter(unsigned char byte);
std::optional<unsigned char> characterByte(char32_t code);

/// Splits one stretch of text into pieces for merging. `isFirst` says that it
/// is the beginning of the text.
llvm::Expected<std::vector<Codes>>
splitText(const Tokenizer::Tables &tables, llvm::StringRef text, bool isFirst);

/// The tokens of one piece.
void mergePairs(const Tokenizer::Tables &tables, const Codes &piece,
                std::vector<int64_t> &tokens);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_TEXT_TOKENIZERTABLES_H
