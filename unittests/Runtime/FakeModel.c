/* A library as `onnxq compile` makes them, written by hand.
 *
 * Inputs: x, float32 [2, 3]; n, int64 [?]. Outputs: s, x times two, float32
 * [2, 3]; t, n reversed, int64 [?]. A negative element of n is an error. Runs
 * go through the workspace, so that two runs that share one are noticed. */

#include "onnxquant-c/model.h"
#include <stdlib.h>
#include <string.h>

#ifndef FAKE_VERSION
#define FAKE_VERSION ONNXQ_ABI_VERSION
#endif

static int32_t run(const onnxq_buffer *inputs, onnxq_buffer *outputs,
                   void *workspace, const char **error) {
  const float *x = inputs[0].data;
  const int64_t *n = inputs[1].data;
  int64_t count = inputs[1].dims[0];
  float *scratch = workspace;
  for (int round = 0; round < 100; ++round)
    for (int i = 0; i < 6; ++i)
      scratch[i] = x[i] * 2;
  for (int64_t i = 0; i < count; ++i)
    if (n[i] < 0) {
      *error = "node 'reverse': expects no negative element";
      return ONNXQ_RUN_FAILED;
    }
  memcpy(outputs[0].data, scratch, 6 * sizeof(float));
  if (!outputs[1].data)
    outputs[1].data = malloc((size_t)count * sizeof(int64_t) + 1);
  int64_t *t = outputs[1].data;
  for (int64_t i = 0; i < count; ++i)
    t[i] = n[count - 1 - i];
  outputs[1].dims[0] = count;
  return ONNXQ_OK;
}

static const int64_t matrix[] = {2, 3}, open[] = {-1};
static const onnxq_tensor_info inputs[] = {{"x", ONNXQ_FLOAT, 2, matrix},
                                           {"n", ONNXQ_INT64, 1, open}};
static const onnxq_tensor_info outputs[] = {{"s", ONNXQ_FLOAT, 2, matrix},
                                            {"t", ONNXQ_INT64, 1, open}};
static const onnxq_model model = {FAKE_VERSION, 2,       2,   0,  "fake",
                                  inputs,       outputs, 256, run};

#ifndef FAKE_NO_GETTER
const onnxq_model *onnxq_get_model(void);
const onnxq_model *onnxq_get_model(void) { return &model; }
#else
const onnxq_model *fake_other(void);
const onnxq_model *fake_other(void) { return &model; }
#endif
