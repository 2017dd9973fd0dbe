// From an image to an input tensor.
//
// A preprocessing has a name. Those of one's own are added to the registry from
// C++, or by a shared library with the C interface of
// onnxquant-c/preprocess.h.

#ifndef ONNXQUANT_DATA_PREPROCESS_H
#define ONNXQUANT_DATA_PREPROCESS_H

#include "OnnxQuant/Data/Image.h"
#include "OnnxQuant/Support/HostTensor.h"
#include <functional>
#include <string>
#include <vector>

namespace onnxquant {

/// What a model wants: -1 where a size is open.
struct InputInfo {
  std::string name;
  int32_t type = 1;
  std::vector<int64_t> dims;
};

/// A described preprocessing: decode, gray or color, resize, crop, subtract the
/// mean, multiply by the scale, lay out.
struct SampleOptions {
  /// A registered name; empty for the described one.
  std::string name;
  /// HEIGHTxWIDTH, or a number that the shorter side becomes; empty: what the
  /// input states, or the image's own size.
  std::string size;
  /// HEIGHTxWIDTH of the middle, after resizing.
  std::string crop;
  /// Empty: bilinear, or what a named preprocessing uses.
  std::string filter;
  /// nchw or nhwc; empty: by the input's shape.
  std::string layout;
  /// rgb, bgr or gray; empty: gray for inputs of one channel, else rgb.
  std::string channels;
  /// One number, or one for each channel.
  std::vector<double> mean, scale;
};

/// The options with names and sizes resolved for one input.
struct PreprocessPlan {
  Filter filter = Filter::Bilinear;
  bool nhwc = false, bgr = false, gray = false;
  /// 0 where the image's own size stays.
  int64_t height = 0, width = 0;
  /// The size of the shorter side; 0 if there is none.
  int64_t shorter = 0;
  int64_t cropHeight = 0, cropWidth = 0;
  std::vector<double> mean, scale;
  InputInfo input;
};

/// Resolves and checks options; errors name the option.
llvm::Expected<PreprocessPlan> planPreprocess(const SampleOptions &options,
                                              const InputInfo &input);

/// An image as a tensor of one sample, with a first dimension of 1.
using Preprocess =
    std::function<llvm::Expected<HostTensor>(Image, const PreprocessPlan &)>;

/// Adds a preprocessing, or replaces the one of that name.
void registerPreprocess(llvm::StringRef name, Preprocess function);
/// The preprocessing of a name; the empty name is the described one. The error
/// lists those that there are.
llvm::Expected<Preprocess> findPreprocess(llvm::StringRef name);
/// Loads a shared library and lets it register its own.
llvm::Error loadPreprocessPlugin(llvm::StringRef path);

/// Resizing and cropping as planned, and gray where that is asked for.
llvm::Expected<Image> fitImage(Image image, const PreprocessPlan &plan);
/// Values computed from pixels, laid out as planned and in the input's type.
llvm::Expected<HostTensor>
layOut(const Image &image, const PreprocessPlan &plan,
       llvm::function_ref<double(uint8_t value, int64_t channel)> value);

/// Numbers separated by ':' or ','.
llvm::Expected<std::vector<double>> parseNumbers(llvm::StringRef option,
                                                 llvm::StringRef text);

} // namespace onnxquant

#endif // ONNXQUANT_DATA_PREPROCESS_H
