/** Longest text of workerd in a line. */
const MAX_LENGTH = 2_000;

/**
 * Finds the start of a JavaScript exception in a line of workerd, up to its class.
 *
 * The message after the class may quote a chat. If another value than an error was thrown, all of it may. Exceptions of
 * workerd itself (`kj::Exception`) do not match, because their text is safe.
 */
const THROWN = new RegExp(
  [
    String.raw`(?:remote\.)?jsg\.[\w.]+`,
    String.raw`\bUncaught (?!exception\b)(?:\(in promise\)(?:; stack =)? ?)?(?:[A-Z][\w.$]*(?=:))?`,
    String.raw`\bstack = (?:[A-Z][\w.$]*(?=:))?`,
    String.raw`\b(?<!kj::)[A-Z]\w*(?:Error|Exception)(?=:\s)|\bError(?=:\s)`,
  ].join("|"),
);

/** A note of workerd's makers to their own reports. */
const OWN_NOTE = /^NOSENTRY /;

/** A frame of a stack. The pattern is strict, because a line of a message may look like one. */
const FRAME =
  /^\s*at (?:(?:async |new )?[\w.$#<>]+ (?:\[as [\w.$#]+\] )?\([\w./:-]+\.[cm]?js:\d+:\d+\)|(?:async )?[\w./:-]+\.[cm]?js:\d+:\d+)$/gm;

export interface RuntimeWords {
  readonly text: string;
  readonly code: string | undefined;
  /** The frames of a stack, in the form of the log's `at`. */
  readonly at: string | undefined;
}

/**
 * Splits a line of workerd into text, code and stack.
 *
 * Without `isRevealing`, the message of an exception is left out, because it may quote a chat. workerd's own text, the
 * kind of the exception and its place stay.
 */
export function runtimeWords(said: string, isRevealing: boolean): RuntimeWords {
  const message = said.replace(OWN_NOTE, "");
  const thrown = THROWN.exec(message);
  const frames = message.match(FRAME) ?? [];
  const words =
    thrown === null || isRevealing
      ? message.replaceAll(FRAME, "").trim()
      : message.slice(0, thrown.index + thrown[0].length);
  return {
    text: words.length > MAX_LENGTH ? `${words.slice(0, MAX_LENGTH)}…` : words,
    code: codeOf(message, thrown?.[0]),
    at: frames.length === 0 ? undefined : frames.map((frame) => frame.trim()).join(" < "),
  };
}

function codeOf(message: string, thrown: string | undefined): string | undefined {
  if (/SQLITE_FULL|disk is full|No space left on device/.test(message)) return "storage-full";
  return /\bSQLITE_[A-Z_]+/.exec(message)?.[0] ?? /[A-Z][\w$]*$/.exec(thrown ?? "")?.[0];
}
