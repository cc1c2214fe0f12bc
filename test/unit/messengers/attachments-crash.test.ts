import { expect, it } from "vitest";
import { NO_UNSENT } from "../../support/unsent.ts";
import { createLog } from "../../../src/core/base/log.ts";
import type { ReplyAttachment } from "../../../src/core/message/reply-attachment.ts";
import type { NormalizedMessengerDefinition } from "../../../src/messengers/declare/define-messengers.ts";
import { Cards } from "../../../src/messengers/replies/cards.ts";
import { TurnAttachments } from "../../../src/messengers/turns/turn-attachments.ts";
import { createCrashWorld, ignoreCrash, startOf } from "../delivery/crash-world.ts";
import type { CrashProcess, CrashWorld } from "../delivery/crash-world.ts";
import { ADDRESS, depsOn } from "../delivery/engine-harness.ts";

const CAPABILITIES = {
  files: { maxBytes: () => 1_000_000, maxAlbumSize: 10, callTimeoutMs: 60_000 },
  location: true,
  typing: false,
} as const;

const ATTACHMENTS: readonly ReplyAttachment[] = [
  { type: "image", source: new Uint8Array([1]), caption: "Two" },
  { type: "image", source: new Uint8Array([2]) },
  { type: "card", text: "Rate us", buttons: [[{ kind: "callback", label: "Good", payload: 1 }]] },
];

const SHOWN = ["The text.", "photo: Two", "photo: ", "Rate us"];

/** The turn's object: it stores what an action attaches, then ends the turn. Each step is repeated until it is stored. */
async function work(world: CrashWorld, process: CrashProcess): Promise<void> {
  const { database, delivery } = process;
  const deps = depsOn(world.clock);
  const attachments = new TurnAttachments({
    database,
    deps,
    log: createLog(() => {}),
    delivery,
    prompts: { get: () => undefined },
    cards: new Cards({ database, deps, delivery, unsent: NO_UNSENT }),
    messengers: {
      get: () => ({ delivery: {} }) as NormalizedMessengerDefinition,
      surface: () => world.platform.connect({ clock: world.clock }),
    },
  });
  if (attachments.of("turn").length === 0) {
    const call = attachments.recorded.ofCall("turn");
    const collected = call.collect();
    for (const attachment of ATTACHMENTS) collected.add(attachment);
    await call.keep({ runId: `run-${world.boundaries().length}`, ledgerKey: "key" }, collected.close());
    if (process.isDead()) return;
    database.transaction(() => call.record("key"));
  }
  delivery.open(startOf("turn"));
  delivery.append("turn", "The");
  await process.advance(500);
  if (delivery.receipt("turn")?.state !== "streaming") return;
  const ready = await attachments.prepare("turn", [
    { replyId: "turn", address: ADDRESS, event: undefined, isAwaited: true },
  ]);
  if (process.isDead()) return;
  database.transaction(() => {
    delivery.finish("turn", "The text.");
    attachments.post(ready);
  });
}

async function live(crashAt: number): Promise<CrashWorld> {
  const world = createCrashWorld({ probing: true, capabilities: CAPABILITIES });
  for (const at of [crashAt, Infinity]) {
    try {
      const process = world.boot(at);
      await process.advance(1);
      void process.delivery.run().catch(ignoreCrash);
      await work(world, process);
      if (!process.isDead()) await process.advance(120_000);
    } catch (error) {
      ignoreCrash(error);
    }
  }
  return world;
}

function shown({ platform }: CrashWorld): string[] {
  return platform
    .messages(ADDRESS.chatId)
    .map(({ file, text }) => (file === undefined ? text : `${file.kind}: ${text}`));
}

it("shows a reply's text and then its attachments once each, whenever the process dies", async () => {
  const whole = await live(Infinity);
  expect(shown(whole)).toEqual(SHOWN);
  const total = whole.boundaries().length;
  expect(total).toBeGreaterThan(40);
  for (let crashAt = 1; crashAt <= total; crashAt += 1) {
    const world = await live(crashAt);
    expect({ crashAt, shown: shown(world) }).toEqual({ crashAt, shown: SHOWN });
    // What a dead process has left of a file is swept later, because nobody holds it.
    const held = "SELECT reply_id FROM file_use_v1 WHERE reply_id NOT GLOB 'next:*'";
    expect(world.database.all(held)).toEqual([]);
  }
});
