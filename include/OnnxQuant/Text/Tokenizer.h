// Text to tokens and back, as a `tokenizer.json` says.

#ifndef ONNXQUANT_TEXT_TOKENIZER_H
#define ONNXQUANT_TEXT_TOKENIZER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace onnxquant {

/// A tokenizer of the kind byte-pair encoding (BPE), over bytes (GPT-2, Llama
/// 3, Qwen) or over characters with bytes for the rest (Llama 2, Gemma,
/// Mistral). What a file asks for and isn't supported is an error, by name.
class Tokenizer {
public:
  struct Tables;

  static llvm::Expected<Tokenizer> read(llvm::StringRef path);
  static llvm::Expected<Tokenizer> parse(llvm::StringRef json);
  Tokenizer(Tokenizer &&);
  Tokenizer &operator=(Tokenizer &&);
  ~Tokenizer();

  /// The tokens of a text; with what the file puts around every text (such as
  /// a token for its beginning), if asked for.
  llvm::Expected<std::vector<int64_t>> encode(llvm::StringRef text,
                                              bool addsSpecial = true) const;
  /// The bytes that a token stands for; special tokens stand for none.
  std::string decode(int64_t token) const;
  /// The text of tokens.
  std::string decode(llvm::ArrayRef<int64_t> tokens) const;
  std::optional<int64_t> find(llvm::StringRef token) const;
  /// One more than the greatest token.
  int64_t size() const;

private:
  explicit Tokenizer(std::unique_ptr<Tables> tables);
  friend class TokenStream;
  std::unique_ptr<Tables> tables;
};

/// Text that comes out token by token: a code point is given when all of its
/// bytes are there.
class TokenStream {
public:
  explicit TokenStream(const Tokenizer &tokenizer) : tokenizer(tokenizer) {}
  /// What can be shown now.
  std::string add(int64_t token);
  /// What is left at the end, with U+FFFD for bytes that are no text.
  std::string finish();

private:
  const Tokenizer &tokenizer;
  std::string pending;
  bool isFirst = true;
};

} // namespace onnxquant

#endif // ONNXQUANT_TEXT_TOKENIZER_H
