// The arguments `box` and `scale` of a call, read as exact fractions.
#pragma once
#include <Python.h>

#include "arrays/arrays.hpp"
#include "rules/axis_part.hpp"

namespace tenter {

// The boxes of a call: one region of interest for each resized axis, in ascending order of the dims.
struct Boxes {
  struct OfAxis : Box {
    int dim;
    bool given;  // false if the box is the whole axis, or None
    bool
        reversed;  // whether its end is before its begin: the axis is flipped, and the box is given in the flipped axis
  };
  int count = 0;  // 0 if the call has no boxes
  OfAxis each[max_read_dims];
  bool flipped = false;  // whether any axis was flipped

  // Reads the call's arguments `box`, a tuple or a list, and `axes`. x: its view is flipped along axes whose box is
  // reversed. Returns false where Python must read or refuse them.
  bool read(PyObject* box, PyObject* axes, ArrayView& x);
  // Flips the view of an array of the same shape along the same axes.
  void flip(ArrayView& x) const;
  bool flips(int dim) const;
};

// The scales of a call: one for all axes, or one for each.
struct Scales {
  int count = 0;         // 0 if the call has no scale
  bool several = false;  // whether they are in a sequence, maybe of one, which is too few for calls of two axes
  struct OfAxis {
    Scale scale;
    bool is_fraction;  // whether it is a fractions.Fraction: lengths are then exact
  };
  OfAxis each[max_read_dims];
  const OfAxis& of(int axis) const { return each[count == 1 ? 0 : axis]; }

  // Returns false where Python must read or refuse them.
  bool read(PyObject* scale);
  PyObject* fraction() const;  // the first scale as a fractions.Fraction; null with an error
};

}  // namespace tenter
