/** Runs an operation of the simulator. @param {string} name @param {object} [body] */
export async function run(name, body = {}) {
  return answerOf(
    await fetch(`/_sim/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
}

/** Reads from the simulator. @param {string} name @param {Record<string, string | number>} [parameters] */
export async function read(name, parameters = {}) {
  return answerOf(await fetch(`/_sim/${name}?${new URLSearchParams(parameters)}`));
}

async function answerOf(response) {
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `The simulator answered ${response.status}.`);
  return answer;
}

/**
 * Calls `onView` with all that the page shows, at once and after every change, and `onLost` when the simulator cannot be
 * reached and when it can again. The browser reconnects by itself. Returns a function that ends this.
 *
 * @param {{ chatId?: number, threadId?: number, userId?: number, log?: string }} open the open parts of the page
 * @param {(answer: { now: number, view: any }) => void} onView
 * @param {(isLost: boolean) => void} onLost
 */
export function watch(open, onView, onLost) {
  const given = Object.entries(open).filter(([, value]) => value !== undefined);
  const events = new EventSource(`/_sim/view?${new URLSearchParams(given)}`);
  let known = {};
  events.addEventListener("view", ({ data }) => {
    const { now, view, lists } = JSON.parse(data);
    known = withKnown(lists, known);
    const { chats, messages, ...logs } = known;
    const chat = view.chat && { ...view.chat, messages };
    onView({ now, view: { state: { ...view.state, chats }, chat, ...logs } });
  });
  events.addEventListener("open", () => onLost(false));
  events.addEventListener("error", () => onLost(true));
  return () => events.close();
}

/** Puts the items that the page has already in place of their numbers. */
function withKnown(lists, known) {
  return Object.fromEntries(
    Object.entries(lists).map(([name, items]) => {
      const before = new Map(known[name]?.map((item) => [item.id, item]));
      return [name, items.map((item) => (typeof item === "number" ? before.get(item) : item))];
    }),
  );
}

/** @param {File} file @returns {Promise<string>} */
export async function toBase64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
