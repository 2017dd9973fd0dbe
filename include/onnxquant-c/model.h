/* The interface of compiled models: what an object or a shared library made by
 * `onnxq compile` defines. Plain C, no dependency.
 *
 * A model named NAME defines
 *   extern const onnxq_model NAME_model;
 *   int32_t NAME_run(const onnxq_buffer *inputs, onnxq_buffer *outputs,
 *                    void *workspace, const char **error);
 * and a shared library also
 *   const onnxq_model *onnxq_get_model(void);
 *
 * Runs are independent of each other: a model may run in several threads at
 * once, each with a workspace of its own.
 */
#ifndef ONNXQUANT_C_MODEL_H
#define ONNXQUANT_C_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONNXQ_ABI_VERSION 1
/* The workspace must begin at a multiple of this. */
#define ONNXQ_WORKSPACE_ALIGNMENT 64

/* Element types, numbered as in ONNX. 4-bit elements take a byte each, booleans
 * a byte of 0 or 1. */
enum {
  ONNXQ_FLOAT = 1,
  ONNXQ_UINT8 = 2,
  ONNXQ_INT8 = 3,
  ONNXQ_UINT16 = 4,
  ONNXQ_INT16 = 5,
  ONNXQ_INT32 = 6,
  ONNXQ_INT64 = 7,
  ONNXQ_BOOL = 9,
  ONNXQ_FLOAT16 = 10,
  ONNXQ_DOUBLE = 11,
  ONNXQ_UINT32 = 12,
  ONNXQ_UINT64 = 13,
  ONNXQ_BFLOAT16 = 16,
  ONNXQ_FLOAT8E4M3FN = 17,
  ONNXQ_FLOAT8E4M3FNUZ = 18,
  ONNXQ_FLOAT8E5M2 = 19,
  ONNXQ_FLOAT8E5M2FNUZ = 20,
  ONNXQ_UINT4 = 21,
  ONNXQ_INT4 = 22,
  ONNXQ_FLOAT4E2M1 = 23
};

/* What a run returns. */
enum { ONNXQ_OK = 0, ONNXQ_RUN_FAILED = 1 };

/* A dense tensor in row-major order. */
typedef struct onnxq_buffer {
  /* Output of a size known only at run time: NULL lets the run allocate
   * it, and the caller frees it with free. Other outputs must be given. */
  void *data;
  /* As many as the tensor has dimensions. Output: written by the run; may be
   * NULL if all of them are known from the model. */
  int64_t *dims;
} onnxq_buffer;

typedef struct onnxq_tensor_info {
  const char *name;
  int32_t type;
  int32_t rank;
  /* -1 where the size is known at run time only. */
  const int64_t *dims;
} onnxq_tensor_info;

/* Runs the model once. Inputs must have the types, ranks and known sizes that
 * the model states. On failure `*error` is a message that stays valid. */
typedef int32_t (*onnxq_run_function)(const onnxq_buffer *inputs,
                                      onnxq_buffer *outputs, void *workspace,
                                      const char **error);

typedef struct onnxq_model {
  int32_t abi_version;
  int32_t num_inputs;
  int32_t num_outputs;
  /* Bytes of this structure; 0 if it ends with `run`. */
  int32_t size;
  const char *name;
  const onnxq_tensor_info *inputs;
  const onnxq_tensor_info *outputs;
  /* Bytes that a run needs; 0 if none. */
  int64_t workspace_bytes;
  onnxq_run_function run;
  /* What the code is for: a line for each variant, the best first, with its
   * name, a tab, and the features that it needs beyond what every processor of
   * its architecture has, such as "x86-64-v3\tavx2 bmi fma\n". A run chooses
   * the first that the processor has, and fails if there is none. */
  const char *targets;
} onnxq_model;

/* How long the parts of a model took in all runs so far: what the symbol
 * `onnxq_profile` is in a library that was compiled to be measured. */
typedef struct onnxq_profile_data {
  int64_t count;
  /* The node's name, a tab, and the kind of code. */
  const char *const *texts;
  /* Nanoseconds, and how often it ran; may be set to 0. */
  int64_t *nanoseconds;
  int64_t *calls;
} onnxq_profile_data;

#ifdef __cplusplus
}
#endif

#endif /* ONNXQUANT_C_MODEL_H */
