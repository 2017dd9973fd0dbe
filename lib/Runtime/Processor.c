/* What a library was compiled for, and whether this processor has it. */

#include "Processor.h"
#include "onnxquant-c/runtime.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) || defined(__riscv)
#include <sys/auxv.h>
#endif

/*--- Features --------------------------------------------------------------*/

enum { numWords = 8 };

typedef struct feature {
  const char *name;
  unsigned word, bit, state;
} feature;

static const feature features[] = {
#if defined(__x86_64__)
#define ONNXQ_X86(name, word, bit, state) {name, word, bit, state},
#elif defined(__aarch64__)
#define ONNXQ_AARCH64(name, word, bit) {name, word, bit, 0},
#elif defined(__riscv)
#define ONNXQ_RISCV(name, word, bit) {name, word, bit, 0},
#endif
#include "OnnxQuant/Target/ProcessorFeatures.def"
    {NULL, 0, 0, 0}};

/* The words that the table speaks of. */
static void readProcessor(uint32_t words[numWords]) {
  memset(words, 0, numWords * sizeof(*words));
#if defined(__x86_64__)
  unsigned a, b, c, d;
  if (__get_cpuid(1, &a, &b, &c, &d))
    words[0] = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    words[1] = b, words[2] = c, words[3] = d;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d))
      words[4] = a, words[5] = d;
  }
  if (__get_cpuid(0x80000001, &a, &b, &c, &d))
    words[6] = c;
  /* Whether the system has switched XGETBV on. */
  if (words[0] & (1u << 27)) {
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    words[7] = a;
  }
#elif defined(__aarch64__) || defined(__riscv)
  uint64_t first = getauxval(AT_HWCAP), second = 0;
#ifdef AT_HWCAP2
  second = getauxval(AT_HWCAP2);
#endif
  words[0] = (uint32_t)first, words[1] = (uint32_t)(first >> 32);
  words[2] = (uint32_t)second, words[3] = (uint32_t)(second >> 32);
#endif
}

/* A feature that isn't in the table is none that could be relied on. */
static int hasFeature(const uint32_t words[numWords], const char *name,
                      size_t length) {
  for (const feature *each = features; each->name; ++each)
    if (strlen(each->name) == length && memcmp(each->name, name, length) == 0)
      return (words[each->word] >> each->bit & 1) &&
             (words[7] & each->state) == each->state;
  return 0;
}

/* Appends a text, cut where there is no room. */
static void append(char *text, size_t room, const char *more, size_t length) {
  size_t used = strlen(text);
  if (used + 1 >= room)
    return;
  if (length > room - used - 1)
    length = room - used - 1;
  memcpy(text + used, more, length);
  text[used + length] = 0;
}

int32_t onnxq_missing_features(const char *names, char *missing, size_t room) {
  uint32_t words[numWords];
  int32_t count = 0;
  readProcessor(words);
  if (missing && room)
    missing[0] = 0;
  while (names && *names) {
    size_t length = strcspn(names, " \n");
    if (length && !hasFeature(words, names, length)) {
      if (missing && room) {
        append(missing, room, " ", count > 0);
        append(missing, room, names, length);
      }
      ++count;
    }
    if (names[length] != ' ')
      break;
    names += length + 1;
  }
  return count;
}

int onnxq_fits_processor(const char *targets, char *reason, size_t room) {
  /* The target that lacks least, and the names of all. */
  const char *best = NULL, *bestNeeds = NULL;
  char missing[320], names[160];
  int32_t least = 0;
  size_t bestLength = 0;
  names[0] = 0;
  for (const char *line = targets; *line;) {
    size_t name = strcspn(line, "\t\n"), whole = strcspn(line, "\n");
    const char *needs = line[name] == '\t' ? line + name + 1 : "";
    int32_t count = onnxq_missing_features(needs, NULL, 0);
    if (count == 0)
      return 1;
    if (!best || count < least)
      best = line, bestNeeds = needs, bestLength = name, least = count;
    append(names, sizeof(names), ", ", names[0] ? 2 : 0);
    append(names, sizeof(names), line, name);
    line += whole + (line[whole] == '\n');
  }
  onnxq_missing_features(bestNeeds, missing, sizeof(missing));
  reason[0] = 0;
  if (best && strlen(names) > bestLength)
    snprintf(reason, room, "none of its variants (%s) fits: ", names);
  append(reason, room, "code for ", 9);
  append(reason, room, best ? best : "", bestLength);
  append(reason, room, " needs ", 7);
  append(reason, room, missing, strlen(missing));
  return 0;
}

/*--- Notes -----------------------------------------------------------------*/

static uint64_t number(const unsigned char *bytes, int count) {
  uint64_t value = 0;
  for (int i = count - 1; i >= 0; --i)
    value = value << 8 | bytes[i];
  return value;
}

static int readAt(FILE *file, uint64_t place, void *bytes, size_t count) {
  return place <= INT64_MAX && fseek(file, (long)place, SEEK_SET) == 0 &&
         fread(bytes, 1, count, file) == count;
}

/* Looks for the note in one segment. */
static int findNote(FILE *file, uint64_t place, uint64_t bytes, char *text,
                    size_t room) {
  static const char owner[12] = "OnnxQuant";
  unsigned char head[12];
  char name[12];
  uint64_t end = place + bytes;
  while (place < end && end - place >= sizeof(head)) {
    if (!readAt(file, place, head, sizeof(head)))
      return 0;
    uint64_t nameBytes = number(head, 4), size = number(head + 4, 4);
    uint64_t content = place + sizeof(head) + ((nameBytes + 3) & ~(uint64_t)3);
    if (nameBytes == strlen(owner) + 1 &&
        readAt(file, place + sizeof(head), name, sizeof(name)) &&
        memcmp(name, owner, sizeof(name)) == 0) {
      if (size >= room || !readAt(file, content, text, size))
        return 0;
      text[size] = 0;
      return 1;
    }
    place = content + ((size + 3) & ~(uint64_t)3);
  }
  return 0;
}

int onnxq_is_file(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

int onnxq_read_note(const char *path, char *text, size_t room) {
  enum { noteSegment = 4, headBytes = 64, segmentBytes = 56 };
  unsigned char head[headBytes], segment[segmentBytes];
  int found = 0;
  FILE *file = onnxq_is_file(path) ? fopen(path, "rb") : NULL;
  if (!file)
    return 0;
  /* A file of 64 bits and small numbers first. */
  int isELF = readAt(file, 0, head, headBytes) &&
              memcmp(head, "\177ELF\2\1", 6) == 0 &&
              number(head + 54, 2) == segmentBytes;
  uint64_t table = isELF ? number(head + 32, 8) : 0;
  uint64_t count = isELF ? number(head + 56, 2) : 0;
  for (uint64_t i = 0; i < count && !found; ++i) {
    if (!readAt(file, table + i * segmentBytes, segment, segmentBytes))
      break;
    if (number(segment, 4) == noteSegment)
      found = findNote(file, number(segment + 8, 8), number(segment + 32, 8),
                       text, room);
  }
  fclose(file);
  return found;
}

int32_t onnxq_read_targets(const char *path, char *text, size_t room) {
  if (!path || !text || room == 0)
    return ONNXQ_BAD_ARGUMENT;
  text[0] = 0;
  return onnxq_read_note(path, text, room) ? ONNXQ_OK : ONNXQ_BAD_LIBRARY;
}
