import { createHmac } from "node:crypto";
import { createLinearAdapter } from "@chat-adapter/linear";
import { createTeamsAdapter } from "@chat-adapter/teams";
import { describe, expect, it, vi } from "vitest";
import { readUnreported as readTeamsChange } from "../../../../providers/chat-sdk/adapters/teams-changes.ts";
import { createRig, postRequest } from "./rig.ts";

const secret = "s3cret";
const createdAt = "2026-11-24T10:00:00.000Z";
const editedAt = "2026-11-24T10:05:00.000Z";

/** As Linear's "Webhooks" describes the payload of a comment. */
const comment = {
  type: "Comment",
  organizationId: "o1",
  url: "https://linear.app/x/issue/X-1#comment-c1",
  data: {
    id: "c1",
    body: "for three, please",
    issueId: "2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9",
    createdAt,
    updatedAt: editedAt,
    user: { id: "U1", name: "Ada", email: "a@example.com", url: "https://linear.app/x/profiles/ada" },
  },
};

async function fromLinear(payload: object, signed = secret) {
  vi.spyOn(globalThis, "fetch").mockImplementation(async () =>
    Response.json({
      data: { viewer: { id: "bot", displayName: "bot", organization: { id: "o1" } } },
    }),
  );
  const rig = createRig(createLinearAdapter({ apiKey: "lin", webhookSecret: secret }));
  const body = JSON.stringify({ webhookTimestamp: Date.now(), webhookId: "w", ...comment, ...payload });
  const signature = createHmac("sha256", signed).update(body).digest("hex");
  const { accepted, response } = await rig.receive(postRequest(body, { "linear-signature": signature }));
  return { response, events: await Promise.all(accepted.map((event) => rig.parse(event))) };
}

it("reports an edited comment of Linear, and no other change of it", async () => {
  const { events, response } = await fromLinear({ action: "update", updatedFrom: { body: "for two" } });
  expect(response.status).toBe(200);
  expect(events).toMatchObject([
    { kind: "message-edited", author: { userId: "U1" }, message: { id: "c1", text: "for three, please" } },
  ]);
  expect((await fromLinear({ action: "update", updatedFrom: { resolvedAt: null } })).events).toEqual([]);
});

it("reports a deleted comment of Linear", async () => {
  const { events } = await fromLinear({ action: "remove" });
  expect(events).toMatchObject([{ kind: "message-deleted", message: { id: "c1" } }]);
});

describe("a comment without a user on Linear", () => {
  const { user: _user, ...data } = { ...comment.data, updatedAt: createdAt };
  const externalUser = { id: "x1", name: "Bob", email: "bob@example.org" };

  it("is new from a person outside of the workspace, and may be edited and deleted", async () => {
    const kinds = [];
    for (const event of [
      { action: "create" },
      { action: "update", updatedFrom: { body: "for two" } },
      { action: "remove" },
    ]) {
      const { events, response } = await fromLinear({ ...event, data: { ...data, externalUser } });
      expect(response.status).toBe(200);
      kinds.push([events[0]?.kind, events[0]?.message?.id, events[0]?.author?.fullName]);
    }
    expect(kinds).toEqual([
      ["message", "c1", "Bob"],
      ["message-edited", "c1", "Bob"],
      ["message-deleted", "c1", undefined],
    ]);
  });

  it.each([
    ["by an app", { botActor: JSON.stringify({ id: "b1", type: "github", name: "GitHub" }) }],
    ["by nobody", { externalUser: null }],
    ["by somebody who cannot be read", { externalUser: "Bob" }],
  ])("is left alone if it is %s", async (_by, author) => {
    const { events, response } = await fromLinear({ action: "create", data: { ...data, ...author } });
    expect([response.status, events]).toEqual([200, []]);
  });
});

it("reads no change of a webhook that is not signed", async () => {
  const { events, response } = await fromLinear({ action: "remove" }, "another");
  expect([response.status, events]).toEqual([400, []]);
});

/** As "Conversation events in your Teams bot" describes it. */
const activity = {
  type: "messageUpdate",
  timestamp: editedAt,
  id: "1666977573193",
  channelId: "msteams",
  serviceUrl: "https://smba.trafficmanager.net/amer/",
  from: { id: "29:1abc", name: "Ada", aadObjectId: "aad" },
  conversation: { conversationType: "channel", id: "19:x@thread.tacv2;messageid=1666977573193" },
  recipient: { id: "28:app", name: "Shop Bot" },
  text: "<at>Shop Bot</at> for three",
  entities: [{ type: "mention", mentioned: { id: "28:app", name: "Shop Bot" }, text: "<at>Shop Bot</at>" }],
  channelData: { eventType: "editMessage", tenant: { id: "t" } },
};

it("reads edits and deletions of Teams, and a deletion that is taken back as an edit", () => {
  const kindOf = (fields: object) => readTeamsChange({ ...activity, ...fields })?.kind;
  expect(kindOf({})).toBe("edited");
  expect(kindOf({ channelData: { eventType: "undeleteMessage" } })).toBe("edited");
  expect(kindOf({ type: "messageDelete", channelData: { eventType: "softDeleteMessage" } })).toBe("deleted");
  expect(kindOf({ type: "message", channelData: {} })).toBeUndefined();
});

it("reports the new text of Teams with the mention of the bot and the time of the edit", async () => {
  const adapter = createTeamsAdapter({
    appId: "app",
    appPassword: "p",
    appTenantId: "t",
    userName: "Shop Bot",
  });
  const processMessage = vi.fn();
  Reflect.set(adapter, "chat", { processMessage });
  await readTeamsChange(activity)?.report(adapter);
  const [, , message] = processMessage.mock.calls[0] as [
    unknown,
    string,
    ReturnType<typeof adapter.parseMessage>,
  ];
  expect(message).toMatchObject({
    id: activity.id,
    isMention: true,
    metadata: { editedAt: new Date(editedAt) },
  });
  expect(message.text).toContain("for three");
});
