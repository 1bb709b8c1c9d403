// Weights of 22 bits, in the forms that the kernels of 8-bit values read.
#include "bytes.hpp"

#include <algorithm>
#include <cmath>

#include "integers.hpp"

namespace tenter {

ByteMap::ByteMap(int64_t n_in, int64_t n_out, const int64_t* starts, const int64_t* offsets, const double* weights)
    : n_in(n_in), n_out(n_out), start(starts, starts + n_out), offset(offsets, offsets + n_out + 1) {
  weight.resize(size_t(offset[n_out]));
  for (size_t k = 0; k < weight.size(); ++k) weight[k] = int32_t(weights[k] * (1 << weight_bits));
  for (int64_t o = 0; o < n_out; ++o) longest = std::max(longest, count(o));
}

bool fits_bytes(int64_t n_out, const int64_t* offset, const double* weight) {
  // Of three pieces, the highest is from -127 on; of 32 bits, one is the sign's and the rounding needs a half.
  constexpr double largest = 127 << 16, most = (0x1p31 - (1 << weight_bits)) / 255;
  for (int64_t o = 0; o < n_out; ++o) {
    double sum = 0;
    for (int64_t k = offset[o]; k < offset[o + 1]; ++k) {
      const double w = weight[k] * (1 << weight_bits);
      if (!(std::fabs(w) <= largest) || w != double(int32_t(w))) return false;
      sum += std::fabs(w);
    }
    if (sum > most) return false;
  }
  return true;
}

namespace {

void put_halves(int32_t* to, const int32_t* k) {
  int32_t low[4], high[4];
  for (int j = 0; j < 4; ++j) high[j] = k[j] >> 11, low[j] = k[j] & 2047;
  auto pair = [](int32_t a, int32_t b) { return int32_t((uint32_t(a) & 0xffff) | uint32_t(b) << 16); };
  to[0] = pair(low[0], low[2]), to[1] = pair(low[1], low[3]);
  to[2] = pair(high[0], high[2]), to[3] = pair(high[1], high[3]);
}

void put_pieces(int32_t* to, const int32_t* k) {
  uint32_t a = 0, b = 0, c = 0;
  for (int j = 0; j < 4; ++j) {
    const int32_t low = int8_t(k[j]), rest = (k[j] - low) >> 8, middle = int8_t(rest), high = (rest - middle) >> 8;
    a |= uint32_t(uint8_t(low)) << (8 * j), b |= uint32_t(uint8_t(middle)) << (8 * j);
    c |= uint32_t(uint8_t(high)) << (8 * j);
  }
  to[0] = int32_t(a), to[1] = int32_t(b), to[2] = int32_t(c);
}

}  // namespace

QuadTable make_quads(const ByteMap& m, WeightForm form, bool aligned) {
  QuadTable t{form, aligned, 1, {}, {}};
  t.first.resize(size_t(m.n_out));
  for (int64_t o = 0; o < m.n_out; ++o) {
    const int64_t before = aligned ? m.first(o) % 4 : 0;
    t.first[size_t(o)] = aligned ? m.first(o) / 4 : m.first(o);
    t.quads = std::max(t.quads, ceil_div(before + m.count(o), 4));
  }
  const int words = words_of(form);
  t.weight.resize(size_t(m.n_out * t.quads * words));
  int32_t* to = t.weight.data();
  for (int64_t o = 0; o < m.n_out; ++o) {
    const int64_t before = aligned ? m.first(o) % 4 : 0, count = m.count(o);
    const int32_t* const k = m.weight.data() + m.offset[o];
    for (int64_t q = 0; q < t.quads; ++q, to += words) {
      int32_t four[4];
      for (int64_t j = 0; j < 4; ++j) {
        const int64_t tap = 4 * q + j - before;
        four[j] = tap >= 0 && tap < count ? k[tap] : 0;
      }
      if (form == WeightForm::halves) put_halves(to, four);
      else put_pieces(to, four);
    }
  }
  return t;
}

}  // namespace tenter
