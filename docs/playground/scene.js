"use strict";
// A small picture, and its sizes in every mode.

const Scene = (() => {
  const WIDTH = 64, HEIGHT = 48;
  // "tenter", three pixels wide and five high a letter.
  const LETTERS = ["111010010010011", "000111101100111", "000110101101101", "111010010010011", "000111101100111",
    "000101110100100"];

  /** What tells modes apart: a smooth sky, a round sun, slopes, ripples that get finer, thin letters. */
  function color(x, y) {
    const sun = Math.hypot(x - 47, y - 13), slope = Math.max(30 - 1.1 * Math.abs(x - 18), 20 - 0.8 * Math.abs(x - 36));
    const letter = Math.floor((x - 4) / 4), column = (x - 4) % 4, line = y - 4;
    if (x >= 4 && letter < 6 && column < 3 && line >= 0 && line < 5 && LETTERS[letter][line * 3 + column] === "1")
      return [20, 24, 40];
    if (y >= 34) {
      const phase = (x * x) / 46 + (y - 34) * 0.9, bright = Math.sin(phase) > 0 ? 1 : 0;
      return [28 + 190 * bright, 78 + 150 * bright, 130 + 105 * bright];
    }
    if (34 - y < slope) return 34 - y > slope - 4 && slope > 22 - 0.4 * x ? [245, 247, 250] : [58 + x, 66, 96];
    if (sun < 8) return [255, 209, 82];
    return [250 - 2.6 * (34 - y), 214 - 1.4 * (34 - y), 186 + 1.6 * (34 - y)];
  }

  /** Rows of pixels of three numbers, 0 to 255, one after the other. */
  function pixels() {
    const all = new Float64Array(WIDTH * HEIGHT * 3);
    for (let y = 0; y < HEIGHT; ++y)
      for (let x = 0; x < WIDTH; ++x) all.set(color(x, y).map(Math.round), (y * WIDTH + x) * 3);
    return all;
  }

  /** tenter.resize(picture, (height, width), axes=(0, 1), mode=mode, antialias=antialias), in float64. For small images
   * PyTorch has a separate kernel for nearest modes, which takes the same pixels at this image's sizes. */
  function resized(from, height, width, mode, antialias) {
    const across = Maps.resized(WIDTH, width, mode, {antialias});
    const down = Maps.resized(HEIGHT, height, mode, {antialias});
    const wide = new Float64Array(HEIGHT * width * 3), all = new Float64Array(height * width * 3);
    for (let y = 0; y < HEIGHT; ++y)
      across.rows.forEach((row, o) => row.forEach(({i, w}) => {
        for (let c = 0; c < 3; ++c) wide[(y * width + o) * 3 + c] += w * from[(y * WIDTH + i) * 3 + c];
      }));
    down.rows.forEach((row, o) => row.forEach(({i, w}) => {
      for (let k = 0; k < width * 3; ++k) all[o * width * 3 + k] += w * wide[i * width * 3 + k];
    }));
    return all;
  }

  const heightOf = (width) => Math.max(1, Math.round((width * HEIGHT) / WIDTH));
  return {WIDTH, HEIGHT, pixels, resized, heightOf};
})();
