import { describe, expect, it } from "vitest";
import { NO_UNSENT } from "../../support/unsent.ts";
import type { CardContent } from "../../../src/core/message/content.ts";
import { Cards } from "../../../src/messengers/replies/cards.ts";
import { ADDRESS, createHarness } from "./engine-harness.ts";
import type { Harness, HarnessOptions } from "./engine-harness.ts";

const CHAT = ADDRESS.chatId;
const FILES = { maxBytes: () => 10 * 1024 * 1024, maxAlbumSize: 10, callTimeoutMs: 60_000 };
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const cardOf = (text: string, image?: CardContent["image"]): CardContent => ({
  kind: "card",
  text,
  ...(image !== undefined && { image }),
  buttons: [[{ kind: "callback", label: "Next", payload: 1 }]],
});

function createRig(options: HarnessOptions = {}) {
  const harness = createHarness({
    ...options,
    surface: { capabilities: { images: true, files: FILES, typing: false }, ...options.surface },
  });
  const { advance, clock, database, delivery } = harness;
  let id = 0;
  const deps = {
    clock,
    random: () => 0.5,
    newId: () => `card-${(id += 1)}`,
    fetch: () => Promise.reject(new Error()),
  };
  const cards = new Cards({ database, deps, delivery, unsent: NO_UNSENT });
  const post = async (name: string, content: CardContent): Promise<void> => {
    cards.post({ id: name, address: ADDRESS, policy: {} }, await cards.prepare(ADDRESS.messengerId, content));
    await advance(1_000);
  };
  return { ...harness, cards, post };
}

/** How each picture of the chat was given to the platform. */
const picturesIn = ({ surface }: Pick<Harness, "surface">) =>
  surface
    .messages(CHAT)
    .map(({ image, text }) => [
      text,
      image === undefined
        ? "none"
        : "source" in image
          ? image.source.kind
          : "fileId" in image
            ? image.fileId
            : image.url,
    ]);

function storedFiles({ database }: Pick<Harness, "database">): number {
  const [table] = database.all("SELECT 1 AS found FROM sqlite_master WHERE name = 'file_v1'");
  return table === undefined ? 0 : database.all("SELECT id FROM file_v1").length;
}

describe("a card with a picture of bytes", () => {
  it.each([
    ["an array", bytesOf("png")],
    ["a blob", new Blob([bytesOf("png").slice()], { type: "image/png" })],
  ])("shows it from %s, and its bytes are deleted when it is delivered", async (_what, image) => {
    const rig = createRig();
    await rig.post("c1", cardOf("Coffee", image));
    expect(picturesIn(rig)).toEqual([["Coffee", "bytes"]]);
    expect(rig.delivery.receipt("c1")?.state).toBe("delivered");
    expect(storedFiles(rig)).toBe(0);
  });

  it("gets another picture, loses it and gets one again, in the order of the calls", async () => {
    const rig = createRig();
    const { advance, cards, post, surface } = rig;
    await post("c1", cardOf("Coffee", bytesOf("coffee")));
    // The second revision is ready at once. It still comes after the first one, whose picture must be stored.
    const revised = [
      cards.reviseWhenReady("c1", cardOf("Tea", bytesOf("tea"))),
      cards.reviseWhenReady("c1", cardOf("Nothing")),
    ];
    expect(await Promise.all(revised)).toEqual([true, true]);
    await advance(2_000);
    expect(picturesIn(rig)).toEqual([["Nothing", "none"]]);
    await cards.reviseWhenReady("c1", cardOf("Cake", bytesOf("cake")));
    await advance(2_000);
    expect(picturesIn(rig)).toEqual([["Cake", "bytes"]]);
    await cards.reviseWhenReady("c1", cardOf("Bread", bytesOf("bread")));
    await advance(2_000);
    expect(picturesIn(rig)).toEqual([["Bread", "bytes"]]);
    expect(surface.messages(CHAT)).toHaveLength(1);
    expect(storedFiles(rig)).toBe(0);
  });

  it("is not uploaded again when a second card shows the same picture", async () => {
    const rig = createRig();
    await rig.post("c1", cardOf("One", bytesOf("png")));
    await rig.post("c2", cardOf("Two", bytesOf("png")));
    const [, second] = picturesIn(rig);
    expect(second).toEqual(["Two", expect.stringMatching(/^file:/)]);
    rig.surface.forgetFileIds();
    await rig.post("c3", cardOf("Three", bytesOf("png")));
    expect(picturesIn(rig).at(-1)).toEqual(["Three", "bytes"]);
  });

  it("is text alone where messages have no pictures", async () => {
    const rig = createRig({ surface: { capabilities: { files: FILES, typing: false } } });
    await rig.post("c1", cardOf("Coffee", bytesOf("png")));
    expect(picturesIn(rig)).toEqual([["Coffee", "none"]]);
    expect(storedFiles(rig)).toBe(0);
  });

  it("is refused without its bytes, and when they are too many", async () => {
    const { cards } = createRig();
    await expect(cards.prepare(ADDRESS.messengerId, cardOf("Empty", new Uint8Array()))).rejects.toMatchObject(
      {
        code: "file-empty",
      },
    );
    const large = new Uint8Array(10 * 1024 * 1024 + 1);
    await expect(cards.prepare(ADDRESS.messengerId, cardOf("Large", large))).rejects.toMatchObject({
      code: "file-too-large",
    });
    expect(() => cards.revise("c1", cardOf("Coffee", bytesOf("png")))).toThrow("sent with say()");
  });
});

describe("a card whose picture the platform refuses", () => {
  const LAMP = "https://shop.example/lamp.jpg";
  const refusalOf = (about: "file" | "photo" | "file-id") =>
    ({ kind: "fail", failure: { kind: "rejected", code: "refused", about } }) as const;

  it.each([
    ["by its address", { url: LAMP }, "file", `Coffee\n\n${LAMP}`],
    ["by the platform's id", { fileId: "f1" }, "file-id", "Coffee"],
    ["of bytes", bytesOf("png"), "photo", "Coffee"],
  ] as const)("is shown without it, with its buttons: a picture %s", async (_how, image, about, text) => {
    const rig = createRig();
    rig.surface.fault("post", refusalOf(about));
    await rig.post("c1", cardOf("Coffee", image));
    await rig.advance(5_000);
    expect(picturesIn(rig)).toEqual([[text, "none"]]);
    expect(rig.surface.messages(CHAT)[0]?.buttons?.flat()).toMatchObject([{ label: "Next" }]);
    expect(rig.delivery.receipt("c1")?.state).toBe("delivered");
    expect(storedFiles(rig)).toBe(0);
  });

  it("tries the picture again with a revision, and is there once", async () => {
    const rig = createRig();
    rig.surface.fault("post", refusalOf("file"));
    await rig.post("c1", cardOf("Coffee", { url: LAMP }));
    rig.surface.fault("post", refusalOf("file"));
    await rig.cards.reviseWhenReady("c1", cardOf("Tea", { url: LAMP }));
    await rig.advance(5_000);
    expect(picturesIn(rig)).toEqual([[`Tea\n\n${LAMP}`, "none"]]);
    await rig.cards.reviseWhenReady("c1", cardOf("Cake", { url: LAMP }));
    await rig.advance(5_000);
    expect(picturesIn(rig)).toEqual([["Cake", LAMP]]);
  });

  it("is shown without it when a revision brings the picture", async () => {
    const rig = createRig();
    await rig.post("c1", cardOf("Coffee", { url: "https://shop.example/cup.jpg" }));
    rig.surface.faultAlways("edit", refusalOf("file"));
    rig.surface.fault("post", refusalOf("file"));
    await rig.cards.reviseWhenReady("c1", cardOf("Tea", { url: LAMP }));
    await rig.advance(5_000);
    expect(picturesIn(rig)).toEqual([[`Tea\n\n${LAMP}`, "none"]]);
    expect(rig.delivery.receipt("c1")?.state).toBe("delivered");
  });
});
