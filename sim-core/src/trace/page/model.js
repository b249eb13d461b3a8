"use strict";
// What the lines of a run mean for the diagram: arrows, messages, operations, bands. It draws
// nothing and knows no element of the page.

/** The first place in a sorted list of `count` whose key is at least `value`. */
function lowerBound(count, key, value) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (key(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Makes the model of a run from its lines. What the page calls the index of an event is its place
 * among all lines; the number that it has in the history, if any, is its number.
 */
function makeModel(lines) {
  const [head, ...rest] = lines;
  const events = rest.map((event, place) => ({ ...event, number: event.index, index: place }));
  const model = { head, events, hosts: head.hosts };
  model.arrows = events.filter(isPassage).map(arrowOf);
  model.messages = messagesOf(events);
  model.operations = operationsOf(events);
  model.byId = new Map(model.operations.map((operation) => [operation.id, operation]));
  model.bands = bandsOf(events, head.hosts.length);
  model.connections = connectionsOf(events, head.hosts);
  const failures = events.filter((event) => event.event === "failure");
  model.failure = failures.length > 0 ? failures[failures.length - 1].index : null;
  return model;
}

/** Whether an event came over the network. */
function isPassage(event) {
  return event.event === "deliver" || event.event === "datagram";
}

function arrowOf(event) {
  return {
    index: event.index,
    from: event.from,
    to: event.node,
    sent: event.sent ?? event.at,
    at: event.at,
    kind: kindOf(event),
    isLost: event.event === "datagram" && event.passage !== "received",
  };
}

function kindOf(event) {
  if (event.event === "datagram") return "datagram";
  if (event.flags.includes("RST")) return "reset";
  return event.len > 0 ? "data" : "control";
}

/** Bytes of one direction of a connection up to the next bytes of the other direction. */
function messagesOf(events) {
  const open = new Map();
  const messages = [];
  for (const event of events) {
    if (event.event === "datagram") {
      messages.push({ ...arrowOf(event), first: event.index, count: 1, len: event.len });
    }
    if (event.event !== "deliver" || event.len === 0) continue;
    const current = open.get(event.connection);
    if (current && current.from === event.from && current.to === event.node) {
      current.index = event.index;
      current.at = event.at;
      current.count += 1;
      current.len += event.len;
    } else {
      const message = { ...arrowOf(event), first: event.index, count: 1, len: event.len };
      message.connection = event.connection;
      open.set(event.connection, message);
      messages.push(message);
    }
  }
  return messages.sort((one, other) => one.index - other.index);
}

/** Operations from their start to their outcome, each in a column beside its lane. */
function operationsOf(events) {
  const byId = new Map();
  const busy = new Map();
  const operations = [];
  for (const event of events) {
    if (event.event === "operation") {
      const columns = busy.get(event.node) ?? [];
      busy.set(event.node, columns);
      const free = columns.findIndex((taken) => !taken);
      const column = free < 0 ? columns.length : free;
      columns[column] = true;
      const start = event.index;
      const { id, node } = event;
      const operation = { id, node, column, start, end: null, ending: "open" };
      byId.set(event.id, operation);
      operations.push(operation);
    } else if (event.event === "outcome") {
      const operation = byId.get(event.id);
      if (!operation) continue;
      operation.end = event.index;
      operation.ending = event.ending;
      busy.get(operation.node)[operation.column] = false;
    }
  }
  return operations;
}

const BANDS = {
  partition: "cut", one_way: "cut", hold: "cut", silence: "cut", black_hole: "cut", refuse: "cut",
  pause: "pause", throttle: "pause", latency: "pause", stop_accepting: "pause",
};

/** Controls in force, and the times in which nodes are down. */
function bandsOf(events, hostCount) {
  const bands = [];
  const open = new Map();
  const down = new Map();
  const all = Array.from({ length: hostCount }, (_, host) => host);
  for (const event of events) {
    if (event.event === "control" && event.phase !== "moment") {
      const label = event.text.replace(/^(begin|end) /, "");
      const same = open.get(label) ?? [];
      open.set(label, same);
      if (event.phase === "end") {
        const band = same.shift();
        if (band) band.end = event.index;
      } else if (event.kind !== "crash") {
        // A crash shows as the time in which its node is down.
        const named = [...event.nodes, ...event.others];
        const nodes = named.length > 0 ? [...new Set(named)] : all;
        const kind = BANDS[event.kind] ?? "other";
        const band = { kind, label, nodes, start: event.index, end: null };
        same.push(band);
        bands.push(band);
      }
    } else if (event.event === "stop") {
      const [nodes, start] = [[event.node], event.index];
      const band = { kind: "down", label: "down", nodes, start, end: null };
      down.set(event.node, band);
      bands.push(band);
    } else if (event.event === "start" && down.has(event.node)) {
      down.get(event.node).end = event.index;
      down.delete(event.node);
    }
  }
  return bands;
}

/** What each connection is called: who dialed whom. */
function connectionsOf(events, hosts) {
  const names = new Map();
  for (const event of events) {
    if (event.event !== "deliver" || names.has(event.connection)) continue;
    names.set(event.connection, `${hosts[event.from]} → ${hosts[event.node]}`);
  }
  return names;
}

/** Whether an event passes a filter. What is about no node passes every filter of nodes. */
function passes(model, event, filter) {
  if (event.event === "plan" || event.event === "host") return false;
  if (event.event === "failure") return true;
  const isTimer = event.event === "machine_timer" || event.event === "kernel_timer";
  if (isTimer && !filter.timers) return false;
  if (event.event === "log" && !filter.log) return false;
  if (filter.connection !== null && event.connection !== filter.connection) return false;
  if (!nodesOf(model, event).some((node) => filter.nodes[node] ?? true)) return false;
  if (filter.text === "") return true;
  const text = `${event.subject} ${event.text}`.toLowerCase();
  return filter.text.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** The nodes that an event is about; a place that is none stands for those of no node. */
function nodesOf(model, event) {
  if (isPassage(event)) return [event.node, event.from];
  if (event.node !== undefined) return [event.node];
  if (event.event === "outcome") {
    const operation = model.byId.get(event.id);
    return operation ? [operation.node] : [-1];
  }
  if (event.event === "control") {
    const named = [...event.nodes, ...event.others];
    return named.length > 0 ? named : [-1];
  }
  return [-1];
}

/** A moment as seconds, in groups of three digits. */
function clock(nanos) {
  const rest = String(nanos % 1e9).padStart(9, "0");
  return `${Math.floor(nanos / 1e9)}.${rest.slice(0, 3)} ${rest.slice(3, 6)} ${rest.slice(6)}`;
}

/** A length of time in its own unit. */
function span(nanos) {
  const units = [["ns", 1], ["µs", 1e3], ["ms", 1e6], ["s", 1e9], ["min", 60e9], ["h", 3600e9]];
  const fit = units.filter(([, size]) => nanos >= size).pop() ?? units[0];
  return `${Number((nanos / fit[1]).toPrecision(3))} ${fit[0]}`;
}
