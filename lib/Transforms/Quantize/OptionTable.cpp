// Options by name, for verbs and configuration files.

#include "OnnxQuant/Support/NearestName.h"
#include "OnnxQuant/Transforms/Quantize/Passes.h"

using namespace onnxquant;

static llvm::Error fail(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static bool read(std::string &target, llvm::StringRef value) {
  target = value.str();
  return true;
}
static bool read(bool &target, llvm::StringRef value) {
  std::string lower = value.lower();
  bool yes = lower.empty() || lower == "true" || lower == "1" || lower == "yes";
  bool no = lower == "false" || lower == "0" || lower == "no";
  target = yes;
  return yes || no;
}
static bool read(int64_t &target, llvm::StringRef value) {
  return !value.getAsInteger(10, target);
}
static bool read(double &target, llvm::StringRef value) {
  return !value.getAsDouble(target);
}
template <typename T, unsigned n>
static bool read(llvm::SmallVector<T, n> &target, llvm::StringRef value) {
  llvm::SmallVector<llvm::StringRef> parts;
  value.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (llvm::StringRef part : parts)
    target.push_back(part.trim().str());
  return true;
}

static llvm::StringRef kindOf(const std::string &) { return "text"; }
static llvm::StringRef kindOf(bool) { return "true or false"; }
static llvm::StringRef kindOf(int64_t) { return "an integer"; }
static llvm::StringRef kindOf(double) { return "a number"; }
template <typename T, unsigned n>
static llvm::StringRef kindOf(const llvm::SmallVector<T, n> &) {
  return "a list";
}

llvm::ArrayRef<llvm::StringRef> onnxquant::quantizeOptionNames() {
  static const llvm::StringRef names[] = {
#define OPTION(member, name) name,
#include "Options.def"
#undef OPTION
  };
  return names;
}

bool onnxquant::isQuantizeFlag(llvm::StringRef name) {
#define OPTION(member, text)                                                   \
  if (name == text)                                                            \
    return std::is_same_v<decltype(QuantizeOptions::member), bool>;
#include "Options.def"
#undef OPTION
  return false;
}

llvm::Error onnxquant::setQuantizeOption(QuantizeOptions &options,
                                         llvm::StringRef name,
                                         llvm::StringRef value) {
#define OPTION(member, text)                                                   \
  if (name == text)                                                            \
    return read(options.member, value)                                         \
               ? llvm::Error::success()                                        \
               : fail(name + " expects " + kindOf(options.member) +            \
                      ", but got '" + value + "'");
#include "Options.def"
#undef OPTION
  std::vector<std::string> names;
  for (llvm::StringRef known : quantizeOptionNames())
    names.push_back(known.str());
  return fail("there is no option '" + name + "'" + suggestName(name, names));
}
