#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>

#include "system.hpp"
#include "threads.hpp"

namespace tenter {
namespace {

struct Job {
  void (*body)(void*, int64_t);
  void* context;
  int64_t n;
  int helpers_wanted;
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int64_t> next{0};
  std::atomic<bool> out_of_memory{false}, stopped{false};
  std::atomic<int> inside{0};  // workers in this job; changed under Pool::mutex

  void stop() {
    stopped = true;
    next = n;
  }

  // Some tasks in a row, fewer towards the end, so that all threads end together. One at a time, small tasks would have
  // all threads at one cache line, and at neighboring memory: two took as long as one.
  bool take(int64_t& from, int64_t& to) {
    constexpr int64_t shares = 16;  // of each thread in what is left
    const int64_t left = n - next.load(std::memory_order_relaxed);
    const int64_t some = std::max<int64_t>(1, left / (shares * (helpers_wanted + 1)));
    from = next.fetch_add(some, std::memory_order_relaxed);
    to = std::min(n, from + some);
    return from < n;
  }
};

// Limits polls for signals to one per poll_milliseconds.
class Polling {
 public:
  bool due() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(poll_milliseconds)) return false;
    last_ = now;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

void drain(Job& job) {
  const bool polls = interrupted && job.caller == std::this_thread::get_id();
  Polling polling;
  try {
    for (int64_t i, end; job.take(i, end);) {
      for (; i < end && !job.stopped.load(std::memory_order_relaxed); ++i) {
        job.body(job.context, i);
        if (polls && polling.due() && interrupted()) job.stop();
      }
    }
  } catch (...) {  // scratch memory alone can fail in a body; a worker thread must not throw
    job.out_of_memory = true;
    job.stop();
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
    if (!wake && spinning_ == 0) return drain(job);
    {
      std::lock_guard lock(mutex_);
      while (n_workers_ < job.helpers_wanted) {
        try {
          std::thread([this] { work(); }).detach();
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
    drain(job);
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
  void work() {
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
      drain(job);
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
std::atomic<GompParallel> gomp_parallel{nullptr};

}  // namespace

bool (*interrupted)() = nullptr;
Tuning tuning;

void sleep_until_exit() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

bool forked() { return is_child; }

void join_openmp() {
#if !defined(__SANITIZE_THREAD__)  // which does not see OpenMP's barriers, and would report what they order
  gomp_parallel = reinterpret_cast<GompParallel>(loaded_symbol("GOMP_parallel"));
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
      if (const GompParallel run = forked() ? nullptr : gomp_parallel.load())
        run([](void* j) { drain(*static_cast<Job*>(j)); }, &job, unsigned(job.helpers_wanted + 1), 0);
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
