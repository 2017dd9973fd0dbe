// ONNX Runtime's calibration table, by the classes that flatc makes of its
// schema.

#include "TableFlatBuffers.h"
#include "CalTable_generated.h"

using namespace onnxquant;
using namespace CalTableFlatBuffers;

std::string
onnxquant::writeTrtTable(const std::map<std::string, std::string> &pairs) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<KeyValue>> entries;
  for (const auto &[key, value] : pairs) {
    auto first = builder.CreateString(key);
    auto second = builder.CreateString(value);
    entries.push_back(CreateKeyValue(builder, first, second));
  }
  // The map's order is the order of the keys' bytes, which readers search by.
  builder.Finish(CreateTrtTable(builder, builder.CreateVector(entries)));
  return std::string(reinterpret_cast<const char *>(builder.GetBufferPointer()),
                     builder.GetSize());
}

llvm::Expected<std::map<std::string, std::string>>
onnxquant::readTrtTable(llvm::StringRef bytes) {
  flatbuffers::Verifier verifier(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
  if (!VerifyTrtTableBuffer(verifier))
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "is no calibration table");
  std::map<std::string, std::string> pairs;
  const TrtTable *table = GetTrtTable(bytes.data());
  if (!table->dict())
    return pairs;
  for (const KeyValue *entry : *table->dict())
    if (entry->key() && entry->value())
      pairs[entry->key()->str()] = entry->value()->str();
  return pairs;
}
