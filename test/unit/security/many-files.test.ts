import type { UIMessage } from "ai";
import { describe, expect, it } from "vitest";
import { wait } from "../../../src/core/base/deps.ts";
import { loadFiles } from "../../../src/turn/model/load-files.ts";
import type { ResolvedFile } from "../../../src/turn/model/load-files.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

function sent(...names: readonly string[]): UIMessage {
  const parts = names.map((name) => ({ type: "file" as const, mediaType: "image/png", url: name }));
  return { id: names.join(), role: "user", parts: [{ type: "text", text: "look" }, ...parts] };
}

/** Loads files of one kind; returns which were fetched, and the parts that the model gets of each message. */
async function load(messages: readonly UIMessage[], file: ResolvedFile, maxContextTokens = 1000) {
  const fetched: string[] = [];
  let atOnce = 0;
  let mostAtOnce = 0;
  const resolveFile = async (url: string): Promise<ResolvedFile> => {
    fetched.push(url);
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await Promise.resolve();
    atOnce -= 1;
    return file;
  };
  const loaded = await loadFiles(messages, { maxContextTokens, resolveFile });
  const kinds = loaded.map(({ parts }) => parts.slice(1).map(({ type }) => type));
  return { fetched, kinds, mostAtOnce, loaded };
}

describe("a person who sends file after file", () => {
  const history = Array.from({ length: 30 }, (_, index) => sent(`f${index}`));
  const large: ResolvedFile = { kind: "bytes", bytes: new Uint8Array(6_000_000), mediaType: "image/png" };

  it("has the newest loaded, as far as they fit, a few at a time; the others are not even fetched", async () => {
    const { fetched, kinds, mostAtOnce } = await load(history, large);
    expect(kinds.flat().filter((type) => type === "file")).toHaveLength(3);
    expect(kinds.slice(-3)).toEqual([["file"], ["file"], ["file"]]);
    expect(kinds.flat()).toHaveLength(30);
    expect(fetched).toEqual(["f29", "f28", "f27", "f26"]);
    expect(mostAtOnce).toBeLessThanOrEqual(4);
  });

  it("does not wait for all of them one after the other where files do not come", async () => {
    const clock = createVirtualClock();
    const asked: string[] = [];
    const resolveFile = async (url: string): Promise<ResolvedFile> => {
      asked.push(url);
      await wait(clock, 20_000);
      return { kind: "text", text: "[image] (it could not be loaded)" };
    };
    const beganAt = clock.now();
    let tookMs: number | undefined;
    void loadFiles(history, { maxContextTokens: 1000, resolveFile, now: () => clock.now() }).then(
      (loaded) => {
        tookMs = clock.now() - beganAt;
        expect(loaded).toHaveLength(30);
      },
    );
    await clock.advanceUntil(() => tookMs !== undefined, 600_000);
    expect(tookMs).toBeLessThanOrEqual(40_000);
    expect(asked.slice(0, 4)).toEqual(["f29", "f28", "f27", "f26"]);
  });

  it("does not fill the context with the text of files", async () => {
    const { loaded } = await load(history, { kind: "text", text: "x".repeat(1500) });
    const texts = JSON.stringify(loaded);
    expect(texts.match(/x{1500}/g)).toHaveLength(1);
    expect(texts).toContain("left out");
  });

  it("gets the newest file, however large it is allowed to be, and all small ones", async () => {
    const huge: ResolvedFile = { kind: "bytes", bytes: new Uint8Array(30_000_000), mediaType: "image/png" };
    expect((await load(history.slice(0, 2), huge)).kinds).toEqual([["text"], ["file"]]);
    const small: ResolvedFile = { kind: "bytes", bytes: new Uint8Array(10), mediaType: "image/png" };
    expect((await load(history, small)).kinds.flat()).toEqual(Array(30).fill("file"));
    const album = await load([sent("a", "b", "c", "d", "e", "f")], large);
    expect(album.kinds[0]).toEqual(["file", "file", "file", "text", "text", "text"]);
  });
});
