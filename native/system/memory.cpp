#include "system/memory.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "system/integers.hpp"
#include "system/system.hpp"
#include "system/threads.hpp"
#include "system/tuning.hpp"
#include "system/workspace.hpp"

namespace tenter {
namespace {

int64_t mapped_size(int64_t wanted) {
  const int64_t unit = wanted < huge_page_bytes ? small_unit : huge_page;
  return std::max(unit, round_up(wanted, unit));
}

// In sanitized builds an access to an idle block, or to the bytes of a block after its result, is reported.
inline void poison(const char* p, int64_t n) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(p, size_t(n));
#endif
  (void)p, (void)n;
}
inline void unpoison(const char* p, int64_t n) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(p, size_t(n));
#endif
  (void)p, (void)n;
}
void unmap(char* p, int64_t n) {
  unpoison(p, n);
  unmap_memory(p, n);
}

struct Idle {
  char* p;
  int64_t size;
};

// The pool of idle blocks. Created at first use and never destroyed, as results may be freed after all static objects.
struct Recycler {
  std::mutex mutex;
  std::vector<Idle> idle;  // least recently used first
  MemoryStats stats{};
  int64_t forks = 0;

  // The index of an idle block that holds `size` bytes within the allowed waste; idle.size() if there is none. For a
  // small size it is the last used block, which is mostly in cache: otherwise results of a few MiB whose sizes differ
  // would take turns in a dozen blocks. For a large size it is the smallest block, and the last used among equals.
  size_t find(int64_t size) const {
    size_t best = idle.size();
    for (size_t k = idle.size(); k-- > 0;) {
      const int64_t n = idle[k].size;
      const bool small = size < huge_page_bytes;
      if (n < size || n > size + (small ? size : size / max_waste_share)) continue;
      if (small) return k;
      if (best == idle.size() || n < idle[best].size) best = k;
    }
    return best;
  }
  // The index of the largest idle block that can grow to `size` bytes and still be used for results of its old size;
  // idle.size() if there is none. Blocks below huge_page are adjacent in memory and cannot grow.
  size_t growing(int64_t size) const {
    size_t best = idle.size();
    for (size_t k = idle.size(); k-- > 0;) {
      const int64_t n = idle[k].size;
      if (n < huge_page || n >= size || size > n + n / max_waste_share) continue;
      if (best == idle.size() || n > idle[best].size) best = k;
    }
    return best;
  }
  // Grows an idle block to `size` bytes, so that only the added pages are fresh. First writes to fresh pages are slow:
  // a huge page can take milliseconds if the system has to find one. Returns false if no block can grow.
  bool grow(int64_t size, char*& p) {
    const size_t k = growing(size);
    if (k == idle.size()) return false;
    const Idle& found = idle[k];
    unpoison(found.p, found.size);
    p = grow_memory(found.p, found.size, size, huge_page);
    if (p) take(k);
    else poison(found.p, found.size);
    return p != nullptr;
  }
  Idle take(size_t k) {
    const Idle taken = idle[k];
    stats.idle -= taken.size;
    --stats.idle_blocks;
    idle.erase(idle.begin() + int64_t(k));
    return taken;
  }
  void trim(int64_t bytes) {
    while (stats.idle > bytes) {
      const Idle oldest = take(0);
      unmap(oldest.p, oldest.size);
    }
  }
};
Recycler& recycler() {
  static Recycler* made = [] {
    Recycler* r = new Recycler;
    // Idle memory is freed before a fork: otherwise writes of either process would copy it page by page. The lock is
    // held during the fork, so that the child finds the lists consistent.
    at_fork(
        [] {
          recycler().mutex.lock();
          recycler().trim(0);
          ++recycler().forks;
        },
        [] { recycler().mutex.unlock(); }, [] { recycler().mutex.unlock(); });
    return r;
  }();
  return *made;
}
// Created when the library is loaded. If a fork interrupted its creation, the child would wait forever for the static
// object's guard.
[[maybe_unused]] Recycler& made_at_once = recycler();

// Guarded memory, for tests: its last byte is followed by an inaccessible page, so a write past the end of a result
// ends the process.
constexpr int64_t guard_page = 4096;
int64_t guarded_size(int64_t wanted) { return round_up(wanted, guard_page) + guard_page; }

char* map_guarded(int64_t wanted) {
  const int64_t size = guarded_size(wanted);
  char* const start = map_memory(size, 0);
  if (!start) throw std::bad_alloc();
  char* const guard = start + size - guard_page;
  forbid_memory(guard, guard_page);
  return guard - wanted;
}

}  // namespace

Block::Block(int64_t wanted) : wanted(wanted), guarded(tuning.guard_blocks) {
  if (guarded) {
    p = map_guarded(wanted), size = wanted, used = true, forks = 0;
    return;
  }
  Recycler& r = recycler();
  std::lock_guard lock(r.mutex);
  size = mapped_size(wanted);
  forks = r.forks;
  const size_t found = r.find(size);
  used = found < r.idle.size();
  if (used) {
    const Idle taken = r.take(found);
    p = taken.p, size = taken.size;
    ++r.stats.reused;
  } else if (r.grow(size, p)) {
    used = true;
    ++r.stats.reused;
  } else {
    // Small blocks are adjacent in memory, as the system limits the number of separate mappings.
    const int64_t alignment = size < huge_page ? 0 : huge_page;
    p = map_memory(size, alignment);
    if (!p) {  // idle blocks may hold the memory that is missing
      r.trim(0);
      p = map_memory(size, alignment);
    }
    if (!p) throw std::bad_alloc();
    ++r.stats.fresh;
  }
  unpoison(p, wanted), poison(p + wanted, size - wanted);
  r.stats.in_use += size;
  ++r.stats.blocks_in_use;
}

Block::~Block() {
  if (guarded) {
    const int64_t mapped = guarded_size(wanted);
    unmap_memory(p + wanted + guard_page - mapped, mapped);
    return;
  }
  Recycler& r = recycler();
  std::lock_guard lock(r.mutex);
  r.stats.in_use -= size;
  --r.stats.blocks_in_use;
  // A block from before a fork shares its pages with the other process, so each first write would copy a page.
  if (forked() || forks != r.forks || size > r.stats.limit) {
    unmap(p, size);
    return;
  }
  try {
    r.idle.push_back({p, size});
  } catch (const std::bad_alloc&) {
    unmap(p, size);
    return;
  }
  if (size >= lazy_free_bytes) lend_memory(p, size);
  poison(p, size);
  r.stats.idle += size;
  ++r.stats.idle_blocks;
  r.trim(r.stats.limit);
}

bool recycles() { return !forked() && memory_stats().limit > 0; }

MemoryStats memory_stats() {
  Recycler& r = recycler();
  std::lock_guard lock(r.mutex);
  return r.stats;
}

void memory_limit(int64_t bytes) {
  Recycler& r = recycler();
  std::lock_guard lock(r.mutex);
  r.stats.limit = bytes;
  r.trim(bytes);
}

void memory_clear() {
  clear_workspaces();
  Recycler& r = recycler();
  std::lock_guard lock(r.mutex);
  r.trim(0);
}

}  // namespace tenter
