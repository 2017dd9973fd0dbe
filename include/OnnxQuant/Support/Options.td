// How passes declare the options that users meet. cmake/gen_options.py makes
// tables of them, and from the tables come command lines, configuration files,
// Python keywords, help, manual pages, completions and refusals.
//
// An option is declared here once: in a group of its pass, as one of the
// classes below, or as MLIR's Option<.., "bool" or "int64_t" or "double", ..>.

#ifndef ONNXQUANT_SUPPORT_OPTIONS_TD
#define ONNXQUANT_SUPPORT_OPTIONS_TD

include "mlir/Pass/PassBase.td"

/// Text. `sign` stands for a value in help; `parts` separates the parts of a
/// value that Python and YAML give as a list.
class Text<string member, string name, string sign, string about,
           string parts = ","> : Option<member, name, "std::string", "", about> {
  string shown = sign;
  string separator = parts;
}

/// One of some words; with `true` among them a flag that may have a third value.
/// Where `open`, the pass knows other spellings too, and checks them itself.
class Choice<string member, string name, string standard, list<string> words,
             string about, bit open = 0>
    : Option<member, name, "std::string", "\"" # standard # "\"",
             about # ": " # !interleave(words, ", ")> {
  string summary = about;
  list<string> choices = words;
  bit isOpen = open;
}

/// Any number of texts, given one by one or separated by commas.
class Texts<string member, string name, string sign, string about>
    : ListOption<member, name, "std::string", about> {
  string shown = sign;
}
/// The same where a text may hold commas: one by one only.
class Paths<string member, string name, string sign, string about>
    : Texts<member, name, sign, about> {
  bit isWhole = 1;
}

/// Options that stand together in a help, under `heading`.
class Group<string key, string heading, list<Option> members> {
  string name = key;
  string title = heading;
  list<Option> options = members;
  /// Whether mode=qat, which takes over what a model has, refuses them.
  bit isRefusedInQat = 0;
  /// Whether only the pass has them, and verbs do it otherwise.
  bit isOfPassOnly = 0;
}
class ChosenGroup<string key, string heading, list<Option> members>
    : Group<key, heading, members> {
  let isRefusedInQat = 1;
}
class PassGroup<list<Option> members> : Group<"pass", "", members> {
  let isOfPassOnly = 1;
}

class PassWithGroups<string argument, string operation>
    : Pass<argument, operation> {
  list<Group> groups = [];
  let options = !foldl([]<Option>, groups, all, group,
                       !listconcat(all, group.options));
}

#endif // ONNXQUANT_SUPPORT_OPTIONS_TD
