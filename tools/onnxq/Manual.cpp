// Manual pages out of the verbs' help.

#include "Arguments.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/Version.h"
#include "Pages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

/// A line as troff shows it unchanged.
static std::string escape(StringRef line) {
  std::string text;
  if (line.starts_with(".") || line.starts_with("'"))
    text = "\\&";
  for (char c : line)
    text += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  return text;
}

static void writeTitle(raw_ostream &os, StringRef name) {
  os << ".TH \"" << name.upper() << "\" 1 \"\" \"OnnxQuant "
     << escape(StringRef(shortVersion()).split(',').first)
     << "\" \"User Commands\"\n";
}

static void writeLines(raw_ostream &os, StringRef title,
                       ArrayRef<StringRef> lines, bool asTheyAre) {
  if (lines.empty())
    return;
  os << ".SH " << title << "\n" << (asTheyAre ? ".nf\n" : "");
  for (StringRef line : lines)
    os << (line.empty() && !asTheyAre ? ".PP" : escape(line)) << "\n";
  os << (asTheyAre ? ".fi\n" : "");
}

/// A help begins with its usage, goes on with prose, then options, which are
/// indented, and ends with an example.
static void writeVerbPage(raw_ostream &os, const Verb &verb) {
  SmallVector<StringRef> lines, usage, prose, options, example;
  std::string help = helpText(verb, declarationOf(verb), /*all=*/true);
  StringRef(help).rtrim().split(lines, '\n');
  bool isUsage = true;
  for (StringRef line : lines) {
    if (isUsage && line.empty())
      isUsage = false;
    else if (isUsage)
      usage.push_back(line.drop_front(std::min<size_t>(line.size(), 7)));
    else if (!example.empty() || line.starts_with("example:"))
      example.push_back(
          line.starts_with("example:") ? line.drop_front(8).ltrim() : line);
    else if (options.empty() && !line.starts_with("  "))
      prose.push_back(line);
    else
      options.push_back(line);
  }
  auto trim = [](SmallVector<StringRef> &list) {
    while (!list.empty() && list.back().empty())
      list.pop_back();
  };
  trim(prose);
  trim(options);
  writeTitle(os, ("onnxq-" + verb.name).str());
  os << ".SH NAME\nonnxq\\-" << verb.name << " \\- " << escape(verb.summary)
     << "\n";
  writeLines(os, "SYNOPSIS", usage, /*asTheyAre=*/true);
  writeLines(os, "DESCRIPTION", prose, /*asTheyAre=*/false);
  writeLines(os, "OPTIONS", options, /*asTheyAre=*/true);
  writeLines(os, "EXAMPLE", example, /*asTheyAre=*/true);
  os << ".SH SEE ALSO\n.BR onnxq (1)\n";
}

static void writeMainPage(raw_ostream &os) {
  writeTitle(os, "onnxq");
  os << ".SH NAME\nonnxq \\- float ONNX models into int8 programs\n"
        ".SH SYNOPSIS\n.B onnxq\nVERB ...\n.SH VERBS\n";
  for (const Verb *verb : allVerbs())
    os << ".TP\n.BR onnxq\\-" << verb->name << " (1)\n"
       << escape(verb->summary) << "\n";
  os << ".SH EXIT STATUS\n"
        "0: done. 1: the input or the model is at fault. 2: wrong usage. "
        "128 and a signal's number: interrupted; 130 for Ctrl\\-C.\n"
        ".SH ENVIRONMENT\n.TP\n.B ONNXQUANT_CODE_CACHE\n"
        "Folder of compiled models.\n.TP\n.B TMPDIR\n"
        "Folder of temporary files.\n";
}

static int complain(Error error) {
  errs() << "error: " << toString(std::move(error)) << "\n";
  return BadInput;
}

static Error writePage(StringRef folder, StringRef name,
                       function_ref<void(raw_ostream &)> write) {
  auto file = AtomicFile::create((folder + "/" + name + ".1").str());
  if (!file)
    return file.takeError();
  write((*file)->os());
  return (*file)->commit();
}

static int writeAll(StringRef folder) {
  if (std::error_code code = sys::fs::create_directories(folder))
    return complain(createStringError(code, "%s: cannot be made: %s",
                                      folder.str().c_str(),
                                      code.message().c_str()));
  if (Error error = writePage(folder, "onnxq", writeMainPage))
    return complain(std::move(error));
  for (const Verb *verb : allVerbs())
    if (Error error =
            writePage(folder, ("onnxq-" + verb->name).str(),
                      [&](raw_ostream &os) { writeVerbPage(os, *verb); }))
      return complain(std::move(error));
  return Done;
}

int onnxquant::cli::printManual(ArrayRef<const char *> arguments) {
  if (arguments.size() == 2 && StringRef(arguments[0]) == "--output-dir")
    return writeAll(arguments[1]);
  if (arguments.empty()) {
    writeMainPage(outs());
    return Done;
  }
  for (const Verb *verb : allVerbs())
    if (arguments.size() == 1 && verb->name == arguments[0]) {
      writeVerbPage(outs(), *verb);
      return Done;
    }
  errs() << "error: onnxq man expects a verb, or --output-dir DIR\n";
  return BadUsage;
}
