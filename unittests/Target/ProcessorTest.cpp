// What targets need of processors, and the order of variants.

#include "OnnxQuant/Target/Target.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace llvm;
using onnxquant::describeTarget;
using onnxquant::neededFeatures;
using onnxquant::orderVariants;
using onnxquant::parseTarget;

static onnxquant::TargetOptions target(StringRef name, StringRef cpu = "",
                                       StringRef features = "") {
  return cantFail(parseTarget(name, cpu, features));
}

TEST(ProcessorTest, NamesWhatEveryLevelAdds) {
  EXPECT_EQ(neededFeatures(target("x86-64-v2")),
            (std::vector<std::string>{"sse3", "ssse3", "sse4.1", "sse4.2",
                                      "cx16", "sahf", "popcnt"}));
  auto needed = neededFeatures(target("x86-64-v4"));
  for (const char *feature : {"avx2", "fma", "avx512f", "avx512vl"})
    EXPECT_TRUE(is_contained(needed, feature)) << feature;
  EXPECT_FALSE(is_contained(needed, "avx512vnni"));
  EXPECT_TRUE(neededFeatures(target("aarch64")).empty());
  EXPECT_TRUE(is_contained(neededFeatures(target("aarch64+i8mm")), "i8mm"));
  EXPECT_TRUE(neededFeatures(target("riscv64")).empty());
  EXPECT_EQ(neededFeatures(target("riscv64+v")), std::vector<std::string>{"v"});
}

TEST(ProcessorTest, AProcessorIsNotThisMachines) {
  auto needed = neededFeatures(target("native", "sapphirerapids"));
  for (const char *feature : {"amx-tile", "amx-int8", "avx512vnni"})
    EXPECT_TRUE(is_contained(needed, feature)) << feature;
}

TEST(ProcessorTest, DescribesByLevels) {
  EXPECT_EQ(describeTarget(target("x86-64-v4")),
            "x86-64-v4: x86-64-v3 avx512f avx512bw avx512cd avx512dq "
            "avx512vl");
  EXPECT_EQ(describeTarget(target("x86-64-v3", "", "+avxvnni")),
            "x86-64-v3: x86-64-v2 movbe lzcnt bmi bmi2 avx f16c fma avx2 "
            "avxvnni");
  EXPECT_EQ(describeTarget(target("aarch64")), "aarch64");
}

TEST(ProcessorTest, PutsTheBestVariantFirst) {
  std::vector<onnxquant::TargetOptions> targets = {
      target("x86-64-v2"), target("x86-64-v4"), target("x86-64-v3"),
      target("x86-64-v4")};
  ASSERT_FALSE(static_cast<bool>(orderVariants(targets)));
  ASSERT_EQ(targets.size(), 3u);
  EXPECT_EQ(targets[0].name, "x86-64-v4");
  EXPECT_EQ(targets[2].name, "x86-64-v2");
  targets.push_back(target("aarch64"));
  EXPECT_NE(toString(orderVariants(targets)).find("different machines"),
            std::string::npos);
}
