// SQL functions of the module example. weir.h and its README say what there is.
#include "weir.h"

// example_add(a, b) is a + b, and NULL when one of them is NULL.
WEIR_SCALAR(example_add, "a BIGINT, b BIGINT -> BIGINT", WEIR_DETERMINISTIC) {
  const int64_t *a = I64(0), *b = I64(1);
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++) out[i] = (int64_t)((uint64_t)a[i] + (uint64_t)b[i]);
  return WEIR_OK;
}

WEIR_MODULE("example", "0.1.0")
