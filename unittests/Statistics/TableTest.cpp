// Tables in files: what is written is read back, and what is wrong is named.

#include "OnnxQuant/Statistics/Table.h"
#include "RecordBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <fstream>

using namespace onnxquant;
using namespace onnxquant::test;

namespace {

class TableTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("table", folder));
    table.samples = 2;
    table.tensors["x"] = statisticsOf({{-1.5f, 0.1f}, {3, -7}});
    table.tensors["with space/y:0"] = statisticsOf({{0.25f}, {0.5f}});
    table.tensors["never"] = statisticsOf({});
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(const std::string &name) const {
    return folder.str().str() + "/" + name;
  }
  std::string bytesOf(const std::string &name) const {
    auto file = llvm::MemoryBuffer::getFile(path(name));
    return file ? (*file)->getBuffer().str() : "";
  }
  RangeTable readRanges(const std::string &name) {
    auto read = readTable(path(name));
    EXPECT_TRUE(bool(read)) << llvm::toString(read.takeError());
    return read ? std::get<RangeTable>(*read) : RangeTable();
  }
  std::string errorOf(const std::string &name, const std::string &text) {
    std::ofstream(path(name)) << text;
    auto read = readTable(path(name));
    return read ? "" : llvm::toString(read.takeError());
  }

  llvm::SmallString<128> folder;
  StatisticsTable table;
};

} // namespace

TEST_F(TableTest, StatisticsSurviveTheirText) {
  std::string text = toJson(table);
  auto read = statisticsFromJson(text);
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(read->samples, 2);
  ASSERT_EQ(read->tensors.size(), 3u);
  for (const auto &[name, statistics] : table.tensors)
    EXPECT_TRUE(read->tensors[name] == statistics) << name;
  EXPECT_EQ(toJson(*read), text);
}

TEST_F(TableTest, MergedTablesHaveTheTextOfTheWhole) {
  StatisticsTable whole, first, second;
  whole.samples = 3;
  whole.tensors["x"] = statisticsOf({{1, 2}, {3}, {-4}});
  first.samples = 1;
  first.tensors["x"] = statisticsOf({{3}});
  second.samples = 2;
  second.tensors["x"] = statisticsOf({{-4}, {1, 2}});
  EXPECT_FALSE(bool(first.merge(second)));
  EXPECT_EQ(toJson(first), toJson(whole));
}

TEST_F(TableTest, TablesOfOtherModelsDontMerge) {
  StatisticsTable other;
  other.tensors["z"] = statisticsOf({{1}});
  EXPECT_EQ(llvm::toString(table.merge(other)),
            "tensor 'never' is missing in a table");
}

TEST_F(TableTest, RangesAreWrittenAndReadInEveryFormat) {
  MethodOptions options;
  for (auto [name, format] :
       {std::pair("r.json", TableFormat::Ranges),
        std::pair("r.cache", TableFormat::Cache),
        std::pair("r.flatbuffers", TableFormat::FlatBuffers)}) {
    ASSERT_FALSE(bool(writeTable(table, path(name), format, options)));
    RangeTable ranges = readRanges(name);
    ASSERT_EQ(ranges.size(), 2u) << name;
    EXPECT_EQ(ranges["x"].min, -7);
    EXPECT_EQ(ranges["x"].max, format == TableFormat::Ranges ? 3 : 7);
    EXPECT_EQ(ranges["with space/y:0"].max, 0.5);
  }
  EXPECT_EQ(bytesOf("r.cache"), "with space/y:0 0.5\nx 7\n");
  EXPECT_EQ(bytesOf("r.json"),
            "{\n \"with space/y:0\": [0.25, 0.5],\n \"x\": [-7, 3]\n}\n");
}

TEST_F(TableTest, TablesOfOnnxRuntimeAreRead) {
  auto array = [](const std::string &data) {
    return R"({"data": )" + data +
           R"(, "dtype": "float32", "CLS": "numpy.array"})";
  };
  std::string tensor = R"({"x": {"CLS": "TensorData", "lowest": )" +
                       array("-1.5") + R"(, "highest": )" + array("[2.5]") +
                       R"(}, "y": {"CLS": "TensorData", "lowest": )" +
                       array("[[-1], [-3]]") + R"(, "highest": )" +
                       array("[[0], [4]]") + R"(, "avg": )" + array("0") + "}}";
  for (const std::string &text :
       {tensor, R"({"CLS": "TensorsData", "data": )" + tensor +
                    R"(, "calibration_method": {"CLS": "CalibrationMethod", )"
                    R"("value": "CalibrationMethod.MinMax"}})"}) {
    EXPECT_EQ(errorOf("o.json", text), "");
    RangeTable ranges = readRanges("o.json");
    ASSERT_EQ(ranges.size(), 2u);
    EXPECT_EQ(ranges["x"].min, -1.5);
    EXPECT_EQ(ranges["x"].max, 2.5);
    EXPECT_EQ(ranges["y"].min, -3);
    EXPECT_EQ(ranges["y"].max, 4);
  }
  EXPECT_NE(errorOf("o.json", R"({"x": {"CLS": "TensorData", "lowest": 1}})")
                .find("tensor 'x' expects finite numbers"),
            std::string::npos);
  EXPECT_NE(errorOf("o.json", R"({"x": {"CLS": "TensorData", "lowest": 1, )"
                              R"("highest": 0}})")
                .find("not above its highest"),
            std::string::npos);
}

TEST_F(TableTest, CachesOfTensorRTAreRead) {
  // Scales of 1 / 127, as bits, and of zero.
  EXPECT_EQ(errorOf("t.cache", "TRT-8601-EntropyCalibration2\n"
                               "data: 3c010204\r\n"
                               "(Unnamed Layer* 0) [Constant]_output: 0\n"),
            "");
  RangeTable ranges = readRanges("t.cache");
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_NEAR(ranges["data"].max, 1, 1e-6);
  EXPECT_EQ(ranges["data"].min, -ranges["data"].max);
  EXPECT_EQ(ranges["(Unnamed Layer* 0) [Constant]_output"].max, 0);
  EXPECT_NE(errorOf("t.cache", "TRT-8601-EntropyCalibration2\nx: hello\n")
                .find("expects 'name: hexadecimal scale'"),
            std::string::npos);
  EXPECT_NE(errorOf("t.cache", "TRT-8601-MinMaxCalibration\nx: 7f800000\n")
                .find("tensor 'x' expects a finite scale"),
            std::string::npos);
}

TEST_F(TableTest, WrongFilesAreNamedWithTheReason) {
  EXPECT_NE(errorOf("a.json", "{\"x\": [1]}").find("tensor 'x' expects [min"),
            std::string::npos);
  EXPECT_NE(errorOf("a.json", "{\"x\": [2, 1]}"), "");
  EXPECT_NE(errorOf("a.json", "[1, 2]").find("is no calibration table"),
            std::string::npos);
  EXPECT_NE(errorOf("a.json", "{").find("a.json"), std::string::npos);
  EXPECT_NE(errorOf("a.cache", "x\n").find("expects 'name value'"),
            std::string::npos);
  EXPECT_NE(errorOf("a.cache", "x nan\n").find("expects a threshold"),
            std::string::npos);
  EXPECT_NE(errorOf("a.flatbuffers", "garbage"), "");
  EXPECT_NE(errorOf("a.flatbuffers", ""), "");
  EXPECT_NE(errorOf("a.txt", "").find("expects a table's extension"),
            std::string::npos);
}

TEST_F(TableTest, DamagedStatisticsAreRefused) {
  std::string text = toJson(table);
  auto broken = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    changed.replace(at, from.size(), to);
    auto read = statisticsFromJson(changed);
    return read ? "" : llvm::toString(read.takeError());
  };
  EXPECT_NE(broken("\"version\": 1", "\"version\": 9"), "");
  EXPECT_NE(broken("\"count\": 4", "\"count\": -4"), "");
  EXPECT_NE(broken("\"min_sum\": \"", "\"min_sum\": \"zz"), "");
  EXPECT_NE(broken("\"bins\": 64", "\"bins\": 4"), "");
  EXPECT_NE(broken("\"bins\": 64", "\"bins\": 4611686018427387904"), "");
  EXPECT_NE(broken("\"first\": ", "\"first\": 9"), "");
  EXPECT_NE(broken("\"channel_counts\": [", "\"channel_counts\": [1,"), "");
}

TEST_F(TableTest, FieldsOfOlderTablesAreLeftAlone) {
  std::string text = toJson(table), old = text;
  size_t at = old.find("\"count\":");
  ASSERT_NE(at, std::string::npos);
  old.insert(at, "\"variance\": 0.25, \"squares\": \"1f\", ");
  auto read = statisticsFromJson(old);
  ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
  EXPECT_EQ(toJson(*read), text);
}

TEST(ShortestDecimalTest, ReadsBack) {
  EXPECT_EQ(shortestDecimal(0.1), "0.1");
  EXPECT_EQ(shortestDecimal(-3), "-3");
  EXPECT_EQ(shortestDecimal(1e38), "1e+38");
  for (double value : {1.0 / 3, 2.5e-310, 123456.789})
    EXPECT_EQ(std::strtod(shortestDecimal(value).c_str(), nullptr), value);
}
