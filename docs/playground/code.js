"use strict";
// The same call in each library. A resampling call of another library is shown where its own rules give the weights
// that are drawn, which is decided by comparing the maps.
// tests/documents/test_playground_code.py runs every row and compares the results.

const Code = (() => {
  const tuple = (sizes) => (sizes.length === 1 ? `(${sizes[0]},)` : `(${sizes.join(", ")})`);
  const list = (numbers) => `[${numbers.join(", ")}]`;

  /** What x is; code of PyTorch and JAX takes torch.tensor(x) and jnp.array(x). */
  function setup({samples, shapeIn, x}) {
    if (samples) return `x = np.array(${list(x)}, np.float32)`;
    if (shapeIn.length === 1) return `x = np.array(${list(x)})`;
    const [rows, cols] = shapeIn;
    return `x = np.array(${list(Maps.range(rows).map((r) => list(x.slice(r * cols, (r + 1) * cols))))})`;
  }

  // ---- repeat_interleave, repeat, tile, expand

  const AXES = {1: ["n"], 2: ["h", "w"]};

  function interleaved(state, {shapeIn}) {
    const counts = State.numbersOf(state.repeats), one = counts.length === 1;
    const repeats = one ? `${counts[0]}` : list(counts);
    const dim = state.dim === "none" ? "" : `, dim=${state.dim}`, axis = dim.replace("dim", "axis");
    const total = one ? "" : `, total_repeat_length=${counts.reduce((a, b) => a + b, 0)}`;
    const names = AXES[shapeIn.length];
    const grown = names.map((name, d) => (`${d}` === state.dim ? `(${name} ${repeats})` : name)).join(" ");
    const right = state.dim === "none" ? `(${names.join(" ")} ${repeats})` : grown;
    return {
      tenter: `tenter.repeat_interleave(x, ${repeats}${dim})`,
      PyTorch: `torch.repeat_interleave(x, ${one ? repeats : `torch.tensor(${repeats})`}${dim})`,
      NumPy: `np.repeat(x, ${repeats}${axis})`,
      JAX: `jnp.repeat(x, ${one ? repeats : `jnp.array(${repeats})`}${axis}${total})`,
      einops: one && counts[0] > 0 ? `einops.repeat(x, "${names.join(" ")} -> ${right}")` : null,
    };
  }

  function cycled(state, {shapeIn}) {
    const given = State.numbersOf(state.sizes), n = shapeIn.length, names = AXES[n];
    const sizes = [...Array(Math.max(0, n - given.length)).fill(1), ...given];
    const one = given.length === 1 ? `${given[0]}` : tuple(given);
    const front = sizes.slice(0, -n), each = sizes.slice(-n);
    const right = [...front, ...names.map((name, d) => (each[d] === 1 ? name : `(${each[d]} ${name})`))].join(" ");
    return {
      tenter: state.op === "tile" ? `tenter.tile(x, ${one})` : `tenter.repeat(x, ${given.join(", ")})`,
      PyTorch: state.op === "tile" ? `torch.tile(x, ${tuple(given)})` : `x.repeat(${given.join(", ")})`,
      NumPy: `np.tile(x, ${one})`,
      JAX: `jnp.tile(x, ${one})`,
      einops: sizes.includes(0) ? null : `einops.repeat(x, "${names.join(" ")} -> ${right}")`,
    };
  }

  function expanded(state, {shapeIn, shapeOut}) {
    const given = State.numbersOf(state.to), n = shapeIn.length, names = AXES[n];
    const stretched = shapeIn.map((size, d) => size !== shapeOut.at(d - n));
    const left = names.map((name, d) => (stretched[d] ? "1" : name)).join(" ");
    const right = [...shapeOut.slice(0, -n), ...names.map((name, d) => (stretched[d] ? shapeOut.at(d - n) : name))];
    return {
      tenter: `tenter.expand(x, ${given.join(", ")})`,
      PyTorch: `x.expand(${given.join(", ")})`,
      NumPy: `np.broadcast_to(x, ${tuple(shapeOut)})`,
      JAX: `jnp.broadcast_to(x, ${tuple(shapeOut)})`,
      einops: shapeOut.includes(0) ? null : `einops.repeat(x, "${left} -> ${right.join(" ")}")`,
    };
  }

  // ---- interpolate, resize

  function ours({op, n, out, mode, like}, {antialias, align}) {
    if (op === "interpolate") return `tenter.${interpolated(out, mode, antialias, align)}`;
    const more = [
      `mode="${mode}"`, like === "tenter" ? "" : `like="${like}"`, align ? `align="${align}"` : "",
      antialias === null ? "" : `antialias=${antialias ? "True" : "False"}`,
    ];
    return `tenter.resize(x, ${[out, ...more.filter(Boolean)].join(", ")})`;
  }

  /** A call of interpolate: signals where the mode has them, else rows of one pixel's height. */
  function interpolated(out, mode, antialias, align, signals = true) {
    const name = {cubic: "bicubic", lanczos3: "lanczos"}[mode] ?? (signals ? mode : `bi${mode}`);
    const flags = (align ? ", align_corners=True" : "") + (antialias ? ", antialias=True" : "");
    const call = `interpolate(x[None, None${name[0] === "b" || !signals ? ", None" : ""}]`;
    if (name[0] === "b" || !signals) return `${call}, (1, ${out}), mode="${name}"${flags})[0, 0, 0]`;
    return `${call}, ${out}, mode="${name}"${flags})[0, 0]`;
  }

  // Each of these yields [code, map], the likeliest first.

  function* torch({n, out}, mode) {
    const modes = ["linear", "cubic", "nearest", "nearest-exact", "area", "lanczos3"];
    for (const m of [mode, ...modes].filter((name) => modes.includes(name))) {
      const filtered = ["linear", "cubic", "lanczos3"].includes(m);
      for (const antialias of m === "lanczos3" ? [true] : filtered ? [false, true] : [false])
        for (const align of filtered && m !== "lanczos3" ? [null, "align_corners"] : [null]) {
          // PyTorch antialiases images alone.
          const code = m === "lanczos3" ? `interpolate(x[None, None, None], (1, ${out}), mode="lanczos", antialias=True)[0, 0, 0]`
            : interpolated(out, m, antialias, align, !antialias);
          yield [`F.${code}`, Maps.resized(n, out, m, {like: "torch", antialias, align})];
        }
    }
  }

  function* numpy({n, out}, mode) {
    if (out % n === 0) yield [`np.repeat(x, ${out / n})`, Maps.every(n, out / n)];
    if (n % out === 0) yield [`x[::${n / out}]`, picked(n, out, (o) => (o * n) / out)];
    yield [`x[np.arange(${out}) * ${n} // ${out}]`, picked(n, out, (o) => Math.floor((o * n) / out))];
    yield [
      `x[(2 * np.arange(${out}) + 1) * ${n} // ${2 * out}]`,
      picked(n, out, (o) => Math.floor(((2 * o + 1) * n) / (2 * out))),
    ];
    if (n % out === 0) yield [`x.reshape(${out}, ${n / out}).mean(1)`, Maps.resized(n, out, "area")];
    yield* interp("np", n, out);
  }
  const picked = (n, out, index) => ({nIn: n, nOut: out, rows: Maps.range(out).map((o) => [{i: index(o), w: 1}])});

  function* interp(module, n, out) {
    const at = `(${module}.arange(${out}) + 0.5) * ${n} / ${out} - 0.5`;
    yield [`${module}.interp(${at}, ${module}.arange(${n}), x)`, Maps.resized(n, out, "linear", {antialias: false})];
    if (out > 1) {
      const code = `${module}.interp(${module}.linspace(0, ${n - 1}, ${out}), ${module}.arange(${n}), x)`;
      yield [code, Maps.resized(n, out, "linear", {align: "align_corners", antialias: false})];
    }
  }

  function* jax({n, out}, mode) {
    const modes = ["linear", "cubic", "lanczos3", "nearest"];
    for (const m of [mode, ...modes].filter((name) => modes.includes(name)))
      for (const antialias of m === "nearest" ? [null] : [true, false]) {
        const flag = antialias === false ? ", antialias=False" : "";
        yield [`jax.image.resize(x, (${out},), "${m}"${flag})`, Maps.resized(n, out, m, {like: "jax", antialias})];
      }
    if (out % n === 0) yield [`jnp.repeat(x, ${out / n})`, Maps.every(n, out / n)];
    yield* interp("jnp", n, out);
  }

  function* einops({n, out}) {
    if (out % n === 0) yield [`einops.repeat(x, "n -> (n ${out / n})")`, Maps.every(n, out / n)];
    if (n % out === 0) yield [`einops.reduce(x, "(n ${n / out}) -> n", "mean")`, Maps.resized(n, out, "area")];
  }

  function* pillow({n, out}) {
    const filters = {linear: "BILINEAR", cubic: "BICUBIC", lanczos3: "LANCZOS", box: "BOX", hamming: "HAMMING"};
    const code = (name) => `np.asarray(Image.fromarray(x[None]).resize((${out}, 1), Image.Resampling.${name}))[0]`;
    for (const [m, name] of Object.entries({nearest: "NEAREST", ...filters}))
      yield [code(name), Maps.resized(n, out, m, {like: "pillow"})];
  }

  function* opencv({n, out}) {
    const modes = {linear: "LINEAR", cubic: "CUBIC", nearest: "NEAREST", "nearest-exact": "NEAREST_EXACT"};
    if (out <= n) modes.area = "AREA"; // where one axis grows it does something else
    for (const [m, name] of Object.entries(modes)) {
      const code = `cv2.resize(x[None], (${out}, 1), interpolation=cv2.INTER_${name})[0]`;
      yield [code, Maps.resized(n, out, m, {like: "opencv", antialias: m === "area" ? null : false})];
    }
  }

  function* scipy({n, out}) {
    const zoom = `scipy.ndimage.zoom(x, ${out} / ${n}`, grid = `, mode="nearest", grid_mode=True)`;
    for (const [m, order] of [["linear", 1], ["nearest", 0]]) {
      yield [`${zoom}, order=${order})`, Maps.resized(n, out, m, {like: "scipy"})];
      const how = {like: "scipy", align: m === "linear" ? "half_pixel" : null};
      yield [`${zoom}, order=${order}${grid}`, Maps.resized(n, out, m === "nearest" ? "nearest-exact" : m, how)];
    }
    yield [`${zoom}, order=3, mode="mirror")`, Maps.resized(n, out, "spline3", {like: "scipy"})];
    const centered = {antialias: false};
    yield [`${zoom}, order=3, mode="mirror", grid_mode=True)`, Maps.resized(n, out, "spline3", centered)];
  }

  function* skimage({n, out}) {
    const code = `skimage.transform.resize(x, (${out},)`;
    const edges = `${code}, order=1, mode="edge", anti_aliasing=False)`;
    yield [edges, Maps.resized(n, out, "linear", {antialias: false})];
    yield [`${code}, order=1)`, Maps.resized(n, out, "linear", {like: "skimage"})];
    yield [`${code}, order=1, anti_aliasing=False)`, Maps.resized(n, out, "linear", {like: "skimage", antialias: false})];
    const cubic = `${code}, order=3, clip=False`;
    yield [`${cubic})`, Maps.resized(n, out, "spline3", {like: "skimage"})];
    yield [`${cubic}, anti_aliasing=False)`, Maps.resized(n, out, "spline3", {like: "skimage", antialias: false})];
    yield [`${code}, order=0, anti_aliasing=False)`, Maps.resized(n, out, "nearest", {like: "skimage"})];
  }

  const PEERS = {
    PyTorch: torch, NumPy: numpy, JAX: jax, einops, Pillow: pillow, OpenCV: opencv, SciPy: scipy, "scikit-image": skimage,
  };

  function resampled(state, {whole}) {
    const rows = {tenter: ours(state, Calls.options(state))};
    for (const [library, candidates] of Object.entries(PEERS)) {
      rows[library] = null;
      for (const [code, map] of candidates(state, state.mode))
        if (Maps.equal(map, whole)) {
          rows[library] = code;
          break;
        }
    }
    return rows;
  }

  const MAKERS = {
    repeat_interleave: interleaved, repeat: cycled, tile: cycled, expand: expanded, interpolate: resampled,
    resize: resampled,
  };

  /** The call in tenter, also where it is refused. */
  function call(state) {
    if (State.RESAMPLE.includes(state.op)) return ours(state, Calls.options(state));
    return MAKERS[state.op](state, {shapeIn: State.shape(state), shapeOut: State.numbersOf(state.to)}).tenter;
  }

  /** [library, code or null] of each library that is compared; null: it has no such call. */
  const rows = (state, result) => Object.entries(MAKERS[state.op](state, result));

  return {setup, call, rows};
})();
