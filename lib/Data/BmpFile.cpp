// BMP files to pixels: 1, 4 and 8 bits with a palette, 16, 24 and 32 bits by
// masks, rows from below or from above. Runs of equal pixels aren't read.
//
// Every offset and size of the file is checked against its end before it is
// used.

#include "OnnxQuant/Data/Image.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <optional>

using namespace llvm;
using namespace onnxquant;
using support::endian::read16le;
using support::endian::read32le;

namespace {

/// What the headers say.
struct Header {
  uint32_t pixels = 0, size = 0;
  int64_t width = 0, height = 0;
  bool isTopDown = false;
  uint16_t bits = 0;
  uint32_t compression = 0, colors = 0;
  /// Which bits of a pixel are red, green and blue.
  std::array<uint32_t, 3> masks = {};
};

/// Of the file's own header.
constexpr size_t fileHeader = 14;
/// The oldest header of the image, and the one that nearly all have.
constexpr uint32_t coreHeader = 12, infoHeader = 40;
enum Compression : uint32_t { Plain = 0, Masks = 3, MasksWithAlpha = 6 };

} // namespace

/// An empty text if it worked.
static std::string readHeader(StringRef bytes, Header &header) {
  if (bytes.size() < fileHeader + coreHeader)
    return "is truncated";
  const char *data = bytes.data();
  header.pixels = read32le(data + 10);
  header.size = read32le(data + fileHeader);
  if (header.size > bytes.size() - fileHeader)
    return "is truncated";
  if (header.size == coreHeader) {
    header.width = read16le(data + 18);
    header.height = read16le(data + 20);
    header.bits = read16le(data + 24);
    return "";
  }
  if (header.size < infoHeader)
    return "has a header of an unknown kind";
  header.width = static_cast<int32_t>(read32le(data + 18));
  header.height = static_cast<int32_t>(read32le(data + 22));
  header.isTopDown = header.height < 0;
  header.height = std::abs(header.height);
  header.bits = read16le(data + 28);
  header.compression = read32le(data + 30);
  header.colors = read32le(data + 46);
  bool hasMasks =
      header.compression == Masks || header.compression == MasksWithAlpha;
  if (header.compression != Plain && !hasMasks)
    return "is compressed, which is not supported";
  if (!hasMasks)
    return "";
  // They follow the header, or are its next fields.
  if (bytes.size() < fileHeader + infoHeader + 12)
    return "is truncated";
  for (size_t c = 0; c < 3; ++c)
    header.masks[c] = read32le(data + fileHeader + infoHeader + 4 * c);
  return "";
}

/// The bits of a mask as a number from 0 to 255.
static uint8_t channelOf(uint32_t pixel, uint32_t mask) {
  uint32_t most = mask >> countr_zero(mask);
  uint64_t value = (pixel & mask) >> countr_zero(mask);
  return static_cast<uint8_t>((value * 255 + most / 2) / most);
}

static std::string readPalette(StringRef bytes, const Header &header,
                               std::vector<std::array<uint8_t, 3>> &palette) {
  size_t entry = header.size == coreHeader ? 3 : 4;
  size_t count = size_t(1) << header.bits;
  if (header.colors > 0)
    count = std::min<size_t>(count, header.colors);
  size_t start = fileHeader + header.size;
  if (header.compression == Masks && header.size == infoHeader)
    start += 12;
  if (start > bytes.size() || (bytes.size() - start) / entry < count)
    return "is truncated";
  for (size_t i = 0; i < count; ++i) {
    const char *color = bytes.data() + start + i * entry;
    palette.push_back({static_cast<uint8_t>(color[2]),
                       static_cast<uint8_t>(color[1]),
                       static_cast<uint8_t>(color[0])});
  }
  return "";
}

/// Where a pixel of more than 8 bits has its colors.
static std::optional<std::array<uint32_t, 3>> masksOf(const Header &header) {
  if (header.compression != Plain) {
    for (uint32_t mask : header.masks)
      if (mask == 0 || !isShiftedMask_32(mask))
        return std::nullopt;
    return header.masks;
  }
  if (header.bits == 16)
    return std::array<uint32_t, 3>{0x7c00, 0x03e0, 0x001f};
  return std::array<uint32_t, 3>{0xff0000, 0x00ff00, 0x0000ff};
}

/// The bits of the pixel at a column.
static uint32_t pixelAt(const uint8_t *row, int64_t x, uint16_t bits) {
  switch (bits) {
  case 16:
    return read16le(row + 2 * x);
  case 24:
    return row[3 * x] | row[3 * x + 1] << 8 | row[3 * x + 2] << 16;
  case 32:
    return read32le(row + 4 * x);
  default: {
    // Several in a byte, the first in the highest bits.
    int64_t perByte = 8 / bits;
    unsigned shift = 8 - bits * (x % perByte + 1);
    return row[x / perByte] >> shift & ((1u << bits) - 1);
  }
  }
}

std::string onnxquant::decodeBmp(StringRef bytes, Image &image) {
  Header header;
  if (std::string problem = readHeader(bytes, header); !problem.empty())
    return problem;
  if (header.width <= 0 || header.height <= 0)
    return "has no pixels";
  if (header.width > maxImageSide || header.height > maxImageSide ||
      static_cast<uint64_t>(header.width) * header.height > maxImagePixels)
    return "has too many pixels";
  bool hasPalette = header.bits == 1 || header.bits == 4 || header.bits == 8;
  if (!hasPalette && header.bits != 16 && header.bits != 24 &&
      header.bits != 32)
    return "has " + std::to_string(header.bits) + " bits per pixel";
  std::vector<std::array<uint8_t, 3>> palette;
  std::optional<std::array<uint32_t, 3>> masks;
  if (hasPalette) {
    if (std::string problem = readPalette(bytes, header, palette);
        !problem.empty())
      return problem;
  } else if (!(masks = masksOf(header))) {
    return "has masks that are none";
  }
  // Rows take whole words of 4 bytes.
  uint64_t stride =
      (static_cast<uint64_t>(header.width) * header.bits + 31) / 32 * 4;
  if (header.pixels > bytes.size() || (bytes.size() - header.pixels) / stride <
                                          static_cast<uint64_t>(header.height))
    return "is truncated";
  image.width = header.width;
  image.height = header.height;
  image.channels = 3;
  image.pixels.resize(static_cast<size_t>(image.width * image.height * 3));
  const uint8_t *rows = bytes.bytes_begin() + header.pixels;
  for (int64_t y = 0; y < image.height; ++y) {
    int64_t from = header.isTopDown ? y : image.height - 1 - y;
    const uint8_t *row = rows + from * stride;
    uint8_t *out = image.pixels.data() + y * image.width * 3;
    for (int64_t x = 0; x < image.width; ++x, out += 3) {
      uint32_t pixel = pixelAt(row, x, header.bits);
      if (hasPalette && pixel >= palette.size())
        return "has a color that its palette doesn't have";
      for (size_t c = 0; c < 3; ++c)
        out[c] = hasPalette ? palette[pixel][c] : channelOf(pixel, (*masks)[c]);
    }
  }
  return "";
}
