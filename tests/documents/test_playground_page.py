"""The playground as a page, in a headless Chromium: pointing, keys, taps, sharing, colors, a narrow screen."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import playground_helpers as playground
import tenter
from playground_browser import browser, build, context, opened, show, wait_for_address  # noqa: F401
from tenter import maps

# One browser, where groups are told apart, which takes seconds to start.
pytestmark = [pytest.mark.xdist_group("playground"), pytest.mark.slow]
# What lights up where the pointer comes to each cell of a side.
LIT = """(side) => [...document.querySelectorAll(`.cell[data-side="${side}"]`)].map((cell) => {
    cell.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
    return [...document.querySelectorAll(".cell.on")].map((one) => [one.dataset.side, Number(one.dataset.k),
        one.lastChild.textContent]);
})"""


def calls_by_fragment() -> dict[str, np.ndarray]:
    """The matrix of all cells of x and of y, from the library."""
    x = np.arange(6)
    flat = {
        "op=repeat_interleave&cols=3&repeats=2": maps.Copy.repeat_each(3, 2).dense(),
        "op=repeat_interleave&cols=3&repeats=1,0,2": maps.Copy.repeats([1, 0, 2]).dense(),
        "op=interpolate&n=4&out=8&mode=linear": tenter.axis_map(4, 8, "linear").dense(),
        "op=resize&n=7&out=3&mode=cubic&like=pillow": tenter.axis_map(7, 3, "cubic", like="pillow").dense(),
    }
    tiled = {
        "op=repeat_interleave&rows=2&cols=3&repeats=2&dim=1": tenter.repeat_interleave(x.reshape(2, 3), 2, dim=1),
        "op=repeat&rows=2&cols=3&sizes=2,1,2": tenter.repeat(x.reshape(2, 3), 2, 1, 2),
        "op=expand&rows=2&cols=3&to=2,-1,3": tenter.expand(x.reshape(2, 3), 2, -1, 3),
    }
    return flat | {fragment: np.eye(6)[np.ravel(y)] for fragment, y in tiled.items()}


def test_a_cell_lights_up_what_it_is_made_of_and_what_its_gradient_is_made_of(opened):
    page = opened()
    for fragment, matrix in calls_by_fragment().items():
        show(page, fragment)
        assert page.locator(".cell").count() == sum(matrix.shape)
        for side, other, weights in (("y", "x", matrix), ("x", "y", matrix.T)):
            for k, (row, lit) in enumerate(zip(weights, page.evaluate(LIT, side), strict=True)):
                assert [(a, i) for a, i, _ in lit] == [(other, i) for i in np.flatnonzero(row)], (fragment, side, k)
                shown = [
                    float(text.removeprefix("\N{MULTIPLICATION SIGN} ").replace("\N{MINUS SIGN}", "-"))
                    for _, _, text in lit
                ]
                np.testing.assert_allclose(shown, row[np.flatnonzero(row)], rtol=0, atol=0.0051)
                assert all(shown), (fragment, side, k)


def test_pointing_says_the_sum_and_marks_the_row(opened):
    page = opened("op=interpolate&n=4&out=8&mode=linear")
    hint = page.inner_text("#says")
    page.hover('.cell[data-side="y"][data-k="2"]')
    assert page.inner_text("#says") == "y[2] = 0.25 · x[0] + 0.75 · x[1] = 0.25 · 10 + 0.75 · 40 = 32.5"
    row, column = page.locator(".mark").all()
    assert row.get_attribute("visibility") == "visible" and column.get_attribute("visibility") == "hidden"
    assert page.locator(".links path.on").count() == 2
    page.hover('.cell[data-side="x"][data-k="1"]')
    said = "Gradient of x[1] = 0.25 · g[1] + 0.75 · g[2] + 0.75 · g[3] + 0.25 · g[4], where g is the gradient of y"
    assert page.inner_text("#says") == said and column.get_attribute("visibility") == "visible"
    page.hover("h1")
    assert page.inner_text("#says") == hint and page.locator(".looking").count() == 0
    page.locator(".matrix").hover(position={"x": 40, "y": 22 + 34 * 3 + 5})
    assert page.inner_text("#says").startswith("y[3] = ")


def test_keys_reach_everything(opened):
    page = opened("op=repeat_interleave&rows=2&cols=3&repeats=2&dim=0")
    focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.value ?? ''"
    seen = []
    for _ in range(16):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(focused))
    assert {"repeat_interleave", "Use dark colors", "2", "columns of x", "x[0, 0], 1", "y[0, 0], 1"} <= set(seen)
    assert seen.count("x[0, 0], 1") == 1 and "x[0, 1], 2" not in seen  # one stop for each array
    page.focus('.cell[data-side="y"]')
    steps = ["ArrowRight", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "End", "Home", "ArrowUp", "ArrowLeft"]
    expected = ["0, 1", "1, 1", "2, 1", "3, 1", "3, 1", "3, 2", "3, 0", "2, 0", "1, 2"]
    for key, place in zip(steps, expected, strict=True):
        page.keyboard.press(key)
        assert page.evaluate(focused).startswith(f"y[{place}], "), key
        assert page.inner_text("#says").startswith(f"y[{place}] = x[")
    for side in "xy":
        assert page.locator(f'.cell[data-side="{side}"][tabindex="0"]').count() == 1
    page.focus('input[name="op"]:checked')
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#call").startswith("tenter.repeat(")
    wait_for_address(page, "op=repeat&")
    page.focus('input[name="cols"]')
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.name") == "cols"
    wait_for_address(page, "cols=4")


def test_a_screen_reader_finds_names_and_roles(opened):
    page = opened("op=resize&n=3&out=4")
    tree = page.locator("#drawing").aria_snapshot()
    assert 'grid "x, the input, shape 3"' in tree and 'grid "y, the output, shape 4"' in tree
    assert 'gridcell "x[1], 40"' in tree and tree.count("- row") == 2
    assert page.get_attribute("#says", "aria-live") == "polite" and page.get_attribute("#error", "role") == "alert"
    whole = page.locator("body").aria_snapshot()
    for name in ('radio "interpolate', 'group "like"', 'slider "inputs"', 'button "Copy the code for PyTorch"', 'img "Matrix of 4 rows',
                 'img "The picture, lanczos3'):  # fmt: skip
        assert name in whole, name
    unnamed = page.evaluate("""[...document.querySelectorAll("button, input")].filter((one) =>
        !(one.getAttribute("aria-label") || one.innerText || one.labels?.[0]?.innerText.trim())).length""")
    assert unnamed == 0 and page.get_attribute("html", "lang") == "en"


def test_a_tap_stays_until_the_next(opened):
    page = opened("op=tile&cols=3&sizes=2", (360, 740))
    page.tap('.cell[data-side="y"][data-k="4"]')
    assert page.inner_text("#says") == "y[4] = x[1] = 2"
    page.tap("h1")
    assert page.inner_text("#says") == "y[4] = x[1] = 2"
    page.tap('.cell[data-side="x"][data-k="0"]')
    assert page.inner_text("#says").startswith("Gradient of x[0] = g[0] + g[3]")
    page.tap('.cell[data-side="x"][data-k="0"]')
    assert page.locator(".cell.on").count() == 0


def test_an_address_is_shared(opened):
    page = opened()
    chosen = {"op": "resize", "mode": "cubic", "like": "pillow", "align": "align_corners", "antialias": "no"}
    for name, value in chosen.items():
        page.locator(f'input[name="{name}"][value="{value}"] + span').click()
    page.locator('input[name="out"]').fill("5")
    call = 'tenter.resize(x, 5, mode="cubic", like="pillow", align="align_corners", antialias=False)'
    assert page.inner_text("#call") == call
    shown = [page.inner_text(f"#{part}") for part in ("drawing", "codes", "sentence", "settings")]
    wait_for_address(page, "out=5", "align=align_corners")
    page.reload()
    assert page.inner_text("#call") == call
    assert [page.inner_text(f"#{part}") for part in ("drawing", "codes", "sentence", "settings")] == shown
    show(page, "op=expand&cols=2&to=3,2")
    assert page.inner_text("#call") == "tenter.expand(x, 3, 2)" and page.locator(".cell.hollow").count() == 6


def test_a_bad_address_says_so_and_draws_what_is_usual(opened):
    page = opened("op=flip&repeats=<img src=x onerror=alert(1)>&n=1000")
    notice = page.inner_text("#refused")
    assert "op: expected one of repeat_interleave" in notice and "repeats: " in notice and "n: " in notice
    assert page.inner_text("#call") == "tenter.repeat_interleave(x, 2)" and page.locator("img").count() == 0
    page.locator('input[name="cols"]').fill("4")
    assert page.is_hidden("#refused")
    wait_for_address(page, "cols=4")


def test_refused_calls_say_what_tenter_says(opened):
    page = opened("op=repeat&rows=2&cols=2&sizes=2")
    with pytest.raises(ValueError) as raised:
        tenter.repeat(np.ones((2, 2)), 2)
    assert page.inner_text("#error") == "ValueError: " + str(raised.value).split("\n")[0]
    assert page.is_hidden("#drawing") and page.is_hidden("#code")
    page.fill('input[name="sizes"]', "2,")
    assert page.get_attribute('input[name="sizes"]', "aria-invalid") == "true"
    assert page.inner_text("#error").startswith("ValueError")  # not said while it is typed
    page.fill('input[name="sizes"]', "2, two")
    page.keyboard.press("Enter")
    assert page.inner_text("#error").startswith("sizes: expected whole numbers")
    page.fill('input[name="sizes"]', "2, 3")
    assert page.is_hidden("#error") and page.locator('.cell[data-side="y"]').count() == 24
    assert page.evaluate("document.activeElement.name") == "sizes"


def test_panels_open_above(opened):
    page = opened()
    panels = page.locator("button.panel")
    assert panels.count() == 8
    for k in (3, 6, 7):
        show(page, "op=interpolate")
        call, refused = panels.nth(k).locator("code").inner_text(), panels.nth(k).locator(".refusal").count()
        y = panels.nth(k).locator(".mini").all_inner_texts()
        panels.nth(k).click()
        assert page.inner_text("#call") == f"tenter.{call}" and page.is_visible("#error") == bool(refused)
        if not refused:
            assert page.locator('.cell[data-side="x"] b').all_inner_texts() == list("1234")
            assert page.locator('.cell[data-side="y"] b').all_inner_texts() == y


def test_pictures_follow_size_and_zoom(opened):
    page = opened()
    look = "[...document.querySelectorAll('#pictures canvas')].map((c) => c.toDataURL())"
    first = page.evaluate(look)
    assert len(first) == 7 and len(set(first)) == 7
    page.locator('input[name="blur"][value="yes"] + span').click()
    blurred = page.evaluate(look)
    assert [a == b for a, b in zip(first, blurred)] == [True, True, True, False, False, False, True]
    page.locator('input[name="zoom"][value="4"] + span').click()
    zoomed = page.evaluate(look)
    page.focus("#pictures")
    page.keyboard.press("ArrowRight")
    moved = page.evaluate(look)
    assert all(len({a, b, c}) == 3 for a, b, c in zip(blurred, zoomed, moved))
    wait_for_address(page, "blur=yes", "zoom=4")


CONTRAST = """() => {
    const parse = (text) => text.match(/[\\d.]+/g).map(Number);
    const light = (color) => {
        const [r, g, b] = color.slice(0, 3).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (one) => {
        for (; one; one = one.parentElement) {
            const color = parse(getComputedStyle(one).backgroundColor);
            if (color.length === 3 || color[3] === 1) return color;
        }
        return [255, 255, 255];
    };
    const found = [];
    for (const one of document.querySelectorAll("body *:not(svg *)")) {
        if (![...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || !one.getClientRects().length) continue;
        const [a, b] = [light(parse(getComputedStyle(one).color)), light(behind(one))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) found.push([one.tagName, one.className, one.textContent.slice(0, 20), ratio]);
    }
    return found;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_told_from_what_is_behind_it(opened, scheme):
    page = opened("op=interpolate&n=12&out=7&mode=linear", color_scheme=scheme)
    assert page.evaluate(CONTRAST) == []
    show(page, "op=repeat&rows=2&sizes=2&x=1")
    assert page.is_visible("#error") and page.is_visible("#refused")
    assert page.evaluate(CONTRAST) == []


def test_dark_follows_the_system_and_the_button(opened):
    background = "getComputedStyle(document.body).backgroundColor"
    is_light, page = opened(color_scheme="light").evaluate(background), opened(color_scheme="dark")
    is_dark = page.evaluate(background)
    assert is_light != is_dark
    page.click("#theme")
    assert page.evaluate(background) == is_light and page.inner_text("#theme") == "Dark"
    page.emulate_media(color_scheme="light")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(background) == is_light  # what was chosen stays
    page.click("#theme")
    assert page.evaluate(background) == is_dark
    page.evaluate("delete document.documentElement.dataset.theme")


NARROW = ["", "op=resize&n=24&out=48&mode=lanczos3", "op=interpolate", "op=repeat&rows=4&cols=8&sizes=2,2", "op=expand&to=2,2,3",
          "op=repeat_interleave&cols=8&repeats=1,2,3,4,5,6,7,8"]  # fmt: skip


def test_a_narrow_screen_holds_the_page_and_shows_the_drawing_first(opened):
    page = opened("", (360, 740))
    box = page.locator('.cell[data-side="y"]').last.bounding_box()
    assert box["y"] + box["height"] < 740 and box["x"] + box["width"] < 360
    for fragment in NARROW:
        show(page, fragment)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, fragment


def test_nothing_moves_where_that_is_asked_for(opened):
    page = opened(reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.querySelector('.cell')).transitionDuration") == "0s"


def test_code_is_copied(opened):
    page = opened()
    button = page.get_by_role("button", name="Copy the code for NumPy")
    button.click()
    button.get_by_text("Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "np.repeat(x, 2)"


def random_word(field: dict[str, Any], rng: np.random.Generator) -> str:
    if "numbers" in field:
        return ",".join(map(str, rng.integers(-1, 5, rng.integers(1, 5))))
    words = field.get("words") or range(field["least"], field["most"] + 1)
    return str(words[rng.integers(len(words))])


@pytest.mark.slow
def test_random_addresses_draw_without_complaint(opened):
    page = opened("", (360, 740))
    rng = np.random.default_rng(0)
    fields = page.evaluate("() => State.FIELDS")
    for _ in range(300):
        parts = [f"{name}={random_word(field, rng)}" for name, field in fields.items()]
        show(page, "&".join(parts))
        error = page.is_visible("#error")
        cells = page.locator('.cell[data-side="y"]')
        assert error or page.locator("#drawing .empty").count() or cells.count(), parts
        if not error and cells.count():
            cells.last.focus()
            assert page.inner_text("#says").startswith("y["), parts
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, parts


def test_the_page_is_one_file_that_asks_for_nothing(tmp_path):
    module = build()
    page = module.page()
    leads_away = r'src="|href="(?!#|data:,)|@import|url\(|https?://(?!www\.w3\.org/2000/svg)'
    assert page == module.page() and not re.search(leads_away, page)
    assert "default-src 'none'" in page
    for source in sorted(playground.FOLDER.glob("*.*s")):
        text = source.read_text("utf-8")
        assert text in page and len(text.splitlines()) < 350, source.name
