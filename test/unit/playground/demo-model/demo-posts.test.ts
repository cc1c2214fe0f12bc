import { expect, it } from "vitest";
import { noteParts } from "../../../../src/messengers/turns/note-parts.ts";
import { demoReply } from "../../../../playground/demo-model/demo-reply.ts";

/** Returns the demo's answer to a person who writes after the bot's own code has posted these texts. */
function replyAfter(posts: readonly string[], written: string) {
  const notes = noteParts(posts.map((text) => ({ at: 0, text })));
  const parts = [...notes, { type: "text" as const, text: written }];
  const content = parts.flatMap((part) =>
    part.type === "text" ? [{ type: "text" as const, text: part.text }] : [],
  );
  return demoReply([{ role: "user", content }], []).text;
}

it.each([
  [["We meet at three.\n[Button: Read]"]],
  [["[photo: a.png]", "Where is my order?"]],
  [["Show me markdown", "Bye"]],
])("takes a broadcast for no message of the person who writes next: %j", (posts) => {
  expect(replyAfter(posts, "colourless green ideas")).toMatch(/^I didn't understand that/);
  expect(replyAfter(posts, "[Sticker: 🙂]")).toMatch(/^Your sticker has arrived/);
});
