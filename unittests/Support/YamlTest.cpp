// Files of settings: what they say, and what is refused.

#include "OnnxQuant/Support/Yaml.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace onnxquant;

static Expected<YamlValue> parse(StringRef text) {
  SmallString<128> path;
  int descriptor;
  EXPECT_FALSE(sys::fs::createTemporaryFile("yaml", "yaml", descriptor, path));
  raw_fd_ostream(descriptor, /*shouldClose=*/true) << text;
  auto value = readYaml(path);
  sys::fs::remove(path);
  return value;
}

static std::string errorOf(StringRef text) {
  auto value = parse(text);
  return value ? "" : toString(value.takeError());
}

TEST(YamlTest, KeepsTextAsItStands) {
  auto value = parse("per_channel: true\nscale: 1.10\nsize: [640, 480]\n"
                     "compile:\n  output: \"a b.so\"\nevaluate:\n");
  ASSERT_TRUE(static_cast<bool>(value));
  EXPECT_EQ(value->keys,
            (std::vector<std::string>{"per-channel", "scale", "size", "compile",
                                      "evaluate"}));
  EXPECT_EQ(value->values[1].text, "1.10");
  ASSERT_EQ(value->values[2].values.size(), 2u);
  EXPECT_EQ(value->values[2].values[1].text, "480");
  EXPECT_EQ(value->values[3].values[0].text, "a b.so");
  EXPECT_EQ(value->values[4].kind, YamlValue::Nothing);
}

TEST(YamlTest, TurnsMappingsIntoJson) {
  auto value = parse("overrides: {my_tensor: {scale: 0.5, type: 'u8', axis: 1, "
                     "on: true}}\n");
  ASSERT_TRUE(static_cast<bool>(value));
  EXPECT_EQ(formatv("{0}", value->values[0].toJson()).str(),
            R"({"my_tensor":{"axis":1,"on":true,"scale":0.5,"type":"u8"}})");
}

TEST(YamlTest, RefusesWhatIsNoMapping) {
  EXPECT_NE(errorOf("- a\n").find("expects a mapping"), std::string::npos);
  EXPECT_NE(errorOf("{a: [").find(".yaml:"), std::string::npos);
  EXPECT_NE(errorOf("a: 1\na: 2\n").find("gives 'a' twice"), std::string::npos);
  EXPECT_NE(errorOf("").find(".yaml:"), std::string::npos);
  std::string deep = "a: ";
  for (int i = 0; i < 30; ++i)
    deep += "[";
  EXPECT_NE(errorOf(deep + std::string(30, ']')).find(".yaml:"),
            std::string::npos);
}
