#include "system/workspace.hpp"

#include <atomic>
#include <new>

#include "system/system.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// Idle workspaces. They are exchanged without a lock: a child forked while another thread holds a lock would deadlock.
std::atomic<Workspace*> slots[idle_workspaces];
std::atomic<int64_t> counted;

void count(Workspace* w, int64_t bytes) {
  if (bytes == w->counted) return;  // as in most calls, which then write nothing that threads share
  counted.fetch_add(bytes - w->counted, std::memory_order_relaxed);
  w->counted = bytes;
}

void free_workspace(Workspace* w) {
  count(w, 0);
  delete w;
}

}  // namespace

void Scratch::release() {
  free_aligned(p);
  p = nullptr;
  size = 0;
}

void Scratch::grow(size_t needed) {
  release();
  p = allocate_aligned(needed);
  if (!p) throw std::bad_alloc();
  size = needed;
}

void Scratch::trim() {
  if (size <= cached_scratch_bytes) return;
  release();
}

Workspace* acquire_workspace() {
  for (auto& slot : slots)
    if (slot.load(std::memory_order_relaxed))
      if (Workspace* const found = slot.exchange(nullptr, std::memory_order_acquire)) return found;
  return new Workspace;
}

void release_workspace(Workspace* w) {
  int64_t bytes = 0;
  for (Scratch* s : {&w->staging, &w->tile, &w->row, &w->plane, &w->packed, &w->raw, &w->gathered, &w->inputs, &w->sums,
                     &w->taps, &w->row_taps, &w->index, &w->table}) {
    s->trim();
    bytes += int64_t(s->size);
  }
  count(w, bytes);
  if (workspace_bytes() > tuning.idle_scratch_bytes) return free_workspace(w);
  for (auto& slot : slots) {
    Workspace* empty = nullptr;
    if (slot.load(std::memory_order_relaxed) == nullptr &&
        slot.compare_exchange_strong(empty, w, std::memory_order_release, std::memory_order_relaxed))
      return;
  }
  free_workspace(w);
}

int64_t workspace_bytes() { return counted.load(std::memory_order_relaxed); }

void clear_workspaces() {
  for (auto& slot : slots)
    if (Workspace* const found = slot.exchange(nullptr, std::memory_order_acquire)) free_workspace(found);
}

}  // namespace tenter
