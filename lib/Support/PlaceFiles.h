// Puts finished files into place together.

#ifndef ONNXQUANT_LIB_SUPPORT_PLACEFILES_H
#define ONNXQUANT_LIB_SUPPORT_PLACEFILES_H

#include <string>
#include <system_error>
#include <vector>

namespace onnxquant {

/// A file that was written, and where it goes.
struct Placement {
  /// An open file without a name, or -1.
  int fd;
  /// Its name until it is in place, and one for what it replaces.
  std::string temporary, backup;
  std::string path;
};

/// Which file could not be placed, and why.
struct PlaceResult {
  std::error_code code;
  size_t index = 0;
};

/// Places all files, or none; leaves no temporary names. The steps are done by
/// a process of their own: what ends this one doesn't leave them half done.
PlaceResult placeFiles(const std::vector<Placement> &placements);

} // namespace onnxquant

#endif // ONNXQUANT_LIB_SUPPORT_PLACEFILES_H
