import type { User } from "grammy/types";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SimChat } from "../../playground/telegram/simulator.ts";
import { createGate } from "../../lab/support/gate.ts";
import type { ModelRequest } from "../../lab/support/model-request.ts";
import { holdAt, say, type ModelStep } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { lastUserText } from "../../lab/support/scripted-model.ts";
import { logs, newcomer, readsLike, rehearse, repliesIn, SOON, toldIn, type Rehearsal } from "./rehearsal.ts";

let rig: Rig;
let model: Rehearsal;

beforeAll(async () => {
  rig = await startRig();
  model = rehearse(rig);
});

afterAll(async () => {
  await rig.close();
});

describe.concurrent("groups", () => {
  it("answers mentions in two topics and in General at once, each in its own conversation", async () => {
    const { ada, group } = newGroup({ forum: true });
    const tea = rig.simulator.addTopic(group, "Tea");
    const coffee = rig.simulator.addTopic(group, "Coffee");
    const gate = createGate();
    const places = [
      { threadId: tea, cue: "the kettle is blue" },
      { threadId: coffee, cue: "the grinder is red" },
      { threadId: 0, cue: "the door is green" },
    ];
    for (const { cue } of places) model.on(cue, [holdAt(gate), atOnce(`I see, ${cue}.`)]);
    const questions = places.map(({ threadId, cue }) =>
      rig.simulator.sendText(group, ada, mention(cue), { threadId }),
    );
    await Promise.all(places.map(({ cue }) => asked(cue)));
    gate.open();
    await Promise.all(places.map(({ threadId, cue }) => readsLike(rig, group, [`I see, ${cue}.`], threadId)));
    for (const [index, { threadId, cue }] of places.entries()) {
      const [answer] = repliesIn(rig, group, threadId);
      expect(answer?.replyToId).toBe(questions[index]?.message_id);
      const others = places.filter((place) => place.cue !== cue);
      for (const other of others) expect(toldIn(model.requests(cue)[0])).not.toContain(other.cue);
    }
    const threadIds = rig.simulator
      .calls({ chatId: group.id, method: "sendMessage" })
      .map(({ payload }) => Number(payload.message_thread_id ?? 0));
    expect(threadIds.toSorted((a, b) => a - b)).toEqual([0, tea, coffee]);
    // What was said in one topic is known there, and only there.
    rig.simulator.sendText(group, ada, mention("what did I say of the kettle?"), { threadId: coffee });
    const later = toldIn(await asked("what did I say of the kettle?"));
    expect(later).toContain("the grinder is red");
    expect(later).not.toContain("the kettle is blue");
  });

  it("takes a reply to one of its messages as a mention, and tells the model what is replied to", async () => {
    const { ada, bob, group } = newGroup();
    model.on("name a tea", [atOnce("Assam, for example.")]);
    model.on("why that one?", [atOnce("It is strong.")]);
    rig.simulator.sendText(group, ada, mention("name a tea"));
    await readsLike(rig, group, ["Assam, for example."]);
    const [answer] = repliesIn(rig, group);
    rig.simulator.sendText(group, bob, "why that one?", { replyTo: answer?.id ?? 0 });
    await readsLike(rig, group, ["Assam, for example.", "It is strong."]);
    const [request] = model.requests("why that one?");
    expect(lastUserText(request as ModelRequest)).toBe(
      'Bob: [In reply to your message: "Assam, for example."]\n  why that one?',
    );
    // A chain of replies in an ordinary supergroup is no topic: same conversation, and no thread id goes out.
    expect(toldIn(request)).toContain("name a tea");
    for (const { payload } of rig.simulator.calls({ chatId: group.id, method: "sendMessage" })) {
      expect(payload.message_thread_id).toBeUndefined();
    }
  });

  it("does not answer what is not addressed to it, and logs why", async () => {
    const { ada, bob, group } = newGroup();
    const hello = rig.simulator.sendText(group, ada, "Hello everybody, unaddressed");
    const reply = rig.simulator.sendText(group, bob, "Hello Ada, unaddressed", { replyTo: hello.message_id });
    const other = rig.simulator.sendText(group, bob, "@somebody_else unaddressed, but with a name");
    for (const { message_id: id } of [hello, reply, other]) {
      await logs(rig, outcomeOf(group, id, "ignored: no mention"));
    }
    expect(model.requests("unaddressed")).toEqual([]);
    expect(rig.simulator.calls({ chatId: group.id })).toEqual([]);
  });

  it("tells the model who speaks in a group, and nobody's name in a private chat", async () => {
    const { ada, group } = newGroup();
    rig.simulator.sendText(group, ada, mention("a labelled question"));
    const labelled = await asked("a labelled question");
    expect(lastUserText(labelled)).toBe("Ada Lovelace: @switchboard_bot a labelled question");
    const alone = newcomer(rig);
    alone.write("an unlabelled question");
    await alone.reads("Noted.");
    expect(lastUserText(await asked("an unlabelled question"))).toBe("an unlabelled question");
  });

  it("tells the model the quoted text, and the part that was marked", async () => {
    const { ada, bob, group } = newGroup();
    const plan = rig.simulator.sendText(group, bob, "The parcel left on Monday and arrives on Friday.");
    const answering = { replyTo: plan.message_id };
    rig.simulator.sendText(group, ada, mention("is that right?"), answering);
    expect(lastUserText(await asked("is that right?"))).toBe(
      'Ada Lovelace: [In reply to Bob\'s message: "The parcel left on Monday and arrives on Friday."]\n  @switchboard_bot is that right?',
    );
    rig.simulator.sendText(group, bob, mention("sure of that?"), {
      ...answering,
      quote: "arrives on Friday",
    });
    expect(lastUserText(await asked("sure of that?"))).toContain('"arrives on Friday"');
  });

  it("corrects a waiting message that its author edits", async () => {
    const { ada, bob, group } = newGroup();
    const gate = createGate();
    model.on("a long question", [holdAt(gate), atOnce("A long answer.")]);
    rig.simulator.sendText(group, ada, mention("a long question"));
    await asked("a long question");
    const typo = rig.simulator.sendText(group, bob, mention("where is order 1O01?"));
    await logs(rig, outcomeOf(group, typo.message_id, "queued"));
    rig.simulator.editText(group, bob, typo.message_id, mention("where is order 1001?"));
    await logs(rig, new RegExp(`e:${group.id}:${typo.message_id}:.*edit applied to the waiting message`));
    gate.open();
    await readsLike(rig, group, ["A long answer.", "Noted."]);
    expect(lastUserText(await asked("order 1001"))).toBe("Bob: @switchboard_bot where is order 1001?");
    expect(model.requests("1O01")).toEqual([]);
    // An edit of what was answered starts nothing.
    rig.simulator.editText(group, bob, typo.message_id, mention("where is order 1002?"));
    await logs(rig, new RegExp(`e:${group.id}:${typo.message_id}:.*not waiting`));
    expect(model.requests("1002")).toEqual([]);
  });
});

describe.concurrent("files", () => {
  const photos = [1, 2, 3].map((number) => pngOf(number));

  it("answers an album once, with all of its photos as files", async () => {
    const ada = newcomer(rig);
    rig.simulator.sendAlbum(
      ada.chat,
      ada.user,
      photos.map((bytes, index) => ({ bytes, ...(index === 0 && { caption: "what are these?" }) })),
    );
    await ada.reads("Noted.");
    expect(filesIn(await asked("what are these?"))).toEqual(photos.map(dataUrl));
    expect(model.requests("what are these?")).toHaveLength(1);
  });

  it("takes all photos of an album whose caption mentions it in a group", async () => {
    const { ada, group } = newGroup();
    rig.simulator.sendAlbum(
      group,
      ada,
      photos.map((bytes, index) => ({ bytes, ...(index === 0 && { caption: mention("and these?") }) })),
    );
    expect(filesIn(await asked("and these?"))).toEqual(photos.map(dataUrl));
  });

  it("gives the model the photo that a mention replies to", async () => {
    const { ada, bob, group } = newGroup();
    const bytes = pngOf(9);
    const photo = rig.simulator.sendPhoto(group, bob, { bytes });
    rig.simulator.sendText(group, ada, mention("what is on it?"), { replyTo: photo.message_id });
    expect(filesIn(await asked("what is on it?"))).toEqual([dataUrl(bytes)]);
  });

  it("reads a text file to the model, and still knows it in the next turn", async () => {
    const ada = newcomer(rig);
    const bytes = new TextEncoder().encode("order;state\n1001;shipped – grüße\n");
    rig.simulator.sendDocument(ada.chat, ada.user, {
      bytes,
      fileName: "orders.csv",
      mimeType: "text/csv",
      caption: "please read this file",
    });
    await ada.reads("Noted.");
    const first = await asked("please read this file");
    expect(lastUserText(first)).toContain("1001;shipped – grüße");
    expect(lastUserText(first)).toContain("orders.csv");
    ada.write("and what was in the file?");
    expect(toldIn(await asked("and what was in the file?"))).toContain("1001;shipped – grüße");
  });

  it("describes files that the model does not take in a line", async () => {
    const ada = newcomer(rig);
    rig.simulator.sendDocument(ada.chat, ada.user, {
      bytes: new Uint8Array(2048),
      fileName: "invoice.pdf",
      mimeType: "application/pdf",
      caption: "please pay this invoice",
    });
    const request = await asked("please pay this invoice");
    expect(lastUserText(request)).toBe(
      "please pay this invoice\n[document: invoice.pdf, application/pdf, 2 KB]",
    );
    expect(filesIn(request)).toEqual([]);
    const bob = newcomer(rig, "Bob");
    rig.simulator.sendVoice(bob.chat, bob.user, { bytes: new Uint8Array(3000) });
    await bob.reads("Noted.");
    expect(lastUserText(await asked("[voice"))).toBe("[voice: audio/ogg, 3 KB]");
  });
});

describe.concurrent("presses and service messages", () => {
  it("answers every press of a button, beside a running turn, and starts no turn for it", async () => {
    const ada = newcomer(rig);
    const gate = createGate();
    model.on("show me a menu", [say("Here "), holdAt(gate), say("it is.")]);
    ada.write("show me a menu");
    await ada.reads("Here");
    const [shown] = ada.replies();
    const presses = [
      rig.simulator.pressData(ada.chat, ada.user, shown?.id ?? 0, "choice:1"),
      rig.simulator.pressData(ada.chat, ada.user, shown?.id ?? 0, "choice:1"),
      // The message is gone: only its number is known.
      rig.simulator.pressData(ada.chat, ada.user, 999_999, "old:1"),
    ];
    const answers = (): unknown[] =>
      rig.simulator.calls({ method: "answerCallbackQuery" }).map(({ payload }) => payload.callback_query_id);
    await rig.simulator.waitFor(() => presses.every(({ id }) => answers().includes(id)), SOON);
    gate.open();
    await ada.reads("Here it is.");
    for (const { id } of presses) expect(answers().filter((answered) => answered === id)).toHaveLength(1);
    expect(model.requests("choice:1")).toEqual([]);
    expect(model.requests("old:1")).toEqual([]);
  });

  it("starts nothing for service messages", async () => {
    const { ada, bob, group } = newGroup({ forum: true });
    const before = rig.simulator.messages(group).map(({ id }) => id);
    const carol = rig.simulator.addUser({ first_name: "Carol" });
    const services = [
      rig.simulator.join(group, carol),
      rig.simulator.leave(group, carol),
      rig.simulator.changeTitle(group, ada, "A new @switchboard_bot title"),
      rig.simulator.pin(group, bob, before[0] ?? 0),
    ];
    rig.simulator.addTopic(group, "@switchboard_bot");
    const newest = rig.simulator.messages(group).at(-1)?.id ?? 0;
    for (const id of [...services.map(({ message_id }) => message_id), newest]) {
      await logs(rig, outcomeOf(group, id, "ignored: service message: [a-z ]+"));
    }
    expect(rig.simulator.calls({ chatId: group.id })).toEqual([]);
    expect(model.requests("title")).toEqual([]);
  });
});

function newGroup(options: { forum?: boolean } = {}): { ada: User; bob: User; group: SimChat } {
  const ada = rig.simulator.addUser({ first_name: "Ada", last_name: "Lovelace" });
  const bob = rig.simulator.addUser({ first_name: "Bob" });
  const group = rig.simulator.addGroup({ title: "Friends", members: [ada, bob], ...options });
  return { ada, bob, group };
}

function mention(text: string): string {
  return `@switchboard_bot ${text}`;
}

/** An answer that needs one call only: groups have few. */
function atOnce(text: string): ModelStep {
  return say(text, { chunkSize: text.length });
}

/** The first call of the model that answers a message with this text, also when it is still to come. */
async function asked(cue: string): Promise<ModelRequest> {
  for (;;) {
    const next = rig.model.request(rig.model.requests().length);
    const [request] = model.requests(cue);
    if (request !== undefined) return request;
    await next;
  }
}

/** The URLs of the files in a request's last message of a person. */
function filesIn(request: ModelRequest): string[] {
  const content = request.messages.findLast(({ role }) => role === "user")?.content;
  if (!Array.isArray(content)) return [];
  const parts = content as readonly { type: string; image_url?: { url: string } }[];
  return parts
    .filter(({ type }) => type !== "text")
    .map(({ image_url: image }) => image?.url ?? "not an image");
}

function dataUrl(bytes: Uint8Array): string {
  return `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`;
}

/** The head of a picture of one pixel; the number makes it another file. */
function pngOf(number: number): Uint8Array {
  const bytes = Buffer.alloc(64, number);
  Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010802000000", "hex").copy(bytes);
  return new Uint8Array(bytes);
}

function outcomeOf(chat: SimChat, messageId: number, outcome: string): RegExp {
  return new RegExp(`"key":"m:${chat.id}:${messageId}",[^\n]*"outcome":"${outcome}"`);
}
