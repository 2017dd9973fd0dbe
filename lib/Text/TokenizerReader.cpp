// Reads tokenizer.json.

#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Json.h"
#include "OnnxQuant/Text/Unicode.h"
#include "TokenizerTables.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace onnxquant;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;
using Tables = Tokenizer::Tables;

/// The greatest identifier that a vocabulary may have.
static constexpr int64_t mostTokens = int64_t(1) << 22;

/// What GPT-2 splits text by, which the step ByteLevel means.
static constexpr llvm::StringLiteral byteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

static llvm::Error wrong(const llvm::Twine &what) {
  return llvm::createStringError("tokenizer: " + what);
}

static llvm::StringRef typeOf(const Object &object) {
  return object.getString("type").value_or("");
}

/// Calls `read` for an object, or for each of a sequence of them.
template <typename Read>
static llvm::Error forEachStep(const Value *value, llvm::StringRef list,
                               Read read) {
  if (!value || value->kind() == Value::Null)
    return llvm::Error::success();
  const Object *object = value->getAsObject();
  if (!object)
    return wrong("'" + list + "' holds what is no object");
  if (typeOf(*object) != "Sequence")
    return read(*object);
  const Array *steps = object->getArray(list);
  if (!steps)
    return wrong("a Sequence has no '" + list + "'");
  for (const Value &step : *steps)
    if (llvm::Error error = forEachStep(&step, list, read))
      return error;
  return llvm::Error::success();
}

/// `{"String": TEXT}` or `{"Regex": PATTERN}`.
static llvm::Expected<Pattern> readPattern(const Object &step) {
  if (const Object *pattern = step.getObject("pattern")) {
    if (auto text = pattern->getString("String"))
      return Pattern::literal(*text);
    if (auto text = pattern->getString("Regex"))
      return Pattern::parse(*text);
  }
  return wrong(typeOf(step) + " expects a pattern that is String or Regex");
}

//===----------------------------------------------------------------------===//
// Vocabulary
//===----------------------------------------------------------------------===//

static llvm::Error addToken(Tables &tables, llvm::StringRef text, int64_t id) {
  if (id < 0 || id >= mostTokens)
    return wrong("token '" + text + "' has the identifier " + llvm::Twine(id) +
                 ", but they are 0 to " + llvm::Twine(mostTokens - 1));
  if (tables.texts.size() <= size_t(id))
    tables.texts.resize(id + 1);
  tables.texts[id] = text.str();
  tables.vocabulary[text] = id;
  return llvm::Error::success();
}

static llvm::Error readVocabulary(const Object &model, Tables &tables) {
  const Object *vocabulary = model.getObject("vocab");
  if (!vocabulary || vocabulary->empty())
    return wrong("the model has no 'vocab'");
  for (const auto &entry : *vocabulary) {
    auto id = entry.second.getAsInteger();
    if (!id)
      return wrong("token '" + entry.first.str() + "' has no identifier");
    if (llvm::Error error = addToken(tables, entry.first, *id))
      return error;
  }
  for (unsigned byte = 0; byte < 256; ++byte) {
    auto found =
        tables.vocabulary.find("<0x" + llvm::utohexstr(byte, false, 2) + ">");
    tables.byteTokens[byte] =
        found == tables.vocabulary.end() ? -1 : found->second;
  }
  return llvm::Error::success();
}

/// Two texts: "a b", or ["a", "b"].
static std::optional<std::pair<llvm::StringRef, llvm::StringRef>>
readPair(const Value &merge) {
  if (auto text = merge.getAsString()) {
    // A space may be the first of the two.
    size_t at = text->find(' ', 1);
    if (at == llvm::StringRef::npos)
      return std::nullopt;
    return std::pair(text->take_front(at), text->drop_front(at + 1));
  }
  const Array *pair = merge.getAsArray();
  if (!pair || pair->size() != 2 || !(*pair)[0].getAsString() ||
      !(*pair)[1].getAsString())
    return std::nullopt;
  return std::pair(*(*pair)[0].getAsString(), *(*pair)[1].getAsString());
}

static llvm::Error readMerges(const Object &model, Tables &tables) {
  const Array *merges = model.getArray("merges");
  if (!merges)
    return wrong("the model has no 'merges'");
  for (auto [rank, merge] : llvm::enumerate(*merges)) {
    auto pair = readPair(merge);
    if (!pair)
      return wrong("merge " + llvm::Twine(rank) + " is no pair of texts");
    auto first = tables.vocabulary.find(pair->first);
    auto second = tables.vocabulary.find(pair->second);
    auto both = tables.vocabulary.find((pair->first + pair->second).str());
    if (first == tables.vocabulary.end() || second == tables.vocabulary.end() ||
        both == tables.vocabulary.end())
      return wrong("merge " + llvm::Twine(rank) + " ('" + pair->first +
                   "' and '" + pair->second +
                   "') has a part that is not in the vocabulary");
    tables.merges.try_emplace({first->second, second->second},
                              Merge{uint32_t(rank), both->second});
  }
  return llvm::Error::success();
}

static llvm::Error readModel(const Object &root, Tables &tables) {
  const Object *model = root.getObject("model");
  if (!model)
    return wrong("there is no 'model'; is this a tokenizer.json?");
  // Older files have no type, but merges.
  llvm::StringRef type = typeOf(*model);
  if (type != "BPE" && !(type.empty() && model->getArray("merges")))
    return wrong("its model is '" + type + "', but only BPE is supported");
  for (llvm::StringRef key :
       {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!model->getString(key).value_or("").empty())
      return wrong("'" + key + "' isn't supported");
  tables.fallsBackToBytes = model->getBoolean("byte_fallback").value_or(false);
  tables.ignoresMerges = model->getBoolean("ignore_merges").value_or(false);
  tables.fusesUnknown = model->getBoolean("fuse_unk").value_or(false);
  if (llvm::Error error = readVocabulary(*model, tables))
    return error;
  if (auto unknown = model->getString("unk_token")) {
    auto found = tables.vocabulary.find(*unknown);
    if (found == tables.vocabulary.end())
      return wrong("unk_token '" + *unknown + "' is not in the vocabulary");
    tables.unknown = found->second;
  }
  return readMerges(*model, tables);
}

static llvm::Error readAdded(const Object &root, Tables &tables) {
  const Array *added = root.getArray("added_tokens");
  if (!added)
    return llvm::Error::success();
  for (const Value &value : *added) {
    const Object *token = value.getAsObject();
    auto content = token ? token->getString("content") : std::nullopt;
    auto id = token ? token->getInteger("id") : std::nullopt;
    if (!content || content->empty() || !id)
      return wrong("an added token has no content or no identifier");
    auto is = [&](llvm::StringRef key) {
      return token->getBoolean(key).value_or(false);
    };
    tables.added.push_back({content->str(), *id, is("special"),
                            is("normalized"), is("lstrip"), is("rstrip"),
                            is("single_word")});
    if (llvm::Error error = addToken(tables, *content, *id))
      return error;
    tables.isSpecial[*id] = is("special");
  }
  // Where one begins with another, the longer one is meant.
  llvm::sort(tables.added, [](const AddedToken &a, const AddedToken &b) {
    return std::pair(b.content.size(), a.id) <
           std::pair(a.content.size(), b.id);
  });
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static llvm::Error readNormalizer(const Object &step, Tables &tables) {
  using Kind = NormalizeStep::Kind;
  llvm::StringRef type = typeOf(step);
  if (type == "Prepend") {
    tables.normalize.push_back(
        {Kind::Prepend, step.getString("prepend").value_or("").str(), {}});
  } else if (type == "Replace") {
    auto pattern = readPattern(step);
    if (!pattern)
      return pattern.takeError();
    tables.normalize.push_back({Kind::Replace,
                                step.getString("content").value_or("").str(),
                                std::move(*pattern)});
  } else if (type == "Lowercase") {
    tables.normalize.push_back({Kind::Lowercase, "", {}});
  } else if (type == "NFC") {
    tables.normalize.push_back({Kind::Compose, "", {}});
  } else {
    return wrong("the normalizer '" + type + "' isn't supported");
  }
  return llvm::Error::success();
}

static llvm::Expected<SplitStep> readSplit(const Object &step) {
  SplitStep result(SplitStep::Kind::Pattern);
  auto pattern = readPattern(step);
  if (!pattern)
    return pattern.takeError();
  result.pattern = std::move(*pattern);
  result.isInverted = step.getBoolean("invert").value_or(false);
  llvm::StringRef behavior = step.getString("behavior").value_or("Isolated");
  using Match = SplitStep::Match;
  auto match = llvm::StringSwitch<std::optional<Match>>(behavior)
                   .Case("Isolated", Match::Isolated)
                   .Case("Removed", Match::Removed)
                   .Case("MergedWithPrevious", Match::WithPrevious)
                   .Case("MergedWithNext", Match::WithNext)
                   .Case("Contiguous", Match::Contiguous)
                   .Default(std::nullopt);
  if (!match)
    return wrong("Split has the behavior '" + behavior + "'");
  result.match = *match;
  return result;
}

static llvm::Expected<SplitStep> readMetaspace(const Object &step) {
  SplitStep result(SplitStep::Kind::Metaspace);
  Codes replacement = decodeUtf8(step.getString("replacement").value_or("▁"));
  if (replacement.size() != 1)
    return wrong("Metaspace expects a replacement of one character");
  result.replacement = replacement[0];
  using Prefix = SplitStep::Prefix;
  llvm::StringRef scheme = step.getString("prepend_scheme").value_or("always");
  // Older files say it by a flag.
  if (!step.getBoolean("add_prefix_space").value_or(true))
    scheme = "never";
  result.prefix = scheme == "always"  ? Prefix::Always
                  : scheme == "first" ? Prefix::First
                                      : Prefix::Never;
  result.splits = step.getBoolean("split").value_or(true);
  return result;
}

static SplitStep splitBy(llvm::StringRef pattern, SplitStep::Match match) {
  SplitStep step(SplitStep::Kind::Pattern);
  step.pattern = llvm::cantFail(Pattern::parse(pattern));
  step.match = match;
  return step;
}

static llvm::Expected<SplitStep> readPreTokenizer(const Object &step) {
  using Match = SplitStep::Match;
  llvm::StringRef type = typeOf(step);
  if (type == "Split")
    return readSplit(step);
  if (type == "Metaspace")
    return readMetaspace(step);
  if (type == "Digits")
    return splitBy(R"(\p{N})",
                   step.getBoolean("individual_digits").value_or(false)
                       ? Match::Isolated
                       : Match::Contiguous);
  if (type == "Punctuation")
    return splitBy(R"([\p{P}!-/:-@\[-`{-~])", Match::Isolated);
  if (type == "WhitespaceSplit")
    return splitBy(R"(\s+)", Match::Removed);
  if (type == "Whitespace") {
    SplitStep result = splitBy(R"(\w+|[^\w\s]+)", Match::Removed);
    result.isInverted = true;
    return result;
  }
  if (type != "ByteLevel")
    return wrong("the pre-tokenizer '" + type + "' isn't supported");
  SplitStep result(SplitStep::Kind::ByteLevel);
  if (step.getBoolean("use_regex").value_or(true))
    result.pattern = llvm::cantFail(Pattern::parse(byteLevelPattern));
  if (step.getBoolean("add_prefix_space").value_or(true))
    result.prefix = SplitStep::Prefix::Always;
  return result;
}

static llvm::Error readDecoder(const Object &step, Tables &tables) {
  using Kind = DecodeStep::Kind;
  llvm::StringRef type = typeOf(step);
  if (type == "ByteLevel") {
    tables.decode.push_back({Kind::ByteLevel, "", ""});
  } else if (type == "ByteFallback") {
    tables.decode.push_back({Kind::ByteFallback, "", ""});
  } else if (type == "Metaspace") {
    std::string from = step.getString("replacement").value_or("▁").str();
    if (from.empty())
      return wrong("the decoder Metaspace expects a replacement");
    tables.decode.push_back({Kind::Replace, std::move(from), " "});
    if (step.getString("prepend_scheme").value_or("always") != "never" &&
        step.getBoolean("add_prefix_space").value_or(true))
      tables.decode.push_back({Kind::StripFirst, " ", "", 1});
  } else if (type == "Replace") {
    const Object *pattern = step.getObject("pattern");
    auto from = pattern ? pattern->getString("String") : std::nullopt;
    if (!from || from->empty())
      return wrong("the decoder Replace expects a pattern that is a String");
    tables.decode.push_back({Kind::Replace, from->str(),
                             step.getString("content").value_or("").str()});
  } else if (type == "Strip") {
    std::string from = step.getString("content").value_or(" ").str();
    int64_t count = step.getInteger("start").value_or(0);
    if (from.empty() || count < 0)
      return wrong("the decoder Strip expects a content, and a start of 0 or "
                   "more");
    tables.decode.push_back(
        {Kind::StripFirst, std::move(from), "", size_t(count)});
  } else if (type != "Fuse") {
    return wrong("the decoder '" + type + "' isn't supported");
  }
  return llvm::Error::success();
}

/// Takes the tokens around a single text from a template.
static llvm::Error readTemplate(const Object &step, Tables &tables) {
  if (typeOf(step) == "ByteLevel")
    return llvm::Error::success();
  if (typeOf(step) != "TemplateProcessing")
    return wrong("the post-processor '" + typeOf(step) + "' isn't supported");
  const Array *parts = step.getArray("single");
  const Object *specials = step.getObject("special_tokens");
  if (!parts)
    return wrong("TemplateProcessing has no 'single'");
  bool isBehind = false;
  for (const Value &value : *parts) {
    const Object *part = value.getAsObject();
    if (part && part->getObject("Sequence")) {
      isBehind = true;
      continue;
    }
    const Object *token = part ? part->getObject("SpecialToken") : nullptr;
    auto name = token ? token->getString("id") : std::nullopt;
    const Object *entry =
        name && specials ? specials->getObject(*name) : nullptr;
    const Array *ids = entry ? entry->getArray("ids") : nullptr;
    if (!ids)
      return wrong("TemplateProcessing names a token that it doesn't list");
    for (const Value &id : *ids) {
      if (!id.getAsInteger())
        return wrong("TemplateProcessing has an identifier that is no integer");
      (isBehind ? tables.suffix : tables.prefix).push_back(*id.getAsInteger());
    }
  }
  return llvm::Error::success();
}

static llvm::Error readSteps(const Object &root, Tables &tables) {
  if (llvm::Error error = forEachStep(
          root.get("normalizer"), "normalizers",
          [&](const Object &step) { return readNormalizer(step, tables); }))
    return error;
  if (llvm::Error error =
          forEachStep(root.get("pre_tokenizer"), "pretokenizers",
                      [&](const Object &object) -> llvm::Error {
                        auto step = readPreTokenizer(object);
                        if (!step)
                          return step.takeError();
                        tables.split.push_back(std::move(*step));
                        return llvm::Error::success();
                      }))
    return error;
  if (llvm::Error error =
          forEachStep(root.get("decoder"), "decoders", [&](const Object &step) {
            return readDecoder(step, tables);
          }))
    return error;
  return forEachStep(
      root.get("post_processor"), "processors",
      [&](const Object &step) { return readTemplate(step, tables); });
}

llvm::Expected<Tokenizer> Tokenizer::parse(llvm::StringRef json) {
  auto root = parseJson(json);
  if (!root)
    return root.takeError();
  const Object *object = root->getAsObject();
  if (!object)
    return wrong("expects a JSON object");
  auto tables = std::make_unique<Tables>();
  if (llvm::Error error = readModel(*object, *tables))
    return error;
  if (llvm::Error error = readAdded(*object, *tables))
    return error;
  if (llvm::Error error = readSteps(*object, *tables))
    return error;
  return Tokenizer(std::move(tables));
}

llvm::Expected<Tokenizer> Tokenizer::read(llvm::StringRef path) {
  auto named = [&](llvm::Error error) {
    return llvm::createStringError(path + ": " +
                                   llvm::toString(std::move(error)));
  };
  auto buffer = openInput(path, FileLimits::table);
  if (!buffer)
    return named(buffer.takeError());
  auto tokenizer = parse((*buffer)->getBuffer());
  if (!tokenizer)
    return named(tokenizer.takeError());
  return tokenizer;
}
