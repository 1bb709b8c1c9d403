#include "memory.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

#include "threads.hpp"
#include "tuning.hpp"

namespace tenter {
namespace {

constexpr int64_t page =
    2 << 20;  // blocks begin with one; only large ones are whole pages, as a page is memory at once
constexpr int64_t grain(int64_t bytes) { return bytes < (16 << 20) ? 64 << 10 : page; }

// In sanitized builds idle blocks, and what lies past the result in a block, may not be touched.
inline void forbid(const char* p, int64_t n) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(p, size_t(n));
#endif
  (void)p, (void)n;
}
inline void permit(const char* p, int64_t n) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(p, size_t(n));
#endif
  (void)p, (void)n;
}
void unmap(char* p, int64_t n) {
  permit(p, n);
  munmap(p, size_t(n));
}

struct Idle {
  char* p;
  int64_t size;
};

// Made at first use and never destroyed: results may outlive every other thing of the process.
struct Recycler {
  std::mutex mutex;
  std::vector<Idle> idle;  // least recently used first
  MemoryStats stats{};
  int64_t forks = 0;

  void drop(size_t k) {
    unmap(idle[k].p, idle[k].size);
    stats.idle -= idle[k].size;
    --stats.idle_blocks;
    idle.erase(idle.begin() + int64_t(k));
  }
  void keep_within(int64_t bytes) {
    while (stats.idle > bytes) drop(0);
  }
};
Recycler& recycler() {
  static Recycler* made = [] {
    Recycler* r = new Recycler;
    // Idle memory is not inherited, as both processes' writes to it would be copied page by page. The lock is held over
    // the fork, so that the child finds the lists whole.
    pthread_atfork(
        [] {
          recycler().mutex.lock();
          recycler().keep_within(0);
          ++recycler().forks;
        },
        [] { recycler().mutex.unlock(); }, [] { recycler().mutex.unlock(); });
    return r;
  }();
  return *made;
}

char* map_aligned(int64_t size) {
  void* const raw = mmap(nullptr, size_t(size + page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* const start = static_cast<char*>(raw);
  char* const p = reinterpret_cast<char*>((reinterpret_cast<uintptr_t>(start) + page - 1) / page * page);
  if (p > start) munmap(start, size_t(p - start));
  if (start + page > p) munmap(p + size, size_t(start + page - p));
#if defined(MADV_HUGEPAGE)
  madvise(p, size_t(size), MADV_HUGEPAGE);
#endif
  return p;
}

// For tests: memory whose last byte is followed by a page that may not be touched, so that a write past the end of a
// result ends the process.
constexpr int64_t guard_page = 4096;
int64_t guarded_size(int64_t wanted) { return (wanted + guard_page - 1) / guard_page * guard_page + guard_page; }

char* map_guarded(int64_t wanted) {
  const int64_t size = guarded_size(wanted);
  void* const raw = mmap(nullptr, size_t(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (raw == MAP_FAILED) throw std::bad_alloc();
  char* const guard = static_cast<char*>(raw) + size - guard_page;
  mprotect(guard, guard_page, PROT_NONE);
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
  size = std::max<int64_t>(1, (wanted + grain(wanted) - 1) / grain(wanted)) * grain(wanted);
  forks = r.forks;
  // The smallest that holds it and wastes at most a quarter; of equals the last used, of which most is in cache.
  size_t best = r.idle.size();
  for (size_t k = 0; k < r.idle.size(); ++k) {
    const int64_t n = r.idle[k].size;
    if (n >= size && n <= size + size / 4 && (best == r.idle.size() || n <= r.idle[best].size)) best = k;
  }
  used = best < r.idle.size();
  if (used) {
    p = r.idle[best].p, size = r.idle[best].size;
    r.stats.idle -= size;
    --r.stats.idle_blocks;
    r.idle.erase(r.idle.begin() + int64_t(best));
    ++r.stats.reused;
  } else {
    p = map_aligned(size);
    if (!p) {  // perhaps for what is kept here
      r.keep_within(0);
      p = map_aligned(size);
    }
    if (!p) throw std::bad_alloc();
    ++r.stats.fresh;
  }
  permit(p, wanted), forbid(p + wanted, size - wanted);
  r.stats.in_use += size;
  ++r.stats.blocks_in_use;
}

Block::~Block() {
  if (guarded) {
    const int64_t mapped = guarded_size(wanted);
    munmap(p + wanted + guard_page - mapped, size_t(mapped));
    return;
  }
  Recycler& r = recycler();
  std::lock_guard lock(r.mutex);
  r.stats.in_use -= size;
  --r.stats.blocks_in_use;
  // Pages from before a fork are shared with the child: the next to write them would copy each.
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
#if defined(MADV_FREE)
  // Where memory gets scarce the system takes it before it takes any other. To say so interrupts the other threads,
  // which would be felt in smaller calls.
  if (size >= 32 << 20) madvise(p, size_t(size), MADV_FREE);
#endif
  forbid(p, size);
  r.stats.idle += size;
  ++r.stats.idle_blocks;
  r.keep_within(r.stats.limit);
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
  r.keep_within(bytes);
}

void memory_clear() {
  Recycler& r = recycler();
  std::lock_guard lock(r.mutex);
  r.keep_within(0);
}

}  // namespace tenter
