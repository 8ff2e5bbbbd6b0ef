"""A real Chromium for tests, driven through chromedriver's own protocol (https://www.w3.org/TR/webdriver2/).

Both come with the Debian packages ``chromium`` and ``chromium-driver``; nothing of Python's is needed beside its library.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NEED_CHROMIUM_VARIABLE = "EAGLE3_LINT_TESTS_NEED_CHROMIUM"
ENTER, TAB, SPACE = "\ue007", "\ue004", " "
_MOST_SECONDS = 10.0
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--disable-background-networking",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)


class Browser:
    """One session of a browser."""

    def __init__(self, port: int, binary: str) -> None:
        self._port = port
        options = {"binary": binary, "args": list(_ARGUMENTS)}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}
        started = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{started['sessionId']}"

    def open(self, page: Path, fragment: str = "") -> None:
        """Load ``page`` afresh."""
        self.call("/url", {"url": "about:blank"})
        self.call("/url", {"url": page.as_uri() + fragment})

    def run(self, script: str, *arguments: Any) -> Any:
        """What ``script``, the body of a function, returns."""
        return self.call("/execute/sync", {"script": script, "args": list(arguments)})

    def comes_true(self, script: str) -> bool:
        """Whether what ``script`` returns is true before long: what follows from a click comes after it."""
        until = time.monotonic() + _MOST_SECONDS
        while time.monotonic() < until:
            if self.run(script):
                return True
            time.sleep(0.02)
        return False

    def click(self, selector: str) -> None:
        """Click on the first element of ``selector``, which has to be visible."""
        self.call(f"/element/{self._find(selector)}/click", {})

    def keys(self, selector: str, text: str) -> None:
        """Type ``text`` into the element of ``selector``."""
        self.call(f"/element/{self._find(selector)}/value", {"text": text})

    def is_shown(self, selector: str) -> bool:
        """Whether the element of ``selector`` can be seen."""
        return bool(self._send("GET", f"{self._session}/element/{self._find(selector)}/displayed", None))

    def devtools(self, command: str, **parameters: Any) -> Any:
        """Ask the browser itself (https://chromedevtools.github.io/devtools-protocol/)."""
        return self.call("/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width: int, height: int, scheme: str, path: Path) -> None:
        """A screenshot at this size, in light or dark."""
        self.resize(width, height, scheme)
        data = self._send("GET", f"{self._session}/screenshot", None)
        path.write_bytes(base64.b64decode(data))

    def resize(self, width: int, height: int, scheme: str = "light") -> None:
        """Take on the size and the colours of a device."""
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        self.devtools("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def complaints(self) -> list[str]:
        """What was written to the console since the last time."""
        return [entry["message"] for entry in self.call("/se/log", {"type": "browser"})]

    def requests(self) -> list[str]:
        """The addresses of everything that was asked for since the last time."""
        events = [json.loads(entry["message"])["message"] for entry in self.call("/se/log", {"type": "performance"})]
        sent = ("Network.requestWillBeSent", "Network.webSocketCreated")
        return [event["params"].get("request", event["params"])["url"] for event in events if event["method"] in sent]

    def call(self, path: str, body: dict[str, Any]) -> Any:
        """One command of the session."""
        return self._send("POST", self._session + path, body)

    def close(self) -> None:
        """End the browser."""
        self._send("DELETE", self._session, None)

    def _find(self, selector: str) -> str:
        found: str = self.call("/element", {"using": "css selector", "value": selector})[_ELEMENT]
        return found

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None)
            answer = json.loads(connection.getresponse().read())["value"]
        finally:
            connection.close()
        if isinstance(answer, dict) and "error" in answer:
            raise AssertionError(f"{path}: {answer['error']}: {answer['message']}")
        return answer


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser for the time of the block; without one the test is skipped, or fails where the variable demands one."""
    binary = next(filter(None, map(shutil.which, _BROWSERS)), None)
    driver = shutil.which("chromedriver")
    if binary is None or driver is None:
        if os.environ.get(NEED_CHROMIUM_VARIABLE):
            pytest.fail("no Chromium with its chromedriver here")
        pytest.skip("needs Chromium and chromedriver")
    with subprocess.Popen([driver, "--port=0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            browser = Browser(_port(process), binary)
            try:
                yield browser
            finally:
                browser.close()
        finally:
            process.terminate()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    for line in process.stdout:
        match = re.search(r"started successfully on port (\d+)", line)
        if match:
            return int(match.group(1))
    raise AssertionError("chromedriver did not start")
