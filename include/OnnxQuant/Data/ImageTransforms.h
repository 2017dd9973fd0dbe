// From an image to an input tensor.
//
// A preprocessing has a name. Those of one's own are added to the registry from
// C++, or by a shared library with the C interface of
// onnxquant-c/preprocess.h.

#ifndef ONNXQUANT_DATA_IMAGETRANSFORMS_H
#define ONNXQUANT_DATA_IMAGETRANSFORMS_H

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

/// A described preprocessing: decode, gray or color, resize, crop or pad,
/// subtract the mean, multiply by the scale, lay out.
struct SampleOptions {
  /// A registered name; empty for the described one.
  std::string name;
  /// HEIGHTxWIDTH, or a number that the shorter side becomes (with letterbox:
  /// of a square); empty: what the input states, or the image's own size.
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
  /// Keep the ratio of the sides when resizing, and pad to the size.
  bool letterbox = false;
  /// Pad at the right and below until the sides are multiples; 0 for no matter
  /// what.
  int64_t multipleOf = 0;
  /// Of the image in its letterbox: center (default) or corner, the upper left.
  std::string padAt;
  /// Of pixels that are padded, one or one for each channel in the tensor's
  /// order; empty: 114, as YOLO's are.
  std::vector<double> padColor;

  /// The names of options that are set.
  std::vector<std::string> given() const;
};

/// What is wrong with options whatever the input; errors name the option.
llvm::Error checkSampleOptions(const SampleOptions &options);

/// The options with names and sizes resolved for one input.
struct PreprocessPlan {
  Filter filter = Filter::Bilinear;
  bool nhwc = false, bgr = false, gray = false;
  /// 0 where the image's own size stays.
  int64_t height = 0, width = 0;
  /// The size of the shorter side; 0 if there is none.
  int64_t shorter = 0;
  int64_t cropHeight = 0, cropWidth = 0;
  bool letterbox = false, padsCorner = false;
  int64_t multipleOf = 0;
  std::vector<double> mean, scale, padColor;
  InputInfo input;

  /// Whether every image gets the same size.
  bool hasFixedSize() const {
    return cropHeight > 0 || (height > 0 && width > 0);
  }
};

/// Where an image ends up: resized, then at a place of the result. A place
/// below zero is cut off.
struct ImagePlacement {
  int64_t resizedWidth = 0, resizedHeight = 0;
  int64_t left = 0, top = 0;
  int64_t width = 0, height = 0;
};
/// The placement of an image of a size; the error says why there is none.
llvm::Expected<ImagePlacement> placeImage(int64_t width, int64_t height,
                                          const PreprocessPlan &plan);

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
/// Whether a name is that of a plug-in's function, which knows nothing of
/// filters, colors and padding.
bool isPluginPreprocess(llvm::StringRef name);
/// Loads a shared library and lets it register its own.
llvm::Error loadPreprocessPlugin(llvm::StringRef path);

/// Resizing, cropping and padding as planned, and gray where that is asked for.
llvm::Expected<Image> fitImage(Image image, const PreprocessPlan &plan);
/// Values computed from pixels, laid out as planned and in the input's type.
llvm::Expected<HostTensor>
layOut(const Image &image, const PreprocessPlan &plan,
       llvm::function_ref<double(uint8_t value, int64_t channel)> value);

/// Numbers separated by ':' or ','; fractions such as 1/255 too.
llvm::Expected<std::vector<double>> parseNumbers(llvm::StringRef option,
                                                 llvm::StringRef text);

} // namespace onnxquant

#endif // ONNXQUANT_DATA_IMAGETRANSFORMS_H
