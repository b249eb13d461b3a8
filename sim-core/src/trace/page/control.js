// The page around the diagram: filters, zoom and pan, keys, and the details of what is chosen.

const byId = (id) => document.getElementById(id);
const model = makeModel(JSON.parse(byId("run").textContent));
const view = makeView(model);
const filter = {
  text: "", connection: null, timers: true, log: true, nodes: model.hosts.map(() => true),
};
const canvas = byId("diagram");
const context = canvas.getContext("2d");
let isAsked = false;

/** Draws now. */
function render() {
  isAsked = false;
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  const [wide, high] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== wide || canvas.height !== high) {
    canvas.width = wide;
    canvas.height = high;
  }
  view.width = width;
  view.height = height;
  keepInside();
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  draw(view, context);
}

/** Draws with the next frame; where things are is so at once. */
function ask() {
  keepInside();
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(render);
}

/** Takes the colors of the scheme that the browser shows. */
function readColors() {
  const style = getComputedStyle(document.documentElement);
  const names = ["ground", "ink", "soft", "line", "hover", "lane", "focus", "data", "control",
    "reset", "datagram", "done", "failed", "indeterminate", "cut", "pause", "down", "other", "bad",
    "bad-ground", "chosen", "mono", "sans"];
  names.forEach((name) => { view.colors[name] = style.getPropertyValue(`--${name}`).trim(); });
}

// Zoom and pan.

function extent() {
  return positionOf(view, view.rows.length - 1);
}

function room() {
  return Math.max(40, view.height - HEAD - ROW * 1.5);
}

function keepInside() {
  const most = Math.max(0, extent() * view.scale - room());
  view.offset = Math.min(Math.max(view.offset, 0), most);
}

/** Zooms by a factor, around a height of the canvas. */
function zoom(factor, y = view.height / 2) {
  const position = (y - HEAD - ROW / 2 + view.offset) / view.scale;
  const whole = room() / Math.max(1, extent());
  const least = Math.min(whole, view.axis === "event" ? ROW : whole);
  const most = view.axis === "event" ? 64 : 40;
  view.scale = Math.min(Math.max(view.scale * factor, least), most);
  view.offset = position * view.scale + HEAD + ROW / 2 - y;
  ask();
}

function fit() {
  view.scale = room() / Math.max(1, extent());
  if (view.axis === "event") view.scale = Math.min(view.scale, 2 * ROW);
  view.offset = 0;
  ask();
}

/** Brings an event into view, into the middle where it was out of it. */
function reveal(index) {
  const y = yOfEvent(view, index);
  if (y < HEAD + ROW || y > view.height - ROW) view.offset += y - view.height / 2;
  ask();
}

function setAxis(axis) {
  const center = view.chosen ?? view.rows[nearestRow(view, view.height / 2)] ?? 0;
  view.axis = axis;
  setArrows(view, view.isWhole);
  if (axis === "time") fit();
  else view.scale = ROW;
  view.offset = positionOf(view, rowOf(view, center)) * view.scale - view.height / 2;
  ask();
}

// What is chosen.

function choose(index) {
  view.chosen = index;
  showDetails();
  if (index !== null) reveal(index);
  ask();
}

/** Chooses the event so many rows on; of one node where that is asked for. */
function step(count, isOnNode = false) {
  const { rows } = view;
  if (rows.length === 0) return;
  if (view.chosen === null) return choose(rows[nearestRow(view, view.height / 2)]);
  const here = rowOf(view, view.chosen);
  let row = rows[here] === view.chosen || count < 0 ? here + count : here + count - 1;
  if (isOnNode) {
    const nodes = nodesOf(model, model.events[view.chosen]).slice(0, 1);
    const isSame = (other) => nodesOf(model, model.events[rows[other]])[0] === nodes[0];
    while (row >= 0 && row < rows.length && !isSame(row)) row += count;
    if (row < 0 || row >= rows.length) return;
  }
  choose(rows[Math.min(Math.max(row, 0), rows.length - 1)]);
}

function element(tag, text = "", className = "") {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  return made;
}

function pairs(list, entries) {
  for (const [name, value] of entries) list.append(element("dt", name), element("dd", value));
}

const TITLES = {
  deliver: "Segment", datagram: "Datagram", operation: "Operation", outcome: "Outcome",
  machine_timer: "Timer", kernel_timer: "Timer of the kernel", control: "Control", stop: "Stop",
  start: "Start", finish: "Finish", output: "Output", note: "Note", route: "Route",
  failure: "Failure", log: "Log",
};

/** What the panel says of an event, name by name. */
function factsOf(event) {
  const host = (node) => model.hosts[node] ?? "?";
  const skipped = new Set(["index", "number", "at", "event", "subject", "text", "bytes", "line",
    "message", "fields"]);
  if (event.spans?.length === 0) skipped.add("spans");
  const hosts = (nodes) => nodes.map(host).join(", ") || "any";
  const named = {
    node: host,
    from: host,
    nodes: hosts,
    others: hosts,
    sent: (at) => `${clock(at)} (${span(event.at - at)} on its way)`,
    connection: (one) => `${one}: ${model.connections.get(one) ?? "?"}`,
    spans: (spans) => spans.join(" › "),
  };
  const isShown = ([name, value]) => !skipped.has(name) && value !== null && value !== undefined;
  const facts = Object.entries(event).filter(isShown);
  facts.push(...Object.entries(event.fields ?? {}));
  const operation = model.byId.get(event.id);
  if (operation && operation.end !== null) {
    const [start, end] = [model.events[operation.start], model.events[operation.end]];
    facts.push([event.event === "outcome" ? "operation" : "outcome",
      event.event === "outcome" ? start.operation : `${end.ending} ${end.outcome}`]);
    facts.push(["took", span(end.at - start.at)]);
  }
  const message = messageOf(event);
  if (message) {
    const time = span(message.at - message.sent);
    facts.push(["message", `${message.len} bytes in ${message.count} segments, ${time} in all`]);
  }
  const names = isPassage(event) ? { node: "to" } : {};
  return facts.map(([name, value]) => [names[name] ?? name, String((named[name] ?? String)(value))]);
}

/** The message that a segment is a part of, where it has others. */
function messageOf(event) {
  if (event.event !== "deliver" || event.len === 0) return undefined;
  return model.messages.find((one) => one.connection === event.connection && one.count > 1
    && one.from === event.from && one.first <= event.index && event.index <= one.index);
}

/** The text of an event in full: its bytes, its line, its message. */
function bodyOf(event) {
  const details = model.head.failure?.details ?? [];
  if (event.event === "failure") return [event.message, ...details].join("\n");
  return event.bytes || event.line || event.message || "";
}

function showDetails() {
  const place = byId("details");
  place.replaceChildren();
  const event = model.events[view.chosen];
  place.dataset.index = event ? event.index : "";
  if (!event) {
    place.append(element("h2", "Nothing is chosen"));
    place.append(element("p", "Click an event, or press ↓.", "when"));
    return;
  }
  const kind = TITLES[event.event] ?? event.event;
  const title = kind.toLowerCase() === event.subject ? kind : `${kind} · ${event.subject}`;
  const facts = element("dl");
  pairs(facts, factsOf(event));
  const which = event.number === undefined ? "said by tracing" : `event ${event.number}`;
  const when = `${clock(event.at)} s · ${which}`;
  place.append(element("h2", title), element("p", when, "when"), facts);
  const body = bodyOf(event);
  if (body) place.append(element("pre", body));
  const steps = element("div", "", "steps");
  for (const [name, act] of stepsFrom(event)) {
    const button = element("button", name);
    button.type = "button";
    button.addEventListener("click", act);
    steps.append(button);
  }
  place.append(steps);
}

/** Where one can go from an event. */
function stepsFrom(event) {
  const steps = [];
  const operation = model.byId.get(event.id);
  if (event.event === "operation" && operation?.end != null) {
    steps.push(["To its outcome", () => choose(operation.end)]);
  }
  if (event.event === "outcome" && operation) {
    steps.push(["To its start", () => choose(operation.start)]);
  }
  if (event.connection !== undefined) {
    const isOnly = filter.connection === event.connection;
    steps.push([isOnly ? "All connections" : "Only this connection", () => {
      setConnection(isOnly ? null : event.connection);
      showDetails();
    }]);
  }
  const band = model.bands.find((one) => one.start === event.index || one.end === event.index);
  if (band && band.end !== null) {
    const isStart = band.start === event.index;
    const name = isStart ? "To its end" : "To its beginning";
    steps.push([name, () => choose(isStart ? band.end : band.start)]);
  }
  return steps;
}

// Filters.

function refilter() {
  const center = view.chosen ?? view.rows[nearestRow(view, view.height / 2)] ?? 0;
  setRows(view, filter);
  view.offset = positionOf(view, rowOf(view, center)) * view.scale - view.height / 2;
  const isEvent = (event) => event.event !== "plan" && event.event !== "host";
  const all = model.events.filter(isEvent).length;
  const shown = view.rows.length;
  byId("count").textContent = shown === all ? `${all} events` : `${shown} of ${all} events`;
  byId("empty").hidden = shown > 0;
  ask();
}

function setConnection(connection) {
  filter.connection = connection;
  byId("connection").value = connection ?? "";
  refilter();
}

function clearFilters() {
  filter.text = byId("text").value = "";
  filter.nodes.fill(true);
  document.querySelectorAll("#nodes input").forEach((input) => { input.checked = true; });
  filter.timers = byId("timers").checked = true;
  filter.log = byId("log").checked = true;
  setConnection(null);
}

function makeFilters() {
  byId("text").addEventListener("input", (event) => {
    filter.text = event.target.value;
    refilter();
  });
  for (const name of ["timers", "log"]) {
    byId(name).addEventListener("change", (event) => {
      filter[name] = event.target.checked;
      refilter();
    });
  }
  byId("log").parentElement.hidden = model.head.said === 0;
  const select = byId("connection");
  select.append(new Option("All connections", ""));
  for (const [connection, name] of model.connections) {
    select.append(new Option(`${connection}: ${name}`, connection));
  }
  select.addEventListener("change", () => {
    setConnection(select.value === "" ? null : Number(select.value));
  });
  model.hosts.forEach((host, node) => {
    const label = element("label", "", "chip");
    const input = element("input");
    input.type = "checkbox";
    input.checked = true;
    input.addEventListener("change", () => { filter.nodes[node] = input.checked; refilter(); });
    label.append(input, element("span", host));
    byId("nodes").append(label);
  });
  document.querySelectorAll("[name=axis]").forEach((input) => {
    input.addEventListener("change", () => setAxis(input.value));
  });
  document.querySelectorAll("[name=arrows]").forEach((input) => {
    input.addEventListener("change", () => { setArrows(view, input.value === "messages"); ask(); });
  });
  byId("tools").addEventListener("submit", (event) => event.preventDefault());
  byId("in").addEventListener("click", () => zoom(1.5));
  byId("out").addEventListener("click", () => zoom(1 / 1.5));
  byId("fit").addEventListener("click", fit);
  byId("failure").addEventListener("click", () => choose(model.failure));
}

// Keys, wheel and pointers.

const KEYS = {
  ArrowDown: () => step(1), ArrowUp: () => step(-1), j: () => step(1), k: () => step(-1),
  ArrowRight: () => step(1, true), ArrowLeft: () => step(-1, true),
  PageDown: () => step(10), PageUp: () => step(-10),
  Home: () => choose(view.rows[0] ?? null),
  End: () => choose(view.rows[view.rows.length - 1] ?? null),
};

/** Keys that mean the same wherever the focus is, but for where text is written. */
const KEYS_ANYWHERE = {
  "+": () => zoom(1.5), "=": () => zoom(1.5), "-": () => zoom(1 / 1.5), 0: fit,
  f: () => { if (model.failure !== null) choose(model.failure); },
  "/": () => byId("text").focus(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    clearFilters();
    canvas.focus();
    return;
  }
  if (event.target.matches("input[type=search], select")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const act = (event.target === canvas ? KEYS[key] : undefined) ?? KEYS_ANYWHERE[key];
  if (!act) return;
  event.preventDefault();
  act();
}

function onWheel(event) {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 16 : 1;
  if (event.ctrlKey || event.metaKey) {
    zoom(Math.exp(-event.deltaY * unit * 0.004), event.offsetY);
  } else {
    view.offset += event.deltaY * unit;
    ask();
  }
}

/** The pointers that are down; one pans, two zoom, one that did not move chooses. */
const pointers = new Map();
let moved = 0;

function onDown(event) {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, event);
  moved = pointers.size > 1 ? Infinity : 0;
}

function onMove(event) {
  const before = pointers.get(event.pointerId);
  if (!before) {
    const hover = eventAt(view, event.offsetX, event.offsetY);
    if (hover !== view.hover) ask();
    view.hover = hover;
    return;
  }
  moved += Math.abs(event.offsetX - before.offsetX) + Math.abs(event.offsetY - before.offsetY);
  const other = [...pointers.values()].find((one) => one.pointerId !== event.pointerId);
  if (other) {
    const [was, is] = [before, event].map((one) => Math.abs(one.offsetY - other.offsetY) + 20);
    zoom(is / was, (event.offsetY + other.offsetY) / 2);
  } else if (moved > 4) {
    view.offset -= event.offsetY - before.offsetY;
    ask();
  }
  pointers.set(event.pointerId, event);
}

function onUp(event) {
  const isClick = pointers.delete(event.pointerId) && moved <= 4 && event.type === "pointerup";
  if (isClick) choose(eventAt(view, event.offsetX, event.offsetY));
}

function listen() {
  document.addEventListener("keydown", onKey);
  canvas.addEventListener("wheel", onWheel, { passive: false });
  canvas.addEventListener("pointerdown", onDown);
  canvas.addEventListener("pointermove", onMove);
  ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name, onUp));
  canvas.addEventListener("pointerleave", () => { view.hover = null; ask(); });
  new ResizeObserver(render).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColors();
    makeLegend();
    ask();
  });
}

// What stands around.

function makeHeader() {
  const { head } = model;
  const failure = head.failure;
  byId("target").textContent = head.target;
  byId("class").textContent = failure ? failure.class : "passed";
  byId("class").classList.toggle("bad", failure !== null);
  byId("message").textContent = failure ? failure.message : "";
  const events = head.said > 0 ? `${head.events} events, ${head.said} of the log`
    : `${head.events} events`;
  const facts = [events, `${span(head.elapsed)} of virtual time`,
    `hash ${head.hash.slice(0, 12)}`];
  if (failure) facts.unshift(`bug ${failure.bug} at ${failure.origin}`);
  byId("facts").textContent = facts.join("  ·  ");
  byId("failure").hidden = model.failure === null;
  const why = byId("why");
  why.hidden = !failure || failure.details.length === 0;
  if (!why.hidden) why.lastElementChild.append(element("pre", failure.details.join("\n")));
  const plan = head.plan.map(({ dimension, meaning }) => [dimension, meaning]);
  if (plan.length === 0) plan.push(["calm", "every dimension is zero"]);
  pairs(byId("plan").lastElementChild, plan);
}

/** Draws a sample of each thing beside its name. */
function makeLegend() {
  const { colors } = view;
  const arrow = (kind, isLost = false) => (to) => {
    to.strokeStyle = to.fillStyle = colors[kind];
    to.lineWidth = 1.5;
    if (kind === "datagram") to.setLineDash([5, 4]);
    line(to, 2, 3, 42, 12);
    to.setLineDash([]);
    const path = new Path2D();
    tip(path, 2, 3, 42, 12, isLost, 6);
    to.stroke(path);
    if (!isLost) to.fill(path);
  };
  const band = (kind) => (to) => hatch(to, kind, colors[kind], 8, 0, 28, 16);
  const operation = (ending) => (to) => bar(to, colors[ending], ending, 22, 1, 15, 5);
  const said = (to) => {
    to.fillStyle = colors.focus;
    mark(to, "log", 22, 8, 3.2);
  };
  const samples = [
    ["bytes of a connection", arrow("data")], ["SYN, FIN, acknowledgment", arrow("control")],
    ["reset", arrow("reset")], ["datagram", arrow("datagram")],
    ["datagram that is lost", arrow("datagram", true)],
    ["operation: done", operation("done")], ["failed", operation("failed")],
    ["may or may not be done", operation("indeterminate")],
    ["partition, hold", band("cut")], ["pause, slowness", band("pause")], ["down", band("down")],
    ["another control", band("other")], ["what a program says (tracing)", said],
  ];
  const list = byId("legend").lastElementChild;
  list.replaceChildren();
  for (const [name, paint] of samples) {
    const sample = element("canvas");
    const ratio = window.devicePixelRatio || 1;
    [sample.width, sample.height] = [44 * ratio, 16 * ratio];
    const to = sample.getContext("2d");
    to.scale(ratio, ratio);
    paint(to);
    const item = element("li");
    item.append(sample, element("span", name));
    list.append(item);
  }
}

if (matchMedia("(min-width: 821px) and (min-height: 700px)").matches) {
  ["why", "plan", "legend"].forEach((id) => { byId(id).open = true; });
}
readColors();
makeHeader();
makeFilters();
makeLegend();
listen();
setRows(view, filter);
render();
refilter();
choose(model.failure ?? view.rows[0] ?? null);
if (model.failure !== null) view.offset += yOfEvent(view, model.failure) - view.height * 0.75;
render();
