// Reads a verb's arguments.

#include "Arguments.h"
#include "OnnxQuant/Support/NearestName.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

Arguments &Arguments::flag(StringRef name, bool &target) {
  options.push_back({name.str(), false, [&](StringRef) {
                       target = true;
                       return true;
                     }});
  return *this;
}

Arguments &Arguments::option(StringRef name, std::string &target) {
  options.push_back({name.str(), true, [&](StringRef value) {
                       target = value.str();
                       return true;
                     }});
  return *this;
}

Arguments &Arguments::option(StringRef name, int64_t &target) {
  options.push_back({name.str(), true, [&](StringRef value) {
                       return !value.getAsInteger(10, target);
                     }});
  return *this;
}

Arguments &Arguments::option(StringRef name, double &target) {
  options.push_back({name.str(), true, [&](StringRef value) {
                       return !value.getAsDouble(target);
                     }});
  return *this;
}

Arguments &Arguments::list(StringRef name, std::vector<std::string> &target) {
  options.push_back({name.str(), true, [&](StringRef value) {
                       target.push_back(value.str());
                       return true;
                     }});
  return *this;
}

Arguments &Arguments::positional(StringRef name, std::string &target) {
  ++numRequired;
  return optional(name, target);
}

Arguments &Arguments::optional(StringRef name, std::string &target) {
  positionals.push_back({name.str(), true, [&](StringRef value) {
                           target = value.str();
                           return true;
                         }});
  return *this;
}

Arguments &Arguments::rest(StringRef name, std::vector<std::string> &target) {
  remainder = Entry{name.str(), true, [&](StringRef value) {
                      target.push_back(value.str());
                      return true;
                    }};
  return *this;
}

bool Arguments::isGiven(StringRef name) const {
  return any_of(options, [&](const Entry &entry) {
    return entry.name == name && entry.given;
  });
}

Arguments &Arguments::elsewhere(ArrayRef<StringRef> names) {
  for (StringRef name : names)
    readElsewhere.push_back(name.str());
  return *this;
}

/// The option that was most likely meant.
std::string Arguments::nearestOption(StringRef name) const {
  std::vector<std::string> names = readElsewhere;
  for (const Entry &entry : options)
    names.push_back(entry.name);
  return nearestName(name, names, /*farthest=*/2);
}

int Arguments::wrong(const std::string &message) const {
  errs() << "error: onnxq " << verb.name << ": " << message << "; see 'onnxq "
         << verb.name << " --help'\n";
  return BadUsage;
}

std::optional<int> Arguments::parse(ArrayRef<const char *> arguments) {
  size_t numPositionals = 0, numRest = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      outs() << verb.help;
      return Done;
    }
    if (!argument.starts_with("-") || argument == "-") {
      if (numPositionals < positionals.size())
        positionals[numPositionals++].set(argument);
      else if (remainder && ++numRest)
        remainder->set(argument);
      else
        return wrong("unexpected argument '" + argument.str() + "'");
      continue;
    }
    auto [name, value] = argument.ltrim('-').split('=');
    bool hasValue = argument.contains('=');
    auto entry = find_if(options, [&, name = name](const Entry &entry) {
      return entry.name == name;
    });
    if (entry == options.end()) {
      std::string nearest = nearestOption(name);
      return wrong(
          "unknown option '" + argument.str() + "'" +
          (nearest.empty() ? "" : ", did you mean '--" + nearest + "'?"));
    }
    if (!entry->takesValue && hasValue)
      return wrong("option '--" + entry->name + "' takes no value");
    if (entry->takesValue && !hasValue) {
      if (++i == arguments.size())
        return wrong("option '--" + entry->name + "' needs a value");
      value = arguments[i];
    }
    if (!entry->set(value))
      return wrong("option '--" + entry->name + "' can't take '" + value.str() +
                   "'");
    entry->given = true;
  }
  if (numPositionals < numRequired)
    return wrong("expects " + positionals[numPositionals].name);
  if (remainder && numRest == 0)
    return wrong("expects " + remainder->name);
  return std::nullopt;
}
