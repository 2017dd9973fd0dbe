#!/usr/bin/env -S /usr/bin/python3
"""The page of onnxq debug in a browser: what it shows, at three widths, of large models and hostile names."""

import json
import re
import shutil

import numpy as np
from onnx import helper

from debug import main, qdq
from support.debug_models import debug, f32, first, network, onnxq, page_data, save
from support.harness import run


BROWSER_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--enable-logging=stderr", "--v=0", "--hide-scrollbars",
                 "--force-device-scale-factor=1"]


def browse(folder, page, width=1280, height=2200, theme="", probe="", picture=None):
    """The page's elements after its program has run; `probe` is run behind it. Raises if anything is wrong."""
    browser = shutil.which("chromium")
    if not browser:
        raise RuntimeError("chromium isn't installed: scripts/setup.sh")
    shown = page
    # A window can't be as narrow as a phone, a frame can.
    if probe or width < 600:
        inner = page.read_text().replace("</body>", f"<script>{probe}</script></body>") if probe else page.read_text()
        target = folder / "inner.html"
        target.write_text(inner)
        shown = target
        if width < 600:
            shown = folder / "outer.html"
            shown.write_text(f"<body style='margin:0'><iframe src='inner.html?theme={theme}' style='border:0;width:{width}px;height:{height}px'></iframe>"
                             "<script>addEventListener('message', e => { document.body.dataset.said = e.data; });</script></body>")
    address = f"file://{shown}" + (f"?theme={theme}" if theme and width >= 600 else "")
    flags = [*BROWSER_FLAGS, f"--user-data-dir={folder / 'profile'}", f"--window-size={max(width, 600)},{height}", "--allow-file-access-from-files"]
    result = run([browser, *flags, "--dump-dom", address], timeout=120)
    dom = result.stdout.decode(errors="replace")
    if errors := re.findall(r"CONSOLE.*", result.stderr):
        raise RuntimeError(f"the console says {errors[:2]}")
    if picture:
        run([browser, *flags, f"--screenshot={picture}", address], timeout=120)
    return dom


# Says how wide the page is, whether it is done, and what the theme is, to itself and to a frame around it.
PROBE = """const said = JSON.stringify({ready: document.body.dataset.ready, wide: document.documentElement.scrollWidth, room: innerWidth,
  thin: [...document.querySelectorAll('td.name')].filter(e => e.offsetParent && e.clientWidth < 80).length,
  theme: document.documentElement.dataset.theme, drawn: document.getElementById('graph').width, ms: Math.round(performance.now()),
  cut: [...document.querySelectorAll('main section, main .tile, main .issue, .command')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).length});
document.body.dataset.said = said; parent.postMessage(said, '*');"""


def said(dom):
    found = re.search(r'data-said="([^"]*)"', dom)
    return json.loads(found[1].replace("&quot;", '"')) if found else {}


def spoiled_page(folder, *options):
    real, samples = network(folder / "net.onnx"), folder / "x.npy"
    np.save(samples, f32(6, 3, 16, 16))
    quant, page = folder / "net.q.onnx", folder / "report.html"
    onnxq("quantize", real, "--data", samples, "-o", quant, "--quiet", "--mode", "qlinear", "--tensor-overrides",
          json.dumps({"r2": {"min": 0, "max": 0.05}}))
    onnxq("debug", real, quant, "--data", samples, "--quiet", "--report", page, *options)
    return real, quant, samples, page


def check_page(folder):
    """The report in Chromium: no error, all parts drawn, the worst layer named first."""
    real, quant, samples, page = spoiled_page(folder)
    text = page.read_text()
    if re.search(r"(src|href)=[\"']?(https?:|//)", text) or "import(" in text or "fetch(" in text:
        return "the page wants the network"
    dom = browse(folder, page)
    if 'data-ready="yes"' not in dom:
        return "the page's program failed"
    report = debug(real, quant, samples)
    rows = len(re.findall(r'<tr class="row[^>]*data-name="(?!w|b)', dom))
    if rows != len(report["tensors"]):
        return f"{rows} rows for {len(report['tensors'])} tensors"
    issues = re.search(r'id="issues".*?<button [^>]*>([^<]*)<', dom, re.S)
    if not issues or issues[1] != "conv2":
        return f"the first advice is for {issues and issues[1]}"
    data = page_data(page)
    if not data.get("proposal") or data["proposal"]["command"].split()[0] not in dom or not data["total_ms"] > 0 or not data["times"]:
        return f"proposal {data.get('proposal')}, times {data['times']}"
    timed = [t["node"] for t in data["tensors"] if t.get("ms")]
    if "conv2" not in timed:
        return f"no time of conv2: {timed}"
    for part in ("<polyline", 'class="histogram"', 'class="channels"', 'class="range"', "What to try", "<title>net.q.onnx", "Save as CSV", "onnxq debug", "LLVM", str(samples)):
        if part not in dom:
            return f"the page has no {part}"
    if "0.00 %<" in dom:
        return "nothing is shown as 0.00 %"
    picture = folder / "page.png"
    browse(folder, page, picture=picture)
    return None if picture.exists() and picture.stat().st_size > 20000 else "no picture was taken"


def check_page_widths(folder):
    """A phone, a tablet and a desk, in light and dark: nothing is wider than the window."""
    *_, page = spoiled_page(folder, "--no-profile")
    for width in (390, 768, 1280):
        for theme in ("light", "dark"):
            found = said(browse(folder, page, width, 1400, theme, PROBE))
            if found.get("ready") != "yes" or found["theme"] != theme or found["room"] != width:
                return f"{width}, {theme}: {found}"
            if found["wide"] > width or found["cut"]:
                return f"{width}, {theme}: {found['wide']} pixels wide, {found['cut']} parts cut off"
            if not found["drawn"]:
                return f"{width}, {theme}: no graph is drawn"
            if found["thin"]:
                return f"{width}, {theme}: {found['thin']} names have no room"
    return None


def check_page_large(folder):
    """Thousands of nodes: the page is as long as its data, and is there at once."""
    *_, page = spoiled_page(folder, "--no-profile", "--seconds", 0)
    data, text = page_data(page), page.read_text()
    nodes, tensors = data["graph"], data["tensors"]
    graph, all_tensors = [], []
    for copy in range(200):
        start = len(graph)
        for name, op, names, sources in nodes:
            graph.append([f"{name}.{copy}", op, [f"{n}.{copy}" for n in names], [s + start for s in sources] or ([start - 1] if start else [])])
        all_tensors += [{**t, "name": f"{t['name']}.{copy}", "node": t["node"] and f"{t['node']}.{copy}", "output": False} for t in tensors]
    data |= {"graph": graph, "tensors": all_tensors, "ranking": [f"{n}.{c}" for c in range(200) for n in data["ranking"]]}
    large = folder / "large.html"
    large.write_text(re.sub(r"^const data = .*;$", lambda _: "const data = " + json.dumps(data).replace("<", "\\u003c") + ";", text, flags=re.M))
    found = said(browse(folder, large, 1280, 1000, "light", PROBE))
    if len(graph) < 1500 or found.get("ready") != "yes" or not found["drawn"]:
        return f"{len(graph)} nodes: {found}"
    # Other suites run beside this one.
    return f"takes {found['ms']} ms" if found["ms"] > 30000 else None


def check_page_mismatch(folder):
    """Data of another kind: the page says that alone, and hides the rest."""
    real, quant, page = network(folder / "net.onnx"), folder / "net.q.onnx", folder / "page.html"
    np.save(folder / "x.npy", f32(4, 3, 16, 16))
    np.save(folder / "wide.npy", f32(4, 3, 16, 16) * np.float32(100))
    onnxq("quantize", real, "--data", folder / "wide.npy", "-o", quant, "--quiet")
    onnxq("debug", real, quant, "--data", folder / "x.npy", "--quiet", "--report", page, "--no-profile")
    dom = browse(folder, page)
    if "prepared as the calibration data was" not in dom or not re.search(r"<details[^>]*><summary>Show the layers", dom):
        return "the page doesn't say it"
    return "layers are judged all the same" if re.search(r'id="issues-card"(?! hidden)', dom) or 'row flag"' in dom else None


def check_hostile_names(folder):
    """Names that look like markup are shown as they are."""
    evil = "</script><img src=x onerror=alert(1)>"
    nodes, weights = [helper.make_node("Abs", ["x"], ["a"], evil)], {}
    real = save(folder / "real.onnx", [*nodes, helper.make_node("Neg", ["a"], ["y"], "neg")], {}, (1, 4))
    nodes.append(helper.make_node("Neg", [qdq(nodes, weights, "a", 5, 0)], ["y"], "neg"))
    quant = save(folder / "quant.onnx", nodes, weights, (1, 4))
    np.save(folder / "x.npy", f32(3, 4))
    onnxq("debug", real, quant, "--data", folder / "x.npy", "--quiet", "--report", folder / "page.html", "--as-is")
    text = (folder / "page.html").read_text()
    return "a name became markup" if "<img" in text else None


def cases():
    yield "page", check_page
    yield "page/widths", check_page_widths
    yield "page/large", check_page_large
    yield "page/mismatch", check_page_mismatch
    yield "page/names", check_hostile_names


if __name__ == "__main__":
    main(cases())
