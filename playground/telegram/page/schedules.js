import { read, run } from "./api.js";
import { byId, element, renderList } from "./dom.js";
import { openChat, page } from "./page-state.js";

/** The clock is moved to so long before an occurrence, so that a person sees it come. */
const BEFORE_NEXT_MS = 5_000;
const READ_EVERY_MS = 2_000;
const PAGE_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

let onError = () => {};
let isMoving = false;
/** When the page has read the state, by its own clock. */
let readAt = 0;

/**
 * Sets up the panel of schedules. They change without anything that the page hears of, so an open panel reads them
 * again and again.
 *
 * @param {{ isOpen: () => boolean, onError: (error: Error) => void }} options
 */
export function startSchedules(options) {
  onError = options.onError;
  byId("clock-label").textContent = `Move it to (${PAGE_ZONE})`;
  byId("clock-form").addEventListener("submit", (event) => {
    event.preventDefault();
    void moveClock(new Date(byId("clock-time").value).getTime());
  });
  setInterval(() => {
    if (options.isOpen() && !document.hidden && !isMoving) void refreshSchedules().catch(onError);
  }, READ_EVERY_MS);
  setInterval(tick, 1_000);
}

/** Shows the tab if the bot has schedules to show, and on every page that the clock is moved. */
export function showClock() {
  readAt = Date.now();
  byId("tab-schedules").hidden = page.state.clockShiftMs === undefined;
  byId("moved-clock").hidden = !page.state.clockShiftMs;
  tick();
}

function tick() {
  if (page.state.clockShiftMs === undefined) return;
  const now = timeIn(botNow(), PAGE_ZONE, "with seconds");
  byId("clock-now").textContent = now;
  const { clockShiftMs } = page.state;
  const distance = `${inWords(Math.abs(clockShiftMs))} ${clockShiftMs < 0 ? "behind" : "ahead"}`;
  byId("moved-clock").textContent = clockShiftMs === 0 ? "" : `The bot's clock is ${distance}: ${now}`;
}

function botNow() {
  return page.state.now + Date.now() - readAt;
}

/** Reads the schedules of the open chat and of the whole bot. */
export async function refreshSchedules() {
  if (isMoving || page.state.clockShiftMs === undefined) return;
  const { chatId, threadId } = page.open;
  const answer = await read("schedules", {
    ...(chatId !== undefined && { chatId }),
    ...(threadId && { topicId: threadId }),
  });
  if (answer.isAway || chatId !== page.open.chatId || threadId !== page.open.threadId) return;
  const { bot, chat = [], conversation } = answer;
  const words =
    openChat() === undefined ? "Open a chat." : "None. Ask the bot for a reminder, or for a digest.";
  showList("chat-schedules", chat, words, conversation);
  showList("bot-schedules", bot, "The bot declares none in getScheduledTasks().", undefined);
}

function showList(listId, schedules, words, conversation) {
  const items = schedules.map((schedule) => ({ ...schedule, conversation }));
  const shown = items.length === 0 ? [{ taskId: "", words }] : items;
  renderList(
    byId(listId),
    shown,
    ({ taskId }) => taskId,
    (item) => (item.words === undefined ? scheduleView(item) : element("li", { class: "hint" }, item.words)),
    replaceSchedule,
  );
}

/** Replaces a schedule. The focus stays at its button, whose word may have changed. */
function replaceSchedule(old, made) {
  const at = [...old.querySelectorAll("button")].indexOf(document.activeElement);
  old.replaceWith(made);
  const buttons = [...made.querySelectorAll("button")];
  if (at !== -1) buttons[Math.min(at, buttons.length - 1)]?.focus({ preventScroll: true });
  return made;
}

function scheduleView(item) {
  const { failures, isPaused, kind, madeBy, next, occurrences, taskId, text, timezone } = item;
  const zone = timezone ?? PAGE_ZONE;
  const title = element("strong", { id: `schedule-${item.conversation ?? "bot"}-${taskId}` }, taskId);
  const notes = [
    scheduleInWords(item, zone),
    kind === "handler" ? "runs code" : kind,
    madeBy === undefined ? "" : `made by ${madeBy}`,
  ];
  return element(
    "li",
    { class: "schedule", "aria-labelledby": title.id },
    element(
      "div",
      { class: "schedule-line" },
      title,
      isPaused ? element("span", { class: "badge waiting" }, "paused") : undefined,
      failures === 0
        ? undefined
        : element(
            "span",
            { class: "badge bad" },
            failures === 1 ? "failed last" : `${failures} failures in a row`,
          ),
    ),
    text === undefined ? undefined : element("p", { class: "schedule-text" }, text),
    element("p", { class: "log-notes" }, notes.filter(Boolean).join(" · ")),
    ...nextView(next, zone),
    buttonsOf(item),
    occurrences.length === 0
      ? undefined
      : element(
          "ul",
          { class: "occurrences", "aria-label": `Last occurrences of ${taskId}` },
          ...occurrences.map((one) => occurrenceView(one, zone)),
        ),
  );
}

function scheduleInWords({ next, schedule, timezone }, zone) {
  if (schedule.startsWith("at ")) {
    const [first = Date.parse(schedule.slice(3))] = next;
    // A time of day without an offset is that of the zone, and not of this page.
    if (next.length > 0 || /(?:Z|[+-]\d\d:\d\d)$/i.test(schedule)) return `once, ${timeIn(first, zone)}`;
  }
  return timezone === undefined || schedule.includes(timezone) ? schedule : `${schedule} in ${timezone}`;
}

function nextView([first, ...later], zone) {
  if (first === undefined) return [];
  const others = later.map((at) => timeIn(at, zone)).join(" · ");
  return [
    element("p", {}, element("b", {}, "Next "), timeIn(first, zone)),
    others === "" ? undefined : element("p", { class: "log-notes" }, `Then ${others}`),
  ];
}

function buttonsOf({ conversation, isMadeInChat, isPaused, next, taskId }) {
  const change = (label, action) =>
    element(
      "button",
      {
        type: "button",
        class: "quiet",
        "aria-label": `${label}: ${taskId}`,
        onclick: () =>
          void run("changeSchedule", { taskId, action, ...(conversation !== undefined && { conversation }) })
            .then(async () => {
              await refreshSchedules();
              // The button is gone with its schedule.
              if (action === "delete") byId("tab-schedules").focus();
            })
            .catch(onError),
      },
      label,
    );
  const [first] = next;
  return element(
    "div",
    { class: "schedule-buttons" },
    isPaused ? change("Resume", "resume") : change("Pause", "pause"),
    change("Run now", "run"),
    first === undefined
      ? undefined
      : element(
          "button",
          {
            type: "button",
            class: "quiet",
            "aria-label": `Move the clock to the next occurrence: ${taskId}`,
            onclick: () => void moveClock(first - BEFORE_NEXT_MS),
          },
          "Go to next",
        ),
    isMadeInChat ? change("Delete", "delete") : undefined,
  );
}

const kinds = { delivered: "good", done: "good", "no-change": "good", failed: "bad" };

function occurrenceView({ attempts, code, deliveries, lateMs, progress, scheduledFor, state }, zone) {
  const ids = deliveries.flatMap(({ messageIds }) => messageIds);
  const failed = deliveries.filter((one) => one.state === "failed").length;
  const waiting = deliveries.filter((one) => one.state === "waiting").map(({ address }) => address.chatId);
  const deciding = progress?.deciding ?? 0;
  const notes = [
    code ?? "",
    ids.length === 0 ? "" : `${ids.length === 1 ? "message" : "messages"} ${ids.join(", ")}`,
    progress === undefined ? "" : `${progress.sent} of ${progress.total} chats`,
    waiting.length === 0 ? "" : `somebody decides for chat ${waiting.join(", ")}`,
    deciding === 0 ? "" : `somebody decides for ${deciding} of them`,
    failed > 0 && state !== "failed" ? `${failed} not reached` : "",
    lateMs >= 60_000 ? `${inWords(lateMs)} late` : "",
    attempts > 1 ? `${attempts} attempts` : "",
  ];
  return element(
    "li",
    {},
    element("span", {}, timeIn(scheduledFor, zone)),
    element("span", { class: `badge ${kinds[state] ?? "waiting"}` }, state),
    element("span", { class: "log-notes" }, notes.filter(Boolean).join(" · ")),
  );
}

async function moveClock(time) {
  if (isMoving) return;
  isMoving = true;
  const button = byId("clock-move");
  button.textContent = "Restarting the bot …";
  try {
    await run("moveClock", { time });
  } catch (error) {
    onError(error);
  } finally {
    isMoving = false;
    button.textContent = "Move the clock";
  }
  await refreshSchedules().catch(onError);
}

/** Such as `Sun, 25 Oct 2026, 02:30 CEST`. @param {number} at @param {string} zone @param {"with seconds"} [precision] */
function timeIn(at, zone, precision) {
  return new Date(at).toLocaleString("en-GB", {
    timeZone: zone,
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    second: precision === "with seconds" ? "2-digit" : undefined,
    timeZoneName: "short",
  });
}

function inWords(ms) {
  const minutes = Math.round(ms / 60_000);
  const [count, unit] =
    minutes >= 2 * 1440
      ? [Math.round(minutes / 1440), "day"]
      : minutes >= 120
        ? [Math.round(minutes / 60), "hour"]
        : [minutes, "minute"];
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
