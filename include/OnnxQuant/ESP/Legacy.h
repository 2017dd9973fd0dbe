// The toolkit before .espdl: coefficients as C++ for ESP-DL v1.x, its
// quantization table, and the input of its convert tool.

#ifndef ONNXQUANT_ESP_LEGACY_H
#define ONNXQUANT_ESP_LEGACY_H

#include "OnnxQuant/ESP/Chip.h"
#include "OnnxQuant/ESP/Model.h"
#include "llvm/Support/Error.h"
#include <map>

namespace onnxquant::esp {

/// A layer with coefficients, as the exported files have it.
struct LegacyLayer {
  /// The name of its objects, and that of the node.
  std::string name, node;
  int bits = 8;
  /// No filter: an activation behind Add or Mul.
  bool hasFilter = true;
  /// Elements in the order of the chip, without padding.
  std::vector<int64_t> filter, filterExponents;
  /// h, w, in, out; h, w, channels, 1 of a depthwise filter.
  std::vector<int64_t> shape, dilations = {1, 1};
  bool isGemm = false, isPerChannel = false;
  std::vector<int64_t> bias;
  int64_t biasExponent = 0;
  /// ReLU, LeakyReLU, PReLU, or empty.
  std::string activation;
  std::vector<int64_t> slopes;
  int64_t slopesExponent = 0;
};

/// The layers of a model that was quantized by the old toolkit's rules.
std::vector<LegacyLayer> legacyLayers(const Model &device);

/// What is written.
struct LegacyFiles {
  std::string source, header;
};
/// The .cpp and .hpp of layers. `name` is the files' name and the namespace.
LegacyFiles writeLegacy(llvm::ArrayRef<LegacyLayer> layers,
                        llvm::StringRef name);
/// A header with a class that builds the network of ESP-DL v1.x: `layers` with
/// the coefficients of the header `coefficients`. Errors name a node without a
/// layer there.
llvm::Expected<std::string> writeLegacyModel(const Model &device,
                                             llvm::ArrayRef<LegacyLayer> layers,
                                             llvm::StringRef className,
                                             llvm::StringRef coefficients);
/// Why the old toolkit can't take a model: a line per node.
std::vector<std::string> checkLegacyModel(const Model &model);

/// Reads the convert tool's folder: NAME_filter.npy, NAME_bias.npy,
/// NAME_activation.npy and config.json.
llvm::Expected<std::vector<LegacyLayer>>
readConvertFolder(llvm::StringRef folder, llvm::StringRef config,
                  const Chip &chip, bool perChannel);

/// The scales of a tensor: one, or one per channel.
struct Scales {
  std::vector<double> values;
  /// Whether a table has them as an array of NumPy's; one number otherwise.
  bool isArray = false;
};
/// Scales by tensor.
using ScaleTable = std::map<std::string, Scales>;
/// The table of a model that was quantized by the old toolkit's rules.
ScaleTable legacyTable(const Model &device);
/// Reads a pickled dict of floats and arrays. Nothing in it is executed: only
/// the opcodes of such a table are known, and others are an error.
llvm::Expected<ScaleTable> readPickle(llvm::ArrayRef<char> bytes);
/// Writes a pickled dict of floats and arrays of NumPy's.
std::string writePickle(const ScaleTable &table);

} // namespace onnxquant::esp

#endif // ONNXQUANT_ESP_LEGACY_H
