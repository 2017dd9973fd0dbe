// Assembly to objects, by LLVM's own assembler.

#include "EmitSteps.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCObjectFileInfo.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCParser/MCTargetAsmParser.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCStreamer.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

/// Xtensa's instructions load constants from before the code, at multiples
/// of 4. LLVM's directive for them gives their section no alignment, so each
/// function gets a section of its own that has one.
static std::string alignLiterals(StringRef text) {
  std::string aligned;
  raw_string_ostream os(aligned);
  unsigned count = 0;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    StringRef directive = line.trim();
    if (directive == ".literal_position") {
      os << "\t.section\t.literal.onnxq_" << count++
         << ",\"ax\",@progbits\n\t.p2align\t2\n";
    } else if (directive.consume_front(".literal ")) {
      auto [label, value] = directive.split(',');
      os << label.trim() << ":\n\t.long\t" << value.trim() << "\n";
    } else {
      os << line << "\n";
    }
  }
  return aligned;
}

Expected<std::unique_ptr<MemoryBuffer>>
onnxquant::assemble(const MemoryBuffer &text,
                    const onnxquant::TargetOptions &options) {
  auto machine = createTargetMachine(options);
  if (!machine)
    return machine.takeError();
  const Target &target = (*machine)->getTarget();
  Triple triple(options.triple);
  MCTargetOptions mcOptions;
  std::unique_ptr<MCRegisterInfo> registers(target.createMCRegInfo(triple));
  std::unique_ptr<MCAsmInfo> info(
      target.createMCAsmInfo(*registers, triple, mcOptions));
  std::unique_ptr<MCInstrInfo> instructions(target.createMCInstrInfo());
  std::unique_ptr<MCSubtargetInfo> subtarget(
      target.createMCSubtargetInfo(triple, options.cpu, options.features));
  if (!registers || !info || !instructions || !subtarget)
    return fail("no code can be assembled for " + options.triple);

  SourceMgr sources;
  std::string message;
  sources.setDiagHandler(
      [](const SMDiagnostic &diagnostic, void *context) {
        auto *text = static_cast<std::string *>(context);
        if (text->empty())
          *text = diagnostic.getMessage().str() + ": " +
                  diagnostic.getLineContents().trim().str();
      },
      &message);
  // The parser looks for a zero at the end.
  std::string code = text.getBuffer().str();
  if (triple.getArch() == Triple::xtensa)
    code = alignLiterals(code);
  sources.AddNewSourceBuffer(MemoryBuffer::getMemBufferCopy(code), SMLoc());
  MCContext context(triple, info.get(), registers.get(), subtarget.get(),
                    &sources, &mcOptions);
  std::unique_ptr<MCObjectFileInfo> sections(
      target.createMCObjectFileInfo(context, /*PIC=*/false));
  context.setObjectFileInfo(sections.get());

  SmallVector<char, 0> bytes;
  raw_svector_ostream os(bytes);
  std::unique_ptr<MCAsmBackend> backend(
      target.createMCAsmBackend(*subtarget, *registers, mcOptions));
  std::unique_ptr<MCObjectWriter> writer = backend->createObjectWriter(os);
  std::unique_ptr<MCCodeEmitter> emitter(
      target.createMCCodeEmitter(*instructions, context));
  std::unique_ptr<MCStreamer> streamer(target.createMCObjectStreamer(
      triple, context, std::move(backend), std::move(writer),
      std::move(emitter), *subtarget));
  std::unique_ptr<MCAsmParser> parser(
      createMCAsmParser(sources, context, *streamer, *info));
  std::unique_ptr<MCTargetAsmParser> targetParser(
      target.createMCAsmParser(*subtarget, *parser, *instructions, mcOptions));
  if (!targetParser)
    return fail("no code can be assembled for " + options.triple);
  parser->setTargetParser(*targetParser);
  bool failed = parser->Run(/*NoInitialTextSection=*/false);
  if (failed || context.hadError())
    return fail("the assembler refuses its code" +
                (message.empty() ? "" : ": " + message));
  return std::make_unique<SmallVectorMemoryBuffer>(
      std::move(bytes), "model", /*RequiresNullTerminator=*/false);
}
