import { expect, it } from "vitest";
import type { Address } from "../../../src/core/chat/surface.ts";
import { createTelegramRig } from "./telegram-rig.ts";

const direct: Address = {
  messengerId: "bot",
  threadId: "telegram:1001",
  chatId: "1001",
  isDirectMessage: true,
};
const never = () => new AbortController().signal;
const hello = { text: "hello", entities: [] };
it("sends and edits buttons and pictures, and sends silently and protected", async () => {
  const { surface, api } = createTelegramRig();
  const buttons = [
    [
      { kind: "callback", label: "Yes", token: "t1" },
      { kind: "link", label: "Shop", url: "https://shop.example" },
    ],
    [{ kind: "copy", label: "Code", text: "SAVE10" }],
  ] as const;
  const keyboard = {
    inline_keyboard: [
      [
        { text: "Yes", callback_data: "t1" },
        { text: "Shop", url: "https://shop.example" },
      ],
      [{ text: "Code", copy_text: { text: "SAVE10" } }],
    ],
  };
  const image = { url: "https://shop.example/lamp.jpg" };
  const signal = never();
  await surface.post(direct, { ...hello, buttons, silent: true, protect: true }, { signal });
  await surface.edit(direct, "50", { ...hello, buttons }, { signal });
  await surface.edit(direct, "50", hello, { signal });
  await surface.post(direct, { ...hello, buttons, image }, { signal });
  await surface.edit(direct, "51", { ...hello, buttons, image: { fileId: "f1" } }, { signal });
  await surface.edit(direct, "51", { ...hello, isCaption: true }, { signal });
  expect(api.calls).toMatchObject([
    {
      method: "sendMessage",
      payload: { reply_markup: keyboard, disable_notification: true, protect_content: true },
    },
    { method: "editMessageText", payload: { message_id: 50, reply_markup: keyboard } },
    { method: "editMessageText", payload: { message_id: 50 } },
    {
      method: "sendPhoto",
      payload: { photo: image.url, caption: hello.text, caption_entities: [], reply_markup: keyboard },
    },
    {
      method: "editMessageMedia",
      payload: { media: { type: "photo", media: "f1", caption: hello.text }, reply_markup: keyboard },
    },
    { method: "editMessageCaption", payload: { message_id: 51, caption: hello.text } },
  ]);
  expect(api.calls[2]?.payload).not.toHaveProperty("reply_markup");
  expect(api.calls[5]?.payload).not.toHaveProperty("reply_markup");
});
