// The options of verbs that read samples.

#ifndef ONNXQUANT_TOOLS_ONNXQ_DATAARGUMENTS_H
#define ONNXQUANT_TOOLS_ONNXQ_DATAARGUMENTS_H

#include "Arguments.h"
#include "OnnxQuant/Data/DataSet.h"

namespace onnxquant::cli {

/// What is given for `--data` and the options beside it.
struct DataArguments {
  DataOptions options;
  std::string shard, mean, scale, padColor, plugin;

  void declare(Arguments &arguments);
  /// Completes and checks `options`, and loads a plug-in. What is done to data
  /// unasked is told on standard error unless `quiet`.
  llvm::Error finish(bool quiet = false);
  /// The names of all options but `--data`.
  static llvm::ArrayRef<llvm::StringRef> names();

private:
  const Arguments *declared = nullptr;
};

/// The lines of a verb's help for these options.
#define ONNXQ_DATA_HELP                                                        \
  R"(  --data PATH         samples: a folder of images, of test_data_set_* or of
                      tensors; .npy, .npz (arrays by the inputs' names), .pb or
                      an idx file; 'photos/*.jpg'; a list of files (.txt);
                      INPUT=PATH for each of several inputs
  --limit, --start, --stride N   which samples; --batch N  samples in a run
  --shard I/N         of those, the I-th of N parts; auto: by the cluster's
  --skip-bad          count samples that can't be read, and go on
of images (JPEG, PNG, WebP, BMP):
  --size HxW, --crop HxW, --filter NAME, --layout nchw|nhwc,
  --channels rgb|bgr|gray, --mean A:B:C, --scale 1/255   (pixel - mean) * scale
  --letterbox         keep the sides' ratio, and pad to the size
  --multiple-of N     pad to multiples of N, right and below
  --pad-color R:G:B (114), --pad-at center|corner
  --preprocess NAME   preprocess_method1, preprocess_method2, or one of
  --preprocess-plugin LIB        a library with preprocessings
)"

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_DATAARGUMENTS_H
