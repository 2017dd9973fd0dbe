// Reads JSON and refuses keys given twice. LLVM's parser keeps one of the two
// values without a word.

#include "OnnxQuant/Support/Json.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Nesting.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

/// The end of a string that begins at `begin`, behind its closing quote.
static size_t endOfString(StringRef text, size_t begin) {
  size_t i = begin + 1;
  while (text[i] != '"')
    i += text[i] == '\\' ? 2 : 1;
  return i + 1;
}

/// A string's value, without quotes and escapes.
static std::string valueOf(StringRef literal) {
  Expected<json::Value> value = json::parse(literal);
  if (value)
    if (std::optional<StringRef> string = value->getAsString())
      return string->str();
  consumeError(value.takeError());
  return literal.str();
}

/// The first key that its object has twice, of a text that is valid.
static std::optional<std::string> repeatedKey(StringRef text) {
  // The keys of each object that is open; none for arrays.
  std::vector<std::optional<StringSet<>>> open;
  bool keyExpected = false;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '"') {
      size_t end = endOfString(text, i);
      if (keyExpected) {
        std::string key = valueOf(text.slice(i, end));
        if (!open.back()->insert(key).second)
          return key;
      }
      keyExpected = false;
      i = end;
      continue;
    }
    if (c == '{')
      open.emplace_back(StringSet<>());
    else if (c == '[')
      open.emplace_back(std::nullopt);
    else if (c == '}' || c == ']')
      open.pop_back();
    if (c == '{' || c == ',')
      keyExpected = !open.empty() && open.back().has_value();
    ++i;
  }
  return std::nullopt;
}

Expected<json::Value> onnxquant::parseForeignJson(StringRef text) {
  if (jsonNestsDeeper(text, mostJsonDepth))
    return createStringError("is nested deeper than " + Twine(mostJsonDepth) +
                             " levels");
  return json::parse(text);
}

Expected<json::Value> onnxquant::readForeignJson(StringRef path) {
  auto file = openInput(path, FileLimits::table, /*isText=*/true);
  if (!file)
    return createStringError(path + ": " + toString(file.takeError()));
  Expected<json::Value> value = parseForeignJson((*file)->getBuffer());
  if (!value)
    return createStringError(
        path + ": is no JSON that can be read: " + toString(value.takeError()));
  return value;
}

Expected<json::Value> onnxquant::parseJson(StringRef text) {
  Expected<json::Value> value = parseForeignJson(text);
  if (!value)
    return value.takeError();
  if (std::optional<std::string> key = repeatedKey(text))
    return createStringError(inconvertibleErrorCode(),
                             "'" + *key + "' is there twice");
  return value;
}
