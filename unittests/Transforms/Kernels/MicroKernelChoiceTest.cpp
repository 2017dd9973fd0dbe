// The table of micro-kernels: which instruction and which tile a contraction of
// integers gets on which target.

#include "MicroKernelChoice.h"
#include "OnnxQuant/Support/DotCost.h"
#include "gtest/gtest.h"

using namespace onnxquant;
using namespace onnxquant::kernels;
using onnxq::PackingKind;

static TargetInfo x86(llvm::StringRef cpu, llvm::StringRef features = "") {
  return getTargetInfo("x86_64-unknown-linux-gnu", cpu, features);
}
static TargetInfo arm(llvm::StringRef features) {
  return getTargetInfo("aarch64-unknown-linux-gnu", "generic", features);
}
static TargetInfo riscv() {
  return getTargetInfo("riscv64-unknown-linux-gnu", "generic-rv64",
                       "+v,+zvl128b");
}

/// A 1x1 convolution or matrix product.
static KernelRequest product(std::optional<int64_t> m, int64_t n, int64_t k) {
  KernelRequest request;
  request.shape.m = m;
  request.shape.n = n;
  request.shape.k = request.shape.channels = k;
  request.amxRows = {m.value_or(tuning::dynamicAmxSize), 1, 1};
  return request;
}

/// A 3x3 convolution of an image of so many rows and columns.
static KernelRequest window(int64_t height, int64_t width, int64_t n,
                            int64_t channels) {
  KernelRequest request = product(height * width, n, channels);
  request.shape.k = 9 * channels;
  request.shape.rowTaps = 3;
  request.isPadded = true;
  request.amxRows = {width, height, 1};
  return request;
}

static void expectTile(const KernelChoice &choice, PackingKind kind,
                       int64_t step, int64_t mr, int64_t nr) {
  EXPECT_EQ(stringifyEnum(choice.kind), stringifyEnum(kind));
  EXPECT_EQ(choice.step, step);
  EXPECT_EQ(choice.mr, mr);
  EXPECT_EQ(choice.nr, nr);
  EXPECT_FALSE(choice.reason.empty());
}

TEST(MicroKernelChoice, TakesTheInstructionThatTheTargetHas) {
  KernelRequest request = product(1024, 256, 256);
  expectTile(chooseMicroKernel(request, x86("znver4")), PackingKind::Vnni, 4, 8,
             32);
  expectTile(chooseMicroKernel(request, x86("alderlake")), PackingKind::Vnni, 4,
             6, 16);
  expectTile(chooseMicroKernel(request, x86("x86-64-v3")), PackingKind::Madd, 2,
             4, 16);
  expectTile(chooseMicroKernel(request, x86("x86-64")), PackingKind::Madd, 2, 4,
             8);
  expectTile(chooseMicroKernel(request, arm("+dotprod")), PackingKind::Sdot, 4,
             8, 8);
  expectTile(chooseMicroKernel(request, arm("")), PackingKind::Outer, 1, 4, 8);
  expectTile(chooseMicroKernel(request, riscv()), PackingKind::Outer, 1, 6, 16);
}

TEST(MicroKernelChoice, TakesMatricesWhereTheyTakeFewerInstructions) {
  TargetInfo target = arm("+dotprod,+i8mm");
  KernelRequest request = product(1024, 256, 256);
  expectTile(chooseMicroKernel(request, target), PackingKind::Smmla, 8, 4, 16);
  request.isInputUnsigned = true;
  expectTile(chooseMicroKernel(request, target), PackingKind::Usmmla, 8, 4, 16);
  // Half of a matrix of two rows would be idle.
  request = product(1, 256, 256);
  request.isInputUnsigned = true;
  expectTile(chooseMicroKernel(request, target), PackingKind::Usdot, 4, 1, 32);
  // int4 has no kernel by matrices.
  request = product(1024, 256, 256);
  request.fitsInt4 = true;
  EXPECT_EQ(chooseMicroKernel(request, target).kind, PackingKind::Sdot);
}

TEST(MicroKernelChoice, TakesAmxForManyRowsOnly) {
  TargetInfo target = x86("sapphirerapids", "-prefer-256-bit");
  expectTile(chooseMicroKernel(window(14, 14, 256, 256), target),
             PackingKind::Amx, 4, 32, 32);
  EXPECT_EQ(chooseMicroKernel(product(1, 256, 256), target).kind,
            PackingKind::Vnni);
  EXPECT_EQ(chooseMicroKernel(product(std::nullopt, 256, 256), target).kind,
            PackingKind::Amx);
  // Few products are worth no tiles, least before a long epilogue.
  KernelRequest thin = product(1024, 64, 32);
  thin.hasLongEpilogue = true;
  EXPECT_EQ(chooseMicroKernel(thin, target).kind, PackingKind::Vnni);
  KernelRequest int4 = window(14, 14, 256, 256);
  int4.fitsInt4 = true;
  EXPECT_EQ(chooseMicroKernel(int4, target).kind, PackingKind::Vnni);
}

TEST(MicroKernelChoice, ProvesWhatAvx2Adds) {
  TargetInfo target = x86("x86-64-v3");
  KernelRequest request = product(1024, 256, 256);
  request.pairsFit = true;
  expectTile(chooseMicroKernel(request, target), PackingKind::Pairs, 4, 4, 16);
  // Quads are taken where their cost is less, and aren't packed where it can't
  // be.
  int64_t panels = 256 / 16;
  int64_t cheap = panels * (256 / 8 * dotcost::doubleQuad + dotcost::quadTile);
  int asked = 0;
  auto getQuadCost = [&] {
    ++asked;
    return cheap;
  };
  request.pairsFit = false;
  request.getQuadCost = getQuadCost;
  expectTile(chooseMicroKernel(request, target), PackingKind::Quads, 16, 4, 16);
  auto isDear = [&]() -> int64_t { return 100 * cheap; };
  request.getQuadCost = isDear;
  EXPECT_EQ(chooseMicroKernel(request, target).kind, PackingKind::Madd);
  request = product(1, 256, 256);
  request.getQuadCost = getQuadCost;
  asked = 0;
  EXPECT_EQ(chooseMicroKernel(request, target).kind, PackingKind::Madd);
  EXPECT_EQ(asked, 0);
}

TEST(MicroKernelChoice, TransformsWindowsOnAvx2Only) {
  KernelRequest request = window(28, 28, 128, 128);
  WinogradOption options[] = {{2, 14 * 14}, {4, 7 * 7}};
  request.transforms = options;
  KernelChoice choice = chooseMicroKernel(request, x86("x86-64-v3"));
  EXPECT_EQ(choice.kind, PackingKind::Winograd);
  EXPECT_EQ(choice.winogradSide, 4);
  request.transforms = llvm::ArrayRef(options).take_front(1);
  EXPECT_EQ(chooseMicroKernel(request, x86("x86-64-v3")).winogradSide, 2);
  EXPECT_EQ(chooseMicroKernel(request, x86("znver4")).kind, PackingKind::Vnni);
  EXPECT_EQ(chooseMicroKernel(request, arm("+dotprod")).kind,
            PackingKind::Sdot);
}

TEST(MicroKernelChoice, LeavesGroupsToStepsThatDivideThem) {
  KernelRequest request = product(1024, 8, 6);
  request.shape.groups = 4;
  EXPECT_EQ(chooseMicroKernel(request, x86("znver4")).kind, PackingKind::Madd);
  EXPECT_EQ(chooseMicroKernel(request, arm("+dotprod")).kind,
            PackingKind::Outer);
  request.shape.k = request.shape.channels = 3;
  EXPECT_EQ(chooseMicroKernel(request, x86("znver4")).kind, PackingKind::Outer);
}

TEST(MicroKernelChoice, MultipliesWideIntegers) {
  KernelRequest request = product(1024, 256, 256);
  request.inputBits = request.weightBits = 16;
  EXPECT_EQ(chooseMicroKernel(request, x86("znver4")).kind, PackingKind::Madd);
  request.accumulatorBits = 64;
  KernelChoice choice = chooseMicroKernel(request, x86("x86-64-v3"));
  expectTile(choice, PackingKind::Outer, 1, 4, 8);
}

TEST(MicroKernelChoice, FitsTilesToTheOutput) {
  TargetInfo target = x86("x86-64-v3");
  // One vector of columns leaves room for more rows.
  expectTile(chooseMicroKernel(product(1024, 8, 64), target), PackingKind::Madd,
             2, 8, 8);
  EXPECT_EQ(chooseMicroKernel(product(2, 64, 64), target).mr, 2);
  EXPECT_EQ(chooseMicroKernel(product(0, 64, 64), target).mr, 1);
  // 49 rows are seven tiles of seven.
  EXPECT_EQ(chooseMicroKernel(product(49, 64, 64), x86("znver4")).mr, 7);
}

TEST(MicroKernelChoice, ProvesNothingOfActivations) {
  KernelRequest request = product(128, 128, 64);
  request.pairsFit = true;
  expectTile(chooseForActivations(request, x86("x86-64-v3")), PackingKind::Madd,
             2, 4, 16);
  expectTile(chooseForActivations(request, x86("znver4")), PackingKind::Vnni, 4,
             8, 32);
  expectTile(chooseForActivations(request, arm("+dotprod,+i8mm")),
             PackingKind::Sdot, 4, 8, 8);
  TargetInfo amx = x86("sapphirerapids", "-prefer-256-bit");
  EXPECT_EQ(chooseForActivations(request, amx).kind, PackingKind::Amx);
  // Two chunks of 33 would be cut at run time.
  EXPECT_EQ(chooseForActivations(product(128, 128, 68), amx).kind,
            PackingKind::Vnni);
}
