import { read, run } from "./api.js";
import { byId, clockTime, element, renderList } from "./dom.js";
import { refreshSchedules, startSchedules } from "./schedules.js";
import { updateTitle } from "./update-title.js";

const tabs = ["updates", "calls", "faults", "schedules"];
let active = "updates";
let calls = [];
let onSelect = () => undefined;
let onError = () => undefined;

/**
 * Sets up the side panel.
 *
 * @param {{ onSelect: () => void, onError: (error: Error) => void }} options `onSelect` is called when another tab is
 * open, and `onError` with actions that failed
 */
export function startInspector(options) {
  ({ onError, onSelect } = options);
  for (const name of tabs) {
    const tab = byId(`tab-${name}`);
    tab.addEventListener("click", () => select(name));
    tab.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      const shown = tabs.filter((one) => !byId(`tab-${one}`).hidden);
      const next = shown[(shown.indexOf(name) + step + shown.length) % shown.length];
      select(next);
      byId(`tab-${next}`).focus();
    });
  }
  startSchedules({ isOpen: () => active === "schedules", onError });
  byId("call-filter").addEventListener("input", showCalls);
  byId("fault-kind").addEventListener("change", showSecondsField);
  byId("fault-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const seconds = Number(byId("fault-seconds").value);
    const method = byId("fault-method").value;
    void run("fault", {
      kind: byId("fault-kind").value,
      times: Number(byId("fault-times").value),
      retryAfter: seconds,
      delayMs: seconds * 1000,
      ...(method !== "" && { method }),
    }).catch(onError);
  });
}

function select(name) {
  active = name;
  for (const tab of tabs) {
    const isActive = tab === name;
    byId(`tab-${tab}`).setAttribute("aria-selected", String(isActive));
    byId(`tab-${tab}`).tabIndex = isActive ? 0 : -1;
    byId(`panel-${tab}`).hidden = !isActive;
  }
  onSelect();
}

function showSecondsField() {
  byId("fault-seconds-label").hidden = !["429", "slow", "late"].includes(byId("fault-kind").value);
}

/** The name of the log whose tab is open. Undefined for other tabs. */
export function openLog() {
  return active === "updates" || active === "calls" ? active : undefined;
}

/** Shows the content of the open tab. @param {{ updates?: any[], calls?: any[] }} logs */
export function showLogs(logs) {
  if (logs.updates !== undefined)
    renderList(byId("updates"), logs.updates.toReversed(), (update) => String(update.id), updateView);
  if (logs.calls !== undefined) {
    ({ calls } = logs);
    showCalls();
  }
  if (active === "schedules") void refreshSchedules().catch(onError);
}

function showCalls() {
  const wanted = byId("call-filter").value.trim().toLowerCase();
  const shown = calls.filter((call) => call.method.toLowerCase().includes(wanted));
  renderList(byId("calls"), shown.toReversed(), (call) => String(call.number), callView);
}

/** @param {readonly any[]} faults */
export function showFaults(faults) {
  renderList(
    byId("faults"),
    faults,
    (fault) => String(fault.id),
    (fault) =>
      element(
        "li",
        {},
        element(
          "span",
          {},
          `${fault.kind} on ${fault.method ?? "any method"}, ${fault.left === -1 ? "until removed" : `${fault.left} left`}`,
        ),
        element(
          "button",
          {
            type: "button",
            class: "quiet",
            onclick: () => run("removeFault", { id: fault.id }).catch(onError),
          },
          "Remove",
        ),
      ),
  );
}

function updateView(update) {
  const last = update.attempts.at(-1);
  const state =
    update.state === "delivered"
      ? { kind: "good", text: `delivered${last?.status === undefined ? "" : ` · ${last.status}`}` }
      : update.state === "given-up"
        ? { kind: "bad", text: "given up" }
        : last === undefined
          ? { kind: "waiting", text: "waiting" }
          : { kind: "bad", text: `waiting · ${last.status ?? last.error}` };
  const tries = update.attempts.length > 1 ? `${update.attempts.length} attempts` : "";
  return logEntry(
    updateTitle(update.kind, update.update[update.kind]),
    state,
    [
      excerpt(update.update[update.kind]),
      clockTime(update.createdAt / 1000, "with seconds"),
      tries,
      last === undefined ? "" : `${Math.round(last.durationMs)} ms`,
    ],
    () => ({ attempts: update.attempts, update: update.update }),
  );
}

function callView(call) {
  const fault = call.fault === undefined ? "" : `fault: ${call.fault}`;
  const states = {
    pending: { kind: "waiting", text: "open" },
    ok: { kind: "good", text: "ok" },
    error: { kind: "bad", text: String(call.errorCode) },
    dropped: { kind: "bad", text: call.processed ? "dropped, processed" : "dropped" },
  };
  const duration = call.durationMs === undefined ? "" : `${Math.round(call.durationMs)} ms`;
  return logEntry(
    call.method,
    states[call.outcome],
    [
      excerpt(call.payload),
      clockTime(call.at / 1000, "with seconds"),
      duration,
      fault,
      call.description ?? "",
    ],
    async () => {
      const { answer } = await read("answer", { number: call.number });
      return { parameters: call.payload, answer: answer ?? "none" };
    },
  );
}

/** Returns the first words of a message, a press or a call. */
function excerpt(payload) {
  const text = payload?.text ?? payload?.caption ?? payload?.data ?? payload?.action ?? "";
  const line = String(text).replace(/\s+/g, " ");
  return line === "" ? "" : `“${line.length > 48 ? `${line.slice(0, 47)}…` : line}”`;
}

function logEntry(title, state, notes, content) {
  const show = async () => {
    const pre = element("pre", { tabindex: "0" });
    details.append(pre);
    try {
      pre.textContent = JSON.stringify(await content(), null, 2);
    } catch (error) {
      pre.textContent = error.message;
    }
  };
  const details = element(
    "details",
    {
      // The content is written when a person opens it, so that a long log stays fast.
      ontoggle: () => {
        if (details.open && details.querySelector("pre") === null) void show();
      },
    },
    element(
      "summary",
      {},
      element("span", { class: "log-title" }, ...breakable(title)),
      element("span", { class: `badge ${state.kind}` }, state.text),
      element("span", { class: "log-notes" }, notes.filter(Boolean).join(" · ")),
    ),
  );
  return element("li", {}, details);
}

/** Lets a long name break between its words: after an underscore, or before a capital letter. */
function breakable(name) {
  return name
    .split(/(?<=_)|(?<=[a-z])(?=[A-Z])/)
    .flatMap((part, index) => (index === 0 ? [part] : [element("wbr"), part]));
}
