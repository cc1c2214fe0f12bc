import { run, toBase64 } from "./api.js";
import { byId, element } from "./dom.js";

/** What is being answered, edited or attached: at most one of the first two, and a file. */
let context = {};
let target = () => undefined;
let commands = [];

/**
 * The message field.
 *
 * @param {() => { chatId: number, userId: number, threadId?: number } | undefined} currentTarget
 * @param {(error: Error) => void} onError
 */
export function startComposer(currentTarget, onError) {
  target = currentTarget;
  const input = byId("message-input");
  input.addEventListener("input", () => {
    fitHeight();
    showCommands();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") cancelContext();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("composer").requestSubmit();
  });
  input.addEventListener("paste", (event) => attach(event.clipboardData?.files[0]));
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    send().catch(onError);
  });
  byId("attach").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", () => attach(byId("file").files[0]));
  byId("context-cancel").addEventListener("click", cancelContext);
}

/** The bot's commands, offered after a slash. */
export function setCommands(list) {
  if (JSON.stringify(list) === JSON.stringify(commands)) return;
  commands = list;
  showCommands();
}

export function replyTo(message) {
  context = { file: context.file, replyTo: message };
  showContext();
  byId("message-input").focus();
}

export function edit(message) {
  context = { edit: message };
  byId("message-input").value = message.text;
  fitHeight();
  showContext();
  byId("message-input").focus();
}

export function cancelContext() {
  if (context.edit !== undefined) byId("message-input").value = "";
  context = {};
  byId("file").value = "";
  fitHeight();
  showContext();
}

function attach(file) {
  if (file === undefined) return;
  context = { replyTo: context.replyTo, file };
  byId("as-file").checked = !isPicture(file);
  showContext();
  byId("message-input").focus();
}

function isPicture(file) {
  return /^image\/(?:png|jpeg|gif|webp)$/.test(file.type);
}

async function send() {
  const input = byId("message-input");
  const text = input.value.trim();
  const place = target();
  const { file, edit: edited, replyTo: answered } = context;
  if (place === undefined || (text === "" && file === undefined)) return;
  const body = { ...place, ...(answered !== undefined && { replyTo: answered.id }) };
  const asPicture = file !== undefined && isPicture(file) && !byId("as-file").checked;
  input.value = "";
  context = {};
  byId("file").value = "";
  fitHeight();
  showContext();
  showCommands();
  try {
    if (edited !== undefined) await run("editText", { ...place, messageId: edited.id, text });
    else if (file === undefined) await run("sendText", { ...body, text });
    else {
      const base64 = await toBase64(file);
      const attachment = { ...body, base64, ...(text !== "" && { caption: text }) };
      if (asPicture) await run("sendPhoto", attachment);
      else {
        const mimeType = file.type || "application/octet-stream";
        await run("sendDocument", { ...attachment, fileName: file.name, mimeType });
      }
    }
  } catch (error) {
    if (input.value === "") input.value = text; // nothing that was written is lost
    throw error;
  }
}

function showContext() {
  const { file, edit: edited, replyTo: answered } = context;
  byId("composer-context").hidden = file === undefined && edited === undefined && answered === undefined;
  byId("as-file-label").hidden = file === undefined || !isPicture(file);
  const title =
    edited !== undefined
      ? "Edit the message"
      : answered !== undefined
        ? `Answer ${answered.from.name}`
        : "Attach";
  const text = [edited?.text ?? answered?.text, file?.name].filter(Boolean).join(" · ");
  byId("context-title").textContent = title;
  byId("context-text").textContent = text;
  byId("send").setAttribute("aria-label", edited === undefined ? "Send" : "Save");
}

function showCommands() {
  const typed = byId("message-input").value;
  const matching = /^\/\w*$/.test(typed)
    ? commands.filter(({ command }) => `/${command}`.startsWith(typed))
    : [];
  byId("commands").hidden = matching.length === 0;
  byId("commands").replaceChildren(
    ...matching.map(({ command, description }) =>
      element(
        "button",
        {
          type: "button",
          onclick: () => {
            byId("message-input").value = `/${command}`;
            byId("composer").requestSubmit();
          },
        },
        element("strong", {}, `/${command}`),
        element("span", {}, description),
      ),
    ),
  );
}

function fitHeight() {
  const input = byId("message-input");
  input.style.height = "auto";
  input.style.height = `${Math.min(input.scrollHeight, 160)}px`;
}
