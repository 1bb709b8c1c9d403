"use strict";
// The small picture in each mode, all at one size, with one zoom.

const Picture = (() => {
  const {element} = Draw;
  const MODES = {
    nearest: "copies; left edges", "nearest-exact": "copies; centers", linear: "mixes 2 × 2", cubic: "mixes 4 × 4",
    lanczos3: "mixes 6 × 6", area: "means",
  };
  const original = Scene.pixels();
  const view = {x: 0.2, y: 0.2, zoom: 1}; // the middle of what is seen, as parts of the picture
  const shown = []; // {canvas, pixels}

  /** Pixels as a canvas of equal size; values out of range are clipped, as in an 8-bit image. */
  function canvasOf(pixels, height, width) {
    const canvas = element("canvas", {width, height}), image = new ImageData(width, height);
    for (let k = 0; k < width * height; ++k) {
      for (let c = 0; c < 3; ++c) image.data[k * 4 + c] = pixels[k * 3 + c];
      image.data[k * 4 + 3] = 255;
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    return canvas;
  }

  function paint() {
    const half = 0.5 / view.zoom;
    view.x = Math.min(1 - half, Math.max(half, view.x));
    view.y = Math.min(1 - half, Math.max(half, view.y));
    for (const {canvas, pixels} of shown) {
      const context = canvas.getContext("2d"), {width, height} = pixels;
      context.imageSmoothingEnabled = false;
      context.drawImage(pixels, (view.x - half) * width, (view.y - half) * height, width / view.zoom,
        height / view.zoom, 0, 0, canvas.width, canvas.height);
    }
  }

  /** Lets a pointer drag and arrow keys move what is seen. */
  function movable(place) {
    let from = null;
    place.addEventListener("pointerdown", (event) => {
      if (event.target.tagName === "CANVAS") from = {x: event.clientX, y: event.clientY, width: event.target.clientWidth};
    });
    addEventListener("pointerup", () => (from = null));
    place.addEventListener("pointermove", ({clientX, clientY}) => {
      if (!from || view.zoom === 1) return;
      view.x -= (clientX - from.x) / from.width / view.zoom;
      view.y -= ((clientY - from.y) / from.width / view.zoom) * (Scene.WIDTH / Scene.HEIGHT);
      from = {...from, x: clientX, y: clientY};
      paint();
    });
    const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    place.addEventListener("keydown", (event) => {
      if (!steps[event.key] || view.zoom === 1) return;
      event.preventDefault();
      view.x += (steps[event.key][0] * 0.1) / view.zoom;
      view.y += (steps[event.key][1] * 0.1) / view.zoom;
      paint();
    });
  }

  function call({width, blur}, mode) {
    const flag = blur === "no" && !mode.startsWith("nearest") && mode !== "area" ? ", antialias=False" : "";
    return `tenter.resize(img, (${Scene.heightOf(width)}, ${width}), axes=(0, 1), mode="${mode}"${flag})`;
  }

  function draw(place, state) {
    const width = state.width, height = Scene.heightOf(width), bare = {x: Scene.WIDTH, y: Scene.HEIGHT};
    view.zoom = Number(state.zoom);
    shown.length = 0;
    const figure = (pixels, name, says, code) => {
      const canvas = element("canvas", {
        width: 4 * bare.x, height: 4 * bare.y, role: "img", "aria-label": `The picture, ${name}: ${pixels.width} by ${pixels.height}`,
      });
      shown.push({canvas, pixels});
      const caption = element("figcaption", {}, element("b", {}, name), ` ${says}`);
      const made = element("figure", {}, canvas, caption);
      if (code) made.title = code;
      return made;
    };
    place.replaceChildren(
      figure(canvasOf(original, bare.y, bare.x), "img", `the input, ${bare.x} × ${bare.y}`),
      ...Object.entries(MODES).map(([mode, says]) =>
        figure(canvasOf(Scene.resized(original, height, width, mode, state.blur === "yes"), height, width), mode, says,
          call(state, mode))),
    );
    paint();
  }

  return {draw, movable, call};
})();
