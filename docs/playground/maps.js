"use strict";
// Axis maps: which inputs an output reads, with which weights. A port of tenter's rules (src/tenter/geometry.py,
// filters.py, _rules/) for axes of a few thousand positions, whose fractions are exact in float64.
// tests/documents/test_playground_maps.py compares it with the library.
//
// A map is {nIn, nOut, rows}; rows[o] is a list of {i, w}, i ascending, without weights of zero.

const Maps = (() => {
  // Weights of roundings (tenter.filters.NOTHING).
  const NOTHING = 1e-12;

  // ---- maps that copy

  const copy = (nIn, sources) => ({nIn, nOut: sources.length, rows: sources.map((i) => [{i, w: 1}])});
  const range = (n) => Array.from({length: n}, (_, k) => k);

  /** Each input counts[i] times in a row. */
  const counts = (each) => copy(each.length, each.flatMap((n, i) => Array(n).fill(i)));
  const every = (n, times) => counts(Array(n).fill(times));
  /** The whole axis over and over. */
  const cycle = (n, times) => copy(n, range(n * times).map((o) => o % n));

  /** The gradient's map: its rows are the columns. */
  function transpose(map) {
    const rows = range(map.nIn).map(() => []);
    map.rows.forEach((row, o) => row.forEach(({i, w}) => rows[i].push({i: o, w})));
    return {nIn: map.nOut, nOut: map.nIn, rows};
  }

  function dense(map) {
    return map.rows.map((row) => {
      const line = Array(map.nIn).fill(0);
      for (const {i, w} of row) line[i] += w;
      return line;
    });
  }

  // ---- filters: weight as a function of the distance in input pixels

  // Exactly zero at whole numbers.
  function sinpi(x) {
    const whole = Math.round(x), s = Math.sin(Math.PI * (x - whole));
    return whole % 2 ? -s : s;
  }
  const sinc = (x) => (x === 0 ? 1 : sinpi(x) / (Math.PI * x));
  const triangle = (x) => Math.max(0, 1 - Math.abs(x));
  function keys(x, a) {
    x = Math.abs(x);
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
  }
  function spline(x, b, c) {
    x = Math.abs(x);
    if (x < 1) return (((12 - 9 * b - 6 * c) * x + (-18 + 12 * b + 6 * c)) * x * x + (6 - 2 * b)) / 6;
    if (x >= 2) return 0;
    return ((((-b - 6 * c) * x + (6 * b + 30 * c)) * x + (-12 * b - 48 * c)) * x + (8 * b + 24 * c)) / 6;
  }
  const lanczos = (x, lobes) => (Math.abs(x) < lobes ? sinc(x) * sinc(x / lobes) : 0);
  const box = (x) => (x > 1e-9 - 0.5 && x <= 1e-9 + 0.5 ? 1 : 0);
  const hamming = (x) => (Math.abs(x) < 1 ? sinc(x) * (0.54 + 0.46 * Math.cos(Math.PI * x)) : 0);

  /** What the coefficients of a spline of order 3 take of the samples around them, up to a rest. */
  function inverse(rest) {
    const pole = Math.sqrt(3) - 2, found = [(1 - pole) / (1 + pole)];
    while (Math.abs((2 * found.at(-1) * pole) / (1 + pole)) >= rest) found.push(found.at(-1) * pole);
    const all = [...found.slice(1).reverse(), ...found], total = all.reduce((sum, w) => sum + w, 0);
    return all.map((w) => w / total);
  }
  const TO_COEFFICIENTS = inverse(1e-16), SHORTER = inverse(4e-8);
  function cardinal(x) {
    const middle = (SHORTER.length - 1) / 2;
    return SHORTER.reduce((sum, w, k) => sum + w * spline(x - (k - middle), 1, 0), 0);
  }

  // normalized: weights sum to one at every position by themselves.
  const filter = (f, support, normalized = false) => ({f, support, normalized});
  const FILTERS = {
    linear: filter(triangle, 1, true),
    "catmull-rom": filter((x) => keys(x, -0.5), 2, true),
    mitchell: filter((x) => spline(x, 1 / 3, 1 / 3), 2, true),
    bspline: filter((x) => spline(x, 1, 0), 2, true),
    spline3: filter((x) => cardinal(x), 16, true), // where it is widened
    lanczos2: filter((x) => lanczos(x, 2), 2),
    lanczos3: filter((x) => lanczos(x, 3), 3),
    lanczos4: filter((x) => lanczos(x, 4), 4),
    lanczos5: filter((x) => lanczos(x, 5), 5),
    box: filter(box, 0.5),
    hamming: filter(hamming, 1),
  };

  // ---- conventions: what libraries mean by "resize" (tenter.conventions)

  const USUAL = {
    align: "half_pixel", nearestAlign: "half_pixel", cornersAntialias: "align_corners", tie: "prefer_ceil",
    arithmetic: "exact", exactArithmetic: "exact", cubic: -0.75, cubicAntialias: -0.5, edge: "replicate", edgeAntialias: "renormalize",
    antialias: false, blur: "filter", area: "overlap", modes: null, splines: false,
  };
  const FEW = ["nearest", "nearest-exact", "linear", "spline3"];
  const CONVENTIONS = {
    tenter: {nearestAlign: "asymmetric", tie: "floor", cubic: -0.5, edge: "renormalize", antialias: true, splines: true},
    torch: {
      nearestAlign: "asymmetric", cornersAntialias: "corner_areas", tie: "floor", arithmetic: "torch",
      exactArithmetic: "torch", area: "touched",
    },
    pillow: {
      arithmetic: "pillow", exactArithmetic: "pillow", cubic: -0.5, edge: "renormalize", antialias: true,
    },
    opencv: {
      nearestAlign: "asymmetric", tie: "floor", arithmetic: "opencv", exactArithmetic: "pillow", cubicAntialias: -0.75,
    },
    onnx: {tie: "prefer_floor", cubicAntialias: -0.75, edgeAntialias: "replicate"},
    jax: {arithmetic: "jax", exactArithmetic: "jax", cubic: -0.5, edge: "renormalize", antialias: true},
    tensorflow: {arithmetic: "jax", exactArithmetic: "jax", cubic: -0.5, edge: "renormalize"},
    skimage: {
      arithmetic: "scipy", exactArithmetic: "scipy", edge: "reflect", edgeAntialias: "reflect", antialias: true,
      blur: "gaussian", modes: FEW, splines: true,
    },
    scipy: {
      align: "align_corners", nearestAlign: "align_corners", arithmetic: "scipy", exactArithmetic: "scipy", modes: FEW,
      splines: true,
    },
  };
  for (const name in CONVENTIONS) CONVENTIONS[name] = {...USUAL, ...CONVENTIONS[name]};

  /** One axis's rule: the convention's, with the given fields replaced. align: null or one of State's words. */
  function rule(mode, {like = "tenter", antialias = null, align = null} = {}) {
    const how = CONVENTIONS[like];
    const near = mode.startsWith("nearest"), exact = mode === "nearest-exact";
    const wide = (antialias ?? how.antialias) && !near && mode !== "area";
    let kind = mode === "lanczos" ? "lanczos3" : mode;
    if (mode === "area" && (how.area !== "touched" || align)) kind = "overlap";
    if (wide && kind === "linear" && how.blur === "gaussian") kind = "gaussian";
    if (wide && kind === "spline3" && how.blur === "gaussian") kind = "gaussian spline3";
    const arithmetic = near && align ? "exact" : exact ? how.exactArithmetic : how.arithmetic;
    let at = align ?? (exact ? "half_pixel" : near ? how.nearestAlign : how.align);
    if (at === "align_corners" && wide) at = how.cornersAntialias;
    return {
      kind, align: at, antialias: wide, arithmetic, tie: exact ? "prefer_ceil" : how.tie,
      edge: mode === "area" ? "renormalize" : mode === "spline3" ? "reflect" : wide ? how.edgeAntialias : how.edge,
      cubic: wide ? how.cubicAntialias : how.cubic,
    };
  }

  // ---- positions: output o has the index (first + o * step) / unit, in whole numbers (tenter.geometry)

  const gcd = (a, b) => (b ? gcd(b, a % b) : Math.abs(a));
  function units(nIn, nOut, align) {
    let step = nIn, q = nOut;
    if (align === "align_corners" || align === "corner_areas") [step, q] = nOut > 1 ? [nIn - 1, nOut - 1] : [0, 1];
    const first = align === "half_pixel" || align === "corner_areas" ? step - q : 0;
    const common = gcd(gcd(first, 2 * step), 2 * q);
    return {first: first / common, step: (2 * step) / common, unit: (2 * q) / common};
  }
  const floorDiv = (a, b) => Math.floor(a / b);

  // ---- nearest modes, with the rounding of positions of each library

  const f32 = Math.fround;
  // PyTorch's kernel for signals and larger images, in float32.
  function torchNearest(nIn, nOut, exact) {
    const step = f32(f32(nIn) / f32(nOut));
    if (!exact) return (o) => Math.floor(f32(f32(o) * step));
    return (o) => Math.floor(f32(Math.max(0, f32((o + 0.5) * step - 0.5)) + 0.5));
  }

  function nearestIndex(how, nIn, nOut) {
    const {first, step, unit} = units(nIn, nOut, how.align);
    if (how.arithmetic === "torch") return torchNearest(nIn, nOut, how.kind === "nearest-exact");
    if (how.arithmetic === "pillow") {
      const rise = nIn / nOut, at = [rise * 0.5];
      for (let o = 1; o < nOut; ++o) at.push(at[o - 1] + rise);
      return (o) => Math.floor(at[o]);
    }
    if (how.arithmetic === "opencv") return (o) => Math.floor(o * (1 / (nOut / nIn)));
    if (how.arithmetic === "scipy" && how.align === "align_corners") {
      const rise = nOut > 1 ? (nIn - 1) / (nOut - 1) : 1;
      return (o) => Math.floor(o * rise + 0.5);
    }
    if (how.arithmetic === "scipy") return (o) => Math.floor((o + 0.5) * (nIn / nOut) - 0.5 + 0.5);
    if (how.arithmetic === "jax") return (o) => Math.floor(f32(f32((o + 0.5) * nIn) / nOut));
    const more = {floor: 0, prefer_floor: unit - 1, prefer_ceil: unit}[how.tie];
    return (o) => floorDiv(2 * (first + o * step) + more, 2 * unit);
  }

  // ---- edges and sums

  const cut = (i, n) => Math.min(Math.max(i, 0), n - 1);
  /** The input that stands for a position past an edge; reflect: cb|abcd|cb. */
  function folded(i, n, edge) {
    if (edge !== "reflect" || n === 1) return cut(i, n);
    i = ((i % (2 * n - 2)) + 2 * n - 2) % (2 * n - 2);
    return i >= n ? 2 * n - 2 - i : i;
  }
  const within = (i, n) => i >= 0 && i < n;
  function normalized(taps) {
    const total = taps.reduce((sum, {w}) => sum + w, 0);
    return taps.map(({i, w}) => ({i, w: Math.abs(total) < NOTHING ? 0 : w / total}));
  }
  /** Taps, which may be in the padding, as a row. */
  function row(taps, n, edge) {
    const sums = new Map();
    for (const {i, w} of taps) {
      const at = folded(i, n, edge);
      sums.set(at, (sums.get(at) ?? 0) + w);
    }
    return [...sums].map(([i, w]) => ({i, w})).filter(({w}) => w !== 0).sort((a, b) => a.i - b.i);
  }

  // ---- weighted kinds

  /** Taps of each output under a filter, which is stretched where it shrinks with antialias. */
  function filtered(how, nIn, nOut) {
    const {first, step, unit} = units(nIn, nOut, how.align);
    const {f, support, normalized: sums} = how.kind === "cubic" ? filter((x) => keys(x, how.cubic), 2, true)
      : FILTERS[how.kind];
    let [wide, one] = [1, 1];
    if (how.antialias) {
      [wide, one] = how.align === "corner_areas" ? [Math.max(step, unit), unit] : [Math.max(nIn, nOut), nOut];
      if (wide === one) [wide, one] = [1, 1];
    }
    const reach = (support * wide) / one, slack = 1e-9 * (1 + reach), drops = how.edge === "renormalize";
    return range(nOut).map((o) => {
      const at = first + o * step;
      const taps = [];
      const last = Math.floor(at / unit + reach + slack);
      for (let i = Math.ceil(at / unit - reach - slack); i <= last; ++i)
        if (!drops || within(i, nIn)) taps.push({i, w: f(((i * unit - at) * one) / (unit * wide))});
      return !sums || wide !== one || drops ? normalized(taps) : taps;
    });
  }

  /** Taps of each output on the spline of order 3 through all inputs: B-splines of coefficients. */
  function splined(how, nIn, nOut) {
    const {first, step, unit} = units(nIn, nOut, how.align), middle = (TO_COEFFICIENTS.length - 1) / 2;
    if (first === 0 && step === unit && nIn === nOut) return range(nOut).map((o) => [{i: o, w: 1}]);
    return range(nOut).map((o) => {
      const at = (first + o * step) / unit, left = Math.floor(at) - 1;
      return range(4).flatMap((k) => {
        const w = spline(at - left - k, 1, 0);
        return TO_COEFFICIENTS.map((c, j) => ({i: left + k + j - middle, w: w * c}));
      });
    });
  }

  /** Interpolation after a Gaussian that removes what a shrinking axis cannot hold: scikit-image's. */
  function blurred(how, nIn, nOut) {
    const rows = how.kind === "gaussian" ? filtered({...how, kind: "linear", antialias: false}, nIn, nOut)
      : splined(how, nIn, nOut);
    const sigma = (nIn / nOut - 1) / 2;
    if (sigma <= 0) return rows;
    const reach = Math.floor(4 * sigma + 0.5);
    const bell = range(2 * reach + 1).map((k) => ({i: k - reach, w: Math.exp(-0.5 * ((k - reach) / sigma) ** 2)}));
    const weighed = normalized(bell);
    return rows.map((taps) => taps.flatMap((t) => weighed.map((b) => ({i: t.i + b.i, w: t.w * b.w}))));
  }

  /** Means of the pixels that an output's area touches, or weighted by the share of each pixel that the area covers. */
  function areas(nIn, nOut, {kind, align}) {
    const unit = 2 * nOut, step = 2 * nIn, first = align === "asymmetric" ? nOut - nIn : 0;
    return range(nOut).map((o) => {
      const begin = first + o * step, end = begin + step, taps = [];
      for (let i = Math.max(0, floorDiv(begin, unit)); i < Math.min(nIn, Math.ceil(end / unit)); ++i) {
        const overlap = Math.min((i + 1) * unit, end) - Math.max(i * unit, begin);
        taps.push({i, w: kind === "area" ? 1 : overlap / step});
      }
      return normalized(taps);
    });
  }

  /** The map that tenter.resize applies to one axis; the same as tenter.axis_map. */
  function resized(nIn, nOut, mode, how = {}) {
    const found = rule(mode, how);
    if (mode.startsWith("nearest")) {
      const index = nearestIndex(found, nIn, nOut);
      return copy(nIn, range(nOut).map((o) => folded(index(o), nIn, found.edge)));
    }
    let taps;
    if (mode === "area") taps = areas(nIn, nOut, found);
    else if (found.kind.startsWith("gaussian")) taps = blurred(found, nIn, nOut);
    else if (found.kind === "spline3" && !(found.antialias && nIn > nOut)) taps = splined(found, nIn, nOut);
    else taps = filtered(found, nIn, nOut);
    return {nIn, nOut, rows: taps.map((t) => row(t, nIn, found.edge))};
  }

  /** Whether two maps have the same weights, to a rounding. */
  function equal(a, b, within = 1e-9) {
    if (a.nIn !== b.nIn || a.nOut !== b.nOut) return false;
    const other = dense(b);
    return dense(a).every((line, o) => line.every((w, i) => Math.abs(w - other[o][i]) <= within));
  }

  return {CONVENTIONS, range, counts, every, cycle, transpose, dense, rule, units, resized, equal};
})();
