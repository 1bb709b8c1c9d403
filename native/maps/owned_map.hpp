// A window map and the memory that it points to: tables that Python made, or tables or rows that the core computes.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/permute_tables.hpp"
#include "rules/ends.hpp"
#include "rules/source_index.hpp"
#include "rules/sampling.hpp"
#include "rules/verify.hpp"
#include "system/tuning.hpp"

namespace tenter {

namespace nb = nanobind;
using Int64s = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Python knows it as WindowMap.
struct OwnedMap {
  WindowMap map;
  // Tables from Python, and the weights as float32.
  std::optional<Int64s> start, offset;
  std::optional<Doubles> weight;
  std::vector<float> weight32;
  // For a computed map: its rule, which is `sampling` or `source_index`; and its rows, once it has tables. A long axis
  // never gets tables: its rows are computed while they are used. `rule` is the Python object that owns the rule. It is
  // no shared pointer, because nanobind's conversion of these is noexcept and would end the process if there is no
  // memory.
  nb::object rule;
  const Sampling* sampling = nullptr;
  const SourceIndex* source_index = nullptr;  // all weights are then 1
  bool transposed = false, is_long = false;
  Rows rows;
  // For a periodic or reflecting edge mode: the rows at the ends of the axis. If those gather, `inside` has the tables
  // of all other rows.
  std::optional<Ends> ends;
  std::unique_ptr<OwnedMap> inside;
  // Permute tables, each made at the first call that can use it. The list only grows. It has no lock: a child forked
  // while another thread holds a lock would deadlock.
  struct CachedTables {
    PermuteTables tables;
    bool usable;  // false if the map has no permute tables of this kind
    CachedTables* next;
  };
  std::atomic<CachedTables*> cached{nullptr};
  // Whether `map` or `inside` has the tables, set last. Kernels point to `map`, so it is filled in its place, by one
  // thread: with the interpreter's lock, or with `making` where there is none. A fork waits for that thread: it does
  // not leave the interpreter meanwhile.
  std::atomic<bool> tabled{false};
  nb::ft_mutex making;

  OwnedMap(int64_t n_in, int64_t n_out, int64_t width, std::optional<Int64s> starts, std::optional<Int64s> offsets,
           std::optional<Doubles> weights)
      : map{n_in, n_out, width}, start(starts), offset(offsets), weight(weights) {
    if (start) map.start = start->data(), map.offset = offset->data(), tabled = true;
    if (weight) use_weights(weight->data(), weight->size());
    if constexpr (verifies)
      verify_tables(map, start ? int64_t(start->size()) : 0, offset ? int64_t(offset->size()) : 0,
                    weight ? int64_t(weight->size()) : 0);
  }
  // ones: whether all weights are 1.
  OwnedMap(int64_t n_in, Rows&& made, bool ones) : map{n_in, int64_t(made.start.size())}, rows(std::move(made)) {
    map.start = rows.start.data(), map.offset = rows.offset.data(), tabled = true;
    if (!ones) use_weights(rows.weight.data(), rows.weight.size());
  }
  // with_tables: makes tables even if the axis is long, and drops the rule.
  OwnedMap(nb::object given, const Sampling& of, bool transposed, bool with_tables)
      : map{transposed ? of.n_out() : of.n_in(), transposed ? of.n_in() : of.n_out()},
        rule(std::move(given)),
        sampling(&of),
        transposed(transposed) {
    const int64_t length = map.n_in + map.n_out;
    is_long = !with_tables && length > tuning.long_axis;
    if (is_periodic(of.edge())) ends = ends_of(of, transposed);
    if (gathers()) return;
    if (is_long || (!with_tables && length > tuning.signal_axis && may_be_signal())) return;
    make_tables();
    if (with_tables) sampling = nullptr, rule.reset();
  }
  // Makes the tables of a computed map, unless it has them or its axis is long. Maps get tables late because some need
  // none: signals (signals.hpp), and sums that transpose a computed copy.
  void make_tables() {
    if (is_long || (!sampling && !source_index) || has_tables()) return;
    const nb::ft_lock_guard alone(making);
    if (has_tables()) return;
    if (gathers()) {
      Rows made;
      make_rows(ends->lo, ends->hi, made);
      inside = std::make_unique<OwnedMap>(map.n_in, std::move(made), false);
    } else {
      make_rows(0, map.n_out, rows);
      map.start = rows.start.data(), map.offset = rows.offset.data();
      if (sampling) use_weights(rows.weight.data(), rows.weight.size());
    }
    tabled.store(true, std::memory_order_release);
  }
  bool has_tables() const { return tabled.load(std::memory_order_acquire); }
  bool may_be_signal() const {
    return sampling &&
           (sampling->is_linear() || sampling->is_filtered_signal() || sampling->weighting() == Weighting::touched);
  }
  OwnedMap(nb::object given, const SourceIndex& of, bool transposed)
      : map{transposed ? of.n_out : of.n_in, transposed ? of.n_in : of.n_out},
        rule(std::move(given)),
        source_index(&of),
        transposed(transposed),
        is_long(map.n_in + map.n_out > tuning.long_axis) {}
  OwnedMap(const OwnedMap&) = delete;
  OwnedMap& operator=(const OwnedMap&) = delete;
  ~OwnedMap() {
    for (CachedTables* c = cached; c;) delete std::exchange(c, c->next);
  }
  bool is_computed() const { return is_long; }
  // Whether rows at the ends of the axis read inputs that are not adjacent.
  bool gathers() const { return ends && ends->gathers; }
  bool is_identity() const {
    if (map.n_in != map.n_out || gathers()) return false;
    const bool computes = sampling && !has_tables();
    if (sampling && sampling->linear_steps) return false;  // OpenCV's arithmetic rounds, as the other axis changes
    if (computes && map.n_out > 1 && (transposed || !sampling->steps_by_one())) return false;
    // The rows inside a computed map are all alike, so it is enough to look at those near both ends.
    const int64_t n = computes ? std::min(map.n_out, 4 * taps_each() + 4) : map.n_out;
    return identity(0, n) && identity(map.n_out - n, map.n_out);
  }
  // Makes rows [lo, hi) of a computed map; these must read adjacent inputs.
  void make_rows(int64_t lo, int64_t hi, Rows& made) const {
    if (source_index) return make_rows_of_ones(lo, hi, made);
    if (!ends || (ends->lo <= lo && hi <= ends->hi)) return make_rows_of_rule(lo, hi, made);
    const int64_t from = std::clamp(lo, ends->lo, ends->hi), to = std::clamp(hi, ends->lo, ends->hi);
    Rows ruled;
    if (from < to) make_rows_of_rule(from, to, ruled);
    made.start.clear(), made.offset.assign(1, 0), made.weight.clear();
    append(ends->before.rows, lo, std::min(hi, ends->lo), made);
    append(ruled, 0, to - from, made);
    append(ends->after.rows, std::max(lo, ends->hi) - ends->hi, hi - ends->hi, made);
  }
  // All rows of a map that gathers, and the inputs in the order in which the rows read them.
  Rows gathered(std::vector<int64_t>& order) const {
    Rows made, ruled;
    made.offset.assign(1, 0);
    auto add = [&](const Rows& some, int64_t lo, int64_t hi, int64_t shift) {
      const size_t from = made.start.size();
      append(some, lo, hi, made);
      for (size_t o = from; o < made.start.size(); ++o) made.start[o] += shift;
    };
    order = ends->before.order;
    add(ends->before.rows, 0, ends->lo, 0);
    if (ends->lo < ends->hi) {
      make_rows_of_rule(ends->lo, ends->hi, ruled);
      const int64_t n = ends->hi - ends->lo, first = ruled.start[0], stop = ruled.stop(n - 1);
      add(ruled, 0, n, int64_t(order.size()) - first);
      for (int64_t i = first; i < stop; ++i) order.push_back(i);
    }
    add(ends->after.rows, 0, map.n_out - ends->hi, int64_t(order.size()));
    order.insert(order.end(), ends->after.order.begin(), ends->after.order.end());
    return made;
  }
  // Whether a map that gathers only copies: each row has one tap of weight 1.
  bool only_copies() const {
    constexpr int64_t together = 1024;
    auto alike = [](const Rows& r) {
      for (size_t o = 0; o < r.start.size(); ++o)
        if (r.offset[o + 1] - r.offset[o] != 1 || r.weight[size_t(r.offset[o])] != 1) return false;
      return true;
    };
    bool all = alike(ends->before.rows) && alike(ends->after.rows);
    Rows some;
    for (int64_t lo = ends->lo; all && lo < ends->hi; lo += together) {
      make_rows_of_rule(lo, std::min(lo + together, ends->hi), some);
      all = alike(some);
    }
    return all;
  }
  int64_t taps_each() const {  // about how many taps a row has
    if (source_index) return (source_index->end - source_index->begin) / std::max<int64_t>(1, map.n_out);
    const int64_t taps = sampling->taps_each();
    return transposed ? taps * map.n_in / std::max<int64_t>(1, map.n_out) : taps;
  }
  int64_t n_taps() {  // how many taps all rows have; an estimate if they are computed
    if (source_index) return source_index->end - source_index->begin;
    if (is_computed() || gathers()) return taps_each() * map.n_out;
    make_tables();
    return map.offset ? map.offset[map.n_out] : map.n_out * map.width;
  }
  // After how many outputs the rows repeat, and by how many inputs they are then shifted. Returns false if that takes
  // more than `most` outputs.
  bool periods(int64_t most, int64_t& outputs, int64_t& inputs) const {
    if (source_index) return false;
    outputs = sampling->period(transposed ? map.n_in : most);
    inputs = outputs ? sampling->shift(outputs) : 0;
    if (transposed) std::swap(outputs, inputs);
    return 0 < outputs && outputs <= most;
  }
  // The outputs [lo, hi) whose rows no edge of the axis changes.
  void interior(int64_t& lo, int64_t& hi) const {
    if (ends) return void((lo = ends->lo, hi = ends->hi));
    sampling->interior(lo, hi);
    if (!transposed) return;
    int64_t start, stop;
    if (lo == hi) return void(lo = hi = 0);
    sampling->bounds(hi - 1, start, stop);
    const int64_t end = start;
    sampling->bounds(lo, start, stop);
    lo = stop, hi = std::max(lo, end);
  }
  const PermuteTables* permute_tables(int64_t inner, int lanes, int bytes) {
    for (const CachedTables* c = cached; c; c = c->next)
      if (c->tables.inner == inner && c->tables.lanes == lanes && c->tables.bytes == bytes)
        return c->usable ? &c->tables : nullptr;
    auto made = std::make_unique<CachedTables>();
    made->usable = make_permute_tables(map, inner, lanes, bytes, made->tables);
    made->next = cached;
    while (!cached.compare_exchange_weak(made->next, made.get())) {}
    const CachedTables* c = made.release();  // it does no harm if another thread has added equal tables
    return c->usable ? &c->tables : nullptr;
  }

 private:
  void make_rows_of_rule(int64_t lo, int64_t hi, Rows& made) const {
    if (transposed) sampling->make_transposed(lo, hi, made);
    else sampling->make(lo, hi, made);
  }
  // Appends rows [lo, hi), if there are any.
  static void append(const Rows& from, int64_t lo, int64_t hi, Rows& to) {
    if (lo >= hi) return;
    const int64_t before = to.offset.back() - from.offset[size_t(lo)];
    for (int64_t o = lo; o < hi; ++o) to.offset.push_back(before + from.offset[size_t(o) + 1]);
    to.start.insert(to.start.end(), from.start.begin() + lo, from.start.begin() + hi);
    to.weight.insert(to.weight.end(), from.weight.begin() + from.offset[size_t(lo)],
                     from.weight.begin() + from.offset[size_t(hi)]);
  }
  void make_rows_of_ones(int64_t lo, int64_t hi, Rows& made) const {
    made.start.resize(size_t(hi - lo)), made.offset.resize(size_t(hi - lo) + 1), made.weight.clear();
    if (transposed) {
      source_index->offsets(lo, hi, made.offset.data());
      std::copy(made.offset.begin(), made.offset.end() - 1, made.start.begin());
      for (int64_t& offset : made.offset) offset -= made.start.empty() ? offset : made.start[0];
      return;
    }
    const int64_t begin = source_index->begin, end = source_index->end;  // outputs outside of these read nothing
    source_index->index(lo, hi, made.start.data());
    const int64_t stop = begin < end ? source_index->at(end - 1) + 1 : 0;
    for (int64_t o = lo; o < hi; ++o) {
      made.offset[size_t(o - lo)] = std::clamp(o, begin, end) - std::clamp(lo, begin, end);
      if (o < begin) made.start[size_t(o - lo)] = 0;
      if (o >= end) made.start[size_t(o - lo)] = stop;
    }
    made.offset.back() = std::clamp(hi, begin, end) - std::clamp(lo, begin, end);
  }
  bool identity(int64_t lo, int64_t hi) const {
    const bool computes = sampling && !has_tables();
    Rows made;
    if (computes) make_rows(lo, hi, made);
    const int64_t from = computes ? lo : 0;
    const Rows& r = computes ? made : rows;
    for (int64_t o = lo - from; o < hi - from; ++o)
      if (r.start[size_t(o)] != o + from || r.offset[size_t(o) + 1] - r.offset[size_t(o)] != 1 ||
          r.weight[size_t(r.offset[size_t(o)])] != 1)
        return false;
    return true;
  }
  void use_weights(const double* weights, size_t n) {
    weight32.assign(weights, weights + n);
    map.weight64 = weights, map.weight32 = weight32.data();
  }
};

}  // namespace tenter
