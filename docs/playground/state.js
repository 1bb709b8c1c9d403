"use strict";
// What the page shows, as one flat object, and the address's fragment that says it.

const State = (() => {
  const OPS = ["repeat_interleave", "repeat", "tile", "expand", "interpolate", "resize"];
  const RESAMPLE = ["interpolate", "resize"];
  const MODES = {
    interpolate: ["nearest", "nearest-exact", "linear", "cubic", "area", "lanczos3"],
    resize: [
      "nearest", "nearest-exact", "linear", "cubic", "catmull-rom", "mitchell", "bspline", "lanczos3", "area", "box",
      "hamming", "spline3",
    ],
  };
  const isNumbers = (text) => /^\s*-?\d{1,3}(\s*[,\s]\s*-?\d{1,3}){0,11}\s*$/.test(text);

  // What each field may hold: a list of words, a range of whole numbers, or numbers in words.
  const FIELDS = {
    op: {words: OPS, usual: "repeat_interleave"},
    rows: {least: 0, most: 4, usual: 0}, // 0: x has one dim
    cols: {least: 1, most: 8, usual: 3},
    dim: {words: ["none", "0", "1"], usual: "none"},
    repeats: {numbers: true, usual: "2"},
    sizes: {numbers: true, usual: "2"},
    to: {numbers: true, usual: "2, 3"},
    n: {least: 1, most: 24, usual: 4},
    out: {least: 1, most: 48, usual: 8},
    mode: {words: MODES.resize, usual: "linear"},
    corners: {words: ["no", "yes"], usual: "no"},
    antialias: {words: ["auto", "no", "yes"], usual: "auto"},
    like: {words: Object.keys(Maps.CONVENTIONS), usual: "tenter"},
    align: {words: ["auto", "half_pixel", "align_corners", "asymmetric"], usual: "auto"},
    width: {least: 8, most: 192, usual: 24}, // of the picture
    blur: {words: ["no", "yes"], usual: "yes"}, // the picture's antialias
    zoom: {words: ["1", "2", "4", "8"], usual: "1"},
  };
  const OF_ARRAY = ["rows", "cols"], OF_SAMPLES = ["n", "out", "mode"];
  const USED = {
    repeat_interleave: [...OF_ARRAY, "repeats", "dim"],
    repeat: [...OF_ARRAY, "sizes"],
    tile: [...OF_ARRAY, "sizes"],
    expand: [...OF_ARRAY, "to"],
    interpolate: [...OF_SAMPLES, "corners", "antialias"],
    resize: [...OF_SAMPLES, "antialias", "like", "align"],
  };
  const OF_PICTURE = ["width", "blur", "zoom"];

  const usual = () => Object.fromEntries(Object.entries(FIELDS).map(([name, {usual: value}]) => [name, value]));

  /** The value of a field, or undefined. */
  function read(name, text) {
    const {words, numbers, least, most} = FIELDS[name];
    if (words) return words.includes(text) ? text : undefined;
    if (numbers) return isNumbers(text) ? numbersOf(text).join(", ") : undefined;
    const value = /^\d{1,4}$/.test(text) ? Number(text) : NaN;
    return value >= least && value <= most ? value : undefined;
  }
  const numbersOf = (text) => text.trim().split(/[,\s]+/).map(Number);

  function expected(name) {
    const {words, numbers, least, most} = FIELDS[name];
    if (words) return `one of ${words.join(", ")}`;
    return numbers ? "whole numbers, such as 2 or 1, 3, 2" : `a whole number from ${least} to ${most}`;
  }

  /** A fragment with or without its #, and what of it was refused. */
  function parse(fragment) {
    const state = usual(), refused = [];
    for (const [name, text] of new URLSearchParams(fragment.replace(/^#/, ""))) {
      const value = Object.hasOwn(FIELDS, name) ? read(name, text) : undefined;
      if (value !== undefined) state[name] = value;
      else if (!Object.hasOwn(FIELDS, name)) refused.push(`${name.slice(0, 40)}: no such setting`);
      else refused.push(`${name}: expected ${expected(name)}, got ${JSON.stringify(text.slice(0, 40))}`);
    }
    const before = state.mode;
    if (!modes(state).includes(before)) {
      state.mode = FIELDS.mode.usual;
      refused.push(`mode: expected one of ${modes(state).join(", ")}, got ${JSON.stringify(before)}`);
    }
    return {state, refused};
  }

  /** The fragment of a state, without its #: all that the operation uses, and of the picture what was changed. */
  function written(state) {
    const names = ["op", ...USED[state.op], ...OF_PICTURE.filter((name) => state[name] !== FIELDS[name].usual)];
    return names.map((name) => `${name}=${encodeURIComponent(state[name]).replaceAll("%2C%20", ",")}`).join("&");
  }

  const shape = ({rows, cols}) => (rows ? [rows, cols] : [cols]);
  /** The modes that a state's operation and convention have. */
  function modes({op, like}) {
    const few = op === "resize" && Maps.CONVENTIONS[like].modes;
    const all = few || MODES[op] || MODES.resize;
    return op !== "resize" || Maps.CONVENTIONS[like].splines ? all : all.filter((mode) => mode !== "spline3");
  }

  /** A state after one field was changed by hand: what no longer fits it becomes what is usual there. */
  function changed(state, name, value) {
    const next = {...state, [name]: value};
    if (!modes(next).includes(next.mode)) next.mode = "linear";
    if (!OF_ARRAY.includes(name) && name !== "op") return next;
    const dims = shape(next), n = dims.length;
    if (next.dim === "1" && n < 2) next.dim = "0";
    const counted = next.dim === "none" ? next.cols * (next.rows || 1) : dims[Number(next.dim)];
    if (![1, counted].includes(numbersOf(next.repeats).length)) next.repeats = "2";
    if (next.op === "repeat" && numbersOf(next.sizes).length < n) next.sizes = Array(n).fill(2).join(", ");
    const last = numbersOf(next.to).slice(-n);
    if (last.length < n || !dims.every((size, d) => size === 1 || last[d] === size || last[d] === -1))
      next.to = [2, ...dims].join(", ");
    return next;
  }

  return {FIELDS, OPS, RESAMPLE, USED, usual, read, expected, parse, written, shape, modes, changed, numbersOf};
})();
