// The old toolkit's quantization table: a pickled dict of floats and arrays.
// The reader is a machine for the few opcodes that such a table consists of. It
// knows three names (numpy's arrays, their type, scalars) and calls nothing. A
// pickle may refer to a value again and again, in itself too: values are owned
// by the reader, and what they add up to is bounded by the file's size.

#include "OnnxQuant/ESP/Legacy.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include <cstring>
#include <deque>

using namespace onnxquant;
using namespace onnxquant::esp;
using llvm::StringRef;

namespace {

/// A value on the stack.
struct Item {
  enum Kind {
    None,
    Mark,
    Number,
    Text,
    Tuple,
    List,
    Dict,
    Name,
    Array
  } kind = None;
  double number = 0;
  std::string text;
  std::vector<Item *> items;
  /// Of an array: its elements, and bytes each.
  std::string bytes;
  std::string elementType;
};
using Ref = Item *;

class Unpickler {
public:
  explicit Unpickler(llvm::ArrayRef<char> bytes) : bytes(bytes) {}
  llvm::Expected<Ref> run();

private:
  llvm::Error fail(const llvm::Twine &message) {
    return llvm::createStringError(
        "is no quantization table: " + message.str() + " at byte " +
        std::to_string(at));
  }
  bool has(size_t count) const { return count <= bytes.size() - at; }
  uint64_t little(size_t count) {
    uint64_t value = 0;
    for (size_t i = 0; i < count; ++i)
      value |= uint64_t(uint8_t(bytes[at + i])) << (8 * i);
    at += count;
    return value;
  }
  std::string take(size_t count) {
    std::string text(bytes.data() + at, count);
    at += count;
    return text;
  }
  bool line(std::string &text);
  void push(Item item) {
    values.push_back(std::move(item));
    stack.push_back(&values.back());
  }
  void pushText(std::string text) {
    Item item;
    item.kind = Item::Text;
    item.text = std::move(text);
    push(std::move(item));
  }
  void pushNumber(double number) {
    Item item;
    item.kind = Item::Number;
    item.number = number;
    push(std::move(item));
  }
  bool popToMark(std::vector<Ref> &items);
  llvm::Error step(uint8_t code);
  llvm::Error stepText(uint8_t code);
  llvm::Error stepStack(uint8_t code);
  llvm::Error name(const std::string &module, const std::string &name);
  llvm::Error reduce();
  llvm::Error build();

  /// Whether arrays may take another value's bytes, too. Each array of a table
  /// takes its own twice.
  bool mayCopy(const Item &value) {
    copied += value.text.size() + value.bytes.size() + value.elementType.size();
    return copied / 4 <= bytes.size();
  }

  llvm::ArrayRef<char> bytes;
  size_t at = 0;
  size_t copied = 0;
  std::deque<Item> values;
  std::vector<Ref> stack;
  std::map<uint64_t, Ref> memo;
  bool isDone = false;
};

bool Unpickler::line(std::string &text) {
  for (size_t end = at; end < bytes.size(); ++end)
    if (bytes[end] == '\n') {
      text = take(end - at);
      ++at;
      return true;
    }
  return false;
}

bool Unpickler::popToMark(std::vector<Ref> &items) {
  size_t first = stack.size();
  while (first > 0 && stack[first - 1]->kind != Item::Mark)
    --first;
  if (first == 0)
    return false;
  items.assign(stack.begin() + first, stack.end());
  stack.resize(first - 1);
  return true;
}

llvm::Error Unpickler::name(const std::string &module,
                            const std::string &name) {
  bool isNumPy = StringRef(module).starts_with("numpy");
  if (!isNumPy || !llvm::is_contained({"_reconstruct", "ndarray", "dtype",
                                       "scalar", "_frombuffer"},
                                      StringRef(name)))
    if (module != "_codecs" || name != "encode")
      return fail("it names " + module + "." + name +
                  ", which a table doesn't need");
  Item item;
  item.kind = Item::Name;
  item.text = name;
  push(std::move(item));
  return llvm::Error::success();
}

/// What a call of one of the known names stands for.
llvm::Error Unpickler::reduce() {
  if (stack.size() < 2)
    return fail("a call has no arguments");
  Ref arguments = stack.back();
  stack.pop_back();
  Ref called = stack.back();
  stack.pop_back();
  if (called->kind != Item::Name || arguments->kind != Item::Tuple)
    return fail("something that isn't a name is called");
  Item result;
  result.kind = Item::Array;
  const std::vector<Ref> &given = arguments->items;
  for (Ref value : llvm::ArrayRef(given).take_front(2))
    if (!mayCopy(*value))
      return fail("its arrays have more bytes than it");
  if (called->text == "dtype" && !given.empty()) {
    result.elementType = given[0]->text;
  } else if (called->text == "scalar" && given.size() == 2) {
    result.elementType = given[0]->elementType;
    result.bytes = given[1]->text + given[1]->bytes;
  } else if (called->text == "encode" && !given.empty()) {
    // Latin-1 text of bytes, as Python 2's protocol has them.
    result.kind = Item::Text;
    StringRef text = given[0]->text;
    for (size_t i = 0; i < text.size(); ++i) {
      uint8_t c = text[i];
      if (c >= 0xc0 && i + 1 < text.size())
        c = ((c & 3) << 6) | (text[++i] & 0x3f);
      result.text += static_cast<char>(c);
    }
  } else if (called->text != "_reconstruct") {
    return fail("'" + called->text + "' is called in an unknown way");
  }
  push(std::move(result));
  return llvm::Error::success();
}

/// Gives an array its type and bytes; the state of a type is of no interest.
llvm::Error Unpickler::build() {
  if (stack.size() < 2)
    return fail("a state belongs to nothing");
  Ref state = stack.back();
  stack.pop_back();
  Ref target = stack.back();
  if (target->kind != Item::Array || state->kind != Item::Tuple)
    return fail("a state belongs to nothing");
  if (state->items.size() >= 5 && target->elementType.empty()) {
    if (!mayCopy(*state->items[2]) || !mayCopy(*state->items[4]))
      return fail("its arrays have more bytes than it");
    target->elementType = state->items[2]->elementType;
    target->bytes = state->items[4]->text;
  }
  return llvm::Error::success();
}

llvm::Error Unpickler::stepText(uint8_t code) {
  size_t width = code == 0x8c || code == 'C' || code == 'U' ? 1
                 : code == 0x8d || code == 0x8e             ? 8
                                                            : 4;
  if (!has(width))
    return fail("it ends");
  uint64_t length = little(width);
  if (length > bytes.size() - at)
    return fail("it ends");
  pushText(take(length));
  return llvm::Error::success();
}

llvm::Error Unpickler::stepStack(uint8_t code) {
  std::vector<Ref> items;
  Item made;
  switch (code) {
  case '}':
    made.kind = Item::Dict;
    push(made);
    return llvm::Error::success();
  case ']':
    made.kind = Item::List;
    push(made);
    return llvm::Error::success();
  case ')':
    made.kind = Item::Tuple;
    push(made);
    return llvm::Error::success();
  case '(':
    made.kind = Item::Mark;
    push(made);
    return llvm::Error::success();
  case 't':
    if (!popToMark(items))
      return fail("a tuple has no beginning");
    break;
  case 0x85:
  case 0x86:
  case 0x87: {
    size_t count = code - 0x84;
    if (stack.size() < count)
      return fail("a tuple lacks items");
    items.assign(stack.end() - count, stack.end());
    stack.resize(stack.size() - count);
    break;
  }
  default: {
    // s, u: items of a dict; a, e: of a list.
    bool isOne = code == 's' || code == 'a';
    size_t count = code == 's' ? 2 : 1;
    if (isOne && stack.size() > count) {
      items.assign(stack.end() - count, stack.end());
      stack.resize(stack.size() - count);
    } else if (isOne || !popToMark(items)) {
      return fail("a collection lacks items");
    }
    Item::Kind kind = code == 's' || code == 'u' ? Item::Dict : Item::List;
    if (stack.empty() || stack.back()->kind != kind ||
        (kind == Item::Dict && items.size() % 2))
      return fail("items belong to nothing");
    for (Ref &item : items)
      stack.back()->items.push_back(item);
    return llvm::Error::success();
  }
  }
  made.kind = Item::Tuple;
  made.items = std::move(items);
  push(std::move(made));
  return llvm::Error::success();
}

llvm::Error Unpickler::step(uint8_t code) {
  static constexpr struct {
    uint8_t code;
    size_t operands;
  } numbers[] = {{'K', 1}, {'M', 2}, {'J', 4}, {'G', 8}};
  for (auto [own, count] : numbers)
    if (code == own) {
      if (!has(count))
        return fail("it ends");
      if (code == 'G') {
        uint64_t bits = llvm::support::endian::read64be(bytes.data() + at);
        at += 8;
        double number;
        std::memcpy(&number, &bits, sizeof(number));
        pushNumber(number);
      } else {
        uint64_t value = little(count);
        pushNumber(code == 'J' ? int32_t(value) : double(value));
      }
      return llvm::Error::success();
    }
  if (llvm::is_contained({'X', 'T', 'U', 'C', 'B'}, char(code)) ||
      code == 0x8c || code == 0x8d || code == 0x8e)
    return stepText(code);
  if (llvm::is_contained({'}', ']', ')', '(', 't', 's', 'u', 'a', 'e'},
                         char(code)) ||
      (code >= 0x85 && code <= 0x87))
    return stepStack(code);
  std::string first, second;
  switch (code) {
  case 0x80:
    if (!has(1))
      return fail("it ends");
    ++at;
    return llvm::Error::success();
  case 0x95:
    if (!has(8))
      return fail("it ends");
    at += 8;
    return llvm::Error::success();
  case '.':
    isDone = true;
    return llvm::Error::success();
  case 'N':
  case 0x88:
  case 0x89:
    pushNumber(code == 0x88);
    return llvm::Error::success();
  case 'c':
    if (!line(first) || !line(second))
      return fail("it ends");
    return name(first, second);
  case 0x93:
    if (stack.size() < 2)
      return fail("a name lacks its parts");
    second = stack.back()->text;
    stack.pop_back();
    first = stack.back()->text;
    stack.pop_back();
    return name(first, second);
  case 'R':
    return reduce();
  case 'b':
    return build();
  case 0x94:
  case 'q':
  case 'r': {
    size_t width = code == 'q' ? 1 : code == 'r' ? 4 : 0;
    if (!has(width) || stack.empty())
      return fail("it ends");
    uint64_t index = width ? little(width) : memo.size();
    memo[index] = stack.back();
    return llvm::Error::success();
  }
  case 'h':
  case 'j': {
    size_t width = code == 'h' ? 1 : 4;
    if (!has(width))
      return fail("it ends");
    auto found = memo.find(little(width));
    if (found == memo.end())
      return fail("it refers to nothing");
    stack.push_back(found->second);
    return llvm::Error::success();
  }
  default:
    return fail("opcode " + llvm::utohexstr(code) + " isn't one of a table's");
  }
}

llvm::Expected<Ref> Unpickler::run() {
  while (!isDone) {
    if (!has(1))
      return fail("it ends");
    uint8_t code = bytes[at++];
    if (llvm::Error error = step(code))
      return std::move(error);
  }
  if (stack.size() != 1)
    return fail("it leaves more than one value");
  return stack[0];
}

} // namespace

/// The numbers that an item holds; false if it holds others things.
static bool numbersOf(const Item &item, std::vector<double> &numbers) {
  if (item.kind == Item::Number) {
    numbers.push_back(item.number);
    return true;
  }
  if (item.kind == Item::List || item.kind == Item::Tuple) {
    for (const Ref &entry : item.items)
      if (entry->kind != Item::Number || !numbersOf(*entry, numbers))
        return false;
    return true;
  }
  if (item.kind != Item::Array)
    return false;
  StringRef type = item.elementType, bytes = item.bytes;
  type.consume_front("<");
  size_t width = type == "f8" ? 8 : type == "f4" ? 4 : 0;
  if (!width || bytes.size() % width)
    return false;
  for (size_t i = 0; i < bytes.size(); i += width) {
    double wide;
    float narrow;
    if (width == 8) {
      std::memcpy(&wide, bytes.data() + i, 8);
      numbers.push_back(wide);
    } else {
      std::memcpy(&narrow, bytes.data() + i, 4);
      numbers.push_back(narrow);
    }
  }
  return true;
}

llvm::Expected<ScaleTable> esp::readPickle(llvm::ArrayRef<char> bytes) {
  Unpickler reader(bytes);
  auto root = reader.run();
  if (!root)
    return root.takeError();
  if ((*root)->kind != Item::Dict)
    return llvm::createStringError("is no quantization table: it is no dict");
  ScaleTable table;
  const std::vector<Ref> &items = (*root)->items;
  size_t count = 0;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    Scales &scales = table[items[i]->text];
    scales.values.clear();
    if (items[i]->kind != Item::Text ||
        !numbersOf(*items[i + 1], scales.values))
      return llvm::createStringError(
          "is no quantization table: it maps no name to numbers");
    count += scales.values.size();
    if (count > bytes.size())
      return llvm::createStringError(
          "is no quantization table: it has more numbers than bytes");
    scales.isArray = items[i + 1]->kind != Item::Number;
  }
  return table;
}

/// An unsigned number of some bytes.
static std::string bytesOfNumber(uint64_t value, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += static_cast<char>(value >> (8 * i));
  return text;
}

static std::string pickledText(StringRef name) {
  return "X" + bytesOfNumber(name.size(), 4) + name.str();
}

static uint64_t bitsOf(double number) {
  uint64_t bits;
  std::memcpy(&bits, &number, sizeof(bits));
  return bits;
}

/// An array as NumPy pickles it: `_reconstruct`, then its state.
static std::string pickledArray(llvm::ArrayRef<double> numbers) {
  std::string text = "cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\n";
  text += std::string("K\0\x85", 3) + std::string("C\1b\x87R", 5);
  // The version, shape, type, order and bytes.
  text += std::string("(K\1J", 4) + bytesOfNumber(numbers.size(), 4) + "\x85";
  text += "cnumpy\ndtype\n" + pickledText("f8") +
          std::string("K\0K\1\x87R(K\3", 9) + pickledText("<") + "NNNJ" +
          bytesOfNumber(~0u, 4) + "J" + bytesOfNumber(~0u, 4) +
          std::string("K\0tb\x89", 5);
  text += "B" + bytesOfNumber(8 * numbers.size(), 4);
  for (double number : numbers)
    text += bytesOfNumber(bitsOf(number), 8);
  return text + "tb";
}

std::string esp::writePickle(const ScaleTable &table) {
  std::string text("\x80\x03}", 3);
  for (const auto &[name, scales] : table) {
    text += pickledText(name);
    if (scales.isArray || scales.values.size() != 1) {
      text += pickledArray(scales.values);
    } else {
      std::string number = bytesOfNumber(bitsOf(scales.values[0]), 8);
      text += "G" + std::string(number.rbegin(), number.rend());
    }
    text += 's';
  }
  return text + ".";
}
