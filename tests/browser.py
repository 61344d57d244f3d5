"""A real browser without a window: Debian's chromium, spoken to over a pair of pipes."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(
    (found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None
)


class BrowserEnded(RuntimeError):
    """The browser's process has ended by itself; what it said is the message."""


class Browser:
    """Chromium's debugging protocol: commands in, answers and events out, each ended by a zero."""

    def __init__(self) -> None:
        # Chromium's children may still write to it when the browser has ended.
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._words = Path(self._profile.name) / "words"
        (read_in, self._write), (self._read, write_out) = os.pipe(), os.pipe()
        words = [
            str(CHROMIUM),
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={self._profile.name}",
            "about:blank",
        ]
        # The protocol is spoken on the descriptors 3 and 4; a pipe may already sit on one of them.
        code = (
            "import os, sys\n"
            f"ends = os.dup({read_in}), os.dup({write_out})\n"
            "for here, there in zip(ends, (3, 4)):\n"
            "    os.dup2(here, there)\n    os.set_inheritable(there, True)\n"
            "os.execv(sys.argv[1], sys.argv[1:])"
        )
        with self._words.open("wb") as said:
            self._process = subprocess.Popen(
                [sys.executable, "-c", code, *words],
                pass_fds=(read_in, write_out),
                stdout=subprocess.DEVNULL,
                stderr=said,
            )
        os.close(read_in)
        os.close(write_out)
        self._number, self._buffer = 0, b""
        self.events: list[dict[str, Any]] = []

    @classmethod
    def started(cls, tries: int = 3) -> Browser:
        """A browser that has answered."""
        for left in range(tries - 1, -1, -1):
            browser = cls()
            try:
                browser.command("Browser.getVersion")
            except BrowserEnded:
                browser.close()
                if left == 0:
                    raise
            else:
                return browser
        raise ValueError(f"tries={tries} must be positive.")

    @property
    def runs(self) -> bool:
        """Whether its process is still there."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the browser that was started here."""
        os.close(self._write)
        self._process.terminate()
        self._process.wait()
        os.close(self._read)
        self._profile.cleanup()

    def _ended(self) -> BrowserEnded:
        words = self._words.read_text(errors="replace").strip()
        return BrowserEnded(f"the browser has ended ({self._process.wait()}): {words[-500:]}")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self._read, 1 << 16)
            if not more:
                raise self._ended()
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def command(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send a command and return its answer; events on the way are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        try:
            os.write(self._write, json.dumps(message).encode() + b"\0")
        except BrokenPipeError as broken:
            raise self._ended() from broken
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method: str, session: str) -> None:
        """Read until an event has come."""
        while not any(
            e.get("method") == method and e.get("sessionId") == session for e in self.events
        ):
            self.events.append(self._next())


class Page:
    """A page that was opened, and what it said while it loaded."""

    def __init__(
        self, browser: Browser, where: Path | str, width: int = 1200, dark: bool = False
    ) -> None:
        self.browser = browser
        target = browser.command("Target.createTarget", url="about:blank")["targetId"]
        attached = browser.command("Target.attachToTarget", targetId=target, flatten=True)
        self.session, self.target = attached["sessionId"], target
        browser.events.clear()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=900,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        address = where.as_uri() if isinstance(where, Path) else where
        self.send("Page.navigate", url=address)
        browser.wait_for("Page.loadEventFired", self.session)
        # Once the page answers, whatever loading it caused has been told.
        self.ask("1")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to this page."""
        return self.browser.command(method, self.session, **params)

    def ask(self, expression: str) -> Any:
        """Evaluate JavaScript and return its value."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def wait_until(self, expression: str, seconds: float = 30.0) -> None:
        """Ask until the answer is true."""
        end = time.monotonic() + seconds
        while not self.ask(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"not within {seconds} s: {expression}")
            time.sleep(0.05)

    def complaints(self) -> list[str]:
        """Exceptions, console errors and log entries of this page."""
        told = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, params = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                told.append(str(params["exceptionDetails"]))
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                told.append(params["entry"]["text"])
            elif method == "Runtime.consoleAPICalled":
                told.append(str(params["args"]))
        return told

    def requests(self) -> list[str]:
        """The addresses that the page asked for."""
        return [
            event["params"]["request"]["url"]
            for event in self.browser.events
            if event.get("sessionId") == self.session
            and event["method"] == "Network.requestWillBeSent"
        ]

    def picture(self, path: Path) -> None:
        """Store what the page looks like, from top to bottom."""
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def printed(self) -> bytes:
        """The page as a PDF."""
        return base64.b64decode(self.send("Page.printToPDF")["data"])

    def close(self) -> None:
        """Close the page."""
        self.browser.command("Target.closeTarget", targetId=self.target)
