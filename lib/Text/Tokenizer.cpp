// Text to tokens and back.

#include "OnnxQuant/Text/Tokenizer.h"
#include "OnnxQuant/Text/Unicode.h"
#include "TokenizerTables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace onnxquant;

Tokenizer::Tokenizer(std::unique_ptr<Tables> tables)
    : tables(std::move(tables)) {}
Tokenizer::Tokenizer(Tokenizer &&) = default;
Tokenizer &Tokenizer::operator=(Tokenizer &&) = default;
Tokenizer::~Tokenizer() = default;

int64_t Tokenizer::size() const { return tables->texts.size(); }

std::optional<int64_t> Tokenizer::find(llvm::StringRef token) const {
  auto found = tables->vocabulary.find(token);
  if (found == tables->vocabulary.end())
    return std::nullopt;
  return found->second;
}

//===----------------------------------------------------------------------===//
// Text to tokens
//===----------------------------------------------------------------------===//

/// Whether a token stands by itself at a position, not within a word.
static bool isAlone(llvm::StringRef text, size_t begin, size_t end) {
  auto isWord = [](char byte) {
    return llvm::isAlnum(byte) || byte == '_' || (byte & 0x80);
  };
  return (begin == 0 || !isWord(text[begin - 1])) &&
         (end == text.size() || !isWord(text[end]));
}

/// The added token at a position, the longest first.
static const AddedToken *addedAt(const Tokenizer::Tables &tables,
                                 llvm::StringRef text, size_t at) {
  for (const AddedToken &token : tables.added)
    if (text.substr(at).starts_with(token.content) &&
        (!token.isSingleWord || isAlone(text, at, at + token.content.size())))
      return &token;
  return nullptr;
}

static llvm::Error encodeStretch(const Tokenizer::Tables &tables,
                                 llvm::StringRef text, bool isFirst,
                                 std::vector<int64_t> &tokens) {
  if (text.empty())
    return llvm::Error::success();
  auto pieces = splitText(tables, text, isFirst);
  if (!pieces)
    return pieces.takeError();
  for (const Codes &piece : *pieces)
    mergePairs(tables, piece, tokens);
  return llvm::Error::success();
}

llvm::Expected<std::vector<int64_t>> Tokenizer::encode(llvm::StringRef text,
                                                       bool addsSpecial) const {
  std::vector<int64_t> tokens;
  if (addsSpecial)
    tokens = tables->prefix;
  std::array<bool, 256> mayBegin = {};
  for (const AddedToken &token : tables->added)
    mayBegin[(unsigned char)token.content[0]] = true;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken *token = mayBegin[(unsigned char)text[at]]
                                  ? addedAt(*tables, text, at)
                                  : nullptr;
    if (!token) {
      ++at;
      continue;
    }
    llvm::StringRef before = text.slice(begin, at);
    if (token->stripsLeft)
      before = before.rtrim();
    if (llvm::Error error = encodeStretch(*tables, before, begin == 0, tokens))
      return error;
    tokens.push_back(token->id);
    begin = at = at + token->content.size();
    while (token->stripsRight && at < text.size() && llvm::isSpace(text[at]))
      begin = ++at;
  }
  if (llvm::Error error =
          encodeStretch(*tables, text.substr(begin), begin == 0, tokens))
    return error;
  if (addsSpecial)
    llvm::append_range(tokens, tables->suffix);
  return tokens;
}

//===----------------------------------------------------------------------===//
// Tokens to text
//===----------------------------------------------------------------------===//

static std::string replaced(llvm::StringRef text, const DecodeStep &step) {
  std::string result;
  while (!text.empty()) {
    if (text.consume_front(step.from)) {
      result += step.to;
      continue;
    }
    result += text.front();
    text = text.drop_front();
  }
  return result;
}

/// `<0x41>` is one byte.
static std::string byteOf(llvm::StringRef text) {
  llvm::StringRef digits = text;
  unsigned byte;
  if (text.size() == 6 && digits.consume_front("<0x") &&
      digits.consume_back(">") && !digits.getAsInteger(16, byte))
    return std::string(1, char(byte));
  return text.str();
}

/// Characters that stand for bytes, as those bytes.
static std::string bytesOf(llvm::StringRef text) {
  std::string result;
  for (char32_t code : decodeUtf8(text)) {
    if (auto byte = characterByte(code))
      result += char(*byte);
    else
      appendUtf8(result, code);
  }
  return result;
}

std::string Tokenizer::decode(int64_t token) const {
  if (token < 0 || token >= size())
    return "";
  std::string text = tables->texts[token];
  // Added tokens are text as it is.
  if (auto added = tables->isSpecial.find(token);
      added != tables->isSpecial.end())
    return added->second ? "" : text;
  for (const DecodeStep &step : tables->decode) {
    switch (step.kind) {
    case DecodeStep::Kind::ByteLevel:
      text = bytesOf(text);
      break;
    case DecodeStep::Kind::ByteFallback:
      text = byteOf(text);
      break;
    case DecodeStep::Kind::Replace:
      text = replaced(text, step);
      break;
    case DecodeStep::Kind::StripFirst:
      // Of the whole text: see TokenStream.
      break;
    }
  }
  return text;
}

std::string Tokenizer::decode(llvm::ArrayRef<int64_t> tokens) const {
  TokenStream stream(*this);
  std::string text;
  for (int64_t token : tokens)
    text += stream.add(token);
  return text + stream.finish();
}

std::string TokenStream::add(int64_t token) {
  std::string bytes = tokenizer.decode(token);
  if (isFirst && !bytes.empty()) {
    isFirst = false;
    llvm::StringRef rest = bytes;
    for (const DecodeStep &step : tokenizer.tables->decode)
      if (step.kind == DecodeStep::Kind::StripFirst)
        for (size_t i = 0; i < step.count; ++i)
          if (!rest.consume_front(step.from))
            break;
    bytes = rest.str();
  }
  pending += bytes;
  size_t kept = countIncompleteUtf8(pending);
  std::string ready = pending.substr(0, pending.size() - kept);
  pending.erase(0, ready.size());
  return encodeUtf8(decodeUtf8(ready));
}

std::string TokenStream::finish() {
  std::string rest = encodeUtf8(decodeUtf8(pending));
  pending.clear();
  return rest;
}
