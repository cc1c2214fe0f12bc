import { InlineKeyboard, InputFile } from "grammy";
import { describe, expect, it } from "vitest";
import { shopPictures } from "../../playground/shop/pictures.ts";
import { usePage } from "./page-rig.ts";
import { oggVoice, wavSound } from "./sounds.ts";

const rig = usePage({ keeps: true });
const pictures = [...shopPictures().values()];
const picture = (index: number) => new InputFile(pictures[index] ?? new Uint8Array(), `${index}.png`);
const articles = () => rig.page.getByRole("log").getByRole("article");
const received = async (count: number) => {
  await rig.simulator.waitFor(() => rig.webhook.received.length === count);
  return rig.webhook.received.map(({ update }) => update.message);
};
/** Opens the menu of the first message with the keyboard, and chooses an entry. */
const choose = async (entry: string) => {
  await articles().first().getByRole("button", { name: "Message actions" }).press("Enter");
  await rig.page.getByRole("menuitem", { name: entry }).press("Enter");
};
const upload = (name: string, mimeType: string, buffer: Buffer) =>
  rig.page.locator("#file").setInputFiles({ name, mimeType, buffer });

describe("what a bot sends", () => {
  it("shows an album as one message with its caption", async () => {
    await rig.api.sendMediaGroup(rig.chat.id, [
      { type: "photo", media: picture(0), caption: "New in the shop" },
      { type: "photo", media: picture(1) },
      { type: "photo", media: picture(2) },
    ]);
    await rig.api.sendMediaGroup(rig.chat.id, [
      { type: "document", media: new InputFile(Buffer.from("a"), "a.txt") },
      { type: "document", media: new InputFile(Buffer.from("b"), "b.txt"), caption: "Both lists" },
    ]);
    await articles().nth(1).getByText("Both lists").waitFor();
    expect(await articles().count()).toBe(2);
    const album = articles().first().getByRole("group", { name: "Album of 3" });
    await articles().first().getByText("New in the shop").waitFor();
    const widths = () =>
      album.locator("img").evaluateAll((all) => all.map((one) => Reflect.get(one, "naturalWidth")));
    await expect.poll(widths).toEqual([640, 640, 640]);
    expect(
      await articles()
        .nth(1)
        .getByRole("link", { name: /^Download [ab]\.txt/ })
        .count(),
    ).toBe(2);
  });

  it("plays voice messages and audio", async () => {
    await rig.api.sendVoice(rig.chat.id, new InputFile(oggVoice(3), "hello.oga"));
    await rig.api.sendAudio(rig.chat.id, new InputFile(wavSound(3), "tune.wav"));
    for (const name of ["Voice message", "tune.wav"]) {
      const sound = articles().getByLabel(name);
      await sound.waitFor();
      await sound.evaluate((audio) => Reflect.get(audio, "play").call(audio));
      await expect
        .poll(() => sound.evaluate((audio) => Reflect.get(audio, "currentTime")))
        .toBeGreaterThan(0);
      const duration: unknown = await sound.evaluate((audio) => Reflect.get(audio, "duration"));
      expect(duration).toBeCloseTo(3, 0);
    }
  });

  it("shows a place as a link to a map", async () => {
    await rig.api.sendVenue(rig.chat.id, 57.7, 11.9, "Coffee & Tea", "Kungsgatan 12");
    await rig.api.sendLocation(rig.chat.id, 52.5, 13.4);
    const venue = articles().getByRole("link", { name: "Open on a map: Coffee & Tea Kungsgatan 12" });
    expect(await venue.getAttribute("href")).toContain("mlat=57.7&mlon=11.9");
    await articles().getByRole("link", { name: "Open on a map: Location 52.5, 13.4" }).waitFor();
  });

  it("says that a message came silently, and that it cannot be copied", async () => {
    await rig.api.sendMessage(rig.chat.id, "Psst", { disable_notification: true, protect_content: true });
    await articles().getByText("silent protected").waitFor();
    await articles().getByRole("button", { name: "Message actions" }).press("Enter");
    await rig.page.getByRole("menuitem", { name: "Reply" }).waitFor();
    expect(await rig.page.getByRole("menuitem", { name: "Copy text" }).count()).toBe(0);
  });

  it("fits on a phone, whatever it is", async () => {
    await rig.page.setViewportSize({ width: 360, height: 700 });
    await rig.api.sendMediaGroup(rig.chat.id, [
      { type: "photo", media: picture(0) },
      { type: "photo", media: picture(1) },
    ]);
    await rig.api.sendVoice(rig.chat.id, new InputFile(oggVoice(1), "hello.oga"));
    await rig.api.sendDocument(
      rig.chat.id,
      new InputFile(Buffer.from("x"), `${"long-name-".repeat(12)}.pdf`),
    );
    const reply_markup = new InlineKeyboard()
      .copyText("Copy the tracking number of this parcel", "1")
      .text("No");
    await rig.api.sendVenue(rig.chat.id, 1, 2, "A place with a long name", "A long street, 12345 City", {
      reply_markup,
    });
    await articles().nth(3).waitFor();
    const isCut = await rig.page.evaluate(`
      [...document.querySelectorAll("#messages, #messages *")].some(
        (one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline"
          && !one.matches(".hidden"),
      )`);
    expect(isCut).toBe(false);
  });
});

describe("a card", () => {
  it("copies the text of a button", async () => {
    await rig.page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const reply_markup = new InlineKeyboard().copyText("Copy tracking number", "PN44");
    await rig.api.sendMessage(rig.chat.id, "On its way", { reply_markup });
    await rig.page.getByRole("button", { name: "Copy tracking number" }).press("Enter");
    await rig.page.getByRole("status").getByText("Copied").waitFor();
    expect(await rig.page.evaluate("navigator.clipboard.readText()")).toBe("PN44");
  });

  it("keeps the focus on its buttons when a press changes them, and its picture", async () => {
    rig.behave = async ({ callback_query: query }) => {
      if (query === undefined) return;
      await rig.api.editMessageMedia(
        rig.chat.id,
        query.message?.message_id ?? 0,
        { type: "photo", media: picture(1), caption: "Tea" },
        { reply_markup: new InlineKeyboard().text("Back", "back") },
      );
      await rig.api.answerCallbackQuery(query.id);
    };
    const reply_markup = new InlineKeyboard().text("Coffee", "coffee").text("Tea", "tea");
    await rig.api.sendPhoto(rig.chat.id, picture(0), { caption: "Pick one", reply_markup });
    const before = await articles().locator("img").getAttribute("src");
    await rig.page.getByRole("button", { name: "Tea" }).press("Enter");
    await articles().getByText("Tea").waitFor();
    await expect.poll(() => rig.page.locator(":focus").textContent()).toBe("Back");
    expect(await articles().locator("img").getAttribute("src")).not.toBe(before);
  });

  it("shows the answer to a press once, by the simulator's clock, which may have been moved", async () => {
    const aWeek = 7 * 86_400_000;
    rig.timeMs = Date.now() + aWeek;
    const reply_markup = new InlineKeyboard().text("Open?", "open").text("Closed?", "closed");
    const { message_id } = await rig.api.sendMessage(rig.chat.id, "Our shop", { reply_markup });
    const { id } = rig.simulator.pressButton(rig.chat, rig.chat.id, message_id, "open");
    await rig.api.answerCallbackQuery(id, { text: "We are open.", show_alert: true });
    await rig.page.getByRole("dialog").getByText("We are open.").waitFor();
    rig.simulator.pressButton(rig.chat, rig.chat.id, message_id, "closed");
    rig.timeMs += 20_000;
    await rig.page.reload();
    await articles().getByText("Our shop").waitFor();
    expect(await rig.page.getByRole("dialog").count()).toBe(0);
    expect(await rig.page.getByRole("button", { name: "Closed?" }).getAttribute("aria-busy")).toBeNull();
  });
});

describe("what people do with messages", () => {
  it("reacts, takes the reaction back, and sees the bot's", async () => {
    await rig.api.sendMessage(rig.chat.id, "Was this helpful?");
    await articles().first().waitFor();
    await choose("React with 👎");
    const reactions = articles().getByRole("group", { name: "Reactions" });
    await reactions.getByText("👎 Alice Moss").waitFor();
    await choose("Take the reaction back");
    await reactions.waitFor({ state: "detached" });
    const { message_id } = rig.simulator.sendText(rig.chat, rig.chat.id, "Thanks");
    await rig.api.setMessageReaction(rig.chat.id, message_id, [{ type: "emoji", emoji: "🎉" }]);
    await reactions.getByText("🎉 Switchboard").waitFor();
    const [asked, thanks] = rig.simulator.messages(rig.chat);
    expect(asked?.reactions).toEqual([]);
    expect(thanks?.reactions).toEqual([{ userId: rig.simulator.bot.id, emoji: "🎉" }]);
  });

  it("shows the pinned message above the chat, until it is taken down", async () => {
    const ids: number[] = [];
    for (let count = 1; count <= 30; count += 1)
      ids.push((await rig.api.sendMessage(rig.chat.id, `Message ${count}`)).message_id);
    await rig.api.pinChatMessage(rig.chat.id, ids[0] ?? 0);
    const bar = rig.page.getByRole("button", { name: "Pinned message Message 1" });
    await bar.waitFor();
    // The chat changes in the first moment of the way.
    await bar.press("Enter");
    rig.simulator.react(rig.chat, rig.chat.id, ids.at(-1) ?? 0, "👍");
    await articles().last().getByText("👍").waitFor();
    await articles().first().locator("xpath=self::*[contains(@class, 'flash')]").waitFor();
    await expect
      .poll(() =>
        articles()
          .first()
          .evaluate((one) => one.getBoundingClientRect().top > 0),
      )
      .toBe(true);
    await choose("Unpin");
    await bar.waitFor({ state: "hidden" });
  });

  it("uploads a voice note, a tune and a video as what they are, or as files", async () => {
    await upload("note.ogg", "audio/ogg", oggVoice(2));
    await rig.page.getByRole("button", { name: "Send", exact: true }).press("Enter");
    await articles().getByLabel("Voice message").waitFor();
    await upload("tune.wav", "audio/wav", wavSound(1));
    await rig.write("My tune");
    await upload("clip.mp4", "video/mp4", Buffer.from("no video, but nobody looks"));
    await rig.write("");
    await upload("note.ogg", "audio/ogg", oggVoice(2));
    await rig.page.getByRole("checkbox", { name: "Send as a file" }).check();
    await rig.write("");
    expect(await received(4)).toMatchObject([
      { voice: { mime_type: "audio/ogg" } },
      { audio: { file_name: "tune.wav", mime_type: "audio/wav" }, caption: "My tune" },
      { video: { file_name: "clip.mp4" } },
      { document: { file_name: "note.ogg" } },
    ]);
  });
});
