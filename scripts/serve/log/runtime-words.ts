/** Longest text of workerd in a line. */
const MAX_LENGTH = 2_000;

/**
 * Where an exception of JavaScript begins in a line of workerd, up to its class. The message behind it is somebody's;
 * where something else than an error was thrown, all of it is. The exceptions of workerd itself (`kj::Exception`) are
 * its own words.
 */
const THROWN = new RegExp(
  [
    String.raw`(?:remote\.)?jsg\.[\w.]+`,
    String.raw`\bUncaught (?!exception\b)(?:\(in promise\)(?:; stack =)? ?)?(?:[A-Z][\w.$]*(?=:))?`,
    String.raw`\bstack = (?:[A-Z][\w.$]*(?=:))?`,
    String.raw`\b(?<!kj::)[A-Z]\w*(?:Error|Exception)(?=:\s)|\bError(?=:\s)`,
  ].join("|"),
);

/** A frame of a stack. It is strict, because a line of a message may begin like one. */
const FRAME =
  /^\s*at (?:(?:async |new )?[\w.$#<>]+ (?:\[as [\w.$#]+\] )?\([\w./:-]+\.[cm]?js:\d+:\d+\)|(?:async )?[\w./:-]+\.[cm]?js:\d+:\d+)$/gm;

export interface RuntimeWords {
  readonly text: string;
  readonly code: string | undefined;
  /** The frames of a stack, in the form of the log's `at`. */
  readonly at: string | undefined;
}

/**
 * What a line of workerd says. Unless `isRevealing`, the message of an exception is left out, because it may quote what
 * somebody wrote; workerd's own words, and the kind and place of the exception, stay.
 */
export function runtimeWords(message: string, isRevealing: boolean): RuntimeWords {
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
