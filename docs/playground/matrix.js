"use strict";
// The map of each dim as its matrix: a row for each output, a column for each input, in the inputs' colors.

const Matrix = (() => {
  const {element, css, ink} = Draw;
  const EDGE = 22;

  /** One matrix; returns its picture and the marks of the row and the column that are looked at. */
  function picture(map, shades, room, tall) {
    const {nIn, nOut, rows} = map;
    const size = Math.max(7, Math.min(34, (room - EDGE) / nIn, tall / nOut));
    const width = EDGE + nIn * size, height = EDGE + nOut * size;
    const svg = element("svg", {
      width, height, viewBox: `0 0 ${width} ${height}`, role: "img", class: "matrix", "aria-label":
        `Matrix of ${nOut} rows, one per output, and ${nIn} columns, one per input, with ` +
        `${rows.reduce((n, row) => n + row.length, 0)} weights`,
    });
    let lines = "";
    for (let i = 0; i <= nIn; ++i) lines += `M${EDGE + i * size} ${EDGE}v${nOut * size}`;
    for (let o = 0; o <= nOut; ++o) lines += `M${EDGE} ${EDGE + o * size}h${nIn * size}`;
    svg.append(element("path", {d: lines, class: "lines"}));
    const every = Math.ceil(12 / size);
    for (let i = 0; i < nIn; i += every)
      svg.append(element("text", {x: EDGE + (i + 0.5) * size, y: EDGE - 6, class: "head"}, `${i}`));
    for (let o = 0; o < nOut; o += every)
      svg.append(element("text", {x: EDGE - 9, y: EDGE + (o + 0.5) * size + 4, class: "head"}, `${o}`));
    rows.forEach((row, o) => row.forEach(({i, w}) => {
      if (Math.abs(w) < 1e-9) return;
      const x = EDGE + i * size, y = EDGE + o * size, strength = Math.min(1, 0.12 + 0.88 * Math.abs(w));
      const entry = element("rect", {
        x: x + 1, y: y + 1, width: size - 2, height: size - 2, fill: css(shades[i]), "fill-opacity": strength.toFixed(3),
      });
      if (w < 0) for (const [name, value] of [["fill", "none"], ["stroke", css(shades[i])], ["stroke-dasharray", "3 2"]])
        entry.setAttribute(name, value);
      svg.append(entry);
      if (size < 26) return;
      const on = w > 0 && strength > 0.6 ? ink(shades[i]) : "currentColor";
      svg.append(element("text", {x: x + size / 2, y: y + size / 2 + 4, class: "weight", fill: on}, Words.short(w)));
    }));
    const row = element("rect", {class: "mark", x: 1, width: width - 2, height: size, visibility: "hidden"});
    const column = element("rect", {class: "mark", y: 1, width: size, height: height - 2, visibility: "hidden"});
    svg.append(row, column);
    return {svg, row, column, size};
  }

  /** Draws the matrices of a result; look(side, k) is called where the pointer is on a row of the only one. Returns a
   * function that marks a cell's row or column, or none. */
  function draw(place, result, room, look) {
    const shades = Draw.colors(result.x.length), pictures = [];
    const changes = result.maps.map((map, d) => d).filter((d) => {
      const {nIn, nOut, rows} = result.maps[d];
      return nIn !== nOut || rows.some((row, o) => row.length !== 1 || row[0].i !== o || row[0].w !== 1);
    });
    const dims = changes.length ? changes : [result.maps.length - 1];
    const alone = result.maps.length === 1;
    place.replaceChildren(...dims.map((d) => {
      const map = result.maps[d];
      // Along one of several dims an input is many cells, of no one color.
      const of = map.nIn === result.x.length ? shades : Array(map.nIn).fill([100, 116, 139]);
      const made = picture(map, of, room / (dims.length > 1 && room > 300 ? 2 : 1), 330);
      pictures.push({...made, d});
      if (alone) {
        made.svg.addEventListener("pointermove", ({offsetX, offsetY}) => {
          const o = Math.floor((offsetY - EDGE) / made.size), i = Math.floor((offsetX - EDGE) / made.size);
          if (o >= 0 && o < map.nOut && i < map.nIn) look("y", o);
          else if (o < 0 && i >= 0 && i < map.nIn) look("x", i);
        });
        made.svg.addEventListener("pointerleave", () => look(null, 0));
      }
      const words = alone ? "The matrix A of y = A x: a row for each output, a column for each input" : `The matrix along dim ${d}${result.from.length > result.shapeIn.length &&
        d < result.from.length - result.shapeIn.length ? " (new)" : ""}`;
      return element("figure", {}, made.svg, element("figcaption", {}, words));
    }));
    return (side, k) => {
      for (const {row, column, size, d} of pictures) {
        row.setAttribute("visibility", side === "y" ? "visible" : "hidden");
        column.setAttribute("visibility", side === "x" ? "visible" : "hidden");
        if (side === "y") row.setAttribute("y", EDGE + Calls.place(k, result.shapeOut)[d] * size);
        if (side === "x") column.setAttribute("x", EDGE + Calls.place(k, result.from)[d] * size);
      }
    };
  }

  return {draw};
})();
