// Arguments and results of functions of ragged arrays, as ragged_calls.cpp and segment_calls.cpp share them.
#pragma once
#include <Python.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "arrays.hpp"
#include "kernels.hpp"
#include "memory.hpp"
#include "results.hpp"

namespace tenter {

// Integers of one call: in memory that large results leave behind, as fresh pages cost more than what is written there.
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
  // False where x is no plain array on the host, or with an error.
  bool array(PyObject* x, ArrayView& view);
  // The same of int32 or int64; ndim: 0 for any.
  bool integers(PyObject* x, ArrayView& view, int ndim = 1);

 private:
  bool asked_ = false;  // whether anything follows calls on tensors
};

inline bool is_int32(const ArrayView& x) { return x.dtype->number == int(Dtype::i32); }

// Whether a result of n values of so many bytes each may be made.
bool fits_machine(int64_t n, int64_t itemsize, int64_t& bytes);

// Lengths as offsets.
struct RowLengths {
  int64_t n = 0, total = 0;
  const int64_t* offset = nullptr;

  // total_of_all: the sum that they must have, None for any. to: room for the offsets, or null.
  bool read(const ArrayView& lengths, PyObject* total_of_all, int64_t* to = nullptr);
  int64_t longest() const;

 private:
  Numbers numbers_;
};

// A result like x of so many bytes, which `fill(to, threads, stream)` writes. read: bytes that it reads for that.
template <class F>
PyObject* made(PyObject* x, const ArrayView& like, const int64_t* shape, int ndim, int64_t bytes, F&& fill,
               int64_t read = 0) {
  char* to;
  bool stream;
  Owned y(result_of(x, like, shape, ndim, bytes, to, stream));
  if (!y) return none_or_error();
  if (!bytes) return y.release();
  const int threads = threads_for(std::max(bytes, read));
  if (!threads || !work(std::max(bytes, read), [&] { fill(to, threads, stream); })) return nullptr;
  return y.release();
}

}  // namespace tenter
