/* Prints the processor's frequency in GHz: one addition of a chain takes one
 * cycle on every processor that the tables are made on. Of a register to
 * itself: some processors add several constants in a cycle. */
#include <stdio.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#if defined(__x86_64__)
#define ADD "add %0, %0\n\t"
#elif defined(__aarch64__)
#define ADD "add %0, %0, %0\n\t"
#elif defined(__riscv)
#define ADD "add %0, %0, %0\n\t"
#endif

int main(void) {
  double best = 0;
  for (int round = 0; round < 20; ++round) {
    enum { count = 500 * 1000 };
    unsigned long x = 1;
    double start = now();
    for (long i = 0; i < count; ++i)
      __asm__ volatile(ADD ADD ADD ADD ADD ADD ADD ADD ADD ADD : "+r"(x));
    double clock = 10.0 * count / (now() - start) * 1e-9;
    best = clock > best ? clock : best;
  }
  printf("%.4f\n", best);
  return 0;
}
