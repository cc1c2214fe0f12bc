import type { Adapter } from "chat";
import { keepHeaders } from "../errors/call-pauses.ts";
import type { ReadHeader } from "../errors/call-pauses.ts";
import { replaceMethod } from "./search/post-key.ts";

interface Octokit {
  readonly hook: {
    after(name: "request", read: (response: { readonly headers: Record<string, unknown> }) => void): void;
  };
}

/** Keeps the headers of every answer. Each installation has a client. */
export function watchAnswers(adapter: Adapter): void {
  const watched = new WeakSet<Octokit>();
  replaceMethod(adapter, "getOctokitForThread", (get) => async (...args: unknown[]) => {
    const octokit = (await get(...args)) as Octokit;
    if (!watched.has(octokit)) {
      watched.add(octokit);
      octokit.hook.after("request", ({ headers }) => {
        keepHeaders((name) => headerText(headers[name]));
      });
    }
    return octokit;
  });
}

/** Returns the time until the hour of an account begins that has no calls left. */
export function pauseOf(header: ReadHeader, now: number): number | undefined {
  if (header("x-ratelimit-remaining") !== "0") return undefined;
  const resetMs = Number(header("x-ratelimit-reset")) * 1000 - now;
  return resetMs > 0 ? resetMs : undefined;
}

function headerText(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}
