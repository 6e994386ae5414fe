// Functions that do what a function of a user must not do to others: what the engine is
// tested with. Compile it as sdk/c/README.md says.
#include "weir.h"

// Takes as many steps as it is told.
WEIR_SCALAR(spin, "steps BIGINT -> BIGINT", WEIR_DETERMINISTIC) {
  const int64_t *steps = I64(0);
  int64_t *out = OUT_I64();
  ROWS(i) {
    volatile int64_t n = 0;
    while (n < steps[i]) n++;
    out[i] = n;
  }
  return WEIR_OK;
}

// Another number for every call.
WEIR_SCALAR(draw, "x BIGINT -> BIGINT") {
  const int64_t *x = I64(0);
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++) out[i] = x[i] + (int64_t)(call->seed >> 2) % 1000000;
  return WEIR_OK;
}

// The time that it is told.
WEIR_SCALAR(instant, "x BIGINT -> BIGINT") {
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++) out[i] = call->now;
  return WEIR_OK;
}

// Fails for negative numbers.
WEIR_SCALAR(root, "x BIGINT -> BIGINT NOT NULL", WEIR_DETERMINISTIC) {
  const int64_t *x = I64(0);
  int64_t *out = OUT_I64();
  ROWS(i) {
    if (x[i] < 0) return WEIR_FAIL("no root of a negative number", i);
    int64_t r = 0;
    while ((r + 1) * (r + 1) <= x[i]) r++;
    out[i] = r;
  }
  return WEIR_OK;
}

// The number of the band of a width that x lies in.
WEIR_SCALAR(band, "x BIGINT, width BIGINT -> BIGINT", WEIR_DETERMINISTIC) {
  const int64_t *x = I64(0), *width = I64(1);
  int64_t *out = OUT_I64();
  ROWS(i) {
    if (width[i] <= 0) return WEIR_FAIL("a band has a width", i);
    out[i] = x[i] / width[i] - (x[i] % width[i] < 0);
  }
  return WEIR_OK;
}

WEIR_MODULE("lab", "1.0.0")
