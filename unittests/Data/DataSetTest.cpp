// Which samples are chosen, how arrays are split, and who this process is.

#include "OnnxQuant/Data/DataSet.h"
#include "OnnxQuant/Support/NumPy.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <cstring>

using namespace onnxquant;

namespace {

HostTensor counting(std::vector<int64_t> dims, int32_t type = 1) {
  HostTensor tensor;
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.data.resize(tensor.numElements() * elementBytes(type));
  if (type == 1)
    for (int64_t i = 0; i < tensor.numElements(); ++i) {
      auto value = static_cast<float>(i);
      std::memcpy(tensor.data.data() + 4 * i, &value, 4);
    }
  return tensor;
}

class DataSetTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("data-set", folder));
  }
  void TearDown() override {
    llvm::sys::fs::remove_directories(folder);
    for (const char *name : {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN",
                             "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_STEP",
                             "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                             "JOB_COMPLETION_INDEX", "JOB_COMPLETIONS"})
      unsetenv(name);
  }
  std::string save(const std::string &name, const HostTensor &tensor) {
    std::string path = folder.str().str() + "/" + name;
    EXPECT_FALSE(bool(writeNpy(tensor, path)));
    return path;
  }
  DataSet open(DataOptions options, std::vector<InputInfo> inputs) {
    auto set = DataSet::open(options, std::move(inputs));
    EXPECT_TRUE(bool(set)) << llvm::toString(set.takeError());
    return set ? std::move(*set) : DataSet();
  }
  std::string errorOf(DataOptions options, std::vector<InputInfo> inputs) {
    auto set = DataSet::open(options, std::move(inputs));
    if (!set)
      return llvm::toString(set.takeError());
    auto sample = set->load(0);
    return sample ? "" : llvm::toString(sample.takeError());
  }

  llvm::SmallString<128> folder;
};

} // namespace

TEST_F(DataSetTest, TheFirstAxisCountsSamples) {
  DataOptions options;
  options.paths = {save("x.npy", counting({5, 2, 3}))};
  DataSet set = open(options, {{"x", 1, {-1, 2, 3}}});
  ASSERT_EQ(set.size(), 5);
  EXPECT_TRUE(set.isUniform());
  auto sample = set.load(2);
  ASSERT_TRUE(bool(sample));
  EXPECT_EQ((*sample)[0].dims, (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ((*sample)[0].at(0), 12);
}

TEST_F(DataSetTest, AnAxisMoreCountsSamplesToo) {
  DataOptions options;
  options.paths = {save("x.npy", counting({5, 4, 3}))};
  DataSet set = open(options, {{"x", 1, {4, 3}}});
  ASSERT_EQ(set.size(), 5);
  EXPECT_EQ((*set.load(1))[0].dims, (std::vector<int64_t>{4, 3}));
}

TEST_F(DataSetTest, AModelsOwnBatchIsFilled) {
  DataOptions options;
  options.paths = {save("x.npy", counting({6, 3}))};
  DataSet set = open(options, {{"x", 1, {2, 3}}});
  ASSERT_EQ(set.size(), 3);
  EXPECT_EQ((*set.load(2))[0].at(0), 12);
}

TEST_F(DataSetTest, StartStrideLimitThenShard) {
  DataOptions options;
  options.paths = {save("x.npy", counting({20, 1}))};
  options.start = 2;
  options.stride = 3;
  options.limit = 5;
  std::vector<double> seen;
  for (options.shard = 0, options.shards = 2; options.shard < 2;
       ++options.shard) {
    DataSet set = open(options, {{"x", 1, {-1, 1}}});
    for (int64_t i = 0; i < set.size(); ++i)
      seen.push_back((*set.load(i))[0].at(0));
  }
  EXPECT_EQ(seen, (std::vector<double>{2, 8, 14, 5, 11}));
}

TEST_F(DataSetTest, SeveralInputsByName) {
  DataOptions options;
  options.paths = {"b=" + save("p.npy", counting({4, 2})),
                   "a=" + save("q.npy", counting({4, 3}))};
  DataSet set = open(options, {{"a", 1, {-1, 3}}, {"b", 1, {-1, 2}}});
  auto sample = set.load(3);
  ASSERT_TRUE(bool(sample));
  EXPECT_EQ((*sample)[0].at(0), 9);
  EXPECT_EQ((*sample)[1].at(0), 6);
}

TEST_F(DataSetTest, WrongSamplesAreNamed) {
  DataOptions options;
  options.paths = {save("x.npy", counting({5, 2, 3}))};
  std::string place = options.paths[0] + ", sample 0: ";
  EXPECT_EQ(errorOf(options, {{"x", 1, {-1, 2, 4}}}),
            place + "input 'x' expects shape [?, 2, 4], but got [1, 2, 3]");
  EXPECT_EQ(errorOf(options, {{"x", 7, {-1, 2, 3}}}),
            place + "input 'x' expects elements of int64, but got float32; "
                    "convert it, in NumPy by .astype(\"int64\")");
  EXPECT_EQ(errorOf(options, {{"x", 1, {-1, 2, 3}}, {"y", 1, {1}}}),
            place + "input 'y' is missing; the model has 'x' and 'y'");
  options.paths = {"z=" + options.paths[0]};
  EXPECT_EQ(errorOf(options, {{"x", 1, {-1, 2, 3}}}),
            "the model has no input 'z'; it has 'x'");
  options.paths = {folder.str().str() + "/none"};
  EXPECT_NE(errorOf(options, {{"x", 1, {1}}}).find("no such file"),
            std::string::npos);
}

TEST_F(DataSetTest, OptionsOfImagesAreRefusedForArrays) {
  DataOptions options;
  options.paths = {save("x.npy", counting({5, 2}))};
  options.preprocess.scale = {2};
  EXPECT_EQ(errorOf(options, {{"x", 1, {-1, 2}}}),
            "scale is for images, but " + options.paths[0] +
                " holds arrays, which are taken as they are");
}

TEST_F(DataSetTest, ConversionsAndLimitsAreSaidOnce) {
  DataOptions options;
  std::vector<std::string> notes;
  options.note = [&](const std::string &note) { notes.push_back(note); };
  options.limit = 9;
  options.paths = {save("x.npy", counting({5, 2}))};
  DataSet set = open(options, {{"x", 11, {-1, 2}}});
  for (int64_t i = 0; i < set.size(); ++i) {
    auto sample = set.load(i);
    ASSERT_TRUE(bool(sample));
    EXPECT_EQ((*sample)[0].type, 11);
    EXPECT_EQ((*sample)[0].at(1), 2 * i + 1);
  }
  EXPECT_EQ(notes, (std::vector<std::string>{
                       "limit is 9, but there are only 5 samples",
                       "input 'x': float32 is converted to float64"}));
}

TEST_F(DataSetTest, FailuresAreExplained) {
  DataOptions options;
  options.paths = {save("x.npy", counting({5, 2, 3}))};
  DataSet set = open(options, {{"x", 1, {-1, 2, -1}}});
  EXPECT_EQ(set.explain("no", {1}, *set.load(1)),
            options.paths[0] +
                ", sample 1 (x: [1, 2, 3]): no; if the model can't take this "
                "shape, give samples of another one, and say it by "
                "--input-shape x=SHAPE");
}

TEST_F(DataSetTest, EmptyFoldersHaveNoSamples) {
  DataOptions options;
  options.paths = {folder.str().str()};
  EXPECT_NE(errorOf(options, {{"x", 1, {1}}}).find("has no samples"),
            std::string::npos);
}

TEST_F(DataSetTest, StackingNeedsEqualShapes) {
  auto whole = stack({{counting({1, 2})}, {counting({1, 2})}});
  ASSERT_TRUE(bool(whole));
  EXPECT_EQ((*whole)[0].dims, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ((*whole)[0].at(3), 1);
  auto ragged = stack({{counting({1, 2})}, {counting({1, 3})}});
  ASSERT_FALSE(bool(ragged));
  llvm::consumeError(ragged.takeError());
}

TEST_F(DataSetTest, ShardsByNumberAndByEngine) {
  DataOptions options;
  auto given = [&](const char *text) {
    llvm::Error error = parseShard(text, options);
    bool failed = bool(error);
    llvm::consumeError(std::move(error));
    return failed ? std::pair<int64_t, int64_t>(-1, -1)
                  : std::pair(options.shard, options.shards);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(given("2/4"), Pair(2, 4));
  for (const char *text : {"4/4", "-1/4", "a/b", "3", "", "auto"})
    EXPECT_EQ(given(text), Pair(-1, -1)) << text;
  setenv("JOB_COMPLETION_INDEX", "1", 1);
  setenv("JOB_COMPLETIONS", "5", 1);
  EXPECT_EQ(given("auto"), Pair(1, 5));
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "6", 1);
  EXPECT_EQ(given("auto"), Pair(3, 6));
  setenv("SLURM_ARRAY_TASK_ID", "14", 1);
  setenv("SLURM_ARRAY_TASK_MIN", "10", 1);
  setenv("SLURM_ARRAY_TASK_STEP", "2", 1);
  setenv("SLURM_ARRAY_TASK_COUNT", "3", 1);
  EXPECT_EQ(given("auto"), Pair(2, 3));
}
