"""The page of a real release in a real browser, and what real releases gained and lost.

With ``EAGLE3_LINT_TESTS_SCREENSHOTS`` set to a directory, pictures of the page are left there to be looked at.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from eagle3_lint.engine.support_matrix import MatrixRequest, matrix
from eagle3_lint.output.matrix import render
from eagle3_lint.sources.tree import SourceTree
from tests.output.chromium import Browser, chromium

Releases = Callable[[str], SourceTree]
MOST_BYTES = 1_500_000
PHONE, DESKTOP = (390, 844), (1280, 900)
WRAPPER = "PixtralForConditionalGeneration"
SCREENSHOTS_VARIABLE = "EAGLE3_LINT_TESTS_SCREENSHOTS"


@pytest.fixture(scope="module")
def page(release: Releases, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of 0.5.23, compared with 0.5.9."""
    request = MatrixRequest(
        path=release("0.5.23").root, against=release("0.5.9").root, cache=False, named=True, detailed=True
    )
    file = tmp_path_factory.mktemp("page") / "matrix.html"
    file.write_text("".join(render(matrix(request), "html")), encoding="utf-8")
    return file


def count(browser: Browser) -> int:
    """How many classes the page shows."""
    shown: int = browser.run(
        "return [...document.querySelectorAll('.entry')].filter(one => one.offsetParent !== null).length"
    )
    return shown


@pytest.mark.release
def test_the_page_is_small(page: Path) -> None:
    assert page.stat().st_size < MOST_BYTES


@pytest.mark.release
def test_filter_sort_and_open(page: Path) -> None:
    with chromium() as browser:
        browser.resize(*DESKTOP)
        browser.requests()
        browser.open(page)
        everything = count(browser)
        assert everything > 250
        browser.keys("#text", "pixtral")
        assert 0 < count(browser) < 10
        browser.click("button[type=reset]")
        browser.click("[name=state][value=missing]")
        missing = count(browser)
        told = browser.run("return [...document.querySelectorAll('.card dd')].map(one => +one.textContent)[0]")
        assert 20 < missing == told
        browser.click("[data-key=name] button")
        browser.click("[data-key=name] button")
        names = browser.run("return [...document.querySelectorAll('.entry')].map(one => one.id.toLowerCase())")
        assert names == sorted(names, reverse=True)
        browser.click(f"#{WRAPPER} > summary")
        for part in ("svg", ".patch", ".ev"):
            assert browser.is_shown(f"#{WRAPPER} {part}")
        assert browser.complaints() == []
        assert {url for url in browser.requests() if not url.startswith(("data:", "about:"))} == {page.as_uri()}


@pytest.mark.release
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_sizes_and_colours(page: Path, size: tuple[int, int], scheme: str, tmp_path: Path) -> None:
    folder = Path(os.environ.get(SCREENSHOTS_VARIABLE) or tmp_path)
    with chromium() as browser:
        browser.resize(*size, scheme)
        browser.open(page)
        browser.look(*size, scheme, folder / f"{size[0]}-{scheme}-top.png")
        browser.open(page, f"#{WRAPPER}")
        browser.look(*size, scheme, folder / f"{size[0]}-{scheme}-class.png")
        width = browser.run("return document.documentElement.scrollWidth")
        assert width <= size[0], "the page scrolls sideways"
        assert contrast_of(browser) >= 4.5
        overlapping = browser.run(
            "const texts = [...document.querySelectorAll(arguments[0])].map(one => one.getBoundingClientRect());"
            "return texts.filter((a, i) => texts.some((b, j) => i < j && a.left < b.right - 1 && b.left < a.right - 1"
            " && a.top < b.bottom - 3 && b.top < a.bottom - 3)).length",
            f"#{WRAPPER} .pic text",
        )
        assert overlapping == 0
    assert (folder / f"{size[0]}-{scheme}-class.png").stat().st_size > 10_000


def contrast_of(browser: Browser) -> float:
    """The weakest contrast of a state's name with what is behind it (https://www.w3.org/TR/WCAG22/#contrast-minimum)."""
    script = """
    const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
    const behind = (one) => {
      for (; one; one = one.parentElement) {
        const color = numbers(getComputedStyle(one).backgroundColor);
        if (color.length < 4 || color[3] === 1) return color;
      }
      return [255, 255, 255];
    };
    const part = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    const light = (c) => 0.2126 * part(c[0]) + 0.7152 * part(c[1]) + 0.0722 * part(c[2]);
    return Math.min(...[...document.querySelectorAll(".card .c, .lead, .eyebrow, .card dd")].map((one) => {
      const pair = [light(numbers(getComputedStyle(one).color)), light(behind(one))].sort((a, b) => b - a);
      return (pair[0] + 0.05) / (pair[1] + 0.05);
    }));
    """
    weakest: float = browser.run(script)
    return weakest


@pytest.mark.release
@pytest.mark.parametrize(
    ("before", "after", "name", "expected"),
    [
        ("0.5.3", "0.5.6.post2", "Glm4vForConditionalGeneration", ("inherited", "unsupported", "lost")),
        ("0.5.3", "0.5.6.post2", "Glm4MoeForCausalLM", ("unsupported", "own", "gained")),
        ("0.5.9", "0.5.10", "KimiK25ForConditionalGeneration", ("missing", "delegated", "gained")),
    ],
)
def test_gained_and_lost(before: str, after: str, name: str, expected: tuple[str, str, str], release: Releases) -> None:
    found = matrix(MatrixRequest(path=release(after).root, against=release(before).root, cache=False))
    told = [
        (one["before"], one["after"], one["kind"])
        for one in found["against"]["changes"]
        if one["class"].endswith(f".{name}") and one["protocol"] == "eagle3"
    ]
    assert told == [expected]
    if expected[2] == "lost":
        text = "".join(render(found, "text"))
        regressions = text[text.index("Regressions: the class lost the interface:") :].split(":\n")[1]
        assert name in regressions
