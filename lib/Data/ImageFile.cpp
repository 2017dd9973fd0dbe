// JPEG, PNG, WebP and BMP files to pixels.

#include "OnnxQuant/Data/Image.h"
#include "OnnxQuant/Support/InputFile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include <csetjmp>
#include <cstdio>
// After cstdio, which it needs.
#include <jpeglib.h>
#include <spng.h>
#include <webp/decode.h>

using namespace llvm;
using namespace onnxquant;

bool onnxquant::isImagePath(StringRef path) {
  std::string extension = sys::path::extension(path).lower();
  return is_contained({".jpg", ".jpeg", ".png", ".webp", ".bmp"}, extension);
}

namespace {

/// libjpeg leaves a failed call by a jump.
struct JpegErrors {
  jpeg_error_mgr manager;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
};

} // namespace

static void jpegFailed(j_common_ptr info) {
  auto *errors = reinterpret_cast<JpegErrors *>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

/// A warning means damaged data: what follows would be a guess.
static void jpegWarned(j_common_ptr info, int level) {
  if (level < 0)
    jpegFailed(info);
}

/// Each pass of a progressive image, of which files may have any number, goes
/// through all of its pixels.
static constexpr int mostPasses = 200;

static void countPasses(j_common_ptr info) {
  auto *errors = reinterpret_cast<JpegErrors *>(info->err);
  if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= mostPasses)
    return;
  std::snprintf(errors->message, sizeof(errors->message),
                "has more than %d passes", mostPasses);
  std::longjmp(errors->jump, 1);
}

/// Inks of zero are white here, as files of this kind have them.
static void inksToColors(std::vector<uint8_t> &pixels) {
  size_t out = 0;
  for (size_t i = 0; i + 3 < pixels.size(); i += 4)
    for (int c = 0; c < 3; ++c)
      pixels[out++] =
          static_cast<uint8_t>((pixels[i + c] * pixels[i + 3] + 127) / 255);
  pixels.resize(out);
}

/// Decodes; only trivial objects live between the jump's ends.
static bool decodeJpeg(StringRef bytes, Image &image, JpegErrors &errors) {
  jpeg_decompress_struct info;
  info.err = jpeg_std_error(&errors.manager);
  errors.manager.error_exit = jpegFailed;
  errors.manager.emit_message = jpegWarned;
  if (setjmp(errors.jump)) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_progress_mgr progress = {};
  progress.progress_monitor = countPasses;
  info.progress = &progress;
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char *>(bytes.data()),
               bytes.size());
  jpeg_read_header(&info, TRUE);
  bool inks =
      info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = inks ? JCS_CMYK : JCS_RGB;
  uint64_t total = static_cast<uint64_t>(info.image_width) * info.image_height;
  if (total > maxImagePixels) {
    std::snprintf(errors.message, sizeof(errors.message),
                  "has too many pixels");
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_start_decompress(&info);
  image.width = info.output_width;
  image.height = info.output_height;
  size_t stride = static_cast<size_t>(info.output_width) * (inks ? 4 : 3);
  image.pixels.resize(stride * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = image.pixels.data() + stride * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
  if (inks)
    inksToColors(image.pixels);
  return true;
}

/// An empty text if it worked.
static std::string decodePng(StringRef bytes, Image &image) {
  std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)> png(spng_ctx_new(0),
                                                          &spng_ctx_free);
  if (!png)
    return "not enough memory";
  spng_set_image_limits(png.get(), maxImageSide, maxImageSide);
  spng_ihdr header;
  size_t size = 0;
  int code = spng_set_png_buffer(png.get(), bytes.data(), bytes.size());
  if (!code)
    code = spng_get_ihdr(png.get(), &header);
  if (!code &&
      static_cast<uint64_t>(header.width) * header.height > maxImagePixels)
    return "has too many pixels";
  // What deflate can make of so many bytes at most.
  constexpr uint64_t mostBitsPerByte = 8 * 1032;
  if (!code &&
      static_cast<uint64_t>(header.width) * header.height * header.bit_depth >
          bytes.size() * mostBitsPerByte)
    return "is truncated";
  if (!code)
    code = spng_decoded_image_size(png.get(), SPNG_FMT_RGB8, &size);
  if (!code) {
    image.width = header.width;
    image.height = header.height;
    image.pixels.resize(size);
    code = spng_decode_image(png.get(), image.pixels.data(), size,
                             SPNG_FMT_RGB8, 0);
  }
  return code ? spng_strerror(code) : "";
}

/// An empty text if it worked. Of an animation, the error says so.
static std::string decodeWebp(StringRef bytes, Image &image) {
  const auto *data = reinterpret_cast<const uint8_t *>(bytes.data());
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(data, bytes.size(), &features) != VP8_STATUS_OK)
    return "is damaged";
  if (features.has_animation)
    return "is an animation";
  if (static_cast<uint64_t>(features.width) * features.height > maxImagePixels)
    return "has too many pixels";
  image.width = features.width;
  image.height = features.height;
  image.pixels.resize(static_cast<size_t>(features.width) * features.height *
                      3);
  if (!WebPDecodeRGBInto(data, bytes.size(), image.pixels.data(),
                         image.pixels.size(), features.width * 3))
    return "is damaged";
  return "";
}

Expected<Image> onnxquant::readImage(StringRef path) {
  auto fail = [&](const Twine &reason) {
    return createStringError(inconvertibleErrorCode(), path + ": " + reason);
  };
  auto file = openInput(path, FileLimits::image);
  if (!file)
    return fail(toString(file.takeError()));
  StringRef bytes = (*file)->getBuffer();
  Image image;
  using Decoder = std::string (*)(StringRef, Image &);
  auto decode = [&](StringRef kind, Decoder decoder) -> Expected<Image> {
    std::string message = decoder(bytes, image);
    if (!message.empty())
      return fail("is no readable " + kind + " image (" + message + ")");
    return std::move(image);
  };
  if (bytes.starts_with("\x89PNG"))
    return decode("PNG", decodePng);
  if (bytes.starts_with("RIFF") && bytes.substr(8).starts_with("WEBP"))
    return decode("WebP", decodeWebp);
  if (bytes.starts_with("BM"))
    return decode("BMP", decodeBmp);
  if (!bytes.starts_with("\xff\xd8"))
    return fail("is no JPEG, PNG, WebP or BMP image");
  JpegErrors errors;
  if (!decodeJpeg(bytes, image, errors))
    return fail("is no readable JPEG image (" + Twine(errors.message) + ")");
  return image;
}
