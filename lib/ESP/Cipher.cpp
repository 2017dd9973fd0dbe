// AES-128 in counter mode, as encrypted models use it.

#include "OnnxQuant/ESP/Espdl.h"
#include "llvm/ADT/StringExtras.h"

using namespace onnxquant;
using namespace onnxquant::esp;

namespace {

/// Multiplies by x in the field of AES.
uint8_t twice(uint8_t a) { return (a << 1) ^ ((a & 0x80) ? 0x1b : 0); }

/// The substitution box: inverse in the field, then an affine map. It is
/// computed, so that no table can have a wrong digit.
struct Box {
  std::array<uint8_t, 256> entry;
  Box() {
    // 3 generates the field; `q` runs through the inverses of `p`.
    uint8_t p = 1, q = 1;
    do {
      p = p ^ twice(p);
      q ^= q << 1;
      q ^= q << 2;
      q ^= q << 4;
      if (q & 0x80)
        q ^= 0x09;
      auto turn = [q](int n) -> uint8_t { return (q << n) | (q >> (8 - n)); };
      entry[p] = q ^ turn(1) ^ turn(2) ^ turn(3) ^ turn(4) ^ 0x63;
    } while (p != 1);
    entry[0] = 0x63;
  }
};

class Aes {
public:
  explicit Aes(const Key &key) {
    std::copy(key.begin(), key.end(), schedule.begin());
    uint8_t constant = 1;
    for (size_t i = 16; i < schedule.size(); i += 4) {
      std::array<uint8_t, 4> word;
      std::copy_n(&schedule[i - 4], 4, word.begin());
      if (i % 16 == 0) {
        std::rotate(word.begin(), word.begin() + 1, word.end());
        for (uint8_t &byte : word)
          byte = box.entry[byte];
        word[0] ^= constant;
        constant = twice(constant);
      }
      for (size_t j = 0; j < 4; ++j)
        schedule[i + j] = schedule[i - 16 + j] ^ word[j];
    }
  }

  std::array<uint8_t, 16> encrypt(std::array<uint8_t, 16> state) const {
    addKey(state, 0);
    for (int round = 1; round <= 10; ++round) {
      std::array<uint8_t, 16> moved;
      for (int i = 0; i < 16; ++i)
        moved[i] = box.entry[state[(i + 4 * (i % 4)) % 16]];
      state = moved;
      if (round < 10)
        mixColumns(state);
      addKey(state, round);
    }
    return state;
  }

private:
  void addKey(std::array<uint8_t, 16> &state, int round) const {
    for (int i = 0; i < 16; ++i)
      state[i] ^= schedule[16 * round + i];
  }
  static void mixColumns(std::array<uint8_t, 16> &state) {
    for (int c = 0; c < 16; c += 4) {
      uint8_t all = state[c] ^ state[c + 1] ^ state[c + 2] ^ state[c + 3];
      uint8_t first = state[c];
      for (int i = 0; i < 4; ++i) {
        uint8_t next = i < 3 ? state[c + i + 1] : first;
        state[c + i] ^= all ^ twice(state[c + i] ^ next);
      }
    }
  }

  Box box;
  std::array<uint8_t, 176> schedule;
};

} // namespace

llvm::Expected<Key> esp::parseKey(llvm::StringRef text) {
  Key key;
  std::string bytes;
  if (text.size() != 32 || !llvm::tryGetFromHex(text, bytes))
    return llvm::createStringError("a key has 32 hexadecimal digits");
  std::copy(bytes.begin(), bytes.end(), key.begin());
  return key;
}

void esp::applyCipher(const Key &key, llvm::MutableArrayRef<char> data) {
  Aes aes(key);
  std::array<uint8_t, 16> counter;
  for (int i = 0; i < 16; ++i)
    counter[i] = 0x10 + i;
  for (size_t begin = 0; begin < data.size(); begin += 16) {
    std::array<uint8_t, 16> mask = aes.encrypt(counter);
    for (size_t i = 0; i < 16 && begin + i < data.size(); ++i)
      data[begin + i] ^= static_cast<char>(mask[i]);
    for (int i = 15; i >= 0 && ++counter[i] == 0; --i)
      ;
  }
}
