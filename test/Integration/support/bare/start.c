/* Runs a compiled model on Linux of RISC-V or Xtensa without a C library:
 * inputs from standard input, one after the other, outputs to standard output.
 * Compiled with -DMODEL=NAME_model. Xtensa's calls of the system are in
 * start_xtensa.s. */

#include "onnxquant-c/model.h"
#include <stddef.h>

extern const onnxq_model MODEL;

enum { mostEnds = 16 };
#ifdef __XTENSA__
enum { readCall = 12, writeCall = 13, exitCall = 118 };
long systemCall(long number, long a, long b, long c);
#else
enum { readCall = 63, writeCall = 64, exitCall = 93 };
#endif
static _Alignas(64) char memory[64 << 20];
static size_t used;

#ifndef __XTENSA__
static long systemCall(long number, long a, long b, long c) {
  register long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
  return a0;
}
#endif

static void leave(int code) {
  for (;;)
    systemCall(exitCall, code, 0, 0);
}

void *memcpy(void *to, const void *from, size_t count) {
  for (size_t i = 0; i < count; ++i)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memmove(void *to, const void *from, size_t count) {
  if ((char *)to <= (const char *)from)
    return memcpy(to, from, count);
  for (size_t i = count; i-- > 0;)
    ((volatile char *)to)[i] = ((const char *)from)[i];
  return to;
}

void *memset(void *to, int value, size_t count) {
  for (size_t i = 0; i < count; ++i)
    ((volatile char *)to)[i] = (char)value;
  return to;
}

static size_t bytesOf(const onnxq_tensor_info *info) {
  size_t bytes = 0;
  switch (info->type) {
  case ONNXQ_INT8:
  case ONNXQ_BOOL:
    bytes = 1;
    break;
  case ONNXQ_INT16:
    bytes = 2;
    break;
  case ONNXQ_FLOAT:
  case ONNXQ_INT32:
    bytes = 4;
    break;
  case ONNXQ_INT64:
    bytes = 8;
    break;
  }
  for (int32_t i = 0; i < info->rank; ++i)
    bytes *= (size_t)info->dims[i];
  return bytes;
}

/* A place with zeros behind it. */
static char *take(size_t bytes) {
  size_t whole = (bytes + 63) / 64 * 64 + 64;
  if (bytes > sizeof(memory) || used + whole > sizeof(memory))
    leave(3);
  char *place = memory + used;
  used += whole;
  return place;
}

static void transfer(long call, int file, char *data, size_t bytes) {
  while (bytes > 0) {
    long done = systemCall(call, file, (long)data, (long)bytes);
    if (done <= 0)
      leave(4);
    data += done;
    bytes -= (size_t)done;
  }
}

static int main(void) {
  onnxq_buffer inputs[mostEnds] = {{0, 0}}, outputs[mostEnds] = {{0, 0}};
  if (MODEL.abi_version != ONNXQ_ABI_VERSION || MODEL.num_inputs > mostEnds ||
      MODEL.num_outputs > mostEnds)
    return 5;
  for (int32_t i = 0; i < MODEL.num_inputs; ++i) {
    size_t bytes = bytesOf(&MODEL.inputs[i]);
    inputs[i].data = take(bytes);
    transfer(readCall, 0, inputs[i].data, bytes);
  }
  for (int32_t i = 0; i < MODEL.num_outputs; ++i)
    outputs[i].data = take(bytesOf(&MODEL.outputs[i]));
  char *workspace = take((size_t)MODEL.workspace_bytes);
  const char *error = 0;
  if (MODEL.workspace_bytes > 0 &&
      MODEL.run(inputs, outputs, 0, &error) != ONNXQ_RUN_FAILED)
    return 6;
  if (MODEL.run(inputs, outputs, workspace, &error) != ONNXQ_OK)
    return 7;
  /* A run writes nothing behind its workspace. */
  char *end = workspace + MODEL.workspace_bytes;
  for (char *place = end; place < memory + used; ++place)
    if (*place)
      return 8;
  for (int32_t i = 0; i < MODEL.num_outputs; ++i)
    transfer(writeCall, 1, outputs[i].data, bytesOf(&MODEL.outputs[i]));
  return 0;
}

__attribute__((used)) void begin(void) { leave(main()); }

#ifndef __XTENSA__
__asm__(".globl _start\n_start:\n  andi sp, sp, -16\n  tail begin\n");
#endif
