import { byId } from "./dom.js";
import { startRecording } from "./voice-recorder.js";

/** The recording that runs or is being started. A new object for each. */
let current;
let options;
/** How often a chat was left or a recording discarded. A recording that ends meanwhile belongs nowhere. */
let drops = 0;

/**
 * Sets up the button that records a voice message. The first press starts, the second one ends the recording.
 *
 * @param {(voice: File) => void} onRecorded
 * @param {(error: Error) => void} onError
 */
export function startVoiceButton(onRecorded, onError) {
  options = { onRecorded, onError };
  byId("record").addEventListener("click", () => void (current === undefined ? begin() : endRecording()));
  byId("recording-cancel").addEventListener("click", () => {
    dropRecording();
    byId("record").focus();
  });
}

/** Ends a recording and forgets it. */
export function dropRecording() {
  drops += 1;
  current?.recording?.cancel();
  leave();
}

/** Ends a recording and hands it over. Resolves to false if there was none. */
export async function endRecording() {
  const recording = current?.recording;
  const dropsBefore = drops;
  leave();
  if (recording === undefined) return false;
  try {
    const voice = await recording.finish();
    if (drops !== dropsBefore) return false;
    options.onRecorded(voice);
    return true;
  } catch (error) {
    options.onError(error);
    return false;
  }
}

async function begin() {
  const mine = {};
  current = mine;
  try {
    const recording = await startRecording();
    if (current !== mine) return recording.cancel();
    mine.recording = recording;
    mine.timer = setInterval(showTime, 250, Date.now());
    showTime(Date.now());
    show(true);
  } catch (error) {
    if (current === mine) leave();
    options.onError(error);
  }
}

function leave() {
  clearInterval(current?.timer);
  current = undefined;
  show(false);
}

function showTime(since) {
  const seconds = Math.floor((Date.now() - since) / 1000);
  byId("recording-time").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

function show(isRecording) {
  const label = isRecording ? "Finish the recording" : "Record a voice message";
  byId("recording").hidden = !isRecording;
  byId("record").setAttribute("aria-pressed", String(isRecording));
  byId("record").setAttribute("aria-label", label);
  byId("record").title = label;
}
