// Labels of samples.

#include "OnnxQuant/Evaluation/Labels.h"
#include "OnnxQuant/Data/IdxFile.h"
#include "OnnxQuant/Support/InputFile.h"
#include "OnnxQuant/Support/NumPy.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace llvm;
using namespace onnxquant;

static Error fail(const Twine &message) {
  return createStringError(inconvertibleErrorCode(), message);
}

static Expected<std::vector<int64_t>> readArray(StringRef path) {
  Expected<HostTensor> tensor = readNpy(path);
  if (!tensor)
    return tensor.takeError();
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < tensor->numElements(); ++i) {
    double value = tensor->at(i);
    if (value != static_cast<double>(static_cast<int64_t>(value)))
      return fail(path + ": expects whole numbers, but element " + Twine(i) +
                  " is none");
    labels.push_back(static_cast<int64_t>(value));
  }
  return labels;
}

Expected<LabelSet> LabelSet::read(StringRef path) {
  LabelSet set;
  set.path = path.str();
  if (sys::path::extension(path) == ".npy") {
    auto labels = readArray(path);
    if (!labels)
      return labels.takeError();
    set.inOrder = std::move(*labels);
    return set;
  }
  if (isIdxFile(path)) {
    Expected<IdxFile> file = IdxFile::open(path);
    if (!file)
      return file.takeError();
    if (file->dims().size() != 1)
      return fail(path + ": expects labels (1 dimension), but got " +
                  Twine(file->dims().size()));
    auto bytes = file->read(0, file->dims()[0]);
    if (!bytes)
      return bytes.takeError();
    set.inOrder.assign(bytes->begin(), bytes->end());
    return set;
  }
  auto text = openInput(path, FileLimits::table, /*isText=*/true);
  if (!text)
    return fail(path + ": " + toString(text.takeError()));
  SmallVector<StringRef> lines;
  (*text)->getBuffer().split(lines, '\n');
  for (auto [index, each] : enumerate(lines)) {
    StringRef line = each.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto [name, number] = line.rsplit(' ');
    if (number.empty())
      std::tie(name, number) = line.rsplit(',');
    if (number.empty())
      std::tie(name, number) = line.rsplit('\t');
    bool alone = number.empty();
    int64_t label;
    if ((alone ? line : number).trim().getAsInteger(10, label))
      return fail(path + ":" + Twine(index + 1) +
                  ": expects a label, or FILE LABEL, but got '" +
                  line.take_front(60) + "'");
    if (alone)
      set.inOrder.push_back(label);
    else
      set.byName.emplace_back(name.trim().str(), label);
    if (!set.inOrder.empty() && !set.byName.empty())
      return fail(path + ":" + Twine(index + 1) +
                  ": some lines have a file's name, and some have none");
  }
  if (set.inOrder.empty() && set.byName.empty())
    return fail(path + ": has no labels");
  llvm::sort(set.byName);
  return set;
}

/// The folder of a sample's file, by its own name.
static std::string folderOf(const DataSet &data, int64_t index) {
  return sys::path::filename(sys::path::parent_path(data.fileOf(index))).str();
}

Expected<LabelSet> LabelSet::fromFolders(const DataSet &data) {
  std::set<std::string> folders;
  for (int64_t i = 0; i < data.size(); ++i) {
    if (data.fileOf(i).empty())
      return fail("the samples are not files in folders by class: --labels "
                  "FILE is needed ('onnxq evaluate' takes --reference MODEL "
                  "instead)");
    folders.insert(folderOf(data, i));
  }
  if (folders.size() < 2)
    return fail(
        "all samples lie in one folder: --labels is needed, or a folder "
        "for each class");
  LabelSet set;
  bool numbered = all_of(folders, [](StringRef name) {
    int64_t number;
    return !name.getAsInteger(10, number);
  });
  for (auto [place, name] : enumerate(folders)) {
    int64_t number = static_cast<int64_t>(place);
    if (numbered)
      StringRef(name).getAsInteger(10, number);
    set.byName.emplace_back(name, number);
  }
  return set;
}

Expected<int64_t> LabelSet::of(const DataSet &data, int64_t index) const {
  if (byName.empty()) {
    int64_t place = data.position(index);
    if (place >= static_cast<int64_t>(inOrder.size()))
      return fail(path + ": has " + Twine(inOrder.size()) +
                  " labels, but the data has " + Twine(data.sourceSize()) +
                  " samples");
    return inOrder[place];
  }
  auto find = [&](StringRef name) -> std::optional<int64_t> {
    auto found = llvm::lower_bound(
        byName, std::pair<std::string, int64_t>(name.str(), INT64_MIN));
    if (found == byName.end() || found->first != name)
      return std::nullopt;
    return found->second;
  };
  std::string file = data.fileOf(index);
  if (path.empty())
    return *find(folderOf(data, index));
  // The whole path, or any end of it that begins at a name.
  StringRef rest = file;
  while (!rest.empty()) {
    if (auto label = find(rest))
      return *label;
    auto [first, others] = rest.split('/');
    rest = others;
  }
  return fail(path + ": has no label of '" + file + "'");
}
