// onnx-esp-quantize: a float module becomes one with quantizers whose scales
// are powers of two. The work is the quantizer's; this reads the module,
// collects exponents and puts the result in its place.

#include "OnnxQuant/Dialect/ONNX/Calibration.h"
#include "OnnxQuant/Dialect/ONNX/ONNXOps.h"
#include "OnnxQuant/ESP/Passes.h"
#include "OnnxQuant/ESP/Quantize.h"
#include "OnnxQuant/ESP/Simulate.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace onnxquant {
#define GEN_PASS_DEF_ESPQUANTIZE
#include "OnnxQuant/ESP/Passes.h.inc"
} // namespace onnxquant

using namespace onnxquant;

namespace {

struct EspQuantize : onnxquant::impl::EspQuantizeBase<EspQuantize> {
  using EspQuantizeBase::EspQuantizeBase;

  LogicalResult readOptions(esp::QuantizeOptions &options) {
    options.chip = esp::findChip(chip);
    if (!options.chip)
      return getOperation().emitError()
             << "chip expects one of " << esp::chipNames() << ", but got '"
             << chip << "'";
    if (bits != 8 && bits != 16)
      return getOperation().emitError()
             << "bits expects 8 or 16, but got " << bits;
    options.bits = bits;
    options.perChannel = options.chip->isPerChannel && !perTensor;
    for (const std::string &name : int16Nodes)
      options.nodeBits[name] = 16;
    return success();
  }

  /// By the table, or by the module's ranges.
  FailureOr<esp::Exponents> exponents() {
    if (!table.empty()) {
      auto read = esp::readExponents(table);
      if (!read)
        return getOperation().emitError() << llvm::toString(read.takeError());
      return std::move(*read);
    }
    esp::Exponents exponents;
    for (const auto &[name, range] : onnx::getCalibration(getOperation()))
      exponents[name] = esp::fittingExponent(
          std::max(std::abs(range.min), std::abs(range.max)), bits);
    return exponents;
  }

  FailureOr<esp::Model> quantize(const esp::QuantizeOptions &options) {
    ModuleOp module = getOperation();
    auto floats = esp::importFloat(module);
    if (!floats)
      return module.emitError() << llvm::toString(floats.takeError());
    esp::replaceBatchNorms(*floats);
    for (const std::string &reason : esp::checkModel(*floats))
      return module.emitError() << reason;
    esp::prepareFloat(*floats);
    for (const std::string &reason : esp::checkPrepared(*floats, options))
      return module.emitError() << reason;
    if (scaleChannels) {
      esp::EqualizeOptions scaling;
      scaling.powersOfTwo = true;
      scaling.threshold = 0;
      esp::equalizeChannels(*floats, scaling);
    }
    auto found = exponents();
    if (failed(found))
      return failure();
    auto device = esp::quantizeModel(*floats, std::move(*found), options);
    if (!device)
      return module.emitError() << llvm::toString(device.takeError());
    numNodes += floats->nodes.size();
    return std::move(*device);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    esp::QuantizeOptions options;
    if (failed(readOptions(options)))
      return signalPassFailure();
    auto device = quantize(options);
    if (failed(device))
      return signalPassFailure();
    OwningOpRef<ModuleOp> made = esp::importQdq(
        *device, *options.chip, "the quantized model", &getContext());
    if (!made)
      return signalPassFailure();
    module.getBodyRegion().takeBody(made->getBodyRegion());
    module->setAttrs((*made)->getAttrDictionary());
  }
};

} // namespace
