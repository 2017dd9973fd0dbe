// Bounds as options, and whether scores keep them.

#include "OnnxQuant/Budget/Bounds.h"
#include "gtest/gtest.h"

using namespace onnxquant;
using namespace onnxquant::budget;

static std::string refusal(const QuantizeOptions &options) {
  auto bounds = readBounds(options);
  return bounds ? "" : llvm::toString(bounds.takeError());
}

TEST(ReadBounds, SharesAreInPercent) {
  QuantizeOptions options;
  EXPECT_FALSE(llvm::cantFail(readBounds(options)).has_value());
  options.maxDrop = "0.5%";
  options.minAgreement = " 99 %";
  Bounds bounds = *llvm::cantFail(readBounds(options));
  EXPECT_DOUBLE_EQ(*bounds.maxDrop, 0.005);
  EXPECT_DOUBLE_EQ(*bounds.minAgreement, 0.99);
  EXPECT_EQ(bounds.metric, "top1");
  EXPECT_TRUE(bounds.metrics().top1 && bounds.metrics().agreement);
  options.maxDrop = "0.5";
  EXPECT_NE(refusal(options).find("in percent, such as 0.5%"),
            std::string::npos);
  options.maxDrop = "101%";
  EXPECT_NE(refusal(options).find("0% to 100%"), std::string::npos);
}

TEST(ReadBounds, OptionsWithoutABoundAreRefused) {
  QuantizeOptions options;
  options.labels = "labels.txt";
  EXPECT_NE(refusal(options).find("labels is for a search"), std::string::npos);
  options.minSqnr = "30";
  EXPECT_NE(refusal(options).find("labels is for max-drop"), std::string::npos);
  options = {};
  options.maxLatency = "0";
  EXPECT_NE(refusal(options).find("above 0"), std::string::npos);
}

TEST(Holds, AllBoundsCount) {
  Bounds bounds;
  bounds.minSqnr = 30;
  bounds.maxDrop = 0.01;
  Score score;
  score.sqnr = 30;
  score.reference = 0.91;
  // A difference of just the bound, in floating point.
  score.own = 0.90;
  EXPECT_TRUE(holds(score, bounds));
  score.sqnr = 29.9;
  EXPECT_FALSE(holds(score, bounds));
  score.sqnr = 31;
  score.own = 0.89;
  EXPECT_FALSE(holds(score, bounds));
}

TEST(TooFew, NamesTheNumberThatIsNeeded) {
  Bounds bounds;
  bounds.maxDrop = 0.005;
  bounds.metric = "top1";
  EXPECT_NE(tooFew(bounds, 199).find("give 400 samples"), std::string::npos);
  EXPECT_EQ(tooFew(bounds, 200), "");
  // Nothing may be lost: any number can tell.
  bounds.maxDrop = 0;
  EXPECT_EQ(tooFew(bounds, 1), "");
  bounds.minAgreement = 0.9;
  EXPECT_NE(tooFewRows(bounds, 5), "");
  EXPECT_EQ(tooFewRows(bounds, 10), "");
}
