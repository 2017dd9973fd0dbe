// Noise from which a tensor is bad, and fair: 20 and 30 dB.
const BAD = 0.1, FAIR = 0.0316, NOTHING = "–";
const $ = id => document.getElementById(id);
const el = (tag, props, ...children) => {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") node.className = value;
    else if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat()) if (child !== "" && child !== null && child !== undefined) node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  return node;
};
const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const has = value => value !== null && value !== undefined;
// One kind of nothing: what is zero by nature, and what isn't known, are a dash.
const percent = share => !has(share) ? NOTHING : share === 0 ? "0 %" : share < 1e-4 ? "<0.01 %" : share >= 100 ? ">9999 %" : (100 * share).toFixed(share < 0.1 ? 2 : share < 1 ? 1 : 0) + " %";
const percentOrNothing = share => share > 0 ? percent(share) : NOTHING;
const db = value => !has(value) ? NOTHING : value > 200 ? "exact" : value.toFixed(1);
const ms = value => !has(value) ? NOTHING : value < 0.0005 ? "<0.001" : value.toFixed(value < 10 ? 3 : 1);
const short = value => !has(value) ? NOTHING : Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(2) : String(+value.toPrecision(4));
const grade = share => !has(share) ? "" : share > BAD ? "bad" : share > FAIR ? "fair" : "good";
const fileName = path => path.split("/").pop();
const count = (n, one, many) => `${n} ${n === 1 ? one : many || one + "s"}`;
const title = t => t.node || (t.op === "input" ? "input " + t.name : t.name);
const isQuantized = t => t.type !== "float";
const isFlagged = t => data.verdict !== "input-mismatch" && (t.advice.length > 0 || t.added_noise > BAD);
const byName = new Map(data.tensors.map(t => [t.name, t]));
const ranked = data.ranking.map(name => byName.get(name)).filter(Boolean);
const before = new Map(data.compare ? data.compare.tensors.map(t => [t.name, t]) : []);
const outputs = data.tensors.filter(t => t.output);
const worstOutput = outputs.reduce((a, b) => !a || (b.xmodel_noise ?? 0) > (a.xmodel_noise ?? 0) ? b : a, null);

function tip(node, text) {
  const show = (x, y) => { const t = $("tip"); t.textContent = typeof text === "function" ? text() : text; t.style.display = "block"; t.style.left = Math.max(8, Math.min(x + 14, innerWidth - t.offsetWidth - 8)) + "px"; t.style.top = Math.min(y + 14, innerHeight - t.offsetHeight - 8) + "px"; };
  node.addEventListener("pointermove", e => show(e.clientX, e.clientY));
  node.addEventListener("pointerleave", hideTip);
  return node;
}
const hideTip = () => { $("tip").style.display = "none"; };

function command(text) {
  const button = el("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(text); }
    catch { const area = el("textarea", {}); area.value = text; document.body.append(area); area.select(); document.execCommand("copy"); area.remove(); }
    button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500);
  } }, "Copy");
  return el("div", { class: "command" }, el("code", {}, text), button);
}

function verdict() {
  const card = $("verdict"), say = (kind, text, ...more) => { card.classList.add("is-" + kind); card.append(el("p", {}, text), ...more); };
  const flagged = data.tensors.filter(isFlagged).length, noise = worstOutput ? `${percent(worstOutput.xmodel_noise)} noise at ${outputs.length > 1 ? "output " + worstOutput.output_name : "the output"} (SQNR ${db(worstOutput.xmodel_err)} dB)` : "";
  if (data.verdict === "input-mismatch")
    say("bad", "This data isn’t prepared as the calibration data was: check --mean and --scale.",
      el("ul", {}, data.input_mismatch.map(m => el("li", {}, `Input ${m.input}: calibrated for ${short(m.calibrated[0])} to ${short(m.calibrated[1])}, but this data reaches from ${short(m.data[0])} to ${short(m.data[1])}` + (m.saturated > 0.005 ? `; ${percent(m.saturated)} of it is cut off.` : ".")))),
      el("p", { class: "soft", style: "margin-top:8px" }, "The layers aren’t judged: behind such data each of them looks bad."));
  else if (data.verdict === "spread") say("bad", "The outputs are bad, but no layer stands out: the noise of many adds up.", el("p", { class: "soft" }, noise + "."));
  else if (flagged) say(worstOutput && worstOutput.xmodel_noise > BAD ? "bad" : "fair", `${count(flagged, "layer stands out", "layers stand out")}.`, el("p", { class: "soft" }, noise + "."));
  else say("good", "Nothing stands out.", el("p", { class: "soft" }, noise + "."));
  if (data.proposal) {
    const p = data.proposal;
    card.append(el("div", { class: "proposal" }, el("p", {}, "Try this: ", el("span", { class: "gain" }, `${db(p.after_err)} dB at the outputs instead of ${db(p.before_err)} dB`), p.same_samples ? ", measured on these samples, which it is calibrated with, too (--calibration takes others)." : ", measured on these samples."),
      el("ul", {}, p.changes.map(c => el("li", {}, c)), p.int8_after === null ? [] : el("li", {}, `in int8: ${percent(p.int8_after)} of the multiply-adds, now ${percent(p.int8_before)}`)), command(p.command)));
  }
  if (data.notes.length) card.append(el("ul", { class: "soft" }, data.notes.map(n => el("li", {}, n))));
}

function tiles() {
  const tile = (value, text, kind) => $("tiles").append(el("div", { class: "tile" }, el("b", { class: (kind || "") + (String(value).length > 14 ? " long" : "") }, value), el("span", {}, text)));
  const quantized = data.tensors.filter(isQuantized).length, worst = ranked[0];
  if (worstOutput) {
    tile(percent(worstOutput.xmodel_noise), outputs.length > 1 ? `noise at output ${worstOutput.output_name}` : "noise at the output", grade(worstOutput.xmodel_noise));
    tile(db(worstOutput.xmodel_err) + " dB", "SQNR there, higher is better");
    const old = before.get(worstOutput.name);
    if (old) tile(percent(old.xmodel_noise), `noise in ${fileName(data.compare.quantized)}`, grade(old.xmodel_noise));
  }
  if (worst && worst.added_noise > 0 && data.verdict !== "input-mismatch") tile(title(worst), `adds most noise: ${percent(worst.added_noise)}`, grade(worst.added_noise));
  if (data.total_ms) tile(ms(data.total_ms) + " ms", "a run of the quantized model, one thread");
  tile(`${quantized} + ${data.weights.length}`, "quantized tensors and weights compared");
  if (data.unmatched.length) tile(data.unmatched.length, "tensors without a counterpart", "fair");
}

function issues() {
  const list = ranked.filter(t => t.advice.length);
  if (!list.length || data.verdict === "input-mismatch") return;
  $("issues-card").hidden = false;
  const most = 8, add = t => $("issues").append(el("div", { class: "issue" },
    el("div", {}, el("button", { type: "button", class: "link", onclick: () => openLayer(t.name) }, title(t)), el("span", {}, `${t.op}, adds ${percent(t.added_noise)} noise`)),
    el("ul", {}, t.advice.map(line => el("li", {}, line)))));
  list.slice(0, most).forEach(add);
  if (list.length > most) {
    const button = el("button", { type: "button", onclick: () => { button.parentNode.remove(); list.slice(most).forEach(add); } }, `Show ${list.length - most} more`);
    $("issues-card").append(el("p", { class: "more" }, button));
  }
}

function segments(root, choices, chosen, change) {
  const buttons = choices.map(([value, text]) => el("button", { type: "button", role: "radio", "aria-checked": value === chosen ? "true" : "false", tabindex: value === chosen ? 0 : -1, onclick: () => pick(value) }, text));
  const pick = value => { choices.forEach(([each], i) => { buttons[i].setAttribute("aria-checked", each === value ? "true" : "false"); buttons[i].tabIndex = each === value ? 0 : -1; }); change(value); };
  root.addEventListener("keydown", e => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    if (!step) return;
    e.preventDefault();
    const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    buttons[next].focus(); pick(choices[next][0]);
  });
  root.append(...buttons);
}

function facts(pairs) {
  return el("dl", { class: "facts" }, pairs.filter(p => has(p[1]) && p[1] !== "").flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

function detailOf(t, columns) {
  const own = data.weights.filter(w => t.node && w.node === t.node);
  const worst = t.worst_channel ? `${t.worst_channel.index} of ${t.channels}: SQNR ${db(t.worst_channel.err)} dB` : "";
  const scale = t.scales.length === 1 ? `${short(t.scales[0])}, zero point ${t.zero_points[0]}` : t.dynamic ? "at run time" : t.scales.length ? `${t.scales.length} scales` : "";
  const old = before.get(t.name);
  const panes = el("div", { class: "panes" },
    histogram(t.histogram, t.range, `Values of ${t.name}`),
    el("div", { class: "pane" }, el("h3", {}, "Figures"), facts([["tensor", t.name], ["operator", t.op], ["stored as", t.type], ["scale", scale], ["values", `${short(t.min)} to ${short(t.max)}`],
      ["SQNR", `${db(t.xmodel_err)} dB total, ${db(t.qdq_err)} own, ${db(t.added_err)} added`], ["cosine", has(t.cosine) ? t.cosine.toFixed(6) : ""], ["largest error", short(t.max_error)],
      ["node with float weights", has(t.local_err) ? `SQNR ${db(t.local_err)} dB` : ""], ["cut off", t.saturated > 0 ? percent(t.saturated) : ""], ["constant channels", t.dead_channels || ""], ["worst channel", worst],
      ["values left out", t.sentinels + t.non_finite || ""], ["quantized alone", has(t.alone_noise) ? `${percent(t.alone_noise)} noise at the outputs` : ""], ["time", has(t.ms) ? `${ms(t.ms)} ms, ${percent(t.ms / data.total_ms)} of a run` : ""],
      ["in the other run", old ? `${percent(old.added_noise)} added, ${percent(old.xmodel_noise)} total, ${old.type}` : ""]]),
      t.advice.length ? [el("h3", { style: "margin-top:12px" }, "What to try"), el("ul", {}, t.advice.map(a => el("li", {}, a)))] : [],
      graphPlace.has(t.name) ? el("p", { style: "margin-top:10px" }, el("button", { type: "button", onclick: e => { e.stopPropagation(); showInGraph(t.name, true); } }, "Show in the graph")) : ""),
    own.flatMap(w => w.kind === "bias" ? [] : [histogram(w.histogram, w.range, `Weights ${w.name}: ${percent(w.noise)} noise as ${w.type}`), channels(w)]));
  return el("tr", { class: "detail" }, el("td", { colspan: columns }, panes));
}

// A table of rows that sort, open and come in portions.
function table(id, columns, options) {
  const root = $(id), portion = 250;
  let order = null, down = false, shown = portion, rows = options.rows;
  const open = new Set(), body = el("tbody");
  const heads = columns.map((c, i) => el("th", { class: c.num ? "num" : "", style: c.width ? `width:${c.width}` : null, scope: "col", title: c.help }, el("button", { type: "button", onclick: () => sortBy(i) }, c.text)));
  const sortBy = (i, way) => { down = has(way) ? way : order === i ? !down : !!columns[i].num; order = i; heads.forEach((h, at) => at === i ? h.setAttribute("aria-sort", down ? "descending" : "ascending") : h.removeAttribute("aria-sort")); fill(); };
  const sorted = () => {
    if (order === null) return rows;
    const key = columns[order].key, none = v => !has(v) || v === "";
    return rows.slice().sort((a, b) => { const p = key(a), q = key(b); if (none(p) || none(q)) return none(p) - none(q); const less = p < q ? -1 : p > q ? 1 : 0; return down ? -less : less; });
  };
  const toggle = (row, item, way) => {
    if (!options.detail) return;
    const isOpen = row.getAttribute("aria-expanded") === "true", wanted = has(way) ? way : !isOpen;
    if (wanted === isOpen) return;
    row.setAttribute("aria-expanded", wanted);
    if (wanted) { row.after(options.detail(item, columns.length)); open.add(item); } else { row.nextElementSibling.remove(); open.delete(item); }
  };
  const makeRow = item => {
    const row = el("tr", { class: "row" + (options.flag(item) ? " flag" : ""), "data-name": item.name, "aria-expanded": options.detail ? "false" : null, onclick: options.detail ? () => toggle(row, item) : null });
    columns.forEach((c, i) => {
      const { value, kind, text } = c.cell(item);
      const cell = el("td", { class: `${c.num ? "num" : ""} ${c.class || ""} ${kind || ""} ${value === NOTHING ? "none" : ""}`.trim(), title: text, "data-label": c.num ? c.text : null }, value);
      if (i === 0 && options.detail) cell.prepend(el("button", { type: "button", class: "chevron", "aria-label": `Details of ${item.name}`, onclick: e => { e.stopPropagation(); toggle(row, item); } }, "›"));
      row.append(cell);
    });
    return row;
  };
  const fill = () => {
    const all = sorted(), kept = new Set(open);
    body.replaceChildren();
    open.clear();
    for (const item of all.slice(0, shown)) { const row = makeRow(item); body.append(row); if (kept.has(item)) toggle(row, item, true); }
    const more = $(id + "-more");
    more.replaceChildren();
    if (!all.length) more.append(el("span", { class: "soft" }, "Nothing matches."));
    if (all.length > shown) more.append(el("button", { type: "button", onclick: () => { shown += 4 * portion; fill(); } }, `Show more (${all.length - shown} are left)`));
  };
  body.addEventListener("keydown", e => {
    if (!["ArrowDown", "ArrowUp"].includes(e.key) || !e.target.classList.contains("chevron")) return;
    e.preventDefault();
    const all = [...body.querySelectorAll(".chevron")], next = all[all.indexOf(e.target) + (e.key === "ArrowDown" ? 1 : -1)];
    if (next) next.focus();
  });
  root.append(el("thead", {}, el("tr", {}, heads)), body);
  fill();
  return {
    show: list => { rows = list; shown = portion; fill(); }, sortBy, columns, rows: sorted,
    open: item => {
      const at = sorted().indexOf(item);
      if (at < 0) return false;
      if (at >= shown) { shown = at + portion; fill(); }
      const row = [...body.querySelectorAll("tr.row")].find(r => r.dataset.name === item.name);
      toggle(row, item, true);
      row.scrollIntoView({ block: "center" });
      row.querySelector(".chevron").focus({ preventScroll: true });
      return true;
    }
  };
}

let layerTable, filterBy = "all";
const meter = share => el("span", { class: "meter", "aria-hidden": "true" }, el("i", { style: `width:${Math.max(0, Math.min(100, 100 * (Math.log10(Math.max(share, 1e-4)) + 4) / 4))}%` }));
function layerColumns() {
  const noise = (text, key, help, bar) => ({ text, num: true, key: t => t[key], help, width: "84px", cell: t => ({ value: has(t[key]) && t[key] > 0 ? (bar ? el("span", {}, percent(t[key]), meter(t[key])) : percent(t[key])) : NOTHING, kind: data.verdict === "input-mismatch" ? "" : grade(t[key]) }) });
  const columns = [
    { text: "node", key: title, class: "name", cell: t => ({ value: title(t), text: t.node }) },
    { text: "operator", key: t => t.op, class: "op", width: "118px", cell: t => ({ value: t.op, text: t.op }) },
    { text: "tensor", key: t => t.name, class: "tensor", cell: t => ({ value: t.name, text: t.name }) },
    { text: "type", key: t => t.type, class: "type", width: "66px", cell: t => ({ value: el("span", { class: "chip" + (isQuantized(t) ? " int" : "") }, t.type + (t.dynamic ? "*" : "")), text: t.dynamic ? "scales at run time" : null }) },
    noise("added", "added_noise", "noise that the tensor and its node add", true), noise("own", "qdq_noise", "noise of its own quantization"), noise("total", "xmodel_noise", "noise against the float model")];
  if (data.tensors.some(t => has(t.alone_noise))) columns.push(noise("alone", "alone_noise", "noise at the outputs if only this node is quantized"));
  if (data.compare) columns.push({ text: "other run", num: true, width: "96px", help: `added in ${data.compare.quantized}`, key: t => before.get(t.name)?.added_noise ?? null, cell: t => { const old = before.get(t.name)?.added_noise; return { value: old > 0 ? percent(old) : NOTHING, kind: grade(old) }; } });
  columns.push({ text: "SQNR dB", num: true, width: "78px", help: "of the tensor against the float model; higher is better", key: t => t.xmodel_err, cell: t => ({ value: db(t.xmodel_err) }) },
    { text: "cut off", num: true, width: "84px", help: "values beyond the range", key: t => t.saturated, cell: t => ({ value: percentOrNothing(t.saturated), kind: t.saturated > 0.01 ? "bad" : "" }) },
    { text: "dead", num: true, width: "58px", help: "channels that became constant", key: t => t.dead_channels, cell: t => ({ value: t.dead_channels || NOTHING, kind: t.dead_channels ? "bad" : "" }) });
  if (data.total_ms) columns.push({ text: "ms", num: true, width: "68px", help: "time of the node in a run of the quantized model", key: t => t.ms ?? null, cell: t => ({ value: has(t.ms) ? ms(t.ms) : NOTHING }) });
  return columns;
}

function shownLayers() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  return data.tensors.filter(t => (filterBy !== "quantized" || isQuantized(t)) && (filterBy !== "bad" || isFlagged(t)) && words.every(w => `${t.node} ${t.name} ${t.op} ${t.type}`.toLowerCase().includes(w)));
}

function openLayer(name) {
  const item = byName.get(name);
  if (!item) return;
  if (!layerTable.open(item)) {
    $("search").value = "";
    $("filter").firstChild.click();
    layerTable.open(item);
  }
}

function layers() {
  const columns = layerColumns();
  layerTable = table("layers", columns, { rows: data.tensors, flag: isFlagged, detail: detailOf });
  const bad = data.tensors.filter(isFlagged).length;
  segments($("filter"), [["all", "All"], ["quantized", "Quantized"], ["bad", `Bad (${bad})`]], "all", value => { filterBy = value; layerTable.show(shownLayers()); });
  $("search").addEventListener("input", () => layerTable.show(shownLayers()));
  document.addEventListener("keydown", e => { if (e.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) { e.preventDefault(); $("search").focus(); } });
  $("sorter").append(el("option", { value: -1 }, "graph"), ...columns.map((c, i) => c.num ? el("option", { value: i }, c.text) : ""));
  $("sorter").addEventListener("change", e => { if (+e.target.value >= 0) layerTable.sortBy(+e.target.value, true); else location.hash = ""; });
  $("csv").addEventListener("click", () => {
    const quote = v => /[",\n]/.test(v) ? `"${v.replace(/"/g, '""')}"` : v, keys = ["node", "op", "name", "type", "added_noise", "qdq_noise", "xmodel_noise", "added_err", "qdq_err", "xmodel_err", "cosine", "max_error", "min", "max", "saturated", "dead_channels", "alone_noise", "ms"];
    const lines = [keys.join(","), ...data.tensors.map(t => keys.map(k => quote(has(t[k]) ? String(t[k]) : "")).join(","))];
    const link = el("a", { href: URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" })), download: fileName(data.quantized).replace(/\.onnx$/, "") + "-layers.csv" });
    document.body.append(link); link.click(); link.remove();
  });
}

function weights() {
  if (!data.weights.length) { $("weights-card").hidden = true; return; }
  table("weights", [
    { text: "name", key: w => w.name, class: "name", cell: w => ({ value: w.name, text: w.name }) }, { text: "node", key: w => w.node, class: "tensor", cell: w => ({ value: w.node, text: w.node }) },
    { text: "kind", key: w => w.kind, class: "op", width: "78px", cell: w => ({ value: w.kind }) }, { text: "type", key: w => w.type, class: "type", width: "66px", cell: w => ({ value: el("span", { class: "chip int" }, w.type) }) },
    { text: "shape", num: true, width: "120px", key: w => w.shape.reduce((a, b) => a * b, 1), cell: w => ({ value: w.shape.join("×") }) },
    { text: "scales", num: true, width: "70px", key: w => w.scales.length, cell: w => ({ value: w.scales.length }) },
    { text: "noise", num: true, width: "92px", key: w => w.noise, cell: w => w.corrected ? { value: "corrected", text: "moved on purpose, to make up for the error of the weights", kind: "soft" } : { value: percent(w.noise), kind: grade(w.noise) } },
    { text: "SQNR dB", num: true, width: "78px", key: w => w.qdq_err, cell: w => ({ value: db(w.qdq_err) }) },
    { text: "worst channel", num: true, width: "132px", key: w => w.corrected || !w.worst_channel ? null : -w.worst_channel.err, cell: w => ({ value: w.corrected || !w.worst_channel ? NOTHING : `${w.worst_channel.index}: ${db(w.worst_channel.err)} dB` }) },
    { text: "cut off", num: true, width: "84px", key: w => w.saturated, cell: w => ({ value: percentOrNothing(w.saturated), kind: w.saturated > 0 ? "bad" : "" }) }],
    { rows: data.weights, flag: w => w.saturated > 0 });
}

function samples() {
  const list = data.per_sample.slice().sort((a, b) => (b.noise ?? 0) - (a.noise ?? 0));
  if (!list.length) { $("samples-card").hidden = true; return; }
  const most = Math.max(...list.map(s => s.noise || 0), 1e-9);
  const add = s => $("samples").append(el("div", { class: "sample" }, el("span", {}, s.file || `sample ${s.index}`), el("b", { class: grade(s.noise) }, percent(s.noise)), el("div", { class: "track" }, el("i", { style: `width:${100 * (s.noise || 0) / most}%` })),
    el("span", { class: "soft" }, s.saturated > 0 ? `${percent(s.saturated)} of ${s.saturated_tensor} cut off` : "")));
  list.slice(0, 8).forEach(add);
  if (list.length > 8) {
    const button = el("button", { type: "button", onclick: () => { button.parentNode.remove(); list.slice(8).forEach(add); } }, `Show all ${list.length}`);
    $("samples-card").append(el("p", { class: "more" }, button));
  }
}

function ends() {
  const name = fileName(data.quantized);
  document.title = `${name}: quantization report`;
  $("title").textContent = name;
  $("models").textContent = `against ${fileName(data.float)}${data.prepared ? ", prepared as for quantization" : ""} · ${count(data.samples, "sample")}` + (data.skipped ? ` (${data.skipped} skipped)` : "") + (data.compare ? ` · beside ${fileName(data.compare.quantized)}` : "");
  const run = data.run || {};
  $("footer").append(facts([["float model", data.float], ["quantized model", data.quantized], ["data", (run.data || []).join(", ")], ["made", run.date], ["by", run.version], ["on", run.machine]]));
  if (run.command) $("footer").append(command(run.command));
}

function theme() {
  const media = matchMedia("(prefers-color-scheme: dark)"), button = $("theme");
  let chosen = null;
  try { chosen = localStorage.getItem("onnxq-theme"); } catch { }
  const asked = new URLSearchParams(location.search).get("theme");
  if (asked) chosen = asked;
  const apply = () => { const now = chosen || (media.matches ? "dark" : "light"); document.documentElement.dataset.theme = now; button.textContent = now === "dark" ? "Light" : "Dark"; button.setAttribute("aria-label", `Use ${now === "dark" ? "light" : "dark"} colours`); redraw(); };
  button.addEventListener("click", () => { chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark"; try { localStorage.setItem("onnxq-theme", chosen); } catch { } apply(); });
  media.addEventListener("change", apply);
  apply();
}

const drawings = [];
const redraw = () => drawings.forEach(draw => draw());

theme(); ends(); verdict(); tiles(); issues(); buildGraph(); layers(); depth(); samples(); weights();
if (data.verdict === "input-mismatch") {
  // Alone: the layers are there for those who want them all the same.
  const rest = $("rest"), more = el("details", { class: "card" }, el("summary", {}, "Show the layers all the same"));
  rest.before(more); more.append(rest);
  more.addEventListener("toggle", redraw);
} else if (ranked.length && ranked[0].advice.length) layerTable.open(ranked[0]), scrollTo(0, 0), document.activeElement.blur();
addEventListener("resize", redraw);
redraw();
document.body.dataset.ready = "yes";
