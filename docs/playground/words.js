"use strict";
// What a call does and where a cell's value comes from, in sentences.

const Words = (() => {
  const times = (n) => (n === 1 ? "once" : n === 2 ? "twice" : `${n} times`);
  const number = (value, digits = 3) => `${Number(value.toPrecision(digits))}`.replace("-", "−");
  const index = (k, shape) => Calls.place(k, shape).join(", ");

  const MODE = {
    nearest: "Each output copies one input",
    "nearest-exact": "Each output copies the input that its center lies in",
  };
  // How many inputs a filter reaches where it is not widened, and how it weighs them.
  const FILTERS = {
    linear: [2, "the nearer one weighs more"],
    cubic: [4, "some weights are negative, so edges are crisper and may overshoot"],
    "catmull-rom": [4, "by Keys's cubic with a = −0.5"],
    mitchell: [4, "by Mitchell and Netravali's cubic, between crisp and soft"],
    bspline: [4, "by the cubic B-spline, which blurs"],
    lanczos3: [6, "by a windowed sinc, the crispest, with ripples"],
    box: [1, "all with one weight"],
    hamming: [2, "by a windowed sinc"],
  };

  function repeated(state) {
    const repeats = State.numbersOf(state.repeats), two = state.rows > 0;
    const what = !two ? "element" : {none: "element", 0: "row", 1: "column"}[state.dim];
    const start = two && state.dim === "none" ? "x is flattened first, as no dim is given. " : "";
    if (repeats.length === 1) return `${start}Each ${what} appears ${times(repeats[0])} in a row.`;
    return `${start}Each ${what} has a count of its own: ${repeats.map((n, k) => `${what} ${k} ${times(n)}`).join(", ")}.`;
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

  function resampled(state) {
    const {like, antialias, align} = Calls.options(state);
    const rule = Maps.rule(state.mode, {like, antialias, align});
    const shrinks = rule.antialias && state.out < state.n;
    let mode = MODE[state.mode];
    if (FILTERS[state.mode]) {
      const [reach, how] = FILTERS[state.mode];
      const inputs = shrinks ? "the inputs around its center" : reach === 1 ? "the input that its center lies in"
        : `the ${reach === 2 ? "two" : reach === 4 ? "four" : "six"} inputs around its center`;
      mode = `Each output mixes ${inputs}${how.startsWith("by") ? "" : ":"} ${how}`;
      if (reach === 1 && !shrinks) mode = `Each output copies ${inputs}`;
    }
    if (state.mode === "nearest") {
      const rules = {asymmetric: "the input under its left edge", corners: "the nearest input, end to end"};
      mode = `Each output copies ${rules[rule.align] ?? "the input that its center lies in"}`;
    }
    const wide = shrinks ? ` Antialias: the output is shorter, so ${rule.kind === "gaussian" ? "a Gaussian goes first"
      : "the filter is wider"} and no input is left out.` : "";
    const bare = !shrinks && state.out < state.n / 2 && !state.mode.startsWith("area")
      ? " The output is much shorter: without antialias some inputs count for nothing." : "";
    if (state.mode === "area") {
      mode = rule.kind === "area" ? "Each output is the mean of the inputs that it touches, all with one weight"
        : "Each output is the mean of the inputs under it, each by how much of it is covered";
    }
    const ends = rule.align === "corners" ? " The centers of the first and last cells are lined up." : "";
    return `${mode}.${ends}${wide}${bare}`;
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
