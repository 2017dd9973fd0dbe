/* A preprocessing of one's own: the middle of the image, pixels to [-1, 1].
 *
 *   cc -shared -fPIC -I include -o libcenter.so center.c
 *   onnxq calibrate model.onnx --data images --preprocess-plugin ./libcenter.so
 *       --preprocess center -o table.json
 *
 * For inputs of the form [1, 3, height, width].
 */
#include "onnxquant-c/preprocess.h"

static int32_t center(const onnxq_image *image, const int64_t *dims,
                      int32_t rank, float *output) {
  if (rank != 4 || dims[0] != 1 || dims[1] != 3)
    return 1;
  int64_t height = dims[2], width = dims[3];
  if (image->width < width || image->height < height)
    return 2;
  int64_t left = (image->width - width) / 2;
  int64_t top = (image->height - height) / 2;
  for (int64_t c = 0; c < 3; ++c)
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        int64_t pixel = (top + y) * image->width + left + x;
        *output++ = image->pixels[3 * pixel + c] / 127.5f - 1.0f;
      }
  return 0;
}

void onnxq_register_preprocess(const onnxq_preprocess_registry *registry) {
  registry->add(registry->self, "center", center);
}
