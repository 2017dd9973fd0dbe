// Runs one program with many sets of flags.

#include "SwitchedRuns.h"
#include "OnnxQuant/Support/Quantization.h"
#include "llvm/Support/Threading.h"
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

using namespace onnxquant;
using namespace onnxquant::debugging;

/// Each run has memory of its own.
static constexpr unsigned mostThreads = 8;

void OutputNoise::add(const std::vector<HostTensor> &right,
                      const std::vector<HostTensor> &other) {
  isEmpty = false;
  for (auto [reference, changed] : llvm::zip(right, other))
    for (int64_t i = 0; i < reference.numElements(); ++i) {
      double x = reference.at(i), error = x - changed.at(i);
      if (!std::isfinite(x) || !std::isfinite(error))
        continue;
      signal += x * x;
      noise += error * error;
    }
}

double OutputNoise::decibels() const {
  return signalToNoise(std::sqrt(signal), std::sqrt(noise));
}

llvm::Expected<std::vector<HostTensor>>
debugging::runSwitched(const Program &program, const Tensors &sample,
                       const std::vector<char> &on) {
  constexpr int32_t boolean = 9;
  Tensors inputs = sample;
  HostTensor flags;
  flags.name = "onnxq.flags";
  flags.type = boolean;
  flags.dims = {static_cast<int64_t>(on.size())};
  flags.data = on;
  inputs.push_back(std::move(flags));
  return program.run(inputs);
}

llvm::Expected<int64_t> debugging::runAll(const Program &program,
                                          const Tensors &sample,
                                          const std::vector<HostTensor> &right,
                                          llvm::ArrayRef<SwitchedRun> runs,
                                          llvm::function_ref<bool()> stop) {
  std::atomic<size_t> next{0};
  std::atomic<int64_t> done{0};
  std::atomic<bool> isOver{false};
  std::mutex mutex;
  std::string failure;
  auto work = [&](bool asks) {
    while (true) {
      if (asks && stop())
        isOver = true;
      size_t index = isOver ? runs.size() : next++;
      if (index >= runs.size())
        return;
      auto outputs = runSwitched(program, sample, runs[index].flags);
      if (!outputs) {
        std::lock_guard<std::mutex> lock(mutex);
        failure = llvm::toString(outputs.takeError());
        isOver = true;
        return;
      }
      runs[index].place->add(right, *outputs);
      program.reuse(std::move(*outputs));
      ++done;
    }
  };
  size_t threads =
      std::min<size_t>({llvm::hardware_concurrency().compute_thread_count(),
                        mostThreads, runs.size()});
  // Asked before any thread begins: with no time left, none runs.
  if (stop())
    return 0;
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < threads; ++i)
    helpers.emplace_back(work, false);
  work(true);
  for (std::thread &helper : helpers)
    helper.join();
  if (!failure.empty())
    return llvm::createStringError(failure);
  return done.load();
}
