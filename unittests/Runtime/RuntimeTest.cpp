// The C runtime: loading, checks of inputs and outputs, runs in many threads.

#include "onnxquant-c/runtime.h"
#include "gtest/gtest.h"
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string fake(const char *name) {
  return std::string(FAKE_FOLDER "/Fake") + name + ".so";
}

class RuntimeTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(onnxq_open(fake("Model").c_str(), &library, &error), ONNXQ_OK)
        << error.message;
    model = onnxq_get(library);
    inputs[0] = {x, sizeof(x), ONNXQ_FLOAT, 2, {2, 3}, 0};
    inputs[1] = {n, sizeof(n), ONNXQ_INT64, 1, {4}, 0};
  }
  void TearDown() override {
    onnxq_release(&outputs[0]);
    onnxq_release(&outputs[1]);
    onnxq_close(library);
  }

  int32_t run(void *workspace = nullptr) {
    return onnxq_run(model, workspace, inputs, 2, outputs, 2, &error);
  }
  void expectError(int32_t code, const char *message) {
    EXPECT_EQ(error.code, code);
    EXPECT_STREQ(error.message, message);
    for (const onnxq_tensor &output : outputs)
      EXPECT_EQ(output.owned, 0);
  }

  onnxq_library *library = nullptr;
  const onnxq_model *model = nullptr;
  onnxq_error error = {};
  float x[6] = {0, 1, 2, 3, 4, 5};
  int64_t n[4] = {1, 2, 3, 4};
  onnxq_tensor inputs[2] = {}, outputs[2] = {};
};

} // namespace

TEST_F(RuntimeTest, DescribesTheModel) {
  EXPECT_STREQ(model->name, "fake");
  EXPECT_EQ(onnxq_find_input(model, "n"), 1);
  EXPECT_EQ(onnxq_find_input(model, "s"), -1);
  EXPECT_EQ(onnxq_find_output(model, "s"), 0);
  EXPECT_EQ(onnxq_find_output(model, nullptr), -1);
  EXPECT_EQ(onnxq_find_input(nullptr, "n"), -1);
}

TEST_F(RuntimeTest, OutputsBeginLines) {
  ASSERT_EQ(run(), ONNXQ_OK) << error.message;
  ASSERT_EQ(outputs[0].owned, 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(outputs[0].data) %
                ONNXQ_WORKSPACE_ALIGNMENT,
            0u);
}

TEST_F(RuntimeTest, KnowsElementTypes) {
  EXPECT_EQ(onnxq_element_bytes(ONNXQ_DOUBLE), 8u);
  EXPECT_EQ(onnxq_element_bytes(ONNXQ_INT4), 1u);
  EXPECT_EQ(onnxq_element_bytes(8), 0u);
  EXPECT_EQ(onnxq_element_bytes(-1), 0u);
  EXPECT_EQ(onnxq_element_bytes(1000), 0u);
  EXPECT_STREQ(onnxq_type_name(ONNXQ_BFLOAT16), "bfloat16");
  EXPECT_STREQ(onnxq_type_name(1000), "no known type");
}

TEST_F(RuntimeTest, AllocatesOutputs) {
  ASSERT_EQ(run(), ONNXQ_OK) << error.message;
  EXPECT_EQ(error.code, ONNXQ_OK);
  EXPECT_EQ(outputs[0].bytes, 24u);
  EXPECT_EQ(static_cast<float *>(outputs[0].data)[5], 10);
  EXPECT_EQ(outputs[1].dims[0], 4);
  EXPECT_EQ(outputs[1].bytes, 32u);
  EXPECT_EQ(static_cast<int64_t *>(outputs[1].data)[0], 4);
  // A second run may have the same outputs.
  n[0] = 9;
  ASSERT_EQ(run(), ONNXQ_OK) << error.message;
  EXPECT_EQ(static_cast<int64_t *>(outputs[1].data)[3], 9);
  onnxq_release(&outputs[1]);
  EXPECT_EQ(outputs[1].data, nullptr);
  onnxq_release(&outputs[1]);
}

TEST_F(RuntimeTest, FillsOutputsOfTheCaller) {
  float s[6];
  int64_t t[8];
  outputs[0].data = s, outputs[0].bytes = sizeof(s);
  outputs[1].data = t, outputs[1].bytes = sizeof(t);
  void *workspace = onnxq_make_workspace(model);
  ASSERT_EQ(run(workspace), ONNXQ_OK) << error.message;
  onnxq_free_workspace(workspace);
  EXPECT_EQ(outputs[0].data, s);
  EXPECT_EQ(s[1], 2);
  EXPECT_EQ(t[0], 4);
  EXPECT_EQ(outputs[1].bytes, 32u);
  EXPECT_EQ(outputs[1].owned, 0);
}

TEST_F(RuntimeTest, RefusesOutputsWithoutRoom) {
  float s[6];
  int64_t t[2];
  outputs[0].data = s, outputs[0].bytes = 20;
  EXPECT_EQ(run(), ONNXQ_BAD_ARGUMENT);
  expectError(ONNXQ_BAD_ARGUMENT,
              "output 's' needs 24 bytes, but got room for 20");
  outputs[0].bytes = 24;
  outputs[1].data = t, outputs[1].bytes = sizeof(t);
  EXPECT_EQ(run(), ONNXQ_BAD_ARGUMENT);
  expectError(ONNXQ_BAD_ARGUMENT,
              "output 't' needs 32 bytes, but got room for 16");
}

TEST_F(RuntimeTest, RefusesInputs) {
  inputs[0].type = ONNXQ_INT32;
  EXPECT_EQ(run(), ONNXQ_BAD_INPUT);
  expectError(ONNXQ_BAD_INPUT,
              "input 'x' expects elements of float32, but got int32");
  inputs[0].type = ONNXQ_FLOAT;
  inputs[0].dims[1] = 4;
  run();
  expectError(ONNXQ_BAD_INPUT,
              "input 'x' expects shape [2, 3], but got [2, 4]");
  inputs[0].dims[1] = 3;
  inputs[0].rank = 3;
  run();
  expectError(ONNXQ_BAD_INPUT,
              "input 'x' expects shape [2, 3], but got [2, 3, 0]");
  inputs[0].rank = -1;
  run();
  expectError(ONNXQ_BAD_INPUT, "input 'x' expects shape [2, 3], but got []");
  inputs[0].rank = 2;
  inputs[1].dims[0] = -4;
  run();
  expectError(ONNXQ_BAD_INPUT, "input 'n' expects shape [?], but got [?]");
  inputs[1].dims[0] = 5;
  run();
  expectError(ONNXQ_BAD_INPUT, "input 'n' expects 40 bytes, but got 32");
  inputs[1].dims[0] = INT64_MAX;
  EXPECT_EQ(run(), ONNXQ_BAD_INPUT);
  inputs[1].dims[0] = 4;
  inputs[1].data = nullptr;
  run();
  expectError(ONNXQ_BAD_INPUT, "input 'n' has no data");
  EXPECT_EQ(onnxq_check_input(model, 2, &inputs[0], &error),
            ONNXQ_BAD_ARGUMENT);
}

TEST_F(RuntimeTest, RefusesOtherNumbers) {
  EXPECT_EQ(onnxq_run(model, nullptr, inputs, 1, outputs, 2, &error),
            ONNXQ_BAD_INPUT);
  expectError(ONNXQ_BAD_INPUT, "the model has 2 inputs, but got 1");
  EXPECT_EQ(onnxq_run(model, nullptr, inputs, 2, outputs, 1, &error),
            ONNXQ_BAD_ARGUMENT);
  EXPECT_EQ(onnxq_run(nullptr, nullptr, inputs, 2, outputs, 2, &error),
            ONNXQ_BAD_ARGUMENT);
  EXPECT_EQ(onnxq_run(model, nullptr, nullptr, 2, outputs, 2, nullptr),
            ONNXQ_BAD_ARGUMENT);
}

TEST_F(RuntimeTest, TellsWhyARunFailed) {
  n[2] = -1;
  EXPECT_EQ(run(), ONNXQ_RUN_FAILED);
  expectError(ONNXQ_RUN_FAILED, "node 'reverse': expects no negative element");
  EXPECT_EQ(onnxq_run(model, nullptr, inputs, 2, outputs, 2, nullptr),
            ONNXQ_RUN_FAILED);
}

TEST_F(RuntimeTest, TakesAnEmptyTensor) {
  inputs[1].dims[0] = 0;
  inputs[1].bytes = 0;
  inputs[1].data = nullptr;
  ASSERT_EQ(run(), ONNXQ_OK) << error.message;
  EXPECT_EQ(outputs[1].bytes, 0u);
}

TEST(Library, CannotBeOpened) {
  onnxq_error error;
  onnxq_library *library;
  EXPECT_EQ(onnxq_open("/nowhere/model.so", &library, &error),
            ONNXQ_BAD_LIBRARY);
  EXPECT_EQ(library, nullptr);
  EXPECT_STREQ(
      error.message,
      "/nowhere/model.so: cannot be opened: No such file or directory");
  EXPECT_EQ(onnxq_open("/etc/passwd", &library, &error), ONNXQ_BAD_LIBRARY);
  EXPECT_EQ(std::string(error.message).find("/etc/passwd: cannot be loaded: "),
            0u)
      << error.message;
  EXPECT_EQ(onnxq_open(fake("Nothing").c_str(), &library, &error),
            ONNXQ_BAD_LIBRARY);
  EXPECT_EQ(onnxq_open(fake("Version").c_str(), &library, &error),
            ONNXQ_BAD_VERSION);
  EXPECT_NE(std::string(error.message).find("has interface version 99"),
            std::string::npos);
  EXPECT_EQ(onnxq_open(nullptr, &library, &error), ONNXQ_BAD_ARGUMENT);
  onnxq_close(nullptr);
  EXPECT_EQ(onnxq_get(nullptr), nullptr);
}

TEST(Library, RunsInManyThreads) {
  std::atomic<int> wrong{0};
  onnxq_library *shared;
  ASSERT_EQ(onnxq_open(fake("Model").c_str(), &shared, nullptr), ONNXQ_OK);
  auto work = [&](int seed) {
    for (int round = 0; round < 500; ++round) {
      onnxq_error error;
      onnxq_library *own;
      // Opening and closing goes on while others run.
      if (onnxq_open(fake("Model").c_str(), &own, &error) != ONNXQ_OK) {
        ++wrong;
        return;
      }
      float x[6];
      int64_t n[2] = {seed, round % 50 == 49 ? -1 : round};
      for (int i = 0; i < 6; ++i)
        x[i] = seed * 1000 + round + i;
      onnxq_tensor inputs[2] = {{x, sizeof(x), ONNXQ_FLOAT, 2, {2, 3}, 0},
                                {n, sizeof(n), ONNXQ_INT64, 1, {2}, 0}};
      onnxq_tensor outputs[2] = {};
      int32_t code = onnxq_run(onnxq_get(round % 2 ? own : shared), nullptr,
                               inputs, 2, outputs, 2, &error);
      bool fine = code == (n[1] < 0 ? ONNXQ_RUN_FAILED : ONNXQ_OK);
      for (int i = 0; fine && code == ONNXQ_OK && i < 6; ++i)
        fine = static_cast<float *>(outputs[0].data)[i] == 2 * x[i];
      wrong += !fine;
      onnxq_release(&outputs[0]);
      onnxq_release(&outputs[1]);
      onnxq_close(own);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  onnxq_close(shared);
}
