/* What a library was compiled for, and whether this processor has it. */
#ifndef ONNXQUANT_LIB_RUNTIME_PROCESSOR_H
#define ONNXQUANT_LIB_RUNTIME_PROCESSOR_H

#include <stddef.h>

/* Whether a path is an ordinary file: opening a pipe waits for its other end.
 */
int onnxq_is_file(const char *path);

/* Reads the note that tells of a library's targets; 0 if there is none, or if
 * there is no room for it. */
int onnxq_read_note(const char *path, char *text, size_t room);

/* Whether this processor can run one of the targets in a note: lines of a name,
 * a tab, and features with spaces between. If not, `reason` says what the
 * processor lacks for the nearest of them. */
int onnxq_fits_processor(const char *targets, char *reason, size_t room);

#endif /* ONNXQUANT_LIB_RUNTIME_PROCESSOR_H */
