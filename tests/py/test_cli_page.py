"""The page of tik show --html in a browser: its colours are there, in light and in dark."""

import collections
import shutil
import struct
import subprocess
import zlib

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
LIGHT = {(255, 255, 255), (207, 227, 255), (211, 242, 208), (255, 230, 189), (251, 211, 227), (226, 218, 255)}
DARK = {(21, 21, 21), (29, 63, 102), (31, 77, 43), (94, 68, 21), (92, 39, 64), (61, 50, 112)}


def colours(png):
    """How often each colour stands in a PNG of 8 bits and 3 or 4 channels."""
    data, at, header = b"", 8, None
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        at += 12 + length
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            data += body
    width, height, depth, colour = header[:4]
    size = {2: 3, 6: 4}[colour]
    assert depth == 8
    raw, stride, before = zlib.decompress(data), width * size, bytearray(width * size)
    found = collections.Counter()
    for row in range(height):
        kind = raw[row * (stride + 1)]
        line = bytearray(raw[row * (stride + 1) + 1:(row + 1) * (stride + 1)])
        for i in range(stride):
            left = line[i - size] if i >= size else 0
            corner = before[i - size] if i >= size else 0
            above = before[i]
            if kind == 4:
                estimate = left + above - corner
                predicted = min((left, above, corner), key=lambda value: abs(estimate - value))
            else:
                predicted = (0, left, above, (left + above) // 2)[kind]
            line[i] = (line[i] + predicted) & 255
        found.update(tuple(line[i:i + 3]) for i in range(0, stride, size))
        before = line
    return found


@pytest.mark.skipif(not BROWSER, reason="no Chromium here")
@pytest.mark.parametrize("options, wanted", [((), LIGHT), (("--blink-settings=preferredColorScheme=0",), DARK)],
                         ids=["light", "dark"])
def test_colours_in_a_browser(tik, tmp_path, options, wanted):
    page = tmp_path / "page.html"
    page.write_bytes(tik("show", "--html", input="Hello, world! The café is open. 你好 🚀\n".encode()).stdout)
    subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=500,300", *options,
                    f"--screenshot={tmp_path / 'page.png'}", page.as_uri()], capture_output=True, timeout=120)
    if not (tmp_path / "page.png").exists():
        pytest.skip("the browser does not run here")
    found = colours((tmp_path / "page.png").read_bytes())
    assert wanted <= set(found)
    assert found.most_common(1)[0][0] in wanted
