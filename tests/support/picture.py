"""The picture of the page in the README: ``python tests/support/picture.py`` runs the sample and takes it anew."""

import base64
import struct
import tempfile
import zlib
from pathlib import Path

import numpy as np
from browser import chromium
from typed import proctor

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / ".github" / "page.png"
WIDTH, HEIGHT = 1200, 900
MOST_BYTES = 150_000
PIXELS = """
const [address, done] = arguments;
const image = new Image();
image.onload = () => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width, image.height];
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0);
  let text = "";
  for (const byte of pen.getImageData(0, 0, image.width, image.height).data) text += String.fromCharCode(byte);
  done(btoa(text));
};
image.src = address;
"""


def take(page: Path, picture: Path, profile: Path) -> None:
    """Save what a reader first sees of a page, in a window of this size."""
    with chromium(profile) as driver:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False},
        )
        driver.get(page.as_uri())
        shown = driver.get_screenshot_as_base64()
        driver.get("about:blank")
        pixels = base64.b64decode(driver.execute_async_script(PIXELS, f"data:image/png;base64,{shown}"))
    picture.write_bytes(with_palette(pixels, WIDTH, HEIGHT))


def with_palette(rgba: bytes, width: int, height: int) -> bytes:
    """A PNG of 256 colours, the most frequent ones: a page of text has few, and takes a third of the bytes."""
    pixels = np.frombuffer(rgba, np.uint8).reshape(-1, 4)[:, :3] & 0xF8
    colours, which, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    palette = colours[np.argsort(-counts)[:256]]
    distances = np.abs(colours[:, None].astype(int) - palette[None]).sum(axis=2)
    rows = distances.argmin(axis=1).astype(np.uint8)[which.reshape(height, width)]
    lines = np.hstack([np.zeros((height, 1), np.uint8), rows])  # 0: no filter, best for colours by number
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", (palette | palette >> 5).tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    packed = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assert proctor("run", folder=folder).returncode == 0
        assert proctor("report", "--html", "page.html", folder=folder).returncode == 0
        take(folder / "page.html", PICTURE, folder / "profile")
    print(f"{PICTURE.name}: {PICTURE.stat().st_size:,} bytes, at most {MOST_BYTES:,}")
