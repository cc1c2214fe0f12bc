import * as fc from "fast-check";
import { expect, it } from "vitest";
import type { Surface } from "../../../src/core/chat/surface.ts";
import type { Fault } from "../../support/fake-surface.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess } from "./crash-world.ts";
import { ADDRESS } from "./engine-harness.ts";

const FILES = {
  files: { maxBytes: () => 50 * 1024 * 1024, maxAlbumSize: 10, callTimeoutMs: 60_000 },
  location: true,
  typing: false,
} as const;

const FAULTS = {
  "lost, made": { kind: "lose", done: true },
  "lost, not made": { kind: "lose", done: false },
  hangs: { kind: "hang" },
  fails: { kind: "fail", failure: { kind: "transient", code: "server-500" } },
  flood: { kind: "fail", failure: { kind: "retry-after", code: "429", retryAfterMs: 3_000 } },
} as const satisfies Record<string, Fault>;

type Sent = "photo" | "album" | "text" | "place";

const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("send" as const),
        what: fc.constantFrom<Sent>("photo", "album", "text", "place"),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("fault" as const),
        fault: fc.constantFrom(...(Object.keys(FAULTS) as (keyof typeof FAULTS)[])),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(20, 80, 3_000) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("die" as const), boundary: fc.nat({ max: 12 }) }) },
  ),
  { minLength: 3, maxLength: 14, size: "max" },
);

async function send({ delivery }: CrashProcess, id: string, what: Sent): Promise<void> {
  const photo = (text: string) =>
    delivery.storeFile(ADDRESS.messengerId, { kind: "photo", source: new TextEncoder().encode(text) });
  if (what === "text") delivery.send(startOf(id), id);
  else if (what === "place") delivery.sendLocation(startOf(id), { latitude: 1, longitude: 2 });
  else {
    const names = what === "album" ? [id, `${id}, too`] : [id];
    delivery.sendFiles(startOf(id), await Promise.all(names.map(photo)), id);
  }
}

const shownAs: Readonly<Record<Sent, (id: string) => readonly string[]>> = {
  text: (id) => [id],
  place: () => ["place"],
  photo: (id) => [`photo ${id}`],
  album: (id) => [`photo ${id}`, "photo "],
};

/** Plays a plan. Returns what people should see, and what they see. */
async function play(
  plan: typeof steps extends fc.Arbitrary<infer Plan> ? Plan : never,
  reached?: (real: Surface) => Surface,
): Promise<{ readonly wanted: readonly string[]; readonly seen: readonly string[] }> {
  const world = createCrashWorld({ probing: true, capabilities: FILES }, reached);
  const wanted: string[] = [];
  let crashAt = Infinity;
  let process: CrashProcess | undefined;
  const alive = async (): Promise<CrashProcess> => {
    if (process !== undefined && !process.isDead()) return process;
    process = world.boot(crashAt);
    crashAt = Infinity;
    await process.advance(1);
    void process.delivery.run().catch(ignoreCrash);
    return process;
  };
  for (const step of [...plan, { kind: "pass", ms: 600_000 } as const]) {
    // A step is done again when the process died before it knew that it was stored.
    for (let isDone = false; !isDone;) {
      try {
        const living = await alive();
        if (step.kind === "send") await send(living, `m${wanted.length}`, step.what);
        else if (step.kind === "fault") world.platform.fault("post", FAULTS[step.fault]);
        else if (step.kind === "pass") await living.advance(step.ms);
        else {
          living.kill();
          crashAt = world.boundaries().length + 1 + step.boundary;
        }
        isDone = step.kind === "die" || !living.isDead();
      } catch (error) {
        ignoreCrash(error);
      }
    }
    if (step.kind === "send") wanted.push(...shownAs[step.what](`m${wanted.length}`));
  }
  const seen = world.platform
    .messages(ADDRESS.chatId)
    .map(({ file, location, text }) =>
      location === undefined ? (file === undefined ? text : `${file.kind} ${text}`) : "place",
    );
  return { wanted, seen };
}

it("shows every file once and in order, whatever is lost, refused or killed", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const { seen, wanted } = await play(plan);
      expect(seen).toEqual(wanted);
    }),
    { numRuns: 60 },
  );
});

it("finds a file that is posted twice, because its lost post counts as not made", async () => {
  const planted = (real: Surface): Surface =>
    Object.assign(Object.create(real) as Surface, {
      post: (...asked: Parameters<Surface["post"]>) =>
        real.post(...asked).catch((error: unknown) => {
          const isLost = asked[1].files !== undefined && real.classifyError(error).kind === "unknown";
          throw isLost ? new NotMade("The connection is cut.") : error;
        }),
      classifyError: (error: unknown) =>
        error instanceof NotMade ? { kind: "transient", code: "cut" } : real.classifyError(error),
    });
  const played = await fc.check(
    fc.asyncProperty(steps, async (plan) => {
      const { seen } = await play(plan, planted);
      const photos = seen.filter((one) => one.startsWith("photo m"));
      if (new Set(photos).size < photos.length) throw new Error("a file is posted twice");
    }),
    { seed: 1, numRuns: 200, endOnFailure: true },
  );
  expect(played.errorInstance).toEqual(new Error("a file is posted twice"));
});

/** The planted defect's own failure. */
class NotMade extends Error {}
