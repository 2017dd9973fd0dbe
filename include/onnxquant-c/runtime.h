/* Running compiled models from C: load a library, ask what it takes, run it.
 *
 * Everything that can go wrong comes back as a code, with a message in an
 * onnxq_error if one is given (NULL is allowed). No function keeps state of its
 * own: all of them may be called from several threads at once, on the same
 * library too. A library must not be closed while it runs.
 *
 *   onnxq_error error;
 *   onnxq_library *library;
 *   if (onnxq_open("model.so", &library, &error) != ONNXQ_OK)
 *     return fail(error.message);
 *   const onnxq_model *model = onnxq_get(library);
 *   onnxq_tensor x = {0}, y = {0};
 *   x.type = ONNXQ_FLOAT, x.rank = 2, x.dims[0] = 1, x.dims[1] = 4;
 *   x.data = values, x.bytes = sizeof(values);
 *   if (onnxq_run(model, NULL, &x, 1, &y, 1, &error) != ONNXQ_OK)
 *     return fail(error.message);
 *   use(y.data, y.dims);
 *   onnxq_release(&y);
 *   onnxq_close(library);
 *
 * A model that is linked in (NAME.o with NAME.h) runs the same way: give
 * onnxq_run the address of NAME_model.
 */
#ifndef ONNXQUANT_C_RUNTIME_H
#define ONNXQUANT_C_RUNTIME_H

#include "model.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONNXQ_MAX_RANK 64
#define ONNXQ_MESSAGE_BYTES 512

/* What functions return beside ONNXQ_OK and ONNXQ_RUN_FAILED. */
enum {
  /* A pointer is NULL that must not be, or an output has too little room. */
  ONNXQ_BAD_ARGUMENT = 2,
  /* An input is missing, or has another type or shape than the model's. */
  ONNXQ_BAD_INPUT = 3,
  /* The file isn't there, or is no library of a compiled model. */
  ONNXQ_BAD_LIBRARY = 4,
  /* The library was compiled for another version of the interface. */
  ONNXQ_BAD_VERSION = 5,
  ONNXQ_NO_MEMORY = 6,
  /* The library needs features that this processor doesn't have. */
  ONNXQ_BAD_PROCESSOR = 7
};

typedef struct onnxq_error {
  int32_t code;
  /* One line that names the file, the input or the node; always ends with 0. */
  char message[ONNXQ_MESSAGE_BYTES];
} onnxq_error;

typedef struct onnxq_library onnxq_library;

/* A dense tensor in row-major order. Begin with zeros in all fields. */
typedef struct onnxq_tensor {
  void *data;
  /* Input: the bytes at `data`, as many as type and shape make. Output: the
   * bytes that there is room for at `data`; after the run, those written. */
  size_t bytes;
  int32_t type;
  int32_t rank;
  int64_t dims[ONNXQ_MAX_RANK];
  /* Whether onnxq_release frees `data`. */
  int32_t owned;
} onnxq_tensor;

/* Loads a shared library made by `onnxq compile`. That this processor has what
 * the library needs is found out before any of its code runs. */
int32_t onnxq_open(const char *path, onnxq_library **library,
                   onnxq_error *error);
/* Unloads it; NULL is allowed. */
void onnxq_close(onnxq_library *library);
/* What the library runs: names, types and shapes of inputs and outputs. Valid
 * until the library is closed. */
const onnxq_model *onnxq_get(const onnxq_library *library);

/* What a library was compiled for, as onnxq_model's `targets` says it, without
 * loading it; ONNXQ_BAD_LIBRARY if the file doesn't say. */
int32_t onnxq_read_targets(const char *path, char *text, size_t room);
/* How many of these features, with spaces between, this processor doesn't have.
 * They are listed in `missing`, which may be NULL. */
int32_t onnxq_missing_features(const char *names, char *missing, size_t room);

/* The position of an input or output by its name, -1 if there is none. */
int32_t onnxq_find_input(const onnxq_model *model, const char *name);
int32_t onnxq_find_output(const onnxq_model *model, const char *name);
/* Bytes of an element, 0 for a type that models don't have. */
size_t onnxq_element_bytes(int32_t type);
/* Such as "float32". */
const char *onnxq_type_name(int32_t type);

/* Whether a tensor can be input `index`: type, rank, sizes and bytes. */
int32_t onnxq_check_input(const onnxq_model *model, int32_t index,
                          const onnxq_tensor *tensor, onnxq_error *error);

/* Runs a model once. `workspace` has model->workspace_bytes at a multiple of
 * ONNXQ_WORKSPACE_ALIGNMENT; with NULL the run allocates one for itself. Inputs
 * are checked. An output whose `data` is NULL is allocated and must be given to
 * onnxq_release; one with `data` needs `bytes` enough. After a failure no
 * output is owned. */
int32_t onnxq_run(const onnxq_model *model, void *workspace,
                  const onnxq_tensor *inputs, int32_t num_inputs,
                  onnxq_tensor *outputs, int32_t num_outputs,
                  onnxq_error *error);
/* Frees the data of an output that a run allocated. */
void onnxq_release(onnxq_tensor *tensor);

/* A workspace for runs of the model, to be freed with onnxq_free_workspace;
 * NULL if there is not enough memory. */
void *onnxq_make_workspace(const onnxq_model *model);
void onnxq_free_workspace(void *workspace);

#ifdef __cplusplus
}
#endif

#endif /* ONNXQUANT_C_RUNTIME_H */
