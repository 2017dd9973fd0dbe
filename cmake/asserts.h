// First in the precompiled header of builds with asserts. The installed MLIR
// libraries are built without, and there a pass's statistics are of another
// class: it is declared here as they know it, then asserts are on.
#ifndef NDEBUG
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif
