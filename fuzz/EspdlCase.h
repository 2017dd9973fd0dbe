// One file of ESP-DL, as the fuzzer and the replay of its corpus read it.

#ifndef ONNXQUANT_FUZZ_ESPDLCASE_H
#define ONNXQUANT_FUZZ_ESPDLCASE_H

#include "llvm/ADT/ArrayRef.h"

namespace onnxquant::fuzz {

/// Reads bytes as a .espdl file of any form; an encrypted one has the key of
/// zeros. What can be read is written and read again, run through the rules of
/// the simulation, and written as ordinary ONNX. False if the file is refused;
/// ends the program if something else is wrong.
bool runEspdl(llvm::ArrayRef<char> bytes);

} // namespace onnxquant::fuzz

#endif // ONNXQUANT_FUZZ_ESPDLCASE_H
