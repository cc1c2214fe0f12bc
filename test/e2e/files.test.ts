import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { newcomer, rehearse, toldIn, type Rehearsal } from "./rehearsal.ts";

const MEBIBYTE = 1024 * 1024;

let rig: Rig;
let model: Rehearsal;

beforeAll(async () => {
  rig = await startRig({ config: "test/e2e/bots/filing/wrangler.jsonc" });
  model = rehearse(rig);
});

afterAll(async () => {
  await rig.close();
});

/** Lets the model attach these files, then say the text that follows. */
function attach(cue: string, ...attachments: readonly Readonly<Record<string, unknown>>[]): void {
  model.on(cue, [callTool("attach", { attachments })], [say("Here you are.")]);
}

describe("a file that cannot be sent", () => {
  it("because it is too large is named with the reason, and the model learns it at once", async () => {
    const ada = newcomer(rig);
    attach("send the film", { type: "document", name: "film.bin", sizeBytes: 51 * MEBIBYTE });
    ada.write("send the film");
    await ada.reads("Here you are.", "film.bin\nThis file is too large to send here.");
    expect(toldIn(model.requests("send the film")[1])).toContain('"code":"file-too-large"');
    ada.write("and now?", 10);
    await ada.reads("Here you are.", "film.bin\nThis file is too large to send here.", "Noted.");
    expect(toldIn(model.requests("and now?")[0])).toContain("This file is too large to send here.");
  });

  it("because its source is no address is named without a link, and the model learns it at once", async () => {
    const ada = newcomer(rig);
    attach("send the secret", { type: "image", name: "x.png", source: { url: "file:///etc/passwd" } });
    ada.write("send the secret");
    await ada.reads("Here you are.", "x.png\nThis file couldn't be sent.");
    expect(toldIn(model.requests("send the secret")[1])).toContain('"code":"attachment-invalid"');
    expect(JSON.stringify(ada.replies())).not.toContain("passwd");
  });

  it("because the platform does not get it from its address is named with a link", async () => {
    const ada = newcomer(rig);
    const url = "https://shop.example/gone.pdf";
    attach("send the offer", {
      type: "document",
      name: "offer.pdf",
      source: { url, fetchedBy: "platform" },
    });
    rig.simulator.fault({
      kind: "400",
      description: "failed to get HTTP URL content",
      method: "sendDocument",
      chatId: ada.chat.id,
    });
    ada.write("send the offer");
    await ada.reads("Here you are.", "offer.pdf\nI couldn't get this file.");
    expect(ada.replies()[1]?.entities).toMatchObject([{ type: "text_link", url }]);
    ada.write("where is it?", 10);
    await ada.reads("Here you are.", "offer.pdf\nI couldn't get this file.", "Noted.");
    expect(toldIn(model.requests("where is it?")[0])).toContain("I couldn't get this file.");
  });

  it("from a command is named, too", async () => {
    const ada = newcomer(rig);
    ada.write(`/file ${51 * MEBIBYTE}`);
    await ada.reads("notes.bin\nThis file is too large to send here.");
    expect(rig.simulator.calls({ chatId: ada.chat.id, method: "sendDocument" })).toEqual([]);
  });
});

describe("an upload that fails", () => {
  it.each([
    { name: "is cut after its last byte", fault: { kind: "cut-before" } },
    { name: "is not answered", fault: { kind: "hang", processed: false } },
    { name: "is made without an answer", fault: { kind: "hang", processed: true } },
  ] as const)("and $name holds up a message no longer than a text does", async ({ fault }) => {
    const ada = newcomer(rig);
    const greetedAt = Date.now();
    ada.write("hello");
    await ada.reads("Noted.");
    const answerMs = Date.now() - greetedAt;
    rig.simulator.fault({ ...fault, method: "sendDocument", chatId: ada.chat.id });
    const begunAt = Date.now();
    ada.write("/file 25");
    ada.write("anybody there?", 10);
    await ada.reads("Noted.", "", "Noted.");
    expect(Date.now() - begunAt).toBeLessThan(13_000 + 5 * answerMs);
  });
});
