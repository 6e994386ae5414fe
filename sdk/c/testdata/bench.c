// Functions to measure the call with: a loop over numbers, and one over bytes.
#include "weir.h"

WEIR_SCALAR(add, "a BIGINT, b BIGINT -> BIGINT", WEIR_DETERMINISTIC) {
  const int64_t *a = I64(0), *b = I64(1);
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++) out[i] = (int64_t)((uint64_t)a[i] + (uint64_t)b[i]);
  return WEIR_OK;
}

WEIR_SCALAR_AS(add_double, "add", "a DOUBLE, b DOUBLE -> DOUBLE", WEIR_DETERMINISTIC) {
  const double *a = F64(0), *b = F64(1);
  double *out = OUT_F64();
  for (uint32_t i = 0; i < rows; i++) out[i] = a[i] + b[i];
  return WEIR_OK;
}

// With a check of overflow, as the engine's own +.
WEIR_SCALAR(add_checked, "a BIGINT, b BIGINT -> BIGINT", WEIR_DETERMINISTIC) {
  const int64_t *a = I64(0), *b = I64(1);
  int64_t *out = OUT_I64(), over = 0;
  for (uint32_t i = 0; i < rows; i++) {
    int64_t sum = (int64_t)((uint64_t)a[i] + (uint64_t)b[i]);
    out[i] = sum;
    over |= (sum ^ a[i]) & (sum ^ b[i]);
  }
  if (over >= 0) return WEIR_OK;
  ROWS(i) {
    if (((out[i] ^ a[i]) & (out[i] ^ b[i])) < 0) return WEIR_FAIL("integer overflow", i);
  }
  return WEIR_OK;
}

// ASCII letters to upper case, 16 bytes at a time: the buffers end at multiples of 64.
WEIR_SCALAR(upper_ascii, "s STRING -> STRING", WEIR_DETERMINISTIC) {
  const weir_strs s = STR(0);
  weir_text out = OUT_STR();
  const uint32_t n = s.offsets[rows], padded = (n + 15) & ~15u;
  uint8_t *to = weir_room(&out, padded);
  for (uint32_t i = 0; i < padded; i++) {
    uint8_t c = s.data[i];
    to[i] = (uint8_t)(c ^ ((uint8_t)(c - 'a') < 26) << 5);
  }
  __builtin_memcpy(out.offsets, s.offsets, (rows + 1) * 4);
  out.column->data_len = n;
  return WEIR_OK;
}

WEIR_MODULE("bench", "1.0.0")
