import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ActionError } from "../../../src/actions/declare/action-errors.ts";
import type { ReplyAttachment } from "../../../src/core/message/reply-attachment.ts";
import { createActionRig, killed, refund } from "./action-rig.ts";
import type { RefundOptions } from "./action-rig.ts";

const byOrder: RefundOptions["idempotencyKey"] = ({ input }) => `order:${input.orderId}`;

/** An action that attaches these, and returns "done". */
function attaching(attachments: readonly ReplyAttachment[], more: RefundOptions = {}) {
  return refund({
    execute: (_input, ctx) => {
      for (const attachment of attachments) ctx.attachReply(attachment);
      return "done";
    },
    ...more,
  });
}

describe("attachReply", () => {
  it("keeps what the work attaches, in order, for this turn only", async () => {
    const rig = createActionRig();
    const draft: ReplyAttachment = { type: "email_draft", to: ["ann@example.com"], subject: "Refund" };
    const action = attaching([draft, { type: "ticket", id: 7n, at: new Date(0) }]);
    expect(await rig.call(action)).toBe("done");
    expect(rig.attachments()).toEqual([draft, { type: "ticket", id: "7", at: "1970-01-01T00:00:00.000Z" }]);
    expect(rig.attachments("another turn")).toEqual([]);
  });

  it("takes bytes out and stores them first, wherever they are", async () => {
    const rig = createActionRig();
    const action = attaching([
      { type: "document", source: new Uint8Array([1, 2]), name: "a.pdf" },
      { type: "pages", pages: [{ scan: new Uint8Array([3]) }] },
    ]);
    await rig.call(action);
    const [first, second] = [
      { storedId: "bytes:1,2", sizeBytes: 2 },
      { storedId: "bytes:3", sizeBytes: 1 },
    ];
    expect(rig.attachments()).toEqual([
      { type: "document", source: first, name: "a.pdf" },
      { type: "pages", pages: [{ scan: second }] },
    ]);
    expect([...rig.held.values()]).toEqual([["bytes:1,2", "bytes:3"]]);
  });

  it("gives every reader a copy, and takes one when it is called", async () => {
    const rig = createActionRig();
    const fields = [{ label: "Order", value: "7" }];
    const action = refund({
      execute: (_input, ctx) => {
        ctx.attachReply({ type: "card", text: "Paid", fields });
        fields.push({ label: "Late", value: "no" });
        return "done";
      },
    });
    await rig.call(action);
    const [read] = rig.attachments();
    (read as unknown as { text: string }).text = "changed";
    expect(rig.attachments()).toEqual([
      { type: "card", text: "Paid", fields: [{ label: "Order", value: "7" }] },
    ]);
  });

  it("keeps 32 in a turn, and leaves out the rest", async () => {
    const rig = createActionRig();
    const many = (count: number) => attaching(Array.from({ length: count }, () => ({ type: "note" })));
    await rig.call(many(20), undefined, { toolCallId: "a" });
    await rig.call(many(20), undefined, { toolCallId: "b" });
    expect(rig.attachments()).toHaveLength(32);
    expect(rig.refused).toHaveLength(8);
    expect(rig.refused).toContainEqual(expect.objectContaining({ code: "attachments-too-many" }));
  });

  it("drops all when the work fails, is stopped, or takes too long", async () => {
    const rig = createActionRig();
    const failing = attaching([], {
      execute: (_input, ctx) => {
        ctx.attachReply({ type: "note" });
        throw new ActionError("The shop is closed.");
      },
    });
    await rig.call(failing, undefined, { toolCallId: "a" });
    const stopped = new AbortController();
    const slow = attaching([], {
      execute: async (_input, ctx) => {
        ctx.attachReply({ type: "note" });
        await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
        ctx.attachReply({ type: "note" });
        return "late";
      },
    });
    const stopping = await rig.begin(slow, { toolCallId: "b", signal: stopped.signal });
    stopped.abort();
    expect(await stopping.result).toMatchObject({ error: { name: "ActionUnknownError" } });
    const timing = await rig.begin(slow, { toolCallId: "c" });
    await rig.clock.advance(30_001);
    expect(await timing.result).toMatchObject({ error: { name: "ActionUnknownError" } });
    expect(rig.attachments()).toEqual([]);
  });

  it("does nothing in callbacks beside the work", async () => {
    const rig = createActionRig();
    const action = attaching([], {
      permissions: ({ ctx }) => {
        ctx.attachReply({ type: "from permissions" });
        return [];
      },
      approval: ({ ctx }) => {
        ctx.attachReply({ type: "from approval" });
        return false;
      },
      idempotencyKey: ({ ctx, input }) => {
        ctx.attachReply({ type: "from the key" });
        return input.orderId;
      },
    });
    expect(await rig.call(action)).toBe("done");
    expect(rig.attachments()).toEqual([]);
  });

  it("attaches nothing for a replayed result, in this turn or a later one", async () => {
    const rig = createActionRig();
    const action = attaching([{ type: "note" }], { idempotencyKey: byOrder });
    await rig.call(action, undefined, { toolCallId: "a" });
    await rig.call(action, undefined, { toolCallId: "b" });
    await rig.call(action, undefined, { requestId: "later", toolCallId: "c" });
    expect(rig.attachments()).toHaveLength(1);
    expect(rig.attachments("later")).toEqual([]);
  });

  it("never fails the work: the model and the chat learn of unusable attachments", async () => {
    const rig = createActionRig();
    const angry = {
      type: "angry",
      get field(): string {
        throw new Error("no");
      },
    };
    const action = attaching([
      angry,
      { type: "" },
      { type: "long", text: "x".repeat(200_000) },
      { type: "image", source: new ReadableStream<Uint8Array>() },
      { type: "note" },
    ]);
    expect(await rig.call(action)).toMatchObject({
      result: "done",
      attachmentsNotSent: [
        { name: "angry", code: "Error" },
        { name: "attachment", code: "attachment-type" },
        { name: "long", code: "attachment-too-large" },
        { name: "image", code: "Error" },
      ],
    });
    // People read the name of the file whose bytes cannot be stored.
    expect(rig.attachments()).toMatchObject([
      { type: "image", source: { unsent: "Error" } },
      { type: "note" },
    ]);
    expect(rig.refused).toHaveLength(4);
  });

  it("counts what an interrupted run attached, if `verify` says that it was done", async () => {
    const action = attaching([{ type: "note" }], {
      idempotencyKey: byOrder,
      verify: () => ({ done: true, output: "found" }),
    });
    const counts: number[] = [];
    for (let point = 0; point < 12; point += 1) {
      const rig = createActionRig();
      rig.killAtWrite(point);
      const before = await rig.call(action);
      rig.killAtWrite(Infinity);
      if (before === killed && (await rig.call(action)) === "found") counts.push(rig.attachments().length);
    }
    // Killed before its attachments were stored, or after that and before its result was.
    expect(new Set(counts)).toEqual(new Set([0, 1]));
  });
});

it.each([false, true])(
  "counts the attachments exactly once through any crashes, ledger in another object: %s (I9)",
  async (isLedgerRemote) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 25 }), { maxLength: 6 }), async (kills) => {
        const rig = createActionRig();
        rig.isLedgerRemote = isLedgerRemote;
        let runs = 0;
        const action = attaching([], {
          idempotencyKey: byOrder,
          execute: async (_input, ctx) => {
            ctx.attachReply({ type: "run", run: (runs += 1) });
            await Promise.resolve();
            ctx.attachReply({ type: "image", source: new Uint8Array([runs]) });
            return runs;
          },
        });
        let result: unknown = killed;
        for (const point of [...kills, Infinity]) {
          rig.killAtWrite(point);
          const outcome = await rig.call(action);
          if (outcome !== killed) result = outcome;
        }
        expect(rig.attachments()).toEqual([
          { type: "run", run: result },
          { type: "image", source: { storedId: `bytes:${String(result)}`, sizeBytes: 1 } },
        ]);
        expect([...rig.held.values()]).toEqual([[`bytes:${String(result)}`]]);
      }),
      { numRuns: 300 },
    );
  },
);

describe("an attachment that cannot be shown", () => {
  /** As JavaScript, or a value from somewhere else, passes it. */
  const wrong = (attachment: object): ReplyAttachment => attachment as ReplyAttachment;

  it.each([
    [{ type: "document", src: "https://example.com/a.pdf" }, '"src" does not exist. Did you mean "source"?'],
    [{ type: "image" }, "It has no source."],
    [{ type: "image", source: "a.png" }, "Its source must be bytes, { fileId } or { url }."],
    [
      { type: "image", source: { url: "javascript:alert(1)" } },
      "Its url must begin with https://, http:// or data:, not javascript:.",
    ],
    [
      { type: "document", source: { url: "file:///etc/passwd" } },
      "Its url must begin with https://, http:// or data:, not file:.",
    ],
  ])("is named to people if it is a file, and the model reads why: %o", async (attachment, problem) => {
    const rig = createActionRig();
    const { type } = attachment;
    expect(await rig.call(attaching([wrong(attachment), { type: "ticket", id: 7 }]))).toEqual({
      result: "done",
      attachmentsNotSent: [
        {
          name: type,
          code: "attachment-invalid",
          message: `The attachment of the type "${type}" cannot be shown. ${problem}`,
        },
      ],
    });
    expect(rig.attachments()).toEqual([
      { ...attachment, source: { unsent: "attachment-invalid" } },
      { type: "ticket", id: 7 },
    ]);
    expect(rig.refused).toHaveLength(1);
  });

  it("is a card without words, too", async () => {
    const rig = createActionRig();
    expect(await rig.call(attaching([{ type: "card", text: "" }]))).toMatchObject({
      attachmentsNotSent: [{ name: "card", code: "card-invalid" }],
    });
  });

  it("is not one with a `data:` address, whose bytes are stored", async () => {
    const rig = createActionRig();
    const source = { url: "data:text/plain;base64,AQI=" };
    expect(await rig.call(attaching([{ type: "document", source, name: "a.txt" }]))).toBe("done");
    expect(rig.attachments()).toMatchObject([{ source: { storedId: "bytes:1,2", sizeBytes: 2 } }]);
  });

  it("is a type error if a known type has another field", async () => {
    const rig = createActionRig();
    const action = refund({
      execute: (_input, ctx) => {
        ctx.attachReply({ type: "document", source: { url: "https://example.com/a.pdf" }, name: "a.pdf" });
        ctx.attachReply({ type: "ticket", id: 7 });
        ctx.attachReply({ type: "card", state: "booked" });
        // @ts-expect-error a misspelt field of a card
        ctx.attachReply({ type: "card", text: "Paid", butons: [] });
        // @ts-expect-error no source
        ctx.attachReply({ type: "document", src: "https://example.com/a.pdf" });
        // @ts-expect-error a misspelt field
        ctx.attachReply({ type: "image", source: { fileId: "1" }, captoin: "A" });
        // @ts-expect-error a field of another type
        ctx.attachReply({ type: "email_draft", to: "ann@example.com", source: { fileId: "1" } });
      },
    });
    await rig.call(action);
    expect(rig.refused).toHaveLength(1);
  });
});
