// Options from a YAML file. Mappings become JSON, which is what the options
// that take tensors' parameters read.

#include "OnnxQuant/Transforms/Quantize/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"

using namespace onnxquant;

/// Files of options are small, and so is their nesting.
static constexpr uint64_t maxFileBytes = uint64_t(1) << 26;
static constexpr unsigned maxDepth = 8;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static std::optional<std::string> textOf(llvm::yaml::Node *node) {
  llvm::SmallString<64> storage;
  if (auto *scalar = llvm::dyn_cast_or_null<llvm::yaml::ScalarNode>(node))
    return scalar->getValue(storage).str();
  return std::nullopt;
}

/// A scalar as JSON: a number or a flag if it looks like one and has no quotes.
static llvm::json::Value scalarToJson(llvm::yaml::ScalarNode *node) {
  llvm::SmallString<64> storage;
  std::string text = node->getValue(storage).str();
  bool quoted = node->getRawValue().starts_with("\"") ||
                node->getRawValue().starts_with("'");
  int64_t integer;
  double number;
  if (quoted)
    return text;
  if (!llvm::StringRef(text).getAsInteger(10, integer))
    return integer;
  if (!llvm::StringRef(text).getAsDouble(number))
    return number;
  if (text == "true" || text == "false")
    return text == "true";
  return text;
}

static std::optional<llvm::json::Value> toJson(llvm::yaml::Node *node,
                                               unsigned depth) {
  if (!node || depth > maxDepth)
    return std::nullopt;
  if (auto *scalar = llvm::dyn_cast<llvm::yaml::ScalarNode>(node))
    return scalarToJson(scalar);
  if (auto *list = llvm::dyn_cast<llvm::yaml::SequenceNode>(node)) {
    llvm::json::Array array;
    for (llvm::yaml::Node &element : *list) {
      std::optional<llvm::json::Value> value = toJson(&element, depth + 1);
      if (!value)
        return std::nullopt;
      array.push_back(std::move(*value));
    }
    return llvm::json::Value(std::move(array));
  }
  auto *mapping = llvm::dyn_cast<llvm::yaml::MappingNode>(node);
  if (!mapping)
    return std::nullopt;
  llvm::json::Object object;
  for (llvm::yaml::KeyValueNode &entry : *mapping) {
    std::optional<std::string> key = textOf(entry.getKey());
    std::optional<llvm::json::Value> value =
        toJson(entry.getValue(), depth + 1);
    if (!key || !value)
      return std::nullopt;
    object[*key] = std::move(*value);
  }
  return llvm::json::Value(std::move(object));
}

/// Hands an option's value over: lists element by element.
static llvm::Error
setFrom(llvm::StringRef name, llvm::yaml::Node *node,
        llvm::function_ref<llvm::Error(llvm::StringRef, llvm::StringRef)> set) {
  if (std::optional<std::string> text = textOf(node))
    return set(name, *text);
  if (llvm::isa_and_nonnull<llvm::yaml::NullNode>(node))
    return llvm::Error::success();
  if (auto *list = llvm::dyn_cast_or_null<llvm::yaml::SequenceNode>(node)) {
    for (llvm::yaml::Node &element : *list) {
      std::optional<std::string> text = textOf(&element);
      if (!text)
        return fail(name + " expects a list of plain values");
      if (llvm::Error error = set(name, *text))
        return error;
    }
    return llvm::Error::success();
  }
  std::optional<llvm::json::Value> value = toJson(node, 0);
  if (!value)
    return fail(name + " has a value that cannot be read");
  return set(name, llvm::formatv("{0}", *value).str());
}

llvm::Error onnxquant::readQuantizeConfig(
    llvm::StringRef path,
    llvm::function_ref<llvm::Error(llvm::StringRef, llvm::StringRef)> set) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!file)
    return fail(path + ": " + file.getError().message());
  if ((*file)->getBufferSize() > maxFileBytes)
    return fail(path + ": is too large for a file of options");
  llvm::SourceMgr sources;
  std::string message;
  sources.setDiagHandler(
      [](const llvm::SMDiagnostic &diagnostic, void *context) {
        auto &text = *static_cast<std::string *>(context);
        if (text.empty())
          text = std::to_string(diagnostic.getLineNo()) + ": " +
                 diagnostic.getMessage().str();
      },
      &message);
  llvm::yaml::Stream stream((*file)->getMemBufferRef(), sources);
  auto document = stream.begin();
  if (document == stream.end())
    return fail(path + ": has no options");
  llvm::yaml::Node *root = document->getRoot();
  auto *mapping = llvm::dyn_cast_or_null<llvm::yaml::MappingNode>(root);
  if (!mapping || stream.failed())
    return fail(path + ":" +
                (message.empty() ? " expects a mapping of options" : message));
  llvm::StringSet<> seen;
  for (llvm::yaml::KeyValueNode &entry : *mapping) {
    std::optional<std::string> name = textOf(entry.getKey());
    if (!name || stream.failed())
      break;
    // Either spelling of names is at home in YAML.
    std::replace(name->begin(), name->end(), '_', '-');
    if (!seen.insert(*name).second)
      return fail(path + ": gives '" + *name + "' twice");
    if (llvm::Error error = setFrom(*name, entry.getValue(), set))
      return fail(path + ": " + llvm::toString(std::move(error)));
  }
  if (stream.failed())
    return fail(path + ":" + message);
  return llvm::Error::success();
}
