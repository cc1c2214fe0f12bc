import { element } from "./dom.js";

/** Shows a file, or the files of an album. @param {readonly any[]} attachments */
export function attachmentsView(attachments) {
  if (attachments.length === 1) return attachmentView(attachments[0]);
  const isPictures = attachments.every(({ kind }) => kind === "photo" || kind === "video");
  return element(
    "div",
    {
      class: isPictures ? "album pictures" : "album",
      role: "group",
      "aria-label": `Album of ${attachments.length}`,
    },
    ...attachments.map(attachmentView),
  );
}

function attachmentView({ kind, fileId, fileName, mimeType, sizeBytes }) {
  const source = `/_sim/files/${encodeURIComponent(fileId)}`;
  if (kind === "photo") return element("img", { class: "photo", src: source, alt: "Photo" });
  if (kind === "animation" && mimeType.startsWith("image/"))
    return element("img", { class: "photo", src: source, alt: "Animation" });
  if (kind === "voice") return soundView("Voice message", source);
  if (kind === "audio") return soundView(fileName ?? "Audio", source);
  if (kind === "video" || kind === "animation") return videoView(kind, fileName, source);
  const name = fileName ?? "file";
  return element(
    "a",
    { class: "document", href: source, download: name },
    element(
      "span",
      { class: "document-icon", "aria-hidden": "true" },
      (name.split(".").at(-1) ?? "").slice(0, 4),
    ),
    element(
      "span",
      { class: "document-text" },
      element("span", { class: "hidden" }, "Download "),
      element("strong", {}, name),
      element("span", {}, `${sizeText(sizeBytes)}, ${mimeType}`),
    ),
  );
}

function videoView(kind, fileName, source) {
  const isAnimation = kind === "animation";
  const name = fileName ?? (isAnimation ? "Animation" : "Video");
  const video = element("video", { controls: true, src: source, preload: "metadata", "aria-label": name });
  const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (isAnimation) Object.assign(video, { autoplay: !isStill, loop: true, muted: true });
  return video;
}

function soundView(name, source) {
  return element(
    "div",
    { class: "sound" },
    element("span", { class: "sound-name" }, name),
    element("audio", { controls: true, src: source, preload: "metadata", "aria-label": name }),
  );
}

/** Shows a place as a link to a map. Nothing is loaded from there. */
export function locationView({ latitude, longitude, title, address }) {
  const at = `${latitude}, ${longitude}`;
  return element(
    "a",
    {
      class: "place",
      href: `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=16/${latitude}/${longitude}`,
      target: "_blank",
      rel: "noopener noreferrer",
    },
    element("span", { class: "place-map", "aria-hidden": "true" }, "📍"),
    element(
      "span",
      { class: "document-text" },
      element("span", { class: "hidden" }, "Open on a map: "),
      element("strong", {}, title ?? "Location"),
      element("span", {}, address ?? at),
    ),
  );
}

function sizeText(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
