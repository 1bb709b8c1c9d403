// The parts of axes that a call's `box` names.
#pragma once
#include <Python.h>

#include "arrays.hpp"
#include "axis_part.hpp"

namespace tenter {

// By the axes that are resized, which ascend. A box that holds a whole axis is none, as in Python's code.
struct Boxes {
  struct Each {
    int dim;
    bool given;
    AxisPart part;
    double begin, end;
  };
  int count = 0;  // 0: of a call without
  Each each[max_read_dims];
  bool turned = false;  // whether an axis was reversed

  // box, a tuple or a list, and axes: as the call has them. numpy: types of NumPy's numbers, in a tuple. x: read from
  // its other end along an axis whose box is reversed. False where Python's code shall read or refuse them.
  bool read(PyObject* box, PyObject* axes, PyObject* numpy, ArrayView& x);
};

}  // namespace tenter
