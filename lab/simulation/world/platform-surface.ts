import type { RemoteFile } from "../../../src/core/message/content.ts";
import type {
  Address,
  CallOptions,
  Drafts,
  FileCapabilities,
  NativeStream,
  OutgoingContent,
  OutgoingMedia,
  PostedMessage,
  PostSearch,
  Probing,
  Surface,
} from "../../../src/core/chat/surface.ts";
import { Disconnected, GatewayError, NotDone, Unauthorized, classifyError } from "../platform/call-errors.ts";
import type { SurfaceCall, SurfaceMethod } from "../oracle/contract.ts";
import type { CallFaults } from "../platform/call-faults.ts";
import type { Life } from "../machine/life.ts";
import type { Oracle } from "../oracle/oracle.ts";
import type { CallFault, Plan } from "../plan/plan.ts";
import {
  CAPTION_LIMITS,
  DRAFT_LASTS_MS,
  idOf,
  LIMITS,
  PACING,
  PLACE,
  PlatformRefusal,
  REMEMBERS_KEYS_MS,
  RICH,
} from "../platform/platform.ts";
import type { Platform, ShownContent } from "../platform/platform.ts";
import type { Random } from "../../support/random.ts";
import type { Scheduler } from "../machine/scheduler.ts";
import type { Trace } from "../machine/trace.ts";

export interface SurfaceWorld {
  readonly scheduler: Scheduler;
  readonly platform: Platform;
  readonly faults: CallFaults;
  readonly oracle: Oracle;
  readonly trace: Trace;
  readonly random: Random;
  readonly plan: Pick<Plan, "policy">;
  /** Keys of all posts so far. */
  readonly keys: Set<string>;
}

type Answer =
  | { readonly kind: "done"; readonly value: unknown }
  | { readonly kind: "failed"; readonly error: unknown };

/** Creates the surface of one process: the platform behind a network with latency, faults and time limits. */
export function createPlatformSurface(world: SurfaceWorld, life: Life): Surface {
  const { scheduler, platform, faults, keys, oracle, trace, random, plan } = world;

  /** Carries out a call at the platform and returns its answer. */
  const process = (call: SurfaceCall, fault: CallFault | undefined): Answer => {
    try {
      const { method, address, content, messageId, draftId } = call;
      if (method === "answer") {
        // Outside of the chat's rate. A bot that answers too many presses is still refused.
        if (fault?.kind === "flood") throw new PlatformRefusal(fault);
        return { kind: "done", value: undefined };
      }
      if (fault?.kind === "flood") platform.penalize(address.chatId, fault.retryAfterS);
      platform.admit(
        address,
        method === "find" || (method === "probe" && !platform.hasOwn(address, messageId ?? "")),
      );
      if (content?.blocks !== undefined) platform.takeBlocks(content.blocks);
      let value: unknown;
      if ((method === "post" || method === "begin") && content !== undefined) {
        const ids = platform.post(address, content, call.number, method === "begin", call.key);
        value = postedOf(ids, content);
      } else if (method === "find" && call.lost !== undefined) {
        value = platform.find(address, call.lost).map((id) => ({ messageId: String(id) }));
      } else if (method === "draft" && content !== undefined && draftId !== undefined) {
        platform.showDraft(address, draftId, content);
      } else if (method === "append" && content !== undefined && messageId !== undefined) {
        platform.append(address, messageId, content);
      } else if (method === "end" && messageId !== undefined) {
        platform.endStream(address, messageId);
      } else if (method === "edit" && content !== undefined && messageId !== undefined) {
        platform.edit(address, messageId, content);
      } else if (method === "remove" && messageId !== undefined) {
        platform.remove(address, messageId, plan.policy.locksCards);
      } else if (method === "probe" && messageId !== undefined) {
        platform.probe(address, messageId, call.keyboard);
      }
      trace.add(
        "platform",
        () => `#${call.number} ${method} done${value === undefined ? "" : ` ${JSON.stringify(value)}`}`,
      );
      oracle.onProcessed(call, life);
      return { kind: "done", value };
    } catch (error) {
      trace.add(
        "platform",
        () => `#${call.number} refused: ${JSON.stringify((error as PlatformRefusal).refusal)}`,
      );
      return { kind: "failed", error };
    }
  };

  const call = async (
    method: SurfaceMethod,
    address: Address,
    { signal }: CallOptions,
    content?: ShownContent,
    messageId?: string,
    more: Pick<
      SurfaceCall,
      "draftId" | "replyTo" | "keyboard" | "notice" | "key" | "isRepeated" | "lost"
    > = {},
  ): Promise<unknown> => {
    life.boundary(`before ${method}`);
    const number = faults.count();
    const fault = faults.take(number, scheduler.now(), content);
    const made: SurfaceCall = { number, method, address, content, messageId, ...more, at: scheduler.now() };
    trace.add(life.name, () => describeCall(made, fault));
    oracle.onCall(made, life, fault);
    signal.addEventListener("abort", () => oracle.onTimeLimit(made), { once: true });
    const hearsAbort = !random.chance(0.2);
    const answer = await new Promise<Answer>((resolve) => {
      const fail = (error: unknown): void => resolve({ kind: "failed", error });
      // Sometimes the answer is on its way when the time limit passes.
      if (hearsAbort) {
        signal.addEventListener("abort", () => fail(new Disconnected("aborted")), { once: true });
      }
      travel(random.int(2, 40), made, fault, resolve, fail);
    });
    if (life.isDead) return new Promise(() => {});
    oracle.onAnswer(made, life, answer.kind === "failed" ? answer.error : undefined);
    trace.add(
      life.name,
      () => `#${number} ${answer.kind === "done" ? "answered" : `failed: ${String(answer.error)}`}`,
    );
    life.boundary(`after ${method}`);
    if (answer.kind === "done") return answer.value;
    throw answer.error;
  };

  /** Takes a call to the platform and back. */
  const travel = (
    latencyMs: number,
    made: SurfaceCall,
    fault: CallFault | undefined,
    resolve: (answer: Answer) => void,
    fail: (error: unknown) => void,
  ): void => {
    const back = random.int(2, 40);
    const later = (delayMs: number, body: () => void): void => void scheduler.after(delayMs, body);
    later(latencyMs, () => {
      switch (fault?.kind) {
        case undefined:
        case "flood": {
          const answer = process(made, fault);
          return later(back, () => resolve(answer));
        }
        case "bad-entities":
          return later(back, () => fail(new PlatformRefusal({ kind: "bad-request", why: "entities" })));
        case "unauthorized":
          return later(back, () => fail(new Unauthorized("unauthorized")));
        case "refused":
          return later(back, () => fail(new NotDone("not connected")));
        case "gateway":
          if (fault.done) process(made, undefined);
          return later(back, () => fail(new GatewayError("502")));
        case "cut-before":
          return later(back, () => fail(new Disconnected("cut")));
        case "cut-after":
          process(made, undefined);
          return later(back, () => fail(new Disconnected("cut")));
        case "late":
          later(fault.doneAfterMs, () => process(made, undefined));
          return later(back, () => fail(new Disconnected("cut")));
        case "hang":
          if (fault.done) process(made, undefined);
          return;
        case "slow": {
          const answer = process(made, undefined);
          return later(fault.answeredAfterMs, () => resolve(answer));
        }
        case "slow-done":
          return later(fault.doneAfterMs, () => {
            const answer = process(made, undefined);
            later(back, () => resolve(answer));
          });
        default:
          return fault satisfies never;
      }
    });
  };

  const post =
    (method: "post" | "begin"): Surface["post"] =>
    async (address, { key, replyTo, ...content }, options) => {
      const files = content.files ?? picturesOf(content);
      const shown = shownOf(content, files === undefined ? undefined : await mediaOf(files, options));
      const isRepeated = key !== undefined && keys.has(key);
      if (key !== undefined) keys.add(key);
      const more = { replyTo, isRepeated, ...(key !== undefined && { key }) };
      return (await call(method, address, options, shown, undefined, more)) as PostedMessage;
    };

  /** Returns the answer to a post, with ids for its files. */
  const postedOf = (ids: readonly number[], { media }: ShownContent): PostedMessage => {
    const [first = 0] = ids;
    const isFile = media !== undefined && !media[0]?.startsWith(PLACE);
    return {
      messageId: String(first),
      ...(ids.length > 1 && { messageIds: ids.map(String) }),
      ...(isFile && { fileIds: platform.keep(media) }),
    };
  };

  const drafts = (): Drafts => ({
    lastsMs: DRAFT_LASTS_MS,
    show: async (address, { id, ...content }, options) => {
      await call("draft", address, options, shownOf(content), undefined, { draftId: id });
    },
  });

  const stream = (): NativeStream => ({
    begin: post("begin"),
    append: async (address, messageId, more, options) => {
      await call("append", address, options, more, messageId);
    },
    end: async (address, messageId, options) => {
      await call("end", address, options, undefined, messageId);
    },
  });

  const probing = (): Probing => ({
    box: ({ chatId }) => platform.boxOf(chatId),
    async probe(address, messageId, options) {
      try {
        await call("probe", address, options, undefined, messageId, { keyboard: options.buttons });
        return "own";
      } catch (error) {
        const kind = error instanceof PlatformRefusal ? error.refusal.kind : undefined;
        if (kind === "not-modified") return "own";
        if (kind === "not-found") return "other";
        if (kind === "not-there") return "none";
        throw error;
      }
    },
  });

  const search: PostSearch = {
    ...(platform.search === "repeats" && { repeatableForMs: REMEMBERS_KEYS_MS }),
    find: async (address, lost, options) =>
      (await call("find", address, options, undefined, undefined, { lost })) as readonly PostedMessage[],
  };
  const canChange = platform.kind !== "fixed";
  const isTelegram = platform.kind === "telegram";
  return {
    provider: "sim",
    capabilities: {
      edit: canChange,
      remove: canChange,
      typing: true,
      buttons: true,
      images: isTelegram,
      location: isTelegram,
      ...(canChange && { files: filesOf(isTelegram) }),
    },
    captionLimits: CAPTION_LIMITS,
    format: canChange ? "telegram-entities" : "plain",
    limits: LIMITS,
    pacing: PACING,
    typingLastsMs: 5_000,
    post: post("post"),
    edit: async (address, messageId, message, options) => {
      const pictures = picturesOf(message);
      const shown = shownOf(message, pictures === undefined ? undefined : await mediaOf(pictures, options));
      await call("edit", address, options, shown, messageId);
    },
    remove: async (address, messageId, options) => {
      await call("remove", address, options, undefined, messageId);
    },
    typing: async (address, options) => {
      await call("typing", address, options);
    },
    answerAction: async (address, { id }, notice, options) => {
      await call("answer", address, options, undefined, id, { notice: notice?.text });
    },
    classifyError,
    ...(platform.kind === "telegram" && { drafts: drafts(), probing: probing(), rich: RICH }),
    ...(platform.kind === "streams" && { stream: stream() }),
    ...(platform.search !== "none" && { search }),
  };
}

/** Albums where the platform has them. Elsewhere each file is a message, and the bot gets no ids of files. */
function filesOf(hasAlbums: boolean): FileCapabilities {
  return {
    maxBytes: () => 1_000,
    maxAlbumSize: hasAlbums ? 10 : 1,
    references: hasAlbums,
    callTimeoutMs: 15_000,
  };
}

/** Returns the picture of a card whose bytes are stored. */
function picturesOf({ image }: OutgoingContent): readonly OutgoingMedia[] | undefined {
  return image !== undefined && "source" in image ? [image] : undefined;
}

/** Reads the files of a message, or names those that the platform has. */
async function mediaOf(
  files: readonly OutgoingMedia[],
  { openFile }: CallOptions,
): Promise<readonly string[]> {
  const media: string[] = [];
  for (const { source } of files) {
    if (source.kind === "platform") media.push(idOf(source.fileId));
    else if (source.kind === "bytes" && openFile !== undefined)
      media.push(await textOf(openFile(source.hash)));
  }
  return media;
}

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of stream) text += decoder.decode(piece, { stream: true });
  return text;
}

function pictureName(image: RemoteFile): string {
  return "url" in image ? image.url : idOf(image.fileId);
}

function shownOf(
  { text, entities, blocks, buttons, image, isCaption, files, location }: OutgoingContent,
  known?: readonly string[],
): ShownContent {
  const picture = image === undefined || "source" in image ? undefined : [pictureName(image)];
  const media = known ?? picture ?? (location === undefined ? undefined : [`${PLACE}${location.latitude}`]);
  return {
    text,
    entities,
    ...(blocks !== undefined && { blocks }),
    ...(buttons !== undefined && { buttons }),
    ...(media !== undefined && { media }),
    // The files of a message stay as they are.
    ...((isCaption === true || files !== undefined) && { isCaption: true }),
  };
}

function describeCall(
  { number, method, address, content, messageId }: SurfaceCall,
  fault: CallFault | undefined,
): string {
  const target = `${address.threadId}${messageId === undefined ? "" : ` message ${messageId}`}`;
  const form = content?.blocks === undefined ? "" : " (blocks)";
  const files = content?.media === undefined ? "" : ` with ${content.media.join(", ")}`;
  const text = content === undefined ? "" : ` ${JSON.stringify(content.text)}${form}${files}`;
  return `#${number} ${method} ${target}${text}${fault === undefined ? "" : `  << ${JSON.stringify(fault)}`}`;
}
