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
 * Calls `onChange` after every change, `onLost` while the simulator cannot be reached. The browser reconnects by itself.
 *
 * @param {() => void} onChange
 * @param {(isLost: boolean) => void} onLost
 */
export function listen(onChange, onLost) {
  const events = new EventSource("/_sim/events");
  events.addEventListener("change", onChange);
  events.addEventListener("open", () => onLost(false));
  events.addEventListener("error", () => onLost(true));
}

/** @param {File} file @returns {Promise<string>} */
export async function toBase64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000)
    binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}
