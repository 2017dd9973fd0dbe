// Reads and writes what a search has found so far.

#include "Checkpoint.h"
#include "OnnxQuant/Support/AtomicFile.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Json.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace onnxquant;
using namespace onnxquant::budget;

static json::Value optionalNumber(std::optional<double> number) {
  return number ? json::Value(*number) : json::Value(nullptr);
}

static json::Object toJson(const SourceSensitivity &sensitivity) {
  return json::Object{{"samples", sensitivity.samples},
                      {"runs", sensitivity.runs},
                      {"signal", sensitivity.signal},
                      {"all", sensitivity.all},
                      {"noise", json::Array(sensitivity.noise)}};
}

static json::Object toJson(const Costs &costs) {
  json::Object layers;
  for (const auto &[node, times] : costs.layers)
    layers[json::fixUTF8(node)] =
        json::Array{times.time8, times.time16, times.timeFloat};
  return json::Object{{"layers", std::move(layers)}, {"other", costs.other}};
}

static json::Object toJson(const Score &score) {
  json::Object object{{"samples", score.samples},
                      {"rows", score.rows},
                      {"sqnr", score.sqnr},
                      {"agreement", optionalNumber(score.agreement)},
                      {"reference", optionalNumber(score.reference)},
                      {"own", optionalNumber(score.own)}};
  for (auto [name, interval] :
       {std::pair("interval", &score.interval),
        {"sqnr_interval", &score.sqnrInterval},
        {"agreement_interval", &score.agreementInterval}})
    if (*interval)
      object[name] = json::Array{(*interval)->low, (*interval)->high};
  return object;
}

Error Checkpoint::save(StringRef path) const {
  json::Object root{{"identity", identity}}, judged, timed;
  if (sensitivity)
    root["sensitivity"] = toJson(*sensitivity);
  if (costs)
    root["costs"] = toJson(*costs);
  for (const auto &[place, score] : scores)
    judged[std::to_string(place)] = toJson(score);
  for (const auto &[place, time] : milliseconds)
    timed[std::to_string(place)] = time;
  root["scores"] = std::move(judged);
  root["milliseconds"] = std::move(timed);
  auto file = AtomicFile::create(path);
  if (!file)
    return file.takeError();
  (*file)->os() << formatv("{0}\n", json::Value(std::move(root)));
  return (*file)->commit();
}

static bool read(const json::Object &object, SourceSensitivity &sensitivity) {
  const json::Array *noise = object.getArray("noise");
  auto samples = object.getInteger("samples"), runs = object.getInteger("runs");
  auto signal = object.getNumber("signal"), all = object.getNumber("all");
  if (!noise || !samples || !runs || !signal || !all)
    return false;
  sensitivity = {{}, *samples, *runs, *signal, *all, {}};
  for (const json::Value &each : *noise)
    sensitivity.noise.push_back(each.getAsNumber().value_or(0));
  return true;
}

static bool read(const json::Object &object, Costs &costs) {
  const json::Object *layers = object.getObject("layers");
  auto other = object.getNumber("other");
  if (!layers || !other)
    return false;
  costs.other = *other;
  for (const auto &[node, value] : *layers) {
    const json::Array *times = value.getAsArray();
    if (!times || times->size() != 3)
      return false;
    costs.layers[node.str()] = {(*times)[0].getAsNumber().value_or(0),
                                (*times)[1].getAsNumber().value_or(0),
                                (*times)[2].getAsNumber().value_or(0)};
  }
  return true;
}

static bool read(const json::Object &object, Score &score) {
  auto samples = object.getInteger("samples"), rows = object.getInteger("rows");
  auto sqnr = object.getNumber("sqnr");
  if (!samples || !rows || !sqnr)
    return false;
  score.samples = *samples;
  score.rows = *rows;
  score.sqnr = *sqnr;
  score.agreement = object.getNumber("agreement");
  score.reference = object.getNumber("reference");
  score.own = object.getNumber("own");
  for (auto [name, interval] :
       {std::pair("interval", &score.interval),
        {"sqnr_interval", &score.sqnrInterval},
        {"agreement_interval", &score.agreementInterval}})
    if (const json::Array *bounds = object.getArray(name);
        bounds && bounds->size() == 2)
      *interval = Interval{(*bounds)[0].getAsNumber().value_or(0),
                           (*bounds)[1].getAsNumber().value_or(0)};
  return true;
}

Expected<Checkpoint> Checkpoint::load(StringRef path, StringRef identity) {
  Checkpoint result;
  result.identity = identity.str();
  if (path.empty() || !sys::fs::exists(path))
    return result;
  auto wrong = [&](const Twine &message) {
    return createStringError(path + ": " + message);
  };
  auto text = openInput(path, FileLimits::table, /*isText=*/true);
  if (!text)
    return wrong(toString(text.takeError()));
  auto value = parseJson((*text)->getBuffer());
  if (!value)
    return wrong("expects a checkpoint of a search, but " +
                 toString(value.takeError()));
  const json::Object *root = value->getAsObject();
  auto whose = root ? root->getString("identity") : std::nullopt;
  if (!whose)
    return wrong("is no checkpoint of a search");
  if (*whose != identity)
    return wrong("is of another model, other options or other samples: remove "
                 "it, or name another file");
  bool isRight = true;
  if (const json::Object *object = root->getObject("sensitivity"))
    isRight &= read(*object, result.sensitivity.emplace());
  if (const json::Object *object = root->getObject("costs"))
    isRight &= read(*object, result.costs.emplace());
  if (const json::Object *scores = root->getObject("scores"))
    for (const auto &[place, score] : *scores) {
      int64_t number;
      const json::Object *object = score.getAsObject();
      isRight &= object && !StringRef(place).getAsInteger(10, number) &&
                 read(*object, result.scores[number]);
    }
  if (const json::Object *times = root->getObject("milliseconds"))
    for (const auto &[place, time] : *times) {
      int64_t number;
      isRight &= !StringRef(place).getAsInteger(10, number) &&
                 time.getAsNumber().has_value();
      if (isRight)
        result.milliseconds[number] = *time.getAsNumber();
    }
  if (!isRight)
    return wrong("is damaged: remove it");
  return result;
}
