// YAML files of settings.

#include "OnnxQuant/Support/Yaml.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Nesting.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include <cmath>

using namespace llvm;
using namespace onnxquant;

/// What is said where LLVM's parser has no word of its own.
static const char *const noYaml = " is no YAML that can be read";
/// Settings hardly nest.
static constexpr unsigned mostLevels = 8;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

json::Value YamlValue::toJson() const {
  if (kind == List) {
    json::Array array;
    for (const YamlValue &value : values)
      array.push_back(value.toJson());
    return array;
  }
  if (kind == Mapping) {
    json::Object object;
    for (auto [key, value] : zip(spelled, values))
      object[key] = value.toJson();
    return object;
  }
  int64_t integer;
  double number;
  if (kind == Nothing)
    return nullptr;
  if (isQuoted)
    return text;
  if (!StringRef(text).getAsInteger(10, integer))
    return integer;
  // JSON has no infinities.
  if (!StringRef(text).getAsDouble(number) && std::isfinite(number))
    return number;
  if (text == "true" || text == "false")
    return text == "true";
  return text;
}

/// Reads a node; the message is empty if the parser has one itself.
static Error read(yaml::Node *node, unsigned level, YamlValue &value) {
  if (!node)
    return fail("");
  if (level > mostLevels)
    return fail(" is nested deeper than " + Twine(mostLevels) + " levels");
  SmallString<64> storage;
  if (auto *scalar = dyn_cast<yaml::ScalarNode>(node)) {
    value.kind = YamlValue::Scalar;
    value.text = scalar->getValue(storage).str();
    StringRef raw = scalar->getRawValue();
    value.isQuoted = raw.starts_with("\"") || raw.starts_with("'");
    return Error::success();
  }
  if (auto *block = dyn_cast<yaml::BlockScalarNode>(node)) {
    value.kind = YamlValue::Scalar;
    value.text = block->getValue().str();
    value.isQuoted = true;
    return Error::success();
  }
  if (auto *list = dyn_cast<yaml::SequenceNode>(node)) {
    value.kind = YamlValue::List;
    for (yaml::Node &element : *list) {
      value.values.emplace_back();
      if (Error error = read(&element, level + 1, value.values.back()))
        return error;
    }
    return Error::success();
  }
  if (isa<yaml::NullNode>(node))
    return Error::success();
  auto *mapping = dyn_cast<yaml::MappingNode>(node);
  if (!mapping)
    return fail(" has a value that is no scalar, list or mapping");
  value.kind = YamlValue::Mapping;
  StringSet<> known;
  for (yaml::KeyValueNode &entry : *mapping) {
    auto *key = dyn_cast_or_null<yaml::ScalarNode>(entry.getKey());
    if (!key)
      return fail(" has a key that is no plain text");
    std::string name = key->getValue(storage).str();
    value.spelled.push_back(name);
    // Either spelling of an option is at home in YAML; tensors' names are not
    // options.
    if (level <= 1)
      std::replace(name.begin(), name.end(), '_', '-');
    if (!known.insert(name).second)
      return fail(" gives '" + name + "' twice");
    value.keys.push_back(name);
    value.values.emplace_back();
    if (Error error = read(entry.getValue(), level + 1, value.values.back()))
      return error;
  }
  return Error::success();
}

Expected<YamlValue> onnxquant::readYaml(StringRef path) {
  auto file = openInput(path, FileLimits::config, /*isText=*/true);
  if (!file)
    return fail(path + ": " + toString(file.takeError()));
  if (yamlNestsDeeper((*file)->getBuffer(), mostYamlDepth))
    return fail(path + ": is nested deeper than " + Twine(mostYamlDepth) +
                " levels");
  if (size_t at = 0; !json::isUTF8((*file)->getBuffer(), &at))
    return fail(path + ": byte " + Twine(at) + " is not UTF-8");
  SourceMgr sources;
  std::string message;
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *context) {
        auto &text = *static_cast<std::string *>(context);
        if (text.empty())
          text = std::to_string(diagnostic.getLineNo()) + ": " +
                 diagnostic.getMessage().str();
      },
      &message);
  yaml::Stream stream((*file)->getMemBufferRef(), sources);
  auto document = stream.begin();
  if (document == stream.end())
    return fail(path + ": has no options");
  YamlValue value;
  if (Error error = read(document->getRoot(), 0, value)) {
    std::string reason = toString(std::move(error));
    if (reason.empty())
      reason = noYaml;
    return fail(path + ":" + (message.empty() ? reason : message));
  }
  if (stream.failed())
    return fail(path + ":" + (message.empty() ? std::string(noYaml) : message));
  if (value.kind != YamlValue::Mapping)
    return fail(path + ": expects a mapping of options");
  return value;
}
