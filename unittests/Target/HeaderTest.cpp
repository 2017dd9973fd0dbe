// Headers of compiled objects.

#include "OnnxQuant/Target/Header.h"
#include "OnnxQuant/Target/Target.h"
#include "gtest/gtest.h"

using namespace onnxquant;

TEST(Header, MakesIdentifiers) {
  EXPECT_TRUE(isIdentifier("net_2"));
  EXPECT_FALSE(isIdentifier("2net"));
  EXPECT_FALSE(isIdentifier("a-b"));
  EXPECT_FALSE(isIdentifier(""));
  EXPECT_EQ(makeIdentifier("ch_PP-OCRv4.det"), "ch_PP_OCRv4_det");
  EXPECT_EQ(makeIdentifier("2net"), "m2net");
  EXPECT_EQ(makeIdentifier(""), "m");
}

TEST(Header, NamesCannotLeaveComments) {
  ModelDescription model;
  model.name = "net";
  model.inputs.push_back({"a*/\nint b;\"\\", 1, {1, 2}});
  std::string text = writeHeader(model);
  EXPECT_EQ(text.find("a*/"), std::string::npos);
  EXPECT_EQ(text.find("\nint b"), std::string::npos);
  EXPECT_NE(text.find("NET_INPUT_0_ELEMENTS 2"), std::string::npos);
}

TEST(Header, OpenSizesHaveNoCall) {
  ModelDescription model;
  model.name = "net";
  model.outputs.push_back({"y", 7, {-1, 2}});
  std::string text = writeHeader(model);
  EXPECT_NE(text.find("NET_OUTPUT_0_DIMS {-1, 2}"), std::string::npos);
  EXPECT_EQ(text.find("net_call"), std::string::npos);
  EXPECT_EQ(text.find("NET_OUTPUT_0_ELEMENTS"), std::string::npos);
}

TEST(Target, KnowsItsNames) {
  for (const std::string &name : getTargetNames()) {
    auto target = parseTarget(name);
    EXPECT_TRUE(static_cast<bool>(target))
        << llvm::toString(target.takeError());
  }
}

TEST(Target, RefusesUnknownNames) {
  auto message = [](llvm::StringRef name, llvm::StringRef cpu,
                    llvm::StringRef features) {
    auto target = parseTarget(name, cpu, features);
    return target ? "" : llvm::toString(target.takeError());
  };
  EXPECT_NE(message("vax", "", "").find("unknown target 'vax'"),
            std::string::npos);
  EXPECT_NE(message("x86-64-v2", "vax", "").find("unknown cpu 'vax'"),
            std::string::npos);
  EXPECT_NE(message("aarch64", "", "+avx2").find("unknown feature 'avx2'"),
            std::string::npos);
  EXPECT_EQ(message("aarch64", "cortex-a72", "+dotprod,-sve"), "");
}
