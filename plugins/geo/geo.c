// Places on earth: haversine, geohash. README.md says what they mean in SQL.
#include <math.h>

#include "weir.h"

#define DEGREE 0.017453292519943295 // pi / 180

// Metres: the mean radius R1 of the ellipsoid GRS 80, (2a + b) / 3.
#define EARTH_RADIUS 6371008.7714

WEIR_SCALAR(haversine, "lat1 DOUBLE, lon1 DOUBLE, lat2 DOUBLE, lon2 DOUBLE -> DOUBLE", WEIR_DETERMINISTIC WEIR_ACCEPTS_CONSTANT) {
  const double *lat1 = F64(0), *lon1 = F64(1), *lat2 = F64(2), *lon2 = F64(3);
  const uint32_t m0 = weir_mask(call, 0), m1 = weir_mask(call, 1), m2 = weir_mask(call, 2), m3 = weir_mask(call, 3);
  double *out = OUT_F64();
  for (uint32_t i = 0; i < rows; i++) {
    const double phi1 = lat1[i & m0] * DEGREE, phi2 = lat2[i & m2] * DEGREE;
    const double s = sin((phi2 - phi1) / 2), t = sin((lon2[i & m3] - lon1[i & m1]) * DEGREE / 2);
    const double h = s * s + cos(phi1) * cos(phi2) * t * t;
    out[i] = 2 * EARTH_RADIUS * asin(sqrt(h > 1 ? 1 : h)); // h exceeds 1 by rounding at most
  }
  return WEIR_OK;
}

// ---- geohash ----

// The number of the cell of v when [low, low + 45 * size / 2^28 * 2^30) is cut into
// 2^30 cells. Bounds of cells are exact in a double, the first guess may be off by one.
static uint32_t cell(double v, double low, double size) {
  const double step = size * 45 / (1 << 28);
  double n = floor((v - low) / step);
  if (low + n * step > v) n--;
  if (low + (n + 1) * step <= v) n++;
  const double last = (1 << 30) - 1;
  return (uint32_t)(n > last ? last : n); // the upper bound itself belongs to the last cell
}

// Spreads 30 bits to the even ones of 60.
static uint64_t spread(uint64_t x) {
  x = (x | x << 16) & 0x0000ffff0000ffffull;
  x = (x | x << 8) & 0x00ff00ff00ff00ffull;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0full;
  x = (x | x << 2) & 0x3333333333333333ull;
  return (x | x << 1) & 0x5555555555555555ull;
}

WEIR_SCALAR(geohash, "lat DOUBLE, lon DOUBLE, length INT DEFAULT 12 -> STRING", WEIR_DETERMINISTIC) {
  static const char digits[] = "0123456789bcdefghjkmnpqrstuvwxyz";
  const double *lat = F64(0), *lon = F64(1);
  const int32_t *length = I32(2);
  const weir_column *valid = OUT(0);
  weir_text out = OUT_STR();
  for (uint32_t i = 0; i < rows; i++) {
    if (weir_is_null(valid, i)) { // an argument is: what it holds need not be in range
      weir_next(&out);
      continue;
    }
    if (!(lat[i] >= -90 && lat[i] <= 90)) return WEIR_FAIL("the latitude is not from -90 to 90", i);
    if (!(lon[i] >= -180 && lon[i] <= 180)) return WEIR_FAIL("the longitude is not from -180 to 180", i);
    if (length[i] < 1 || length[i] > 12) return WEIR_FAIL("the length is not from 1 to 12", i);
    // Bits alternate, longitude first.
    const uint64_t bits = spread(cell(lon[i], -180, 2)) << 1 | spread(cell(lat[i], -90, 1));
    uint8_t *to = weir_room(&out, 12);
    for (int32_t k = 0; k < length[i]; k++) to[k] = (uint8_t)digits[bits >> (55 - 5 * k) & 31];
    out.len += (uint32_t)length[i];
    weir_next(&out);
  }
  return WEIR_OK;
}

WEIR_MODULE("geo", "1.0.0")
