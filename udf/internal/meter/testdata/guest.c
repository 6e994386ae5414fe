// Functions of all kinds for the benchmarks and tests of the pass. Build with
// clang --target=wasm32-wasi -O3 -msimd128 -mexec-model=reactor -s -o guest.wasm guest.c
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define F(name) __attribute__((export_name(#name))) uint64_t name(uint32_t n)
#define SIZE (1 << 16)
static int64_t a[SIZE], b[SIZE];
static char text[SIZE], out[SIZE];

static inline void barrier(void) { __asm__ volatile("" ::: "memory"); } // every round does its work
static void fill(void) {
  if (a[1]) return;
  uint64_t x = 88172645463325252ull;
  for (int i = 0; i < SIZE; i++) {
    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
    a[i] = x; b[i] = x >> 40; text[i] = " etaoinshrdlu,.ABCDEFGHIJKLMNOPQ"[x >> 59];
  }
}
static uint64_t sum(const void *p, size_t n) {
  uint64_t h = 0; const uint8_t *c = p;
  for (size_t i = 0; i < n; i++) h = h * 31 + c[i];
  return h;
}
F(add) { fill(); for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 4096; i++) b[i] += a[i]; return b[7]; }
F(poly) { fill(); double s = 0; for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 4096; i++) { double x = b[i]; s += ((x * 0.5 + 3) * x - 1) * x; } return (uint64_t)(int64_t)fmod(s, 1e9); }
F(upper) { fill(); for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 4096; i++) { char c = text[i]; out[i] = c >= 'a' && c <= 'z' ? c - 32 : c; } return sum(out, 4096); }
F(bytehash) { fill(); uint64_t h = 0; for (uint32_t r = 0; r < n; r++, barrier()) h += sum(text, 4096); return h; }
F(words) { fill(); uint64_t w = 0; for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 1; i < 4096; i++) w += text[i] == ' ' && text[i - 1] != ' '; return w; }
F(countchar) { fill(); uint64_t w = 0; for (uint32_t r = 0; r < n; r++, barrier()) for (const char *p = text, *e = text + 4096; (p = memchr(p, 'e', e - p)); p++) w++; return w; }
F(branches) { fill(); uint64_t w = 0; for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 4096; i++) switch (text[i]) {
  case 'a': w += 3; break; case 'e': w ^= 7; break; case 'i': w = w * 5 + 1; break; case 'o': w -= 2; break;
  case ' ': w += w >> 3; break; default: if (text[i] < 'M') w++; else w += 2; } return w; }
F(haversine) { fill(); double s = 0; for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 64; i++) {
  double x = b[i] * 1e-7, y = b[i + 64] * 1e-7, u = sin(x / 2), v = sin(y / 2);
  s += 2 * 6371 * asin(sqrt(fabs(u * u + cos(x) * cos(y) * v * v) / 2)); } return (uint64_t)s; }
F(decimal) { fill(); __int128 s = 0; for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 512; i++) { __int128 v = a[i]; s += v < 0 ? -((-v + 50) / 100) : (v + 50) / 100; } return s; }
static int less(const void *x, const void *y) { int64_t p = *(int64_t *)x, q = *(int64_t *)y; return (p > q) - (p < q); }
F(sort) { fill(); uint64_t s = 0; for (uint32_t r = 0; r < n; r++, barrier()) { memcpy(b, a, 512 * 8); qsort(b, 512, 8, less); s += b[100]; } return s; }
static uint32_t fib1(uint32_t n) { return n < 2 ? n : fib1(n - 1) + fib1(n - 2); }
F(fib) { uint64_t s = 0; for (uint32_t r = 0; r < n; r++, barrier()) s += fib1(16 + (r & 1)); return s; }
__attribute__((noinline)) static uint32_t small(uint32_t x) { return x * 7 + (x >> 3); }
F(calls) { uint32_t s = 0; for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 1024; i++) s = small(s + i); return s; }
F(sieve) { uint64_t s = 0; for (uint32_t r = 0; r < n; r++, barrier()) { memset(out, 1, 4096); for (int i = 2; i < 4096; i++) if (out[i]) { s++; for (int j = 2 * i; j < 4096; j += i) out[j] = 0; } } return s; }
F(matrix) { fill(); double *x = (double *)b; for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) { double s = 0; for (int k = 0; k < 16; k++) s += (double)a[i * 16 + k] * (double)a[k * 16 + j]; x[i * 16 + j] = s; } return (uint64_t)(int64_t)fmod(x[20], 1e9); }
F(copies) { fill(); for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 256; i++) memcpy(out + i * 32, text + i * 17, 16 + (a[i] & 15)); return sum(out, 8192); }
F(parse) { fill(); double s = 0; for (uint32_t r = 0; r < n; r++, barrier()) for (int i = 0; i < 32; i++) { char t[24]; char *p = t; int64_t v = b[i]; do *p++ = '0' + v % 10; while (v /= 10); *p++ = '.'; *p++ = '5'; *p = 0; s += strtod(t, 0); } return (uint64_t)s; }
F(utf8) { fill(); uint64_t s = 0; for (uint32_t r = 0; r < n; r++, barrier()) { const uint8_t *p = (uint8_t *)text, *e = p + 4096; while (p < e) { uint32_t c = *p; if (c < 0x80) p++; else if (c < 0xe0) p += 2; else if (c < 0xf0) p += 3; else p += 4; s++; } } return s; }
F(table) { fill(); uint64_t s = 0; for (uint32_t r = 0; r < n; r++, barrier()) { memset(b, 0, 1024 * 8); for (int i = 0; i < 512; i++) { uint64_t k = a[i] * 0x9e3779b97f4a7c15ull >> 54; while (b[k] && b[k] != a[i]) k = (k + 1) & 1023; b[k] = a[i]; s += k; } } return s; }
F(chase) { static uint32_t next[1 << 18]; if (!next[0]) { uint32_t m = (1 << 18) - 1; for (uint32_t i = 0; i <= m; i++) next[i * 0x9e3779b1u & m] = (i + 1) * 0x9e3779b1u & m; } uint32_t p = 0; for (uint32_t r = 0; r < n * 256; r++) p = next[p]; return p; }
