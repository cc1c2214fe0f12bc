import { createHmac } from "node:crypto";
import type { BroadcastTarget, BroadcastWork } from "../core/turn/broadcast.ts";
import { runBotCode } from "../core/time/bot-code.ts";
import { equalSecrets } from "../core/bytes/constant-time.ts";
import { errorCode, SwitchboardError } from "../core/base/errors.ts";
import { onlyBy, problem } from "../core/web/problem.ts";
import { MAX_BODY_BYTES, readBody } from "../core/web/read-body.ts";
import { checkHook, escapeMarkdown, fillTemplate } from "./incoming-hooks.ts";
import type { IncomingCall, IncomingHook, IncomingHooks } from "./incoming-hooks.ts";
import { fromPeople } from "../messengers/turns/own-marks.ts";
import { questionsOf } from "../messengers/turns/question-messages.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { parseJson } from "../core/json/parse-json.ts";

/** The methods of the bot's class that are about calls of other systems. */
export interface HookMethods {
  getIncomingHooks?(): IncomingHooks;
}

const PATH = /^\/hooks\/([^/]+)$/;
const SIGNATURE = "x-hub-signature-256";

/**
 * Answers `POST /hooks/<id>` at the root: checks the proof, makes a prompt or a notice of the call, and stores it. It is
 * sent as a broadcast of its own, with the same promises: once, durable, to the conversation that answers in the chat.
 */
export class HooksFeature implements Feature {
  readonly name = "hooks";
  readonly #host: FeatureHost<HookMethods>;

  constructor(host: FeatureHost<HookMethods>) {
    this.#host = host;
  }

  /** Returns undefined if the request is not for a hook of the bot. */
  async handle(request: Request): Promise<Response | undefined> {
    const [, id] = PATH.exec(new URL(request.url).pathname) ?? [];
    const hooks = this.#host.agent.getIncomingHooks?.() ?? {};
    const hook = id !== undefined && Object.hasOwn(hooks, id) ? hooks[id] : undefined;
    if (id === undefined || hook === undefined) return undefined;
    checkHook(id, hook);
    if (request.method !== "POST") return onlyBy("POST");
    // A token is checked before the body is read.
    if ("token" in hook.proof && !hasToken(request, hook.proof.token)) return unauthorized();
    const body = await readBody(request, this.#host.deps.clock);
    if (body === "too-large")
      return problem(413, "body-too-large", `The body may have ${MAX_BODY_BYTES} bytes at most.`);
    if (body === "too-slow") return problem(408, "body-too-slow", "The body of the request took too long.");
    if (!("token" in hook.proof) && !isSigned(request, body, hook.proof)) return unauthorized();
    return this.#take(id, hook, callOf(id, request, body, hook));
  }

  async #take(id: string, hook: IncomingHook, call: IncomingCall): Promise<Response> {
    const work = await this.#workOf(hook, call);
    const to = typeof hook.to === "function" ? await this.#run(id, () => targetsOf(hook, call)) : hook.to;
    if (work === undefined || to === undefined) return Response.json({ accepted: false, reason: "ignored" });
    // A text alone is the name of a conversation, also if it is "all".
    const targets = typeof to === "string" ? [to] : to;
    const key = await this.#run(id, () => keyOf(hook, call));
    try {
      const started = await this.#host.features.manyChats.startBroadcast({
        id: key === undefined ? undefined : `hook:${id}:${key}`,
        work,
        targets,
      });
      const { skips, state, total } = started;
      if (total > 0 && Object.keys(skips).length > 0 && started.waiting === 0 && started.sent === 0)
        return problem(
          422,
          Object.keys(skips)[0] ?? "chat-unknown",
          "The chat of this hook cannot be written to. See the bot's `to`.",
        );
      return Response.json({ accepted: true, id: started.id, state }, { status: 202 });
    } catch (error) {
      if (errorCode(error) !== "broadcast-conflict") throw error;
      return problem(409, "hook-conflict", "An earlier call with this key had another content.");
    }
  }

  async #workOf(hook: IncomingHook, call: IncomingCall): Promise<BroadcastWork | undefined> {
    const { notice, prompt } = hook;
    if (prompt !== undefined) {
      const text =
        typeof prompt === "string"
          ? fillTemplate(prompt, call.payload, fromPeople)
          : await this.#run(call.hook, () => prompt(call));
      return isBlank(text)
        ? undefined
        : {
            kind: "prompt",
            messages: questionsOf(text, () => `hook:${call.hook}`),
            metadata: { hook: call.hook },
          };
    }
    const content =
      typeof notice === "string"
        ? fillTemplate(notice, call.payload, escapeMarkdown)
        : await this.#run(call.hook, () => notice?.(call));
    return isBlank(content) ? undefined : { kind: "content", content, informModel: true };
  }

  #run<T>(hook: string, body: () => T | Promise<T>): Promise<T> {
    const { deps, log } = this.#host;
    return runBotCode({ clock: deps.clock, log }, `getIncomingHooks().${hook}`, body);
  }
}

/** An empty text asks for nothing, and says nothing. */
function isBlank(content: unknown): content is undefined | "" {
  return content === undefined || (typeof content === "string" && content.trim() === "");
}

function targetsOf(
  { to }: IncomingHook,
  call: IncomingCall,
): BroadcastTarget | readonly BroadcastTarget[] | undefined {
  return typeof to === "function" ? to(call) : to;
}

function keyOf({ idempotencyKey }: IncomingHook, call: IncomingCall): string | undefined {
  const key =
    idempotencyKey === undefined
      ? (call.headers["idempotency-key"] ?? call.headers["x-github-delivery"])
      : idempotencyKey(call);
  if (key === undefined || (key !== "" && key.length <= 120)) return key;
  throw new SwitchboardError("hook-key-invalid", "The idempotency key of a hook has 1 to 120 characters.");
}

function callOf(hook: string, request: Request, body: Uint8Array, { proof }: IncomingHook): IncomingCall {
  const text = new TextDecoder().decode(body);
  const headers = Object.fromEntries(request.headers);
  delete headers["authorization"];
  if (!("token" in proof)) delete headers[(proof.header ?? SIGNATURE).toLowerCase()];
  return { hook, payload: parseJson(text, text), headers };
}

function hasToken(request: Request, token: string): boolean {
  const [scheme, sent] = (request.headers.get("authorization") ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && sent !== undefined && equalSecrets(sent, token);
}

function isSigned(
  request: Request,
  body: Uint8Array,
  {
    header,
    prefix = header === undefined ? "sha256=" : "",
    secret,
  }: { secret: string; header?: string; prefix?: string },
): boolean {
  const sent = request.headers.get(header ?? SIGNATURE) ?? "";
  const digest = createHmac("sha256", secret).update(body).digest("hex");
  return equalSecrets(sent, `${prefix}${digest}`);
}

function unauthorized(): Response {
  return problem(401, "unauthorized", "The token or signature of the request is missing or wrong.");
}
