// A map of 8-bit values, with its weights in the forms that instruction sets read.
#pragma once
#include <atomic>
#include <memory>
#include <utility>

#include "rules/bytes.hpp"

namespace tenter {

// A ByteMap and the tables of its weights, each made at its first use. The list of tables only grows. It has no lock: a
// child forked while another thread holds a lock would deadlock.
struct OwnedByteMap {
  ByteMap map;
  struct Made {
    TapGroups table;
    Made* next;
  };
  std::atomic<Made*> made{nullptr};

  OwnedByteMap(int64_t n_in, int64_t n_out, const int64_t* start, const int64_t* offset, const double* weight)
      : map(n_in, n_out, start, offset, weight) {}
  OwnedByteMap(const OwnedByteMap&) = delete;
  OwnedByteMap& operator=(const OwnedByteMap&) = delete;
  OwnedByteMap(int64_t n_in, PillowRows&& rows) : map(n_in, std::move(rows)) {}
  ~OwnedByteMap() {
    for (Made* m = made; m;) delete std::exchange(m, m->next);
  }
  const TapGroups* groups(const ByteKernels& by, bool aligned) {
    for (const Made* m = made; m; m = m->next)
      if (m->table.form == by.form && m->table.aligned == aligned) return &m->table;
    auto fresh = std::make_unique<Made>(by.make_groups(map, aligned), made.load());
    while (!made.compare_exchange_weak(fresh->next, fresh.get())) {}
    return &fresh.release()->table;  // it does no harm if another thread has added an equal table
  }
};

}  // namespace tenter
