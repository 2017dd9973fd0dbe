// The formulas of quantization against numbers worked out by hand.

#include "OnnxQuant/Support/Quantization.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace onnxquant;

static const QuantType u8{8, false}, s8{8, true}, u16{16, false}, s16{16, true},
    u4{4, false}, s4{4, true};

using Ends = std::pair<int64_t, int64_t>;

TEST(QuantType, ReadsAllSpellings) {
  EXPECT_EQ(*QuantType::parse("u8"), u8);
  EXPECT_EQ(*QuantType::parse("QInt8"), s8);
  EXPECT_EQ(*QuantType::parse("int16"), s16);
  EXPECT_EQ(*QuantType::parse("UINT4"), u4);
  EXPECT_FALSE(QuantType::parse("u7"));
  EXPECT_EQ(s4.str(), "s4");
}

TEST(QuantType, HasItsWholeRange) {
  EXPECT_EQ(u8.max(), 255);
  EXPECT_EQ(s8.min(), -128);
  EXPECT_EQ(u16.max(), 65535);
  EXPECT_EQ(s4.min(), -8);
  EXPECT_EQ(s4.max(), 7);
}

TEST(QuantizedRange, IsThatOfTheTable) {
  EXPECT_EQ(quantizedRange(u8, false, false), Ends(0, 255));
  EXPECT_EQ(quantizedRange(u8, true, false), Ends(0, 255));
  EXPECT_EQ(quantizedRange(u8, true, true), Ends(0, 127));
  EXPECT_EQ(quantizedRange(s8, false, false), Ends(-128, 127));
  EXPECT_EQ(quantizedRange(s8, true, false), Ends(-127, 127));
  EXPECT_EQ(quantizedRange(s8, true, true), Ends(-64, 64));
  EXPECT_EQ(quantizedRange(u16, false, true), Ends(0, 32767));
  EXPECT_EQ(quantizedRange(s16, true, false), Ends(-32767, 32767));
  EXPECT_EQ(quantizedRange(s16, false, true), Ends(-16384, 16384));
  EXPECT_EQ(quantizedRange(u4, false, true), Ends(0, 7));
  EXPECT_EQ(quantizedRange(s4, true, false), Ends(-8, 7));
  EXPECT_EQ(quantizedRange(s4, true, true), Ends(-4, 3));
}

TEST(ComputeScale, IsAsymmetric) {
  // 2.55 / 255 in double, then f32; the zero point is 0 - (-1 / 0.01) = 100.
  ScaleAndZeroPoint p = computeScale(-1.0, 1.55, {u8});
  EXPECT_EQ(p.scale, static_cast<double>(static_cast<float>(2.55 / 255)));
  EXPECT_EQ(p.zeroPoint, 100);
  EXPECT_EQ(computeScale(-1.0, 1.55, {s8}).zeroPoint, -28);
}

TEST(ComputeScale, IncludesZero) {
  ScaleAndZeroPoint p = computeScale(2.0, 5.1, {u8});
  EXPECT_FLOAT_EQ(p.scale, 0.02);
  EXPECT_EQ(p.zeroPoint, 0);
  p = computeScale(-5.1, -2.0, {u8});
  EXPECT_EQ(p.zeroPoint, 255);
}

TEST(ComputeScale, IsSymmetric) {
  ScaleAndZeroPoint p = computeScale(-1.0, 2.54, {s8, true});
  EXPECT_FLOAT_EQ(p.scale, 0.02);
  EXPECT_EQ(p.zeroPoint, 0);
  EXPECT_EQ(computeScale(-1, 1, {u8, true}).zeroPoint, 128);
  EXPECT_EQ(computeScale(-1, 1, {u16, true}).zeroPoint, 32768);
  EXPECT_FLOAT_EQ(computeScale(-1.0, 1.28, {s8, true, true}).scale, 0.02);
}

TEST(ComputeScale, KeepsALeastWidth) {
  EXPECT_FLOAT_EQ(computeScale(0, 0.001, {u8, false, false, 2.55}).scale, 0.01);
}

TEST(ComputeScale, IsOneForNothing) {
  ScaleAndZeroPoint p = computeScale(0, 0, {u8});
  EXPECT_EQ(p.scale, 1.0);
  EXPECT_EQ(p.zeroPoint, 0);
  EXPECT_EQ(computeScale(0, 1e-40, {u8}).scale, 1.0);
  EXPECT_EQ(computeScale(0, 1e-4, {u8, false, false, 0, ScaleType::F16}).scale,
            1.0);
}

TEST(RoundHalfEven, TakesTheEvenNeighbour) {
  EXPECT_EQ(roundHalfEven(0.5), 0);
  EXPECT_EQ(roundHalfEven(1.5), 2);
  EXPECT_EQ(roundHalfEven(-2.5), -2);
}

TEST(QuantizeValue, RoundsThenShiftsThenSaturates) {
  EXPECT_EQ(quantizeValue(0.5, {1.0, 3}, u8), 3);
  EXPECT_EQ(quantizeValue(1.5, {1.0, 3}, u8), 5);
  EXPECT_EQ(quantizeValue(1e9, {1.0, 0}, s8), 127);
  EXPECT_EQ(quantizeValue(-1e9, {1.0, 0}, s8), -128);
  EXPECT_EQ(quantizeValue(INFINITY, {1.0, 0}, u8), 255);
  EXPECT_EQ(quantizeValue(NAN, {1.0, 7}, u8), 7);
  // A symmetric scale doesn't narrow what is stored.
  EXPECT_EQ(quantizeValue(-2.0, {1.0 / 64, 0}, s8), -128);
}

TEST(QuantizeValue, DividesInTheScalesType) {
  // In float, 0.3f / 0.2f is exactly 1.5 (rounds to 2); in double it is more.
  double value = 0.3f, scale = 0.2f;
  EXPECT_EQ(static_cast<float>(value) / static_cast<float>(scale), 1.5f);
  EXPECT_EQ(quantizeValue(value, {scale, 0}, u8), 2);
}

TEST(Float8, HasTheNumbersOfItsFormat) {
  // Sign, four bits of exponent with bias 7, three of mantissa; all ones is no
  // number.
  auto valueOf = [](int code) {
    int exponent = code >> 3 & 15, mantissa = code & 7;
    double size = exponent == 0 ? std::ldexp(mantissa, -9)
                                : std::ldexp(8 + mantissa, exponent - 10);
    return code & 128 ? -size : size;
  };
  QuantType float8 = *QuantType::parse("f8e4m3fn");
  double squares = 0;
  for (int code = 0; code < 256; ++code) {
    if ((code & 127) == 127)
      continue;
    EXPECT_EQ(float8Value(code), valueOf(code)) << code;
    EXPECT_EQ(quantizeValue(valueOf(code) / 4, {0.25, 0}, float8), code);
    squares += valueOf(code) * valueOf(code) / 254;
  }
  EXPECT_NEAR(std::sqrt(squares), float8Deviation, 1e-9);
  EXPECT_EQ(valueOf(quantizeValue(1e9, {1, 0}, float8)), 448);
  EXPECT_EQ(valueOf(quantizeValue(-1e9, {1, 0}, float8)), -448);
  // Halfway between 16 and 18, and between 18 and 20: to the even one.
  EXPECT_EQ(valueOf(quantizeValue(17, {1, 0}, float8)), 16);
  EXPECT_EQ(valueOf(quantizeValue(19, {1, 0}, float8)), 20);
  EXPECT_EQ(computeScale(-2, 4.48, {float8}), (ScaleAndZeroPoint{0.01f, 0}));
}

TEST(Bias, SaturatesAndKnowsItsLeastScale) {
  EXPECT_EQ(quantizeBias(1.25, 0.5), 2);
  EXPECT_EQ(quantizeBias(1e20, 1.0), 2147483647);
  EXPECT_EQ(quantizeBias(-1e20, 1.0), std::numeric_limits<int32_t>::min());
  double least = leastBiasScale(10.0);
  EXPECT_LT(10.0 / least, 2147483647.0);
  EXPECT_GT(10.0 / (least * 0.999), 2147483647.0);
}

TEST(SignalToNoise, IsInDecibels) {
  EXPECT_DOUBLE_EQ(signalToNoise(10, 1), 20);
  EXPECT_GT(signalToNoise(1, 0), 300);
}

TEST(FiniteRange, LeavesOutWhatIsNoNumber) {
  EXPECT_EQ(*finiteRange({1.0, -2.0, INFINITY, NAN}),
            std::make_pair(-2.0, 1.0));
  EXPECT_FALSE(finiteRange({NAN}));
  EXPECT_FALSE(finiteRange({}));
}
