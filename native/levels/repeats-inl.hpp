// Short runs of bytes that are all repeated equally often. The pattern of outputs recurs after some vectors (a period).
// Its shuffles, from a vector of inputs to a vector of outputs, are computed once for each vector of the period.
#pragma once
#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "kernels/kernels.hpp"
#include "levels/simd-inl.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

typedef Vec<uint8_t> ByteVec;

// A table of shuffles. Output vector j of a period is made of the inputs from from_[j] on.
class ShuffleTable {
 public:
  // A table for runs of `run` bytes, `times` each. bytes: how many outputs it may be used for.
  ShuffleTable(int64_t run, int64_t times, int64_t bytes) { make(run, times, bytes); }
  bool is_made() const { return n_ > 0; }
  // Stores all outputs of the n bytes at src.
  void repeat(const char* src, int64_t n, char* dst) const {
    if (words_) repeat_by<true>(src, n, dst);
    else repeat_by<false>(src, n, dst);
  }

 private:
  static constexpr int64_t most = 64, word = 4, lane = 16, longest_run = 32;

  void make(int64_t run, int64_t times, int64_t bytes) {
    words_ = permutable<float> && run % word == 0;
    // Longer repeats of runs of 2^k bytes are stored as vectors of copies instead.
    const int64_t longest_repeat = run & (run - 1) ? 128 : 31;
    if (!shuffles_bytes || run > longest_run || times < 2 || times > longest_repeat / run) return;
    int64_t period = run * times;
    while (period % vector_bytes) period *= 2;  // a vector's bytes are a power of two
    const int64_t n = period / vector_bytes, entries = period / (words_ ? word : 1);
    if (n > most || bytes / (run * times) < entries) return;  // making an entry takes about as long as storing a run
    run_ = run, times_ = times, in_ = period / times, reach_ = 0;
    if (words_ ? set<word>(n) : set<1>(n)) n_ = n;
  }

  // Makes the table, in units of `unit` bytes. Returns false if a vector of outputs reads inputs that are too far
  // apart.
  template <int unit>
  bool set(int64_t n) {
    constexpr int64_t V = vector_bytes / unit, L = lane / unit;
    const int64_t run = run_ / unit;
    int64_t first = 0, copy = 0, at = 0;  // the run, its copy, and the place within the run
    for (int64_t j = 0; j < n; ++j) {
      uint8_t place[V];
      int64_t low = first + at, high = 0;
      int64_t read[V];
      for (int64_t l = 0; l < V; ++l) {
        read[l] = first + at;
        low = std::min(low, read[l]), high = std::max(high, read[l]);
        if (++at == run) {
          at = 0;
          if (++copy == times_) copy = 0, first += run;
        }
      }
      if (high - low >= V) return false;
      from_[j] = int32_t(low * unit);
      reach_ = std::max(reach_, low * unit + vector_bytes);
      if constexpr (unit == word) {
        Index<float> index;
        for (int64_t l = 0; l < V; ++l) index[l] = int32_t(read[l] - low);
        word_[j] = index;
        continue;
      }
      for (int64_t q = 0; q < V; q += L) {  // words are first permuted to lanes, then bytes are shuffled within a lane
        const int64_t least = *std::min_element(read + q, read + q + L) - low;
        const int64_t begin = vector_bytes == lane ? 0 : least / word * word;
        for (int64_t l = q; l < q + L; ++l) {
          const int64_t to = read[l] - low - begin;
          if (to >= lane) return false;
          place[l] = uint8_t(to);
        }
        if constexpr (vector_bytes > lane)
          for (int64_t w = 0; w < lane / word; ++w) word_[j][q / word + w] = int32_t(begin / word + w) & (V / word - 1);
      }
      byte_[j] = load_unaligned<ByteVec>(place);
    }
    return true;
  }

  template <bool words>
  TENTER_ALWAYS_INLINE ByteVec shuffled(const char* src, int64_t j) const {
    ByteVec v = load_unaligned<ByteVec>(src + from_[j]);
    if constexpr (permutable<float>) v = (ByteVec)permute<float>((Vec<float>)v, places<float>(word_[j]));
    if constexpr (!words) v = shuffle_bytes(v, byte_[j]);
    return v;
  }

  template <bool words>
  void repeat_by(const char* src, int64_t n, char* dst) const {
    constexpr int64_t V = vector_bytes;
    const int64_t out = n_ * V;
    for (; n >= std::max(reach_, in_); n -= in_, src += in_, dst += out)
      for (int64_t j = 0; j < n_; ++j) store_bits(dst + j * V, shuffled<words>(src, j));
    // The rest of the inputs is shorter than a period and a vector. It is copied, because loads would pass the end of
    // the inputs.
    char rest[most * V / 2 + 2 * V];
    std::memcpy(rest, src, n);
    src = rest;
    int64_t left = n * times_;
    for (int64_t j = 0; left > 0; left -= V, dst += V) {
      const ByteVec v = shuffled<words>(src, j);
      if (left >= V) store_bits(dst, v);
      else std::memcpy(dst, &v, left);
      if (++j == n_) j = 0, src += in_;
    }
  }

  int64_t n_ = 0;  // vectors in a period, which reads in_ bytes; 0 without a table
  bool words_;
  int64_t run_, times_, in_, reach_;  // reach_: bytes from the begin of a period to the end of its loads
  int32_t from_[most];
  Index<float> word_[most];
  ByteVec byte_[most];
};
static_assert(sizeof(ShuffleTable) <= shuffle_table_bytes && std::is_trivially_destructible_v<ShuffleTable>);

bool make_shuffles(void* table, int64_t run, int64_t times, int64_t bytes) {
  return (new (table) ShuffleTable(run, times, bytes))->is_made();
}
void repeat_by_shuffles(const void* table, const char* src, int64_t n, char* dst) {
  static_cast<const ShuffleTable*>(table)->repeat(src, n, dst);
}

}  // namespace
}  // namespace tenter
