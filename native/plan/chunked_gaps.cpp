#include "plan/chunked_gaps.hpp"

#include <algorithm>

#include "plan/gaps.hpp"
#include "plan/host_plan.hpp"
#include "plan/window_step.hpp"
#include "system/gil.hpp"
#include "system/integers.hpp"
#include "system/threads.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

// One chunk of a call: its place in the loops, and its positions of the next dim in the input and the result.
struct GapsChunk {
  int64_t position;
  int64_t from, n;    // inputs
  int64_t to, n_out;  // outputs
};

class GapsChunks {
 public:
  GapsChunks(const GapsCall& call) : c(call), at(size_t(c.loops)), size(size_of(c.dtype)) {
    for (size_t k = 0; k < at; ++k) positions *= c.made[k];
    for (size_t k = at + 1; k < c.made.size(); ++k) inner_in *= c.values.dims[k].n, inner_out *= c.made[k];
    length_in = at < c.made.size() ? c.values.dims[at].n : 1, length_out = at < c.made.size() ? c.made[at] : 1;
    each_out = c.each ? c.each : length_out;
    if (!c.each && (rows = c.plan->only_rows())) {
      const WindowMap& m = *rows->task.row;
      const int64_t before = c.plan->steps()[0]->source_at;  // what no row reads
      skipped = before / (inner_in * size), aside = before % (inner_in * size);
      const double step = double(m.n_in) / double(std::max<int64_t>(1, m.n_out));
      const double bytes = 2 * double(size) * (step * double(inner_in) + double(inner_out));
      const double apart = 3 * double(most_taps(m)) / std::max(step, 1e-3);  // neighbors read a quarter of rows twice
      each_out = std::clamp<int64_t>(int64_t(std::max(double(c.bytes) / bytes, apart)), 1, length_out);
    }
    in_one = ceil_div(length_out, each_out);
  }
  // Whether chunks may run on any thread.
  bool any_thread() const { return rows || (c.plan->any_thread() && (!c.rest || c.rest->any_thread())); }
  int64_t count() const { return positions * in_one; }
  int64_t bytes() const { return 2 * size * positions * std::max(length_in * inner_in, length_out * inner_out); }

  // The same rows of all positions follow each other, which read the same mask and shares. threads: 0 for a thread that
  // has not the interpreter's lock
  void run(int64_t which, int threads) const {
    GapsChunk k{which % positions, 0, length_in, which / positions * each_out, 0};
    k.n_out = std::min(each_out, length_out - k.to);
    if (c.each) k.from = k.to, k.n = k.n_out;
    if (rows) {
      const WindowMap& m = *rows->task.row;
      const int64_t last = k.to + k.n_out - 1;
      k.from = m.first(k.to) + skipped, k.n = std::max<int64_t>(1, m.first(last) + m.count(last) + skipped - k.from);
      k.from = std::min(k.from, length_in - k.n);
    }
    Lease lease;
    const int64_t n_in = k.n * inner_in, n_out = k.n_out * inner_out;
    char* const values = lease->inputs.get<char>(n_in * size);
    char* const ones = c.shares.at ? nullptr : lease->sums.get<char>(n_in * size);
    const int inside = std::max(1, threads);
    fill_gaps({contiguous(c.values, k.position, k.from, k.n, size, lease->tile, inside),
               reinterpret_cast<const uint8_t*>(contiguous(c.mask, k.position, k.from, k.n, 1, lease->raw, inside)),
               values, ones, n_in, c.dtype, c.skips},
              n_in, inside);
    char* const result = c.result + (k.position * length_out + k.to) * inner_out * size;
    char* const sums = c.stream ? lease->gathered.get<char>(n_out * size) : result;
    sum(k, values, sums, threads);
    const char* shares = contiguous(c.shares, k.position, k.to, k.n_out, size, lease->packed, inside);
    if (ones) {
      char* const made = lease->row.get<char>(n_out * size);
      sum(k, ones, made, threads), shares = made;
    }
    divide_by_shares({sums, shares, result, n_out, c.dtype, c.above, c.stream}, inside);
  }

 private:
  void sum(const GapsChunk& k, const char* from, char* to, int threads) const {
    if (rows) return rows->run_rows(from + aside, k.from - skipped, to, k.to, k.to + k.n_out);
    const HostPlan* const plan = k.n_out == each_out ? c.plan : c.rest;
    if (threads) plan->run(from, to, threads, false);
    else plan->run_here(from, to);
  }

  // Positions [from, from + n) of the chunk's dim, which are copied to `held` unless they are contiguous.
  const char* contiguous(const GapsCall::Array& x, int64_t position, int64_t from, int64_t n, int64_t itemsize,
                         Scratch& held, int threads) const {
    if (!x.at) return nullptr;
    const char* src = x.at;
    for (size_t k = at; k-- > 0; position /= c.made[k]) src += position % c.made[k] * x.dims[k].stride;
    std::vector<Dim> dims(x.dims.begin() + ptrdiff_t(at), x.dims.end());
    if (!dims.empty()) src += from * dims[0].stride, dims[0].n = n;
    const Merged merged(dims.data(), dims.data() + dims.size());
    if (!merged.n || (merged.n == 1 && merged.dims[0].stride == itemsize)) return src;
    int64_t values = 1;
    for (const Dim& d : dims) values *= d.n;
    char* const to = held.get<char>(values * itemsize);
    pack(merged.dims, merged.n, itemsize, src, to, threads);
    return to;
  }

  const GapsCall& c;
  const size_t at;
  const int64_t size;
  int64_t positions = 1, inner_in = 1, inner_out = 1, length_in, length_out, each_out, in_one, skipped = 0, aside = 0;
  const WindowStep* rows = nullptr;
};

}  // namespace

void GapsCall::run(int threads) const {
  const GapsChunks chunks(*this);
  if (chunks.count() < threads || !chunks.any_thread()) {
    for (int64_t k = 0; k < chunks.count(); ++k) chunks.run(k, threads);
    return;
  }
  without_gil(
      [&] { parallel(chunks.count(), team_for(chunks.bytes(), threads), [&](int64_t k) { chunks.run(k, 0); }); });
}

}  // namespace tenter
