#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <thread>
#include <type_traits>
#include <vector>

#include "system/integers.hpp"
#include "system/system.hpp"
#include "system/threads.hpp"

namespace tenter {
namespace {

typedef std::chrono::steady_clock Clock;

// Whether other threads cost more time than they save. If two processes want one core, the system gives it to each for
// milliseconds, and a call waits so long for a thread that computes for microseconds. What threads save is credited, up
// to a limit, and what calls wait for them is debited. With less than nothing, small calls use one thread for a pause.
// So a delay now and then does not lead to a pause, nor does waking a thread after one.
class Credit {
 public:
  bool pauses() const {
    const int64_t until = until_.load(std::memory_order_relaxed);
    return until && now() < until;
  }
  // spent: what all threads computed in a call, which is about the time of the call on one thread. took: its time.
  // Not thread-safe: the caller has the pool.
  void add(std::chrono::nanoseconds spent, std::chrono::nanoseconds took) {
    const int64_t time = now(), until = until_.load(std::memory_order_relaxed);
    if (time < until) return;  // a large call
    left_ = std::min(left_ + (spent - took).count(), nanoseconds(most_credit));
    if (left_ >= 0) return;
    // The pause doubles if the threads were tried for less time than they paused before.
    pause_ = time - until < pause_ ? std::min(2 * pause_, nanoseconds(longest_pause)) : nanoseconds(least_pause);
    left_ = nanoseconds(credit_after_pause), until_.store(time + pause_, std::memory_order_relaxed);
  }

 private:
  static int64_t nanoseconds(std::chrono::nanoseconds d) { return d.count(); }
  static int64_t now() { return nanoseconds(Clock::now().time_since_epoch()); }
  std::atomic<int64_t> until_{0};
  int64_t left_ = nanoseconds(most_credit), pause_ = 0;
};
Credit credit;

// The tasks [first, end) that one thread still has to run. Both numbers share one word, so that they change atomically:
// `end` is in the upper half, `first` in the lower half.
struct alignas(64) Share {
  std::atomic<uint64_t> left{0};
  std::atomic<bool> claimed{false};

  static uint64_t of(uint64_t first, uint64_t end) { return end << 32 | first; }
  static uint64_t first(uint64_t range) { return range & 0xffffffff; }
  static uint64_t end(uint64_t range) { return range >> 32; }
};

// One loop that threads share. Each thread starts with a range of consecutive tasks, the same range in every call of a
// kind. Their outputs are then adjacent in memory, and still in that core's caches from the call before. (Dealing tasks
// out one by one took up to twice as long, as threads wrote to neighboring memory.) A thread that finishes takes half
// of what another thread has left, from the end. So the tasks of a thread that starts late, or never, are done too.
struct Job {
  void (*body)(void*, int64_t);
  void* context;
  int64_t n;
  int helpers_wanted;
  int64_t unit = n / (int64_t{1} << 31) + 1;  // how many tasks count as one in a share, so that numbers fit 32 bits
  std::vector<Share> shares = std::vector<Share>(size_t(helpers_wanted) + 1);
  std::thread::id caller = std::this_thread::get_id();
  std::atomic<int64_t> spent{0};  // nanoseconds that threads have computed
  std::atomic<bool> out_of_memory{false}, stopped{false};
  std::atomic<int> inside{0};  // workers in this job; changed under Pool::mutex

  // Distributes the tasks over the shares. Called before any thread starts.
  void deal() {
    const uint64_t units = uint64_t((n + unit - 1) / unit), threads = shares.size();
    for (uint64_t k = 0; k < threads; ++k) shares[k].left = Share::of(units * k / threads, units * (k + 1) / threads);
  }

  // Claims a share for a thread: the wished one, or any free one if that is taken; null if none is free.
  Share* claim(size_t wished) {
    for (size_t k = 0; k < shares.size(); ++k) {
      Share& share = shares[(wished + k) % shares.size()];
      if (!share.claimed.exchange(true)) return &share;
    }
    return nullptr;
  }

  // Takes the next tasks [from, to) of a thread's share, and steals from other shares once it is empty. Returns false
  // when no tasks are left anywhere.
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
        to.left = Share::of(from, end);  // no other thread changes an empty share
        return true;
      }
    }
    return false;
  }
};

// Runs tasks of a job until none are left. thread: the number of this thread, the same in every call; 0 is the caller.
void drain(Job& job, size_t thread) {
  Share* const share = job.claim(thread);
  if (!share) return;
  const bool is_caller = job.caller == std::this_thread::get_id();
  const bool polls = interrupted && is_caller;
  const int64_t start = thread_time();
  Polling polling;
  try {
    for (int64_t i, end; !job.stopped && job.take(*share, i, end);) {
      for (; i < end && !job.stopped.load(std::memory_order_relaxed); ++i) {
        job.body(job.context, i);
        if (polls && polling.due() && interrupted()) job.stopped = true;
      }
    }
  } catch (...) {  // a worker thread must not throw; a body can only throw bad_alloc, for scratch memory
    job.out_of_memory = job.stopped = true;
  }
  job.spent += thread_time() - start;
}

// Spins until the condition holds, for at most spin_microseconds, and returns whether it holds. A spinning thread
// notices work within a microsecond.
template <class F>
bool spin_until(F&& condition) {
  const auto end = Clock::now() + std::chrono::microseconds(spin_microseconds);
  do {
    for (int k = 0; k < 32; ++k) {
      if (condition()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
  } while (Clock::now() < end);
  return false;
}

// The caller publishes a job on its own stack, works on it, withdraws it, and waits for the workers still inside. A
// worker that wakes late finds no job and waits again: no call waits for a thread that has not started.
class Pool {
 public:
  void run(Job& job, bool wake) {
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
      std::lock_guard lock(mutex_);  // once this is acquired, the last worker no longer uses the job
      return;
    }
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [&] { return job.inside == 0; });
  }

  bool is_awake() const { return spinning_ > 0; }

  std::atomic<bool> busy{false};  // true during a run. Not a mutex: a signal handler may call again on this thread

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

// Created at first use and never destroyed: workers sleep in it until the process ends. A forked child inherits the
// pool's memory but not its threads, and finds its mutexes in any state. So it drops the pool, and creates its own when
// it needs threads.
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
std::atomic<GompNumber> gomp_number{nullptr};  // omp_get_thread_num

GompParallel openmp() { return is_child ? nullptr : gomp_parallel.load(); }

}  // namespace

bool (*interrupted)() = nullptr;
Tuning tuning;

void sleep_until_exit() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

bool forked() { return is_child; }

void join_openmp() {
#if !defined(__SANITIZE_THREAD__)  // ThreadSanitizer does not see OpenMP's barriers and would report false races
  gomp_number = reinterpret_cast<GompNumber>(loaded_symbol("omp_get_thread_num"));
  if (gomp_number) gomp_parallel = reinterpret_cast<GompParallel>(loaded_symbol("GOMP_parallel"));
#endif
}

Team team_for(int64_t bytes, int threads) {
  const Team alone{1, false};
  if (threads == 1 || bytes < tuning.parallel_bytes) return alone;
  const int64_t least_share = std::max<int64_t>(1, tuning.parallel_bytes / threads_worth);
  const Team team{int(std::clamp<int64_t>(bytes / least_share, 1, threads)),
                  bytes / worth_waking >= tuning.parallel_bytes};
  if (bytes / worth_waiting < tuning.parallel_bytes && credit.pauses()) return alone;
  // Whether OpenMP's threads sleep is not known.
  if (!openmp() && !team.wake && !this_process_pool().is_awake()) return alone;
  return team;
}

int64_t least_tasks(int64_t bytes, Team team) {
  const int64_t for_signals = ceil_div(bytes, tuning.task_bytes);
  return std::max(for_signals, team.threads == 1 ? 1 : tasks_each * team.threads);
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
      const auto start = Clock::now();
      if (const GompParallel run = openmp())
        run([](void* j) { drain(*static_cast<Job*>(j), size_t(gomp_number.load()())); }, &job,
            unsigned(job.helpers_wanted + 1), 0);
      else p.run(job, team.wake);
      const auto took = Clock::now() - start;
      if (job.spent && !job.stopped) credit.add(std::chrono::nanoseconds(job.spent), took);
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
