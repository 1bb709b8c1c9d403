// Many small images, or many short rows. A vector holds the same value of as many images as it has lanes, so sums along
// all axes are sums of vectors at fixed places. Images are transposed into vectors, and back.
#pragma once
#include <algorithm>
#include <cstring>

#include "kernels/window_kernels.hpp"
#include "levels/outer-inl.hpp"
#include "levels/stream-inl.hpp"
#include "system/threads.hpp"
#include "system/tuning.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

// A call's images, and where their values are.
template <class Map>
struct SmallImages : ImageSums<Map> {
  int64_t count, rows;  // rows: images of an outer position
  // Values from one image to the next, if each image is contiguous; else 0. After each `run` images there is another
  // gap.
  int64_t pitch, run = 1;
  int64_t offset[most_small_bytes];
};

// of: the axes of an image of a task, by which image_sums has found the first members. rows: images of an outer
// position. most: the most values of an image.
template <class Map, class Task>
void locate_images(const Task& t, const ImageAxis<Map> (&of)[4], int64_t rows, int64_t most, int64_t in_size,
                   SmallImages<Map>& found) {
  found.rows = rows, found.count = outer_count(t) * rows;
  int64_t at = 0, size = in_size;
  bool together = true;
  for (int k = 3; k >= 0; size *= of[k--].n) together = together && (of[k].n == 1 || of[k].stride == size);
  int64_t pitch = 0;  // in bytes
  bool followed = false, follows = true;
  auto follow = [&](int64_t n, int64_t stride) {
    if (n == 1) return;
    if (!followed) pitch = size = stride;
    followed = true, follows = follows && stride == size;
    if (follows) size *= n, found.run *= n;
  };
  follow(found.rows, t.row_stride);
  for (int d = t.n_outer - 1; d >= 0; --d) follow(t.outer_shape[d], t.outer_stride[d]);
  const bool near = found.n_in * in_size <= pitch && pitch <= most * in_size && pitch % in_size == 0;
  found.pitch = together && near ? pitch / in_size : 0;
  for (int64_t p = 0; p < of[0].n; ++p)
    for (int64_t r = 0; r < of[1].n; ++r)
      for (int64_t c = 0; c < of[2].n; ++c)
        for (int64_t q = 0; q < of[3].n; ++q)
          found.offset[at++] = p * (of[0].n > 1 ? of[0].stride : 0) + r * (of[1].n > 1 ? of[1].stride : 0) +
                               c * of[2].stride + q * of[3].stride;
}

// Transposes blocks of images, `pitch` values from one image to the next: vector k of a block gets value k of each
// image. Loads may end after the last image, and stores `pitch` vectors after the first of the last block.
template <class Acc>
void to_lanes(const Loose<Acc>* from, int64_t pitch, int64_t blocks, int64_t n, Vec<Acc>* to) {
  constexpr int N = lanes<Acc>;
  const Vec<Acc>* const end = to + blocks * n;
  auto few = [&]<int H>() {
    if constexpr (H < N)
      for (; to < end; to += n, from += N * pitch) {
        Vec<Acc> square[H];
        for (int r = 0; r < H; ++r) square[r] = joined<Acc, H, N>(from + r * pitch, pitch);
        transpose<Acc, H>(square);
        for (int k = 0; k < pitch; ++k) to[k] = square[k];
      }
  };
  if (pitch < N) with_constant<1, 2, 4, 8>(power_from(int(pitch)), few);
  for (; to < end; to += n, from += N * pitch)
    for (int64_t e = 0; e < pitch; e += N) {
      const int64_t at = pitch < N ? 0 : std::min(e, pitch - N);  // the last square may overlap the one before
      Vec<Acc> square[N];
      for (int l = 0; l < N; ++l) square[l] = load_unaligned<Vec<Acc>>(from + l * pitch + at);
      transpose<Acc>(square);
      for (int64_t k = 0; k < std::min<int64_t>(N, pitch); ++k) to[at + k] = square[k];
    }
}

// Transposes back. Stores of an image spill into the next, by less than a vector.
template <class Acc>
void from_lanes(const Vec<Acc>* from, int64_t n, int64_t blocks, Loose<Acc>* to) {
  constexpr int N = lanes<Acc>;
  const Vec<Acc>* const end = from + blocks * n;
  auto few = [&]<int H>() {
    if constexpr (H == 1)
      for (; from < end; ++from, to += N) store_bits(to, *from);
    else if constexpr (H < N)
      for (; from < end; from += n, to += N * n) {
        Vec<Acc> square[H];
        for (int k = 0; k < H; ++k) square[k] = k < n ? from[k] : Vec<Acc>{};
        transpose<Acc, H>(square);
        const Acc* const values = reinterpret_cast<const Acc*>(square);
        for (int p = 0; p < N / H; ++p)
          for (int r = 0; r < H; ++r) std::memcpy(to + (p * H + r) * n, values + r * N + p * H, H * sizeof(Acc));
      }
  };
  if (n < N) with_constant<1, 2, 4, 8>(power_from(int(n)), few);
  for (; from < end; from += n, to += N * n)
    for (int64_t e = 0; e < n; e += N) {
      const int64_t at = n < N ? 0 : std::min(e, n - N);
      Vec<Acc> square[N];
      for (int64_t k = 0; k < N; ++k) square[k] = at + k < n ? from[at + k] : Vec<Acc>{};
      transpose<Acc>(square);
      for (int l = 0; l < N; ++l) store_bits(to + l * n + at, square[l]);
    }
}

// What a pass over images does with their values. Conversions are null if the types are equal.
template <class Acc, class Map>
struct ImageLoops {
  int64_t in_size, out_size;
  void (*widen)(const void* from, void* to, int64_t n);
  void (*narrow)(const void* from, void* to, int64_t n);
  // Sums of so many blocks along an axis, from vectors of inputs to vectors of outputs.
  void (*sum)(const typename ImageSums<Map>::Axis& axis, int64_t blocks, const Vec<Acc>* from, Vec<Acc>* to);
};

// Copies n images to contiguous memory. outer, row: the place of the first one.
template <class Map, class Task>
void pack_images(const Task& t, const SmallImages<Map>& images, int64_t in_size, int64_t n, int64_t outer, int64_t row,
                 char* to) {
  const char* from = reinterpret_cast<const char*>(t.src) + outer_offset(t, outer);
  with_constant<1, 2, 4, 8>(in_size, [&]<int size>() {
    for (int64_t i = 0; i < n; ++i) {
      const char* const image = from + row * t.row_stride;
      if (++row == images.rows && i + 1 < n) {
        ++outer, row = 0;
        if (t.n_outer == 1) from += t.outer_stride[0];
        else from = reinterpret_cast<const char*>(t.src) + outer_offset(t, outer);
      }
      for (int64_t k = 0; k < images.n_in; ++k, to += size) std::memcpy(to, image + images.offset[k], size);
    }
  });
}

// A task takes groups of images, each of several blocks; a block has as many images as a vector has lanes.
template <class Acc, class Map, class Task>
void small_images_pass(const ImageLoops<Acc, Map>& loops, const Task& t, const SmallImages<Map>& images, Team team) {
  constexpr int64_t N = lanes<Acc>;
  const int64_t in_size = loops.in_size, image_in = images.n_in * in_size, image_out = images.n_out * loops.out_size;
  const int64_t widest = std::max({images.n_in, images.pitch, images.largest});
  const int64_t blocks = std::max<int64_t>(1, tuning.staging_bytes / (N * widest * int64_t(sizeof(Acc))));
  const int64_t group = blocks * N;
  const int64_t each = round_up(std::max<int64_t>(group, tuning.task_bytes / 64 / (image_in + image_out)), group);
  parallel(ceil_div(images.count, each), team, [&](int64_t p) {
    Lease lease;
    Acc* const values = lease->inputs.get<Acc>(group * std::max(images.n_in, images.pitch) + N);
    Acc* const made = lease->sums.get<Acc>(group * images.n_out + N);
    char* const raw = lease->raw.get<char>(group * image_in);
    char* const staging = t.stream ? lease->staging.get<char>(group * image_out) : nullptr;
    Vec<Acc>* const vectors = lease->tile.get<Vec<Acc>>(2 * blocks * widest);
    const int64_t end = std::min(images.count, (p + 1) * each);
    int64_t staged = 0;  // images that wait until they fill whole lines
    for (int64_t lo = p * each, n; lo < end; lo += n) {
      n = std::min(group - staged, end - lo);
      const int64_t outer = lo / images.rows, row = lo % images.rows;
      // Images of a run are read in place, gaps between them too; not the memory after the last one.
      const int64_t left = images.pitch ? images.run - lo % images.run : 0;
      const bool in_place = left >= N && n >= N;
      if (in_place) n = std::min(n, left) / N * N;
      else if (images.pitch) n = std::min(n, N);
      const int64_t width = in_place ? images.pitch : images.n_in, size = (n - 1) * width + images.n_in;
      const char* from = reinterpret_cast<const char*>(t.src) + outer_offset(t, outer) + row * t.row_stride;
      if (!in_place) pack_images(t, images, in_size, n, outer, row, raw), from = raw;
      // Loads of a block may end in the next two images. A block without such is copied.
      const int64_t direct = loops.widen ? 0 : in_place && n + 1 < left ? n : (n - 1) / N * N, rest = n - direct;
      if (rest % N) std::fill_n(values, round_up(rest, N) * width, Acc{});
      if (loops.widen) loops.widen(from, values, size);
      else if (rest) std::memcpy(values, from + direct * width * in_size, (size - direct * width) * in_size);
      const int64_t n_blocks = ceil_div(n, N);
      Vec<Acc>*held = vectors, *other = vectors + blocks * widest;
      to_lanes<Acc>(reinterpret_cast<const Loose<Acc>*>(from), width, direct / N, images.n_in, held);
      to_lanes<Acc>(values, width, n_blocks - direct / N, images.n_in, held + direct / N * images.n_in);
      for (int k = 0; k < images.n_axes; ++k, std::swap(held, other)) loops.sum(images.axis[k], n_blocks, held, other);
      // Stores of a block end in the next one, which is stored later. The last one is copied.
      char* const to = staging ? staging + staged * image_out : reinterpret_cast<char*>(t.dst) + lo * image_out;
      const int64_t whole = loops.narrow ? 0 : std::max<int64_t>(0, n / N - 1), done = whole * N * images.n_out;
      from_lanes<Acc>(held, images.n_out, whole, reinterpret_cast<Loose<Acc>*>(to));
      from_lanes<Acc>(held + whole * images.n_out, images.n_out, n_blocks - whole, made);
      if (loops.narrow) loops.narrow(made, to, n * images.n_out);
      else std::memcpy(to + done * loops.out_size, made, (n * images.n_out - done) * loops.out_size);
      staged = staging ? staged + n : 0;
      if (!staging || (staged < group && lo + n < end)) continue;
      stream_store(reinterpret_cast<char*>(t.dst) + (lo + n - staged) * image_out, staging, staged * image_out);
      staged = 0;
    }
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
