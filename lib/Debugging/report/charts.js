const svg = (tag, attributes, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const label = (x, y, text, anchor) => svg("text", { x, y, "text-anchor": anchor || "start" }, text);

// Noise of the layers in order, on a logarithmic scale; the time of each below.
function depth() {
  const shown = data.tensors.filter(t => has(t.xmodel_noise)), floor = 1e-4;
  if (!shown.length) { $("depth-card").hidden = true; return; }
  const legend = (kind, variable, text) => [el("i", { class: kind, style: `background:var(${variable})` }), text];
  $("depth-legend").append(...legend("", "--accent", "total"), ...legend("dot", "--faint", "own"), ...legend("dot", "--bad", "stands out"), ...(data.compare ? legend("", "--violet", "other run, total") : []), ...(data.total_ms ? legend("", "--bar", "time") : []));
  const times = shown.map((t, i) => shown.findIndex(other => other.node === t.node) === i ? t.ms || 0 : 0), slowest = Math.max(...times);
  drawings.push(() => {
    const W = $("depth").clientWidth || 600, hasTime = slowest > 0, H = 230 + (hasTime ? 52 : 0), left = 46, right = 8, top = 8, bottom = 24 + (hasTime ? 52 : 0);
    if (!$("depth").clientWidth) return;
    const clip = v => Math.min(Math.max(v, floor), 10), high = Math.max(1, ...shown.map(t => clip(t.xmodel_noise)));
    const x = i => left + (shown.length < 2 ? 0.5 : i / (shown.length - 1)) * (W - left - right);
    const y = v => top + (Math.log10(high) - Math.log10(clip(v))) / (Math.log10(high) - Math.log10(floor)) * (H - top - bottom);
    const plot = svg("svg", { height: H, viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "noise of each layer" });
    plot.append(svg("rect", { x: left, y: top, width: W - left - right, height: y(BAD) - top, fill: "var(--bad-soft)" }));
    for (const [v, text] of [[1e-4, "0.01 %"], [1e-3, "0.1 %"], [1e-2, "1 %"], [0.1, "10 %"], [1, "100 %"]])
      plot.append(svg("line", { x1: left, x2: W - right, y1: y(v), y2: y(v), stroke: "var(--line)" }), label(left - 6, y(v) + 4, text, "end"));
    const line = (points, stroke, dash) => points.length && plot.append(svg("polyline", { points: points.join(" "), fill: "none", stroke, "stroke-width": 1.8, "stroke-linejoin": "round", "stroke-dasharray": dash || "none" }));
    if (data.compare) line(shown.flatMap((t, i) => { const old = before.get(t.name); return old && has(old.xmodel_noise) ? [`${x(i)},${y(old.xmodel_noise)}`] : []; }), "var(--violet)", "5 3");
    line(shown.map((t, i) => `${x(i)},${y(t.xmodel_noise)}`), "var(--accent)");
    const many = shown.length > W / 5, bar = Math.max(1, Math.min(8, (W - left - right) / shown.length * 0.7));
    shown.forEach((t, i) => {
      const flagged = isFlagged(t);
      if (hasTime && times[i]) plot.append(svg("rect", { x: x(i) - bar / 2, y: H - 24 - 36 * times[i] / slowest, width: bar, height: 36 * times[i] / slowest, fill: "var(--bar)" }));
      if (has(t.qdq_noise)) plot.append(svg("circle", { cx: x(i), cy: y(t.qdq_noise), r: many ? 1.6 : 2.6, fill: "var(--faint)" }));
      const dot = svg("circle", { cx: x(i), cy: y(t.xmodel_noise), r: flagged ? 5 : many ? 2 : 3.2, fill: flagged ? "var(--bad)" : "var(--accent)", style: "cursor:pointer" });
      const place = svg("rect", { x: x(i) - Math.max(4, (W - left) / shown.length / 2), y: top, width: Math.max(8, (W - left) / shown.length), height: H - top - 24, fill: "transparent", style: "cursor:pointer" });
      for (const each of [place, dot]) {
        each.addEventListener("click", () => openLayer(t.name));
        tip(each, `${title(t)} (${t.op}): ${percent(t.xmodel_noise)} in total, ${percent(t.added_noise)} added` + (has(t.ms) ? `, ${ms(t.ms)} ms` : ""));
      }
      plot.append(place, dot);
    });
    if (hasTime) plot.append(label(left - 6, H - 24 - 20, ms(slowest), "end"), label(left - 6, H - 24 - 8, "ms", "end"));
    const room = Math.max(2, Math.floor(W / 150)), step = Math.max(1, Math.ceil(shown.length / room));
    shown.forEach((t, i) => { if (i % step === 0 && i + step * 0.6 <= shown.length || i === 0) plot.append(label(x(i), H - 7, title(t).length > 18 ? "…" + title(t).slice(-17) : title(t), i === 0 ? "start" : x(i) > W - 80 ? "end" : "middle")); });
    $("depth").replaceChildren(plot);
  });
}

function histogram(h, range, name) {
  const W = 420, H = 170, bottom = 20, top = 8, n = h.float.length;
  const plot = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "histogram", role: "img", "aria-label": `histogram of ${name}` });
  // Square roots, so that tails can be seen.
  const most = Math.sqrt(Math.max(1, ...h.float, ...h.quant));
  const x = v => (v - h.low) / (h.high - h.low) * W, y = c => top + (1 - Math.sqrt(c) / most) * (H - top - bottom), w = W / n;
  h.float.forEach((c, i) => { if (c) plot.append(svg("rect", { x: i * w, y: y(c), width: w - 0.5, height: H - bottom - y(c), fill: "var(--bar)" })); });
  let path = "";
  h.quant.forEach((c, i) => { path += `${path ? "L" : "M"}${i * w},${y(c)}L${(i + 1) * w},${y(c)}`; });
  plot.append(svg("path", { d: path, fill: "none", stroke: "var(--accent)", "stroke-width": 1.5 }), svg("line", { x1: 0, x2: W, y1: H - bottom, y2: H - bottom, stroke: "var(--faint)" }));
  if (range) for (const end of range) if (has(end) && x(end) >= -1 && x(end) <= W + 1)
    plot.append(svg("line", { x1: x(end), x2: x(end), y1: 0, y2: H - bottom, stroke: "var(--bad)", "stroke-dasharray": "4 3", "stroke-width": 1.5, class: "range" }));
  plot.append(label(2, H - 5, short(h.low)), label(W - 2, H - 5, short(h.high), "end"));
  if (x(0) > 60 && x(0) < W - 60) plot.append(label(x(0), H - 5, "0", "middle"));
  const outside = range && range.some(end => has(end) && (x(end) < -1 || x(end) > W + 1));
  return el("div", { class: "pane" }, el("h3", {}, name), plot, el("p", { class: "legend" }, el("i", { style: "background:var(--bar)" }), "float", el("i", { style: "background:var(--accent)" }), "quantized",
    range ? [el("i", { style: "background:var(--bad)" }), `range ${short(range[0])} to ${short(range[1])}` + (outside ? " (beyond the drawing)" : "")] : []));
}

function channels(w) {
  const list = w.channel_ranges;
  if (list.length < 2) return "";
  const W = 420, H = 170, bottom = 20, top = 8, low = Math.min(0, ...list.map(c => c[1])), high = Math.max(0, ...list.map(c => c[2])), span = high - low || 1;
  const y = v => top + (high - v) / span * (H - top - bottom), step = W / list.length;
  const plot = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "channels", role: "img", "aria-label": `ranges of ${w.name} by channel` });
  plot.append(svg("line", { x1: 0, x2: W, y1: y(0), y2: y(0), stroke: "var(--faint)" }));
  list.forEach((c, i) => plot.append(tip(svg("rect", { x: i * step + step * 0.12, y: y(c[2]), width: Math.max(step * 0.76, 0.8), height: Math.max(y(c[1]) - y(c[2]), 1), fill: has(c[3]) && c[3] < 20 ? "var(--bad)" : "var(--accent)", opacity: 0.75 }),
    `channel ${c[0]}: ${short(c[1])} to ${short(c[2])}, SQNR ${db(c[3])} dB`)));
  plot.append(label(2, 11, short(high)), label(2, H - bottom - 3, short(low)), label(W - 2, H - 5, `channel ${list[list.length - 1][0]}`, "end"), label(2, H - 5, "channel 0"));
  return el("div", { class: "pane" }, el("h3", {}, `Ranges of ${w.name} by channel`), plot, el("p", { class: "legend" }, el("i", { style: "background:var(--accent)" }), "float weights of a channel", el("i", { style: "background:var(--bad)" }), "SQNR below 20 dB"));
}
