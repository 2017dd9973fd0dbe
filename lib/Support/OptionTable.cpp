// Values of options from text and as text.

#include "OnnxQuant/Support/OptionTable.h"
#include "OnnxQuant/Support/NearestName.h"
#include "OnnxQuant/Support/Numbers.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace onnxquant;

static std::vector<std::string> splitList(StringRef text, char separator) {
  SmallVector<StringRef> parts;
  text.split(parts, separator, -1, /*KeepEmpty=*/false);
  std::vector<std::string> list;
  for (StringRef part : parts)
    list.push_back(part.trim().str());
  return list;
}

std::vector<std::string> OptionInfo::choices() const {
  return shown.contains('|') || !words.empty() ? splitList(shown, '|')
                                               : std::vector<std::string>();
}

StringRef OptionInfo::kindText() const {
  switch (kind) {
  case OptionKind::Flag:
    return third.empty() ? "true or false" : "true, false or auto";
  case OptionKind::Integer:
    return "an integer";
  case OptionKind::Number:
    return "a number";
  case OptionKind::List:
    return "a list";
  case OptionKind::Text:
    break;
  }
  return words.empty() ? StringRef("text") : StringRef(words);
}

Error onnxquant::wrongValue(const OptionInfo &option, StringRef value) {
  return createStringError(option.name + " expects " + option.kindText() +
                           ", but got '" + value + "'");
}

Error onnxquant::unknownOption(StringRef name,
                               const std::vector<std::string> &known) {
  return createStringError("there is no option '" + name + "'" +
                           suggestName(name, known));
}

bool onnxquant::readOption(bool &target, StringRef value, bool) {
  std::optional<bool> truth = value.empty() ? true : parseTruth(value);
  target = truth.value_or(target);
  return truth.has_value();
}

bool onnxquant::readOption(int64_t &target, StringRef value, bool) {
  return !value.getAsInteger(10, target);
}

bool onnxquant::readOption(double &target, StringRef value, bool) {
  std::optional<double> number = parseNumber(value);
  target = number.value_or(target);
  return number.has_value();
}

bool onnxquant::readOption(std::string &target, StringRef value, bool) {
  target = value.str();
  return true;
}

bool onnxquant::readOption(SmallVectorImpl<std::string> &target,
                           StringRef value, bool splits) {
  if (splits)
    append_range(target, splitList(value, ','));
  else
    target.push_back(value.str());
  return true;
}

std::string onnxquant::printOption(bool value) {
  return value ? "true" : "false";
}

std::string onnxquant::printOption(int64_t value) {
  return std::to_string(value);
}

std::string onnxquant::printOption(double value) {
  // What tells any two doubles apart.
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

std::string onnxquant::printOption(const std::string &value) { return value; }

std::string onnxquant::printOption(const SmallVectorImpl<std::string> &value) {
  return join(value, ",");
}
