#!/usr/bin/env python3
"""The options of passes as C++ tables: gen_options.py RECORDS.json OUT PASS...

RECORDS.json is what `llvm-tblgen --dump-json Passes.td` gives. For each PASS,
OUT has a table of its options behind GEN_OPTIONS_TABLE, and behind
GEN_OPTIONS_OF_<PASS> a member function of the pass that gives its options.
See include/OnnxQuant/Support/Options.td.
"""

import json
import sys

KINDS = {"bool": "Flag", "int64_t": "Integer", "double": "Number", "std::string": "Text"}
SIGNS = {"Flag": "", "Integer": "N", "Number": "X", "Text": "TEXT", "List": "A,B"}


def text(value):
    return json.dumps(value)


def joined(words):
    """Words as a message lists them: a, b or c."""
    return " or ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""


def row(option, group, struct):
    kind = "List" if "ListOption" in option["!superclasses"] else KINDS[option["type"]]
    choices = option.get("choices", [])
    standard = option["defaultValue"]
    if kind == "Text":
        standard = json.loads(standard or '""')
    third = ""
    if "true" in choices:
        kind, third = "Flag", standard
    fields = [
        text(option["argument"]), f"&{group}", f"OptionKind::{kind}",
        text(option.get("shown") or "|".join(choices) or SIGNS[kind]), text(standard),
        text(option.get("summary") or option["description"]), text(option.get("separator", ",")), text(third),
        text("" if option.get("isOpen") or kind == "Flag" else joined(choices)),
    ]
    member = option["cppName"]
    splits = "false" if option.get("isWhole") else "true"
    yield f"    {{{{{', '.join(fields)}}},"
    yield f"     [](::onnxquant::{struct} &options, ::llvm::StringRef value) {{"
    yield f"       return ::onnxquant::readOption(options.{member}, value, {splits});"
    yield "     },"
    yield f"     [](const ::onnxquant::{struct} &options) {{"
    yield f"       return ::onnxquant::printOption(options.{member});"
    yield "     }},"


def generate(records, name):
    struct = f"{name}Options"
    table = name[0].lower() + name[1:]
    groups = [records[reference["def"]] for reference in records[name]["groups"]]
    yield "#ifdef GEN_OPTIONS_TABLE"
    yield f"static constexpr ::onnxquant::OptionGroup {table}Groups[] = {{"
    for group in groups:
        marks = ", ".join("true" if group[mark] else "false" for mark in ("isRefusedInQat", "isOfPassOnly"))
        yield f"    {{{text(group['name'])}, {text(group['title'])}, {marks}}},"
    yield "};\n"
    yield f"::onnxquant::OptionTable<::onnxquant::{struct}> onnxquant::{table}OptionTable() {{"
    yield f"  static const OptionEntry<{struct}> table[] = {{"
    for index, group in enumerate(groups):
        for option in group["options"]:
            yield from row(records[option["def"]], f"{table}Groups[{index}]", struct)
    yield "  };\n  return table;\n}"
    yield "#endif // GEN_OPTIONS_TABLE\n"
    yield f"#ifdef GEN_OPTIONS_OF_{name.upper()}"
    yield f"::onnxquant::{struct} readOptions() const {{\n  ::onnxquant::{struct} options;"
    for option in records[name]["options"]:
        member = records[option["def"]]["cppName"]
        yield f"  ::onnxquant::copyOption({member}, options.{member});"
    yield "  return options;\n}"
    yield f"#undef GEN_OPTIONS_OF_{name.upper()}"
    yield f"#endif // GEN_OPTIONS_OF_{name.upper()}\n"


def main():
    source, out, *passes = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        records = json.load(file)
    lines = ["// Options of passes; written by cmake/gen_options.py.\n"]
    for name in passes:
        lines += generate(records, name)
    lines.append("#undef GEN_OPTIONS_TABLE")
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
