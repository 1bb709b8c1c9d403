// Arguments and results of functions on ragged arrays, for ragged_calls.cpp and segment_calls.cpp.
#pragma once
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "arrays/arrays.hpp"
#include "arrays/results.hpp"
#include "kernels/kernels.hpp"
#include "plan/target.hpp"
#include "system/memory.hpp"

namespace tenter {

// Scratch memory for the integers of one call. Large ones use the pool, as fresh pages cost more than the writes to
// them.
class Numbers {
 public:
  int64_t* get(int64_t n);

 private:
  std::unique_ptr<int64_t[]> small_;
  std::optional<Block> block_;
};

// Reads the arrays of one call.
class Arguments {
 public:
  // An ordinary dense array on the host, whose gradient is not recorded.
  Reading array(PyObject* x, ArrayView& view);
  // The same for int32 or int64 only. ndim: 0 for any number of dims.
  Reading integers(PyObject* x, ArrayView& view, int ndim = 1);

 private:
  template <Reading (*read)(PyObject*, ArrayView&, bool)>
  Reading on_host(PyObject* x, ArrayView& view);
  bool asked_ = false;  // whether it was asked, for this call, if calls on tensors are traced
};

inline bool is_int32(const ArrayView& x) { return x.dtype->number == int(Dtype::i32); }

// Whether n values of `itemsize` bytes fit the memory of the machine. bytes: set to their product.
bool fits_machine(int64_t n, int64_t itemsize, int64_t& bytes);

// The lengths of rows, read as n + 1 offsets.
struct RowLengths {
  int64_t n = 0, total = 0;
  const int64_t* offset = nullptr;

  // Unreadable if lengths are wrong or unusual. total_of_all: the sum that lengths must have; None for any. to: memory
  // for the offsets; null to allocate it here.
  Reading read(const ArrayView& lengths, PyObject* total_of_all, int64_t* to = nullptr);
  int64_t longest() const;

 private:
  Numbers numbers_;
};

// Makes a result in `out`, which is not read yet, or in fresh memory if it is None. Other parameters are as in
// make_result.
template <class F>
Outcome made(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, PyObject* out, F&& fill,
             int64_t read = 0) {
  Target target;
  const bool given = out != Py_None;
  const Reading found = given ? target.read(out, like) : Reading::readable;
  if (found != Reading::readable) return Outcome::unread(found);
  return make_result(x, like, shape, ndim, given ? &target : nullptr, std::forward<F>(fill), false, read);
}

}  // namespace tenter
