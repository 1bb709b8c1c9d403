"use strict";
// The settings: chips, sliders and a field for numbers, built from State.FIELDS.

const Controls = (() => {
  const {element} = Draw;
  const TITLES = {
    rows: "x is", cols: "length of x", dim: "dim", repeats: "repeats", sizes: "sizes", to: "sizes", n: "inputs",
    out: "outputs", mode: "mode", corners: "align_corners", antialias: "antialias", like: "like", align: "align",
    width: "width of the result", blur: "antialias", zoom: "zoom",
  };
  const YES = {yes: "True", no: "False"};
  const NAMES = {
    rows: {0: "1-D", 1: "1 row", 2: "2 rows", 3: "3 rows", 4: "4 rows"}, dim: {none: "None"}, corners: YES,
    antialias: {...YES, auto: "as like"}, align: {auto: "as like"}, blur: YES,
    zoom: {1: "1×", 2: "2×", 4: "4×", 8: "8×"},
  };

  /** The words of a field that a state can have. */
  function words(name, state) {
    const filtered = !state.mode.startsWith("nearest") && state.mode !== "area", resize = state.op === "resize";
    if (name === "mode") return State.modes(state);
    if (name === "rows") return ["0", "1", "2", "3", "4"];
    if (name === "dim") return state.rows ? ["none", "0", "1"] : ["none", "0"];
    if (name === "corners") return filtered && state.mode !== "lanczos3" ? ["no", "yes"] : ["no"];
    if (name === "antialias" && resize) return filtered ? ["auto", "yes", "no"] : ["auto"];
    if (name === "antialias") return state.mode === "lanczos3" ? ["yes"] : filtered ? ["no", "yes"] : ["no"];
    return State.FIELDS[name].words;
  }
  function value(name, state) {
    if (name === "antialias" && state.op === "interpolate") return Calls.options(state).antialias ? "yes" : "no";
    const found = `${state[name]}`, can = words(name, state);
    return can && !can.includes(found) ? can[0] : found;
  }

  function chips(name, state, change) {
    const made = element("fieldset", {class: "field", "data-field": name}, element("legend", {}, TITLES[name]));
    const chosen = value(name, state);
    for (const word of words(name, state)) {
      const input = element("input", {type: "radio", name, value: word});
      input.checked = word === chosen;
      input.addEventListener("change", () => change(name, State.FIELDS[name].words ? word : Number(word)));
      const label = name === "mode" && word === "lanczos3" && state.op === "interpolate" ? "lanczos" : NAMES[name]?.[word];
      made.append(element("label", {class: "chip"}, input, element("span", {}, label ?? word)));
    }
    return made;
  }

  function slider(name, state, change) {
    const {least, most} = State.FIELDS[name];
    const title = name === "cols" && state.rows ? "columns of x" : TITLES[name];
    const shown = element("b", {class: "shown"}, `${state[name]}`);
    const input = element("input", {type: "range", min: least, max: most, step: 1, name, value: state[name],
      "aria-label": title});
    input.addEventListener("input", () => change(name, Number(input.value)));
    return element("label", {class: "field", "data-field": name},
      element("span", {class: "title"}, `${title} `, shown), input);
  }

  /** Numbers to choose from; others can be typed. */
  function suggestions(name, state) {
    const dims = State.shape(state), n = dims.length;
    if (name === "sizes") return n === 1 ? ["2", "3", "2, 2"] : ["2", "2, 1", "2, 2", "2, 1, 2"];
    if (name === "to") return [[2, ...dims].join(", "), [3, ...dims].join(", "), [2, 2, ...dims].slice(-3).join(", ")]
      .filter((text, k, all) => all.indexOf(text) === k);
    const counted = state.dim === "none" ? dims.reduce((a, b) => a * b) : dims[Number(state.dim)];
    const counts = Maps.range(counted).map((k) => [1, 3, 2, 0][k % 4]).join(", ");
    return counted > 1 ? ["2", "3", counts] : ["2", "3"];
  }

  function numbers(name, state, change) {
    const input = element("input", {type: "text", inputmode: "text", name, value: state[name], autocomplete: "off",
      spellcheck: "false", size: Math.max(6, state[name].length)});
    input.addEventListener("input", () => {
      const read = State.read(name, input.value);
      input.setAttribute("aria-invalid", read === undefined ? "true" : "false");
      if (read !== undefined) change(name, read);
    });
    input.addEventListener("change", () => { // typed to its end
      if (State.read(name, input.value) === undefined)
        change(name, undefined, `${TITLES[name]}: expected ${State.expected(name)}, got ${JSON.stringify(input.value)}`);
    });
    const quick = suggestions(name, state).map((text) => {
      const button = element("button", {type: "button", class: "quick"}, text);
      button.addEventListener("click", () => change(name, text));
      return button;
    });
    return element("div", {class: "field", "data-field": name},
      element("label", {}, element("span", {class: "title"}, TITLES[name]), input),
      element("span", {class: "quicks", role: "group", "aria-label": `${TITLES[name]}, suggestions`}, ...quick));
  }

  const make = (name, state, change) => {
    const {words: listed, numbers: typed} = State.FIELDS[name];
    if (typed) return numbers(name, state, change);
    return listed || name === "rows" ? chips(name, state, change) : slider(name, state, change);
  };

  /** Makes the controls of some fields anew. One that is typed in or dragged stays, and the focus where it was. */
  function draw(place, all, state, change) {
    const names = all.filter((name) => (words(name, state)?.length ?? 2) > 1); // there is something to choose
    const focus = place.contains(document.activeElement) ? document.activeElement : null;
    const of = focus?.closest("[data-field]").dataset.field;
    const busy = focus?.type === "text" || focus?.type === "range";
    const old = [...place.children];
    if (old.length !== names.length || old.some((field, k) => field.dataset.field !== names[k]))
      place.replaceChildren(...names.map((name) => make(name, state, change)));
    else for (const field of old) {
      const name = field.dataset.field;
      if (!busy || name !== of) field.replaceWith(make(name, state, change));
      else if (focus.type === "range") field.querySelector(".shown").textContent = state[name];
    }
    if (!focus || busy) return;
    const chosen = focus.type === "radio" ? "input:checked" : "input";
    place.querySelector(`[data-field="${of}"] ${chosen}`)?.focus();
  }

  return {draw};
})();
