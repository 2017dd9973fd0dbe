// Puts finished files into place together.
//
// Names can only be changed one after the other. Each old file is swapped with
// its new one, so that the swaps can be taken back if one fails. A process of
// its own does that: SIGKILL to this one, or a signal to its group, doesn't
// stop it between two names.

#include "PlaceFiles.h"
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace onnxquant;

namespace {

/// What was done to a file so far.
enum class Step : char { Nothing, Named, Added, Swapped, BackedUp };

/// All that the process needs: it must not allocate.
struct Job {
  const Placement *placement;
  char descriptor[40];
  Step step = Step::Nothing;
};

/// An answer of that process.
struct Answer {
  int code = 0;
  size_t index = 0;
};

} // namespace

static bool swapNames(const char *first, const char *second) {
#if defined(__linux__) && defined(RENAME_EXCHANGE)
  return renameat2(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE) == 0;
#else
  errno = ENOSYS;
  return false;
#endif
}

/// Gives a file its temporary name.
static bool giveName(Job &job) {
  if (job.placement->fd >= 0 &&
      linkat(AT_FDCWD, job.descriptor, AT_FDCWD,
             job.placement->temporary.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return false;
  job.step = Step::Named;
  return true;
}

/// Puts a file into place. What was there keeps a name until all is done.
static bool put(Job &job) {
  const char *from = job.placement->temporary.c_str();
  const char *to = job.placement->path.c_str();
  struct stat status;
  bool exists = lstat(to, &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return false;
  }
  if (exists && swapNames(from, to)) {
    job.step = Step::Swapped;
    return true;
  }
  // Some file systems can't swap names.
  if (exists && link(to, job.placement->backup.c_str()) != 0)
    return false;
  if (rename(from, to) != 0) {
    int code = errno;
    if (exists)
      unlink(job.placement->backup.c_str());
    errno = code;
    return false;
  }
  job.step = exists ? Step::BackedUp : Step::Added;
  return true;
}

/// Brings a file back to where it was, without a name.
static void takeBack(Job &job) {
  const char *from = job.placement->temporary.c_str();
  const char *to = job.placement->path.c_str();
  if (job.step == Step::Swapped)
    swapNames(from, to);
  if (job.step == Step::BackedUp)
    rename(job.placement->backup.c_str(), to);
  if (job.step == Step::Added)
    unlink(to);
  if (job.step == Step::Swapped || job.step == Step::Named)
    unlink(from);
}

/// Removes what is left of an old file.
static void removeOld(Job &job) {
  if (job.step == Step::Swapped)
    unlink(job.placement->temporary.c_str());
  if (job.step == Step::BackedUp)
    unlink(job.placement->backup.c_str());
}

/// All the steps: system calls only.
static Answer placeAll(std::vector<Job> &jobs) {
  Answer answer;
  for (bool (*act)(Job &) : {giveName, put})
    for (size_t index = 0; index < jobs.size(); ++index) {
      if (act(jobs[index]))
        continue;
      answer.code = errno;
      answer.index = index;
      for (size_t back = jobs.size(); back > 0; --back)
        takeBack(jobs[back - 1]);
      return answer;
    }
  for (Job &job : jobs)
    removeOld(job);
  return answer;
}

/// A process for system calls only; no handlers of others run.
static pid_t forkQuietly() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
  return _Fork();
#else
  return fork();
#endif
}

/// The answer of the other process; whether there was one.
static bool readAnswer(int fd, Answer &answer) {
  char *place = reinterpret_cast<char *>(&answer);
  size_t missing = sizeof(answer);
  while (missing > 0) {
    ssize_t count = read(fd, place, missing);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    place += count;
    missing -= count;
  }
  return true;
}

PlaceResult onnxquant::placeFiles(const std::vector<Placement> &placements) {
  std::vector<Job> jobs;
  for (const Placement &placement : placements) {
    Job job;
    job.placement = &placement;
    std::snprintf(job.descriptor, sizeof(job.descriptor), "/proc/self/fd/%d",
                  placement.fd);
    jobs.push_back(job);
  }
  PlaceResult result;
  if (jobs.empty())
    return result;
  Answer answer;
  int ends[2];
  if (pipe(ends) != 0)
    ends[0] = ends[1] = -1;
  pid_t child = ends[0] < 0 ? -1 : forkQuietly();
  if (child == 0) {
    setsid();
    answer = placeAll(jobs);
    ssize_t written = write(ends[1], &answer, sizeof(answer));
    _exit(written == sizeof(answer) ? 0 : 1);
  }
  if (ends[1] >= 0)
    close(ends[1]);
  if (child < 0) {
    // Without a process of its own it is done here.
    answer = placeAll(jobs);
  } else {
    if (!readAnswer(ends[0], answer))
      answer.code = EIO;
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (ends[0] >= 0)
    close(ends[0]);
  result.index = answer.index;
  if (answer.code)
    result.code = std::error_code(answer.code, std::generic_category());
  return result;
}
