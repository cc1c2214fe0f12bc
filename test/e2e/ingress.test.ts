import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { say } from "../../lab/support/model-script.ts";
import { startServedBot } from "../../lab/support/served-bot.ts";
import { SharedDeath } from "./shared-death.ts";
import { logs, newcomer, rehearse, SOON, type Person, type Rehearsal } from "./rehearsal.ts";

const SECRET = "ingress-secret";
const SECRET_HEADER = "x-telegram-bot-api-secret-token";
const ADMIN_TOKEN = "an-admin-token";
const ONE_MEBIBYTE = 1024 * 1024;

let rig: Rig;
let model: Rehearsal;
let lastUpdateId = 500_000;
const death = new SharedDeath(() => rig, { ADMIN_TOKEN });

beforeAll(async () => {
  rig = await startRig({
    config: "test/e2e/bots/forgetful/wrangler.jsonc",
    simulator: { redelivery: { baseMs: 50, maxMs: 200 } },
  });
  model = rehearse(rig);
});

afterAll(async () => {
  await rig.close();
});

describe("what is refused", () => {
  it.each([
    { secret: "missing", headers: {} },
    { secret: "wrong", headers: { [SECRET_HEADER]: "wrong" } },
    { secret: "empty", headers: { [SECRET_HEADER]: "" } },
    { secret: "cut short", headers: { [SECRET_HEADER]: "rig-webhook-secre" } },
  ])("answers 401 and starts nothing when the secret is $secret", async ({ headers, secret }) => {
    const ada = newcomer(rig);
    const body = JSON.stringify(messageOf(ada, `with a secret that is ${secret}`));
    const response = await fetch(rig.webhookUrl, { method: "POST", headers, body });
    expect(response.status).toBe(401);
    expect(await response.text()).not.toContain(rig.secret);
    // The same update is new when it comes with the right secret.
    expect((await post(body)).status).toBe(200);
    await ada.reads("Noted.");
    expect(model.requests(`with a secret that is ${secret}`)).toHaveLength(1);
  });

  it.each(["GET", "HEAD", "PUT", "PATCH", "DELETE"])(
    "answers 405 to %s and says what is allowed",
    async (method) => {
      const response = await fetch(rig.webhookUrl, { method, headers: { [SECRET_HEADER]: rig.secret } });
      expect(response.status).toBe(405);
      expect(response.headers.get("allow")).toBe("POST");
    },
  );

  it("answers 413 to a body of more than 1 MiB, whether its length is announced or not", async () => {
    const tooLong = " ".repeat(ONE_MEBIBYTE + 1);
    expect((await post(tooLong)).status).toBe(413);
    expect((await post(streamOf(tooLong))).status).toBe(413);
    const unverified = await fetch(rig.webhookUrl, { method: "POST", body: tooLong });
    expect(unverified.status).toBe(401);
  });

  it("takes an update of exactly 1 MiB", async () => {
    const ada = newcomer(rig);
    const body = JSON.stringify(messageOf(ada, "a large update")).padEnd(ONE_MEBIBYTE, " ");
    expect((await post(body)).status).toBe(200);
    await ada.reads("Noted.");
    expect(model.requests("a large update")).toHaveLength(1);
  });

  it.each(["null", "[]", "[{}]", '"text"', "7", "true", "{}", '{"update_id":"1"}', "", "{", "<html>"])(
    "answers 400 to %j, which is no update",
    async (body) => {
      expect((await post(body)).status).toBe(400);
    },
  );
});

describe("what is taken", () => {
  it.each(updatesOfEveryKind().map((update) => [kindOf(update), update] as const))(
    "answers 200 to an update of the kind %s",
    async (_kind, update) => {
      expect((await post(JSON.stringify(update))).status).toBe(200);
    },
  );

  it("answers 200 to every kind also when its content is not what the Bot API promises", async () => {
    for (const kind of updatesOfEveryKind().map(kindOf)) {
      for (const content of [{}, [], "text", 7, null, { chat: { id: "one" }, message_id: null }]) {
        const body = JSON.stringify({ update_id: nextUpdateId(), [kind]: content });
        expect({ body, status: (await post(body)).status }).toEqual({ body, status: 200 });
      }
    }
  });

  it("counts the kinds that it does not handle", async () => {
    const before = await ignoredUpdates();
    const update = { update_id: nextUpdateId(), poll: { id: "1" } };
    await post(JSON.stringify(update));
    await post(JSON.stringify({ update_id: nextUpdateId(), a_kind_of_next_year: {} }));
    const after = await ignoredUpdates();
    expect(after["telegram:poll"]).toBe((before["telegram:poll"] ?? 0) + 1);
    expect(after["telegram:unknown"]).toBe((before["telegram:unknown"] ?? 0) + 1);
  });
});

describe("routes", () => {
  it("says that it is healthy, in JSON and without credentials", async () => {
    const response = await fetch(`${rig.bot.url}/health`);
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.json()).toMatchObject({ status: "ok" });
  });

  it("is not ready with a token that Telegram refuses, and says so, but lives", async () => {
    const bot = await startServedBot({
      env: {
        TELEGRAM_BOT_TOKEN: "1:refused",
        TELEGRAM_WEBHOOK_SECRET_TOKEN: SECRET,
        TELEGRAM_API_BASE_URL: rig.simulator.url,
        OPENAI_BASE_URL: rig.model.url,
        OPENAI_API_KEY: "scripted",
        MODEL: "scripted",
      },
    });
    try {
      await bot.logged(/not ready: The platform refuses the calls of the messenger/);
      const response = await fetch(`${bot.url}/health`);
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({
        status: "misconfigured",
        problem: { code: "token-refused" },
      });
      expect((await fetch(`${bot.url}/health/live`)).status).toBe(200);
      expect(bot.logs()).not.toContain("1:refused");
    } finally {
      await bot.close();
    }
  });

  it("gives what nobody else serves to the bot's own onRequest, which says 404 by default", async () => {
    const hello = await fetch(`${rig.bot.url}/hello`);
    expect([hello.status, await hello.text()]).toEqual([200, "Hello from the bot itself"]);
    for (const path of ["/", "/messengers", "/messengers/slack/webhook", "/messengers/telegram/webhook/x"]) {
      expect((await fetch(rig.bot.url + path)).status).toBe(404);
    }
  });

  death.it("lets nobody reach an agent by name without a token for it", async ({ die }) => {
    const paths = [
      "/agents",
      "/agents/forgetful-bot/default/hello",
      "/agents/forgetful-bot/default%2Ft/hello",
    ];
    const statuses = async (headers: Record<string, string>): Promise<number[]> =>
      Promise.all(paths.map(async (path) => (await fetch(rig.bot.url + path, { headers })).status));
    const withToken = { authorization: `Bearer ${ADMIN_TOKEN}` };
    expect(await statuses({})).toEqual([401, 401, 401]);
    expect(await statuses(withToken)).toEqual([401, 401, 401]);
    await die();
    expect(await statuses({})).toEqual([401, 401, 401]);
    expect(await statuses({ authorization: "Bearer another-token" })).toEqual([401, 401, 401]);
    expect(await statuses({ authorization: "Bearer " })).toEqual([401, 401, 401]);
    expect((await statuses(withToken))[1]).toBe(200);
  });
});

describe("what comes more than once", () => {
  death.it(
    "starts one turn for an update that comes five times at once, and again after a SIGKILL",
    async ({ die }) => {
      const ada = newcomer(rig);
      const body = JSON.stringify(messageOf(ada, "five times at once"));
      model.on("five times at once", [say("Once.")]);
      const fiveTimes = async (): Promise<number[]> =>
        Promise.all(Array.from({ length: 5 }, async () => (await post(body)).status));
      expect(await fiveTimes()).toEqual([200, 200, 200, 200, 200]);
      await ada.reads("Once.");
      // A later answer is sent only when the earlier one is known to be delivered.
      ada.write("one thing more");
      await ada.reads("Once.", "Noted.");
      await die();
      expect(await fiveTimes()).toEqual([200, 200, 200, 200, 200]);
      model.on("and something else", [say("Something else.")]);
      ada.write("and something else");
      await rig.simulator.waitFor(() => ada.replies().at(-1)?.text === "Something else.", SOON);
      expect(ada.replies().filter(({ text }) => text.includes("Once."))).toHaveLength(1);
      expect(model.requests("five times at once")).toHaveLength(1);
    },
  );

  it.each([
    { text: "please fail before storing", statuses: [503, 503, 200] },
    { text: "please fail after storing", statuses: [503, 200] },
  ])("answers once after a redelivery: $text", async ({ text, statuses }) => {
    const ada = newcomer(rig);
    model.on(text, [say("Here it is.")]);
    ada.write(text);
    await rig.simulator.waitFor(() => attemptsOf(ada).length === statuses.length, SOON);
    expect(attemptsOf(ada)).toEqual(statuses);
    await ada.reads("Here it is.");
    ada.write("and then?");
    await ada.reads("Here it is.", "Noted.");
    expect(model.requests(text)).toHaveLength(1);
    expect(rig.bot.logs()).not.toContain("EXCEPTION-DETAIL");
  });

  death.it("answers what was written while it was down, once", async ({ die }) => {
    const ada = newcomer(rig);
    await die({
      async meanwhile() {
        ada.write("are you down?");
        await rig.simulator.waitFor(() => attemptsOf(ada).length > 1, SOON);
      },
    });
    await ada.reads("Noted.");
    expect(attemptsOf(ada).at(-1)).toBe(200);
    expect(model.requests("are you down?")).toHaveLength(1);
  });

  it("answers one press only once, however often it comes", async () => {
    const ada = newcomer(rig);
    ada.write("hello there");
    await ada.reads("Noted.");
    const press = rig.simulator.pressData(ada.chat, ada.user, ada.replies()[0]?.id ?? 0, "choice:1");
    await rig.simulator.waitFor(() => answersTo(press.id) === 1, SOON);
    const record = rig.simulator.updates().find(({ update }) => update.callback_query?.id === press.id);
    expect((await post(JSON.stringify(record?.update))).status).toBe(200);
    await logs(rig, new RegExp(`c:${press.id}".*known already`));
    expect(answersTo(press.id)).toBe(1);
  });
});

function post(body: string | ReadableStream): Promise<Response> {
  return fetch(rig.webhookUrl, {
    method: "POST",
    headers: { "content-type": "application/json", [SECRET_HEADER]: rig.secret },
    body,
    ...(typeof body !== "string" && { duplex: "half" }),
  });
}

function streamOf(text: string): ReadableStream {
  return new Blob([text]).stream();
}

function nextUpdateId(): number {
  lastUpdateId += 1;
  return lastUpdateId;
}

/** An update as the Bot API documents it, of a message that the simulator did not send itself. */
function messageOf({ user }: Person, text: string): object {
  const chat = { id: user.id, type: "private", first_name: user.first_name };
  const date = Math.floor(Date.now() / 1000);
  return { update_id: nextUpdateId(), message: { message_id: 90_001, from: user, chat, date, text } };
}

function attemptsOf({ chat }: Person): (number | undefined)[] {
  const record = rig.simulator.updates().find(({ chatId }) => chatId === chat.id);
  return record?.attempts.map(({ status }) => status) ?? [];
}

function answersTo(queryId: string): number {
  const calls = rig.simulator.calls({ method: "answerCallbackQuery" });
  return calls.filter(({ payload }) => payload.callback_query_id === queryId).length;
}

async function ignoredUpdates(): Promise<Record<string, number>> {
  return (await (await fetch(`${rig.bot.url}/ignored`)).json()) as Record<string, number>;
}

function kindOf(update: object): string {
  return Object.keys(update).find((key) => key !== "update_id") ?? "";
}

/** One update of every kind that the Bot API lists. */
function updatesOfEveryKind(): readonly object[] {
  const from = { id: 900_001, is_bot: false, first_name: "Grace", username: "grace", language_code: "en" };
  const chat = { id: 900_001, type: "private", first_name: "Grace" };
  const group = { id: -1_009_000_001, type: "supergroup", title: "Admirals" };
  const channel = { id: -1_009_000_002, type: "channel", title: "News" };
  const date = 1_790_000_000;
  const message = { message_id: 1, from, chat, date, text: "/unheard_of" };
  const post = { message_id: 2, sender_chat: channel, chat: channel, date, text: "A post" };
  const business = { ...message, business_connection_id: "b1" };
  const bot = { id: 7_000_000_001, is_bot: true, first_name: "Switchboard", username: "switchboard_bot" };
  const member = { user: bot, status: "member" };
  const boost = {
    boost_id: "b",
    add_date: date,
    expiration_date: date,
    source: { source: "premium", user: from },
  };
  const price = { currency: "EUR", total_amount: 100, invoice_payload: "p" };
  const contents: Record<string, object> = {
    message,
    edited_message: { ...message, edit_date: date + 1, text: "corrected" },
    channel_post: post,
    edited_channel_post: { ...post, edit_date: date + 1 },
    business_connection: { id: "b1", user: from, user_chat_id: from.id, date, is_enabled: true },
    business_message: business,
    edited_business_message: { ...business, edit_date: date + 1 },
    deleted_business_messages: { business_connection_id: "b1", chat, message_ids: [1] },
    guest_message: message,
    message_reaction: {
      chat,
      message_id: 1,
      user: from,
      date,
      old_reaction: [],
      new_reaction: [{ type: "emoji", emoji: "👍" }],
    },
    message_reaction_count: {
      chat: channel,
      message_id: 2,
      date,
      reactions: [{ type: { type: "emoji", emoji: "👍" }, total_count: 2 }],
    },
    inline_query: { id: "i1", from, query: "tea", offset: "" },
    chosen_inline_result: { result_id: "r1", from, query: "tea" },
    callback_query: { id: "c1", from, message, chat_instance: "1", data: "choice:1" },
    shipping_query: { id: "s1", from, invoice_payload: "p", shipping_address: { country_code: "DE" } },
    pre_checkout_query: { id: "p1", from, ...price },
    purchased_paid_media: { from, paid_media_payload: "p" },
    poll: { id: "1", question: "Tea?", options: [{ text: "Yes", voter_count: 1 }], is_closed: false },
    poll_answer: { poll_id: "1", user: from, option_ids: [0] },
    my_chat_member: {
      chat: group,
      from,
      date,
      old_chat_member: { ...member, status: "left" },
      new_chat_member: member,
    },
    chat_member: {
      chat: group,
      from,
      date,
      old_chat_member: { user: from, status: "left" },
      new_chat_member: { user: from, status: "member" },
    },
    chat_join_request: { chat: group, from, user_chat_id: from.id, date },
    chat_boost: { chat: channel, boost },
    removed_chat_boost: { chat: channel, boost_id: "b", remove_date: date, source: boost.source },
    managed_bot: { user: from, bot },
    stopped_message_generation: { chat, draft_id: 1 },
    subscription: { user: from },
  };
  return Object.entries(contents).map(([kind, content]) => ({ update_id: nextUpdateId(), [kind]: content }));
}
