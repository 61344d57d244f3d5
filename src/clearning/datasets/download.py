"""Fetch a file over HTTP into memory, or fail with one sentence; knows nothing of what it holds."""

from __future__ import annotations

import http.client
import math
import urllib.error
import urllib.request
from collections.abc import Iterator

from clearning._progress import progress

CHUNK = 1 << 16
TIMEOUT_SECONDS = 30.0


class DownloadError(OSError):
    """A file could not be fetched; the message says which and why."""


def read_url(url: str, timeout: float = TIMEOUT_SECONDS) -> bytes:
    """Return the whole file at `url`, or raise `DownloadError`; never a part of it."""
    request = urllib.request.Request(url, headers={"User-Agent": "clearning"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            length = response.headers.get("Content-Length")
            expected = None if length is None else int(length)
            content = b"".join(_chunks(response, expected, url))
    except urllib.error.HTTPError as error:
        raise DownloadError(f"{url} answered {error.code} {error.reason}") from error
    except urllib.error.URLError as error:
        raise DownloadError(f"{url} could not be reached ({error.reason})") from error
    except (OSError, http.client.HTTPException) as error:
        raise DownloadError(f"the connection to {url} broke ({error})") from error
    # A server that hangs up early raises nothing: only the length tells.
    if expected is not None and len(content) != expected:
        raise DownloadError(
            f"the connection to {url} broke after {len(content)} of {expected} bytes"
        )
    return content


def _chunks(response: http.client.HTTPResponse, expected: int | None, url: str) -> Iterator[bytes]:
    total = None if expected is None else math.ceil(expected / CHUNK)
    chunks = iter(lambda: response.read(CHUNK), b"")
    return progress(chunks, total=total, label=f"Downloading {url.rsplit('/', 1)[-1]}")
