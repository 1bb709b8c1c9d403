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

// Adds tap j of a quad, with weight k, to its words.
inline void put_half(uint32_t* to, int64_t j, int32_t k) {
  const int64_t place = j >> 1 << 4;
  to[j & 1] |= uint32_t(k & 2047) << place, to[2 + (j & 1)] |= uint32_t(uint16_t(k >> 11)) << place;
}
inline void put_pieces(uint32_t* to, int64_t j, int32_t k) {
  const int32_t low = int8_t(k), rest = (k - low) >> 8, middle = int8_t(rest), high = (rest - middle) >> 8;
  to[0] |= uint32_t(uint8_t(low)) << (8 * j), to[1] |= uint32_t(uint8_t(middle)) << (8 * j);
  to[2] |= uint32_t(uint8_t(high)) << (8 * j);
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
  uint32_t* to = reinterpret_cast<uint32_t*>(t.weight.data());
  for (int64_t o = 0; o < m.n_out; ++o, to += t.quads * words) {
    const int32_t* const k = m.weight.data() + m.offset[o];
    int64_t place = aligned ? m.first(o) % 4 : 0;
    for (int64_t tap = 0; tap < m.count(o); ++tap, ++place)
      if (form == WeightForm::halves) put_half(to + place / 4 * words, place % 4, k[tap]);
      else put_pieces(to + place / 4 * words, place % 4, k[tap]);
  }
  return t;
}

}  // namespace tenter
