import { describe, expect, it } from "vitest";
import type { OutgoingFile } from "../../../src/core/message/content.ts";
import type { FileCapabilities } from "../../../src/core/chat/surface.ts";
import { ADDRESS, createHarness } from "./engine-harness.ts";

/* What people see of files, of albums and of a place, on platforms that can show them and on platforms that cannot. */

const MAX = { maxBytes: () => 1024, callTimeoutMs: 60_000 };
const PLATFORMS = {
  Telegram: { files: { ...MAX, maxAlbumSize: 10 }, location: true },
  "a Chat SDK adapter": { files: { ...MAX, maxAlbumSize: 1, references: false } },
  "a platform with text only": {},
} as const satisfies Record<string, { readonly files?: FileCapabilities; readonly location?: boolean }>;

type Platform = keyof typeof PLATFORMS;
/** The messages that people see, as `[files] text`, or the code of the error. */
type Seen = readonly string[] | string;

const bytes = new TextEncoder().encode("bytes");
const pdf: OutgoingFile = { kind: "document", name: "a_b.pdf", source: bytes };
const photoOf = (content: string): OutgoingFile => ({
  kind: "photo",
  source: new TextEncoder().encode(content),
});
const linked: OutgoingFile = {
  kind: "document",
  name: "a_b.pdf",
  source: { url: "https://shop.example/a_b.pdf", fetchedBy: "platform" },
};
const known: OutgoingFile = { kind: "photo", source: { fileId: "AgAC" } };

interface Form {
  readonly form: string;
  readonly files: readonly OutgoingFile[];
  readonly seen: Readonly<Record<Platform, Seen>>;
}

const LINK = "Yours\n\na_b.pdf (https://shop.example/a_b.pdf)";
const FORMS: readonly Form[] = [
  {
    form: "a file of bytes",
    files: [pdf],
    seen: {
      Telegram: ["[document by bytes] Yours"],
      "a Chat SDK adapter": ["[document by bytes] Yours"],
      "a platform with text only": "files-unsupported",
    },
  },
  {
    form: "an album",
    files: ["one", "two", "three"].map(photoOf),
    seen: {
      Telegram: ["[photo by bytes, photo by bytes, photo by bytes] Yours"],
      "a Chat SDK adapter": ["[photo by bytes] Yours", "[photo by bytes] ", "[photo by bytes] "],
      "a platform with text only": "files-unsupported",
    },
  },
  {
    form: "a file by address",
    files: [linked],
    seen: {
      Telegram: ["[document by address] Yours"],
      "a Chat SDK adapter": ["[document by bytes] Yours"],
      "a platform with text only": [LINK],
    },
  },
  {
    form: "a file by the platform's id",
    files: [known],
    seen: {
      Telegram: ["[photo by platform] Yours"],
      "a Chat SDK adapter": "files-unsupported",
      "a platform with text only": "files-unsupported",
    },
  },
];

function harnessOf(platform: Platform) {
  const harness = createHarness({
    surface: { format: "plain", capabilities: { location: false, ...PLATFORMS[platform] } },
    fetch: async () => new Response(bytes),
  });
  harness.surface.knowFile("AgAC");
  return harness;
}

describe.each(FORMS)("$form", ({ files, seen }) => {
  it.each(Object.keys(PLATFORMS) as Platform[])("on %s", async (platform) => {
    const { advance, delivery, start, surface } = harnessOf(platform);
    const expected = seen[platform];
    const adding = Promise.all(files.map((file) => delivery.storeFile(ADDRESS.messengerId, file)));
    if (typeof expected === "string") {
      await expect(adding).rejects.toMatchObject({ code: expected });
      return;
    }
    delivery.sendFiles(start("f1"), await adding, "Yours");
    await advance(30_000);
    const shown = surface.calls
      .filter(({ method }) => method === "post")
      .map(({ files: sent, text }) => (sent === undefined ? text : `[${sent.join(", ")}] ${text}`));
    expect(shown).toEqual(expected);
    expect(delivery.receipt("f1")?.state).toBe("delivered");
  });
});

describe("a place", () => {
  const place = { latitude: 52.5, longitude: 13.4, title: "The shop" };

  it.each(Object.keys(PLATFORMS) as Platform[])("on %s", async (platform) => {
    const { advance, delivery, start, visible } = harnessOf(platform);
    delivery.sendLocation(start("l1"), place);
    await advance(1_000);
    const map = "https://www.openstreetmap.org/?mlat=52.5&mlon=13.4#map=17/52.5/13.4";
    expect(visible()).toEqual([platform === "Telegram" ? "" : `The shop\n${map}`]);
    expect(delivery.receipt("l1")?.state).toBe("delivered");
  });
});
