// How the diagram looks: what is in view of a model goes onto a canvas. Time runs downward; a
// position is the row of an event or its moment, whichever the axis shows.

const ROW = 20;
const HEAD = 46;

/** What is shown of a model, and where. */
function makeView(model) {
  return {
    model,
    rows: [],
    axis: "event",
    isWhole: false,
    scale: ROW,
    offset: 0,
    width: 0,
    height: 0,
    chosen: null,
    hover: null,
    lanes: [],
    colors: {},
    arrows: [],
    tops: [],
    ends: [],
    floors: [],
  };
}

/** Sets which events are shown. */
function setRows(view, filter) {
  const { model } = view;
  const passing = model.events.filter((event) => passes(model, event, filter));
  view.rows = passing.map((event) => event.index);
  view.lanes = model.hosts.map((_, host) => host).filter((host) => filter.nodes[host] ?? true);
  setArrows(view, view.isWhole);
}

/** Sets whether arrows are of segments or of whole messages, and puts them onto the axis. */
function setArrows(view, isWhole) {
  const { model } = view;
  const shown = new Set(view.rows);
  view.isWhole = isWhole;
  const all = isWhole ? model.messages : model.arrows;
  view.arrows = all.filter((arrow) => shown.has(arrow.index));
  const count = view.arrows.length;
  [view.tops, view.ends, view.floors] = [0, 1, 2].map(() => new Float64Array(count));
  // The highest beginning of this arrow and those after it: where to stop looking.
  let floor = Infinity;
  for (let i = count - 1; i >= 0; i -= 1) {
    const arrow = view.arrows[i];
    view.ends[i] = positionOf(view, rowOf(view, arrow.index));
    view.tops[i] = Math.min(positionOfMoment(view, arrow.sent), view.ends[i]);
    floor = Math.min(floor, view.tops[i]);
    view.floors[i] = floor;
  }
}

/** The row of an event, or of the first one after it that is shown. */
function rowOf(view, index) {
  return lowerBound(view.rows.length, (row) => view.rows[row], index);
}

/** The position of a row. */
function positionOf(view, row) {
  if (view.axis === "event") return row;
  const last = view.rows.length - 1;
  return last < 0 ? 0 : view.model.events[view.rows[Math.min(row, last)]].at;
}

/** The position of a moment: by event, that of the last event up to it. */
function positionOfMoment(view, at) {
  if (view.axis === "time") return at;
  const moment = (row) => view.model.events[view.rows[row]].at;
  return Math.max(0, lowerBound(view.rows.length, moment, at + 1) - 1);
}

function yOf(view, position) {
  return HEAD + ROW / 2 + position * view.scale - view.offset;
}

function yOfEvent(view, index) {
  return yOf(view, positionOf(view, rowOf(view, index)));
}

/** Where an arrow begins and ends, by its place among the arrows. */
function endsOf(view, i) {
  return [yOf(view, view.tops[i]), yOf(view, view.ends[i])];
}

/** The first row in view and the first after it. */
function rowsInView(view) {
  const position = (row) => positionOf(view, row);
  const from = (view.offset - ROW) / view.scale;
  const to = (view.offset + view.height - HEAD + ROW) / view.scale;
  const count = view.rows.length;
  return [lowerBound(count, position, from), lowerBound(count, position, to)];
}

/** Where the lanes and the text are, for the width that there is. */
function layOut(view) {
  const isNarrow = view.width < 620;
  const gutter = isNarrow ? 68 : 180;
  const room = Math.max(60, (view.width - gutter) * (isNarrow ? 0.6 : 0.48));
  const count = Math.max(1, view.lanes.length);
  view.isNarrow = isNarrow;
  view.gutter = gutter;
  view.step = Math.max(22, Math.min(132, room / count));
  view.textLeft = gutter + view.step * count + 8;
  // One character of the monospaced text is some 7.3 pixels wide.
  const longest = Math.max(8, ...view.model.hosts.map((host) => host.length));
  view.subjects = 7.3 * (1 + Math.min(20, longest));
  view.places = new Map(view.lanes.map((host, i) => [host, gutter + view.step * (i + 0.5)]));
}

/** Draws what is in view. */
function draw(view, context) {
  layOut(view);
  const { width, height, colors } = view;
  context.clearRect(0, 0, width, height);
  context.save();
  context.beginPath();
  context.rect(0, HEAD, width, height - HEAD);
  context.clip();
  const [first, last] = rowsInView(view);
  drawMarked(view, context);
  drawLanes(view, context);
  view.model.bands.forEach((band) => drawBand(view, context, band));
  view.model.operations.forEach((operation) => drawOperation(view, context, operation));
  drawArrows(view, context);
  drawRows(view, context, first, last);
  context.restore();
  drawHead(view, context);
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  line(context, 0, HEAD - 0.5, width, HEAD - 0.5);
}

function line(context, x, y, toX, toY) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(toX, toY);
  context.stroke();
}

/** The rows of the failure, of what is pointed at and of what is chosen. */
function drawMarked(view, context) {
  const { colors, model } = view;
  const marks = [[view.hover, colors.hover], [view.chosen, colors.chosen],
    [model.failure, colors["bad-ground"]]];
  for (const [index, color] of marks) {
    if (index === null || view.rows[rowOf(view, index)] !== index) continue;
    const y = yOfEvent(view, index);
    context.fillStyle = color;
    context.fillRect(0, y - ROW / 2, view.width, ROW);
    if (index !== view.hover) {
      context.fillStyle = index === view.chosen ? colors.focus : colors.bad;
      context.fillRect(0, y - ROW / 2, 3, ROW);
    }
  }
}

function drawLanes(view, context) {
  context.strokeStyle = view.colors.lane;
  context.lineWidth = 1;
  for (const x of view.places.values()) line(context, x, HEAD, x, view.height);
}

/** Where something that lasts begins and ends; what does not end lasts to the end of the run. */
function reachOf(view, start, end) {
  const bottom = end === null ? yOf(view, positionOf(view, view.rows.length)) : yOfEvent(view, end);
  return [yOfEvent(view, start), Math.max(bottom, yOfEvent(view, start) + 3)];
}

function drawBand(view, context, band) {
  const [top, bottom] = reachOf(view, band.start, band.end);
  if (bottom < HEAD || top > view.height) return;
  const half = Math.min(13, view.step * 0.4);
  for (const node of band.nodes) {
    const x = view.places.get(node);
    if (x === undefined) continue;
    const from = Math.max(top, HEAD);
    const to = Math.min(bottom, view.height);
    if (band.kind === "down") coverLane(view, context, x, from, to);
    hatch(context, band.kind, view.colors[band.kind], x - half, from, 2 * half, to - from);
  }
}

/** Takes a lane away where its node is down. */
function coverLane(view, context, x, from, to) {
  context.strokeStyle = view.colors.ground;
  context.lineWidth = 3;
  line(context, x, from, x, to);
}

/** Fills a band. Each kind has a pattern beside its color; patterns stand still while one pans. */
function hatch(context, kind, color, x, y, width, height) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.fillStyle = color;
  context.globalAlpha = kind === "down" ? 0.2 : 0.13;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 0.6;
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  const step = 7;
  if (kind === "cut" || kind === "other") {
    const lean = kind === "cut" ? width : -width;
    const begin = Math.floor((y - width) / step) * step;
    for (let at = begin; at < y + height + width; at += step) {
      context.moveTo(x, at + Math.max(0, lean));
      context.lineTo(x + width, at + Math.max(0, -lean));
    }
  } else if (kind === "pause") {
    for (let at = Math.ceil(y / step) * step; at < y + height; at += step) {
      context.moveTo(x, at + 0.5);
      context.lineTo(x + width, at + 0.5);
    }
  }
  context.stroke();
  context.globalAlpha = 0.9;
  context.lineWidth = 1.5;
  if (kind === "down") context.setLineDash([2, 3]);
  line(context, x + 0.75, y, x + 0.75, y + height);
  line(context, x + width - 0.75, y, x + width - 0.75, y + height);
  context.restore();
}

function operationPlace(view, operation) {
  const x = view.places.get(operation.node);
  return x === undefined ? undefined : x + Math.min(view.step * 0.4, 9 + 7 * operation.column);
}

function drawOperation(view, context, operation) {
  const [top, bottom] = reachOf(view, operation.start, operation.end);
  const x = operationPlace(view, operation);
  if (x === undefined || bottom < HEAD || top > view.height) return;
  const color = view.colors[operation.ending] ?? view.colors.soft;
  const isChosen = view.chosen === operation.start || view.chosen === operation.end;
  bar(context, color, operation.ending, x, top, bottom, isChosen ? 6 : 4);
}

/** A bar for an operation: whole where done, hollow where failed, dashed where it may be either. */
function bar(context, color, ending, x, top, bottom, width) {
  context.fillStyle = color;
  context.strokeStyle = color;
  if (ending === "done") {
    context.fillRect(x - width / 2, top, width, bottom - top);
  } else if (ending === "failed") {
    context.lineWidth = 1.5;
    context.strokeRect(x - width / 2, top, width, bottom - top);
  } else {
    context.lineWidth = width;
    context.setLineDash([5, 3]);
    line(context, x, top, x, bottom);
    context.setLineDash([]);
  }
}

/** The arrows in view, thinned where many would be one upon the other; the chosen one last. */
function drawArrows(view, context) {
  const { arrows, tops, ends, floors, scale } = view;
  const first = lowerBound(arrows.length, (i) => ends[i] * scale, view.offset - ROW);
  const bottom = (view.offset + view.height - HEAD + ROW) / scale;
  const ways = new Map();
  const kinds = new Map();
  let chosen = null;
  let count = 0;
  for (let i = first; i < arrows.length && floors[i] <= bottom; i += 1) {
    const arrow = arrows[i];
    if (tops[i] > bottom) continue;
    if (arrow.index === view.chosen) chosen = i;
    const way = arrow.from * 4096 + arrow.to;
    if ((ends[i] - (ways.get(way) ?? -Infinity)) * scale < 2) continue;
    ways.set(way, ends[i]);
    if (!kinds.has(arrow.kind)) kinds.set(arrow.kind, []);
    kinds.get(arrow.kind).push(i);
    count += 1;
  }
  const isDense = count > 600;
  for (const [kind, drawn] of kinds) strokeArrows(view, context, kind, drawn, isDense);
  if (chosen !== null) strokeArrows(view, context, arrows[chosen].kind, [chosen], false);
}

/** Draws arrows of one kind; of many at once only the lines. */
function strokeArrows(view, context, kind, drawn, isDense) {
  const isChosen = drawn.length === 1 && view.arrows[drawn[0]].index === view.chosen;
  const [lines, tips, crosses] = [new Path2D(), new Path2D(), new Path2D()];
  for (const i of drawn) {
    const arrow = view.arrows[i];
    const [from, to] = [view.places.get(arrow.from), view.places.get(arrow.to)];
    if (from === undefined || to === undefined || from === to) continue;
    const [top, end] = endsOf(view, i);
    lines.moveTo(from, top);
    lines.lineTo(to, end);
    const size = view.isWhole || isChosen ? 7 : 5.5;
    if (!isDense) tip(arrow.isLost ? crosses : tips, from, top, to, end, arrow.isLost, size);
  }
  context.strokeStyle = view.colors[kind];
  context.fillStyle = view.colors[kind];
  context.lineWidth = (view.isWhole ? 2.2 : 1.3) + (isChosen ? 1.4 : 0);
  if (isDense) context.lineWidth = 1;
  context.globalAlpha = isDense ? 0.4 : 1;
  if (kind === "datagram") context.setLineDash([5, 4]);
  context.stroke(lines);
  context.setLineDash([]);
  context.fill(tips);
  context.stroke(crosses);
  context.globalAlpha = 1;
}

/** The head of an arrow; a cross where it is lost. */
function tip(path, fromX, fromY, x, y, isLost, size) {
  const length = Math.hypot(x - fromX, y - fromY) || 1;
  const [alongX, alongY] = [(x - fromX) / length, (y - fromY) / length];
  if (isLost) {
    const [middleX, middleY] = [x - alongX * 12, y - alongY * 12];
    for (const lean of [-4, 4]) {
      path.moveTo(middleX - 4, middleY + lean);
      path.lineTo(middleX + 4, middleY - lean);
    }
    return;
  }
  const [backX, backY] = [x - alongX * (size + 3), y - alongY * (size + 3)];
  path.moveTo(x - alongX * 3, y - alongY * 3);
  path.lineTo(backX - alongY * size * 0.5, backY + alongX * size * 0.5);
  path.lineTo(backX + alongY * size * 0.5, backY - alongX * size * 0.5);
  path.closePath();
}

/** The events in view: a mark on the lane, the moment at the left and the text at the right. */
function drawRows(view, context, first, last) {
  const { model, rows } = view;
  const marked = [view.chosen, model.failure].filter((index) => rows[rowOf(view, index)] === index);
  const lastYs = new Map();
  let lastTextY = -Infinity;
  for (let row = first; row < last; row += 1) {
    const event = model.events[rows[row]];
    const y = yOf(view, positionOf(view, row));
    drawMark(view, context, event, y, lastYs);
    // What is chosen has its text in any case, and what is close to it has none.
    const before = marked.find((index) => Math.abs(yOfEvent(view, index) - y) < 14);
    const isFree = before === undefined ? y - lastTextY >= 14 : before === event.index;
    if (!isFree) continue;
    drawMoment(view, context, row, y);
    drawText(view, context, event, y, before === event.index);
    lastTextY = y;
  }
}

/** The moment of a row, and how much time passed since the one before it where that is much. */
function drawMoment(view, context, row, y) {
  const { model, rows, colors, gutter } = view;
  const at = model.events[rows[row]].at;
  const passed = row === 0 ? at : at - model.events[rows[row - 1]].at;
  context.font = `11px ${colors.mono}`;
  context.fillStyle = colors.soft;
  context.textAlign = "right";
  if (!view.isNarrow && (passed > 0 || view.axis === "time")) context.fillText(clock(at), 112, y + 4);
  if (view.axis !== "event" || view.scale < 14 || passed < 1e6) return;
  context.fillStyle = colors.ink;
  context.fillText(`+${span(passed)}`, gutter - 8, y + 4);
  context.strokeStyle = colors.line;
  context.lineWidth = 1;
  const edge = Math.round(y - view.scale / 2) + 0.5;
  line(context, 0, edge, view.textLeft - 8, edge);
}

function drawText(view, context, event, y, isMarked) {
  const { colors } = view;
  const isFailure = event.event === "failure";
  context.textAlign = "left";
  context.font = `${isMarked ? "600 " : ""}12px ${colors.mono}`;
  let left = view.textLeft;
  // In little room the lane alone says which node it is.
  if (!view.isNarrow || nodesOf(view.model, event)[0] === -1) {
    context.fillStyle = isFailure ? colors.bad : colors.soft;
    const subject = shortened(event.subject, 20);
    context.fillText(subject, left, y + 4);
    const width = context.measureText(`${subject} `).width;
    left += view.isNarrow ? width : Math.max(view.subjects, width);
  }
  const isQuiet = event.event.endsWith("_timer");
  const isBad = isFailure || event.level === "ERROR";
  context.fillStyle = isBad ? colors.bad : isQuiet ? colors.soft : colors.ink;
  // What is past the edge is cut off by the canvas; very long lines are not handed to it.
  context.fillText(event.text.slice(0, 240), left, y + 4);
}

/** The mark of an event on its lanes, unless another one is there already. */
function drawMark(view, context, event, y, lastYs) {
  const { colors, places } = view;
  const isChosen = event.index === view.chosen;
  for (const node of nodesOf(view.model, event).slice(0, isPassage(event) ? 1 : undefined)) {
    const x = places.get(node);
    const apart = y - (lastYs.get(node) ?? -Infinity);
    if (x === undefined || (!isChosen && apart < 1)) continue;
    lastYs.set(node, y);
    context.fillStyle = markColor(colors, event);
    if (apart < 4 && !isChosen) {
      context.fillRect(x - 2, y - 1, 4, 2);
      continue;
    }
    mark(context, event.event, x, y, isChosen ? 5 : 3.2);
    if (!isChosen) continue;
    context.strokeStyle = colors.focus;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x, y, 8.5, 0, 7);
    context.stroke();
  }
}

function markColor(colors, event) {
  if (isPassage(event)) return colors[kindOf(event)];
  if (event.event === "outcome") return colors[event.ending];
  if (event.event === "stop") return colors.down;
  if (event.event === "log") return event.level === "ERROR" ? colors.bad : colors.focus;
  if (event.event === "control") return colors[BANDS[event.kind] ?? "other"];
  return event.event.endsWith("_timer") ? colors.lane : colors.ink;
}

/** A circle for what arrives, a tick for a timer, a diamond for what is said, else a square. */
function mark(context, kind, x, y, size) {
  if (kind === "deliver" || kind === "datagram") {
    context.beginPath();
    context.arc(x, y, size, 0, 7);
    context.fill();
  } else if (kind.endsWith("_timer")) {
    context.fillRect(x - size * 1.3, y - 0.75, size * 2.6, 1.5);
  } else if (kind === "log") {
    context.beginPath();
    [[0, -1], [1, 0], [0, 1], [-1, 0]].forEach(([right, down]) => {
      context.lineTo(x + right * size * 1.3, y + down * size * 1.3);
    });
    context.fill();
  } else {
    context.fillRect(x - size, y - size, 2 * size, 2 * size);
  }
}

/** The names of the nodes above their lanes. */
function drawHead(view, context) {
  const { colors, model } = view;
  context.font = `600 12px ${colors.sans}`;
  context.fillStyle = colors.ink;
  const names = [...view.places].map(([host, x]) => [model.hosts[host], x]);
  const widest = Math.max(0, ...names.map(([name]) => context.measureText(name).width));
  const isTight = widest > view.step - 8;
  for (const [name, x] of names) {
    context.save();
    context.translate(x, isTight ? HEAD - 8 : HEAD - 16);
    context.textAlign = isTight ? "left" : "center";
    if (isTight) context.rotate(-0.5);
    context.fillText(shortened(name, isTight ? 13 : 24), 0, 0);
    context.restore();
  }
}

function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

/** The event that is nearest to a point: on a lane, an arrow or a bar, else of the row. */
function eventAt(view, x, y) {
  const { rows } = view;
  if (rows.length === 0 || y < HEAD) return null;
  for (const operation of view.model.operations) {
    const place = operationPlace(view, operation);
    const [top, bottom] = reachOf(view, operation.start, operation.end);
    const isHit = place !== undefined && Math.abs(place - x) <= 4 && top - 3 <= y && y <= bottom + 3;
    if (isHit && rows[rowOf(view, operation.start)] === operation.start) return operation.start;
  }
  const row = nearestRow(view, y);
  const isOnMark = Math.abs(yOf(view, positionOf(view, row)) - y) <= 6
    && nodesOf(view.model, view.model.events[rows[row]])
      .some((node) => Math.abs((view.places.get(node) ?? -Infinity) - x) <= 6);
  const isOnText = x > view.textLeft || x < view.gutter;
  const arrow = isOnText || isOnMark ? null : arrowAt(view, x, y);
  return arrow?.index ?? rows[row];
}

function nearestRow(view, y) {
  const position = (y - HEAD - ROW / 2 + view.offset) / view.scale;
  const after = lowerBound(view.rows.length, (row) => positionOf(view, row), position);
  const at = Math.min(after, view.rows.length - 1);
  if (at === 0) return 0;
  const isBefore = position - positionOf(view, at - 1) < positionOf(view, at) - position;
  return isBefore ? at - 1 : at;
}

function arrowAt(view, x, y) {
  let best = null;
  let nearest = 6;
  for (let i = 0; i < view.arrows.length; i += 1) {
    const arrow = view.arrows[i];
    const [from, to] = [view.places.get(arrow.from), view.places.get(arrow.to)];
    if (from === undefined || to === undefined || from === to) continue;
    if (x < Math.min(from, to) || x > Math.max(from, to)) continue;
    const [top, end] = endsOf(view, i);
    const distance = Math.abs(top + ((x - from) / (to - from)) * (end - top) - y);
    if (distance < nearest) [best, nearest] = [arrow, distance];
  }
  return best;
}
