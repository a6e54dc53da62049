// The page asks for status.json again and again and shows what it says. All
// that comes from there gets into the document as text.
"use strict";

const period = 2000; // between answer and next question, in ms
const rows = 200; // of a table, at most
const samples = 60; // of a sparkline

const id = (name) => document.getElementById(name);

function element(tag, className, text) {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  return e;
}

// Numbers for people.
const integer = new Intl.NumberFormat("en");

function count(n) {
  return integer.format(n);
}

function bytes(n) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let u = 0;
  for (; n >= 1024 && u < units.length - 1; u++) n /= 1024;
  return (u === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)) + " " + units[u];
}

function perSecond(n) {
  return n < 10 ? n.toFixed(1) : count(Math.round(n));
}

function duration(s) {
  if (s < 1e-3) return Math.round(s * 1e6) + " µs";
  if (s < 1) return (s * 1e3).toFixed(s < 0.1 ? 1 : 0) + " ms";
  if (s < 60) return s.toFixed(1) + " s";
  if (s < 3600) return Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s";
  if (s < 86400) return Math.floor(s / 3600) + " h " + Math.floor((s % 3600) / 60) + " min";
  return Math.floor(s / 86400) + " d " + Math.floor((s % 86400) / 3600) + " h";
}

// seconds is how long ago time was, by the server's clock; null for its zero.
function seconds(now, time) {
  return time.startsWith("0001-") ? null : Math.max(0, (Date.parse(now) - Date.parse(time)) / 1000);
}

function ago(now, time) {
  const s = seconds(now, time);
  return s === null ? "never" : duration(s);
}

// A column is a title, what to show of a row, and perhaps a class for the cell.
// Titles and cells of numbers stand to the right.
const text = (title, show, mark) => ({ title, show, mark, className: "" });
const number = (title, show, mark) => ({ title, show, mark, className: "number" });

// table shows the rows; all tells how many there are if these are not all.
function table(name, columns, list, none, all = list.length) {
  const head = element("tr");
  for (const c of columns) head.append(element("th", c.className, c.title));
  const body = document.createDocumentFragment();
  for (const row of list) {
    const tr = element("tr");
    for (const c of columns) {
      const mark = c.mark && c.mark(row) ? " bad" : "";
      tr.append(element("td", c.className + mark, c.show(row)));
    }
    body.append(tr);
  }
  const note = (message) => {
    const tr = element("tr");
    const td = element("td", "none", message);
    td.colSpan = columns.length;
    tr.append(td);
    body.append(tr);
  };
  if (list.length === 0) note(none);
  else if (all > list.length) note("and " + count(all - list.length) + " more");
  id(name).replaceChildren(head, body);
}

// bars shows for each row a bar of parts, [class, amount], of a whole.
function bars(name, list) {
  const out = [];
  for (const row of list) {
    const bar = element("div", "bar");
    bar.setAttribute("role", "img");
    bar.setAttribute("aria-label", row.amount);
    for (const [className, amount] of row.parts) {
      const part = element("i", className);
      part.style.width = row.whole > 0 ? Math.min(100, (100 * amount) / row.whole) + "%" : "0";
      bar.append(part);
    }
    out.push(element("span", "", row.name), bar, element("span", "amount", row.amount));
  }
  id(name).replaceChildren(...out);
}

const history = { sent: [], received: [], rate: [] };

function sparkline(name, value) {
  const h = history[name];
  h.push(value);
  if (h.length > samples) h.shift();
  const svg = id("spark-" + name);
  const top = Math.max(...h, 1e-9);
  const points = h.map((v, i) => (samples - h.length + i) + " " + (20 - (18 * v) / top).toFixed(2));
  const path = (className, d) => {
    const p = document.createElementNS("http://www.w3.org/2000/svg", "path");
    p.setAttribute("class", className);
    p.setAttribute("d", d);
    return p;
  };
  svg.setAttribute("viewBox", "0 0 " + (samples - 1) + " 20");
  svg.setAttribute("preserveAspectRatio", "none");
  const line = "M" + points.join("L");
  svg.replaceChildren(
    path("area", line + "L" + (samples - 1) + " 20L" + (samples - h.length) + " 20Z"),
    path("line", line));
}

const pageSize = 4096;
const joined = (list) => list.join(", ");
const programs = { 100000: "rpcbind", 100003: "nfs", 100005: "mount", 100021: "nlm" };

let last = null; // the report before

function show(r) {
  const t = r.stats.transport;
  const state = id("state");
  state.textContent = r.stats.state;
  state.className = "pill " + r.stats.state;
  id("version").textContent = r.version;
  const up = seconds(r.now, r.started);
  id("uptime").textContent = up === null ? "" : "up " + duration(up);

  // Rates need two reports of the same server.
  const before = last && last.started === r.started ? last : r;
  const elapsed = (Date.parse(r.now) - Date.parse(before.now)) / 1000;
  const rate = (field) => (elapsed > 0 ? Math.max(0, t[field] - before.stats.transport[field]) / elapsed : 0);
  last = r;
  const sent = rate("bytes_sent"), received = rate("bytes_received"), calls = rate("records");
  id("sent").textContent = bytes(sent) + "/s";
  id("received").textContent = bytes(received) + "/s";
  id("rate").textContent = perSecond(calls) + "/s";
  if (elapsed > 0) {
    sparkline("sent", sent);
    sparkline("received", received);
    sparkline("rate", calls);
  }
  id("connections").textContent = count(t.connections);
  id("accepted").textContent = count(t.accepted) + " accepted" + (t.refused ? ", " + count(t.refused) + " refused" : "");
  id("inflight").textContent = count(t.calls);
  id("waiting").textContent = count(r.stats.rpc.waiting) + " running, " + count(r.stats.rpc.queued) + " queued";

  const poolPages = r.limits.pool_bytes / pageSize;
  bars("pools", (t.pools || []).map((p, i) => ({
    name: "worker " + i,
    whole: poolPages,
    parts: [["flight", p.in_flight], ["lent", p.lent], ["free", p.free]],
    amount: bytes((p.held + p.lent) * pageSize) + " of " + bytes(r.limits.pool_bytes),
  })));
  const budget = (name, used, limit) => ({
    name, whole: limit,
    parts: [["used" + (used > 0.9 * limit ? " high" : ""), used]],
    amount: bytes(used) + " of " + bytes(limit),
  });
  bars("budgets", [
    budget("receive", t.receive_admitted, r.limits.receive_bytes),
    budget("replies", t.reply_memory, r.limits.reply_bytes),
    budget("reply cache", r.stats.rpc.cache_bytes, r.limits.cache_bytes),
  ]);

  const fs = (f) => (x) => (x.has_fs ? count(x.fs[f]) : "–");
  table("exports", [
    text("path", (x) => x.path),
    text("for", (x) => joined(x.networks || []) || "this host"),
    text("access", (x) => (x.read_only ? "read-only" : "read-write") + (x.insecure_ports ? ", any port" : "")),
    text("squash", (x) => x.squash),
    number("open files", fs("open_files")),
    number("unsynced", fs("pending_files")),
    number("syncs", fs("syncs")),
    number("calls synced", fs("synced_calls")),
    number("sync errors", fs("sync_errors"), (x) => x.fs.sync_errors > 0),
  ], r.exports, "nothing is exported");

  table("calls", [
    text("call", (c) => (programs[c.program] || c.program) + " " + c.version + " " + c.procedure),
    text("state", (c) => c.state, (c) => c.state === "stuck"),
    number("age", (c) => ago(r.now, c.since), (c) => seconds(r.now, c.since) >= 1),
    text("client", (c) => c.client || c.network),
    text("machine", (c) => c.machine),
    number("uid", (c) => c.uid),
    number("xid", (c) => c.xid.toString(16).padStart(8, "0")),
  ], r.calls, "all calls are over at once");

  const errors = (p) => p.calls - (p.statuses.success || 0) - (p.statuses.replayed || 0);
  table("procedures", [
    text("procedure", (p) => p.program + " " + p.version + " " + p.procedure),
    number("calls", (p) => count(p.calls)),
    number("replayed", (p) => count(p.statuses.replayed || 0)),
    number("errors", (p) => count(errors(p)), (p) => errors(p) > 0),
    number("mean", (p) => duration(p.seconds / p.calls)),
    number("median", (p) => duration(p.p50_seconds)),
    number("99 %", (p) => duration(p.p99_seconds)),
  ], r.procedures, "none has been called");

  table("clients", [
    text("address", (c) => c.address),
    number("connections", (c) => count(c.connections)),
    number("in flight", (c) => count(c.calls)),
    number("calls", (c) => count(c.records)),
    number("sent to", (c) => bytes(c.bytes_sent)),
    number("received from", (c) => bytes(c.bytes_received)),
    text("mounts", (c) => joined(c.mounts)),
  ], r.clients, "nobody is here");

  table("conns", [
    text("network", (c) => c.network),
    text("client", (c) => c.remote || (c.datagram ? "any" : "–")),
    text("server", (c) => c.local || "–"),
    number("worker", (c) => c.worker),
    number("age", (c) => ago(r.now, c.since)),
    number("last call", (c) => ago(r.now, c.last_call)),
    number("in flight", (c) => count(c.calls)),
    number("calls", (c) => count(c.records)),
    number("sent", (c) => bytes(c.bytes_sent)),
    number("received", (c) => bytes(c.bytes_received)),
    number("unsent", (c) => bytes(c.unsent)),
    number("pages", (c) => count(c.pages_in_flight)),
  ], r.conns, "none", r.conns.length < rows ? r.conns.length : t.connections);
}

async function poll() {
  try {
    const answer = await fetch("status.json?rows=" + rows, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.statusText);
    show(await answer.json());
  } catch (e) {
    const state = id("state");
    state.textContent = "no answer";
    state.className = "pill lost";
    state.title = e.message;
  }
  setTimeout(poll, period);
}

poll();
