"""The playground's page in a headless Chromium, as fixtures."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import playground_helpers as playground
from program_helpers import of_this_machine


def build() -> Any:
    spec = importlib.util.spec_from_file_location("playground_build", playground.FOLDER / "build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    with sync_api.sync_playwright() as driver:
        found = driver.chromium.executable_path
        if not Path(found).exists():  # `playwright install chromium` makes it
            names = ("chromium", "chromium-browser", "google-chrome")
            found = of_this_machine(names, "--version", r"^(Chromium|Google Chrome) \d+\.")
        try:
            started = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        except sync_api.Error as error:
            pytest.skip(f"{found} does not start: {error.message.splitlines()[0]}")
        yield started
        started.close()


@pytest.fixture(scope="module")
def context(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str, list[str]]]:
    """A context, the page's address, and what pages complained of or asked for. One context, as each takes a second."""
    out = tmp_path_factory.mktemp("playground") / "page.html"
    out.write_text(build().page(), "utf-8")
    address, complaints = out.as_uri(), []
    made = browser.new_context(has_touch=True, permissions=["clipboard-read", "clipboard-write"])
    made.set_default_timeout(10_000)
    made.on("console", lambda message: complaints.append(f"console: {message.text}"))
    made.on("weberror", lambda error: complaints.append(f"error: {error.error}"))
    made.on("request", lambda r: r.url.partition("#")[0] == address or complaints.append(f"request: {r.url}"))
    made.new_page().goto(address)
    yield made, address, complaints


@pytest.fixture
def opened(context: tuple[Any, str, list[str]]) -> Iterator[Callable[..., Any]]:
    """Shows a fragment. Afterwards the page has asked for nothing and has complained of nothing."""
    (page,) = context[0].pages

    def opening(fragment: str = "", size: tuple[int, int] = (1280, 800), **media: str) -> Any:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(**{"color_scheme": "light", "reduced_motion": "no-preference", **media})
        page.mouse.move(0, 0)
        show(page, fragment)
        return page

    yield opening
    assert not context[2]


def wait_for_address(page: Any, *parts: str) -> None:
    """The address follows the page a moment later."""
    page.wait_for_function("(parts) => parts.every((part) => location.hash.includes(part))", arg=list(parts))


def show(page: Any, fragment: str) -> None:
    page.evaluate(
        """(fragment) => new Promise((shown) => {
            document.activeElement.blur();
            scrollTo(0, 0);
            history.replaceState(null, "", "#before");
            addEventListener("hashchange", () => shown(), {once: true});
            location.hash = fragment;
        })""",
        fragment,
    )
