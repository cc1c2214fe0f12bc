import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncomingEvent, MessengerPlatform, PlatformContext } from "../../../src/core/chat/messenger.ts";
import type { MessengerEvent } from "../../../src/core/chat/messenger-event.ts";
import type { Address } from "../../../src/core/chat/surface.ts";
import { answerAsRoot, createReceiver, throughStorage } from "./platform-context.ts";

/** What a person can do on a platform, as the request that the platform would send for it. */
export interface PlatformRequests {
  direct(text: string, id?: number): Request;
  inGroup(text: string, id?: number): Request;
  mention(text: string, id?: number): Request;
  /** Mentions the bot in a thread or topic of a group. */
  mentionInTopic(text: string, id?: number): Request;
  edit(text: string, id?: number): Request;
  press(data: string, id?: string): Request;
  command(name: string, args: string): Request;
  reaction(): Request;
}

export interface ProviderRig {
  readonly platform: MessengerPlatform;
  readonly context: PlatformContext;
  readonly requests: PlatformRequests;
  readonly address: Address;
  /** Lines that the provider logged. */
  readonly log: readonly string[];
  /** Makes the next call that sends a message fail as a platform would that paces, blocks, is cut off, or never answers. */
  readonly failNextPost: (how: "paced" | "blocked" | "cut off" | "hung") => void;
  /** The texts that reached the platform. */
  readonly posted: () => readonly string[];
  /** Must not appear in any error or log line. */
  readonly secret: string;
}

/** The suite that every provider passes (invariants I1, I2, I10, I12). */
export function describeProvider(name: string, createRig: () => Promise<ProviderRig> | ProviderRig): void {
  const receive = async (rig: ProviderRig, request: Request, durable?: () => Promise<void>) => {
    const receiver = createReceiver(durable);
    const response = await answerAsRoot(rig.platform.receive(request, rig.context, receiver));
    return { response, accepted: receiver.accepted, ignored: receiver.ignored };
  };
  const eventOf = async (rig: ProviderRig, request: Request): Promise<MessengerEvent> => {
    const { response, accepted } = await receive(rig, request);
    expect(response.status).toBe(200);
    expect(accepted).toHaveLength(1);
    return rig.platform.parse(throughStorage(accepted[0] as IncomingEvent), rig.context);
  };
  const signal = () => new AbortController().signal;

  describe(`${name}: receiving`, () => {
    it("answers 200 only after the event is durable (I1)", async () => {
      const rig = await createRig();
      let store: () => void = () => undefined;
      const stored = new Promise<void>((resolve) => (store = resolve));
      let isAnswered = false;
      const receiving = receive(rig, rig.requests.direct("hello"), () => stored).then((result) => {
        isAnswered = true;
        return result;
      });
      await workDone();
      expect(isAnswered).toBe(false);
      store();
      const { response, accepted } = await receiving;
      expect(response.status).toBe(200);
      expect(accepted).toHaveLength(1);
    });

    it.each(["direct", "inGroup", "mention", "edit", "press"] as const)(
      "answers 5xx when a %s event cannot be stored, and takes it when it comes again (I1)",
      async (kind) => {
        const rig = await createRig();
        const failed = await receive(rig, rig.requests[kind]("again"), () =>
          Promise.reject(new Error("full")),
        );
        expect(failed.response.status).toBeGreaterThanOrEqual(500);
        const redelivered = await receive(rig, rig.requests[kind]("again"));
        expect(redelivered.response.status).toBe(200);
        expect(redelivered.accepted).toHaveLength(1);
      },
    );

    it.each(["direct", "inGroup", "mention", "edit", "press"] as const)(
      "passes on a %s event each time it is delivered, under one key (I2)",
      async (kind) => {
        const rig = await createRig();
        const first = await receive(rig, rig.requests[kind]("same"));
        const second = await receive(rig, rig.requests[kind]("same"));
        expect(second.accepted).toHaveLength(1);
        expect(second.accepted[0]?.key).toBe(first.accepted[0]?.key);
        expect(second.accepted[0]?.thread).toEqual(first.accepted[0]?.thread);
      },
    );

    it("gives different messages, edits and presses different keys", async () => {
      const rig = await createRig();
      const sent = [
        rig.requests.direct("one", 1),
        rig.requests.direct("two", 2),
        rig.requests.inGroup("one", 1),
        rig.requests.edit("three", 1),
        rig.requests.press("yes", "p1"),
        rig.requests.press("yes", "p2"),
      ];
      const keys: string[] = [];
      for (const request of sent) keys.push((await receive(rig, request)).accepted[0]?.key ?? "none");
      expect(new Set(keys).size).toBe(sent.length);
    });

    it("keeps apart what comes at once: each request stores its own events", async () => {
      const rig = await createRig();
      const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
      const results = await Promise.all(
        numbers.map((id) => receive(rig, rig.requests.direct(`text ${id}`, id))),
      );
      const texts = await Promise.all(
        results.map(async ({ accepted }) => {
          expect(accepted).toHaveLength(1);
          const event = await rig.platform.parse(throughStorage(accepted[0] as IncomingEvent), rig.context);
          return event.message?.text;
        }),
      );
      expect(texts).toEqual(numbers.map((id) => `text ${id}`));
    });

    it("does not let one event that fails take another one's request with it", async () => {
      const rig = await createRig();
      const [failed, stored] = await Promise.all([
        receive(rig, rig.requests.direct("a", 1), () => Promise.reject(new Error("full"))),
        receive(rig, rig.requests.direct("b", 2)),
      ]);
      expect(failed.response.status).toBeGreaterThanOrEqual(500);
      expect(stored.response.status).toBe(200);
    });

    it("counts a reaction and starts nothing", async () => {
      const rig = await createRig();
      const { response, accepted, ignored } = await receive(rig, rig.requests.reaction());
      expect(response.status).toBe(200);
      expect(accepted).toEqual([]);
      expect(ignored).toHaveLength(1);
    });
  });

  describe(`${name}: events, after they were stored`, () => {
    it("reads a direct message", async () => {
      const rig = await createRig();
      const event = await eventOf(rig, rig.requests.direct("where is it?"));
      expect(event).toMatchObject({
        kind: "direct-message",
        messengerId: "bot",
        thread: { isDirectMessage: true },
        message: { text: "where is it?", attachments: [] },
      });
      expect(event.author?.userId).toMatch(/\w/);
      expect(event.author?.fullName).toBe("Ada Lovelace");
      expect(event.message?.sentAt).toBeGreaterThan(1_000_000_000_000);
    });

    it("tells a mention from any other message of a group", async () => {
      const rig = await createRig();
      expect(await eventOf(rig, rig.requests.inGroup("lunch?", 1))).toMatchObject({
        kind: "message",
        thread: { isDirectMessage: false },
        message: { text: "lunch?", isMention: false },
      });
      expect(await eventOf(rig, rig.requests.mention("help", 2))).toMatchObject({
        kind: "mention",
        message: { text: expect.stringContaining("help"), isMention: true },
      });
    });

    it("meters a topic by its chat", async () => {
      const rig = await createRig();
      const inGroup = await eventOf(rig, rig.requests.mention("help", 1));
      const inTopic = await eventOf(rig, rig.requests.mentionInTopic("help", 2));
      expect(inTopic.kind).toBe("mention");
      expect(inTopic.thread.id).not.toBe(inGroup.thread.id);
      expect(inTopic.thread.chatId).toBe(inGroup.thread.chatId);
      expect(inTopic.thread.topicId).toMatch(/./);
    });

    it("reads an edit as one", async () => {
      const rig = await createRig();
      const original = await eventOf(rig, rig.requests.direct("helo", 1));
      const edit = await eventOf(rig, rig.requests.edit("hello", 1));
      expect(edit.kind).toBe("message-edited");
      expect(edit.message).toMatchObject({ id: original.message?.id, text: "hello" });
      expect(edit.thread.id).toBe(original.thread.id);
    });

    it("reads a press of a button", async () => {
      const rig = await createRig();
      const event = await eventOf(rig, rig.requests.press("approve-42", "p1"));
      expect(event.kind).toBe("action");
      expect(event.action?.data).toBe("approve-42");
      expect(event.action?.messageId).toMatch(/./);
      expect(event.author?.fullName).toBe("Ada Lovelace");
    });

    it("reads a command", async () => {
      const rig = await createRig();
      const event = await eventOf(rig, rig.requests.command("start", "ref 42"));
      expect(event.kind).toBe("direct-message");
      expect(event.message?.command).toEqual({ name: "start", args: "ref 42" });
    });

    it("calls ignored what it cannot read, whatever is stored", async () => {
      const rig = await createRig();
      const { accepted } = await receive(rig, rig.requests.direct("a"));
      await fc.assert(
        fc.asyncProperty(fc.jsonValue(), async (raw) => {
          const event = await rig.platform.parse({ ...(accepted[0] as IncomingEvent), raw }, rig.context);
          expect(event.kind).toBe("ignored");
        }),
        { numRuns: 50 },
      );
    });
  });

  describe(`${name}: sending`, () => {
    it("posts, and proves it with the platform's message id (I12)", async () => {
      const rig = await createRig();
      const surface = rig.platform.surface(rig.context);
      const posted = await surface.post(rig.address, { text: "hello", entities: [] }, { signal: signal() });
      expect(posted.messageId).toMatch(/./);
      await surface.edit(
        rig.address,
        posted.messageId,
        { text: "hello you", entities: [] },
        { signal: signal() },
      );
      await surface.typing(rig.address, { signal: signal() });
      await surface.remove(rig.address, posted.messageId, { signal: signal() });
      await surface.answerAction(rig.address, { id: "p1" }, undefined, { signal: signal() });
      expect(rig.posted()).toEqual(["hello", "hello you"]);
    });

    it.each([
      ["paced", "retry-after"],
      ["blocked", "gone"],
      ["cut off", "unknown"],
    ] as const)("says what it means to be %s, without any secret or text (I10)", async (how, kind) => {
      const rig = await createRig();
      const surface = rig.platform.surface(rig.context);
      rig.failNextPost(how);
      const error: unknown = await surface
        .post(rig.address, { text: "private words", entities: [] }, { signal: signal() })
        .then(
          () => "sent",
          (thrown: unknown) => thrown,
        );
      expect(surface.classifyError(error).kind).toBe(kind);
      const shown = `${inspect(error, { depth: 20, showHidden: true })}${String((error as Error).stack)}${rig.log.join()}`;
      expect(shown).not.toContain(rig.secret);
      expect(shown).not.toContain("private words");
    });

    it("stops waiting when the time is over, and then does not know", async () => {
      const rig = await createRig();
      const surface = rig.platform.surface(rig.context);
      rig.failNextPost("hung");
      const controller = new AbortController();
      const failing = surface
        .post(rig.address, { text: "late", entities: [] }, { signal: controller.signal })
        .then(
          () => "sent",
          (error: unknown) => surface.classifyError(error),
        );
      await workDone();
      controller.abort();
      expect(await failing).toMatchObject({ kind: "unknown", code: "timed-out" });
    });

    it("gives every value a class", async () => {
      const rig = await createRig();
      const surface = rig.platform.surface(rig.context);
      fc.assert(
        fc.property(fc.anything(), (value) => {
          expect(surface.classifyError(value).code).toMatch(/^[a-z-]+$/);
        }),
      );
    });
  });
}

/** Lets everything run that waits for nothing but its turn. */
async function workDone(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
