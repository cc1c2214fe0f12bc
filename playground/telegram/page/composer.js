import { run, toBase64 } from "./api.js";
import { handleCommandKey, offerCommands, startCommandList } from "./command-list.js";
import { byId } from "./dom.js";
import { keepDraft, takeDraft } from "./drafts.js";
import { cutText } from "./split-text.js";
import { dropRecording, endRecording, startVoiceButton } from "./voice-button.js";
import { secondsOf } from "./voice-recorder.js";

/** The message that is replied to or edited (at most one), and the attached file. */
let context = {};
/** The chat and topic in which the person writes. */
let place;
let options;
/** Chain of sent messages. They are sent one after another, so that they arrive in order. */
let sending = Promise.resolve();

/**
 * Sets up the message field.
 *
 * @param {object} given
 * @param {() => { chatId: number, userId: number, threadId?: number } | undefined} given.target the chat, and the
 * person who writes
 * @param {(error: Error) => void} given.onError
 * @param {() => void} given.onDraft called when a chat that is not open has got a half-written message
 */
export function startComposer(given) {
  options = given;
  const input = byId("message-input");
  startCommandList((text) => {
    input.value = text;
    byId("composer").requestSubmit();
  });
  input.addEventListener("input", fitHeight);
  input.addEventListener("keydown", (event) => {
    if (handleCommandKey(event)) return;
    if (event.key === "Escape") cancelContext();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("composer").requestSubmit();
  });
  input.addEventListener("paste", (event) => attach(event.clipboardData?.files[0]));
  byId("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  byId("attach").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", () => attach(byId("file").files[0]));
  byId("context-cancel").addEventListener("click", cancelContext);
  startVoiceButton(attach, options.onError);
}

/**
 * Opens the message field for a chat. Keeps the half-written message of the previous chat, and restores the one of this
 * chat.
 */
export function writeTo(chatId, threadId = 0) {
  dropRecording();
  noteDraft();
  place = { chatId, threadId };
  show(takeDraft(place));
}

/** Shows the half-written message of the open chat in the list of chats. */
export function noteDraft() {
  if (place !== undefined) keepDraft(place, present());
}

/** Puts the cursor into the field, except where that would open a keyboard on the screen. */
export function focusField() {
  if (matchMedia("(hover: hover)").matches) byId("message-input").focus();
}

export function replyTo(message) {
  const { file } = context;
  change({ ...(file !== undefined && { file }), replyTo: message });
}

export function edit(message) {
  const textBefore = context.edit === undefined ? byId("message-input").value : context.textBefore;
  change({ edit: message, textBefore }, message.text);
}

function cancelContext() {
  const text = context.edit === undefined ? byId("message-input").value : context.textBefore;
  show({ text, asFile: false, context: {} });
  byId("message-input").focus();
}

function attach(file) {
  if (file === undefined) return;
  const { replyTo: answered } = context;
  byId("as-file").checked = ownOperation(file) === undefined;
  change({ ...(answered !== undefined && { replyTo: answered }), file });
}

function change(to, text = byId("message-input").value) {
  show({ text, asFile: byId("as-file").checked, context: to });
  byId("message-input").focus();
}

/** Returns the operation that sends a file as more than a document: as a picture, a voice note, a sound or a video. */
function ownOperation({ type }) {
  if (/^image\/(?:png|jpeg|gif|webp)$/.test(type)) return "sendPhoto";
  // Telegram's voice notes are OGG with Opus.
  if (/^audio\/(?:ogg|opus)/.test(type)) return "sendVoice";
  if (type.startsWith("audio/")) return "sendAudio";
  return type.startsWith("video/") ? "sendVideo" : undefined;
}

function present() {
  return { text: byId("message-input").value, asFile: byId("as-file").checked, context };
}

function submit() {
  const draft = { ...present(), text: byId("message-input").value.trim() };
  const target = options.target();
  const { edit: edited, file, textBefore } = draft.context;
  if (target === undefined) return;
  if (draft.text === "" && file === undefined)
    return void endRecording().then((isRecorded) => isRecorded && submit());
  show({ text: edited === undefined ? "" : textBefore, asFile: false, context: {} });
  const from = place;
  sending = sending
    .then(() => send(target, draft, (unsent) => giveBack(from, { ...draft, text: unsent })))
    .catch(options.onError);
}

/** Sends a message; a long text as several messages. Calls `onUnsent` with the text that could not be sent. */
async function send(target, { asFile, context: { edit: edited, file, replyTo: answered }, text }, onUnsent) {
  const body = { ...target, ...(answered !== undefined && { replyTo: answered.id }) };
  let unsent = text;
  try {
    if (edited !== undefined) await run("editText", { ...target, messageId: edited.id, text });
    else if (file !== undefined) await sendFile(body, file, text, asFile);
    else {
      while (unsent !== "") {
        const { piece, rest } = cutText(unsent);
        await run("sendText", { ...body, text: piece });
        unsent = rest;
      }
    }
  } catch (error) {
    onUnsent(unsent);
    throw error;
  }
}

async function sendFile(body, file, text, asFile) {
  const base64 = await toBase64(file);
  const attachment = { ...body, base64, ...(text !== "" && { caption: text }) };
  const mimeType = file.type || "application/octet-stream";
  const operation = asFile ? undefined : ownOperation(file);
  const durationSeconds = operation === "sendVoice" ? await secondsOf(file) : undefined;
  return run(operation ?? "sendDocument", { ...attachment, fileName: file.name, mimeType, durationSeconds });
}

/** Restores a message that could not be sent, before any text written since. */
function giveBack(to, draft) {
  const isOpen = place.chatId === to.chatId && place.threadId === to.threadId;
  const since = isOpen ? present() : takeDraft(to);
  const isSame = since.text === (draft.context.textBefore ?? "") && Object.keys(since.context).length === 0;
  const joined = isSame ? draft : { ...since, text: [draft.text, since.text].filter(Boolean).join("\n") };
  if (isOpen) show(joined);
  else {
    keepDraft(to, joined);
    options.onDraft();
  }
}

function show(draft) {
  ({ context } = draft);
  byId("message-input").value = draft.text;
  byId("as-file").checked = draft.asFile;
  byId("file").value = "";
  fitHeight();
  showContext();
  offerCommands();
}

function showContext() {
  const { file, edit: edited, replyTo: answered } = context;
  byId("composer-context").hidden = file === undefined && edited === undefined && answered === undefined;
  byId("as-file-label").hidden = file === undefined || ownOperation(file) === undefined;
  const title =
    edited !== undefined
      ? "Edit message"
      : answered !== undefined
        ? `Reply to ${answered.from.name}`
        : "Attachment";
  const text = [edited?.text ?? answered?.text, file?.name].filter(Boolean).join(" · ");
  byId("context-title").textContent = title;
  byId("context-text").textContent = text;
  byId("send").setAttribute("aria-label", edited === undefined ? "Send" : "Save");
}

function fitHeight() {
  const input = byId("message-input");
  input.style.height = "auto";
  input.style.height = `${Math.min(input.scrollHeight, 160)}px`;
}
