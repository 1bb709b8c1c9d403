"use strict";
// The page: one state, drawn anew after every change; the cell that is looked at; the address; the theme.

(() => {
  const at = (id) => document.getElementById(id);
  const {element} = Draw;
  const HINT = "Point at an output to see the inputs that it comes from, or at an input to see the outputs that its gradient is summed from.";
  let {state, refused} = State.parse(location.hash);
  let result = null, drawn = null, mark = () => {};
  let pinned = null; // the cell that was tapped

  // ---- the cell that is looked at

  function light(side, k) {
    const {cells, links} = drawn;
    const on = side !== null;
    at("drawing").classList.toggle("looking", on);
    for (const one of [...cells.x, ...cells.y]) {
      one.classList.remove("on", "at");
      one.lastChild.textContent = "";
    }
    for (const {o, i, path} of links) path.classList.toggle("on", on && (side === "y" ? o : i) === k);
    mark(side, k);
    const says = on ? Words.source(result, side, k) : HINT;
    at("says").classList.toggle("quiet", !on);
    if (at("says").textContent !== says) at("says").textContent = says;
    if (!on) return;
    cells[side][k].classList.add("at");
    const taps = (side === "y" ? result.rows : result.columns)[k], other = cells[side === "y" ? "x" : "y"];
    for (const {i, w} of taps) {
      other[i].classList.add("on");
      other[i].lastChild.textContent = `× ${Words.short(w)}`;
    }
  }
  const rest = () => (pinned ? light(...pinned) : light(null, 0));
  const cellOf = (event) => {
    const found = event.target.closest?.(".cell");
    return found ? [found.dataset.side, Number(found.dataset.k)] : null;
  };

  /** Where an arrow key leads from a cell, in an array of some columns. */
  function neighbor(key, k, n, cols) {
    const row = Math.floor(k / cols) * cols;
    const to = {ArrowLeft: k - 1, ArrowRight: k + 1, ArrowUp: k - cols, ArrowDown: k + cols, Home: row,
      End: row + cols - 1}[key];
    return to === undefined ? null : Math.min(n - 1, Math.max(0, to < 0 || to >= n ? k : to));
  }

  function watchCells(place) {
    place.addEventListener("pointerover", (event) => {
      const found = cellOf(event);
      if (found) light(...found);
    });
    place.addEventListener("pointerleave", rest);
    place.addEventListener("focusin", (event) => {
      const found = cellOf(event);
      if (!found) return;
      for (const one of drawn.cells[found[0]]) one.tabIndex = Number(one.dataset.k) === found[1] ? 0 : -1;
      light(...found);
    });
    place.addEventListener("focusout", rest);
    place.addEventListener("click", (event) => {
      const found = cellOf(event);
      pinned = found && `${found}` !== `${pinned}` ? found : null;
      rest();
    });
    place.addEventListener("keydown", (event) => {
      const found = cellOf(event);
      if (event.key === "Escape") {
        pinned = null;
        rest();
      }
      if (!found) return;
      const [side, k] = found, shape = side === "x" ? result.shapeIn : result.shapeOut;
      const to = neighbor(event.key, k, drawn.cells[side].length, shape.at(-1));
      if (to === null) return;
      event.preventDefault();
      drawn.cells[side][to].focus();
    });
  }

  // ---- drawing

  function code() {
    const rows = result.error ? [] : Code.rows(state, result);
    at("setup").textContent = Code.setup(result);
    at("codes").replaceChildren(...rows.map(([library, text]) => {
      const row = element("tr", {}, element("th", {scope: "row"}, library));
      if (text === null) {
        row.append(element("td", {class: "none", colspan: 2}, "has no call for this"));
        return row;
      }
      const copy = element("button", {type: "button", class: "copy", "aria-label": `Copy the code for ${library}`}, "Copy");
      copy.addEventListener("click", () => copied(copy, text));
      row.append(element("td", {}, element("code", {}, text)), element("td", {}, copy));
      return row;
    }));
  }

  async function copied(button, text) {
    const before = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Refused";
    }
    setTimeout(() => (button.textContent = before), 1500);
  }

  function drawing() {
    at("error").hidden = !result.error;
    at("error").textContent = result.error ? [result.kind, result.error].filter(Boolean).join(": ") : "";
    for (const id of ["drawing", "matrices", "says", "code"]) at(id).hidden = !!result.error;
    at("sentence").textContent = result.error ? (result.kind ? "tenter refuses this call:" : "Not drawn:") : Words.sentence(state, result);
    if (result.error) return;
    drawn = Draw.arrays(at("drawing"), state, result, at("drawing").clientWidth - 4);
    mark = Matrix.draw(at("matrices"), result, at("matrices").clientWidth - 4, (side, k) => {
      if (side) light(side, k);
      else rest();
    });
    rest();
  }

  function draw() {
    result = Calls.of(state);
    pinned = null;
    document.querySelector(`input[name="op"][value="${state.op}"]`).checked = true;
    at("call").textContent = Code.call(state);
    Controls.draw(at("settings"), State.USED[state.op], state, change);
    drawing();
    code();
    at("refused").hidden = !refused.length;
    at("refused").textContent = refused.length ? `From the address, not used: ${refused.join("; ")}.` : "";
  }

  function change(name, value, problem) {
    if (value === undefined) { // typed numbers that are none
      result = {...result, error: problem, kind: ""};
      drawing();
      return;
    }
    state = State.changed(state, name, value);
    refused = [];
    draw();
    keep();
  }

  // The address follows a moment later: browsers refuse it where a slider that is dragged changes it too often.
  let later = 0;
  function keep() {
    clearTimeout(later);
    later = setTimeout(write, 120);
  }
  function write() {
    clearTimeout(later);
    history.replaceState(null, "", `#${State.written(state)}`);
  }

  function changePicture(name, value) {
    state = {...state, [name]: value};
    drawPicture();
    keep();
  }
  function drawPicture() {
    Controls.draw(at("picture-settings"), ["width", "blur", "zoom"], state, changePicture);
    Picture.draw(at("pictures"), state);
    at("picture-call").textContent = Picture.call(state, "linear");
  }

  // ---- the theme: the system's, or the one that was chosen

  function theme(chosen) {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
    if (chosen) root.dataset.theme = chosen;
    const is = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
    at("theme").textContent = is ? "Light" : "Dark";
    at("theme").setAttribute("aria-label", `Use ${is ? "light" : "dark"} colors`);
    return is;
  }

  // ---- start

  document.querySelectorAll('input[name="op"]').forEach((input) =>
    input.addEventListener("change", () => change("op", input.value)));
  at("theme").addEventListener("click", () => theme(theme() ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme());
  addEventListener("hashchange", () => {
    clearTimeout(later);
    ({state, refused} = State.parse(location.hash));
    draw();
    drawPicture();
  });
  at("link").addEventListener("click", () => {
    write();
    copied(at("link"), location.href);
  });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    if (!result.error) drawing();
  });
  watchCells(at("drawing"));
  Picture.movable(at("pictures"));
  Family.draw(at("family"), (changes) => {
    state = {...state, ...changes};
    refused = [];
    draw();
    keep();
    at("stage").scrollIntoView();
    at("call").focus();
  });
  theme();
  draw();
  drawPicture();
})();
