// The options of verbs that read samples.

#ifndef ONNXQUANT_TOOLS_ONNXQ_DATAARGUMENTS_H
#define ONNXQUANT_TOOLS_ONNXQ_DATAARGUMENTS_H

#include "Arguments.h"
#include "OnnxQuant/Data/DataSet.h"

namespace onnxquant::cli {

/// What is given for `--data` and the options beside it.
struct DataArguments {
  DataOptions options;
  std::string shard, mean, scale, plugin;

  void declare(Arguments &arguments);
  /// Completes and checks `options`, and loads a plug-in.
  llvm::Error finish();
};

/// The lines of a verb's help for these options.
#define ONNXQ_DATA_HELP                                                        \
  R"(  --data PATH         samples: a folder of images, of test_data_set_* or of
                      tensors; .npy, .npz, .pb or an idx file;
                      INPUT=PATH for each of several inputs
  --limit, --start, --stride N   which samples; --batch N  samples in a run
  --shard I/N         of those, the I-th of N parts; auto: by the cluster's
  --skip-bad          count samples that can't be read, and go on
  --preprocess NAME   preprocess_method1, preprocess_method2, or a plug-in's
  --preprocess-plugin LIB        a library with preprocessings
  --size HxW, --crop HxW, --filter NAME, --layout nchw|nhwc,
  --channels rgb|bgr|gray, --mean A:B:C, --scale A:B:C   (pixel - mean) * scale
)"

} // namespace onnxquant::cli

#endif // ONNXQUANT_TOOLS_ONNXQ_DATAARGUMENTS_H
