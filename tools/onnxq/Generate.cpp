// onnxq generate: text from a model with a KV cache.

#include "Models.h"
#include "OnnxQuant/Pipelines/RunInputs.h"
#include "OnnxQuant/Pipelines/Session.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/Interrupt.h"
#include "OnnxQuant/Support/Json.h"
#include "OnnxQuant/Support/ModelDiagnostics.h"
#include "OnnxQuant/Text/DecodeLoop.h"
#include "OnnxQuant/Text/Tokenizer.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include <chrono>

using namespace mlir;
using namespace onnxquant;
using namespace onnxquant::cli;
using Clock = std::chrono::steady_clock;

namespace {

struct GenerateSettings {
  std::string path, tokenizer, prompt, promptFile, promptTokens, stop, cache;
  std::vector<std::string> inputs;
  int64_t maxTokens = 128, topK = 1, seed = 0, threads = 1;
  double temperature = 1;
  bool json = false, quiet = false, addsSpecial = true;
  ModelOptions model;
  LimitOptions limits;
};

/// The model in its forms: any number of tokens at a time, and one.
struct Decoder {
  DecoderSignature signature;
  std::vector<HostTensor> given;
  std::unique_ptr<LoadedLibrary> library;
  std::unique_ptr<LoadedObject> many, one;
  double compileSeconds = 0;

  const onnxq_model &forTokens(int64_t count) const {
    if (library)
      return library->model();
    return count == 1 && one ? one->model() : many->model();
  }
};

struct Generated {
  std::vector<int64_t> prompt, tokens;
  std::string text;
  double promptSeconds = 0, tokenSeconds = 0;
  bool isStopped = false;
};

} // namespace

static int complain(llvm::Error error) {
  llvm::errs() << "error: " << llvm::toString(std::move(error)) << "\n";
  return BadInput;
}

static double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static std::vector<DecoderTensor> tensorsOf(std::vector<InputSpec> specs) {
  std::vector<DecoderTensor> tensors;
  for (InputSpec &spec : specs)
    tensors.push_back({std::move(spec.name), spec.type,
                       spec.dims.value_or(std::vector<int64_t>())});
  return tensors;
}

/// Reads `--input`s, and finds out what the model's inputs are for.
static llvm::Error matchDecoder(std::vector<InputSpec> inputs,
                                std::vector<InputSpec> outputs,
                                const GenerateSettings &settings,
                                Decoder &decoder) {
  for (const std::string &argument : settings.inputs) {
    auto read = readInputs(argument);
    if (!read)
      return read.takeError();
    for (HostTensor &tensor : *read) {
      auto spec = llvm::find_if(inputs, [&](const InputSpec &input) {
        return input.name == tensor.name;
      });
      if (spec == inputs.end())
        return llvm::createStringError(argument + ": the model has no input '" +
                                       tensor.name + "'");
      auto matched = matchInputs({*spec}, {tensor}, std::nullopt);
      if (!matched)
        return matched.takeError();
      decoder.given.push_back(std::move(matched->front()));
    }
  }
  auto signature =
      DecoderSignature::match(tensorsOf(std::move(inputs)),
                              tensorsOf(std::move(outputs)), decoder.given);
  if (!signature)
    return llvm::createStringError(settings.path + ": " +
                                   llvm::toString(signature.takeError()));
  decoder.signature = std::move(*signature);
  return llvm::Error::success();
}

static int openLibrary(const GenerateSettings &settings, Decoder &decoder) {
  auto library = LoadedLibrary::open(settings.path);
  if (!library)
    return complain(library.takeError());
  decoder.library = std::move(*library);
  const onnxq_model &model = decoder.library->model();
  if (llvm::Error error = matchDecoder(
          describeInputs(model), describeOutputs(model), settings, decoder))
    return complain(std::move(error));
  return Done;
}

static FailureOr<std::unique_ptr<LoadedObject>>
compileFor(ModuleOp module, std::vector<std::string> shapes,
           const CompileOptions &options) {
  ModelOptions specialize;
  specialize.inputShapes = std::move(shapes);
  if (failed(specialize.apply(module)))
    return failure();
  return compileAndLoad(module, options);
}

/// Compiles the model for any number of tokens at a time, and where it keeps a
/// cache, for one: that is most of the work, and code for one row is faster.
static int compileModel(const GenerateSettings &settings, Decoder &decoder) {
  ModelContext context;
  ModelDiagnosticHandler handler(&context.get());
  OwningOpRef<ModuleOp> module =
      settings.model.read(settings.path, context.get());
  if (!module)
    return BadInput;
  if (llvm::Error error = matchDecoder(
          describeInputs(*module), describeOutputs(*module), settings, decoder))
    return complain(std::move(error));
  CompileOptions options;
  options.threads = settings.threads;
  options.cacheFolder = findCache(settings.cache);
  auto target = parseTarget("native");
  if (!target)
    return complain(target.takeError());
  options.target = *target;
  Phase compiling("compiling");
  auto start = Clock::now();
  const DecoderSignature &signature = decoder.signature;
  bool isDynamic =
      signature.tokens().dims.size() == 2 && signature.tokens().dims[1] < 0;
  if (isDynamic && signature.hasCache()) {
    OwningOpRef<ModuleOp> single(cast<ModuleOp>(module->clone()));
    auto one = compileFor(*single, signature.shapes(1), options);
    if (failed(one))
      return BadInput;
    decoder.one = std::move(*one);
  }
  auto many = compileFor(*module, signature.shapes(0), options);
  if (failed(many))
    return BadInput;
  decoder.many = std::move(*many);
  decoder.compileSeconds = since(start);
  return Done;
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// Numbers with commas between them.
static std::optional<std::vector<int64_t>> parseTokens(StringRef text) {
  std::vector<int64_t> tokens;
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    int64_t token;
    if (part.trim().getAsInteger(10, token) || token < 0)
      return std::nullopt;
    tokens.push_back(token);
  }
  return tokens;
}

/// Tokens that end a text: those of generation_config.json beside the
/// tokenizer, or the tokenizer's own of the usual names.
static llvm::Expected<std::vector<int64_t>>
findStops(const GenerateSettings &settings, const Tokenizer *tokenizer) {
  if (!settings.stop.empty())
    return *parseTokens(settings.stop);
  std::vector<int64_t> stops;
  if (!tokenizer)
    return stops;
  llvm::SmallString<128> config(settings.tokenizer);
  llvm::sys::path::remove_filename(config);
  llvm::sys::path::append(config, "generation_config.json");
  if (llvm::sys::fs::exists(config)) {
    auto buffer = openInput(config, FileLimits::config);
    auto json = buffer ? parseJson((*buffer)->getBuffer())
                       : llvm::Expected<llvm::json::Value>(buffer.takeError());
    if (!json)
      return llvm::createStringError(config + ": " +
                                     llvm::toString(json.takeError()));
    const llvm::json::Object *object = json->getAsObject();
    const llvm::json::Value *end =
        object ? object->get("eos_token_id") : nullptr;
    if (end && end->getAsInteger())
      return std::vector<int64_t>{*end->getAsInteger()};
    if (const llvm::json::Array *list = end ? end->getAsArray() : nullptr)
      for (const llvm::json::Value &token : *list)
        if (token.getAsInteger())
          stops.push_back(*token.getAsInteger());
    if (!stops.empty())
      return stops;
  }
  for (StringRef name :
       {"</s>", "<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|end_of_text|>",
        "<|end|>", "<eos>", "<end_of_turn>"})
    if (auto token = tokenizer->find(name))
      stops.push_back(*token);
  return stops;
}

static llvm::Expected<std::vector<int64_t>>
readPrompt(const GenerateSettings &settings, const Tokenizer *tokenizer) {
  if (!settings.promptTokens.empty())
    return *parseTokens(settings.promptTokens);
  if (settings.promptFile.empty())
    return tokenizer->encode(settings.prompt, settings.addsSpecial);
  auto buffer = openInputOrStdin(settings.promptFile, FileLimits::config);
  if (!buffer)
    return llvm::createStringError(settings.promptFile + ": " +
                                   llvm::toString(buffer.takeError()));
  return tokenizer->encode((*buffer)->getBuffer(), settings.addsSpecial);
}

//===----------------------------------------------------------------------===//
// Generating
//===----------------------------------------------------------------------===//

static llvm::Error generate(const GenerateSettings &settings,
                            const Decoder &decoder, const Tokenizer *tokenizer,
                            ArrayRef<int64_t> stops, Generated &result) {
  DecodeLoop loop(decoder.signature, decoder.given);
  Sampler sampler(settings.topK, settings.temperature, settings.seed);
  std::function<bool()> isInterrupted = pollInterrupts();
  auto run = [&](const std::vector<HostTensor> &inputs) {
    int64_t count = 0;
    for (const HostTensor &input : inputs)
      if (input.name == decoder.signature.tokens().name)
        count = input.dims.back();
    return runModel(decoder.forTokens(count), inputs);
  };
  // A model for one token at a time gets the prompt that way, too.
  ArrayRef<int64_t> dims = decoder.signature.tokens().dims;
  size_t atOnce = dims.size() == 2 && dims[1] > 0 ? dims[1] : 0;
  ArrayRef<int64_t> prompt = result.prompt;
  auto start = Clock::now();
  llvm::Expected<std::vector<float>> scores = std::vector<float>();
  for (size_t at = 0; at < prompt.size() && !isInterrupted();) {
    size_t count = atOnce ? atOnce : prompt.size();
    if (at + count > prompt.size())
      return llvm::createStringError(
          "the model takes %zu tokens at a time, and the prompt has %zu",
          atOnce, prompt.size());
    scores = loop.step(prompt.slice(at, count), run);
    if (!scores)
      return scores.takeError();
    at += count;
  }
  result.promptSeconds = since(start);
  std::optional<TokenStream> stream;
  if (tokenizer)
    stream.emplace(*tokenizer);
  auto show = [&](const std::string &text) {
    result.text += text;
    if (settings.json)
      return;
    llvm::outs() << text;
    llvm::outs().flush();
  };
  start = Clock::now();
  while (int64_t(result.tokens.size()) < settings.maxTokens &&
         !isInterrupted()) {
    int64_t token = sampler.choose(*scores);
    if (llvm::is_contained(stops, token)) {
      result.isStopped = true;
      break;
    }
    result.tokens.push_back(token);
    if (stream)
      show(stream->add(token));
    else
      show((result.tokens.size() > 1 ? "," : "") + std::to_string(token));
    if (int64_t(result.tokens.size()) == settings.maxTokens)
      break;
    scores = loop.step(token, run);
    if (!scores)
      return scores.takeError();
  }
  result.tokenSeconds = since(start);
  if (stream)
    show(stream->finish());
  if (!settings.json)
    llvm::outs() << "\n";
  return llvm::Error::success();
}

static double perSecond(size_t tokens, double seconds) {
  return seconds > 0 ? tokens / seconds : 0;
}

static void printResult(const GenerateSettings &settings,
                        const Decoder &decoder, const Generated &result) {
  // The first token comes with the prompt's scores.
  size_t steps = result.tokens.empty() ? 0 : result.tokens.size() - 1;
  if (settings.json) {
    llvm::json::Object root{
        {"prompt_tokens", llvm::json::Array(result.prompt)},
        {"tokens", llvm::json::Array(result.tokens)},
        {"text", result.text},
        {"stopped", result.isStopped},
        {"compile_s", decoder.compileSeconds},
        {"prompt_s", result.promptSeconds},
        {"prompt_tokens_per_s",
         perSecond(result.prompt.size(), result.promptSeconds)},
        {"tokens_per_s", perSecond(steps, result.tokenSeconds)}};
    llvm::outs() << llvm::formatv("{0:2}", llvm::json::Value(std::move(root)))
                 << "\n";
    return;
  }
  if (settings.quiet)
    return;
  llvm::errs() << llvm::formatv(
      "prompt: {0} tokens, {1:F1} tokens/s; generated: {2} tokens, {3:F1} "
      "tokens/s{4}\n",
      result.prompt.size(),
      perSecond(result.prompt.size(), result.promptSeconds),
      result.tokens.size(), perSecond(steps, result.tokenSeconds),
      result.isStopped ? ", then the end of the text" : "");
}

static std::optional<int> check(const Arguments &parser,
                                const GenerateSettings &settings) {
  int numPrompts = parser.isGiven("prompt") + parser.isGiven("prompt-file") +
                   parser.isGiven("prompt-tokens");
  if (numPrompts != 1)
    return parser.wrong(
        "expects one of --prompt, --prompt-file and --prompt-tokens");
  if (settings.promptTokens.empty() && settings.tokenizer.empty())
    return parser.wrong("expects --tokenizer FILE, or --prompt-tokens");
  for (StringRef name : {"prompt-tokens", "stop"})
    if (parser.isGiven(name) &&
        !parseTokens(name == "stop" ? settings.stop : settings.promptTokens))
      return parser.wrong("option '--" + name.str() +
                          "' expects numbers of tokens, such as 1,15,9");
  if (settings.maxTokens < 1)
    return parser.wrong("option '--max-tokens' expects 1 or more");
  if (settings.topK < 1)
    return parser.wrong("option '--top-k' expects 1 or more");
  if (!(settings.temperature > 0))
    return parser.wrong("option '--temperature' expects more than 0");
  if (settings.topK == 1 &&
      (parser.isGiven("temperature") || parser.isGiven("seed")))
    return parser.wrong("--temperature and --seed choose among several tokens: "
                        "give --top-k of 2 or more, too");
  if (parser.isGiven("no-special") && !settings.promptTokens.empty())
    return parser.wrong("--no-special is for prompts that are text");
  bool isLibrary = llvm::sys::path::extension(settings.path) == ".so";
  if (isLibrary && (settings.model.specializes() || settings.limits.isGiven() ||
                    settings.threads != 1 || !settings.cache.empty()))
    return parser.wrong("a library is compiled already: --dim, --input-shape, "
                        "--max-memory, --max-iterations, --threads and --cache "
                        "are for models");
  return checkThreads(parser, settings.threads);
}

static int run(llvm::ArrayRef<const char *> arguments) {
  GenerateSettings settings;
  bool noSpecial = false;
  Arguments parser(generateVerb);
  parser.positional("MODEL", settings.path)
      .option("tokenizer", settings.tokenizer)
      .option("prompt", settings.prompt)
      .option("prompt-file", settings.promptFile)
      .option("prompt-tokens", settings.promptTokens)
      .flag("no-special", noSpecial)
      .option("max-tokens", settings.maxTokens)
      .option("stop", settings.stop)
      .option("top-k", settings.topK)
      .option("temperature", settings.temperature)
      .option("seed", settings.seed)
      .list("input", settings.inputs)
      .option("threads", settings.threads)
      .option("cache", settings.cache)
      .flag("json", settings.json)
      .flag("quiet", settings.quiet);
  settings.model.declare(parser);
  settings.limits.declare(parser);
  if (std::optional<int> code = parser.parse(arguments))
    return *code;
  settings.addsSpecial = !noSpecial;
  if (std::optional<int> code = check(parser, settings))
    return *code;
  if (std::optional<int> code = settings.limits.apply(parser))
    return *code;
  std::optional<Tokenizer> tokenizer;
  if (!settings.tokenizer.empty()) {
    auto read = Tokenizer::read(settings.tokenizer);
    if (!read)
      return complain(read.takeError());
    tokenizer = std::move(*read);
  }
  const Tokenizer *reader = tokenizer ? &*tokenizer : nullptr;
  Generated result;
  auto prompt = readPrompt(settings, reader);
  if (!prompt)
    return complain(prompt.takeError());
  if (prompt->empty())
    return complain(llvm::createStringError(
        "the prompt has no tokens; give some text or --prompt-tokens"));
  result.prompt = std::move(*prompt);
  auto stops = findStops(settings, reader);
  if (!stops)
    return complain(stops.takeError());
  Decoder decoder;
  bool isLibrary = llvm::sys::path::extension(settings.path) == ".so";
  if (int code = isLibrary ? openLibrary(settings, decoder)
                           : compileModel(settings, decoder))
    return code;
  if (!decoder.signature.hasCache() && !settings.quiet)
    llvm::errs() << "note: the model keeps no KV cache (it has no input "
                    "'past_key_values...'): every token costs a run over the "
                    "whole text\n";
  if (llvm::Error error = generate(settings, decoder, reader, *stops, result))
    return complain(std::move(error));
  printResult(settings, decoder, result);
  return Done;
}

const Verb onnxquant::cli::generateVerb = {
    "generate", "continue a text by a language model",
    R"(usage: onnxq generate MODEL --tokenizer FILE --prompt TEXT [options]

Continues a text by a decoder (.onnx, .mlir, .mlirbc, or a .so made by 'onnxq
compile') with an input 'input_ids' and an output 'logits'; past_key_values and
present are its KV cache. Text goes to standard output as it comes.

  --tokenizer FILE          tokenizer.json, of the kind BPE
  --prompt TEXT             what to continue
  --prompt-file FILE        the same, from a file; - is standard input
  --prompt-tokens LIST      tokens, such as 1,15,9; needs no tokenizer
  --no-special              put no tokens around the prompt
  --max-tokens N            end after so many (128)
  --stop LIST               tokens that end a text (those of
                            generation_config.json, or of the tokenizer)
  --top-k K                 choose among the K best (1: always the best)
  --temperature T           how even their chances are (1)
  --seed N                  of the choice (0)
  --threads N               threads that the model uses (1)
  --json                    tokens, text and times as JSON
  --quiet                   print the text and errors only
{more}
  --input NAME=FILE         a further input of the model, as for 'onnxq run'
  --dim NAME=VALUE          give a named dimension a value
  --input-shape NAME=SHAPE  give an input a shape
  --trust-bytecode          read .mlirbc that has no checksum of ours
  --max-memory BYTES        what tensors may take, such as 8G (the machine's)
  --max-iterations N        let a Loop fail after N (10000000; 0: after none)
  --cache DIR               where compiled models are kept (ONNXQUANT_CODE_CACHE)

example: onnxq generate llama.onnx --tokenizer tokenizer.json --prompt "Hello"
)",
    run};
