"use strict";
// What a call does and where a cell's value comes from, in sentences.

const Words = (() => {
  const times = (n) => ["never", "once", "twice"][n] ?? `${n} times`;
  const number = (value, digits = 3) => `${Number(value.toPrecision(digits))}`.replace("-", "−");
  const index = (k, shape) => Calls.place(k, shape).join(", ");

  // How many inputs a filter reaches where it is not widened, and their weights.
  const FILTERS = {
    linear: [2, "the nearer one has more weight"],
    cubic: [4, "some weights are negative, so edges are crisper and may overshoot"],
    "catmull-rom": [4, "by Keys's cubic with a = −0.5"],
    mitchell: [4, "by Mitchell and Netravali's cubic, between crisp and soft"],
    bspline: [4, "by the cubic B-spline, which blurs"],
    lanczos3: [6, "by a windowed sinc, the crispest, with ripples"],
    box: [1, "all with one weight"],
    hamming: [2, "by a windowed sinc"],
    spline3: [Infinity, "by the cubic spline through all of them; far ones have little weight"],
  };

  function repeated(state) {
    const repeats = State.numbersOf(state.repeats), two = state.rows > 0;
    const what = !two ? "element" : {none: "element", 0: "row", 1: "column"}[state.dim];
    const start = two && state.dim === "none" ? "x is flattened first, as no dim is given. " : "";
    if (repeats.length === 1) return `${start}Each ${what} appears ${times(repeats[0])} in a row.`;
    return `${start}Each ${what} has its count: ${repeats.map((n, k) => `${what} ${k} ${times(n)}`).join(", ")}.`;
  }

  function cycled(state) {
    const given = State.numbersOf(state.sizes), n = State.shape(state).length;
    const sizes = [...Array(Math.max(0, n - given.length)).fill(1), ...given];
    const where = n === 1 ? ["in a row"] : ["downwards", "across"];
    const parts = sizes.slice(-n).map((size, d) => `${times(size)} ${where[d]}`);
    const front = sizes.length > n ? ` Numbers beyond x's dims put new dims in front.` : "";
    const missing = given.length < n ? ` One number for two dims: tile puts a 1 in front; repeat refuses it.` : "";
    return `The whole array appears ${parts.join(" and ")}.${front}${missing}`;
  }

  function expanded(state, {shapeOut}) {
    return `A view of shape (${shapeOut.join(", ")}): the same memory looks repeated. Nothing is copied, so its cells ` +
      `are drawn hollow. Only dims of length 1, and new ones in front, can stretch.`;
  }

  /** What a copying output copies. */
  function nearest({n, out}, {align, tie}) {
    if (tie === "floor")
      return align === "asymmetric" ? "the input under its left edge" : "the last input whose center is not past its own";
    const of = {asymmetric: `the input nearest to index o · ${n} / ${out}`, align_corners: "the nearest input"};
    return of[align] ?? "the input that contains its center";
  }

  function mixture(state, {kind}, widened) {
    if (kind === "area") return "is the mean of the inputs that it touches, all with one weight";
    if (kind === "overlap") return "is the mean of the inputs under it, each by how much of it is covered";
    const [reach, how] = FILTERS[state.mode];
    if (reach === 1 && !widened) return "copies the input that contains its center";
    const inputs = widened || reach === Infinity ? "the inputs" : `the ${{2: "two", 4: "four", 6: "six"}[reach]} inputs`;
    return `mixes ${inputs} around its center${how.startsWith("by") ? "" : ":"} ${how}`;
  }

  function resampled(state, {whole, columns}) {
    if (Maps.equal(whole, Maps.every(state.n, 1))) return "Every output is centered on an input and copies it.";
    const rule = Maps.rule(state.mode, Calls.options(state)), widened = rule.antialias && state.out < state.n;
    const does = state.mode.startsWith("nearest") ? `copies ${nearest(state, rule)}` : mixture(state, rule, widened);
    const cornered = rule.align === "align_corners" && state.mode !== "area"; // areas have edges
    const ends = cornered ? " The centers of the first and last cells are lined up." : "";
    const first = rule.kind.startsWith("gaussian") ? "a Gaussian goes first" : "the filter is wider";
    const wide = widened ? ` Antialias: the output is shorter, so ${first}.` : "";
    const unread = columns.filter((column) => !column.length).length;
    const skips = unread ? ` ${unread} of ${state.n} inputs ${unread === 1 ? "counts" : "count"} for nothing.` : "";
    return `Each output ${does}.${ends}${wide}${skips}`;
  }

  const MAKERS = {
    repeat_interleave: repeated, repeat: cycled, tile: cycled, expand: expanded, interpolate: resampled,
    resize: resampled,
  };
  const sentence = (state, result) => MAKERS[state.op](state, result);

  /** Weights and names, at most six: 0.25 · x[0] + 0.75 · x[1]. */
  function terms(taps, name, shape, values) {
    const shown = taps.slice(0, 6).map(({i, w}, k) => {
      const cell = values ? number(values[i]) : `${name}[${index(i, shape)}]`;
      const weight = Math.abs(w) === 1 ? "" : `${number(Math.abs(w))} · `;
      return `${k ? (w < 0 ? " − " : " + ") : w < 0 ? "−" : ""}${weight}${cell}`;
    });
    return shown.join("") + (taps.length > 6 ? ` + ${taps.length - 6} more` : "");
  }

  /** Where a cell's value or its gradient comes from. */
  function source(result, side, k) {
    const {shapeIn, shapeOut, x, y, rows, columns} = result;
    if (side === "y") {
      const name = `y[${index(k, shapeOut)}]`;
      if (!rows[k].length) return `${name} = 0: no input reaches it.`;
      const plain = rows[k].length > 4 || (rows[k].length === 1 && rows[k][0].w === 1);
      const sum = plain ? "" : ` = ${terms(rows[k], "x", shapeIn, x)}`;
      return `${name} = ${terms(rows[k], "x", shapeIn)}${sum} = ${number(y[k])}`;
    }
    const name = `x[${index(k, shapeIn)}]`;
    if (!columns[k].length) return `No output reads ${name}, so its gradient is 0.`;
    return `Gradient of ${name} = ${terms(columns[k], "g", shapeOut)}, where g is the gradient of y`;
  }

  function cell(result, side, k) {
    const shape = side === "x" ? result.shapeIn : result.shapeOut;
    return `${side}[${index(k, shape)}], ${number(result[side][k])}`;
  }

  /** A weight as short as it fits into a cell. */
  const short = (w) => `${Number(Math.abs(w) < 0.005 ? w.toPrecision(1) : w.toFixed(2))}`.replace("-", "−").replace(/^(−?)0\./, "$1.");

  return {sentence, source, cell, number, short, index};
})();
