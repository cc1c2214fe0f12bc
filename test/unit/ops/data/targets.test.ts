import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { serialize } from "node:v8";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { exportData } from "../../../../ops/data/export-chat.ts";
import { forget } from "../../../../ops/data/forget.ts";
import { listObjects, rowsOf } from "../../../../ops/data/object-store.ts";
import { findTarget, hasMark, namesOne } from "../../../../ops/data/targets.ts";
import { QuestionStore } from "../../../../src/questions/question-store.ts";
import type { ParkedCall } from "../../../../src/replay/parked-call-store.ts";
import { ParkedCalls } from "../../../../src/replay/parked-calls.ts";
import { RunLog } from "../../../../src/replay/run-log.ts";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

describe("a stored value", () => {
  it.each([
    ["4711", true],
    ["telegram:4711", true],
    ["thread:telegram:telegram%3A4711", true],
    ['{"from":{"id":4711}}', true],
    [Buffer.from('{"id":4711}'), true],
    ["c:47110:1", false],
    ["14711", false],
    ["m:1:4712", false],
    ["", false],
    [null, false],
    // Numbers are times and counts. Ids are text.
    [4711, false],
  ])("%j names the chat 4711: %s", (value, expected) => {
    expect(namesOne(value, new Set(["4711"]))).toBe(expected);
  });

  it("names a group by its id with the sign", () => {
    expect(namesOne("telegram:-1004711:5", new Set(["-1004711"]))).toBe(true);
    expect(namesOne("telegram:-10047110", new Set(["-1004711"]))).toBe(false);
  });
});

describe("a name in a stored text", () => {
  it.each([
    ["Lee: hi", true],
    ["[10:00] Lee: hi", true],
    ['{"text":"Lee: hi"}', true],
    [String.raw`{"text":"Ann: hello\nLee: hi"}`, true],
    ["Ann: hello\nLee: hi", true],
    ["Bruce Lee: hi. Lee: hello", true],
    ["Bruce Lee: hi", false],
    ["B. Lee: hi", false],
    ["Ashlee: hi", false],
    ["Lee said hi", false],
  ])("%j has the label of Lee: %s", (text, expected) => {
    expect(hasMark(text, "Lee: ")).toBe(expected);
  });
});

describe("a chat or a person to forget", () => {
  const GROUP = "default/thread:telegram:telegram%3A-1004711";
  let data: string;
  let objects: string;
  let count = 0;

  beforeEach(async () => {
    data = await mkdtemp(path.join(tmpdir(), "switchboard-targets-"));
    objects = path.join(data, "objects", "bot-MyBot");
    await mkdir(objects, { recursive: true });
    const root = addObject("default");
    root.exec(`CREATE TABLE directory_v2 (name TEXT, chat_id TEXT, is_direct INTEGER);
      INSERT INTO directory_v2 VALUES ('thread:telegram:telegram%3A-1004711', '-1004711', 0);
      INSERT INTO directory_v2 VALUES ('thread:telegram:telegram%3A-1004711%3A9', '-1004711', 0);
      INSERT INTO directory_v2 VALUES ('thread:telegram:telegram%3A-1004712', '-1004712', 0);
      CREATE TABLE menu_v1 (hash TEXT);
      INSERT INTO menu_v1 VALUES ('a5b777c9');
      CREATE TABLE identity_v2 (user_id TEXT);
      INSERT INTO identity_v2 VALUES ('7000000001')`);
    root.close();
    const group = addObject(GROUP);
    group.exec(`CREATE TABLE inbox_v1 (key TEXT, event TEXT);
      INSERT INTO inbox_v1 VALUES ('telegram|m:-1004711:5',
        '{"message":{"id":"777","author":{"userId":"200777","fullName":"Zoe Zebra"},"text":"hi"}}')`);
    group.close();
    addObject(`${GROUP}%3A9`).close();
    // Her message here is so old that only the transcript has it.
    const other = addObject("default/thread:telegram:telegram%3A-1004712");
    other.exec(`CREATE TABLE transcript (content TEXT);
      INSERT INTO transcript VALUES ('{"text":"Zoe Zebra: hello, number 5"}')`);
    other.close();
  });
  afterEach(() => rm(data, { recursive: true, force: true }));

  function addObject(name: string): DatabaseSync {
    count += 1;
    const database = new DatabaseSync(path.join(objects, `${String(count).padStart(64, "0")}.sqlite`));
    database.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
    database.exec("CREATE TABLE _cf_KV (key TEXT, value BLOB)");
    database.prepare("INSERT INTO _cf_KV VALUES ('__ps_name', ?)").run(serialize(name));
    return database;
  }

  it("is a person who wrote in groups only", () => {
    const found = findTarget(data, "200777").objects.map(({ because, name }) => [name, because] as const);
    expect(new Map(found)).toEqual(
      new Map([
        [GROUP, "its messages"],
        ["default/thread:telegram:telegram%3A-1004712", "its messages"],
      ]),
    );
  });

  it.each([
    ["Dr: Zoe", "Dr Zoe"],
    ['Zoe "Zed" Zebra', 'Zoe "Zed" Zebra'],
    ["Zoe\u200f\nZebra", "Zoe Zebra"],
    [`Zoe ${"z".repeat(70)}`, `Zoe ${"z".repeat(60)}…`],
  ])("is a person whose name is %j and stands as %j before old messages", (name, label) => {
    const writer = addObject("default/thread:telegram:telegram%3A-1004713");
    writer.exec("CREATE TABLE inbox_v1 (event TEXT)");
    const event = { message: { author: { userId: "200778", fullName: name }, text: "hi" } };
    writer.prepare("INSERT INTO inbox_v1 VALUES (?)").run(JSON.stringify(event));
    writer.close();
    const other = addObject("default/thread:telegram:telegram%3A-1004714");
    other.exec("CREATE TABLE transcript (content TEXT)");
    other
      .prepare("INSERT INTO transcript VALUES (?)")
      .run(JSON.stringify({ text: `${label}: hello, number 5` }));
    other.close();
    expect(findTarget(data, "200778").objects.map((object) => object.name)).toContain(
      "default/thread:telegram:telegram%3A-1004714",
    );
  });

  it("is a group with its topics", () => {
    const found = findTarget(data, "-1004711").objects.map(({ name }) => name);
    expect(new Set(found)).toEqual(new Set([GROUP, `${GROUP}%3A9`]));
  });

  it("is a chat whose id has a colon, with the object that only grants its calls", () => {
    const names = ["slack%3AC1", "slack%3AC1%3A1.5", "slack%3AC12"].map(
      (name) => `default/thread:slack:${name}`,
    );
    for (const name of names) addObject(name).close();
    const found = findTarget(data, "slack:C1").objects.map(({ name }) => name);
    expect(new Set(found)).toEqual(new Set(names.slice(0, 2)));
  });

  describe("whose values an adapter keeps", () => {
    const SHARD = "default/state:people";
    let secret: string;

    beforeEach(() => {
      secret = path.join(objects, `${String(count + 2).padStart(64, "0")}.sqlite`);
      const shard = addObject(SHARD);
      shard.exec(`CREATE TABLE adapter_state_v1 (messenger_id TEXT, key TEXT, value TEXT);
        INSERT INTO adapter_state_v1 VALUES ('telegram', 'user:200777', '{"userId":"200777"}');
        INSERT INTO adapter_state_v1 VALUES ('telegram', 'user:200778', '{"userId":"200778"}')`);
      shard.close();
      const root = addObject("other");
      root.exec(`CREATE TABLE secret_v1 (name TEXT, sealed BLOB);
        INSERT INTO secret_v1 VALUES ('sign-in:200777', x'00'), ('sign-in:200778', x'00')`);
      root.close();
    });

    it("loses their rows in an object that others share, and their secrets", async () => {
      const { objects: deleted } = await forget(data, findTarget(data, "200777"));
      expect(deleted).not.toContain(SHARD);
      const shard = listObjects(path.join(data, "objects")).find(({ name }) => name === SHARD);
      expect(rowsOf(shard?.file ?? "", "adapter_state_v1").map(({ key }) => key)).toEqual(["user:200778"]);
      expect(rowsOf(secret, "secret_v1").map(({ name }) => name)).toEqual(["sign-in:200778"]);
    });

    it("gets a copy of their rows there and of nobody else's, without secrets", () => {
      const { objects: exported } = exportData(data, "200777", () => 0);
      const values = exported.find(({ name }) => name === SHARD)?.tables["adapter_state_v1"];
      expect(values).toMatchObject([{ key: "user:200777" }]);
      expect(JSON.stringify(exported)).not.toContain("sign-in");
    });
  });

  /** A group that holds these values, in a table of this column. */
  function addGroupWith(column: string, ...values: readonly object[]): void {
    const group = addObject("default/thread:telegram:telegram%3A-1004715");
    group.exec(`CREATE TABLE values_v1 (${column} TEXT)`);
    for (const value of values) {
      group.prepare("INSERT INTO values_v1 VALUES (?)").run(JSON.stringify(value));
    }
    group.close();
  }

  it("is a group alone, also while another group has an update about it that nobody has read yet", () => {
    const chat = { id: -1004715, type: "supergroup" };
    const from = { id: 200799, first_name: "Yan" };
    addGroupWith(
      "raw",
      {
        message: {
          message_id: 6,
          chat,
          from,
          forward_from_chat: { id: -1004711 },
          forward_from_message_id: 31,
        },
      },
      { message: { message_id: 7, chat, migrate_from_chat_id: -1004711 } },
      { message: { message_id: 8, chat, new_chat_members: [{ id: 200788, first_name: "Xia" }] } },
      { my_chat_member: { chat, from, new_chat_member: { user: { id: 200766 }, status: "left" } } },
    );
    const found = (id: string) => findTarget(data, id).objects.map(({ name }) => name);
    expect(new Set(found("-1004711"))).toEqual(new Set([GROUP, `${GROUP}%3A9`]));
    for (const person of ["200799", "200788", "200766"]) {
      expect(found(person)).toEqual(["default/thread:telegram:telegram%3A-1004715"]);
    }
    // Numbers of messages.
    for (const number of ["31", "6"]) expect(() => findTarget(data, number)).toThrow("no person");
  });

  it("is a group alone, also if its administrators write in its name", () => {
    addGroupWith("event", { message: { author: { userId: "-1004711", fullName: "Team" }, text: "hi" } });
    const found = findTarget(data, "-1004711").objects.map(({ name }) => name);
    expect(new Set(found)).toEqual(new Set([GROUP, `${GROUP}%3A9`]));
  });

  it("is not a number that the model gave to a tool, or that a tool returned", () => {
    addGroupWith("content", {
      parts: [
        { type: "tool-book", input: { from: 41, user: { id: 42 } }, output: { owner: 43, userId: "44" } },
      ],
    });
    for (const id of ["41", "42", "43", "44"]) expect(() => findTarget(data, id)).toThrow("no person");
  });

  it("is not a number of an action's input, or of the bot's own state", () => {
    addGroupWith("input", { from: "41", owner: "42" });
    const root = addObject("other");
    root.exec("CREATE TABLE cf_agents_state (state TEXT)");
    root.prepare("INSERT INTO cf_agents_state VALUES (?)").run(JSON.stringify({ from: "43", member: 44 }));
    root.close();
    for (const id of ["41", "42", "43", "44"]) expect(() => findTarget(data, id)).toThrow("no person");
  });

  it("is found by a name, if the id is no longer stored", () => {
    const found = findTarget(data, "5", ["Zoe Zebra"]);
    expect(found.objects.map(({ name }) => name)).toEqual(["default/thread:telegram:telegram%3A-1004712"]);
    expect(found.ids.size).toBe(0);
  });

  it.each(["5", "9", "777", "telegram", "7000000001", "hi"])(
    "is not %j, the number of a message or a topic, a word or the bot, and nothing is deleted for it",
    (id) => {
      expect(() => findTarget(data, id)).toThrow(expect.objectContaining({ code: "target-unknown" }));
    },
  );

  it("leaves rows alone that only have its number for something else", async () => {
    // The directory's rows of the two groups.
    expect((await forget(data, findTarget(data, "200777"))).rows).toBe(2);
    expect(findTarget(data, "-1004711").objects.map(({ name }) => name)).toEqual([`${GROUP}%3A9`]);
  });

  it("takes the answers of the person out of runs in an object that stays, and leaves those of others", async () => {
    const root = listObjects(path.join(data, "objects")).find(({ name }) => name === "default");
    const database = new DatabaseSync(root?.file ?? "");
    database.exec(`CREATE TABLE question_v1 (id TEXT PRIMARY KEY, asked_in TEXT, call TEXT, end TEXT);
      INSERT INTO question_v1 VALUES ('q1', '[{"userId":"200777"}]', '{"id":"c","ledgerKey":"k","position":0}', 'answered');
      INSERT INTO question_v1 VALUES ('q2', '[{"userId":"300888"}]', '{"id":"c","ledgerKey":"k","position":1}', 'answered');
      CREATE TABLE run_log_v1 (run TEXT, position INTEGER, result TEXT, PRIMARY KEY (run, position));
      INSERT INTO run_log_v1 VALUES ('k', 0, '"my address"');
      INSERT INTO run_log_v1 VALUES ('k', 1, '"another"')`);
    database.close();
    const { objects: exported } = exportData(data, "200777", () => 0);
    const answers = exported.find(({ name }) => name === "default")?.tables["run_log_v1"];
    expect(answers).toMatchObject([{ result: '"my address"' }]);
    await forget(data, findTarget(data, "200777"));
    expect(rowsOf(root?.file ?? "", "run_log_v1").map(({ result }) => result)).toEqual(['"another"']);
  });

  it("ends the open questions to the person, whose calls go on without an answer", async () => {
    const root = listObjects(path.join(data, "objects")).find(({ name }) => name === "default");
    const file = root?.file ?? "";
    let database = createNodeDatabase(file);
    const clock = createVirtualClock();
    const ran: ParkedCall[] = [];
    const calls = (): ParkedCalls =>
      new ParkedCalls({
        database,
        clock,
        run: (call) => Promise.resolve(ran.push(call)),
        tell: () => {},
        onChange: () => {},
        onFailure: (error) => expect.fail(String(error)),
      });
    const entry = { kind: "question", label: "To whom?", hash: "h" } as const;
    const form = { fields: [], isSingle: true } as const;
    const storedAt = { createdAt: 0, expiresAt: 9, remindAt: undefined, end: undefined, endedAt: undefined };
    for (const [id, userId] of [
      ["theirs", "200777"],
      ["other", "300888"],
    ] as const) {
      const rest = { input: null, inputHash: "", action: "act", runId: "r", context: {}, ledgerKey: id };
      calls().park({ ...rest, id, requestId: id, toolCallId: id });
      const log = new RunLog(database, clock);
      for (const [position, result] of ["Ada is 200777", "done before"].entries())
        log.of(id, false).record(position, { ...entry, kind: "step" }, id === "theirs" ? result : "done");
      log.open(id, 2, entry);
      new QuestionStore(database).insert({
        ...storedAt,
        id: `q-${id}`,
        message: entry.label,
        form,
        askedIn: [
          {
            userId,
            address: { messengerId: "telegram", chatId: userId, threadId: userId, isDirectMessage: true },
          },
        ],
        forms: [],
        call: { id, ledgerKey: id, position: 2 },
        cause: undefined,
        threadId: undefined,
        answer: undefined,
        by: undefined,
        isHinted: false,
        isDelivered: false,
        isUnchecked: false,
      });
    }
    database.close();
    await forget(data, findTarget(data, "200777"));
    database = createNodeDatabase(file);
    await calls().run();
    expect(ran.map(({ id }) => id)).toEqual(["theirs"]);
    const step = { ...entry, kind: "step" } as const;
    const record = new RunLog(database, clock).of("theirs", false);
    expect([0, 1].map((position) => record.read(position, step))).toEqual([
      { result: null },
      { result: "done before" },
    ]);
    expect(record.read(2, entry)).toEqual({ result: { why: "nobody" } });
    expect(new RunLog(database, clock).of("other", false).read(2, entry)).toBeUndefined();
    expect(new QuestionStore(database).open().map(({ id }) => id)).toEqual(["q-other"]);
    database.close();
    const rest = rowsOf(file, "run_log_v1").filter(({ run }) => run === "theirs");
    expect(JSON.stringify(rest)).not.toContain("200777");
  });
});
