// Images in memory: decoding and resizing.

#ifndef ONNXQUANT_DATA_IMAGE_H
#define ONNXQUANT_DATA_IMAGE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <vector>

namespace onnxquant {

/// Rows of pixels from the top, channels together; one or three channels (red,
/// green, blue) of 8 bits.
struct Image {
  int64_t width = 0, height = 0, channels = 3;
  std::vector<uint8_t> pixels;

  uint8_t at(int64_t x, int64_t y, int64_t c) const {
    return pixels[(y * width + x) * channels + c];
  }
};

/// Whether a path is named like an image that can be read (JPEG, PNG, WebP,
/// BMP).
bool isImagePath(llvm::StringRef path);
/// Reads a JPEG, PNG, WebP or BMP file, by its content, as red, green and blue.
/// An alpha channel is dropped. Errors name the file.
llvm::Expected<Image> readImage(llvm::StringRef path);
/// Reads a BMP file in memory; empty if it worked, else what is wrong.
std::string decodeBmp(llvm::StringRef bytes, Image &image);
/// Larger images are taken for damaged ones.
inline constexpr uint32_t maxImageSide = 65500;
inline constexpr uint64_t maxImagePixels = 1u << 28;

/// Luma of an image, as ITU-R 601 weighs the channels.
Image toGray(const Image &image);

enum class Filter { Nearest, Box, Bilinear, Hamming, Bicubic, Lanczos };
llvm::Expected<Filter> parseFilter(llvm::StringRef name);
/// Resizes as Pillow does: two passes, columns first, with coefficients of 22
/// bits and 8 bits in between; the filter widens when an image shrinks.
Image resize(const Image &image, int64_t width, int64_t height, Filter filter);
/// The middle of an image, which is at least as large.
Image cropMiddle(const Image &image, int64_t width, int64_t height);

} // namespace onnxquant

#endif // ONNXQUANT_DATA_IMAGE_H
