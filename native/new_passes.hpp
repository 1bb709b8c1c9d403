// The passes of one new call.
#pragma once
#include <cstdint>
#include <vector>

#include "families.hpp"
#include "memory.hpp"
#include "new_map.hpp"
#include "passes.hpp"

namespace tenter {

// Maps on dims that lie from slowest to fastest, as kernels that run one after the other (tenter._kernels.passes, whose
// plans have the same passes).
class NewPasses {
 public:
  Dim dims[max_read_dims];
  NewMap* maps[max_read_dims] = {};  // null where a dim is left alone
  int n_dims = 0;
  const char* src = nullptr;  // of the first input that is read
  int64_t itemsize = 0;       // of what is summed or copied
  int64_t given_itemsize = 0;

  explicit NewPasses(const Family& family) : f_(family) {}
  // Once dims and maps are known. False where Python's code shall plan it.
  bool prepare();
  int64_t bytes_between() const;  // memory that `run` takes, at most
  // small: with Python's lock. Contiguous outputs in the order of dims.
  void run(char* to, bool small, int threads, bool stream);
  bool is_filtered_signal() const;              // of which `run` may take long
  bool takes_little() const { return apart_; }  // whether Python's code takes some of the input at a time

 private:
  // Neighboring axes that a kernel of windows takes together, or all that a copy does.
  struct Each {
    bool copies;
    int first, count;
    bool has(int d, const NewMap* map) const { return copies ? map && map->copies() : first <= d && d < first + count; }
  };
  struct Tasks {
    WindowTask window{};
    int64_t n_plane = 1;
    ByteTask bytes{};
    bool columns = false;
    OwnedMap* maps[most_together];
  };
  struct Memory {
    Room room;
    char* at = nullptr;
    int64_t size = 0;
    char* get(int64_t n);
  };
  // How a run's kernels are called.
  struct Call {
    bool small;
    int threads;
    bool stream;
  };
  void group();
  void sort();
  void crop();
  bool lay_out();
  const char* read(Room& packed, Room& wide, const Call& call);
  bool plan(const Each& each, const Dim* dims, Dtype in, Dtype out, Tasks& to) const;
  int64_t size_after(const Each& each) const;
  int64_t largest_between(const Dim* dims) const;
  int64_t bytes_of(const Dim* dims) const;
  void run_slices(Dim* dims, int d, const char* src, char* to, const Call& call);
  void run_passes(const Dim* dims, const char* src, char* to, const Call& call);
  void copy(const Each& each, const Dim* dims, const char* src, char* dst, const Call& call);
  void sum(const Each& each, const Dim* dims, Dtype in, Dtype out, const char* src, char* dst, const Call& call);

  const Family& f_;
  Each passes_[max_read_dims + 1];
  int n_passes_ = 0, n_windows_ = 0;
  bool rows_first_ = false;  // of 8-bit values along two axes
  Tasks first_;              // of the first pass
  bool packs_ = false;       // for which the input is made contiguous
  bool in_bytes_ = false;    // whether integers are summed
  bool apart_ = false;       // whether `dims` are of memory that is made of the input, which these describe
  Dim given_[max_read_dims];
  const std::vector<int64_t>* orders_[max_read_dims] = {};
  Memory between_[2], packed_;
};

}  // namespace tenter
