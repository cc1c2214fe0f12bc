import { expect, it } from "vitest";
import type { MessengerPlatform } from "../../../src/core/chat/messenger.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { EventFiles } from "../../../src/messengers/turns/event-files.ts";
import { declaredOf, definitionOf } from "../../../lab/support/messenger-events.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

/** Files of a platform that never answers, and hears when its caller gives up. */
function createRig() {
  const clock = createVirtualClock();
  const { platform } = definitionOf();
  const never = (_reference: unknown, _context: unknown, { signal }: { readonly signal: AbortSignal }) =>
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  const silent: MessengerPlatform = { ...platform, fetchAttachment: never, fetchAttachmentMetadata: never };
  const [definition] = normalizeMessengers({ fake: definitionOf({ platform: silent }) });
  if (definition === undefined) throw new Error("no definition");
  const deps = { clock, newId: () => "id", random: () => 0, fetch };
  const identity = () => Promise.reject(new Error("not needed"));
  const files = new EventFiles({ messengers: declaredOf(() => [definition], deps, { identity }) });
  const attachment = files.fetchable("fake", { kind: "document", reference: { fileId: "1" } });
  return { clock, attachment };
}

it.each(["fetch", "fetchMetadata"] as const)(
  "ends %s after 20 seconds of the bot's clock",
  async (method) => {
    const { attachment, clock } = createRig();
    let failure: unknown;
    void attachment[method]().catch((error: unknown) => (failure = error));
    await clock.advance(19_999);
    expect(failure).toBeUndefined();
    await clock.advance(1);
    expect(failure).toMatchObject({ code: "attachment-failed" });
    expect(clock.nextTimerAt()).toBeUndefined();
  },
);

it("ends a download when the bot's code gives up, and leaves no timer behind", async () => {
  const { attachment, clock } = createRig();
  const own = new AbortController();
  const fetched = attachment.fetch({ signal: own.signal });
  own.abort();
  await expect(fetched).rejects.toMatchObject({ code: "attachment-failed" });
  expect(clock.nextTimerAt()).toBeUndefined();
});
