/** A file that could not be sent, for the text in its place. */
export interface UnsentFile {
  readonly name: string;
  /** Its public address, if it has one. */
  readonly url?: string | undefined;
  /** Code of the refusal. */
  readonly code: string;
}

/** Reason why a file could not be sent, as people and models learn it. */
export type UnsentReason = "too-large" | "unreachable" | "forbidden" | "refused";

const REASONS: Readonly<Record<string, UnsentReason>> = {
  "file-too-large": "too-large",
  "too-large": "too-large",
  "file-refused": "unreachable",
  "file-unreachable": "unreachable",
  "file-unreadable": "unreachable",
  "file-address": "unreachable",
  "address-refused": "unreachable",
  "media-forbidden": "forbidden",
  "voice-forbidden": "forbidden",
};

export function unsentReason(code: string): UnsentReason {
  return Object.hasOwn(REASONS, code) ? (REASONS[code] ?? "refused") : "refused";
}
