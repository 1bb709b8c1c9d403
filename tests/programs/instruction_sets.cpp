// Operations that instruction sets specialize, beside what each of them means for a single value. Prints those that
// differ. tests/kernels/test_instruction_sets.py compiles it for each set.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <type_traits>

#include "levels/byte-tap-columns-inl.hpp"

namespace tenter {
namespace {

std::mt19937_64 rng(0);
int failures = 0;

template <class T>
T random_bits() {
  return T(rng());
}
int64_t between(int64_t low, int64_t high) { return low + int64_t(rng() % uint64_t(high - low + 1)); }

template <class V>
V random_vector() {
  V v;
  for (size_t k = 0; k < sizeof(V) / sizeof(v[0]); ++k) v[k] = random_bits<std::decay_t<decltype(v[0])>>();
  return v;
}

void expect(bool holds, const char* law) {
  if (!holds) ++failures, std::printf("%s\n", law);
}

// Finite floats around the limits of T, halves, infinities and NaN.
template <class T>
float near_limits() {
  const double least = double(std::numeric_limits<T>::min()), most = double(std::numeric_limits<T>::max());
  switch (rng() % 8) {
    case 0: return std::numeric_limits<float>::infinity();
    case 1: return -std::numeric_limits<float>::infinity();
    case 2: return std::numeric_limits<float>::quiet_NaN();
    case 3: return float(between(int64_t(least), int64_t(most))) + 0.5f;
    case 4: return float(least) + float(between(-3, 3)) * 0.5f;
    case 5: return float(most) + float(between(-3, 3)) * 0.5f;
    case 6: return float(between(-3, 3)) * 1e9f;
    default: return std::nextafter(float(between(int64_t(least), int64_t(most))) + 0.5f, float(between(-1, 1)) * 1e9f);
  }
}

template <class T>
void integers(const char* law) {
  T in[lanes<float>], out[lanes<float>];
  float wide[lanes<float>], from[lanes<float>];
  for (int l = 0; l < lanes<float>; ++l) in[l] = random_bits<T>(), from[l] = near_limits<T>();
  store_bits(wide, load<float, T>(in));
  store<float, T>(out, load_unaligned<Vec<float>>(from));
  for (int l = 0; l < lanes<float>; ++l) expect(wide[l] == float(in[l]) && out[l] == saturate<T>(from[l]), law);
}

// Halves of 16 bits: each finite one and infinity is widened and narrowed to itself; what is between two goes to the
// nearer one, and from the middle to the even one.
template <class T>
void halves_kept_and_rounded() {
  const uint32_t special = std::is_same_v<T, f16> ? 0x7c00 : 0x7f80;
  uint16_t in[lanes<float>], next[lanes<float>], back[lanes<float>], below[lanes<float>], middle[lanes<float>];
  for (int l = 0; l < lanes<float>; ++l) in[l] = uint16_t(rng() % special | (rng() & 0x8000)), next[l] = in[l] + 1;
  in[0] = uint16_t(special), next[0] = in[0];
  const Vec<float> a = load<float, T>(in), b = load<float, T>(next), mean = a * 0.5f + b * 0.5f;
  store<float, T>(back, a);
  store<float, T>(middle, mean);
  store<float, T>(below, (Vec<float>)((Vec<int32_t>)mean - 1));
  for (int l = 0; l < lanes<float>; ++l) {
    expect(back[l] == in[l], "a half of 16 bits is kept");
    if (l == 0 || next[l] % 0x8000 >= special) continue;
    expect(middle[l] == (in[l] % 2 ? next[l] : in[l]), "a middle becomes even");
    expect(below[l] == in[l], "less than a middle is rounded down");
  }
}

template <class T>
void permutations() {
  if constexpr (permutable<T>) {
    constexpr int N = lanes<T>;
    typedef std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t> U;
    const auto a = random_vector<Vec<U>>(), b = random_vector<Vec<U>>();
    Index<T> one, two;
    const int by = int(between(0, N - 1));
    for (int l = 0; l < N; ++l) one[l] = between(0, N - 1), two[l] = between(0, 2 * N - 1 - by);
    const auto x = (Vec<U>)permute<T>((Vec<T>)a, places<T>(one));
    const auto y = (Vec<U>)permute<T>((Vec<T>)a, (Vec<T>)b, places<T>(two));
    const auto z = (Vec<U>)permute<T>((Vec<T>)a, (Vec<T>)b, moved<T>(places<T>(two), by));
    auto of = [&](int64_t place) { return place < N ? U(a[place]) : U(b[place - N]); };
    for (int l = 0; l < N; ++l)
      expect(x[l] == a[one[l]] && y[l] == of(two[l]) && z[l] == of(two[l] + by),
             "values are permuted by their numbers");
  }
}

void bytes() {
  const auto a = random_vector<Sixteen>(), b = random_vector<Sixteen>();
  const Sixteen one = random_vector<Sixteen>() & 15, two = random_vector<Sixteen>() & 31;
  if constexpr (permutable<uint8_t>) {
    const Sixteen x = permute_bytes(a, one), y = permute_bytes(a, b, two);
    for (int l = 0; l < 16; ++l)
      expect(x[l] == a[one[l]] && y[l] == (two[l] < 16 ? a[two[l]] : b[two[l] - 16]), "bytes are permuted");
  }
  if constexpr (shuffles_bytes) {
    const auto v = random_vector<Bytes>();
    const Bytes index = random_vector<Bytes>() & 15, x = shuffle_bytes(v, index);
    for (int l = 0; l < vector_bytes; ++l) expect(x[l] == v[l / 16 * 16 + index[l]], "bytes are shuffled in sixteens");
  }
}

// In each 16 bytes: those of the first vector, then of the next ones.
void narrowing() {
  Words w[4];
  for (auto& v : w)
    for (int l = 0; l < lanes<int32_t>; ++l) v[l] = int32_t(between(-400, 700));
  const Bytes x = narrowed(w[0], w[1], w[2], w[3]);
  for (int l = 0; l < vector_bytes; ++l)
    expect(x[l] == std::clamp(w[l % 16 / 4][l / 16 * 4 + l % 4], 0, 255), "words are narrowed, and saturate");

  Halves h[2];
  for (auto& v : h)
    for (int l = 0; l < lanes<int16_t>; ++l) v[l] = int16_t(rng() % 4 ? between(-300, 600) : between(-32768, 32767));
  const Bytes y = bytes_of(h[0], h[1]);
  for (int l = 0; l < vector_bytes; ++l)
    expect(y[l] == std::clamp<int>(h[l % 16 / 8][l / 16 * 8 + l % 8], 0, 255), "halves are narrowed, and saturate");

  Words fitting[2];
  for (auto& v : fitting)
    for (int l = 0; l < lanes<int32_t>; ++l) v[l] = int32_t(between(-32768, 32767));
  const Halves z = halves_of(fitting[0], fitting[1]), high = multiply_high(h[0], h[1]);
  for (int l = 0; l < lanes<int16_t>; ++l) {
    expect(z[l] == fitting[l % 8 / 4][l / 8 * 4 + l % 4], "words that fit become halves");
    expect(high[l] == h[0][l] * h[1][l] >> 16, "the upper half of a product");
  }
}

void sums() {
  const auto x = random_vector<Words>();
  Words w = random_vector<Words>(), sum;
  for (int l = 0; l < lanes<int32_t>; ++l) sum[l] = int32_t(between(-1000, 1000)), w[l] &= 0x0fff0fff;
  const Words found = add_pairs(sum, x, w);
  for (int l = 0; l < lanes<int32_t>; ++l)
    expect(found[l] == sum[l] + int16_t(x[l]) * int16_t(w[l]) + (x[l] >> 16) * (w[l] >> 16), "pairs are added");

  Vec<float> a, b, c;
  for (int l = 0; l < lanes<float>; ++l) a[l] = float(rng()), b[l] = float(rng()), c[l] = -a[l] * b[l];
  const Vec<float> more = multiply_add<float>(a, b, c);
  for (int l = 0; l < lanes<float>; ++l)
    expect(more[l] == (fused ? std::fma(a[l], b[l], c[l]) : c[l] + a[l] * b[l]), "products are added");

  Vec<int64_t> one{};
  expect(!any(one), "no lane is true");
  one[between(0, lanes<int64_t> - 1)] = int64_t(1) << between(0, 63);
  expect(any(one), "some lane is true");
}

int check() {
  for (int k = 0; k < 2000; ++k) {
    integers<uint8_t>("uint8"), integers<int8_t>("int8"), integers<uint16_t>("uint16"), integers<int16_t>("int16");
    halves_kept_and_rounded<f16>(), halves_kept_and_rounded<bf16>();
    permutations<float>(), permutations<double>();
    bytes(), narrowing(), sums();
  }
  return failures > 0;
}

}  // namespace
}  // namespace tenter

int main() { return tenter::check(); }
