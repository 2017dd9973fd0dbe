// What names of processors and features stand for.

#include "OnnxQuant/Support/TargetInfo.h"
#include "gtest/gtest.h"

using namespace onnxquant;

static TargetInfo x86(llvm::StringRef cpu, llvm::StringRef features = "") {
  return getTargetInfo("x86_64-unknown-linux-gnu", cpu, features);
}

TEST(TargetInfo, KnowsLevelsOfX86) {
  EXPECT_EQ(x86("x86-64-v2").vectorBytes, 16);
  EXPECT_FALSE(x86("x86-64-v2").hasFMA);
  TargetInfo v3 = x86("x86-64-v3");
  EXPECT_EQ(v3.vectorBytes, 32);
  EXPECT_TRUE(v3.hasFMA && v3.hasAVX2);
  EXPECT_FALSE(v3.hasAVX512 || v3.hasAVXVNNI);
  // This level has the wide registers, of which LLVM uses half if not told.
  TargetInfo v4 = x86("x86-64-v4");
  EXPECT_FALSE(v4.hasAVX512);
  EXPECT_EQ(v4.vectorBytes, 32);
  EXPECT_EQ(v4.numVectors, 32);
  EXPECT_GT(v4.cacheBytes, v3.cacheBytes);
}

TEST(TargetInfo, KnowsProcessorsAndFeatures) {
  EXPECT_TRUE(x86("znver3").hasFMA);
  EXPECT_TRUE(x86("icelake-server", "-prefer-256-bit").hasAVX512VNNI);
  EXPECT_TRUE(x86("alderlake").hasAVXVNNI);
  EXPECT_FALSE(x86("znver3", "-fma").hasFMA);
  EXPECT_TRUE(x86("znver4").hasAVX512VNNI);
  EXPECT_EQ(x86("znver4").vectorBytes, 64);
  EXPECT_EQ(x86("znver4", "+prefer-256-bit").vectorBytes, 32);
  EXPECT_TRUE(x86("x86-64-v4", "+avx512vnni").hasAVXVNNI);
  EXPECT_TRUE(x86("sapphirerapids", "-prefer-256-bit").hasAMX);
  EXPECT_FALSE(x86("sapphirerapids", "-prefer-256-bit,-amx-int8").hasAMX);
  EXPECT_FALSE(x86("znver4").hasAMX);
  // Only Linux's way to ask for tiles is known.
  EXPECT_FALSE(getTargetInfo("x86_64-pc-windows-msvc", "sapphirerapids",
                             "-prefer-256-bit")
                   .hasAMX);
}

TEST(TargetInfo, KnowsAArch64) {
  auto get = [](llvm::StringRef cpu, llvm::StringRef features) {
    return getTargetInfo("aarch64-unknown-linux-gnu", cpu, features);
  };
  EXPECT_TRUE(get("generic", "+neon").hasFMA);
  EXPECT_FALSE(get("generic", "+neon").hasDotprod);
  EXPECT_TRUE(get("cortex-a76", "").hasDotprod);
  EXPECT_FALSE(get("cortex-a76", "").hasI8mm);
  EXPECT_TRUE(get("generic", "+v8.6a,+dotprod,+i8mm").hasI8mm);
}

TEST(TargetInfo, KnowsRISCV) {
  auto get = [](llvm::StringRef cpu, llvm::StringRef features) {
    return getTargetInfo("riscv64-unknown-linux-gnu", cpu, features);
  };
  TargetInfo scalar = get("generic-rv64", "+m,+a,+f,+d,+c");
  EXPECT_FALSE(scalar.hasRVV);
  EXPECT_TRUE(scalar.hasFMA);
  TargetInfo v = get("generic-rv64", "+m,+a,+f,+d,+c,+v");
  EXPECT_TRUE(v.hasRVV && v.hasFMA);
  EXPECT_EQ(v.vectorBytes, 16);
  EXPECT_EQ(get("spacemit-x60", "").vectorBytes, 32);
}

TEST(TargetInfo, TakesWhatIsUnknownForPlain) {
  TargetInfo info = getTargetInfo("nowhere", "", "");
  EXPECT_EQ(info.arch, TargetInfo::Arch::Other);
  EXPECT_FALSE(info.hasFMA);
}
