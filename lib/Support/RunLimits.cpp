// What runs inside this process may take.

#include "OnnxQuant/Support/RunLimits.h"
#include <algorithm>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

using namespace onnxquant;

/// A limit of a group of processes; none if the file has no number.
static int64_t readLimit(const char *path) {
  std::ifstream file(path);
  int64_t bytes = 0;
  return file >> bytes && bytes > 0 ? bytes : INT64_MAX;
}

RunLimits::RunLimits() {
  int64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  memory = pages > 0 && page > 0 ? pages * page : INT64_MAX;
  memory = std::min(memory, readLimit("/sys/fs/cgroup/memory.max"));
  memory = std::min(memory,
                    readLimit("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    memory = std::min<int64_t>(memory, limit.rlim_cur);
  if (memory == INT64_MAX)
    memory = 0;
}

RunLimits &RunLimits::get() {
  static RunLimits limits;
  return limits;
}
