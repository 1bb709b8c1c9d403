"use strict";
// The arrays: cells of x and y in the colors of the inputs, with a line for each weight where x has one dim.

const Draw = (() => {
  // Of the inputs: blue, violet, magenta, orange, amber, green, cyan.
  const STOPS = [
    [37, 99, 235], [147, 51, 234], [219, 39, 119], [234, 88, 12], [245, 166, 35], [22, 163, 74], [8, 145, 178],
  ];
  const GAP = 6, LINKS = 64;

  /** n colors that are told apart. */
  function colors(n) {
    if (n <= 3) return [STOPS[0], STOPS[2], STOPS[4]].slice(0, n);
    return Maps.range(n).map((k) => {
      const at = (k * (STOPS.length - 1)) / (n - 1), i = Math.min(Math.floor(at), STOPS.length - 2), part = at - i;
      return STOPS[i].map((c, j) => c + (STOPS[i + 1][j] - c) * part);
    });
  }
  /** The colors of sums: those of their inputs, by weight. */
  function mixed(row, of) {
    const total = row.reduce((sum, {w}) => sum + w, 0) || 1;
    return [0, 1, 2].map((j) => row.reduce((sum, {i, w}) => sum + (of[i][j] * w) / total, 0));
  }
  const css = (color) => `rgb(${color.map((c) => Math.round(Math.min(255, Math.max(0, c)))).join(" ")})`;
  /** Black or white, whichever is read better on a color. */
  function ink(color) {
    const [r, g, b] = color.map((c) => {
      const s = Math.min(1, Math.max(0, c / 255));
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    return 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#ffffff" : "#000000";
  }

  function element(tag, attributes = {}, ...inside) {
    const svg = ["svg", "path", "rect", "text", "g", "line"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...inside);
    return made;
  }

  function cell(result, side, k, color, box) {
    const width = box.width ?? 44, tight = width < 42;
    const made = element("div", {
      role: "gridcell", tabindex: "-1", class: "cell", "data-side": side, "data-k": k,
      "aria-label": Words.cell(result, side, k),
    }, element("b", {}, Words.number(result[side][k], width < 30 ? 2 : 3)), element("i"));
    made.style.setProperty("--fill", css(color));
    made.style.setProperty("--ink", ink(color));
    for (const [name, value] of Object.entries(box)) made.style[name] = `${value}px`;
    if (tight) made.classList.add("tight");
    if (side === "y" && result.view) made.classList.add("hollow");
    return made;
  }

  const named = (side, shape) => `${side}, ${side === "x" ? "the input" : "the output"}, shape ${shape.join(" by ")}`;
  const grid = (side, shape, rows) =>
    element("div", {role: "grid", class: `cells ${side}`, "aria-label": named(side, shape)}, ...rows);
  const label = (side, shape) => element("p", {class: "label", "aria-hidden": "true"},
    element("b", {}, side), ` ${side === "x" ? "input" : "output"}, ${shape.join(" × ")}`);

  // ---- one dim: a row of inputs above a row of outputs

  /** Left edge and width of each cell of both rows, in pixels, and the width of all. Resampled axes are drawn
   * as the operation aligns them. */
  function places(state, {samples, x, y}, room) {
    const nIn = x.length, nOut = y.length;
    if (!samples) {
      const most = Math.max(nIn, nOut, 1), step = Math.min(66, Math.max(28, room / most));
      const whole = Math.max(room, most * step);
      const row = (n) => Maps.range(n).map((k) => ({left: (whole - n * step) / 2 + k * step, width: step - GAP}));
      return {whole, x: row(nIn), y: row(nOut)};
    }
    let [first, step] = [nIn / nOut / 2, nIn / nOut]; // of output centers, from the axis's edge
    const {align} = Maps.rule(state.mode, Calls.options(state));
    // Nearest modes with near edges take the input under the output's left edge; areas have no corners.
    const lined = state.mode.startsWith("nearest") ? align === "align_corners"
      : state.mode === "area" ? align === "asymmetric" : align !== "half_pixel";
    if (lined) {
      const line = Maps.units(nIn, nOut, align);
      if (line.step) [first, step] = [line.first / line.unit + 0.5, line.step / line.unit];
    }
    const low = Math.min(0, first - step / 2), high = Math.max(nIn, first + (nOut - 0.5) * step);
    const unit = Math.max(Math.min(room / (high - low), 100), 26 / Math.min(1, step));
    const whole = Math.max(room, (high - low) * unit), shift = (whole - (high - low) * unit) / 2;
    const row = (n, center, width) => Maps.range(n).map((k) => {
      const left = shift + (center(k) - width / 2 - low) * unit, gap = Math.min(GAP, width * unit * 0.12);
      return {left: left + gap / 2, width: width * unit - gap};
    });
    return {whole, x: row(nIn, (k) => k + 0.5, 1), y: row(nOut, (k) => first + k * step, step)};
  }

  function link(from, to, {w}, color) {
    const x0 = from.left + from.width / 2, x1 = to.left + to.width / 2;
    const path = element("path", {
      d: `M${x0} 0C${x0} ${LINKS * 0.55} ${x1} ${LINKS * 0.45} ${x1} ${LINKS}`, stroke: css(color),
      "stroke-width": Math.max(0.8, 3.4 * Math.min(1, Math.abs(w))).toFixed(2),
    });
    if (w < 0) path.setAttribute("stroke-dasharray", "4 3");
    return path;
  }

  function axis(state, result, room) {
    const at = places(state, result, room), of = colors(result.x.length);
    const row = (side, shades) => grid(side, side === "x" ? result.shapeIn : result.shapeOut, [
      element("div", {role: "row"}, ...shades.map((color, k) => cell(result, side, k, color, at[side][k]))),
    ]);
    const links = [];
    result.rows.forEach((taps, o) => taps.forEach((tap) => {
      if (Math.abs(tap.w) > 1e-9) links.push({o, i: tap.i, path: link(at.x[tap.i], at.y[o], tap, of[tap.i])});
    }));
    const svg = element("svg", {width: at.whole, height: LINKS, class: "links", "aria-hidden": "true"},
      ...links.map(({path}) => path));
    const drawn = element("div", {class: "axis"}, label("x", result.shapeIn), row("x", of), svg,
      row("y", result.rows.map((taps) => mixed(taps, of))), label("y", result.shapeOut));
    drawn.style.width = `${at.whole}px`;
    return {drawn, links};
  }

  // ---- two dims and more: blocks of cells

  /** One array as rows of cells; of three dims, one block after the other. */
  function block(result, side, shades, size) {
    const shape = side === "x" ? result.shapeIn : result.shapeOut;
    const cols = shape.at(-1), n = shades.length, height = shape.at(-2) ?? 1;
    const rows = Maps.range(cols ? n / cols : 0).map((r) => {
      const cells = Maps.range(cols).map((c) => cell(result, side, r * cols + c, shades[r * cols + c], size));
      const row = element("div", {role: "row"}, ...cells);
      if (shape.length > 2 && r && r % height === 0) row.classList.add("page");
      return row;
    });
    return grid(side, shape, rows);
  }

  function blocks(state, result, room) {
    const of = colors(result.x.length), wide = Math.max(result.shapeOut.at(-1), result.shapeIn.at(-1));
    const width = Math.min(44, Math.max(26, (room > 560 ? room / 2 : room) / wide - 4));
    const size = {width, height: Math.max(34, Math.min(44, width))};
    const part = (side, shades) => element("div", {},
      label(side, side === "x" ? result.shapeIn : result.shapeOut), block(result, side, shades, size));
    const drawn = element("div", {class: "blocks"}, part("x", of), element("span", {class: "arrow", "aria-hidden": "true"}, "→"),
      part("y", result.rows.map((taps) => mixed(taps, of))));
    return {drawn, links: []};
  }

  /** Draws a result into a place; says what was drawn: cells of each side, links with their o and i. */
  function arrays(place, state, result, room) {
    const flat = result.shapeIn.length === 1 && result.shapeOut.length === 1;
    const {drawn, links} = (flat ? axis : blocks)(state, result, room);
    if (!result.y.length) drawn.append(element("p", {class: "empty"}, "The result is empty."));
    place.replaceChildren(drawn);
    const cells = {x: [], y: []};
    for (const one of place.querySelectorAll(".cell")) cells[one.dataset.side].push(one);
    for (const side of ["x", "y"]) if (cells[side].length) cells[side][0].tabIndex = 0;
    return {cells, links};
  }

  return {arrays, colors, mixed, css, ink, element};
})();
