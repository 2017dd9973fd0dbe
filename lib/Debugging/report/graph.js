// The graph: layers from above to below, drawn on a canvas so that thousands of
// nodes can be moved.
const NODE = { w: 150, h: 34, gapX: 26, gapY: 30 };
// Tensor to the place of the node that makes it.
const graphPlace = new Map();
data.graph.forEach(([, , tensors], i) => tensors.forEach(name => graphPlace.has(name) || graphPlace.set(name, i)));
let showInGraph = () => { };

// Layers by the longest way from an input; edges over many layers bend at points
// between; orders by the middle of neighbours; places by pulling at them.
function layOut(nodes) {
  const n = nodes.length, level = new Array(n).fill(0), readers = nodes.map(() => []);
  nodes.forEach((node, i) => node.sources.forEach(s => { if (s < i) { level[i] = Math.max(level[i], level[s] + 1); readers[s].push(i); } }));
  // What has no source stands right above its first reader.
  for (let i = n - 1; i >= 0; --i) if (!nodes[i].sources.length && readers[i].length) level[i] = Math.max(0, Math.min(...readers[i].map(r => level[r])) - 1);
  const items = nodes.map((_, i) => ({ node: i, level: level[i], up: [], down: [], x: 0, w: NODE.w })), edges = [];
  const LONG = 60;
  nodes.forEach((node, i) => node.sources.forEach(s => {
    if (s >= i) return;
    const path = [s], span = level[i] - level[s];
    if (span > 1 && span <= LONG) for (let l = level[s] + 1; l < level[i]; ++l) { items.push({ node: -1, level: l, up: [], down: [], x: 0, w: 12 }); path.push(items.length - 1); }
    path.push(i);
    for (let k = 1; k < path.length; ++k) { items[path[k - 1]].down.push(path[k]); items[path[k]].up.push(path[k - 1]); }
    edges.push(path);
  }));
  const layers = [];
  items.forEach((item, i) => (layers[item.level] ||= []).push(i));
  for (let l = 0; l < layers.length; ++l) layers[l] ||= [];
  const place = new Array(items.length).fill(0), number = layer => layer.forEach((i, at) => { place[i] = at; });
  layers.forEach(number);
  for (let sweep = 0; sweep < 6; ++sweep) {
    const side = sweep % 2 ? "down" : "up", order = sweep % 2 ? layers.slice().reverse() : layers;
    for (const layer of order) {
      const middle = new Map(layer.map(i => [i, items[i][side].length ? items[i][side].reduce((sum, o) => sum + place[o], 0) / items[i][side].length : place[i]]));
      layer.sort((a, b) => middle.get(a) - middle.get(b) || place[a] - place[b]);
      number(layer);
    }
  }
  for (const layer of layers) { let x = 0; for (const i of layer) { items[i].x = x + items[i].w / 2; x += items[i].w + NODE.gapX; } }
  for (let round = 0; round < 14; ++round) {
    for (const layer of round % 2 ? layers.slice().reverse() : layers) {
      const wanted = layer.map(i => { const near = [...items[i].up, ...items[i].down]; return near.length ? near.reduce((sum, o) => sum + items[o].x, 0) / near.length : items[i].x; });
      // From the left and from the right with what must lie between; the middle of both.
      const left = [], right = [];
      layer.forEach((i, k) => { left[k] = k ? Math.max(wanted[k], left[k - 1] + (items[layer[k - 1]].w + items[i].w) / 2 + NODE.gapX) : wanted[k]; });
      for (let k = layer.length - 1; k >= 0; --k) right[k] = k < layer.length - 1 ? Math.min(wanted[k], right[k + 1] - (items[layer[k + 1]].w + items[layer[k]].w) / 2 - NODE.gapX) : wanted[k];
      layer.forEach((i, k) => { items[i].x = (left[k] + right[k]) / 2; });
    }
  }
  const pitch = NODE.h + NODE.gapY;
  items.forEach(item => { item.y = item.level * pitch; });
  return { items, edges, layers, height: layers.length * pitch };
}

function buildGraph() {
  const card = $("graph-card");
  if (!data.graph.length) { card.hidden = true; return; }
  const nodes = data.graph.map(([name, op, tensors, sources]) => {
    const compared = tensors.map(t => byName.get(t)).filter(Boolean), tensor = compared.find(isQuantized) || compared[0] || null;
    return { name, op, tensors, sources, tensor, ms: data.times[name] ?? null, text: `${name} ${tensors.join(" ")} ${op}`.toLowerCase() };
  });
  const map = layOut(nodes), canvas = $("graph"), overview = $("overview"), slowest = Math.max(...nodes.map(n => n.ms || 0), 1e-9);
  const left = Math.min(...map.items.map(i => i.x - i.w / 2)), right = Math.max(...map.items.map(i => i.x + i.w / 2)), width = right - left;
  let mode = "added", scale = 1, panX = 0, panY = 0, selected = -1, matches = [], matched = new Set(), at = -1, colours;
  const readColours = () => { colours = Object.fromEntries(["card", "raised", "line", "ink", "soft", "faint", "accent", "accent-soft", "bad", "bad-soft", "fair", "fair-soft", "good", "good-soft", "node", "edge", "violet", "teal", "warm", "hot"].map(name => [name, colour("--" + name)])); };
  const typeColour = type => type === "float" ? null : /16/.test(type) ? colours.violet : /4/.test(type) && !/[0-9]4[0-9]/.test(type) ? colours.teal : colours.accent;
  const mix = (a, b, t) => { const p = parseColour(a), q = parseColour(b); return `rgb(${p.map((v, i) => Math.round(v + (q[i] - v) * t)).join(",")})`; };
  const parseColour = text => { const hex = text.replace("#", ""); return [0, 2, 4].map(i => parseInt(hex.slice(i, i + 2), 16)); };
  // From nothing over amber to red, on a logarithmic scale from 0.1 % to 30 %.
  const heat = share => { if (!(share > 0)) return null; const t = Math.max(0, Math.min(1, (Math.log10(share) + 3) / 2.5)); return t < 0.5 ? mix(colours.node, colours.warm, t * 2) : mix(colours.warm, colours.hot, (t - 0.5) * 2); };
  const fillOf = node => {
    const t = node.tensor;
    if (mode === "time") return node.ms > 0 ? mix(colours.node, colours.accent, 0.12 + 0.88 * Math.sqrt(node.ms / slowest)) : null;
    if (!t) return null;
    if (mode === "type") return typeColour(t.type);
    return heat(mode === "added" ? t.added_noise : t.xmodel_noise);
  };
  const dark = fill => { const [r, g, b] = fill.startsWith("#") ? parseColour(fill) : fill.match(/\d+/g).map(Number); return 0.299 * r + 0.587 * g + 0.114 * b < 150; };
  const size = c => { const ratio = devicePixelRatio || 1, w = c.clientWidth, h = c.clientHeight; if (c.width !== Math.round(w * ratio) || c.height !== Math.round(h * ratio)) { c.width = Math.round(w * ratio); c.height = Math.round(h * ratio); } const g = c.getContext("2d"); g.setTransform(ratio, 0, 0, ratio, 0, 0); g.clearRect(0, 0, w, h); return [g, w, h]; };
  const free = () => canvas.clientWidth - overview.clientWidth;
  const clampPan = () => { const w = free(), h = canvas.clientHeight, room = 80; panX = Math.max(room - right * scale, Math.min(w - room - left * scale, panX)); panY = Math.max(room - map.height * scale, Math.min(h - room, panY)); };
  const fit = () => { scale = Math.min(1, (free() - 40) / width, (canvas.clientHeight - 40) / map.height); panX = (free() - width * scale) / 2 - left * scale; panY = (canvas.clientHeight - map.height * scale) / 2 + NODE.h * scale / 2; draw(); };
  const zoom = (factor, x = free() / 2, y = canvas.clientHeight / 2) => { const next = Math.max(0.02, Math.min(2.5, scale * factor)); panX = x - (x - panX) * next / scale; panY = y - (y - panY) * next / scale; scale = next; draw(); };
  const centre = (i, near) => { const item = map.items[i]; if (near && scale < 0.7) scale = 0.9; panX = free() / 2 - item.x * scale; panY = canvas.clientHeight / 2 - item.y * scale; };
  const cut = (g, text, room) => { if (g.measureText(text).width <= room) return text; let low = 0, high = text.length; while (low < high) { const middle = (low + high + 1) >> 1; if (g.measureText("…" + text.slice(text.length - middle)).width <= room) low = middle; else high = middle - 1; } return "…" + text.slice(text.length - low); };
  function draw() {
    if (!canvas.clientWidth) return;
    clampPan();
    const [g, w, h] = size(canvas), sx = x => x * scale + panX, sy = y => y * scale + panY, half = NODE.h * scale / 2;
    const first = Math.max(0, Math.floor((-panY / scale - NODE.h) / (NODE.h + NODE.gapY))), last = Math.ceil((h - panY) / scale / (NODE.h + NODE.gapY)) + 1;
    g.lineWidth = Math.max(0.6, Math.min(1.4, scale * 1.4));
    for (const path of map.edges) {
      const top = map.items[path[0]], end = map.items[path[path.length - 1]];
      if (end.level < first || top.level > last) continue;
      const hot = selected >= 0 && (top.node === selected || end.node === selected);
      g.strokeStyle = hot ? colours.accent : colours.edge;
      g.beginPath();
      for (let k = 1; k < path.length; ++k) {
        const a = map.items[path[k - 1]], b = map.items[path[k]], ya = sy(a.y) + (a.node < 0 ? 0 : half), yb = sy(b.y) - (b.node < 0 ? 0 : half), bend = (yb - ya) / 2;
        if (k === 1) g.moveTo(sx(a.x), ya);
        g.bezierCurveTo(sx(a.x), ya + bend, sx(b.x), yb - bend, sx(b.x), yb);
      }
      g.stroke();
    }
    const names = scale > 0.42;
    g.textBaseline = "middle";
    for (let l = first; l <= Math.min(last, map.layers.length - 1); ++l) for (const i of map.layers[l]) {
      const item = map.items[i];
      if (item.node < 0) continue;
      const node = nodes[item.node], x = sx(item.x) - NODE.w * scale / 2, y = sy(item.y) - half, wide = NODE.w * scale, high = NODE.h * scale;
      if (x > w || x + wide < 0) continue;
      const fill = fillOf(node), faded = matched.size && !matched.has(item.node), type = node.tensor ? node.tensor.type : "float", ring = typeColour(type);
      g.globalAlpha = faded ? 0.3 : 1;
      g.beginPath(); g.roundRect(x, y, wide, high, Math.min(7, 7 * scale)); g.fillStyle = fill || colours.card; g.fill();
      g.lineWidth = item.node === selected ? 2.5 : ring ? Math.max(1, 1.6 * scale) : 1; g.strokeStyle = item.node === selected ? colours.accent : ring || colours.edge; g.stroke();
      if (names) {
        const light = fill && dark(fill), noise = node.tensor && (mode === "total" ? node.tensor.xmodel_noise : node.tensor.added_noise), note = mode === "time" ? (node.ms > 0 ? ms(node.ms) + " ms" : "") : mode === "type" ? type : noise > 0 ? percent(noise) : "";
        g.font = `600 ${11.5 * scale}px system-ui, sans-serif`; g.fillStyle = light ? "#fff" : fill ? "#17202b" : colours.ink; g.textAlign = "left";
        g.fillText(node.op, x + 8 * scale, y + high * 0.32);
        g.textAlign = "right"; g.font = `${10.5 * scale}px system-ui, sans-serif`; g.fillText(note, x + wide - 8 * scale, y + high * 0.32);
        g.textAlign = "left"; g.fillStyle = light ? "rgba(255,255,255,.85)" : fill ? "rgba(23,32,43,.75)" : colours.soft; g.fillText(cut(g, node.name, wide - 16 * scale), x + 8 * scale, y + high * 0.7);
      }
      g.globalAlpha = 1;
    }
    drawOverview();
  }
  const mapScale = () => Math.min((overview.clientWidth - 12) / width, overview.clientHeight / map.height);
  function drawOverview() {
    const [g, w, h] = size(overview), k = h / map.height, kx = Math.min((w - 12) / width, 0.2), middle = (left + right) / 2;
    for (const item of map.items) {
      if (item.node < 0) continue;
      const fill = fillOf(nodes[item.node]), tall = Math.max(1.2, NODE.h * k * 0.8), wide = Math.max(5, NODE.w * kx);
      g.fillStyle = matched.has(item.node) ? colours.accent : fill || colours.edge;
      g.fillRect(w / 2 + (item.x - middle) * kx - wide / 2, item.y * k + NODE.h * k / 2 - tall / 2, wide, tall);
    }
    const top = Math.max(0, -panY / scale * k), bottom = Math.min(h, (canvas.clientHeight - panY) / scale * k);
    g.strokeStyle = colours.accent; g.lineWidth = 1.5; g.strokeRect(1.5, top + 1, w - 3, Math.max(6, bottom - top - 2));
  }
  function pick(i, near) {
    selected = i;
    const box = $("picked"), node = nodes[i];
    box.hidden = i < 0;
    if (i >= 0) {
      const t = node.tensor;
      box.replaceChildren(el("b", {}, node.op), " ", node.name, el("div", { class: "soft" }, t ? `${t.type} · ${percent(t.added_noise)} added · ${percent(t.xmodel_noise)} total` + (has(node.ms) ? ` · ${ms(node.ms)} ms` : "") : "stays within a fused region, or isn’t quantized" + (has(node.ms) ? ` · ${ms(node.ms)} ms` : "")),
        t ? el("button", { type: "button", class: "link", onclick: () => openLayer(t.name) }, "Open in the table") : "");
      if (near) centre(i, true);
    }
    draw();
  }
  showInGraph = (name, scroll) => { const i = graphPlace.get(name); if (!has(i)) return; if (scroll) card.scrollIntoView({ block: "center" }); pick(i, true); };
  const nodeAt = (x, y) => { const gx = (x - panX) / scale, gy = (y - panY) / scale, layer = map.layers[Math.round(gy / (NODE.h + NODE.gapY))] || []; const found = layer.find(i => map.items[i].node >= 0 && Math.abs(map.items[i].x - gx) <= NODE.w / 2 && Math.abs(map.items[i].y - gy) <= NODE.h / 2); return has(found) ? found : -1; };
  const fingers = new Map();
  let moved = 0, spread = 0;
  const local = e => { const box = canvas.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
  canvas.addEventListener("pointerdown", e => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, local(e)); moved = 0; spread = 0; canvas.classList.add("drags"); hideTip(); });
  canvas.addEventListener("pointermove", e => {
    const [x, y] = local(e);
    if (!fingers.has(e.pointerId)) {
      const i = nodeAt(x, y), t = $("tip");
      if (i < 0) return hideTip();
      const node = nodes[i];
      t.textContent = `${node.op} ${node.name}` + (node.tensor ? `: ${percent(node.tensor.added_noise)} added, ${percent(node.tensor.xmodel_noise)} total, ${node.tensor.type}` : ""); t.style.display = "block";
      t.style.left = Math.min(e.clientX + 14, innerWidth - t.offsetWidth - 8) + "px"; t.style.top = e.clientY + 14 + "px";
      return;
    }
    const [ox, oy] = fingers.get(e.pointerId);
    fingers.set(e.pointerId, [x, y]);
    if (fingers.size === 1) { panX += x - ox; panY += y - oy; moved += Math.abs(x - ox) + Math.abs(y - oy); draw(); }
    else { const [a, b] = [...fingers.values()], now = Math.hypot(a[0] - b[0], a[1] - b[1]); if (spread) zoom(now / spread, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2); spread = now; moved = 99; }
  });
  const release = e => { if (!fingers.delete(e.pointerId)) return; canvas.classList.remove("drags"); if (e.type === "pointerup" && moved < 5) pick(nodeAt(...local(e))); };
  canvas.addEventListener("pointerup", release); canvas.addEventListener("pointercancel", release); canvas.addEventListener("pointerleave", hideTip);
  // Plain scrolling is the page's, until the graph has the focus.
  canvas.addEventListener("wheel", e => { if (!e.ctrlKey && document.activeElement !== canvas) return; e.preventDefault(); zoom(Math.exp(-e.deltaY * 0.0016), ...local(e)); }, { passive: false });
  canvas.addEventListener("dblclick", e => zoom(1.6, ...local(e)));
  const worst = nodes.map((_, i) => i).filter(i => nodes[i].tensor && nodes[i].tensor.added_noise > 0).sort((a, b) => nodes[b].tensor.added_noise - nodes[a].tensor.added_noise);
  canvas.addEventListener("keydown", e => {
    const step = 60, keys = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step], PageUp: [0, 400], PageDown: [0, -400] };
    if (keys[e.key]) { panX += keys[e.key][0]; panY += keys[e.key][1]; draw(); }
    else if (e.key === "+" || e.key === "=") zoom(1.3);
    else if (e.key === "-") zoom(1 / 1.3);
    else if (e.key === "0") fit();
    else if (e.key === "n" && worst.length) pick(worst[(worst.indexOf(selected) + 1) % worst.length], true);
    else if (e.key === "Enter" && selected >= 0 && nodes[selected].tensor) openLayer(nodes[selected].tensor.name);
    else if (e.key === "Escape") pick(-1);
    else return;
    e.preventDefault();
  });
  const jump = e => { const box = overview.getBoundingClientRect(); panY = canvas.clientHeight / 2 - (e.clientY - box.top) / box.height * map.height * scale; draw(); };
  overview.addEventListener("pointerdown", e => { overview.setPointerCapture(e.pointerId); jump(e); });
  overview.addEventListener("pointermove", e => { if (overview.hasPointerCapture(e.pointerId)) jump(e); });
  $("zoom-in").addEventListener("click", () => zoom(1.4)); $("zoom-out").addEventListener("click", () => zoom(1 / 1.4)); $("zoom-fit").addEventListener("click", fit);
  const find = () => {
    const words = $("graph-search").value.toLowerCase().split(/\s+/).filter(Boolean);
    matches = words.length ? nodes.map((_, i) => i).filter(i => words.every(word => nodes[i].text.includes(word))) : [];
    matched = new Set(matches); at = -1;
    $("graph-found").textContent = words.length ? count(matches.length, "node") + (matches.length > 1 ? ", Enter goes through them" : "") : "";
    if (matches.length) { at = 0; pick(matches[0], true); } else pick(-1);
  };
  $("graph-search").addEventListener("input", find);
  $("graph-search").addEventListener("keydown", e => { if (e.key === "Enter" && matches.length) { at = (at + (e.shiftKey ? matches.length - 1 : 1)) % matches.length; pick(matches[at], true); $("graph-found").textContent = `${at + 1} of ${matches.length}`; } });
  const legend = () => {
    const ramp = [0.001, 0.01, 0.03, 0.1, 0.3].map(share => el("i", { style: `background:${heat(share)};margin:0` })), chip = (c, text) => [el("i", { style: `background:${c}` }), text];
    const types = [...new Set(data.tensors.filter(isQuantized).map(t => t.type))];
    $("graph-legend").replaceChildren(...(mode === "time" ? [...chip(colours.accent, "takes most time")] : mode === "type" ? types.flatMap(t => chip(typeColour(t), t)) : ["0.1 % ", ...ramp, " 30 % noise"]), ...(mode === "type" ? [] : [el("span", { style: "margin-left:14px" }, "Coloured outline: stored as integers.")]),
      el("span", { style: "margin-left:14px" }, "Drag to move, pinch or scroll to zoom after a click; keys: arrows, + − 0, n for the next bad node."));
  };
  const modes = [["added", "Added"], ["total", "Total"], ["type", "Type"]];
  if (Object.keys(data.times).length) modes.push(["time", "Time"]);
  segments($("graph-colours"), modes, mode, value => { mode = value; legend(); draw(); });
  let isFirst = true;
  drawings.push(() => {
    readColours(); legend();
    if (!canvas.clientWidth) return;
    if (isFirst) {
      isFirst = false;
      // All of a small graph; otherwise the worst node, or the start.
      if (map.height * 0.6 <= canvas.clientHeight) { fit(); scale = Math.max(scale, 0.6); panX = free() / 2 - (left + right) / 2 * scale; panY = Math.max(panY, 30); }
      else { scale = free() < 400 ? 0.75 : 0.85; centre(data.verdict !== "good" && worst.length ? worst[0] : 0); if (data.verdict === "good" || !worst.length) panY = 40; }
    }
    draw();
  });
}
