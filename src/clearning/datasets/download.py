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
# Many times what any of the public files holds, packed or not.
MOST_BYTES = 1 << 26


class DownloadError(OSError):
    """A file could not be fetched; the message says which and why."""


def read_url(url: str, timeout: float = TIMEOUT_SECONDS) -> bytes:
    """Return the whole file at `url`, or raise `DownloadError`; never a part of it."""
    request = urllib.request.Request(url, headers={"User-Agent": "clearning"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            expected = _announced(response, url)
            content = b"".join(_chunks(response, expected, url))
    except DownloadError:
        raise
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


def _announced(response: http.client.HTTPResponse, url: str) -> int | None:
    """The length that the server announces, if it does."""
    length = response.headers.get("Content-Length")
    if length is None:
        return None
    # Longer numbers are none that a file can have, and more than `int` is asked to read.
    if not (length.isascii() and length.isdigit() and len(length) <= 20):
        raise DownloadError(f"{url} announces {length[:20]!r} bytes, which is no length")
    if int(length) > MOST_BYTES:
        raise DownloadError(f"{url} announces {length} bytes, and the limit is {MOST_BYTES}")
    return int(length)


def _chunks(response: http.client.HTTPResponse, expected: int | None, url: str) -> Iterator[bytes]:
    total = None if expected is None else math.ceil(expected / CHUNK)
    chunks = iter(lambda: response.read(CHUNK), b"")
    received = 0
    for chunk in progress(chunks, total=total, label=f"Downloading {url.rsplit('/', 1)[-1]}"):
        received += len(chunk)
        if received > MOST_BYTES:
            raise DownloadError(f"{url} sends more than the limit of {MOST_BYTES} bytes")
        yield chunk
