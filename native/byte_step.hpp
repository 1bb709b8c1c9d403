// Calls of the kernel of 8-bit values without their addresses.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <utility>

#include "bytes.hpp"
#include "gil.hpp"
#include "steps.hpp"
#include "verify.hpp"

namespace tenter {

// A ByteMap with the forms of its weights, each made at its first use. A list that only grows, without a lock: a
// process forked while another thread holds a lock would deadlock.
struct OwnedByteMap {
  ByteMap map;
  struct Made {
    QuadTable table;
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
  const QuadTable* quads(const ByteKernels& by, bool aligned) {
    for (const Made* m = made; m; m = m->next)
      if (m->table.form == by.form && m->table.aligned == aligned) return &m->table;
    auto fresh = std::make_unique<Made>(by.make_quads(map, aligned), made.load());
    while (!made.compare_exchange_weak(fresh->next, fresh.get())) {}
    return &fresh.release()->table;  // another thread may have added an equal one: harmless
  }
};

// A call of the kernel of 8-bit values without its addresses and threads, reused for arrays of one layout.
struct ByteStep final : KernelCall {
  ByteTask task;
  OwnedByteMap *rows, *columns;

  // rows, columns: of the task's axes; null for one without a map.
  ByteStep(const ByteTask& t, OwnedByteMap* rows, OwnedByteMap* columns) : task(t), rows(rows), columns(columns) {
    task.row = rows ? &rows->map : nullptr, task.column = columns ? &columns->map : nullptr;
    if constexpr (verifies) verify(task);
  }
  const char* name() const override { return "bytes"; }
  void run(uintptr_t src, uintptr_t dst, int threads, bool stream) const override {
    const ByteTask call = at(src, dst, stream);
    without_gil([&] { kernels().bytes->run(call, threads); });
  }
  void run_here(uintptr_t src, uintptr_t dst) const override { kernels().bytes->run(at(src, dst, false), 1); }
  ByteTask at(uintptr_t src, uintptr_t dst, bool stream) const {
    ByteTask call = task;
    call.src = reinterpret_cast<const uint8_t*>(src), call.dst = reinterpret_cast<uint8_t*>(dst);
    call.stream = stream;
    const ByteKernels& by = *kernels().bytes;
    if (rows) call.row_quads = rows->quads(by, false);
    if (columns) call.column_quads = columns->quads(by, task.inner <= max_byte_inner);
    return call;
  }
};

}  // namespace tenter
