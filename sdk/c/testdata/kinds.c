// Functions of every kind and of every form of column: what the host is tested with.
#include "weir.h"

// ---- scalar ----

WEIR_SCALAR(add, "a BIGINT, b BIGINT -> BIGINT", WEIR_DETERMINISTIC) {
  const int64_t *a = I64(0), *b = I64(1);
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++) out[i] = (int64_t)((uint64_t)a[i] + (uint64_t)b[i]);
  return WEIR_OK;
}

// An overload: SQL chooses by the types of the arguments.
WEIR_SCALAR_AS(add_double, "add", "a DOUBLE, b DOUBLE -> DOUBLE", WEIR_DETERMINISTIC) {
  const double *a = F64(0), *b = F64(1);
  double *out = OUT_F64();
  for (uint32_t i = 0; i < rows; i++) out[i] = a[i] + b[i];
  return WEIR_OK;
}

// A null b holds any value, 0 too, and the division traps: only rows with both.
WEIR_SCALAR(divide, "a BIGINT, b BIGINT -> BIGINT", WEIR_DETERMINISTIC) {
  const int64_t *a = I64(0), *b = I64(1);
  int64_t *out = OUT_I64();
  ROWS(i) {
    if (b[i] == 0) return WEIR_FAIL("division by zero", i);
    out[i] = a[i] == INT64_MIN && b[i] == -1 ? a[i] : a[i] / b[i];
  }
  return WEIR_OK;
}

// Sees nulls, and is never null itself.
WEIR_SCALAR(or_else, "a BIGINT, b BIGINT DEFAULT 0 -> BIGINT NOT NULL", WEIR_DETERMINISTIC WEIR_CALLED) {
  const int64_t *a = I64(0), *b = I64(1);
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++)
    out[i] = !weir_is_null(IN(0), i) ? a[i] : !weir_is_null(IN(1), i) ? b[i] : 0;
  return WEIR_OK;
}

// The second argument is mostly a constant, and then comes as one row.
WEIR_SCALAR(scale, "a BIGINT, b BIGINT -> BIGINT", WEIR_DETERMINISTIC WEIR_ACCEPTS_CONSTANT) {
  const int64_t *a = I64(0), *b = I64(1);
  const uint32_t ma = weir_mask(call, 0), mb = weir_mask(call, 1);
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++) out[i] = (int64_t)((uint64_t)a[i & ma] * (uint64_t)b[i & mb]);
  return WEIR_OK;
}

WEIR_SCALAR(total, "x BIGINT... -> BIGINT", WEIR_DETERMINISTIC) {
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++) out[i] = 0;
  for (uint32_t k = 0; k < call->n_in; k++) {
    const int64_t *x = I64(k);
    for (uint32_t i = 0; i < rows; i++) out[i] = (int64_t)((uint64_t)out[i] + (uint64_t)x[i]);
  }
  return WEIR_OK;
}

// ASCII letters to upper case, other bytes as they are. Most strings keep their
// length, so offsets are copied and bytes changed in one loop.
WEIR_SCALAR(upper_ascii, "s STRING -> STRING", WEIR_DETERMINISTIC) {
  const weir_column *in = IN(0);
  weir_text out = OUT_STR();
  const weir_strs s = weir_strings(in);
  const uint32_t n = s.offsets[rows];
  weir_grow_rows(out.column, rows);
  uint8_t *to = weir_room(&out, n);
  for (uint32_t i = 0; i < n; i++) {
    uint8_t c = s.data[i];
    to[i] = (uint8_t)(c ^ ((uint8_t)(c - 'a') < 26) << 5);
  }
  __builtin_memcpy(WEIR_AT(void, out.column->offsets), s.offsets, (rows + 1) * 4);
  out.column->data_len = n;
  return WEIR_OK;
}

WEIR_SCALAR(repeat, "s STRING, n INT -> STRING", WEIR_DETERMINISTIC) {
  const weir_strs s = STR(0);
  const int32_t *n = I32(1);
  weir_text out = OUT_STR();
  for (uint32_t i = 0; i < rows; i++) {
    if (weir_any_null(call, i) || n[i] < 0) {
      weir_next_null(&out);
      continue;
    }
    weir_str v = weir_get(s, i);
    if (n[i] > 256) return WEIR_FAIL("more than 256 times", i);
    for (int32_t k = 0; k < n[i]; k++) weir_put(&out, v.p, v.n);
    weir_next(&out);
  }
  return WEIR_OK;
}

WEIR_SCALAR(is_even, "a INT -> BOOLEAN", WEIR_DETERMINISTIC) {
  const int32_t *a = I32(0);
  uint8_t *out = OUT_BITS();
  for (uint32_t i = 0; i < rows; i++) weir_set_bit(out, i, (a[i] & 1) == 0);
  return WEIR_OK;
}

// Half away from zero.
WEIR_SCALAR(round2, "d DECIMAL(20, 4) -> DECIMAL(20, 2)", WEIR_DETERMINISTIC) {
  const weir_decimal *d = DEC(0);
  weir_decimal *out = OUT_DEC();
  for (uint32_t i = 0; i < rows; i++) out[i] = d[i] < 0 ? -((-d[i] + 50) / 100) : (d[i] + 50) / 100;
  return WEIR_OK;
}

WEIR_SCALAR(array_total, "a ARRAY<INT> -> BIGINT", WEIR_DETERMINISTIC) {
  const weir_column *a = IN(0), *element = CHILD(a, 0);
  const int32_t *v = WEIR_DATA(int32_t, element);
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++) {
    weir_range r = weir_elements(a, i);
    int64_t sum = 0;
    for (uint32_t k = r.from; k < r.to; k++)
      if (!weir_is_null(element, k)) sum += v[k];
    out[i] = sum;
  }
  return WEIR_OK;
}

WEIR_SCALAR(array_reversed, "a ARRAY<INT> -> ARRAY<INT>", WEIR_DETERMINISTIC) {
  const weir_column *a = IN(0), *element = CHILD(a, 0);
  const int32_t *v = WEIR_DATA(int32_t, element);
  weir_list out = OUT_LIST();
  weir_column *to = CHILD(out.column, 0);
  for (uint32_t i = 0; i < rows; i++) {
    weir_range r = weir_elements(a, i);
    uint32_t at = weir_extend(&out, r.to - r.from);
    int32_t *z = WEIR_DATA(int32_t, to);
    for (uint32_t k = r.to; k > r.from; k--, at++) {
      z[at] = v[k - 1];
      if (weir_is_null(element, k - 1)) weir_set_null(to, at);
    }
    weir_next_list(&out);
  }
  return WEIR_OK;
}

// Two builders at once: one for the arrays, one for the strings in them.
WEIR_SCALAR(split_array, "s STRING, separator STRING -> ARRAY<STRING>", WEIR_DETERMINISTIC) {
  const weir_strs s = STR(0), sep = STR(1);
  weir_list out = OUT_LIST();
  weir_text piece = weir_text_of(CHILD(out.column, 0));
  for (uint32_t i = 0; i < rows; i++) {
    weir_str v = weir_get(s, i), by = weir_get(sep, i);
    if (!weir_any_null(call, i)) {
      uint32_t from = 0;
      for (uint32_t k = 0;; k++) {
        int end = k == v.n, hit = !end && by.n == 1 && v.p[k] == by.p[0];
        if (!end && !hit) continue;
        weir_put(&piece, v.p + from, k - from);
        weir_next(&piece);
        weir_extend(&out, 1);
        from = k + 1;
        if (end) break;
      }
    }
    weir_next_list(&out);
  }
  return WEIR_OK;
}

// ROW in, ROW out: the fields are columns of the same rows.
WEIR_SCALAR(swap, "r ROW<a INT, b STRING> -> ROW<b STRING, a INT>", WEIR_DETERMINISTIC) {
  const weir_column *in = IN(0), *a = CHILD(in, 0), *b = CHILD(in, 1);
  weir_text text = weir_text_of(CHILD(OUT(0), 0));
  weir_column *number = CHILD(OUT(0), 1);
  const weir_strs s = weir_strings(b);
  for (uint32_t i = 0; i < rows; i++) {
    if (weir_is_null(in, i) || weir_is_null(b, i)) {
      weir_next_null(&text);
    } else {
      weir_str v = weir_get(s, i);
      weir_put(&text, v.p, v.n);
      weir_next(&text);
    }
    WEIR_DATA(int32_t, number)[i] = WEIR_DATA(int32_t, a)[i];
    if (weir_is_null(a, i)) weir_set_null(number, i);
  }
  return WEIR_OK;
}

// MAP: keys and values are rows of the children.
WEIR_SCALAR(map_plus, "m MAP<STRING, BIGINT>, n BIGINT -> MAP<STRING, BIGINT>", WEIR_DETERMINISTIC) {
  const weir_column *m = IN(0), *value = CHILD(m, 1);
  const weir_strs key = weir_strings(CHILD(m, 0));
  const int64_t *n = I64(1);
  weir_list out = OUT_LIST();
  weir_text keys = weir_text_of(CHILD(out.column, 0));
  for (uint32_t i = 0; i < rows; i++) {
    if (!weir_any_null(call, i)) {
      weir_range r = weir_elements(m, i);
      for (uint32_t k = r.from; k < r.to; k++) {
        weir_str s = weir_get(key, k);
        weir_put(&keys, s.p, s.n);
        weir_next(&keys);
        uint32_t at = weir_extend(&out, 1);
        weir_column *to = CHILD(out.column, 1);
        WEIR_DATA(int64_t, to)[at] = WEIR_DATA(int64_t, value)[k] + n[i];
        if (weir_is_null(value, k)) weir_set_null(to, at);
      }
    }
    weir_next_list(&out);
  }
  return WEIR_OK;
}

// Every fixed type, unchanged: what goes in must come out.
#define SAME(name, T, type)                                              \
  WEIR_SCALAR(name, "x " type " -> " type, WEIR_DETERMINISTIC) {         \
    const T *x = WEIR_DATA(const T, IN(0));                              \
    __builtin_memcpy(WEIR_DATA(void, OUT(0)), x, rows * sizeof(T));      \
    return WEIR_OK;                                                      \
  }
SAME(same_tinyint, int8_t, "TINYINT")
SAME(same_smallint, int16_t, "SMALLINT")
SAME(same_int, int32_t, "INT")
SAME(same_bigint, int64_t, "BIGINT")
SAME(same_float, float, "FLOAT")
SAME(same_double, double, "DOUBLE")
SAME(same_decimal, weir_decimal, "DECIMAL(38, 10)")
SAME(same_date, int32_t, "DATE")
SAME(same_time, int32_t, "TIME(3)")
SAME(same_timestamp, int64_t, "TIMESTAMP(3)")
SAME(same_timestamp9, int64_t, "TIMESTAMP(9)")
SAME(same_timestamp_ltz, int64_t, "TIMESTAMP_LTZ(3)")

WEIR_SCALAR(same_bytes, "b BYTES -> BYTES", WEIR_DETERMINISTIC) {
  const weir_strs s = STR(0);
  weir_text out = OUT_STR();
  for (uint32_t i = 0; i < rows; i++) {
    weir_str v = weir_get(s, i);
    weir_put(&out, v.p, v.n);
    weir_next(&out);
  }
  return WEIR_OK;
}

// Every type, nested ones in several levels: a copy of n rows of any column.
static void copy_rows(weir_column *to, const weir_column *from, uint32_t n) {
  weir_grow_rows(to, n);
  switch (weir_id(from)) {
    case WEIR_BOOLEAN:
      if (n) __builtin_memcpy(WEIR_DATA(void, to), WEIR_DATA(void, from), (n + 7) / 8);
      break;
    case WEIR_STRING: case WEIR_BINARY: {
      const weir_strs s = weir_strings(from);
      weir_text out = weir_text_of(to);
      for (uint32_t i = 0; i < n; i++) {
        weir_str v = weir_get(s, i);
        weir_put(&out, v.p, v.n);
        weir_next(&out);
      }
      break;
    }
    case WEIR_ARRAY: case WEIR_MAP: {
      weir_list out = weir_list_of(to);
      for (uint32_t i = 0; i < n; i++) {
        weir_range r = weir_elements(from, i);
        weir_extend(&out, r.to - r.from);
        weir_next_list(&out);
      }
      for (uint32_t k = 0; k < from->n_children; k++) copy_rows(weir_child(to, k), weir_child(from, k), out.len);
      break;
    }
    case WEIR_ROW:
      for (uint32_t k = 0; k < from->n_children; k++) copy_rows(weir_child(to, k), weir_child(from, k), n);
      break;
    default:
      if (n) __builtin_memcpy(WEIR_DATA(void, to), WEIR_DATA(void, from), n * weir_width(from));
  }
  for (uint32_t i = 0; i < n; i++)
    if (weir_is_null(from, i)) weir_set_null(to, i);
}

#define EVERYTHING \
  "ROW<f1 BOOLEAN, f2 TINYINT, f3 SMALLINT, f4 INT, f5 BIGINT, f6 FLOAT, f7 DOUBLE, f8 DECIMAL(30, 5), " \
  "f9 DATE, f10 TIME(3), f11 TIME(9), f12 TIMESTAMP(3), f13 TIMESTAMP_LTZ(9), f14 STRING, f15 BYTES, " \
  "f16 INTERVAL YEAR TO MONTH, f17 INTERVAL DAY TO SECOND, f18 ARRAY<STRING>, f19 ARRAY<BOOLEAN>, " \
  "f20 MAP<STRING, ARRAY<BIGINT>>, f21 MULTISET<STRING>, " \
  "f22 ARRAY<ROW<a TINYINT, b ROW<c STRING, d DECIMAL(4, 1)>>>>"

WEIR_SCALAR(echo, "v " EVERYTHING " -> " EVERYTHING, WEIR_DETERMINISTIC WEIR_CALLED) {
  copy_rows(OUT(0), IN(0), rows);
  return WEIR_OK;
}

// What the call says of time and chance, and a line in the log.
WEIR_SCALAR(about_call, "what STRING -> BIGINT") {
  const weir_strs what = STR(0);
  int64_t *out = OUT_I64();
  ROWS(i) {
    weir_str w = weir_get(what, i);
    if (w.n < 3 || w.n > 4) return WEIR_FAIL("want now, seed, rows, log or trap", i);
    switch (w.p[0]) {
      case 'n': out[i] = call->now; break;
      case 's': out[i] = (int64_t)(call->seed >> 1); break;
      case 'r': out[i] = rows; break;
      case 'l': WEIR_LOG(WEIR_INFO, "asked to log"); out[i] = 0; break;
      case 't':
        if (w.p[1] == 'r') __builtin_trap();
        // fall through
      default: return WEIR_FAIL("want now, seed, rows, log or trap", i);
    }
  }
  return WEIR_OK;
}

// ---- table ----

// The pieces between slashes. Cursor: row, and then piece << 32 | byte within the row.
WEIR_TABLE(split, "s STRING -> ROW<piece STRING, pos INT>", WEIR_DETERMINISTIC) {
  const weir_column *in = IN(0);
  const weir_strs s = STR(0);
  weir_text piece = OUT_STR(0);
  int32_t *pos = OUT_I32(1);
  uint32_t *parent = PARENT(), n = 0;
  for (uint32_t i = (uint32_t)call->cursor[0]; i < rows; i++) {
    uint32_t at = (uint32_t)call->cursor[1], number = (uint32_t)(call->cursor[1] >> 32);
    call->cursor[1] = 0;
    if (weir_is_null(in, i)) continue;
    weir_str v = weir_get(s, i);
    while (at <= v.n) {
      if (n == MAX_ROWS()) {
        call->cursor[0] = i, call->cursor[1] = (uint64_t)number << 32 | at;
        call->out_rows = n;
        return WEIR_MORE;
      }
      uint32_t end = at;
      while (end < v.n && v.p[end] != '/') end++;
      weir_put(&piece, v.p + at, end - at);
      weir_next(&piece);
      pos[n] = (int32_t)number++;
      parent[n++] = i;
      at = end + 1;
    }
  }
  call->out_rows = n;
  return WEIR_OK;
}

// ---- temporal ----

// A rate between two versions, by the time between them; the floor's when there is
// no later one. Inputs: key, as-of time, floor time, floor rate, ceil time, ceil rate.
WEIR_TEMPORAL(rate_at, WEIR_KEYS("STRING"), "TIMESTAMP(3)", "ROW<rate DOUBLE>", "-> ROW<rate DOUBLE>",
              WEIR_DETERMINISTIC WEIR_CEIL_FINAL) {
  const int64_t *at = I64(1), *floor_time = I64(2), *ceil_time = I64(4);
  const double *floor_rate = F64(3), *ceil_rate = F64(5);
  double *out = OUT_F64();
  uint32_t *parent = PARENT(), n = 0;
  for (uint32_t i = (uint32_t)call->cursor[0]; i < rows; i++) {
    if (weir_is_null(IN(2), i)) continue;
    if (n == MAX_ROWS()) {
      call->cursor[0] = i, call->out_rows = n;
      return WEIR_MORE;
    }
    double rate = floor_rate[i];
    if (!weir_is_null(IN(4), i))
      rate += (ceil_rate[i] - rate) * (double)(at[i] - floor_time[i]) / (double)(ceil_time[i] - floor_time[i]);
    out[n] = rate;
    parent[n++] = i;
  }
  call->out_rows = n;
  return WEIR_OK;
}

// ---- aggregate, fixed state ----

typedef struct mean {
  int64_t sum, count;
} mean;

WEIR_AGGREGATE(avg2, mean, 16, 2, "x BIGINT -> BIGINT", WEIR_DETERMINISTIC WEIR_RETRACTS WEIR_MERGES)

WEIR_UPDATE(avg2) {
  const int64_t *x = I64(0);
  const uint32_t *group = GROUP();
  const int8_t *sign = SIGN();
  mean *state = STATE(mean);
  if (!sign) {
    for (uint32_t i = 0; i < rows; i++) state[group[i]].sum += x[i], state[group[i]].count++;
  } else {
    for (uint32_t i = 0; i < rows; i++) state[group[i]].sum += sign[i] * x[i], state[group[i]].count += sign[i];
  }
  return WEIR_OK;
}

WEIR_MERGE(avg2) {
  const uint32_t *group = GROUP();
  const mean *other = OTHER(mean);
  mean *state = STATE(mean);
  for (uint32_t i = 0; i < rows; i++) state[group[i]].sum += other[i].sum, state[group[i]].count += other[i].count;
  return WEIR_OK;
}

WEIR_FINISH(avg2) {
  const mean *state = STATE(mean);
  int64_t *out = OUT_I64();
  for (uint32_t g = 0; g < GROUPS(); g++) {
    if (state[g].count) out[g] = state[g].sum / state[g].count;
    else SET_NULL(g);
  }
  return WEIR_OK;
}

// Version 1 kept the sum in 32 bits: {int32 sum, int32 count}.
WEIR_UPGRADE(avg2) {
  if (call->other_version != 1) return WEIR_FAIL("avg2: states of this version are not known", WEIR_NO_ROW);
  const int32_t *old = OTHER(int32_t);
  mean *state = STATE(mean);
  for (uint32_t g = 0; g < GROUPS(); g++) state[g].sum = old[2 * g], state[g].count = old[2 * g + 1];
  return WEIR_OK;
}

// ---- aggregate, states of variable size ----

WEIR_AGGREGATE_VIEWS(str_agg, 1, "s STRING -> STRING", WEIR_DETERMINISTIC WEIR_MERGES)

// A state has a comma before each value, so that one of empty texts is not empty.
WEIR_UPDATE(str_agg) {
  const weir_strs s = STR(0);
  const uint32_t *group = GROUP();
  ROWS_OF(i, IN(0)) {
    weir_str v = weir_get(s, i);
    weir_view *state = VIEWS() + group[i];
    weir_view_put(state, ",", 1);
    weir_view_put(state, v.p, v.n);
  }
  return WEIR_OK;
}

WEIR_MERGE(str_agg) {
  const weir_view *other = OTHER_VIEWS();
  const uint32_t *group = GROUP();
  for (uint32_t i = 0; i < rows; i++) weir_view_put(VIEWS() + group[i], WEIR_AT(void, other[i].ptr), other[i].len);
  return WEIR_OK;
}

WEIR_FINISH(str_agg) {
  const weir_view *state = VIEWS();
  weir_text out = OUT_STR();
  for (uint32_t g = 0; g < GROUPS(); g++) {
    if (!state[g].len) {
      weir_next_null(&out);
      continue;
    }
    weir_put(&out, WEIR_AT(uint8_t, state[g].ptr) + 1, state[g].len - 1);
    weir_next(&out);
  }
  return WEIR_OK;
}

// ---- table aggregate ----

// The best two now, and as they were last emitted.
typedef struct best {
  int32_t now[2], sent[2];
} best;

#define NONE INT32_MIN

static void push(best *b, int32_t v) {
  if (v > b->now[0]) b->now[1] = b->now[0], b->now[0] = v;
  else if (v > b->now[1]) b->now[1] = v;
}

#define TOP2(f)                                                              \
  WEIR_INIT(f) {                                                             \
    best *state = STATE(best);                                               \
    for (uint32_t g = 0; g < GROUPS(); g++)                                  \
      state[g].now[0] = state[g].now[1] = state[g].sent[0] = state[g].sent[1] = NONE; \
    return WEIR_OK;                                                          \
  }                                                                          \
  WEIR_UPDATE(f) {                                                           \
    const int32_t *v = I32(0);                                               \
    const uint32_t *group = GROUP();                                         \
    for (uint32_t i = 0; i < rows; i++) push(STATE(best) + group[i], v[i]);  \
    return WEIR_OK;                                                          \
  }                                                                          \
  WEIR_MERGE(f) {                                                            \
    const best *other = OTHER(best);                                         \
    const uint32_t *group = GROUP();                                         \
    for (uint32_t i = 0; i < rows; i++)                                      \
      for (int k = 0; k < 2; k++) push(STATE(best) + group[i], other[i].now[k]); \
    return WEIR_OK;                                                          \
  }

WEIR_TABLE_AGGREGATE(top2, best, 16, 1, "v INT -> ROW<v INT, place INT>",
                     WEIR_DETERMINISTIC WEIR_MERGES WEIR_EMITS_RETRACT)
TOP2(top2)

// Retractions of a group first, then what is new. A group takes up to four rows.
WEIR_EMIT(top2) {
  best *state = STATE(best);
  int32_t *v = OUT_I32(0), *place = OUT_I32(1);
  uint32_t *parent = PARENT(), n = 0;
  uint8_t *kind = KIND();
  for (uint32_t g = (uint32_t)call->cursor[0]; g < GROUPS(); g++) {
    if (n + 4 > MAX_ROWS()) {
      call->cursor[0] = g, call->out_rows = n;
      return WEIR_MORE;
    }
    best *b = state + g;
    for (int k = 0; k < 2; k++)
      if (b->sent[k] != b->now[k] && b->sent[k] != NONE)
        parent[n] = g, kind[n] = WEIR_RETRACT, v[n] = b->sent[k], place[n++] = k + 1;
    for (int k = 0; k < 2; k++)
      if (b->sent[k] != b->now[k] && b->now[k] != NONE)
        parent[n] = g, kind[n] = WEIR_ADD, v[n] = b->now[k], place[n++] = k + 1;
    b->sent[0] = b->now[0], b->sent[1] = b->now[1];
  }
  call->out_rows = n;
  return WEIR_OK;
}

WEIR_TABLE_AGGREGATE(top2_full, best, 16, 1, "v INT -> ROW<v INT, place INT>", WEIR_DETERMINISTIC WEIR_MERGES)
TOP2(top2_full)

WEIR_EMIT(top2_full) {
  const best *state = STATE(best);
  int32_t *v = OUT_I32(0), *place = OUT_I32(1);
  uint32_t *parent = PARENT(), n = 0;
  for (uint32_t g = (uint32_t)call->cursor[0]; g < GROUPS(); g++) {
    if (n + 2 > MAX_ROWS()) {
      call->cursor[0] = g, call->out_rows = n;
      return WEIR_MORE;
    }
    for (int k = 0; k < 2; k++)
      if (state[g].now[k] != NONE) parent[n] = g, v[n] = state[g].now[k], place[n++] = k + 1;
  }
  call->out_rows = n;
  return WEIR_OK;
}

WEIR_MODULE("kinds", "1.0.0")
