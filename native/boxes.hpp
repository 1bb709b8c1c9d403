// The parts of axes that a call's `box` names, and its scales.
#pragma once
#include <Python.h>

#include "arrays.hpp"
#include "axis_part.hpp"

namespace tenter {

// Of numbers that are read beside Python's ints and floats: NumPy's integers and floats, in a tuple; and fractions.
// What is exactly of such a type is read without code of the user's, which might change the call's lists and arrays:
// no subclass, nor what says by `__class__` that it is one.
struct NumberTypes {
  PyObject *numpy = nullptr, *fraction = nullptr;

  bool is_numpy(PyObject* x) const {
    PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(x));
    for (Py_ssize_t k = 0, n = numpy ? PyTuple_Size(numpy) : 0; k < n; ++k)
      if (PyTuple_GetItem(numpy, k) == type) return true;
    return false;
  }
  // An int, of Python's or NumPy's.
  bool is_int(PyObject* x) const { return PyLong_CheckExact(x) || (PyIndex_Check(x) && is_numpy(x)); }
};
inline NumberTypes number_types;

// By the axes that are resized, which ascend. A box that holds a whole axis is none, as in Python's code.
struct Boxes {
  struct Each : Box {
    int dim;
    bool given, reversed;
  };
  int count = 0;  // 0: of a call without
  Each each[max_read_dims];
  bool turned = false;  // whether an axis was reversed

  // box, a tuple or a list, and axes: as the call has them. x: read from its other end along an axis whose box is
  // reversed. False where Python's code shall read or refuse them.
  bool read(PyObject* box, PyObject* axes, ArrayView& x);
  // The same of an array of the same shape.
  void turn(ArrayView& x) const;
  bool reverses(int dim) const;
};

// One scale for all axes, or one for each.
struct Scales {
  int count = 0;         // 0: of a call without
  bool several = false;  // in a sequence, of one too, which is too few for calls of two axes
  struct Each {
    Scale scale;
    bool is_fraction;  // of Python's: lengths are then exact
  };
  Each each[max_read_dims];
  const Each& of(int axis) const { return each[count == 1 ? 0 : axis]; }

  // False where Python's code shall read or refuse them.
  bool read(PyObject* scale);
  PyObject* fraction() const;  // of the first, as Python's; null with an error
};

}  // namespace tenter
