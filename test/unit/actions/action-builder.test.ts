import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { actionBuilder } from "../../../src/actions/declare/action-builder.ts";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import { defineAction } from "../../../src/actions/declare/define-action.ts";
import { createActionRig } from "./action-rig.ts";

const cart = { id: "c_1", add: (sku: string, quantity: number) => ({ id: `i_${sku}_${quantity}` }) };
const item = z.object({ sku: z.string(), quantity: z.number().int().positive() });
const output = z.object({ cartId: z.string(), itemId: z.string() });

describe("the builder of an action", () => {
  it("makes the seed's action", async () => {
    const seen: unknown[] = [];
    const addItem = actionBuilder<ActionContext>("addItem")
      .describe("Add an item to the cart")
      .input(item)
      .output(output)
      .annotate({ destructive: false })
      .timeout({ ms: 10_000 })
      .handler(async ({ sku, quantity }, ctx) => {
        expectTypeOf(sku).toBeString();
        seen.push(ctx.signal.aborted);
        const added = await Promise.resolve(cart.add(sku, quantity));
        return { cartId: cart.id, itemId: added.id };
      });
    expect(addItem).toMatchObject({
      name: "addItem",
      description: "Add an item to the cart",
      timeoutMs: 10_000,
      kind: "server",
      strictOutput: false,
    });
    const rig = createActionRig();
    expect(await rig.call(addItem, { sku: "A", quantity: 2 })).toEqual({ cartId: "c_1", itemId: "i_A_2" });
    expect(await rig.call(addItem, { sku: "A", quantity: -1 }, { toolCallId: "b" })).toMatchObject({
      error: { name: "ActionInputError", issues: [{ path: ["quantity"] }] },
    });
    expect(seen).toEqual([false]);
  });

  it("has 60 seconds, its name for a description, and no input, unless told otherwise", async () => {
    const ping = actionBuilder<ActionContext>("ping").handler(() => "pong");
    expect(ping).toMatchObject({ name: "ping", description: "ping", timeoutMs: 60_000 });
    expect(await createActionRig().call(ping, {})).toBe("pong");
  });

  it("enforces the output only if it is strict", async () => {
    const rig = createActionRig();
    const loose = actionBuilder<ActionContext>("loose").output(output);
    const wrong = { cartId: 7 } as never;
    expect(
      await rig.call(
        loose.handler(() => wrong),
        {},
      ),
    ).toEqual({ cartId: 7 });
    expect(
      await rig.call(
        loose.strictOutput().handler(() => wrong),
        {},
        { toolCallId: "b" },
      ),
    ).toMatchObject({ error: { name: "ActionOutputError" } });
  });

  it("has steps for what an action keeps, tries again, and where it is offered", async () => {
    const failures: unknown[] = [];
    let runs = 0;
    const count = actionBuilder<ActionContext>("count")
      .input(item)
      .memory({ schema: z.object({ count: z.number() }), version: 2 })
      .retry(({ failures: failed, input }) => {
        expectTypeOf(input.sku).toBeString();
        return failed < 2;
      })
      .options({ idempotencyKey: ({ input }) => input.sku, onError: ({ error }) => failures.push(error) })
      .handler(async ({ quantity }, { memory }) => {
        runs += 1;
        if (runs === 1) throw new Error("busy");
        return memory.update((before) => {
          expectTypeOf(before).toEqualTypeOf<{ count: number } | undefined>();
          return { count: (before?.count ?? 0) + quantity };
        });
      });
    const rig = createActionRig();
    const call = rig.call(count, { sku: "A", quantity: 2 });
    for (let step = 0; step < 10; step += 1) await rig.clock.advance(100);
    expect(await call).toEqual({ count: 2 });
    expect(await rig.call(count, { sku: "A", quantity: 2 }, { toolCallId: "b" })).toEqual({ count: 2 });
    expect([runs, failures]).toEqual([2, []]);
    const pay = actionBuilder<ActionContext>("pay").contexts("checkout", "refund").retry(true);
    expect(pay.handler(() => 1)).toMatchObject({ contexts: ["checkout", "refund"], retry: true });
  });

  it("has all options of an action, and refuses those that contradict each other as an action does", () => {
    const pay = actionBuilder<ActionContext>("pay")
      .input(item)
      .options({
        permissions: ["billing"],
        approval: ({ input }) => input.quantity > 5,
        instructions: "Only when asked.",
      });
    expect(pay.handler(() => 1)).toMatchObject({ kind: "approval-gated", permissions: ["billing"] });
    expect(() => pay.options({ kind: "durable-pause", approval: false }).handler(() => 1)).toThrow(
      expect.objectContaining({ code: "action-never-waits" }),
    );
  });

  it("changes no builder that it was made from", () => {
    const base = actionBuilder<ActionContext>("base").describe("Base.");
    base.timeout(5).describe("Other.");
    expect(base.handler(() => 1)).toMatchObject({ description: "Base.", timeoutMs: 60_000 });
  });
});

describe("annotations", () => {
  const options = { description: "Delete it.", inputSchema: item, execute: () => "deleted" };

  it.each([
    [{ destructive: true }, undefined, "approval-gated", true],
    [{ requiresConfirmation: true }, undefined, "approval-gated", true],
    [{ destructive: true }, false, "server", false],
    [{ destructive: false }, undefined, "server", undefined],
    [{ readOnly: true }, undefined, "server", undefined],
  ])("%j with approval %s: %s", (annotations, approval, kind, asks) => {
    const made = defineAction({ ...options, annotations, ...(approval !== undefined && { approval }) });
    expect(made).toMatchObject({ kind, ...(asks !== undefined && { approval: asks }) });
    if (asks === undefined) expect(made).not.toHaveProperty("approval");
  });

  it.each([
    [{ readOnly: true, destructive: true }, undefined],
    [{ requiresConfirmation: true }, false],
  ])("that contradict each other are refused: %j", (annotations, approval) => {
    expect(() =>
      defineAction({ ...options, annotations, ...(approval !== undefined && { approval }) }),
    ).toThrow(expect.objectContaining({ code: "action-annotations" }));
  });

  it("let an action that only reads run without a record, and again after a time limit", async () => {
    const rig = createActionRig();
    let runs = 0;
    const look = defineAction({
      ...options,
      inputSchema: z.object({ orderId: z.string() }),
      annotations: { readOnly: true },
      timeoutMs: 1_000,
      retry: 1,
      execute: () => ((runs += 1) === 1 ? new Promise(() => {}) : "seen"),
    });
    const call = rig.call(look);
    for (let step = 0; step < 20; step += 1) await rig.clock.advance(100);
    expect(await call).toBe("seen");
    expect(runs).toBe(2);
    // The ledger would know the same call.
    expect(await rig.call(look)).toBe("seen");
    expect(runs).toBe(3);
  });
});
