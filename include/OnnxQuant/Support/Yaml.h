// YAML files of settings.

#ifndef ONNXQUANT_SUPPORT_YAML_H
#define ONNXQUANT_SUPPORT_YAML_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace onnxquant {

/// A value of a YAML file.
struct YamlValue {
  enum Kind { Nothing, Scalar, List, Mapping };
  Kind kind = Nothing;
  /// A scalar as it stands there, and whether it stands in quotes.
  std::string text;
  bool isQuoted = false;
  /// Elements of a list, or values of a mapping in the file's order.
  std::vector<YamlValue> values;
  /// The names of a mapping's values, as options are spelled and as they stand
  /// there.
  std::vector<std::string> keys, spelled;

  /// Scalars without quotes become numbers and flags where they look like it.
  llvm::json::Value toJson() const;
};

/// Reads a file whose whole is a mapping. Errors name the file, and the line if
/// it can't be parsed. No key stands in a mapping twice; where `_` stands in
/// one of the outermost, `-` is meant.
llvm::Expected<YamlValue> readYaml(llvm::StringRef path);

} // namespace onnxquant

#endif // ONNXQUANT_SUPPORT_YAML_H
