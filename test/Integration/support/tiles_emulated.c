/* x86's tiles in software: what code for AMX calls in the place of its instructions. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct {
  uint8_t rows, bytes;
  uint8_t data[16][64];
} tiles[8];

void emulated_ldtilecfg(const uint8_t *configuration) {
  for (int i = 0; i < 8; ++i) {
    tiles[i].bytes = configuration[16 + 2 * i];
    tiles[i].rows = configuration[48 + i];
    if (tiles[i].bytes > 64 || tiles[i].rows > 16)
      abort();
    memset(tiles[i].data, 0, sizeof(tiles[i].data));
  }
}

void emulated_tilerelease(void) { memset(tiles, 0, sizeof(tiles)); }

void emulated_tilezero(uint8_t tile) {
  memset(tiles[tile].data, 0, sizeof(tiles[tile].data));
}

void emulated_tileloadd64(uint8_t tile, const char *from, int64_t stride) {
  for (int row = 0; row < tiles[tile].rows; ++row)
    memcpy(tiles[tile].data[row], from + row * stride, tiles[tile].bytes);
}

void emulated_tilestored64(uint8_t tile, char *to, int64_t stride) {
  for (int row = 0; row < tiles[tile].rows; ++row)
    memcpy(to + row * stride, tiles[tile].data[row], tiles[tile].bytes);
}

static void multiply(uint8_t sums, uint8_t left, uint8_t right, int leftSigned,
                     int rightSigned) {
  for (int m = 0; m < tiles[sums].rows; ++m)
    for (int n = 0; n < tiles[sums].bytes / 4; ++n) {
      uint32_t sum;
      memcpy(&sum, &tiles[sums].data[m][4 * n], 4);
      for (int k = 0; k < tiles[left].bytes; ++k) {
        uint8_t a = tiles[left].data[m][k];
        uint8_t b = tiles[right].data[k / 4][4 * n + k % 4];
        sum += (uint32_t)((leftSigned ? (int8_t)a : a) *
                          (rightSigned ? (int8_t)b : b));
      }
      memcpy(&tiles[sums].data[m][4 * n], &sum, 4);
    }
}

void emulated_tdpbssd(uint8_t s, uint8_t a, uint8_t b) { multiply(s, a, b, 1, 1); }
void emulated_tdpbsud(uint8_t s, uint8_t a, uint8_t b) { multiply(s, a, b, 1, 0); }
void emulated_tdpbusd(uint8_t s, uint8_t a, uint8_t b) { multiply(s, a, b, 0, 1); }
void emulated_tdpbuud(uint8_t s, uint8_t a, uint8_t b) { multiply(s, a, b, 0, 0); }

/* Whether the process may use tiles. */
int64_t emulated_syscall(int64_t number, int64_t a, int64_t b) { return 0; }
