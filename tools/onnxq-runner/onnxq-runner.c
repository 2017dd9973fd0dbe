/* Runs a compiled library in a process of its own.
 *
 *   onnxq-runner run LIBRARY INPUTS OUTPUTS
 *   onnxq-runner bench LIBRARY INPUTS SECONDS
 *   onnxq-runner serve LIBRARY INPUTS OUTPUTS
 *   onnxq-runner profile LIBRARY INPUTS SECONDS
 *
 * INPUTS and OUTPUTS hold tensors one after the other, in the machine's byte
 * order: type and rank as 32 bits, the sizes and the number of bytes as 64 bits
 * each, the bytes. `bench` prints the milliseconds of loading, the peak of
 * resident memory in KiB, and the milliseconds of every run. `serve` runs once,
 * prints the milliseconds of loading and of that run, and then answers every
 * number on standard input with a line of so many times, after the peak of
 * memory: blocks of runs that a caller alternates with those of others.
 * `profile` prints the cycles of a nanosecond, the number of runs, and for each
 * part of a library that was compiled to be measured a line with the
 * nanoseconds and calls of all runs and its text. */

#include "onnxquant-c/runtime.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { mostRuns = 10 * 1000 * 1000 };

static onnxq_error error;

/* The library's own code crashed: said in words, as the failure of a run. */
static const char *libraryPath = "the library";

static void onFault(int number) {
  const char *parts[] = {
      "error: ", libraryPath, ": its code stopped by ",
      number == SIGILL
          ? "an instruction that this processor doesn't have (SIGILL)"
      : number == SIGFPE  ? "a division by zero (SIGFPE)"
      : number == SIGABRT ? "a check that failed (SIGABRT)"
                          : "an access to memory that isn't there (SIGSEGV)",
      "; please report it to OnnxQuant's maintainers with the model\n"};
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i)
    if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
      break;
  _exit(1);
}

static void handleFaults(void) {
  static char stack[1 << 16];
  static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  stack_t own = {.ss_sp = stack, .ss_size = sizeof(stack)};
  sigaltstack(&own, NULL);
  struct sigaction action = {.sa_handler = onFault, .sa_flags = SA_ONSTACK};
  for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); ++i)
    sigaction(numbers[i], &action, NULL);
}

static int complain(const char *message) {
  fprintf(stderr, "error: %s\n", message);
  return 1;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

/* Reads one tensor; 0 if it can't be read. */
static int readTensor(FILE *file, onnxq_tensor *tensor) {
  int32_t head[2];
  int64_t bytes;
  memset(tensor, 0, sizeof(*tensor));
  if (fread(head, sizeof(head), 1, file) != 1 || head[1] < 0 ||
      head[1] > ONNXQ_MAX_RANK)
    return 0;
  tensor->type = head[0];
  tensor->rank = head[1];
  if (fread(tensor->dims, 8, (size_t)head[1], file) != (size_t)head[1] ||
      fread(&bytes, 8, 1, file) != 1 || bytes < 0)
    return 0;
  tensor->bytes = (size_t)bytes;
  /* At the start of a cache line, as programs that want speed give it. */
  size_t lines = tensor->bytes / ONNXQ_WORKSPACE_ALIGNMENT + 1;
  tensor->data = aligned_alloc(ONNXQ_WORKSPACE_ALIGNMENT,
                               lines * ONNXQ_WORKSPACE_ALIGNMENT);
  return tensor->data &&
         fread(tensor->data, 1, tensor->bytes, file) == tensor->bytes;
}

static int writeTensor(FILE *file, const onnxq_tensor *tensor) {
  int32_t head[2] = {tensor->type, tensor->rank};
  int64_t bytes = (int64_t)tensor->bytes;
  return fwrite(head, sizeof(head), 1, file) == 1 &&
         fwrite(tensor->dims, 8, (size_t)tensor->rank, file) ==
             (size_t)tensor->rank &&
         fwrite(&bytes, 8, 1, file) == 1 &&
         fwrite(tensor->data, 1, tensor->bytes, file) == tensor->bytes;
}

/* The peak of this program alone: the kernel's other figure begins with that of
 * whoever started it. */
static long peakKiB(void) {
  char line[256];
  long peak = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof(line), status))
    if (sscanf(line, "VmHWM: %ld", &peak) == 1)
      break;
  if (status)
    fclose(status);
  if (peak == 0) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    peak = usage.ru_maxrss;
  }
  return peak;
}

static int runOnce(const onnxq_model *model, const onnxq_tensor *inputs,
                   onnxq_tensor *outputs, const char *path) {
  if (onnxq_run(model, NULL, inputs, model->num_inputs, outputs,
                model->num_outputs, &error) != ONNXQ_OK)
    return complain(error.message);
  FILE *file = fopen(path, "wb");
  int written = file != NULL;
  for (int32_t i = 0; written && i < model->num_outputs; ++i)
    written = writeTensor(file, &outputs[i]);
  if (file && fclose(file) != 0)
    written = 0;
  return written ? 0 : complain("the outputs can't be written");
}

/* Runs for so many seconds, at least three times after a first one that fills
 * the caches. */
static int bench(const onnxq_model *model, const onnxq_tensor *inputs,
                 onnxq_tensor *outputs, double seconds, double loading) {
  size_t count = 0, room = 1024;
  double *times = malloc(room * sizeof(*times));
  void *workspace = onnxq_make_workspace(model);
  if (!times || !workspace)
    return complain("not enough memory");
  double end = 0;
  for (int first = 1;
       first || count < 3 || (now() < end && count < (size_t)mostRuns);
       first = 0) {
    double start = now();
    if (onnxq_run(model, workspace, inputs, model->num_inputs, outputs,
                  model->num_outputs, &error) != ONNXQ_OK)
      return complain(error.message);
    double took = now() - start;
    for (int32_t i = 0; i < model->num_outputs; ++i)
      onnxq_release(&outputs[i]);
    if (first) {
      end = now() + seconds * 1e3;
      continue;
    }
    if (count == room) {
      room *= 2;
      double *more = realloc(times, room * sizeof(*times));
      if (!more)
        return complain("not enough memory");
      times = more;
    }
    times[count++] = took;
  }
  printf("%.6f\n%ld\n", loading, peakKiB());
  for (size_t i = 0; i < count; ++i)
    printf("%.6f\n", times[i]);
  free(times);
  onnxq_free_workspace(workspace);
  return 0;
}

/* Runs as often as standard input asks for, until it ends. */
static int serve(const onnxq_model *model, const onnxq_tensor *inputs,
                 onnxq_tensor *outputs, const char *path, double loading) {
  double start = now();
  if (runOnce(model, inputs, outputs, path) != 0)
    return 1;
  printf("%.6f %.6f\n", loading, now() - start);
  fflush(stdout);
  void *workspace = onnxq_make_workspace(model);
  if (!workspace)
    return complain("not enough memory");
  long count;
  while (scanf("%ld", &count) == 1 && count > 0 && count <= mostRuns) {
    double *times = malloc((size_t)count * sizeof(*times));
    if (!times)
      return complain("not enough memory");
    for (long run = 0; run < count; ++run) {
      for (int32_t i = 0; i < model->num_outputs; ++i)
        onnxq_release(&outputs[i]);
      start = now();
      if (onnxq_run(model, workspace, inputs, model->num_inputs, outputs,
                    model->num_outputs, &error) != ONNXQ_OK)
        return complain(error.message);
      times[run] = now() - start;
    }
    printf("%ld", peakKiB());
    for (long run = 0; run < count; ++run)
      printf(" %.6f", times[run]);
    printf("\n");
    fflush(stdout);
    free(times);
  }
  onnxq_free_workspace(workspace);
  return 0;
}

/* Cycles of a nanosecond, from additions that wait for each other; the best of
 * some tries. */
static double measureClock(void) {
  double best = 0;
  for (int attempt = 0; attempt < 20; ++attempt) {
    enum { rounds = 100 * 1000 };
    unsigned long value = 1;
    double start = now();
    for (int i = 0; i < rounds; ++i) {
#define ONNXQ_ADD                                                              \
  value += (unsigned long)attempt + 3;                                         \
  __asm__ volatile("" : "+r"(value));
      ONNXQ_ADD ONNXQ_ADD ONNXQ_ADD ONNXQ_ADD ONNXQ_ADD ONNXQ_ADD
          ONNXQ_ADD ONNXQ_ADD
#undef ONNXQ_ADD
    }
    double took = now() - start;
    if (took > 0 && 8.0 * rounds / (took * 1e6) > best)
      best = 8.0 * rounds / (took * 1e6);
  }
  return best;
}

/* Runs for so many seconds, at least three times, and tells where the time
 * went. */
static int profile(const char *path, const onnxq_model *model,
                   const onnxq_tensor *inputs, onnxq_tensor *outputs,
                   double seconds) {
  void *library = dlopen(path, RTLD_NOW);
  const onnxq_profile_data *data =
      library ? dlsym(library, "onnxq_profile") : NULL;
  if (!data)
    return complain("the library wasn't compiled to be measured");
  size_t count = (size_t)data->count;
  int64_t *least = malloc((count + 1) * sizeof(*least));
  void *workspace = onnxq_make_workspace(model);
  if (!least || !workspace)
    return complain("not enough memory");
  double clock = measureClock(), end = 0;
  long runs = 0;
  for (int first = 1; first || runs < 3 || now() < end; first = 0) {
    memset(data->nanoseconds, 0, 8 * count);
    memset(data->calls, 0, 8 * count);
    if (onnxq_run(model, workspace, inputs, model->num_inputs, outputs,
                  model->num_outputs, &error) != ONNXQ_OK)
      return complain(error.message);
    for (int32_t i = 0; i < model->num_outputs; ++i)
      onnxq_release(&outputs[i]);
    /* The first run fills the caches. */
    if (first) {
      end = now() + seconds * 1e3;
      continue;
    }
    for (size_t i = 0; i < count; ++i)
      if (runs == 0 || data->nanoseconds[i] < least[i])
        least[i] = data->nanoseconds[i];
    ++runs;
  }
  printf("%.6f\n%ld\n", clock, runs);
  for (size_t i = 0; i < count; ++i)
    printf("%lld %lld %s\n", (long long)least[i], (long long)data->calls[i],
           data->texts[i]);
  free(least);
  onnxq_free_workspace(workspace);
  dlclose(library);
  return 0;
}

int main(int argc, char **argv) {
  int isBench = argc == 5 && strcmp(argv[1], "bench") == 0;
  int isServe = argc == 5 && strcmp(argv[1], "serve") == 0;
  int isProfile = argc == 5 && strcmp(argv[1], "profile") == 0;
  if (!isBench && !isServe && !isProfile &&
      (argc != 5 || strcmp(argv[1], "run") != 0)) {
    fprintf(stderr, "usage: onnxq-runner run LIBRARY INPUTS OUTPUTS\n"
                    "       onnxq-runner bench LIBRARY INPUTS SECONDS\n"
                    "       onnxq-runner serve LIBRARY INPUTS OUTPUTS\n"
                    "       onnxq-runner profile LIBRARY INPUTS SECONDS\n");
    return 2;
  }
  libraryPath = argv[2];
  handleFaults();
  onnxq_library *library;
  double start = now();
  if (onnxq_open(argv[2], &library, &error) != ONNXQ_OK)
    return complain(error.message);
  double loading = now() - start;
  const onnxq_model *model = onnxq_get(library);
  onnxq_tensor *tensors =
      calloc((size_t)model->num_inputs + (size_t)model->num_outputs + 1,
             sizeof(*tensors));
  FILE *file = fopen(argv[3], "rb");
  if (!tensors || !file)
    return complain("the inputs can't be opened");
  for (int32_t i = 0; i < model->num_inputs; ++i)
    if (!readTensor(file, &tensors[i]))
      return complain("the inputs can't be read");
  fclose(file);
  onnxq_tensor *outputs = tensors + model->num_inputs;
  int status = isBench ? bench(model, tensors, outputs, atof(argv[4]), loading)
               : isServe ? serve(model, tensors, outputs, argv[4], loading)
               : isProfile
                   ? profile(argv[2], model, tensors, outputs, atof(argv[4]))
                   : runOnce(model, tensors, outputs, argv[4]);
  for (int32_t i = 0; i < model->num_inputs; ++i)
    free(tensors[i].data);
  for (int32_t i = 0; i < model->num_outputs; ++i)
    onnxq_release(&outputs[i]);
  free(tensors);
  onnxq_close(library);
  return status;
}
