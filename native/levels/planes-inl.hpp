// Window passes over three axes at once: a chunk of rows of every plane, a few planes at a time, so that the sums
// between axes stay in cache.
#pragma once
#include <cstring>

#include "levels/pair-inl.hpp"

namespace tenter {
namespace {

// The most input planes that planes_at_once adjacent outputs read.
inline int64_t max_planes_read(const WindowMap& m) {
  int64_t most = 0;
  for (int64_t d = 0; d < m.n_out; d += planes_at_once) {
    const int64_t end = std::min(m.n_out, d + planes_at_once) - 1;
    most = std::max(most, m.first(end) + m.count(end) - m.first(d));
  }
  return most;
}

// What the tasks of a call share. A chunk is `height` rows of every plane.
struct Chunks {
  WindowTask flat;                             // the task of rows and columns
  int64_t row_in, row_out, plane_out, height;  // lengths of an input row, an output row and an output plane, in values
};

// Computes output rows [lo, hi) of all planes; sums planes first.
template <class Acc>
void planes_first(const CallSums<Acc>& sums, const WindowTask& t, const Chunks& chunks, const char* src, char* dst,
                  int64_t lo, int64_t hi, Lease& lease) {
  const WindowMap &planes = *t.plane, &m = *t.row;
  const int64_t first = m.first(lo), last = m.first(hi - 1) + m.count(hi - 1), row_in = chunks.row_in;
  const int64_t chunk = (last - first) * row_in, pitch = row_in * int64_t(sizeof(Acc));
  Acc* const scratch = lease->plane.get<Acc>(std::max<int64_t>(1, planes_at_once * chunk));
  const bool contiguous_rows = t.row_stride == row_in * sums.first->in_size;
  for (int64_t d = 0; d < planes.n_out; d += planes_at_once) {
    const int64_t end = std::min(planes.n_out, d + planes_at_once);
    for (int64_t o = lo, i = first, stop; o < hi; i = stop) {  // runs [i, stop) of rows that some output reads
      i = std::max(i, m.first(o));
      for (stop = i; o < hi && m.first(o) <= stop; ++o) stop = std::max(stop, m.first(o) + m.count(o));
      const int64_t height = contiguous_rows ? stop - i : 1;
      for (; i < stop; i += height)
        sums.first->rows(src + i * t.row_stride, t.plane_stride, planes, d, end,
                         reinterpret_cast<char*>(scratch + (i - first) * row_in), chunk, height * row_in, false, lease);
    }
    for (int64_t k = d; k < end; ++k)
      both_rows<Acc>({sums.last, sums.middle, sums.middle, sums.last}, chunks.flat,
                     reinterpret_cast<const char*>(scratch + (k - d) * chunk) - first * pitch,
                     dst + k * chunks.plane_out * sums.last->out_size, lo, hi, lease);
  }
}

// The same; sums planes last. A few output planes are computed at a time, so that they are written to memory while the
// next are computed. Input planes that later outputs read stay cached; if the buffer is full, they move to its front.
template <class Acc>
void planes_last(const CallSums<Acc>& sums, const WindowTask& t, const Chunks& chunks, const char* src, char* dst,
                 int64_t lo, int64_t hi, Lease& lease) {
  const WindowMap& planes = *t.plane;
  const int64_t chunk = (hi - lo) * chunks.row_out, pitch = chunk * int64_t(sizeof(Acc)),
                most = max_planes_read(planes);
  const int64_t capacity =
      std::max(most, std::min<int64_t>(planes.n_in, most + tuning.cached_planes_bytes / std::max<int64_t>(1, pitch)));
  Acc* const scratch = lease->plane.get<Acc>(std::max<int64_t>(1, capacity * chunk));
  int64_t from = 0, to = 0;  // input planes [from, to) are in scratch
  for (int64_t d = 0; d < planes.n_out; d += planes_at_once) {
    const int64_t end = std::min(planes.n_out, d + planes_at_once);
    const int64_t lowest = planes.first(d), highest = planes.first(end - 1) + planes.count(end - 1);
    if (highest - from > capacity || lowest > to) {
      if (to > lowest) std::memmove(scratch, scratch + (lowest - from) * chunk, (to - lowest) * pitch);
      from = lowest, to = std::max(to, lowest);
    }
    for (; to < highest; ++to)
      both_rows<Acc>({sums.first, sums.first, sums.middle, sums.middle}, chunks.flat, src + to * t.plane_stride,
                     reinterpret_cast<char*>(scratch + (to - from) * chunk), lo, hi, lease);
    store_rows(*sums.last, t.stream, reinterpret_cast<const char*>(scratch) - from * pitch, pitch, planes, d, end,
               dst + d * chunks.plane_out * sums.last->out_size, chunks.plane_out, chunk, lease);
  }
}

template <class Acc>
void planes_pass(const CallSums<Acc>& sums, const WindowTask& t, Team team) {
  Chunks chunks{t, t.n_column * t.inner, t.column->n_out * t.inner, t.row->n_out * t.column->n_out * t.inner, 0};
  if (t.planes_first) {
    chunks.flat.row_stride = chunks.row_in * int64_t(sizeof(Acc));
    chunks.flat.column_stride = t.inner * int64_t(sizeof(Acc)), chunks.flat.inner_stride = sizeof(Acc);
  } else {
    chunks.flat.stream = false;
  }
  const int64_t n_rows = t.row->n_out, row = t.planes_first ? chunks.row_in : chunks.row_out;
  const int64_t scratch_row = std::max<int64_t>(1, row * int64_t(sizeof(Acc)));
  chunks.height =
      std::clamp<int64_t>(tuning.plane_bytes / scratch_row, min_chunk_rows, std::max<int64_t>(min_chunk_rows, n_rows));
  const int64_t n_chunks = ceil_div(n_rows, chunks.height);
  parallel(outer_count(t) * n_chunks, team, [&](int64_t p) {
    const int64_t outer = p / n_chunks, lo = p % n_chunks * chunks.height, hi = std::min(n_rows, lo + chunks.height);
    const char* const src = t.src + outer_offset(t, outer);
    char* const dst = t.dst + (outer * t.plane->n_out * chunks.plane_out + lo * chunks.row_out) * sums.last->out_size;
    Lease lease;
    if (t.planes_first) planes_first(sums, t, chunks, src, dst, lo, hi, lease);
    else planes_last(sums, t, chunks, src, dst, lo, hi, lease);
    store_fence(t.stream);
  });
}

}  // namespace
}  // namespace tenter
