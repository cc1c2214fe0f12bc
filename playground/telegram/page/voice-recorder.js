import { oggSeconds } from "./ogg-opus.js";
import { webmToOgg } from "./webm-to-ogg.js";

/** Chromium and Safari know the second one only. */
const mimeTypes = ["audio/ogg;codecs=opus", "audio/webm;codecs=opus"];
const instead = "You can attach a recording instead.";

/**
 * Starts to record from the microphone. The browser asks the person for permission.
 *
 * @returns {Promise<{ finish: () => Promise<File>, cancel: () => void }>} `finish` ends the recording and returns it as a
 * voice note: OGG with Opus
 * @throws {Error} with a sentence for the person when nothing can be recorded
 */
export async function startRecording() {
  const mimeType = globalThis.MediaRecorder && mimeTypes.find((type) => MediaRecorder.isTypeSupported(type));
  if (mimeType === undefined || navigator.mediaDevices === undefined)
    throw new Error(`This browser cannot record voice messages here. ${instead}`);
  const stream = await openMicrophone();
  const recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: 32_000 });
  const pieces = [];
  const ended = new Promise((resolve) => recorder.addEventListener("stop", resolve, { once: true }));
  recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
  recorder.start();
  const stop = () => {
    if (recorder.state !== "inactive") recorder.stop();
    for (const track of stream.getTracks()) track.stop();
  };
  return {
    cancel: stop,
    finish: async () => {
      stop();
      await ended;
      const recorded = new Uint8Array(await new Blob(pieces).arrayBuffer());
      const voice = mimeType.startsWith("audio/ogg") ? recorded : webmToOgg(recorded);
      return new File([voice], "voice.ogg", { type: "audio/ogg" });
    },
  };
}

/** Returns the length of a voice note. @param {Blob} file OGG with Opus */
export async function secondsOf(file) {
  return oggSeconds(new Uint8Array(await file.arrayBuffer()));
}

async function openMicrophone() {
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (error) {
    throw new Error(`${refusals[error.name] ?? "The microphone does not work."} ${instead}`, {
      cause: error,
    });
  }
}

const refusals = {
  NotAllowedError: "The browser does not let this page use the microphone. Allow it in the page's settings.",
  NotFoundError: "There is no microphone.",
  NotReadableError: "The microphone is used by another program.",
};
