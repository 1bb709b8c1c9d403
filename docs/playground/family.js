"use strict";
// repeat_interleave, repeat, tile and expand of one small array, side by side.

const Family = (() => {
  const {element} = Draw;
  const X = {rows: 2, cols: 2};
  // Each opens above; a refusal shows what the call would have needed.
  const PANELS = [
    {op: "repeat_interleave", repeats: "2", dim: "0", says: "each row twice"},
    {op: "repeat_interleave", repeats: "2", dim: "1", says: "each column twice"},
    {op: "repeat_interleave", repeats: "2", dim: "none", says: "no dim: flattened, then each element twice"},
    {op: "repeat_interleave", repeats: "1, 3", dim: "0", says: "a count for each row"},
    {op: "tile", sizes: "2", says: "the whole array twice, across"},
    {op: "repeat", sizes: "2, 2", says: "the whole array, 2 down and 2 across"},
    {op: "expand", to: "2, 2, 2", says: "a new dim in front; a view, no copy"},
    {op: "repeat", sizes: "2", says: "refused"},
  ];

  /** A small array without names, for looking at. */
  function small(result, side) {
    const shape = side === "x" ? result.shapeIn : result.shapeOut, cols = shape.at(-1);
    const of = Draw.colors(result.x.length);
    const cells = result[side].map((value, k) => {
      const color = side === "x" ? of[k] : of[result.rows[k][0].i];
      const made = element("span", {class: side === "y" && result.view ? "mini hollow" : "mini"}, `${value}`);
      made.style.setProperty("--fill", Draw.css(color));
      made.style.setProperty("--ink", Draw.ink(color));
      const page = cols * shape.at(-2);
      if (shape.length > 2 && k >= page && k % page < cols) made.classList.add("page");
      return made;
    });
    const made = element("span", {class: "minis", "aria-hidden": "true"}, ...cells);
    made.style.gridTemplateColumns = `repeat(${cols}, auto)`;
    return made;
  }

  function rows(result) {
    const {shapeOut, y} = result, cols = shapeOut.at(-1);
    return Maps.range(y.length / cols).map((r) => y.slice(r * cols, (r + 1) * cols).join(" ")).join("; ");
  }

  /** Draws the panels; open(changes) is called where one is chosen. */
  function draw(place, open) {
    const base = {...State.usual(), ...X};
    const first = Calls.of({...base, op: "repeat", sizes: "1, 1"});
    const source = element("div", {class: "panel source"}, element("code", {}, "x"), small(first, "x"),
      element("span", {}, "a 2 × 2 array"));
    place.replaceChildren(source, ...PANELS.map(({says, ...changes}) => {
      const state = {...base, ...changes}, result = Calls.of(state);
      const shown = result.error ? element("span", {class: "refusal"}, result.error) : small(result, "y");
      const panel = element("button", {type: "button", class: "panel"},
        element("code", {}, Code.call(state).replace("tenter.", "")), shown, element("span", {}, says));
      if (!result.error) panel.setAttribute("aria-label", `${Code.call(state)}: ${says}: ${rows(result)}. Show above.`);
      panel.addEventListener("click", () => open({...X, ...changes}));
      return panel;
    }));
  }

  return {draw};
})();
