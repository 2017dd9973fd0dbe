/* Running compiled models from C. See onnxquant-c/runtime.h. */

#include "onnxquant-c/runtime.h"
#include "Processor.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct onnxq_library {
  void *handle;
  const onnxq_model *model;
};

/* Fills the caller's error, if it wants one. */
static int32_t fail(onnxq_error *error, int32_t code, const char *format, ...) {
  if (error) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    error->code = code;
  }
  return code;
}

static int32_t done(onnxq_error *error) {
  if (error) {
    error->code = ONNXQ_OK;
    error->message[0] = 0;
  }
  return ONNXQ_OK;
}

/*--- Element types ---------------------------------------------------------*/

static const struct {
  size_t bytes;
  const char *name;
} types[] = {
    [ONNXQ_FLOAT] = {4, "float32"},
    [ONNXQ_UINT8] = {1, "uint8"},
    [ONNXQ_INT8] = {1, "int8"},
    [ONNXQ_UINT16] = {2, "uint16"},
    [ONNXQ_INT16] = {2, "int16"},
    [ONNXQ_INT32] = {4, "int32"},
    [ONNXQ_INT64] = {8, "int64"},
    [ONNXQ_BOOL] = {1, "bool"},
    [ONNXQ_FLOAT16] = {2, "float16"},
    [ONNXQ_DOUBLE] = {8, "float64"},
    [ONNXQ_UINT32] = {4, "uint32"},
    [ONNXQ_UINT64] = {8, "uint64"},
    [ONNXQ_BFLOAT16] = {2, "bfloat16"},
    [ONNXQ_FLOAT8E4M3FN] = {1, "float8e4m3fn"},
    [ONNXQ_FLOAT8E4M3FNUZ] = {1, "float8e4m3fnuz"},
    [ONNXQ_FLOAT8E5M2] = {1, "float8e5m2"},
    [ONNXQ_FLOAT8E5M2FNUZ] = {1, "float8e5m2fnuz"},
    [ONNXQ_UINT4] = {1, "uint4"},
    [ONNXQ_INT4] = {1, "int4"},
    [ONNXQ_FLOAT4E2M1] = {1, "float4e2m1"},
};

size_t onnxq_element_bytes(int32_t type) {
  if (type < 0 || (size_t)type >= sizeof(types) / sizeof(types[0]))
    return 0;
  return types[type].bytes;
}

const char *onnxq_type_name(int32_t type) {
  return onnxq_element_bytes(type) ? types[type].name : "no known type";
}

/*--- Libraries -------------------------------------------------------------*/

/* What the loader says, without the path that it begins with. */
static const char *loaderReason(const char *path) {
  const char *reason = dlerror();
  size_t length = strlen(path);
  if (!reason)
    return "unknown reason";
  if (strncmp(reason, path, length) == 0 && reason[length] == ':')
    reason += length + 1 + (reason[length + 1] == ' ');
  return reason;
}

/* Whether a file is an ELF file of this program's machine; the loader's own
 * words for another one would be that there is no such file. */
static int isForeign(const char *path) {
  static const unsigned machine =
#if defined(__x86_64__)
      62;
#elif defined(__aarch64__)
      183;
#elif defined(__riscv)
      243;
#else
      0;
#endif
  unsigned char head[20] = {0};
  FILE *file = fopen(path, "rb");
  size_t got = file ? fread(head, 1, sizeof(head), file) : 0;
  if (file)
    fclose(file);
  if (got != sizeof(head) || memcmp(head, "\177ELF", 4) != 0 || machine == 0)
    return 0;
  return head[18] + 256u * head[19] != machine;
}

int32_t onnxq_open(const char *path, onnxq_library **library,
                   onnxq_error *error) {
  if (!path || !library)
    return fail(error, ONNXQ_BAD_ARGUMENT, "expects a path and a library");
  *library = NULL;
  /* Without a folder the loader would look in its own ones. */
  char *whole = realpath(path, NULL);
  if (!whole)
    return fail(error, ONNXQ_BAD_LIBRARY, "%s: cannot be opened: %s", path,
                strerror(errno));
  if (!onnxq_is_file(whole)) {
    free(whole);
    return fail(error, ONNXQ_BAD_LIBRARY, "%s: cannot be opened: it is no file",
                path);
  }
  if (isForeign(whole)) {
    free(whole);
    return fail(error, ONNXQ_BAD_LIBRARY,
                "%s: cannot be loaded: it is for another machine", path);
  }
  /* Before any of its code runs: constructors would already fail. */
  char targets[4096], reason[ONNXQ_MESSAGE_BYTES];
  if (onnxq_read_note(whole, targets, sizeof(targets)) &&
      !onnxq_fits_processor(targets, reason, sizeof(reason))) {
    free(whole);
    return fail(error, ONNXQ_BAD_PROCESSOR,
                "%s: cannot be loaded: %s, which this processor doesn't have",
                path, reason);
  }
  void *handle = dlopen(whole, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    int32_t code = fail(error, ONNXQ_BAD_LIBRARY, "%s: cannot be loaded: %s",
                        path, loaderReason(whole));
    free(whole);
    return code;
  }
  free(whole);
  const onnxq_model *(*getModel)(void);
  /* ISO C has no cast from an object's pointer to a function's. */
  *(void **)&getModel = dlsym(handle, "onnxq_get_model");
  const onnxq_model *model = getModel ? getModel() : NULL;
  if (!model) {
    dlclose(handle);
    return fail(error, ONNXQ_BAD_LIBRARY,
                "%s: is no library of a compiled model", path);
  }
  if (model->abi_version != ONNXQ_ABI_VERSION) {
    int32_t version = model->abi_version;
    dlclose(handle);
    return fail(error, ONNXQ_BAD_VERSION,
                "%s: has interface version %d, but this program knows %d", path,
                (int)version, ONNXQ_ABI_VERSION);
  }
  *library = malloc(sizeof(**library));
  if (!*library) {
    dlclose(handle);
    return fail(error, ONNXQ_NO_MEMORY, "%s: not enough memory", path);
  }
  (*library)->handle = handle;
  (*library)->model = model;
  return done(error);
}

void onnxq_close(onnxq_library *library) {
  if (!library)
    return;
  dlclose(library->handle);
  free(library);
}

const onnxq_model *onnxq_get(const onnxq_library *library) {
  return library ? library->model : NULL;
}

static int32_t find(const onnxq_tensor_info *infos, int32_t count,
                    const char *name) {
  for (int32_t i = 0; name && i < count; ++i)
    if (strcmp(infos[i].name, name) == 0)
      return i;
  return -1;
}

int32_t onnxq_find_input(const onnxq_model *model, const char *name) {
  return model ? find(model->inputs, model->num_inputs, name) : -1;
}

int32_t onnxq_find_output(const onnxq_model *model, const char *name) {
  return model ? find(model->outputs, model->num_outputs, name) : -1;
}

/*--- Shapes ----------------------------------------------------------------*/

/* Bytes of a tensor; 0 and `*fits` false if they can't be counted. */
static size_t countBytes(int32_t type, int32_t rank, const int64_t *dims,
                         int *fits) {
  size_t bytes = onnxq_element_bytes(type);
  *fits = bytes != 0;
  for (int32_t i = 0; *fits && i < rank; ++i)
    *fits =
        dims[i] >= 0 && !__builtin_mul_overflow(bytes, (size_t)dims[i], &bytes);
  return *fits ? bytes : 0;
}

static void printShape(char *text, size_t room, int32_t rank,
                       const int64_t *dims) {
  size_t used = (size_t)snprintf(text, room, "[");
  for (int32_t i = 0; i < rank && used < room; ++i) {
    const char *comma = i ? ", " : "";
    used +=
        (size_t)(dims[i] < 0 ? snprintf(text + used, room - used, "%s?", comma)
                             : snprintf(text + used, room - used, "%s%lld",
                                        comma, (long long)dims[i]));
  }
  if (used < room)
    snprintf(text + used, room - used, "]");
}

int32_t onnxq_check_input(const onnxq_model *model, int32_t index,
                          const onnxq_tensor *tensor, onnxq_error *error) {
  if (!model || !tensor || index < 0 || index >= model->num_inputs)
    return fail(error, ONNXQ_BAD_ARGUMENT, "expects an input of a model");
  const onnxq_tensor_info *info = &model->inputs[index];
  if (info->type != tensor->type)
    return fail(error, ONNXQ_BAD_INPUT,
                "input '%s' expects elements of %s, but got %s", info->name,
                onnxq_type_name(info->type), onnxq_type_name(tensor->type));
  int same = tensor->rank == info->rank && tensor->rank <= ONNXQ_MAX_RANK;
  for (int32_t i = 0; same && i < info->rank; ++i)
    same = tensor->dims[i] >= 0 &&
           (info->dims[i] < 0 || info->dims[i] == tensor->dims[i]);
  if (!same) {
    char expected[160], given[160];
    int32_t rank =
        tensor->rank < 0 || tensor->rank > ONNXQ_MAX_RANK ? 0 : tensor->rank;
    printShape(expected, sizeof(expected), info->rank, info->dims);
    printShape(given, sizeof(given), rank, tensor->dims);
    return fail(error, ONNXQ_BAD_INPUT,
                "input '%s' expects shape %s, but got %s", info->name, expected,
                given);
  }
  int fits;
  size_t bytes = countBytes(tensor->type, tensor->rank, tensor->dims, &fits);
  if (!fits || bytes != tensor->bytes)
    return fail(error, ONNXQ_BAD_INPUT,
                "input '%s' expects %zu bytes, but got %zu", info->name, bytes,
                tensor->bytes);
  if (bytes && !tensor->data)
    return fail(error, ONNXQ_BAD_INPUT, "input '%s' has no data", info->name);
  return ONNXQ_OK;
}

/*--- Runs ------------------------------------------------------------------*/

/* Memory at the start of a cache line, for free(): vectors that begin elsewhere
 * lie in two lines each. */
static void *allocateLines(size_t bytes) {
  if (bytes > SIZE_MAX - ONNXQ_WORKSPACE_ALIGNMENT)
    return NULL;
  /* The C standard asks for a multiple of the alignment. */
  size_t lines = bytes / ONNXQ_WORKSPACE_ALIGNMENT + 1;
  return aligned_alloc(ONNXQ_WORKSPACE_ALIGNMENT,
                       lines * ONNXQ_WORKSPACE_ALIGNMENT);
}

void *onnxq_make_workspace(const onnxq_model *model) {
  return allocateLines(
      model->workspace_bytes > 0 ? (size_t)model->workspace_bytes : 0);
}

void onnxq_free_workspace(void *workspace) { free(workspace); }

void onnxq_release(onnxq_tensor *tensor) {
  if (!tensor || !tensor->owned)
    return;
  free(tensor->data);
  tensor->data = NULL;
  tensor->bytes = 0;
  tensor->owned = 0;
}

/* Where the run writes an output. Of open size it allocates itself, so that the
 * room can be checked. */
static int32_t prepareOutput(const onnxq_tensor_info *info,
                             onnxq_tensor *tensor, onnxq_buffer *buffer,
                             onnxq_error *error) {
  int isStatic = 1, fits;
  if (info->rank > ONNXQ_MAX_RANK)
    return fail(error, ONNXQ_BAD_ARGUMENT, "output '%s' has %d dimensions",
                info->name, (int)info->rank);
  tensor->owned = 0;
  tensor->type = info->type;
  tensor->rank = info->rank;
  for (int32_t i = 0; i < info->rank; ++i) {
    tensor->dims[i] = info->dims[i];
    isStatic &= info->dims[i] >= 0;
  }
  buffer->dims = tensor->dims;
  buffer->data = NULL;
  if (!isStatic)
    return ONNXQ_OK;
  size_t bytes = countBytes(info->type, info->rank, info->dims, &fits);
  if (tensor->data) {
    if (!fits || tensor->bytes < bytes)
      return fail(error, ONNXQ_BAD_ARGUMENT,
                  "output '%s' needs %zu bytes, but got room for %zu",
                  info->name, bytes, tensor->bytes);
  } else {
    tensor->data = fits ? allocateLines(bytes) : NULL;
    if (!tensor->data)
      return fail(error, ONNXQ_NO_MEMORY,
                  "output '%s': not enough memory for %zu bytes", info->name,
                  bytes);
    tensor->owned = 1;
  }
  tensor->bytes = bytes;
  buffer->data = tensor->data;
  return ONNXQ_OK;
}

/* Gives the caller what the run allocated. */
static int32_t takeOutput(const onnxq_tensor_info *info, onnxq_tensor *tensor,
                          onnxq_buffer *buffer, onnxq_error *error) {
  if (buffer->data == tensor->data)
    return ONNXQ_OK;
  int fits;
  size_t bytes = countBytes(info->type, info->rank, tensor->dims, &fits);
  if (!tensor->data) {
    tensor->data = buffer->data;
    tensor->owned = 1;
  } else if (tensor->bytes >= bytes) {
    memcpy(tensor->data, buffer->data, bytes);
    free(buffer->data);
  } else {
    return fail(error, ONNXQ_BAD_ARGUMENT,
                "output '%s' needs %zu bytes, but got room for %zu", info->name,
                bytes, tensor->bytes);
  }
  buffer->data = tensor->data;
  tensor->bytes = bytes;
  return ONNXQ_OK;
}

/* A run with all memory there. */
static int32_t runChecked(const onnxq_model *model, void *workspace,
                          const onnxq_tensor *inputs, onnxq_tensor *outputs,
                          onnxq_buffer *in, onnxq_buffer *out,
                          onnxq_error *error) {
  for (int32_t i = 0; i < model->num_inputs; ++i) {
    in[i].data = inputs[i].data;
    in[i].dims = (int64_t *)inputs[i].dims;
  }
  for (int32_t i = 0; i < model->num_outputs; ++i) {
    int32_t code =
        prepareOutput(&model->outputs[i], &outputs[i], &out[i], error);
    if (code != ONNXQ_OK)
      return code;
  }
  const char *message = NULL;
  int32_t code = model->run(in, out, workspace, &message);
  if (code != ONNXQ_OK)
    return fail(error, ONNXQ_RUN_FAILED, "%s",
                message ? message : "the run failed");
  for (int32_t i = 0; i < model->num_outputs; ++i) {
    code = takeOutput(&model->outputs[i], &outputs[i], &out[i], error);
    if (code != ONNXQ_OK)
      return code;
  }
  return done(error);
}

int32_t onnxq_run(const onnxq_model *model, void *workspace,
                  const onnxq_tensor *inputs, int32_t num_inputs,
                  onnxq_tensor *outputs, int32_t num_outputs,
                  onnxq_error *error) {
  if (!model || (num_inputs && !inputs) || (num_outputs && !outputs))
    return fail(error, ONNXQ_BAD_ARGUMENT,
                "expects a model, inputs and outputs");
  if (model->abi_version != ONNXQ_ABI_VERSION)
    return fail(error, ONNXQ_BAD_VERSION,
                "the model has interface version %d, but this program knows %d",
                (int)model->abi_version, ONNXQ_ABI_VERSION);
  if (num_inputs != model->num_inputs)
    return fail(error, ONNXQ_BAD_INPUT, "the model has %d inputs, but got %d",
                (int)model->num_inputs, (int)num_inputs);
  if (num_outputs != model->num_outputs)
    return fail(error, ONNXQ_BAD_ARGUMENT,
                "the model has %d outputs, but got %d", (int)model->num_outputs,
                (int)num_outputs);
  for (int32_t i = 0; i < num_outputs; ++i)
    onnxq_release(&outputs[i]);
  for (int32_t i = 0; i < num_inputs; ++i) {
    int32_t code = onnxq_check_input(model, i, &inputs[i], error);
    if (code != ONNXQ_OK)
      return code;
  }
  void *own = workspace ? NULL : onnxq_make_workspace(model);
  onnxq_buffer *buffers =
      calloc((size_t)num_inputs + (size_t)num_outputs + 1, sizeof(*buffers));
  int32_t code;
  if ((!workspace && !own) || !buffers) {
    code = fail(error, ONNXQ_NO_MEMORY,
                "not enough memory for a workspace of %lld bytes",
                (long long)model->workspace_bytes);
  } else {
    onnxq_buffer *out = buffers + num_inputs;
    code = runChecked(model, workspace ? workspace : own, inputs, outputs,
                      buffers, out, error);
    if (code != ONNXQ_OK)
      for (int32_t i = 0; i < num_outputs; ++i) {
        if (out[i].data != outputs[i].data)
          free(out[i].data);
        onnxq_release(&outputs[i]);
      }
  }
  free(buffers);
  free(own);
  return code;
}
