"use strict";
// What a call gives: shapes, values, the map of each dim, and which inputs each output reads; or why it is refused.

const Calls = (() => {
  const {range} = Maps;
  const MOST_IN_A_ROW = 48, MOST_CELLS = 240;
  const SAMPLES = [
    10, 40, 20, 60, 30, 50, 80, 20, 70, 10, 40, 90, 50, 30, 60, 20, 80, 40, 10, 70, 30, 50, 90, 60,
  ];
  const product = (sizes) => sizes.reduce((a, b) => a * b, 1);
  const identity = (n) => Maps.every(n, 1);

  /** kind: the error that tenter raises; none for what only this page refuses. */
  class Refusal extends Error {
    constructor(message, kind = "") {
      super(message);
      this.kind = kind;
    }
  }
  const refuse = (name, expected, got, kind = "ValueError") => {
    throw new Refusal(`${name}: expected ${expected}, got ${got}`, kind);
  };
  const notNegative = (name, sizes, least = 0) => {
    const bad = sizes.find((size) => size < least);
    if (bad !== undefined) refuse(name, `sizes that are ints >= ${least}`, bad);
  };

  /** A state's settings as the call takes them: those that its mode does not have are left out. */
  function options({op, mode, corners, antialias, like, align}) {
    const filtered = !mode.startsWith("nearest") && mode !== "area";
    if (op === "resize") {
      // Lanczos never aliases unless the call says so.
      const said = mode.startsWith("lanczos") && !Maps.CONVENTIONS[like].antialias ? false : null;
      return {
        like, align: align === "auto" ? null : align,
        antialias: !filtered ? null : antialias === "auto" ? said : antialias === "yes",
      };
    }
    const cornered = filtered && mode !== "lanczos3";
    return {
      like: "torch", align: cornered && corners === "yes" ? "align_corners" : null,
      antialias: mode === "lanczos3" || (filtered && antialias === "yes"),
    };
  }

  // For each operation: the input's dims as they are stretched, ones in front where new dims come, and their maps.
  const MAKERS = {
    repeat_interleave(state, dims) {
      const repeats = State.numbersOf(state.repeats);
      const flat = state.dim === "none", axis = flat ? 0 : Number(state.dim);
      if (axis >= dims.length)
        refuse("dim", `a dim of a ${dims.length}-d input, from -${dims.length} to ${dims.length - 1}`, axis, "IndexError");
      const from = flat ? [product(dims)] : dims, n = from[axis];
      if (repeats.length !== n && repeats.length !== 1) {
        const where = flat ? "the flattened x" : `dim ${axis}`;
        const one = n === 1 ? "" : " (or one for all)";
        refuse("repeats", `${n} counts, one per position of ${where}${one}`, repeats.length);
      }
      const bad = repeats.findIndex((count) => count < 0);
      if (bad >= 0 && repeats.length === 1) refuse("repeats", "a count >= 0", repeats[0]);
      if (bad >= 0) refuse("repeats", "non-negative counts", `${repeats[bad]} at position ${bad}`);
      check(from.map((size, d) => (d !== axis ? size : sum(repeats) * (repeats.length === 1 ? n : 1))));
      const map = repeats.length === 1 ? Maps.every(n, repeats[0]) : Maps.counts(repeats);
      return {from, maps: from.map((size, d) => (d === axis ? map : identity(size)))};
    },
    repeat(state, dims) {
      const sizes = State.numbersOf(state.sizes);
      notNegative("sizes", sizes);
      if (sizes.length < dims.length) refuse("sizes", `at least ${dims.length} numbers, one per dim of x`, sizes.length);
      return cycled(dims, sizes);
    },
    tile(state, dims) {
      const sizes = State.numbersOf(state.sizes);
      notNegative("dims", sizes);
      return cycled(dims, [...Array(Math.max(0, dims.length - sizes.length)).fill(1), ...sizes]);
    },
    expand(state, dims) {
      const sizes = State.numbersOf(state.to), front = sizes.length - dims.length;
      notNegative("sizes", sizes, -1);
      if (front < 0) refuse("sizes", `at least ${dims.length} numbers, one per dim of x`, sizes.length);
      sizes.forEach((size, d) => {
        if (d < front && size === -1) refuse("sizes", "a size for a new dim in front", `-1 at position ${d}`);
        const n = dims[d - front];
        if (d >= front && n !== 1 && size !== -1 && size !== n)
          refuse("sizes", `${n} or -1 at position ${d}, as only dims of length 1 stretch`, size);
      });
      const from = [...Array(front).fill(1), ...dims];
      const to = sizes.map((size, d) => (size === -1 ? from[d] : size));
      check(to);
      return {from, maps: from.map((n, d) => (n === to[d] ? identity(n) : Maps.every(n, to[d])))};
    },
  };
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  function cycled(dims, sizes) {
    const from = [...Array(sizes.length - dims.length).fill(1), ...dims];
    check(from.map((n, d) => n * sizes[d]));
    return {from, maps: from.map((n, d) => Maps.cycle(n, sizes[d]))};
  }
  function check(shape) {
    const wide = shape.length === 1 ? MOST_IN_A_ROW : 24;
    if (shape.length > 3 || product(shape) > MOST_CELLS || shape.at(-1) > wide) {
      const size = shape.length > 3 ? `${shape.length} dims` : shape.join(" × ");
      throw new Refusal(`This page draws up to ${wide} cells in a row, ${MOST_CELLS} in all and 3 dims; this would be ` +
        `${size}. tenter itself has no such limit.`);
    }
  }

  /** The place of a cell in each dim. */
  function place(k, shape) {
    const at = Array(shape.length);
    for (let d = shape.length - 1; d >= 0; --d) [at[d], k] = [k % shape[d], Math.floor(k / shape[d])];
    return at;
  }
  const cell = (at, shape) => at.reduce((k, i, d) => k * shape[d] + i, 0);

  /** rows: for each output, in order, its {i, w}; columns: the same of the transpose. from, maps: for each dim of y. */
  function of(state) {
    const samples = State.RESAMPLE.includes(state.op);
    const shapeIn = samples ? [state.n] : State.shape(state);
    const x = samples ? SAMPLES.slice(0, state.n) : range(product(shapeIn)).map((k) => k + 1);
    try {
      const {from, maps} = samples
        ? {from: shapeIn, maps: [Maps.resized(state.n, state.out, state.mode, options(state))]}
        : MAKERS[state.op](state, shapeIn);
      const shapeOut = maps.map((map) => map.nOut);
      const rows = range(product(shapeOut)).map((k) => {
        const at = place(k, shapeOut);
        if (samples) return maps[0].rows[k];
        return [{i: cell(at.map((o, d) => maps[d].rows[o][0].i), from), w: 1}];
      });
      const whole = {nIn: x.length, nOut: rows.length, rows};
      const y = rows.map((row) => sum(row.map(({i, w}) => w * x[i])));
      const columns = Maps.transpose(whole).rows;
      return {error: null, samples, view: state.op === "expand", shapeIn, shapeOut, x, y, from, maps, rows, columns, whole};
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return {error: error.message, kind: error.kind, samples, shapeIn, x};
    }
  }

  return {SAMPLES, of, options, place, cell};
})();
