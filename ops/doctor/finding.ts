/** Result of one check. */
export interface Finding {
  /** The thing that was looked at, in one or two words. */
  readonly about: string;
  /** `skipped`: it cannot be checked, and that is no problem. */
  readonly status: "ok" | "warning" | "problem" | "skipped";
  /** One sentence. Never a token or a secret. */
  readonly message: string;
  /** The step to take. Only with a warning or a problem, and not if the message says so itself. */
  readonly fix?: string;
}

export function ok(about: string, message: string): Finding {
  return { about, status: "ok", message };
}

export function skipped(about: string, message: string): Finding {
  return { about, status: "skipped", message };
}

export function warning(about: string, message: string, fix?: string): Finding {
  return { about, status: "warning", message, ...(fix !== undefined && { fix }) };
}

export function problem(about: string, message: string, fix?: string): Finding {
  return { about, status: "problem", message, ...(fix !== undefined && { fix }) };
}
