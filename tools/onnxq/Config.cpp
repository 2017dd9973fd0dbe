// Settings of verbs in a file.
//
// A file is a mapping. Its names are options of the verb, `output` for -o, and
// `model` (or whatever the verb calls it) for what stands alone on the command
// line. A section, a mapping under a verb's name, is for that verb only.
// `onnxq quantize` goes on with the sections' verbs, each on what the one
// before has written.

#include "Config.h"
#include "Arguments.h"
#include "CommandText.h"
#include "DataArguments.h"
#include "OnnxQuant/Support/NearestName.h"
#include "OnnxQuant/Support/Yaml.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::cli;

namespace {

/// What a stage of a job is given, by name; `o` is its output.
using Settings = std::map<std::string, YamlValue>;

class Job {
public:
  Job(StringRef path, const Verb &verb) : path(path), main(verb) {}

  Error read();
  int run(ArrayRef<const char *> arguments);

private:
  Error readSections(const YamlValue &root);
  Error checkName(const std::string &name, const Declaration &verb,
                  bool isSection) const;
  Error checkCommon() const;
  /// The settings of a verb: its section, and what all verbs share.
  Settings settingsOf(const Verb &verb, bool isMain) const;
  int start(const Verb &verb, Settings settings,
            ArrayRef<const char *> arguments = {}, bool isEchoed = true) const;
  int runAll(ArrayRef<const char *> arguments);
  bool hasSection(StringRef name) const {
    return sections.count(name.str()) != 0;
  }

  std::string path;
  const Verb &main;
  Settings common;
  std::map<std::string, Settings> sections;
};

} // namespace

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static const Verb *findVerb(StringRef name) {
  for (const Verb *verb : allVerbs())
    if (verb->name == name)
      return verb;
  return nullptr;
}

/// How a file calls an option.
static std::string nameInFile(const std::string &option) {
  return option == "o" ? "output" : option;
}

static std::vector<std::string> namesOf(const Declaration &verb) {
  std::vector<std::string> names;
  for (const DeclaredOption &option : verb.options)
    names.push_back(nameInFile(option.name));
  for (const std::string &positional : verb.positionals)
    names.push_back(StringRef(positional).lower());
  return names;
}

static const std::vector<std::string> &dataNames() {
  static const std::vector<std::string> names = [] {
    DataArguments data;
    return namesOf(
        declarationOf([&](Arguments &arguments) { data.declare(arguments); }));
  }();
  return names;
}

/// Options of samples are shared by all verbs that read samples.
static bool isShared(StringRef name) {
  return name == "quiet" || is_contained(dataNames(), name);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Error Job::readSections(const YamlValue &root) {
  for (auto [key, value] : zip(root.keys, root.values)) {
    // Samples and how they are prepared may stand together.
    if (key == "data" && value.kind == YamlValue::Mapping) {
      for (auto [name, setting] : zip(value.keys, value.values)) {
        std::string option = name == "path" ? "data" : name;
        if (!isShared(option)) {
          std::vector<std::string> names = dataNames();
          names.push_back("path");
          return fail(path + ": there is no option '" + name + "' of data" +
                      suggestName(name, names));
        }
        common[option] = setting;
      }
      continue;
    }
    bool isSection = findVerb(key) && (value.kind == YamlValue::Mapping ||
                                       value.kind == YamlValue::Nothing);
    if (!isSection) {
      common[key] = value;
      continue;
    }
    Settings &section = sections[key];
    for (auto [name, setting] : zip(value.keys, value.values))
      section[name] = setting;
  }
  return Error::success();
}

Error Job::checkName(const std::string &name, const Declaration &verb,
                     bool isSection) const {
  std::vector<std::string> names = namesOf(verb);
  if (is_contained(names, name))
    return Error::success();
  // Of names that are as near, a section's is meant.
  if (!isSection) {
    names.insert(names.begin(), "data");
    for (const Verb *each : allVerbs())
      names.insert(names.begin(), each->name.str());
  }
  return fail(path + ": there is no option '" + name + "'" +
              suggestName(name, names));
}

/// A name outside of sections must mean something to the verb itself, or to a
/// section's.
Error Job::checkCommon() const {
  std::vector<Declaration> others;
  for (const auto &[name, section] : sections)
    others.push_back(declarationOf(*findVerb(name)));
  if (!hasSection("quantize") && !sections.empty())
    others.push_back(declarationOf(quantizeVerb));
  Declaration own = declarationOf(main);
  for (const auto &[name, value] : common) {
    bool isKnown = any_of(others, [&, name = name](const Declaration &verb) {
      return is_contained(namesOf(verb), name);
    });
    if (isKnown)
      continue;
    if (Error error = checkName(name, own, /*isSection=*/false))
      return error;
  }
  return Error::success();
}

Error Job::read() {
  auto root = readYaml(path);
  if (!root)
    return root.takeError();
  if (Error error = readSections(*root))
    return error;
  for (const auto &[verb, section] : sections) {
    Declaration declared = declarationOf(*findVerb(verb));
    for (const auto &[name, value] : section)
      if (Error error = checkName(name, declared, /*isSection=*/true))
        return fail(toString(std::move(error)) + " (of " + verb + ")");
  }
  return checkCommon();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

/// A setting as arguments: `--name=value`, as often as it takes.
static void addArguments(const DeclaredOption &option, const YamlValue &value,
                         std::vector<std::string> &arguments) {
  std::string dashes = option.name.size() == 1 ? "-" : "--";
  auto add = [&](const std::string &text) {
    if (!option.isFlag)
      arguments.push_back(dashes + option.name + "=" + text);
    else
      arguments.push_back(dashes + option.name +
                          (text == "true" ? "" : "=" + text));
  };
  if (value.kind == YamlValue::Nothing)
    return;
  if (value.kind == YamlValue::Scalar)
    return add(value.text);
  bool isPlain = value.kind == YamlValue::List &&
                 all_of(value.values, [](const YamlValue &each) {
                   return each.kind == YamlValue::Scalar;
                 });
  if (!isPlain)
    return add(formatv("{0}", value.toJson()).str());
  std::vector<std::string> texts;
  for (const YamlValue &each : value.values)
    texts.push_back(each.text);
  if (option.repeats) {
    for (const std::string &text : texts)
      add(text);
    return;
  }
  add(join(texts, option.info ? StringRef(option.info->separator) : ","));
}

namespace {
/// What a command line gives by itself.
struct Given {
  std::vector<std::string> names;
  size_t positionals = 0;
};
} // namespace

static Given whatIsGiven(const Declaration &verb,
                         ArrayRef<const char *> arguments) {
  Given given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (!argument.starts_with("-") || argument == "-") {
      ++given.positionals;
      continue;
    }
    std::string name = argument.ltrim('-').split('=').first.str();
    std::replace(name.begin(), name.end(), '_', '-');
    auto find = [&](StringRef wanted) {
      return find_if(verb.options, [&](const DeclaredOption &option) {
        return option.name == wanted;
      });
    };
    auto option = find(name);
    if (option == verb.options.end() && StringRef(name).starts_with("no-"))
      option = find(StringRef(name).drop_front(3));
    if (option == verb.options.end())
      continue;
    given.names.push_back(option->name);
    if (argument.contains('=') || i + 1 == arguments.size())
      continue;
    StringRef next = arguments[i + 1];
    if (!option->isFlag || next == "true" || next == "false")
      ++i;
  }
  return given;
}

Settings Job::settingsOf(const Verb &verb, bool isMain) const {
  Settings settings;
  std::vector<std::string> names = namesOf(declarationOf(verb));
  for (const auto &[name, value] : common)
    if ((isMain || isShared(name)) && is_contained(names, name))
      settings[name] = value;
  auto section = sections.find(verb.name.str());
  if (section != sections.end())
    for (const auto &[name, value] : section->second)
      settings[name] = value;
  return settings;
}

int Job::start(const Verb &verb, Settings settings,
               ArrayRef<const char *> arguments, bool isEchoed) const {
  Declaration declared = declarationOf(verb);
  Given given = whatIsGiven(declared, arguments);
  std::vector<std::string> texts;
  for (auto [index, positional] : enumerate(declared.positionals)) {
    auto found = settings.find(StringRef(positional).lower());
    if (index >= given.positionals && found != settings.end() &&
        found->second.kind == YamlValue::Scalar)
      texts.push_back(found->second.text);
  }
  for (const DeclaredOption &option : declared.options) {
    // In a file, MODEL is what stands alone, not the option of that name.
    bool isPositional = any_of(declared.positionals, [&](StringRef name) {
      return name.lower() == option.name;
    });
    auto found = settings.find(nameInFile(option.name));
    if (found != settings.end() && !isPositional &&
        !is_contained(given.names, option.name))
      addArguments(option, found->second, texts);
  }
  if (isEchoed && !settings.count("quiet"))
    errs() << "+ onnxq " << verb.name << " " << asLine(texts) << "\n";
  std::vector<const char *> all;
  // Those of the command line come first: they are the first positionals.
  all.assign(arguments.begin(), arguments.end());
  for (const std::string &text : texts)
    all.push_back(text.c_str());
  return verb.run(all);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Whether an evaluation is beside the float model, or of labels only.
static bool needsReference(const Settings &settings) {
  auto metric = settings.find("metric");
  if (metric == settings.end())
    return !settings.count("labels");
  std::string named = metric->second.text;
  for (const YamlValue &value : metric->second.values)
    named += "," + value.text;
  SmallVector<StringRef> names;
  StringRef(named).split(names, ',');
  return any_of(names, [](StringRef name) {
    return is_contained({"sqnr", "cosine", "agreement"}, name.trim());
  });
}

static YamlValue scalar(StringRef text) {
  YamlValue value;
  value.kind = YamlValue::Scalar;
  value.text = text.str();
  return value;
}

static std::string textOf(const Settings &settings, StringRef name) {
  auto found = settings.find(name.str());
  return found == settings.end() ? "" : found->second.text;
}

/// Quantizes, and does what the file has sections for.
int Job::runAll(ArrayRef<const char *> arguments) {
  Settings quantize = settingsOf(quantizeVerb, /*isMain=*/true);
  // What the command line gives instead goes for all stages.
  Declaration declared = declarationOf(quantizeVerb);
  bool isPositional = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    Given before = whatIsGiven(declared, arguments.take_front(i + 1));
    if (before.positionals == 1 && !isPositional) {
      quantize["model"] = scalar(argument);
      isPositional = true;
    }
    if (argument == "-o" && i + 1 < arguments.size())
      quantize["output"] = scalar(arguments[i + 1]);
    else if (argument.consume_front("-o="))
      quantize["output"] = scalar(argument);
  }
  std::string model = textOf(quantize, "model");
  std::string output = textOf(quantize, "output");
  if (hasSection("calibrate")) {
    Settings calibrate = settingsOf(calibrateVerb, /*isMain=*/false);
    calibrate.emplace("model", scalar(model));
    if (int code = start(calibrateVerb, calibrate))
      return code;
    // Samples have been seen; the table stands for them.
    for (auto entry = quantize.begin(); entry != quantize.end();)
      entry = entry->first != "quiet" && isShared(entry->first)
                  ? quantize.erase(entry)
                  : std::next(entry);
    quantize["table"] = scalar(textOf(calibrate, "output"));
  }
  bool isJob = !sections.empty();
  if (int code = start(quantizeVerb, quantize, arguments, isJob))
    return code;
  std::string result = output;
  if (hasSection("compile")) {
    Settings compile = settingsOf(compileVerb, /*isMain=*/false);
    compile.emplace("model", scalar(output));
    if (int code = start(compileVerb, compile))
      return code;
    // Code for other machines can't be run here.
    bool isHost = !compile.count("target") && !compile.count("cpu") &&
                  !compile.count("features");
    std::string library = textOf(compile, "output");
    if (isHost && sys::path::extension(library) == ".so")
      result = library;
  }
  for (const Verb *verb : {&evaluateVerb, &debugVerb, &benchVerb}) {
    if (!hasSection(verb->name))
      continue;
    Settings settings = settingsOf(*verb, /*isMain=*/false);
    settings.emplace("model", scalar(result));
    settings.emplace("float", scalar(model));
    settings.emplace("quant", scalar(output));
    if (verb == &evaluateVerb && needsReference(settings))
      settings.emplace("reference", scalar(model));
    if (int code = start(*verb, settings))
      return code;
  }
  return Done;
}

int Job::run(ArrayRef<const char *> arguments) {
  if (&main == &quantizeVerb)
    return runAll(arguments);
  return start(main, settingsOf(main, /*isMain=*/true), arguments,
               /*isEchoed=*/false);
}

int onnxquant::cli::runWithConfig(const Verb &verb,
                                  ArrayRef<const char *> arguments) {
  std::vector<const char *> others;
  std::string path;
  for (size_t i = 0; i < arguments.size(); ++i) {
    StringRef argument = arguments[i];
    if (argument.consume_front("--config=")) {
      path = argument.str();
    } else if (argument == "--config") {
      if (i + 1 == arguments.size())
        return Arguments(verb).wrong("option '--config' needs a value");
      path = arguments[++i];
    } else {
      others.push_back(arguments[i]);
    }
  }
  if (path.empty())
    return verb.run(arguments);
  Job job(path, verb);
  if (Error error = job.read()) {
    errs() << "error: " << toString(std::move(error)) << "\n";
    return BadInput;
  }
  return job.run(others);
}
