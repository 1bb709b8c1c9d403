// Many small images, or many short rows. A vector holds the same value of as many images as it has lanes, so sums along
// all axes are sums of vectors at fixed places. Images are transposed into vectors, and back.
#pragma once
#include <algorithm>
#include <cstring>

#include "levels/axis-inl.hpp"

namespace tenter {
namespace {

// A call's images: where their values are, and their axes in the order in which they are summed.
struct SmallImages {
  struct Axis {
    const WindowMap* map;
    int64_t before, after;  // products of the lengths before and after the axis
  };
  Axis axis[3];
  int n_axes = 0;
  int64_t count, n_in = 1, n_out = 1, largest = 1;
  // Values from one image to the next, if each image is contiguous; else 0. After each `run` images there is another
  // gap.
  int64_t pitch, run = 1;
  int64_t offset[most_small_values];
};

// Returns false if other kernels must be used.
template <class Acc>
bool small_images_of(const WindowTask& t, int64_t in_size, SmallImages& found) {
  const bool lone_column = t.column && !t.row;
  if (t.saturate || t.alpha || t.row_pitch || t.outer_pitch) return false;
  const int64_t n_plane = t.plane ? t.plane->n_in : 1, n_row = lone_column ? 1 : t.n_row;
  const int64_t lengths[4] = {n_plane, n_row, t.n_column, t.inner};
  const int64_t strides[4] = {t.plane_stride, t.row_stride, t.column_stride, t.inner_stride};
  for (int64_t n : lengths) {
    if (n > most_small_values) return false;
    found.n_in *= n;
  }
  found.count = outer_count(t) * (lone_column ? t.n_row : 1);
  if (found.n_in == 0 || found.n_in > most_small_values || found.count < lanes<Acc>) return false;

  const WindowMap* maps[3] = {t.plane, t.row, t.column};
  int64_t left[4] = {n_plane, n_row, t.n_column, t.inner};
  auto sum = [&](int k) {
    if (!maps[k]) return;
    int64_t before = 1, after = 1;
    for (int j = 0; j < k; ++j) before *= left[j];
    for (int j = k + 1; j < 4; ++j) after *= left[j];
    found.axis[found.n_axes++] = {maps[k], before, after};
    left[k] = maps[k]->n_out;
    found.n_out = before * left[k] * after;
    found.largest = std::max(found.largest, found.n_out);
  };
  if (t.planes_first) sum(0);
  sum(t.rows_first ? 1 : 2), sum(t.rows_first ? 2 : 1);
  if (!t.planes_first) sum(0);
  if (found.n_out == 0 || found.largest > most_small_values) return false;

  int64_t at = 0, size = in_size;
  bool together = true;
  for (int k = 3; k >= 0; size *= lengths[k--]) together = together && (lengths[k] == 1 || strides[k] == size);
  int64_t pitch = 0;  // in bytes
  bool followed = false, follows = true;
  auto follow = [&](int64_t n, int64_t stride) {
    if (n == 1) return;
    if (!followed) pitch = size = stride;
    followed = true, follows = follows && stride == size;
    if (follows) size *= n, found.run *= n;
  };
  if (lone_column) follow(t.n_row, t.row_stride);
  for (int d = t.n_outer - 1; d >= 0; --d) follow(t.outer_shape[d], t.outer_stride[d]);
  const bool near = found.n_in * in_size <= pitch && pitch <= most_small_values * in_size && pitch % in_size == 0;
  found.pitch = together && near ? pitch / in_size : 0;
  for (int64_t p = 0; p < n_plane; ++p)
    for (int64_t r = 0; r < n_row; ++r)
      for (int64_t c = 0; c < t.n_column; ++c)
        for (int64_t q = 0; q < t.inner; ++q)
          found.offset[at++] =
              p * (n_plane > 1 ? strides[0] : 0) + r * (n_row > 1 ? strides[1] : 0) + c * strides[2] + q * strides[3];
  return true;
}

// Transposes a block of contiguous images: vector k gets value k of each image. `from` has space for one more vector.
template <class Acc>
void to_lanes(const Acc* from, int64_t n, Vec<Acc>* to) {
  constexpr int N = lanes<Acc>;
  auto few = [&]<int H>() {
    if constexpr (H < N) {
      Vec<Acc> square[H];
      for (int r = 0; r < H; ++r) square[r] = joined<Acc, H, N>(from + r * n, n);
      transpose<Acc, H>(square);
      for (int k = 0; k < n; ++k) to[k] = square[k];
    }
  };
  if (n < N) {
    if (with_constant<1, 2, 4, 8>(power_from(int(n)), few) && power_from(int(n)) < N) return;
  }
  for (int64_t e = 0; e < n; e += N) {
    const int64_t at = n < N ? 0 : std::min(e, n - N);  // the last square may overlap the one before
    Vec<Acc> square[N];
    for (int l = 0; l < N; ++l) square[l] = load_unaligned<Vec<Acc>>(from + l * n + at);
    transpose<Acc>(square);
    for (int64_t k = 0; k < std::min<int64_t>(N, n); ++k) to[at + k] = square[k];
  }
}

// Transposes back. `to` has space for one more vector, because the stores of an image spill into the next.
template <class Acc>
void from_lanes(const Vec<Acc>* from, int64_t n, Acc* to) {
  constexpr int N = lanes<Acc>;
  auto few = [&]<int H>() {
    if constexpr (H < N) {
      Vec<Acc> square[H];
      for (int k = 0; k < H; ++k) square[k] = k < n ? from[k] : Vec<Acc>{};
      transpose<Acc, H>(square);
      const Acc* const values = reinterpret_cast<const Acc*>(square);
      for (int p = 0; p < N / H; ++p)
        for (int r = 0; r < H; ++r) std::memcpy(to + (p * H + r) * n, values + r * N + p * H, H * sizeof(Acc));
    }
  };
  if (n < N) {
    if (with_constant<1, 2, 4, 8>(power_from(int(n)), few) && power_from(int(n)) < N) return;
  }
  for (int64_t e = 0; e < n; e += N) {
    const int64_t at = n < N ? 0 : std::min(e, n - N);
    Vec<Acc> square[N];
    for (int64_t k = 0; k < N; ++k) square[k] = at + k < n ? from[at + k] : Vec<Acc>{};
    transpose<Acc>(square);
    for (int l = 0; l < N; ++l) store_bits(to + l * n + at, square[l]);
  }
}

template <class Acc, bool ones>
void sum_lanes(const SmallImages::Axis& a, const Vec<Acc>* from, Vec<Acc>* to) {
  const WindowMap& m = *a.map;
  const Acc* const w = weights<Acc>(m);
  for (int64_t b = 0; b < a.before; ++b, from += m.n_in * a.after)
    for (int64_t o = 0; o < m.n_out; ++o)
      for (int64_t i = 0; i < a.after; ++i)
        *to++ = dot<Acc, ones>(from + m.first(o) * a.after + i, a.after, m.count(o), ones ? nullptr : w + m.offset[o]);
}

template <class Acc>
void small_images_pass(const Sums<Acc>& first, const Sums<Acc>& last, const WindowTask& t, const SmallImages& images,
                       Team team) {
  constexpr int64_t N = lanes<Acc>;
  const int64_t in_size = first.in_size, image_in = images.n_in * in_size, image_out = images.n_out * last.out_size;
  const int64_t rows = t.column && !t.row ? t.n_row : 1;  // images of an outer position
  const int64_t blocks = std::max<int64_t>(1, tuning.staging_bytes / (N * image_out)), group = blocks * N;
  const int64_t each = round_up(std::max<int64_t>(group, tuning.task_bytes / 64 / (image_in + image_out)), group);
  parallel(ceil_div(images.count, each), team, [&](int64_t p) {
    Lease lease;
    Acc* const values = lease->inputs.get<Acc>(N * std::max(images.n_in, images.pitch) + N);
    Acc* const made = lease->sums.get<Acc>(N * images.n_out + N);
    char* const raw = lease->raw.get<char>(N * image_in);
    char* const staging = t.stream ? lease->staging.get<char>(group * image_out) : nullptr;
    Vec<Acc> a[most_small_values], b[most_small_values];
    const int64_t end = std::min(images.count, (p + 1) * each);
    for (int64_t lo = p * each; lo < end; lo += N) {
      const int64_t n = std::min(N, end - lo);  // with fewer images than lanes, the other lanes have any values
      int64_t outer = lo / rows, row = lo % rows, at = outer_offset(t, outer);
      // Gaps between images are loaded too, but not the memory after the last image of a run.
      const int64_t after = images.run - lo % images.run - N;
      const bool packs = !images.pitch || after < 0 || (images.pitch > images.n_in && after == 0) || n < N;
      const int64_t width = packs ? images.n_in : images.pitch;
      const char* from = t.src + at + row * t.row_stride;
      if (packs) {
        for (int64_t i = 0; i < n; ++i) {
          const char* const image = t.src + at + row * t.row_stride;
          if (++row == rows) row = 0, at = t.n_outer == 1 ? at + t.outer_stride[0] : outer_offset(t, ++outer);
          with_constant<1, 2, 4, 8>(in_size, [&]<int size>() {
            for (int64_t k = 0; k < images.n_in; ++k)
              std::memcpy(raw + i * image_in + k * size, image + images.offset[k], size);
          });
        }
        from = raw;
      }
      if (n < N) std::fill_n(values, N * width, Acc{});
      if (first.widen) first.widen(from, values, n * width);
      else std::memcpy(values, from, n * width * in_size);
      to_lanes<Acc>(values, width, a);
      Vec<Acc>*held = a, *other = b;
      for (int k = 0; k < images.n_axes; ++k, std::swap(held, other)) {
        if (!weights<Acc>(*images.axis[k].map)) sum_lanes<Acc, true>(images.axis[k], held, other);
        else sum_lanes<Acc, false>(images.axis[k], held, other);
      }
      from_lanes<Acc>(held, images.n_out, made);
      const int64_t staged = (lo - p * each) % group;  // images that wait until they fill whole lines
      char* const to = staging ? staging + staged * image_out : t.dst + lo * image_out;
      if (last.narrow) last.narrow(made, to, n * images.n_out);
      else std::memcpy(to, made, n * image_out);
      if (staging && (staged + N == group || lo + n == end))
        stream_store(t.dst + (lo - staged) * image_out, staging, (staged + n) * image_out);
    }
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
