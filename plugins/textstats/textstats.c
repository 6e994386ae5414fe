// Statistics of texts: count_char, words, reading_ease. README.md says what they
// mean in SQL. Texts are UTF-8, which the host guarantees.
#include <wasm_simd128.h>

#include "weir.h"

// The n < 16 bytes at p, and any others behind them. Buffers can be read up to the
// next multiple of 64 behind their end, so that mostly all 16 bytes can be loaded.
static inline v128_t load_tail(const uint8_t *p, uint32_t n) {
  if (((uintptr_t)p + 15) / 64 == ((uintptr_t)p + n - 1) / 64) return wasm_v128_load(p);
  uint8_t bytes[16] = {0};
  for (uint32_t i = 0; i < n; i++) bytes[i] = p[i];
  return wasm_v128_load(bytes);
}

// The bits of the bytes of v that are c.
static inline uint32_t bytes_equal(v128_t v, uint8_t c) { return wasm_i8x16_bitmask(wasm_i8x16_eq(v, wasm_u8x16_splat(c))); }

static inline uint32_t first_bits(uint32_t n) { return (1u << n) - 1; }

static inline uint32_t bits_set(uint32_t v) { return (uint32_t)__builtin_popcount(v); }

// How often the byte c occurs in s.
static uint32_t count_byte(weir_str s, uint8_t c) {
  uint32_t n = 0, i = 0;
  for (; i + 16 <= s.n; i += 16) n += bits_set(bytes_equal(wasm_v128_load(s.p + i), c));
  if (i < s.n) n += bits_set(bytes_equal(load_tail(s.p + i, s.n - i), c) & first_bits(s.n - i));
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
    if (wanted.n == 0 || wanted.n != char_bytes(wanted.p[0])) return WEIR_FAIL("want one character to count", i);
    weir_str text = weir_get(s, i & ms);
    out[i] = wanted.n == 1 ? count_byte(text, wanted.p[0]) : count_bytes(text, wanted);
  }
  return WEIR_OK;
}

// ---- characters ----

// What a character is.
enum { LETTER = 1, JOINER = 2, VOWEL = 4, STOP = 8, E = 16, L = 32 };

// Of the ASCII characters. A joiner between two letters belongs to a word.
static const uint8_t ascii[128] = {
    ['0'] = LETTER, ['1'] = LETTER, ['2'] = LETTER, ['3'] = LETTER, ['4'] = LETTER, ['5'] = LETTER, ['6'] = LETTER, ['7'] = LETTER,
    ['8'] = LETTER, ['9'] = LETTER,

    ['A'] = LETTER | VOWEL, ['B'] = LETTER, ['C'] = LETTER, ['D'] = LETTER, ['E'] = LETTER | VOWEL | E, ['F'] = LETTER, ['G'] = LETTER,
    ['H'] = LETTER, ['I'] = LETTER | VOWEL, ['J'] = LETTER, ['K'] = LETTER, ['L'] = LETTER | L, ['M'] = LETTER, ['N'] = LETTER,
    ['O'] = LETTER | VOWEL, ['P'] = LETTER, ['Q'] = LETTER, ['R'] = LETTER, ['S'] = LETTER, ['T'] = LETTER, ['U'] = LETTER | VOWEL,
    ['V'] = LETTER, ['W'] = LETTER, ['X'] = LETTER, ['Y'] = LETTER | VOWEL, ['Z'] = LETTER,

    ['a'] = LETTER | VOWEL, ['b'] = LETTER, ['c'] = LETTER, ['d'] = LETTER, ['e'] = LETTER | VOWEL | E, ['f'] = LETTER, ['g'] = LETTER,
    ['h'] = LETTER, ['i'] = LETTER | VOWEL, ['j'] = LETTER, ['k'] = LETTER, ['l'] = LETTER | L, ['m'] = LETTER, ['n'] = LETTER,
    ['o'] = LETTER | VOWEL, ['p'] = LETTER, ['q'] = LETTER, ['r'] = LETTER, ['s'] = LETTER, ['t'] = LETTER, ['u'] = LETTER | VOWEL,
    ['v'] = LETTER, ['w'] = LETTER, ['x'] = LETTER, ['y'] = LETTER | VOWEL, ['z'] = LETTER,

    ['\''] = JOINER, ['-'] = JOINER, ['.'] = STOP, ['!'] = STOP, ['?'] = STOP,
};

// The character of several bytes at p.
static uint8_t beyond_ascii(const uint8_t *p) {
  uint32_t u;
  switch (char_bytes(p[0])) {
    case 2: u = (p[0] & 31u) << 6 | (p[1] & 63u); break;
    case 3: u = (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u); break;
    default: return LETTER; // from U+10000 on
  }
  if (u == 0x2019) return JOINER; // right single quotation mark
  if (u < 0xc0 || u == 0xd7 || u == 0xf7) return 0;
  if (u >= 0x2000 && u <= 0x206f) return 0; // general punctuation
  if (u >= 0x3000 && u <= 0x303f) return 0; // CJK symbols and punctuation
  return LETTER;
}

// The character at *i, which moves on to the next.
static inline uint8_t next_char(weir_str s, uint32_t *i) {
  const uint8_t c = s.p[*i];
  if (c < 0x80) {
    ++*i;
    return ascii[c];
  }
  const uint8_t what = beyond_ascii(s.p + *i);
  *i += char_bytes(c);
  return what;
}

// Where a text stands: between words, in one, or behind a joiner after a letter.
enum { BETWEEN, INSIDE, JOINED };

// ---- words ----

// The bits of the bytes of v that are from..from + n - 1.
static inline uint32_t bytes_from(v128_t v, uint8_t from, uint8_t n) {
  return wasm_i8x16_bitmask(wasm_u8x16_lt(wasm_i8x16_sub(v, wasm_u8x16_splat(from)), wasm_u8x16_splat(n)));
}

// Counts the words of an ASCII text, 16 bytes at a time, and reports 0 for another. A
// word begins at a letter that follows neither a letter nor a joiner after a letter.
static int ascii_words(weir_str s, uint32_t *count) {
  uint32_t n = 0, letters_before = 0, joined_before = 0; // the last bits of the 16 bytes before
  for (uint32_t i = 0; i < s.n; i += 16) {
    const uint32_t left = s.n - i;
    const v128_t v = left < 16 ? load_tail(s.p + i, left) : wasm_v128_load(s.p + i);
    const uint32_t mask = left < 16 ? first_bits(left) : 0xffff;
    if (wasm_i8x16_bitmask(v) & mask) return 0;
    const uint32_t letters = (bytes_from(wasm_v128_or(v, wasm_u8x16_splat(32)), 'a', 26) | bytes_from(v, '0', 10)) & mask;
    const uint32_t follow = letters << 1 | letters_before; // bytes behind a letter
    const uint32_t joined = (bytes_equal(v, '\'') | bytes_equal(v, '-')) & follow;
    n += bits_set(letters & ~follow & ~(joined << 1 | joined_before));
    letters_before = letters >> 15 & 1, joined_before = joined >> 15 & 1;
  }
  *count = n;
  return 1;
}

WEIR_SCALAR(words, "s STRING -> BIGINT", WEIR_DETERMINISTIC) {
  const weir_strs s = STR(0);
  int64_t *out = OUT_I64();
  for (uint32_t row = 0; row < rows; row++) {
    const weir_str text = weir_get(s, row);
    uint32_t n = 0;
    if (!ascii_words(text, &n)) {
      for (uint32_t i = 0, state = BETWEEN; i < text.n;) {
        const uint8_t c = next_char(text, &i);
        if (c & LETTER) n += state == BETWEEN, state = INSIDE;
        else state = (c & JOINER) && state == INSIDE ? JOINED : BETWEEN;
      }
    }
    out[row] = n;
  }
  return WEIR_OK;
}

// ---- reading ease ----

// Syllables of a word with so many runs of vowels, by its last three characters, the
// last in the low byte: a final e is silent after a consonant, but not in -le after one.
static inline uint32_t syllables(uint32_t runs, uint32_t last) {
  const int silent = (last & E) && !(last >> 8 & VOWEL), le = (last >> 8 & L) && !(last >> 16 & VOWEL);
  if (runs > 1 && silent && !le) runs--;
  return runs ? runs : 1;
}

WEIR_SCALAR(reading_ease, "s STRING -> DOUBLE", WEIR_DETERMINISTIC) {
  const weir_strs s = STR(0);
  double *out = OUT_F64();
  for (uint32_t row = 0; row < rows; row++) {
    const weir_str text = weir_get(s, row);
    uint32_t n = 0, sentences = 0, sum = 0;     // sentences: that a word has followed
    uint32_t state = BETWEEN, stopped = 0;      // stopped: a stop since the last word
    uint32_t runs = 0, last = 0;                // of the word
    for (uint32_t i = 0; i < text.n;) {
      const uint8_t c = next_char(text, &i);
      if (c & LETTER) {
        if (state == BETWEEN) {
          sentences += stopped && n;
          n++, stopped = 0, runs = 0, last = 0;
        } else if (state == JOINED) {
          last <<= 8;
        }
        runs += (c & VOWEL) && !(last & VOWEL);
        last = last << 8 | c;
        state = INSIDE;
      } else if ((c & JOINER) && state == INSIDE) {
        state = JOINED;
      } else {
        if (state != BETWEEN) sum += syllables(runs, last);
        state = BETWEEN;
        stopped |= c & STOP;
      }
    }
    if (state != BETWEEN) sum += syllables(runs, last);
    if (n == 0) SET_NULL(row);
    else out[row] = 206.835 - 1.015 * ((double)n / (sentences + 1)) - 84.6 * ((double)sum / n);
  }
  return WEIR_OK;
}

// Texts may be long: what a row costs follows its bytes.
WEIR_MODULE("textstats", "1.0.0", WEIR_LIMITS(WEIR_COUNT("fuel-per-row", 1000000)))
