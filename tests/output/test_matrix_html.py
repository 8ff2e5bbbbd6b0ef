"""``matrix --format html``: one page that stands alone, and in which nothing of the sources is ever markup."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from eagle3_lint.engine.support_matrix import MatrixRequest, matrix
from eagle3_lint.frontends.cli.dispatch import dispatch
from eagle3_lint.output.matrix import render
from tests.output.chromium import ENTER, Browser, chromium
from tests.output.matrix_trees import DELEGATION, MARKUP, WRAPPER, plant, plant_hostile

VOID = {"meta", "link", "br", "input", "li"}


class Page(HTMLParser):
    """What a page consists of: every tag with its attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of each ``tag``."""
        return [attributes for name, attributes in self.tags if name == tag]


def detailed(root: Path, **options: Any) -> dict[str, Any]:
    """The matrix as the page needs it."""
    return matrix(MatrixRequest(path=str(root), cache=False, named=True, detailed=True, **options))


def page_of(found: dict[str, Any]) -> str:
    """The page."""
    return "".join(render(found, "html"))


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page of a tree with every state, compared with another."""
    root = tmp_path_factory.mktemp("tree")
    before = tmp_path_factory.mktemp("before")
    plant(root)
    earlier = plant(before)
    (earlier / "wrapper.py").write_text(WRAPPER.format(name="Wrapper", more=DELEGATION))
    (earlier / "delegating.py").write_text(WRAPPER.format(name="Delegating", more=""))
    return page_of(detailed(root, against=str(before)))


def test_the_page_stands_alone(small: str) -> None:
    page = Page(small)
    assert page.open == []
    for tag, attributes in page.tags:
        assert not [name for name in attributes if name.startswith("on") or name == "style"], tag
        for name in ("src", "srcset", "action", "data", "poster", "xlink:href"):
            assert name not in attributes, (tag, name)
        if tag == "link":
            assert attributes["href"] == "data:,"
    assert {one["href"] for one in page.all("a") if not str(one["href"]).startswith("#")} == {
        "https://github.com/eagle3-lint/eagle3-lint"
    }
    assert not re.search(r"url\((?!#)|@import", small)
    assert len(page.all("script")) == len(page.all("style")) == 1
    policy = next(one["content"] for one in page.all("meta") if "http-equiv" in one)
    assert policy is not None and policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_every_class_and_state(small: str) -> None:
    page = Page(small)
    entries = [one for one in page.all("details") if "data-words" in one]
    assert {str(one["id"]): one["data-eagle3"] for one in entries} == {
        "Able": "own",
        "Heir": "inherited",
        "Unable": "unsupported",
        "Wrapper": "missing",
        "Delegating": "delegated",
        "Forwards": "forwarded",
        "Unknown": "unknown",
        "HeirEagle3": "inherited",
    }
    assert [one["data-role"] for one in entries] == ["target"] * 7 + ["draft"]
    assert all(one["data-dflash"] in ("unsupported", "unknown") for one in entries)
    assert len(page.all("svg")) == len(entries) + 2 + 1
    assert "SGLang 9.8.7" in page.text
    assert "Regressions: the class lost the interface" in page.text
    anchors = {f"#{one['id']}" for _, one in page.tags if one.get("id")}
    assert {one["href"] for one in page.all("a") if str(one["href"]).startswith("#")} <= anchors


def test_ids_are_unique_where_names_are_not(tmp_path: Path) -> None:
    models = plant(tmp_path)
    (models / "again.py").write_text("class Heir:\n    pass\n\n\nEntryClass = Heir\n")
    page = Page(page_of(detailed(tmp_path)))
    ids = Counter(one["id"] for _, one in page.tags if "id" in one)
    assert max(ids.values()) == 1
    assert {"Heir", "Heir-2"} <= ids.keys()


def test_the_drawing(small: str) -> None:
    svg = re.search(r'id="Wrapper".*?(<svg.*?</svg>)', small, re.DOTALL)
    assert svg is not None
    drawing = Page(svg.group(1))
    assert drawing.all("svg")[0]["aria-label"] == (
        "Wrapper; Wrapper holds in self.language_model: Heir, which inherits from Able, which defines the setter"
    )
    assert [one.get("class") for one in drawing.all("rect")] == ["call", "me", None, "has"]
    assert [one["class"] for one in drawing.all("path")] == ["bad", "bad", "up"]
    width, height = (int(str(drawing.all("svg")[0][name])) for name in ("width", "height"))
    for box in drawing.all("rect"):
        assert int(str(box["x"])) >= 0 and int(str(box["x"])) + 264 <= width
        assert int(str(box["y"])) >= 0 and int(str(box["y"])) + int(str(box["height"])) <= height
    assert "not there: AttributeError" in drawing.text


def test_hostile_trees_stay_text(tmp_path: Path) -> None:
    plant_hostile(tmp_path)
    html = page_of(detailed(tmp_path))
    page = Page(html)
    assert page.open == []
    assert not page.all("img")
    assert len(page.all("script")) == 1
    assert "onerror=alert(1)" in page.text
    assert MARKUP in page.text
    assert not [one for one in html if not one.isprintable() and one != "\n"]
    assert "\\x1b[31m\\u202e" in page.text


def strings(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The paths of keys to the strings in ``value``."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from strings(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from strings(item, path)
    elif isinstance(value, str):
        yield path


def poisoned(value: Any, victim: tuple[str, ...], path: tuple[str, ...] = ()) -> Any:
    """``value`` with markup and an escape in every string at ``victim`` that says something."""
    if isinstance(value, dict):
        return {key: poisoned(item, victim, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, victim, path) for item in value]
    return f"{value}{MARKUP}\x1b[0m\x9b\u2066" if isinstance(value, str) and value and path == victim else value


def test_no_string_of_the_matrix_becomes_markup(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "before").mkdir()
    plant(tmp_path / "tree")
    earlier = plant(tmp_path / "before")
    (earlier / "wrapper.py").write_text(WRAPPER.format(name="Wrapper", more=DELEGATION))
    found = detailed(tmp_path / "tree", against=str(tmp_path / "before"))
    clean = Counter(tag for tag, _ in Page(page_of(found)).tags)
    # these words are this program's own, a closed set each
    own = {"role", "capture", "protocol", "kind", "before", "after", "state", "title", "patch_safety"}
    victims = {path for path in strings(found) if path[-1] not in own and "protocols" not in path}
    assert len(victims) > 20
    for victim in sorted(victims):
        html = page_of(poisoned(found, victim))
        page = Page(html)
        assert page.open == [], victim
        assert Counter(tag for tag, _ in page.tags) == clean, victim
        assert not [one for one in html if not one.isprintable() and one != "\n"], victim


def test_without_jinja(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    plant(tmp_path)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert dispatch(["matrix", str(tmp_path), "--format", "html", "--no-cache"]) == 2
    assert capsys.readouterr().err == (
        "eagle3-lint: error: --format html needs jinja2: python -m pip install 'eagle3-lint[html]'\n"
    )
    assert dispatch(["matrix", str(tmp_path), "--format", "markdown", "--no-cache"]) == 0


def test_on_the_command_line(tmp_path: Path) -> None:
    plant(tmp_path)
    out = tmp_path / "page.html"
    assert dispatch(["matrix", str(tmp_path), "--format", "html", "--no-cache", "--output", str(out)]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>\n<html lang=")


def shown(browser: Browser) -> list[str]:
    """The ids of the classes that the page shows, in order."""
    found: list[str] = browser.run(
        "return [...document.querySelectorAll('.entry')].filter(e => e.offsetParent !== null).map(e => e.id)"
    )
    return found


def asked_for(browser: Browser) -> set[str]:
    """The addresses that the browser asked for, save what is part of the page."""
    return {url for url in browser.requests() if not url.startswith(("data:", "about:"))}


def test_in_a_browser(small: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(small, encoding="utf-8")
    with chromium() as browser:
        browser.requests()
        browser.open(file)
        everything = ["Able", "Delegating", "Forwards", "Heir", "Unable", "Unknown", "Wrapper", "HeirEagle3"]
        assert shown(browser) == everything
        browser.keys("#text", "heir language")
        assert shown(browser) == ["Delegating", "Forwards", "Wrapper"]
        browser.click("[name=state][value=missing]")
        assert shown(browser) == ["Wrapper"]
        assert browser.run("return document.getElementById('count').textContent") == "1 of 8 classes"
        browser.click("button[type=reset]")
        browser.run("return new Promise(done => setTimeout(done, 50))")
        assert shown(browser) == everything
        browser.keys("#text", "nothing of the kind")
        assert shown(browser) == []
        assert browser.is_shown("#none")
        browser.click("button[type=reset]")
        browser.run(
            "const r = document.getElementById('role'); r.value = 'draft'; r.form.dispatchEvent(new Event('input'))"
        )
        assert shown(browser) == ["HeirEagle3"]
        browser.click("button[type=reset]")
        browser.click("[data-key=eagle3] button")
        by_state = shown(browser)
        assert by_state[0] == "Wrapper" and by_state[-1] == "Unable"
        browser.click("[data-key=eagle3] button")
        assert shown(browser)[0] == "Unable"
        assert browser.run("return document.querySelector('[data-key=eagle3]').ariaSort") == "descending"
        browser.keys("#Wrapper summary", ENTER)
        assert browser.run("return document.getElementById('Wrapper').open")
        assert browser.is_shown("#Wrapper svg")
        assert browser.is_shown("#Wrapper .patch")
        assert browser.complaints() == []
        assert asked_for(browser) == {file.as_uri()}


def test_a_link_opens_its_class(small: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(small, encoding="utf-8")
    with chromium() as browser:
        browser.open(file, "#Delegating")
        assert browser.run("return document.getElementById('Delegating').open")
        browser.click("#against a[href='#Wrapper']")
        assert browser.comes_true("return document.getElementById('Wrapper').open")


def test_with_scripts_off(small: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(small, encoding="utf-8")
    with chromium() as browser:
        browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(file)
        assert not browser.is_shown("#filter")
        assert browser.is_shown("#Wrapper summary")
        browser.keys("#Wrapper summary", ENTER)
        assert browser.is_shown("#Wrapper svg")


def test_hostile_pages_run_nothing(tmp_path: Path) -> None:
    plant_hostile(tmp_path / "tree")
    file = tmp_path / "page.html"
    file.write_text(page_of(detailed(tmp_path / "tree")), encoding="utf-8")
    with chromium() as browser:
        browser.requests()
        browser.open(file)
        browser.click("#Hostile summary")
        assert browser.run("return document.querySelectorAll('img').length") == 0
        assert browser.complaints() == []
        assert asked_for(browser) == {file.as_uri()}
