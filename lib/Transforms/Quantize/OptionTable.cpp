// Options by name, out of Passes.td.

#include "OnnxQuant/Transforms/Quantize/Passes.h"

#define GEN_OPTIONS_TABLE
#include "OnnxQuant/Transforms/Quantize/Options.h.inc"
