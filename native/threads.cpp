#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>
#include <vector>

#include "system.hpp"
#include "threads.hpp"

namespace tenter {
namespace {

// Tasks [first, end) that one thread has yet to do, as one word, so that it changes at once: `end` above `first`.
struct alignas(64) Share {
  std::atomic<uint64_t> left{0};
  std::atomic<bool> claimed{false};

  static uint64_t of(uint64_t first, uint64_t end) { return end << 32 | first; }
  static uint64_t first(uint64_t range) { return range & 0xffffffff; }
  static uint64_t end(uint64_t range) { return range >> 32; }
};

// Each thread begins with tasks in a row, the same ones in each call of a kind: what they write lies together, and in
// the caches of that core from the call before. (Tasks by turns took up to twice as long, at neighboring memory.) When
// it is done it takes half of what another has left, from the end. So the tasks of a thread that comes late, or never,
// are done too.
struct Job {
  void (*body)(void*, int64_t);
  void* context;
  int64_t n;
  int helpers_wanted;
  int64_t unit = n / (int64_t{1} << 31) + 1;  // tasks that are one in the shares
  std::vector<Share> shares = std::vector<Share>(size_t(helpers_wanted) + 1);
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> out_of_memory{false}, stopped{false};
  std::atomic<int> inside{0};  // workers in this job; changed under Pool::mutex

  // Before a thread begins.
  void deal() {
    const uint64_t units = uint64_t((n + unit - 1) / unit), threads = shares.size();
    for (uint64_t k = 0; k < threads; ++k) shares[k].left = Share::of(units * k / threads, units * (k + 1) / threads);
  }

  // The share of a thread: the wished one, or where another has that, any that no other has; null where none is left.
  Share* claim(size_t wished) {
    for (size_t k = 0; k < shares.size(); ++k) {
      Share& share = shares[(wished + k) % shares.size()];
      if (!share.claimed.exchange(true)) return &share;
    }
    return nullptr;
  }

  // The tasks [from, to) for the thread that has a share; false when all are taken.
  bool take(Share& share, int64_t& from, int64_t& to) {
    std::atomic<uint64_t>& own = share.left;
    for (;;) {
      uint64_t range = own;
      while (Share::first(range) < Share::end(range)) {
        if (!own.compare_exchange_weak(range, range + 1)) continue;
        from = int64_t(Share::first(range)) * unit, to = std::min(n, from + unit);
        return true;
      }
      if (!steal(share)) return false;
    }
  }

 private:
  bool steal(Share& to) {
    const size_t own = size_t(&to - shares.data());
    for (size_t k = 1; k < shares.size(); ++k) {
      std::atomic<uint64_t>& other = shares[(own + k) % shares.size()].left;
      uint64_t range = other;
      while (Share::first(range) < Share::end(range)) {
        const uint64_t first = Share::first(range), end = Share::end(range), from = first + (end - first) / 2;
        if (!other.compare_exchange_weak(range, Share::of(first, from))) continue;
        to.left = Share::of(from, end);  // it was empty, so no other thread changes it
        return true;
      }
    }
    return false;
  }
};

// thread: its number, the same in each call; the caller's is 0.
void drain(Job& job, size_t thread) {
  Share* const share = job.claim(thread);
  if (!share) return;
  const bool polls = interrupted && job.caller == std::this_thread::get_id();
  Polling polling;
  try {
    for (int64_t i, end; !job.stopped && job.take(*share, i, end);) {
      for (; i < end && !job.stopped.load(std::memory_order_relaxed); ++i) {
        job.body(job.context, i);
        if (polls && polling.due() && interrupted()) job.stopped = true;
      }
    }
  } catch (...) {  // scratch memory alone can fail in a body; a worker thread must not throw
    job.out_of_memory = job.stopped = true;
  }
}

// Spins until the condition holds, for spin_microseconds at most: a spinning thread notices work within a microsecond.
// Returns whether it holds.
template <class F>
bool spin_until(F&& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(spin_microseconds);
  do {
    for (int k = 0; k < 32; ++k) {
      if (condition()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// The caller publishes a job on its own stack, works on it, withdraws it, and waits for the workers still inside. A
// worker that wakes late finds no job and waits again: no call waits for a thread that has not started.
class Pool {
 public:
  void run(Job& job, bool wake) {
    if (!wake && spinning_ == 0) return drain(job, 0);
    {
      std::lock_guard lock(mutex_);
      while (n_workers_ < job.helpers_wanted) {
        try {
          std::thread([this, number = size_t(n_workers_) + 1] { work(number); }).detach();
        } catch (...) {  // the system has no thread: the caller does the work
          break;
        }
        ++n_workers_;
      }
      job_ = &job;
      ++generation_;
      wake = wake && sleeping_ > 0;
    }
    if (wake) wake_.notify_all();
    drain(job, 0);
    {
      std::lock_guard lock(mutex_);
      job_ = nullptr;
    }
    if (spin_until([&] { return job.inside == 0; })) {
      std::lock_guard lock(mutex_);  // the last worker has released it, and no longer uses the job
      return;
    }
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return job.inside == 0; });
  }

  std::atomic<bool> busy{false};  // during a run; not a mutex, as a signal handler may call again on the same thread

 private:
  void work(size_t number) {
    uint64_t seen = 0;
    for (;;) {
      ++spinning_;
      spin_until([&] { return generation_ != seen; });
      --spinning_;
      std::unique_lock lock(mutex_);
      ++sleeping_;
      wake_.wait(lock, [&] { return generation_ != seen; });
      --sleeping_;
      seen = generation_;
      if (!job_ || job_->inside >= job_->helpers_wanted) continue;  // too late for this job
      Job& job = *job_;
      ++job.inside;
      lock.unlock();
      drain(job, number);
      lock.lock();
      if (--job.inside == 0) idle_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  Job* job_ = nullptr;
  std::atomic<uint64_t> generation_{0};  // changed under mutex_
  std::atomic<int> spinning_{0};
  int n_workers_ = 0, sleeping_ = 0;
};

// Made at first use and never destroyed: workers sleep in it until the process ends. A forked child inherits the pool's
// memory but not its threads, and mutexes in any state, so it drops the pool and makes its own when it needs threads.
std::atomic<Pool*> pool{nullptr};
std::atomic<bool> is_child{false};

const bool hooked = [] {
  at_fork(nullptr, nullptr, [] {
    is_child = true;
    pool = nullptr;
  });
  return true;
}();

Pool& this_process_pool() {
  Pool* p = pool.load();
  if (!p) {
    Pool* fresh = new Pool;
    if (pool.compare_exchange_strong(p, fresh)) return *fresh;
    delete fresh;  // another thread was first
  }
  return *p;
}

using GompParallel = void (*)(void (*)(void*), void*, unsigned, unsigned);
using GompNumber = int (*)();
std::atomic<GompParallel> gomp_parallel{nullptr};
std::atomic<GompNumber> gomp_number{nullptr};  // of the calling thread in its team

}  // namespace

bool (*interrupted)() = nullptr;
Tuning tuning;

void sleep_until_exit() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

bool forked() { return is_child; }

void join_openmp() {
#if !defined(__SANITIZE_THREAD__)  // which does not see OpenMP's barriers, and would report what they order
  gomp_number = reinterpret_cast<GompNumber>(loaded_symbol("omp_get_thread_num"));
  if (gomp_number) gomp_parallel = reinterpret_cast<GompParallel>(loaded_symbol("GOMP_parallel"));
#endif
}

void parallel_raw(int64_t n, Team team, void (*body)(void*, int64_t), void* context) {
  if (n > 1 && team.threads > 1) {
    Pool& p = this_process_pool();
    if (!p.busy.exchange(true)) {
      struct Release {
        Pool& pool;
        ~Release() { pool.busy = false; }
      } release{p};
      Job job{body, context, n, static_cast<int>(team.threads < n ? team.threads - 1 : n - 1)};
      job.deal();
      if (const GompParallel run = forked() ? nullptr : gomp_parallel.load())
        run([](void* j) { drain(*static_cast<Job*>(j), size_t(gomp_number.load()())); }, &job,
            unsigned(job.helpers_wanted + 1), 0);
      else p.run(job, team.wake);
      if (job.out_of_memory) throw std::bad_alloc();
      if (job.stopped) throw Interrupted();
      return;
    }
  }
  if (n == 1) return body(context, 0);
  Polling polling;
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0 && interrupted && polling.due() && interrupted()) throw Interrupted();
    body(context, i);
  }
}

}  // namespace tenter
