import type { BroadcastTarget } from "../core/turn/broadcast.ts";
import { FUNCTION, isObject, optionProblem, orFunction, TEXT } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import type { Content } from "../core/message/content.ts";
import { ConfigurationError } from "../core/base/errors.ts";

/** One call of an outside system. */
export interface IncomingCall {
  /** The id of the hook in `getIncomingHooks()`. */
  readonly hook: string;
  /** The parsed JSON of the body. A text if the body is no JSON. */
  readonly payload: unknown;
  /** Headers of the request, in lower case, without the secret. */
  readonly headers: Readonly<Record<string, string>>;
}

/** How a call proves where it comes from. */
export type HookProof =
  /** `Authorization: Bearer <token>`. */
  | { readonly token: string }
  /** An HMAC over the body, in hexadecimal digits. */
  | {
      readonly secret: string;
      /** @default "x-hub-signature-256" */
      readonly header?: string;
      /** The text before the digits. @default "sha256=" if `header` is not set, else none */
      readonly prefix?: string;
    };

/**
 * An address for other systems: `POST /hooks/<id>`. Exactly one of `prompt` and `notice`. A text is a template: `{{a.b}}`
 * is replaced by that value of the payload. A function may return `undefined` to ignore a call.
 *
 * @example
 * getIncomingHooks() {
 *   return {
 *     build: {
 *       proof: { secret: this.env.CI_SECRET },
 *       to: { messenger: "telegram", chatId: "-100123" },
 *       notice: "Build {{build.number}} of {{repository.name}} has failed.",
 *     },
 *   };
 * }
 */
export interface IncomingHook {
  readonly proof: HookProof;
  /** The chats that it is for. */
  readonly to:
    | BroadcastTarget
    | readonly BroadcastTarget[]
    | ((call: IncomingCall) => BroadcastTarget | readonly BroadcastTarget[] | undefined);
  /** A question to the model of the chat's conversation, whose answer is sent there. */
  readonly prompt?: string | ((call: IncomingCall) => string | undefined | Promise<string | undefined>);
  /** Content that is sent as it is. The model of the conversation knows it. */
  readonly notice?: string | ((call: IncomingCall) => Content | undefined | Promise<Content | undefined>);
  /**
   * Tells two calls from a repeated one, which does nothing. @default the header `Idempotency-Key`, else
   * `X-GitHub-Delivery`, else every call is a new one
   */
  readonly idempotencyKey?: (call: IncomingCall) => string | undefined;
}

/** Hooks by id: lower case letters, digits, `-` and `_`. */
export type IncomingHooks = Readonly<Record<string, IncomingHook>>;

const HOOK: OptionRules<IncomingHook> = {
  proof: ["{ token } or { secret }", isObject, { token: true, secret: true, header: TEXT, prefix: TEXT }],
  to: true,
  prompt: orFunction(TEXT),
  notice: orFunction(TEXT),
  idempotencyKey: FUNCTION,
};

/** @throws {ConfigurationError} `hook-invalid` */
export function checkHook(id: string, hook: IncomingHook): void {
  const wrong = (what: string): ConfigurationError =>
    new ConfigurationError("hook-invalid", `The hook "${id}" of getIncomingHooks() ${what}.`);
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(id))
    throw wrong("needs an id of lower case letters, digits, - and _, at most 64");
  const problem = optionProblem(hook, HOOK, {});
  if (problem !== undefined) throw wrong(`cannot be used: ${problem.replace(/\.$/, "")}`);
  const { notice, prompt, proof, to } = hook;
  const secret = proof === undefined ? undefined : "token" in proof ? proof.token : proof.secret;
  if (typeof secret !== "string" || secret === "")
    throw wrong("needs proof: { token } or { secret }, with a text that is not empty. Is the variable set?");
  if ((notice === undefined) === (prompt === undefined))
    throw wrong("needs exactly one of prompt and notice");
  if (to === undefined) throw wrong("needs `to`: the chats that it is for");
}

/** Fills a template with values of a payload. Texts come from outside, so their marks are taken away by `clean`. */
export function fillTemplate(template: string, payload: unknown, clean: (value: string) => string): string {
  return template.replaceAll(/\{\{\s*([\w$.-]+)\s*\}\}/g, (_match, path: string) => {
    const value = path
      .split(".")
      .reduce<unknown>(
        (inside, key) =>
          typeof inside === "object" && inside !== null && Object.hasOwn(inside, key)
            ? (inside as Readonly<Record<string, unknown>>)[key]
            : undefined,
        payload,
      );
    if (value === undefined || value === null) return "";
    return clean(typeof value === "string" ? value : JSON.stringify(value));
  });
}

/** Keeps a value from being Markdown. */
export function escapeMarkdown(value: string): string {
  return value.replaceAll(/[\\`*_{}[\]()<>#+\-.!|~]/g, String.raw`\$&`).replaceAll(/\s*\n\s*/g, " ");
}
