/* weir.h: SQL functions for Weir in C or C++, compiled to WebAssembly. Version 1.
 *
 * One header, no library. It needs clang for wasm32 (-mbulk-memory) and nothing
 * else; libc and libm may be used beside it. A whole module:
 *
 *     #include "weir.h"
 *     WEIR_SCALAR(add, "a BIGINT, b BIGINT -> BIGINT", WEIR_DETERMINISTIC) {
 *       const int64_t *a = I64(0), *b = I64(1);
 *       int64_t *out = OUT_I64();
 *       for (uint32_t i = 0; i < rows; i++) out[i] = a[i] + b[i];
 *       return WEIR_OK;
 *     }
 *     WEIR_MODULE("demo", "1.0.0")
 *
 * A function is called once per batch, or for a few parts of it. In its body `call`
 * is the weir_call and `rows` the number of input rows. README.md explains the rest by
 * examples.
 */
#ifndef WEIR_H
#define WEIR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define WEIR__ASSERT(condition, message) static_assert(condition, message)
#define WEIR__C extern "C"
extern "C" {
#else
#define WEIR__ASSERT(condition, message) _Static_assert(condition, message)
#define WEIR__C
#endif

/* ---- 1. What host and guest share: the structs, in the host's own layout ---- */

#define WEIR_VERSION 1

typedef uint32_t weir_ptr; /* an address in this module's memory */

typedef struct weir_column {
  uint32_t type;  /* id | p << 8 | s << 16, see weir_type_id */
  uint32_t flags; /* WEIR_CONSTANT or 0 */
  uint32_t length, null_count;
  weir_ptr validity; /* bitmap, least significant bit first; 0 = no nulls (inputs) */
  weir_ptr offsets;  /* int32_t[length + 1], the first is 0 */
  weir_ptr data;
  uint32_t data_len, data_cap, row_cap;
  weir_ptr children; /* weir_column[n_children] */
  uint32_t n_children;
  uint32_t reserved[4];
} weir_column;

typedef struct weir_view { /* a state of variable size */
  weir_ptr ptr;
  uint32_t len, cap, scratch;
} weir_view;

typedef struct weir_call {
  uint32_t version, size;
  uint32_t rows, flags;
  uint32_t n_in;
  weir_ptr in; /* weir_column[n_in] */
  uint32_t n_out;
  weir_ptr out;       /* weir_column[n_out] */
  uint64_t cursor[2]; /* 0, 0 at first; yours between calls that return WEIR_MORE */
  int64_t now;        /* milliseconds since 1970 UTC */
  uint64_t seed;
  uint32_t groups;
  weir_ptr group; /* uint32_t[rows] */
  weir_ptr sign;  /* int8_t[rows], or 0 when every row adds */
  weir_ptr state;
  uint32_t state_size;
  weir_ptr other;
  uint32_t other_size, other_version;
  uint32_t max_rows, out_rows;
  weir_ptr parent; /* uint32_t[max_rows] */
  weir_ptr kind;   /* uint8_t[max_rows] */
  weir_ptr err;
  uint32_t err_len, err_row, reserved;
} weir_call;

WEIR__ASSERT(sizeof(weir_column) == 64 && sizeof(weir_view) == 16 && sizeof(weir_call) == 128, "layout");
WEIR__ASSERT(offsetof(weir_call, cursor) == 32 && offsetof(weir_call, groups) == 64, "layout");
WEIR__ASSERT(offsetof(weir_call, max_rows) == 96 && offsetof(weir_call, err_row) == 120, "layout");
WEIR__ASSERT(offsetof(weir_column, validity) == 16 && offsetof(weir_column, n_children) == 44, "layout");

enum { WEIR_OK = 0, WEIR_FAILED = 1, WEIR_MORE = 2 };

#define WEIR_NO_ROW 0xffffffffu

enum { WEIR_CONSTANT = 1, WEIR_DICTIONARY = 2 }; /* column flags; the second is never set in version 1 */

enum { WEIR_ADD = 0, WEIR_RETRACT = 1 }; /* what a table aggregate writes to KIND() */

typedef enum weir_type_id {
  WEIR_BOOLEAN = 1,
  WEIR_TINYINT,
  WEIR_SMALLINT,
  WEIR_INT,
  WEIR_BIGINT,
  WEIR_FLOAT,
  WEIR_DOUBLE,
  WEIR_DECIMAL,        /* p = precision, s = scale */
  WEIR_DATE,           /* int32_t days since 1970-01-01 */
  WEIR_TIME,           /* p = unit; int32_t seconds and milliseconds, int64_t finer */
  WEIR_TIMESTAMP,      /* p = unit, s = 1 for TIMESTAMP_LTZ; int64_t since 1970 */
  WEIR_STRING,
  WEIR_BINARY,
  WEIR_INTERVAL_MONTH, /* int32_t */
  WEIR_INTERVAL_DAY,   /* int64_t milliseconds */
  WEIR_ARRAY,          /* child 0: elements */
  WEIR_MAP,            /* child 0: keys, child 1: values; MULTISET: values are counts */
  WEIR_ROW             /* one child per field */
} weir_type_id;

enum { WEIR_SECOND, WEIR_MILLISECOND, WEIR_MICROSECOND, WEIR_NANOSECOND }; /* units */

__extension__ typedef __int128 weir_decimal; /* unscaled value of a DECIMAL */

static inline weir_type_id weir_id(const weir_column *c) { return (weir_type_id)(c->type & 0xff); }
static inline uint32_t weir_p(const weir_column *c) { return c->type >> 8 & 0xff; }
static inline uint32_t weir_s(const weir_column *c) { return c->type >> 16 & 0xff; }

/* ---- 2. Memory ----
 *
 * weir_alloc and weir_free serve the host's arena and whatever you keep. weir_tmp
 * is for one call: it is never null, is aligned to 64 bytes, and everything it
 * gave is taken back when the host calls again. They take fresh pages only, so a
 * libc's malloc may be used beside them. */

#define WEIR__SHARED __attribute__((weak)) /* one definition, however many files include this */
#define WEIR__COLD __attribute__((noinline, cold))

typedef struct weir_block {
  uint32_t size;
  struct weir_block *next; /* by ascending address */
} weir_block;

typedef struct weir_chunk { /* heads a piece of temporary memory */
  struct weir_chunk *next;
  uint32_t size, used;
} weir_chunk;

typedef struct weir_memory {
  weir_block *free;
  weir_chunk *chunks; /* of this call, the newest first */
} weir_memory;

WEIR__SHARED weir_memory weir_mem = {0, 0};

/* Gives n bytes back; n as in weir_alloc. Neighbours grow together again. */
WEIR__SHARED __attribute__((noinline)) void weir_free(void *at, uint32_t n) {
  if (!at) return;
  weir_block *b = (weir_block *)at, *before = 0, *after = weir_mem.free;
  b->size = n ? (n + 63) & ~63u : 64;
  while (after && after < b) before = after, after = after->next;
  b->next = after;
  if (after && (uint8_t *)b + b->size == (uint8_t *)after) b->size += after->size, b->next = after->next;
  if (!before) {
    weir_mem.free = b;
  } else if ((uint8_t *)before + before->size == (uint8_t *)b) {
    before->size += b->size, before->next = b->next;
  } else {
    before->next = b;
  }
}

/* n bytes at a multiple of 64, or null when the memory limit is reached. */
WEIR__SHARED __attribute__((noinline)) void *weir_alloc(uint32_t n) {
  if (n > 0xfffe0000u) return 0;
  n = n ? (n + 63) & ~63u : 64;
  for (int grown = 0;; grown = 1) {
    for (weir_block **p = &weir_mem.free; *p; p = &(*p)->next) {
      weir_block *b = *p;
      if (b->size < n) continue;
      if (b->size == n) {
        *p = b->next;
      } else { /* what is left stays in its place of the list */
        weir_block *rest = (weir_block *)((uint8_t *)b + n);
        rest->size = b->size - n, rest->next = b->next;
        *p = rest;
      }
      return b;
    }
    if (grown) return 0;
    uint32_t pages = (n + 0xffff) >> 16;
    size_t old = __builtin_wasm_memory_grow(0, pages);
    if (old == (size_t)-1) return 0;
    weir_free((void *)(old << 16), pages << 16);
  }
}

/* Its name is what a stack trace shows when the memory limit is reached. */
WEIR__SHARED WEIR__COLD void weir_out_of_memory(void) { __builtin_trap(); }

WEIR__SHARED WEIR__COLD void weir_drop_chunks(void) {
  while (weir_mem.chunks && (weir_mem.chunks->next || weir_mem.chunks->size > 1 << 17)) {
    weir_chunk *c = weir_mem.chunks;
    weir_mem.chunks = c->next;
    weir_free(c, c->size);
  }
  if (weir_mem.chunks) weir_mem.chunks->used = 64;
}

/* The exports begin with it. */
static inline void weir_begin(void) {
  if (weir_mem.chunks) weir_drop_chunks();
}

WEIR__SHARED __attribute__((noinline)) void *weir_tmp(uint32_t n) {
  weir_chunk *c = weir_mem.chunks;
  if (n > 0x7fffffffu) weir_out_of_memory();
  n = (n + 63) & ~63u;
  if (!c || n > c->size - c->used) {
    uint32_t size = n + 64 < 1 << 16 ? 1 << 16 : n + 64;
    c = (weir_chunk *)weir_alloc(size);
    if (!c) weir_out_of_memory();
    c->next = weir_mem.chunks, c->size = size, c->used = 64;
    weir_mem.chunks = c;
  }
  void *at = (uint8_t *)c + c->used;
  c->used += n;
  return at;
}

/* Temporary memory of n bytes that begins with the first `used` of the `cap` at old,
 * which must not be touched again. A large block of weir_tmp's is given back at once. */
WEIR__SHARED __attribute__((noinline)) void *weir_tmp_more(uint32_t n, void *old, uint32_t cap, uint32_t used) {
  void *at = weir_tmp(n);
  if (used) __builtin_memcpy(at, old, used);
  for (weir_chunk **p = &weir_mem.chunks; cap >= 1 << 16 && *p; p = &(*p)->next) {
    weir_chunk *c = *p;
    if ((uint8_t *)c + 64 != (uint8_t *)old || c->used != 64 + ((cap + 63) & ~63u)) continue;
    *p = c->next;
    weir_free(c, c->size);
    break;
  }
  return at;
}

/* The capacity to ask for when `need` is more than `cap`: at least half as much again. */
static inline uint32_t weir_more_cap(uint32_t cap, uint32_t need) {
  uint32_t more = cap + cap / 2 + 64;
  return more > need ? more : need;
}

#define WEIR_EXPORT(name) __attribute__((export_name(name)))

WEIR__SHARED WEIR_EXPORT("udf_alloc") void *udf_alloc(uint32_t n) { return weir_alloc(n); }
WEIR__SHARED WEIR_EXPORT("udf_free") void udf_free(void *at, uint32_t n) { weir_free(at, n); }

/* ---- 3. Columns ---- */

#define WEIR_AT(T, ptr) ((T *)(uintptr_t)(ptr))
#define WEIR_DATA(T, column) WEIR_AT(T, (column)->data)

static inline weir_column *weir_in(const weir_call *call, uint32_t k) { return WEIR_AT(weir_column, call->in) + k; }
static inline weir_column *weir_out(const weir_call *call, uint32_t k) { return WEIR_AT(weir_column, call->out) + k; }
static inline weir_column *weir_child(const weir_column *c, uint32_t k) { return WEIR_AT(weir_column, c->children) + k; }

static inline int weir_bit(const uint8_t *bits, uint32_t i) { return bits[i >> 3] >> (i & 7) & 1; }

static inline void weir_set_bit(uint8_t *bits, uint32_t i, int value) {
  bits[i >> 3] = (uint8_t)((bits[i >> 3] & ~(1u << (i & 7))) | (uint32_t)(value != 0) << (i & 7));
}

static inline int weir_is_null(const weir_column *c, uint32_t i) {
  return c->validity && !weir_bit(WEIR_AT(uint8_t, c->validity), i);
}

/* Makes row i of an output null. Rows that nobody touches are not null. */
static inline void weir_set_null(weir_column *c, uint32_t i) {
  WEIR_AT(uint8_t, c->validity)[i >> 3] &= (uint8_t)~(1u << (i & 7));
}

/* Whether any argument of row i is null. */
static inline int weir_any_null(const weir_call *call, uint32_t i) {
  for (uint32_t k = 0; k < call->n_in; k++)
    if (weir_is_null(weir_in(call, k), i)) return 1;
  return 0;
}

/* What a row number is ANDed with to index input k: 0 when it is constant. Only
 * functions with WEIR_ACCEPTS_CONSTANT need it. */
static inline uint32_t weir_mask(const weir_call *call, uint32_t k) {
  return weir_in(call, k)->flags & WEIR_CONSTANT ? 0 : 0xffffffffu;
}

/* Walks the rows whose bit is set in a bitmap, or all when there is none. */
typedef struct weir_walk {
  const uint64_t *words;
  uint64_t word;
  uint32_t next, rows; /* next: first row of the next word */
} weir_walk;

static inline weir_walk weir_walk_rows(weir_ptr validity, uint32_t rows) {
  weir_walk w;
  w.words = WEIR_AT(const uint64_t, validity), w.word = 0, w.next = 0, w.rows = rows;
  return w;
}

static inline int weir_step(weir_walk *w, uint32_t *row) {
  while (!w->word) {
    if (w->next >= w->rows) return 0;
    w->word = w->words ? w->words[w->next >> 6] : ~0ull;
    if (w->rows - w->next < 64) w->word &= ~(~0ull << (w->rows - w->next));
    w->next += 64;
  }
  *row = w->next - 64 + (uint32_t)__builtin_ctzll(w->word);
  w->word &= w->word - 1;
  return 1;
}

/* Strings. Bytes of a STRING are UTF-8, and no NUL ends them. */
typedef struct weir_str {
  const uint8_t *p;
  uint32_t n;
} weir_str;

typedef struct weir_strs {
  const uint32_t *offsets;
  const uint8_t *data;
} weir_strs;

static inline weir_strs weir_strings(const weir_column *c) {
  weir_strs s;
  s.offsets = WEIR_AT(const uint32_t, c->offsets), s.data = WEIR_DATA(const uint8_t, c);
  return s;
}

static inline weir_str weir_get(weir_strs s, uint32_t i) {
  weir_str v;
  v.p = s.data + s.offsets[i], v.n = s.offsets[i + 1] - s.offsets[i];
  return v;
}

/* The elements of row i of an ARRAY or MAP are rows [from, to) of its children. */
typedef struct weir_range {
  uint32_t from, to;
} weir_range;

static inline weir_range weir_elements(const weir_column *c, uint32_t i) {
  const uint32_t *offsets = WEIR_AT(const uint32_t, c->offsets);
  weir_range r;
  r.from = offsets[i], r.to = offsets[i + 1];
  return r;
}

/* The bytes of a value in data; 0 for BOOLEAN, strings and nested types. */
static inline uint32_t weir_width(const weir_column *c) {
  switch (weir_id(c)) {
    case WEIR_TINYINT: return 1;
    case WEIR_SMALLINT: return 2;
    case WEIR_INT: case WEIR_FLOAT: case WEIR_DATE: case WEIR_INTERVAL_MONTH: return 4;
    case WEIR_BIGINT: case WEIR_DOUBLE: case WEIR_TIMESTAMP: case WEIR_INTERVAL_DAY: return 8;
    case WEIR_TIME: return weir_p(c) <= WEIR_MILLISECOND ? 4 : 8;
    case WEIR_DECIMAL: return 16;
    default: return 0;
  }
}

/* ---- 4. Outputs whose size is not known beforehand ----
 *
 * The host prepares room for what it expects. The builders go beyond it with
 * temporary memory. Rows are written in order, each ended by a call. */

/* Room for `need` rows in an output, or in a child of one: offsets, validity, data
 * of fixed width, and the fields of a ROW. Pointers taken before are stale. */
WEIR__SHARED __attribute__((noinline)) void weir_grow_rows(weir_column *c, uint32_t need) {
  uint32_t cap = c->row_cap;
  if (need <= cap) return;
  if (need > 0x7ffffff0u / 16) weir_out_of_memory(); /* 16: the widest value */
  uint32_t more = weir_more_cap(cap, need), bits = (cap + 7) / 8, more_bits = (more + 7) / 8;
  if (c->validity || cap == 0) {
    uint8_t *v = (uint8_t *)weir_tmp_more(more_bits, WEIR_AT(void, c->validity), bits, bits);
    __builtin_memset(v + bits, 0xff, more_bits - bits);
    if (cap & 7) v[cap >> 3] |= (uint8_t)(0xff << (cap & 7));
    c->validity = (weir_ptr)(uintptr_t)v;
  }
  if (c->offsets) {
    uint32_t used = cap ? (cap + 1) * 4 : 4;
    c->offsets = (weir_ptr)(uintptr_t)weir_tmp_more((more + 1) * 4, WEIR_AT(void, c->offsets), used, used);
  }
  uint32_t width = weir_width(c);
  if (width) {
    c->data = (weir_ptr)(uintptr_t)weir_tmp_more(more * width, WEIR_DATA(void, c), cap * width, cap * width);
    c->data_cap = more * width;
  } else if (weir_id(c) == WEIR_BOOLEAN) {
    c->data = (weir_ptr)(uintptr_t)weir_tmp_more(more_bits, WEIR_DATA(void, c), bits, bits);
    c->data_cap = more_bits;
  } else if (weir_id(c) == WEIR_ROW) {
    for (uint32_t k = 0; k < c->n_children; k++) weir_grow_rows(weir_child(c, k), more);
  }
  c->row_cap = more;
}

/* Writes a STRING or BINARY output. */
typedef struct weir_text {
  weir_column *column;
  uint8_t *data;
  uint32_t *offsets;
  uint32_t row, len, cap; /* rows ended, bytes written, bytes there is room for */
} weir_text;

static inline weir_text weir_text_of(weir_column *c) {
  weir_text t;
  if (!c->offsets) weir_grow_rows(c, 1);
  t.column = c, t.data = WEIR_DATA(uint8_t, c), t.offsets = WEIR_AT(uint32_t, c->offsets);
  t.row = 0, t.len = 0, t.cap = c->data_cap;
  t.offsets[0] = 0;
  c->data_len = 0;
  return t;
}

WEIR__SHARED __attribute__((noinline)) void weir_text_grow(weir_text *t, uint32_t n) {
  if (n > 0x7fffffffu - t->len) weir_out_of_memory();
  uint32_t cap = weir_more_cap(t->cap, t->len + n);
  t->data = (uint8_t *)weir_tmp_more(cap, t->data, t->cap, t->len);
  t->cap = cap;
  t->column->data = (weir_ptr)(uintptr_t)t->data;
  t->column->data_cap = t->cap;
}

/* Room for n more bytes in the row; write there, then add what you wrote to len. */
static inline uint8_t *weir_room(weir_text *t, uint32_t n) {
  if (n > t->cap - t->len) weir_text_grow(t, n);
  return t->data + t->len;
}

static inline void weir_put(weir_text *t, const void *bytes, uint32_t n) {
  uint8_t *to = weir_room(t, n);
  if (n) __builtin_memcpy(to, bytes, n);
  t->len += n;
}

static inline void weir_put_char(weir_text *t, uint8_t c) {
  *weir_room(t, 1) = c;
  t->len++;
}

WEIR__SHARED __attribute__((noinline)) void weir_text_rows(weir_text *t) {
  weir_grow_rows(t->column, t->row + 2);
  t->offsets = WEIR_AT(uint32_t, t->column->offsets);
}

/* Ends the row. */
static inline void weir_next(weir_text *t) {
  if (t->row >= t->column->row_cap) weir_text_rows(t);
  t->offsets[++t->row] = t->len;
  t->column->data_len = t->len;
}

/* Ends the row as null. */
static inline void weir_next_null(weir_text *t) {
  weir_next(t);
  weir_set_null(t->column, t->row - 1);
}

/* Writes an ARRAY or MAP output. The elements are rows of the children: extend,
 * fetch the children's pointers (they may have moved), write, end the row. */
typedef struct weir_list {
  weir_column *column;
  uint32_t row, len; /* rows ended, elements so far */
} weir_list;

static inline weir_list weir_list_of(weir_column *c) {
  weir_list l;
  if (!c->offsets) weir_grow_rows(c, 1);
  l.column = c, l.row = 0, l.len = 0;
  WEIR_AT(uint32_t, c->offsets)[0] = 0;
  return l;
}

/* Makes room for n more elements and returns the number of the first. Children
 * that are written by a builder of their own make room themselves. */
static inline uint32_t weir_extend(weir_list *l, uint32_t n) {
  uint32_t first = l->len;
  if (n > 0x7fffffffu - first) weir_out_of_memory();
  l->len += n;
  for (uint32_t k = 0; k < l->column->n_children; k++) {
    weir_column *c = weir_child(l->column, k);
    if (l->len > c->row_cap) weir_grow_rows(c, l->len);
  }
  return first;
}

static inline void weir_next_list(weir_list *l) {
  if (l->row >= l->column->row_cap) weir_grow_rows(l->column, l->row + 1);
  WEIR_AT(uint32_t, l->column->offsets)[++l->row] = l->len;
}

static inline void weir_next_list_null(weir_list *l) {
  weir_next_list(l);
  weir_set_null(l->column, l->row - 1);
}

/* Views: states of variable size. Room for n bytes at v, keeping what is there. */
static inline uint8_t *weir_view_room(weir_view *v, uint32_t n) {
  if (n > v->cap) {
    uint32_t cap = weir_more_cap(v->cap, n);
    v->ptr = (weir_ptr)(uintptr_t)weir_tmp_more(cap, WEIR_AT(void, v->ptr), v->cap, v->len);
    v->cap = cap;
  }
  return WEIR_AT(uint8_t, v->ptr);
}

static inline void weir_view_put(weir_view *v, const void *bytes, uint32_t n) {
  if (!n) return;
  if (n > 0x7fffffffu - v->len) weir_out_of_memory();
  __builtin_memcpy(weir_view_room(v, v->len + n) + v->len, bytes, n);
  v->len += n;
}

/* ---- 5. Errors and the log ---- */

static inline uint32_t weir_strlen(const char *s) {
  uint32_t n = 0;
  while (s[n]) n++;
  return n;
}

/* For: return weir_fail(...). The message must outlive the function: a literal, or
 * weir_tmp. Up to 4096 bytes of UTF-8 are read. */
static inline int weir_fail(weir_call *call, const char *message, uint32_t n, uint32_t row) {
  call->err = (weir_ptr)(uintptr_t)message, call->err_len = n, call->err_row = row;
  return WEIR_FAILED;
}

/* return WEIR_FAIL("division by zero", i); the row may be WEIR_NO_ROW. */
#define WEIR_FAIL(message, row) weir_fail(call, (message), weir_strlen(message), (row))

enum { WEIR_DEBUG, WEIR_INFO, WEIR_WARN, WEIR_ERROR };

__attribute__((import_module("weir"), import_name("log"))) void weir_log(uint32_t level, const void *text, uint32_t n);

#define WEIR_LOG(level, text) weir_log((level), (text), weir_strlen(text))

#ifdef __cplusplus
}
#endif

/* ---- 6. Functions ----
 *
 * Each macro writes the function's part of the manifest into the custom section
 * udf.manifest and defines the export; the body in braces follows. After the
 * signature there may be options, side by side without commas. */

#define WEIR__Q "\\\"" /* a quote inside .ascii */
#define WEIR__KEY(name) "," WEIR__Q name WEIR__Q ":"
#define WEIR__TEXT(name, value) WEIR__KEY(name) WEIR__Q value WEIR__Q

#define WEIR__MANIFEST(text) \
  __asm__(".section .custom_section.udf.manifest,\"\",@\n" text ".text\n")

#define WEIR_DETERMINISTIC WEIR__KEY("deterministic") "true" /* the same rows give the same results */
#define WEIR_CALLED WEIR__TEXT("nulls", "called")            /* sees rows with null arguments */
#define WEIR_ACCEPTS_CONSTANT WEIR__KEY("accepts") "[" WEIR__Q "constant" WEIR__Q "]"
#define WEIR_RETRACTS WEIR__KEY("retract") "true"    /* takes retractions: see SIGN() */
#define WEIR_MERGES WEIR__KEY("merge") "true"        /* has a WEIR_MERGE */
#define WEIR_EMITS_RETRACT WEIR__TEXT("emit", "retract") /* a table aggregate that writes KIND() */
#define WEIR_CEIL_FINAL WEIR__TEXT("ceil", "final")  /* a temporal function waits for the version after */

/* An assembler macro between the functions: it opens the list, and is then a comma. */
__asm__(".macro weir_separator\n.ascii \"{" WEIR__Q "functions" WEIR__Q ":[\"\n.purgem weir_separator\n"
        ".macro weir_separator\n.ascii \",\"\n.endm\n.endm\n");

#define WEIR__FUNCTION(name, export, kind, signature, options)                                          \
  WEIR__MANIFEST("weir_separator\n"                                                                     \
                 ".ascii \"{" WEIR__Q "name" WEIR__Q ":" WEIR__Q name WEIR__Q WEIR__TEXT("export", export) \
                 WEIR__TEXT("kind", kind) WEIR__TEXT("signature", signature) options "}\"\n");

/* The export, whose body follows. Stack traces name it sql.add. */
#define WEIR__BODY(f, part, export)                                                                     \
  static inline int weir_##f##_##part(weir_call *call, uint32_t rows);                                  \
  WEIR__C WEIR_EXPORT(export) int weir_export_##f##_##part(weir_call *call) __asm__("sql." export);     \
  WEIR__C int weir_export_##f##_##part(weir_call *call) {                                               \
    weir_begin();                                                                                       \
    return weir_##f##_##part(call, call->rows);                                                         \
  }                                                                                                     \
  static inline int weir_##f##_##part(__attribute__((unused)) weir_call *call, __attribute__((unused)) uint32_t rows)

/* The first and the second of the variable arguments; the second may be missing. */
#define WEIR__SIGNATURE(signature, ...) signature
#define WEIR__OPTIONS(signature, options, ...) options

/* WEIR_SCALAR(name, signature[, options]): one value per row, to output 0. */
#define WEIR_SCALAR(f, ...) WEIR_SCALAR_AS(f, #f, __VA_ARGS__)

/* WEIR_SCALAR_AS(f, "name", signature[, options]): an overload; SQL calls it name. */
#define WEIR_SCALAR_AS(f, name, ...)                                                                         \
  WEIR__FUNCTION(name, #f, "scalar", WEIR__SIGNATURE(__VA_ARGS__, ""), WEIR__OPTIONS(__VA_ARGS__, "", "")) \
  WEIR__BODY(f, scalar, #f)

/* WEIR_TABLE(name, signature[, options]): rows per row. Fill the outputs and
 * PARENT(), set call->out_rows; return WEIR_MORE with call->cursor set when
 * MAX_ROWS() is reached before the end. */
#define WEIR_TABLE(f, ...)                                                                                  \
  WEIR__FUNCTION(#f, #f, "table", WEIR__SIGNATURE(__VA_ARGS__, ""), WEIR__OPTIONS(__VA_ARGS__, "", "")) \
  WEIR__BODY(f, table, #f)

/* WEIR_TEMPORAL(name, WEIR_KEYS("STRING"), "TIMESTAMP(3)", "ROW<rate DOUBLE>",
 * signature[, options]): at most one row per row. Inputs: keys, as-of time, floor
 * time, floor version.., ceil time, ceil version.., the arguments of the signature. */
#define WEIR_TEMPORAL(f, keys, time, version_row, ...)                                                      \
  WEIR__FUNCTION(#f, #f, "temporal", WEIR__SIGNATURE(__VA_ARGS__, ""),                                      \
                 WEIR__KEY("keys") "[" keys "]" WEIR__TEXT("time", time) WEIR__TEXT("version_row", version_row) \
                 WEIR__OPTIONS(__VA_ARGS__, "", ""))                                                       \
  WEIR__BODY(f, temporal, #f)

/* Up to four, joined by commas. */
#define WEIR_KEYS(...) WEIR__JOIN(__VA_ARGS__, WEIR__KEYS4, WEIR__KEYS3, WEIR__KEYS2, WEIR__KEYS1, "")(__VA_ARGS__)
#define WEIR__KEYS1(a) WEIR__Q a WEIR__Q
#define WEIR__KEYS2(a, b) WEIR__KEYS1(a) "," WEIR__KEYS1(b)
#define WEIR__KEYS3(a, b, c) WEIR__KEYS2(a, b) "," WEIR__KEYS1(c)
#define WEIR__KEYS4(a, b, c, d) WEIR__KEYS3(a, b, c) "," WEIR__KEYS1(d)
#define WEIR__JOIN(a, b, c, d, n, ...) n
#define WEIR__JOIN1(a) a
#define WEIR__JOIN2(a, b) a "," b
#define WEIR__JOIN3(a, b, c) a "," b "," c
#define WEIR__JOIN4(a, b, c, d) a "," b "," c "," d

/* WEIR_AGGREGATE(name, T, size, version, signature[, options]): one value per
 * group. T is the struct of a state and size its size in bytes, a multiple of 8, as
 * a plain number. Then WEIR_UPDATE(name) { }, WEIR_FINISH(name) { }, and if wanted
 * WEIR_INIT, WEIR_MERGE, WEIR_UPGRADE. Without WEIR_INIT states begin as zeros. */
#define WEIR_AGGREGATE(f, T, size, version, ...)                                         \
  WEIR__ASSERT(sizeof(T) == (size) && (size) % 8 == 0, "size of the state of " #f);      \
  WEIR__FUNCTION(#f, #f, "aggregate", WEIR__SIGNATURE(__VA_ARGS__, ""),                  \
                 WEIR__STATE(size, version) WEIR__OPTIONS(__VA_ARGS__, "", ""))

/* The same with states of variable size: see VIEWS(). */
#define WEIR_AGGREGATE_VIEWS(f, version, ...)                           \
  WEIR__FUNCTION(#f, #f, "aggregate", WEIR__SIGNATURE(__VA_ARGS__, ""), \
                 WEIR__STATE(0, version) WEIR__OPTIONS(__VA_ARGS__, "", ""))

/* Rows per group: WEIR_EMIT(name) { } instead of WEIR_FINISH. */
#define WEIR_TABLE_AGGREGATE(f, T, size, version, ...)                                   \
  WEIR__ASSERT(sizeof(T) == (size) && (size) % 8 == 0, "size of the state of " #f);      \
  WEIR__FUNCTION(#f, #f, "table_aggregate", WEIR__SIGNATURE(__VA_ARGS__, ""),            \
                 WEIR__STATE(size, version) WEIR__OPTIONS(__VA_ARGS__, "", ""))

#define WEIR_TABLE_AGGREGATE_VIEWS(f, version, ...)                           \
  WEIR__FUNCTION(#f, #f, "table_aggregate", WEIR__SIGNATURE(__VA_ARGS__, ""), \
                 WEIR__STATE(0, version) WEIR__OPTIONS(__VA_ARGS__, "", ""))

#define WEIR__STATE(size, version) \
  WEIR__KEY("state") "{" WEIR__Q "size" WEIR__Q ":" #size WEIR__KEY("version") #version "}"

#define WEIR_INIT(f) WEIR__BODY(f, init, #f ".init")          /* writes GROUPS() states */
#define WEIR_UPDATE(f) WEIR__BODY(f, update, #f ".update")    /* rows into states GROUP()[row] */
#define WEIR_MERGE(f) WEIR__BODY(f, merge, #f ".merge")       /* rows states of OTHER into GROUP()[row] */
#define WEIR_FINISH(f) WEIR__BODY(f, finish, #f ".finish")    /* GROUPS() values to output 0 */
#define WEIR_EMIT(f) WEIR__BODY(f, emit, #f ".emit")          /* as WEIR_TABLE, PARENT() is the group */
#define WEIR_UPGRADE(f) WEIR__BODY(f, upgrade, #f ".upgrade") /* OTHER is call->other_version's states */

/* WEIR_MODULE(name, version[, options]) ends the last file. */
#define WEIR_MODULE(...) WEIR__MODULE(__VA_ARGS__, "", "")
#define WEIR__MODULE(name, version, options, ...)                                                      \
  WEIR__MANIFEST(".ascii \"]" WEIR__KEY("abi") "[1,1]" WEIR__TEXT("module", name) WEIR__TEXT("version", version) \
                 options "}\"\n");

/* What the module asks of the host, as an option of WEIR_MODULE; the host may grant
 * less: WEIR_LIMITS(WEIR_SIZE("memory", "64MiB"), WEIR_COUNT("fuel-per-row", 100000)).
 * abi/SPEC.md has the names. */
#define WEIR_LIMITS(...) WEIR__KEY("limits") "{" WEIR__JOIN(__VA_ARGS__, WEIR__JOIN4, WEIR__JOIN3, WEIR__JOIN2, WEIR__JOIN1, "")(__VA_ARGS__) "}"
#define WEIR_SIZE(name, size) WEIR__Q name WEIR__Q ":" WEIR__Q size WEIR__Q
#define WEIR_COUNT(name, n) WEIR__Q name WEIR__Q ":" #n

/* ---- 7. Short names for bodies ----
 *
 * I64(k) is the data of argument k, OUT_I64(k) that of result k, OUT_I64() of the
 * first. Define WEIR_NO_SHORT_NAMES before including if they are in your way. */

#ifndef WEIR_NO_SHORT_NAMES
#define IN(k) weir_in(call, (k))
#define OUT(k) weir_out(call, k + 0) /* k may be empty */
#define CHILD(column, k) weir_child((column), (k))

#define I8(k) WEIR_DATA(const int8_t, IN(k))
#define I16(k) WEIR_DATA(const int16_t, IN(k))
#define I32(k) WEIR_DATA(const int32_t, IN(k)) /* also DATE, TIME(0..3), INTERVAL MONTH */
#define I64(k) WEIR_DATA(const int64_t, IN(k)) /* also TIMESTAMP, TIME(4..9), INTERVAL DAY */
#define F32(k) WEIR_DATA(const float, IN(k))
#define F64(k) WEIR_DATA(const double, IN(k))
#define DEC(k) WEIR_DATA(const weir_decimal, IN(k))
#define BITS(k) WEIR_DATA(const uint8_t, IN(k)) /* BOOLEAN: weir_bit(BITS(k), i) */
#define STR(k) weir_strings(IN(k))              /* STRING, BINARY: weir_get(STR(k), i) */

#define OUT_I8(k) WEIR_DATA(int8_t, OUT(k))
#define OUT_I16(k) WEIR_DATA(int16_t, OUT(k))
#define OUT_I32(k) WEIR_DATA(int32_t, OUT(k))
#define OUT_I64(k) WEIR_DATA(int64_t, OUT(k))
#define OUT_F32(k) WEIR_DATA(float, OUT(k))
#define OUT_F64(k) WEIR_DATA(double, OUT(k))
#define OUT_DEC(k) WEIR_DATA(weir_decimal, OUT(k))
#define OUT_BITS(k) WEIR_DATA(uint8_t, OUT(k)) /* BOOLEAN: weir_set_bit(OUT_BITS(), i, value) */
#define OUT_STR(k) weir_text_of(OUT(k))
#define OUT_LIST(k) weir_list_of(OUT(k))

#define SET_NULL(i) weir_set_null(OUT(0), (i))

/* ROWS(i) { ... }: the rows in which a strict scalar function has all arguments.
 * A loop that can neither trap nor fail may ignore nulls and go over all rows. */
#define ROWS(i) WEIR_EACH(i, OUT(0)->validity, rows)
/* ROWS_OF(i, column) { ... }: the rows in which one input column is not null. */
#define ROWS_OF(i, column) WEIR_EACH(i, (column)->validity, rows)

#define GROUPS() (call->groups)
#define GROUP() WEIR_AT(const uint32_t, call->group)
#define SIGN() WEIR_AT(const int8_t, call->sign) /* null when every row adds */
#define STATE(T) WEIR_AT(T, call->state)
#define OTHER(T) WEIR_AT(const T, call->other)
#define VIEWS() WEIR_AT(weir_view, call->state)
#define OTHER_VIEWS() WEIR_AT(const weir_view, call->other)

#define MAX_ROWS() (call->max_rows)
#define PARENT() WEIR_AT(uint32_t, call->parent)
#define KIND() WEIR_AT(uint8_t, call->kind)
#endif

/* The outer loop runs once, so that break and continue do what they say. */
#define WEIR_EACH(i, validity, n)                                                                  \
  for (weir_walk weir_walk_##i = weir_walk_rows((validity), (n)), *weir_once_##i = &weir_walk_##i; \
       weir_once_##i; weir_once_##i = 0)                                                           \
    for (uint32_t i = 0; weir_step(weir_once_##i, &i);)

#endif /* WEIR_H */
