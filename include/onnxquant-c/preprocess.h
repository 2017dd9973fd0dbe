/* Preprocessing of images in a shared library of one's own, for
 * `--preprocess-plugin`. Plain C, no dependency.
 *
 * The library defines onnxq_register_preprocess, which is called once when the
 * library is loaded and adds one or more functions by name:
 *
 *   static int32_t mine(const onnxq_image *image, const int64_t *dims,
 *                       int32_t rank, float *output) { ... return 0; }
 *   void onnxq_register_preprocess(const onnxq_preprocess_registry *registry) {
 *     registry->add(registry->self, "mine", mine);
 *   }
 */
#ifndef ONNXQUANT_C_PREPROCESS_H
#define ONNXQUANT_C_PREPROCESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface; a registry states its own. */
#define ONNXQ_PREPROCESS_VERSION 1

/* Rows from the top; a pixel is red, green and blue. */
typedef struct onnxq_image {
  const uint8_t *pixels;
  int32_t width;
  int32_t height;
} onnxq_image;

/* Fills the tensor of one sample: `dims` are all known, row-major. Returns 0,
 * or another number if the image can't be used. */
typedef int32_t (*onnxq_preprocess_function)(const onnxq_image *image,
                                             const int64_t *dims, int32_t rank,
                                             float *output);

typedef struct onnxq_preprocess_registry {
  int32_t version;
  void *self;
  void (*add)(void *self, const char *name, onnxq_preprocess_function function);
} onnxq_preprocess_registry;

/* Defined by the plug-in. */
void onnxq_register_preprocess(const onnxq_preprocess_registry *registry);

#ifdef __cplusplus
}
#endif

#endif /* ONNXQUANT_C_PREPROCESS_H */
