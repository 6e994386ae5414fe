// Statistics of texts: count_char, words, reading_ease. README.md says what they
// mean in SQL. Texts are UTF-8, which the host guarantees.
#include <wasm_simd128.h>

#include "weir.h"

// How often the byte c occurs in s. Buffers can be read to the next multiple of 64
// past their end, so the last 16 bytes need no loop of their own.
static uint32_t count_byte(weir_str s, uint8_t c) {
  const v128_t wanted = wasm_u8x16_splat(c);
  uint32_t n = 0, i = 0;
  for (; i + 16 <= s.n; i += 16)
    n += (uint32_t)__builtin_popcount(wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(s.p + i), wanted)));
  if (i < s.n) {
    uint32_t hits = wasm_i8x16_bitmask(wasm_i8x16_eq(wasm_v128_load(s.p + i), wanted));
    n += (uint32_t)__builtin_popcount(hits & ((1u << (s.n - i)) - 1));
  }
  return n;
}

// How often a character of several bytes occurs: UTF-8 characters never overlap.
static uint32_t count_bytes(weir_str s, weir_str c) {
  uint32_t n = 0;
  for (uint32_t i = 0; i + c.n <= s.n; i++) {
    uint32_t k = 0;
    while (k < c.n && s.p[i + k] == c.p[k]) k++;
    n += k == c.n;
  }
  return n;
}

// The bytes of the character that begins with the byte c.
static uint32_t char_bytes(uint8_t c) { return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4; }

WEIR_SCALAR(count_char, "s STRING, c STRING -> BIGINT", WEIR_DETERMINISTIC WEIR_ACCEPTS_CONSTANT) {
  const weir_strs s = STR(0), c = STR(1);
  const uint32_t ms = weir_mask(call, 0), mc = weir_mask(call, 1);
  int64_t *out = OUT_I64();
  ROWS(i) {
    weir_str wanted = weir_get(c, i & mc);
    if (wanted.n == 0 || wanted.n != char_bytes(wanted.p[0])) return WEIR_FAIL("count_char: want one character to count", i);
    weir_str text = weir_get(s, i & ms);
    out[i] = wanted.n == 1 ? count_byte(text, wanted.p[0]) : count_bytes(text, wanted);
  }
  return WEIR_OK;
}

// ---- words ----

// What a character is to a word.
enum { BETWEEN, LETTER, JOINER };

// The class of the character at p, whose bytes go to *size.
static int class_at(const uint8_t *p, uint32_t *size) {
  uint8_t c = p[0];
  *size = char_bytes(c);
  if (c < 0x80) {
    if ((uint8_t)((c | 32) - 'a') < 26 || (uint8_t)(c - '0') < 10) return LETTER;
    return c == '\'' || c == '-' ? JOINER : BETWEEN;
  }
  uint32_t u;
  switch (*size) {
    case 2: u = (c & 31u) << 6 | (p[1] & 63u); break;
    case 3: u = (c & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u); break;
    default: u = (c & 7u) << 18 | (p[1] & 63u) << 12 | (p[2] & 63u) << 6 | (p[3] & 63u);
  }
  if (u == 0x2019) return JOINER; // right single quotation mark
  if (u < 0xc0 || u == 0xd7 || u == 0xf7) return BETWEEN;
  if (u >= 0x2000 && u <= 0x206f) return BETWEEN; // general punctuation
  if (u >= 0x3000 && u <= 0x303f) return BETWEEN; // CJK symbols and punctuation
  return LETTER;
}

// Finds the next word from *at on: bytes [from, to). Reports 0 when there is none.
static int next_word(weir_str s, uint32_t *at, uint32_t *from, uint32_t *to) {
  uint32_t i = *at, size;
  while (i < s.n && class_at(s.p + i, &size) != LETTER) i += size;
  if (i >= s.n) return 0;
  *from = i;
  for (;;) {
    while (i < s.n && class_at(s.p + i, &size) == LETTER) i += size;
    *to = i;
    if (i >= s.n || class_at(s.p + i, &size) != JOINER) break;
    i += size; // it belongs to the word when a letter follows
    if (i >= s.n || class_at(s.p + i, &size) != LETTER) break;
  }
  *at = i;
  return 1;
}

WEIR_SCALAR(words, "s STRING -> BIGINT", WEIR_DETERMINISTIC) {
  const weir_strs s = STR(0);
  int64_t *out = OUT_I64();
  for (uint32_t i = 0; i < rows; i++) {
    weir_str text = weir_get(s, i);
    uint32_t at = 0, from, to, n = 0;
    while (next_word(text, &at, &from, &to)) n++;
    out[i] = n;
  }
  return WEIR_OK;
}

// ---- reading ease ----

static int is_vowel(uint8_t c) {
  c |= 32;
  return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y';
}

// Syllables of an English word: its runs of vowels; not a silent e at its end, unless
// it is all there is, or stands in -le after a consonant.
static uint32_t syllables(const uint8_t *p, uint32_t n) {
  uint32_t runs = 0;
  for (uint32_t i = 0; i < n; i++) runs += is_vowel(p[i]) && (i == 0 || !is_vowel(p[i - 1]));
  int silent = n >= 2 && (p[n - 1] | 32) == 'e' && !is_vowel(p[n - 2]);
  int le = n >= 3 && (p[n - 2] | 32) == 'l' && !is_vowel(p[n - 3]);
  if (silent && !le && runs > 1) runs--;
  return runs ? runs : 1;
}

WEIR_SCALAR(reading_ease, "s STRING -> DOUBLE", WEIR_DETERMINISTIC) {
  const weir_strs s = STR(0);
  double *out = OUT_F64();
  for (uint32_t i = 0; i < rows; i++) {
    weir_str text = weir_get(s, i);
    uint32_t at = 0, from, to, end = 0, count = 0, syllable = 0, sentences = 0;
    while (next_word(text, &at, &from, &to)) {
      // A sentence ended if . ! or ? stands between this word and the one before.
      int ended = 0;
      for (uint32_t k = end; k < from; k++) ended |= text.p[k] == '.' || text.p[k] == '!' || text.p[k] == '?';
      if (ended && count) sentences++;
      count++;
      syllable += syllables(text.p + from, to - from);
      end = to;
    }
    if (!count) {
      SET_NULL(i);
      continue;
    }
    sentences++; // the last one
    out[i] = 206.835 - 1.015 * ((double)count / sentences) - 84.6 * ((double)syllable / count);
  }
  return WEIR_OK;
}

WEIR_MODULE("textstats", "1.0.0")
