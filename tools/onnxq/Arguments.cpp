// Reads a verb's arguments.

#include "Arguments.h"
#include "CommandText.h"
#include "OnnxQuant/Support/NearestName.h"
#include "OnnxQuant/Support/Numbers.h"
#include "OnnxQuant/Support/Progress.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

Arguments &Arguments::flag(StringRef name, bool &target) {
  return flag(name, [&](StringRef value) {
    target = value == "true";
    return true;
  });
}

Arguments &Arguments::flag(StringRef name, Setter set, StringRef third) {
  entries.push_back({name.str(), true, std::move(set), third.str()});
  return *this;
}

Arguments &Arguments::option(StringRef name, Setter set) {
  entries.push_back({name.str(), false, std::move(set)});
  return *this;
}

Arguments &Arguments::option(StringRef name, std::string &target) {
  return option(name, [&](StringRef value) {
    target = value.str();
    return true;
  });
}

Arguments &Arguments::option(StringRef name, int64_t &target) {
  return option(
      name, [&](StringRef value) { return !value.getAsInteger(10, target); });
}

Arguments &Arguments::option(StringRef name, double &target) {
  return option(name, [&](StringRef value) {
    std::optional<double> number = parseNumber(value);
    target = number.value_or(target);
    return number.has_value();
  });
}

Arguments &Arguments::list(StringRef name, std::vector<std::string> &target) {
  option(name, [&](StringRef value) {
    target.push_back(value.str());
    return true;
  });
  entries.back().repeats = true;
  return *this;
}

void Arguments::described(const OptionInfo &info, Setter set) {
  if (Entry *entry = find(info.name)) {
    entry->set = [first = entry->set, second = std::move(set)](StringRef text) {
      return first(text) && second(text);
    };
    if (!entry->info)
      entry->info = &info;
    return;
  }
  if (info.isFlag())
    flag(info.name, std::move(set), info.third);
  else
    option(info.name, std::move(set));
  entries.back().repeats = info.kind == OptionKind::List;
  entries.back().info = &info;
}

Arguments &Arguments::positional(StringRef name, std::string &target) {
  ++numRequired;
  return optional(name, target);
}

Arguments &Arguments::optional(StringRef name, std::string &target) {
  positionals.push_back({name.str(), false, [&](StringRef value) {
                           target = value.str();
                           return true;
                         }});
  return *this;
}

Arguments &Arguments::rest(StringRef name, std::vector<std::string> &target) {
  remainder = Entry{name.str(), false, [&](StringRef value) {
                      target.push_back(value.str());
                      return true;
                    }};
  return *this;
}

Arguments::Entry *Arguments::find(StringRef name) {
  auto entry =
      find_if(entries, [&](const Entry &entry) { return entry.name == name; });
  return entry == entries.end() ? nullptr : &*entry;
}

bool Arguments::isGiven(StringRef name) const {
  return any_of(entries, [&](const Entry &entry) {
    return entry.name == name && !entry.values.empty();
  });
}

std::string Arguments::repeat(ArrayRef<StringRef> names) const {
  std::string text;
  for (const Entry &entry : entries)
    if (is_contained(names, entry.name))
      for (const std::string &value : entry.values) {
        text += (text.empty() ? "--" : " --") + entry.name;
        if (!entry.isFlag)
          text += " " + quoteForShell(value);
        else if (value != "true")
          text += "=" + value;
      }
  return text;
}

/// The option that was most likely meant.
std::string Arguments::nearestOption(StringRef name) const {
  std::vector<std::string> names;
  for (const Entry &entry : entries)
    names.push_back(entry.name);
  return nearestName(name, names, /*farthest=*/2);
}

int Arguments::wrong(const std::string &message) const {
  errs() << "error: onnxq " << verb.name << ": " << message << "; see 'onnxq "
         << verb.name << " --help'\n";
  return BadUsage;
}

std::optional<int>
Arguments::setFlag(Entry &entry, std::optional<StringRef> value, bool isNegated,
                   ArrayRef<const char *> arguments, size_t &at) {
  auto isValue = [&](StringRef text) {
    return parseTruth(text) || (!entry.third.empty() && text == entry.third);
  };
  // A word behind a flag is its value only if it can't be anything else.
  if (!value && at + 1 < arguments.size() && isValue(arguments[at + 1]))
    value = arguments[++at];
  std::string text = value.value_or("true").str();
  if (!isValue(text) || (isNegated && text == entry.third))
    return wrong("option '--" + std::string(isNegated ? "no-" : "") +
                 entry.name + "' expects true or false" +
                 (entry.third.empty() ? "" : " or " + entry.third) +
                 ", but got '" + text + "'");
  if (std::optional<bool> truth = parseTruth(text))
    text = *truth != isNegated ? "true" : "false";
  entry.values.assign(1, text);
  if (!entry.set(text))
    return wrong("option '--" + entry.name + "' can't take '" + text + "'");
  return std::nullopt;
}

std::optional<int> Arguments::parseOption(ArrayRef<const char *> arguments,
                                          size_t &at) {
  StringRef argument = arguments[at];
  auto [given, behind] = argument.ltrim('-').split('=');
  std::string name = given.str();
  std::replace(name.begin(), name.end(), '_', '-');
  std::optional<StringRef> value;
  if (argument.contains('='))
    value = behind;
  Entry *entry = find(name);
  StringRef opposite = name;
  bool isNegated = !entry && opposite.consume_front("no-");
  if (isNegated)
    entry = find(opposite);
  if (!entry || (isNegated && !entry->isFlag)) {
    std::string nearest = nearestOption(name);
    return wrong(
        "unknown option '" + argument.str() + "'" +
        (nearest.empty() ? "" : ", did you mean '--" + nearest + "'?"));
  }
  if (entry->isFlag)
    return setFlag(*entry, value, isNegated, arguments, at);
  if (!value) {
    if (at + 1 == arguments.size())
      return wrong("option '--" + entry->name + "' needs a value");
    value = arguments[++at];
    StringRef next = value->split('=').first;
    if (next.consume_front("--") && find(next))
      return wrong("option '--" + entry->name + "' needs a value, but '" +
                   value->str() + "' follows");
  }
  if (!entry->set(*value))
    return wrong(entry->info ? toString(wrongValue(*entry->info, *value))
                             : "option '--" + entry->name + "' can't take '" +
                                   value->str() + "'");
  entry->values.push_back(value->str());
  return std::nullopt;
}

Declaration Arguments::declared() const {
  Declaration declaration;
  for (const Entry &entry : entries)
    declaration.options.push_back(
        {entry.name, entry.isFlag, entry.repeats, entry.info});
  for (const Entry &entry : positionals)
    declaration.positionals.push_back(entry.name);
  return declaration;
}

/// Where a verb leaves what it declares, instead of running.
static Declaration *asked = nullptr;

Declaration onnxquant::cli::declarationOf(const Verb &verb) {
  Declaration declaration;
  // A verb of verbs takes nothing itself.
  if (verb.help.contains(" VERB "))
    return declaration;
  asked = &declaration;
  verb.run({});
  asked = nullptr;
  return declaration;
}

Declaration onnxquant::cli::declarationOf(
    function_ref<void(Arguments &arguments)> declare) {
  Arguments arguments(infoVerb);
  declare(arguments);
  return arguments.declared();
}

std::optional<int> Arguments::parse(ArrayRef<const char *> arguments) {
  if (asked) {
    *asked = declared();
    return Done;
  }
  size_t numPositionals = 0, numRest = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    bool asksForAll = argument == "--help-all";
    if (argument == "--help" || argument == "-h" || asksForAll) {
      outs() << helpText(verb, declared(), asksForAll);
      return Done;
    }
    if (argument.starts_with("-") && argument != "-") {
      if (std::optional<int> code = parseOption(arguments, i))
        return code;
      continue;
    }
    if (numPositionals < positionals.size())
      positionals[numPositionals++].set(argument);
    else if (remainder && ++numRest)
      remainder->set(argument);
    else
      return wrong("unexpected argument '" + argument.str() + "'" +
                   (isGiven("data") && sys::fs::exists(argument)
                        ? "; a pattern for --data is quoted: --data 'DIR/*.png'"
                        : ""));
  }
  if (numPositionals < numRequired)
    return wrong("expects " + positionals[numPositionals].name);
  if (remainder && numRest == 0)
    return wrong("expects " + remainder->name);
  if (isGiven("quiet"))
    Phase::show(false);
  return std::nullopt;
}
