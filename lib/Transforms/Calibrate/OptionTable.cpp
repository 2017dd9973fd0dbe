// Options by name, out of Passes.td.

#include "OnnxQuant/Transforms/Calibrate/Passes.h"

#define GEN_OPTIONS_TABLE
#include "OnnxQuant/Transforms/Calibrate/Options.h.inc"
