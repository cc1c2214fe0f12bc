import { expect, it } from "vitest";
import { DiscordEmulator } from "./discord/emulator.ts";
import type { Person, PlatformEmulator } from "./platform-emulator.ts";
import { SlackEmulator } from "./slack/emulator.ts";
import { TeamsEmulator } from "./teams/emulator.ts";
import { WhatsAppEmulator } from "./whatsapp/emulator.ts";

const ada: Person = { id: "7", name: "Ada" };

/** Calls an API, and returns its status and its code for what is wrong. */
async function refusal(emulator: PlatformEmulator, call: Call): Promise<string> {
  const { authorization, body, method = "POST", path } = call;
  const headers = { "content-type": "application/json", authorization };
  const response = await emulator.answer(
    new Request(`http://127.0.0.1${path}`, { method, headers, body: JSON.stringify(body) }),
  );
  const answer = (await response.json()) as {
    readonly error?: string | { readonly code: number };
    readonly code?: number;
    readonly ok?: boolean;
  };
  const code = typeof answer.error === "object" ? answer.error.code : (answer.error ?? answer.code ?? "done");
  return `${response.status} ${code}`;
}

interface Call {
  readonly path: string;
  readonly authorization: string;
  readonly body: object;
  readonly method?: string;
}

const button = (label: string, id: string): object => ({
  type: "button",
  action_id: id,
  text: { type: "plain_text", text: label },
});

it.each([
  ["no token", "", {}, "200 not_authed"],
  ["another token", "Bearer xoxb-2", {}, "200 invalid_auth"],
  ["no text", "Bearer xoxb-1", {}, "200 no_text"],
  ["another channel", "Bearer xoxb-1", { channel: "C404", text: "x" }, "200 channel_not_found"],
  ["text above 40,000", "Bearer xoxb-1", { text: "x".repeat(40_001) }, "200 msg_too_long"],
  ["Markdown above 12,000", "Bearer xoxb-1", { markdown_text: "x".repeat(12_001) }, "200 msg_too_long"],
  ["Markdown and text", "Bearer xoxb-1", { markdown_text: "x", text: "x" }, "200 markdown_text_conflict"],
  [
    "a label above 75",
    "Bearer xoxb-1",
    { blocks: [{ type: "actions", elements: [button("x".repeat(76), "a")] }] },
    "200 invalid_blocks",
  ],
  [
    "a section above 3000",
    "Bearer xoxb-1",
    { blocks: [{ type: "section", text: { type: "mrkdwn", text: "x".repeat(3001) } }] },
    "200 invalid_blocks",
  ],
  ["nothing that is wrong", "Bearer xoxb-1", { text: "x" }, "200 done"],
])("refuses as Slack does: %s", async (_case, authorization, body, expected) => {
  const emulator = new SlackEmulator();
  const call = { path: "/chat.postMessage", authorization, body: { channel: emulator.direct(ada), ...body } };
  expect(await refusal(emulator, call)).toBe(expected);
});

it("edits and deletes on Slack only what is there, and its own", async () => {
  const emulator = new SlackEmulator();
  const channel = emulator.direct(ada);
  const written = await emulator.act({ kind: "write", by: ada, in: channel, text: "mine" });
  const authorization = "Bearer xoxb-1";
  const edit = (ts: string | undefined): Promise<string> =>
    refusal(emulator, { path: "/chat.update", authorization, body: { channel, ts, text: "x" } });
  expect(await edit("1.000001")).toBe("200 message_not_found");
  expect(await edit(written?.messageId)).toBe("200 cant_update_message");
});

const text = (body: string): object => ({ type: "text", text: { body } });
const buttons = (titles: readonly string[]): object => ({
  type: "interactive",
  interactive: {
    type: "button",
    body: { text: "Well?" },
    action: { buttons: titles.map((title) => ({ type: "reply", reply: { id: title, title } })) },
  },
});

it.each([
  ["another token", "Bearer other", text("x"), "401 190"],
  ["an empty text", "Bearer EAAG", text(""), "400 131009"],
  ["a text above 4096", "Bearer EAAG", text("x".repeat(4097)), "400 131009"],
  ["four buttons", "Bearer EAAG", buttons(["a", "b", "c", "d"]), "400 131009"],
  ["a title above 20", "Bearer EAAG", buttons(["x".repeat(21)]), "400 131009"],
  ["another kind", "Bearer EAAG", { type: "poll" }, "400 131051"],
  ["nothing that is wrong", "Bearer EAAG", text("x"), "200 done"],
])("refuses as WhatsApp does: %s", async (_case, authorization, body, expected) => {
  const emulator = new WhatsAppEmulator();
  const to = emulator.direct(ada);
  await emulator.act({ kind: "write", by: ada, in: to, text: "hello" });
  const call = {
    path: "/v25.0/100200300/messages",
    authorization,
    body: { messaging_product: "whatsapp", to, ...body },
  };
  expect(await refusal(emulator, call)).toBe(expected);
});

it("lets WhatsApp's bot not begin", async () => {
  const emulator = new WhatsAppEmulator();
  const body = { messaging_product: "whatsapp", to: emulator.direct(ada), ...text("x") };
  const call = { path: "/v25.0/100200300/messages", authorization: "Bearer EAAG", body };
  expect(await refusal(emulator, call)).toBe("400 131047");
});

const row = (label: string, id: string): object => ({
  type: 1,
  components: [{ type: 2, style: 1, label, custom_id: id }],
});

it.each([
  ["another token", "Bot other", { content: "x" }, "401 0"],
  ["an empty message", "Bot token", {}, "400 50006"],
  ["a text above 2000", "Bot token", { content: "x".repeat(2001) }, "400 50035"],
  ["a label above 80", "Bot token", { content: "x", components: [row("x".repeat(81), "a")] }, "400 50035"],
  ["two equal ids", "Bot token", { content: "x", components: [row("A", "a"), row("B", "a")] }, "400 50035"],
])("refuses as Discord does: %s", async (_case, authorization, body, expected) => {
  const emulator = new DiscordEmulator();
  const call = { path: `/channels/${emulator.direct(ada)}/messages`, authorization, body };
  expect(await refusal(emulator, call)).toBe(expected);
});

it("keeps on Discord a nonce that is enforced, and the fields that an edit leaves out", async () => {
  const emulator = new DiscordEmulator();
  const channel = emulator.direct(ada);
  const path = `/channels/${channel}/messages`;
  const body = { content: "x", nonce: "n1", enforce_nonce: true, components: [row("Say", "a")] };
  for (const _time of [1, 2]) await refusal(emulator, { path, authorization: "Bot token", body });
  const [message, second] = emulator.seen(channel);
  expect(second).toBeUndefined();
  const edit = {
    path: `${path}/${message?.id}`,
    authorization: "Bot token",
    body: { content: "y" },
    method: "PATCH",
  };
  await refusal(emulator, edit);
  expect(emulator.seen(channel)).toMatchObject([{ text: "y", buttons: ["Say"] }]);
  // A list does not have it, and a deleted message is not made again.
  const list = new Request(`http://127.0.0.1${path}`, { headers: { authorization: "Bot token" } });
  expect(await (await emulator.answer(list)).text()).not.toContain("nonce");
  await emulator.answer(
    new Request(`http://127.0.0.1${path}/${message?.id}`, {
      method: "DELETE",
      headers: { authorization: "Bot token" },
    }),
  );
  expect(await refusal(emulator, { path, authorization: "Bot token", body })).toBe("404 10008");
});

it("tells on Slack that a list goes on, and that an archived channel takes no change", async () => {
  const emulator = new SlackEmulator();
  const channel = emulator.shared("general");
  const authorization = "Bearer xoxb-1";
  for (const line of ["a", "b"])
    await refusal(emulator, { path: "/chat.postMessage", authorization, body: { channel, text: line } });
  const call = new Request("http://127.0.0.1/conversations.history", {
    method: "POST",
    headers: { "content-type": "application/json", authorization },
    body: JSON.stringify({ channel, limit: 1 }),
  });
  expect(await (await emulator.answer(call)).json()).toMatchObject({
    has_more: true,
    messages: [{ text: "b" }],
  });
  const ts = emulator.seen(channel)[0]?.id;
  emulator.shut(channel);
  expect(
    await refusal(emulator, { path: "/chat.update", authorization, body: { channel, ts, text: "c" } }),
  ).toBe("200 is_inactive");
});

it("makes two messages on Teams of a text with a picture, and measures the text in UTF-16", async () => {
  const emulator = new TeamsEmulator();
  const place = emulator.direct(ada);
  const signIn = new URLSearchParams({
    client_id: "a2b8e1f0-5c0d-4b39-9d3e-0f6b1c7d2e11",
    client_secret: "app-password",
    scope: "https://api.botframework.com/.default",
  });
  const tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47";
  const login = new Request(`http://127.0.0.1/${tenant}/oauth2/v2.0/token`, { method: "POST", body: signIn });
  const { access_token: token } = (await (await emulator.answer(login)).json()) as { access_token: string };
  const path = `/amer/${tenant}/v3/conversations/${place}/activities`;
  const post = (text: string, base64?: string): Promise<Response> => {
    const contentUrl = `data:image/png;base64,${base64}`;
    const attachments =
      base64 === undefined ? [] : [{ contentType: "image/png", contentUrl, name: "look.png" }];
    const body = JSON.stringify({ type: "message", text, attachments });
    const headers = { authorization: `Bearer ${token}` };
    return emulator.answer(new Request(`http://127.0.0.1${path}`, { method: "POST", headers, body }));
  };
  expect(await (await post("Look", "AAAA")).json()).toEqual({});
  expect(emulator.seen(place).map(({ files, text }) => [text, files.length])).toEqual([
    ["Look", 0],
    ["", 1],
  ]);
  expect(await (await post("", "A".repeat(400_000))).json()).toEqual({ id: expect.any(String) });
  expect((await post("x".repeat(49_000))).status).toBe(201);
  expect((await post("x".repeat(50_001))).status).toBe(413);
});
