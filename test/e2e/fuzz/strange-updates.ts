/** Updates as the Bot API documents them, and what becomes of them when somebody bends them. */
import fc from "fast-check";

/** Where the updates of one run play. Every word that a person could see holds `marker`. */
export interface Stage {
  readonly userId: number;
  readonly chat: { readonly id: number; readonly type: "private" | "supergroup" };
  readonly botName: string;
  readonly marker: string;
  readonly updateId: () => number;
  readonly messageId: () => number;
  /** Seconds. */
  readonly now: number;
}

/** One update of a run: a realistic one, and what is done to it. */
export interface StrangeUpdate {
  readonly base: number;
  readonly changes: readonly Change[];
}

type Change =
  | { readonly kind: "remove"; readonly at: number }
  | { readonly kind: "replace"; readonly at: number; readonly value: unknown }
  | { readonly kind: "add"; readonly at: number; readonly key: string; readonly value: unknown }
  | { readonly kind: "entities"; readonly entities: unknown };

/** Stands for text that `JSON.stringify` does not write: deep nests, and numbers beyond a double. */
const RAW = /"@raw:(\w+):([^"@]*)@"/g;

const strangeText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constantFrom(
    "",
    " ",
    "\u0000",
    "a\u0000b",
    "\ud800",
    "\udc00x",
    "x\ud83d",
    "\u202e\u2066drawkcab\u2069",
    "\u200b\u200d\ufeff",
    "\u001b[31mred\u0007\u009b",
    'line\nline\r\n\u2028{"level":"error"}',
    "/stop",
    "/start \u0000",
    "/help@switchboard_bot",
    "/__proto__",
    "/constructor",
    "/".repeat(300),
    "`".repeat(3000),
    "é".repeat(4096),
    "👨‍👩‍👧‍👦".repeat(400),
    "%s%n%x ${process.env} {{7*7}} '; DROP TABLE inbox_v1; --",
  ),
  fc.integer({ min: 5_000, max: 200_000 }).map((length) => "x".repeat(length)),
);

const strangeNumber = fc.oneof(
  fc.constantFrom(0, -1, 1.5, -0, 2 ** 31, -(2 ** 31) - 1, 2 ** 53 - 1, -(2 ** 53), 2 ** 53 + 2, 1e300),
  fc.constantFrom("@raw:number:1e999@", "@raw:number:-1e999@", "@raw:number:123456789012345678901234567890@"),
  fc.integer(),
);

const nest = fc
  .tuple(fc.constantFrom("list", "object"), fc.constantFrom(20, 400, 4_000, 60_000))
  .map(([shape, depth]) => `@raw:${shape}:${depth}@`);

const strangeValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: strangeText },
  { weight: 4, arbitrary: strangeNumber },
  { weight: 2, arbitrary: nest },
  { weight: 3, arbitrary: fc.constantFrom(null, true, false, [], {}, [null], [[]], { toString: 1 }) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown) },
  { weight: 1, arbitrary: fc.integer({ min: 100, max: 20_000 }).map((count) => Array(count).fill(null)) },
);

const strangeKey = fc.oneof(
  fc.constantFrom(
    "__proto__",
    "constructor",
    "prototype",
    "toString",
    "hasOwnProperty",
    "then",
    "toJSON",
    "",
  ),
  fc.constantFrom("text", "caption", "entities", "chat", "from", "sender_chat", "is_topic_message", "photo"),
  fc.constantFrom(
    "message",
    "edited_message",
    "callback_query",
    "my_chat_member",
    "new_chat_members",
    "is_bot",
  ),
);

const wildEntities = fc
  .tuple(
    fc.constantFrom(
      "text_link",
      "bot_command",
      "mention",
      "text_mention",
      "pre",
      "__proto__",
      "custom_emoji",
    ),
    fc.constantFrom(1, 100, 3_000, 10_000),
    fc.array(fc.tuple(strangeNumber, strangeNumber), { minLength: 1, maxLength: 4 }),
  )
  .map(([type, count, places]) =>
    Array.from({ length: count }, (_, index) => {
      const [offset, length] = places[index % places.length] ?? [0, 1];
      const isPlain = index % 3 === 0;
      return {
        type,
        offset: isPlain ? index % 50 : offset,
        length: isPlain ? (index % 7) + 1 : length,
        url: "https://e.example/x",
        user: { id: index },
      };
    }),
  );

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("remove" as const), at: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant("replace" as const), at: fc.nat(), value: strangeValue }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("add" as const),
      at: fc.nat(),
      key: strangeKey,
      value: strangeValue,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("entities" as const), entities: wildEntities }) },
);

export const strangeUpdate: fc.Arbitrary<StrangeUpdate> = fc.record({
  base: fc.nat(),
  changes: fc.array(change, { minLength: 0, maxLength: 3 }),
});

/** The body of the webhook request. */
export function bodyOf(strange: StrangeUpdate, stage: Stage): string {
  const bases = updatesOn(stage);
  const update = JSON.parse(JSON.stringify(bases[strange.base % bases.length])) as unknown;
  for (const one of strange.changes) apply(update, one);
  return JSON.stringify(update).replaceAll(RAW, (_whole, shape: string, value: string) => {
    if (shape === "number") return value;
    const depth = Number(value);
    return shape === "list"
      ? "[".repeat(depth) + "]".repeat(depth)
      : `${'{"a":'.repeat(depth)}0${"}".repeat(depth)}`;
  });
}

type Container = Record<string, unknown>;

function apply(root: unknown, one: Change): void {
  if (one.kind === "entities") {
    for (const { holder } of placesIn(root)) {
      if ("text" in holder && !Array.isArray(holder)) set(holder, "entities", one.entities);
    }
    return;
  }
  const places = placesIn(root);
  const place = places[one.at % Math.max(places.length, 1)];
  if (place === undefined) return;
  if (one.kind === "remove") Reflect.deleteProperty(place.holder, place.key);
  else set(place.holder, one.kind === "add" ? one.key : place.key, one.value);
}

/** Also `__proto__` becomes a property of its own, as `JSON.parse` makes it. */
function set(holder: Container, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function placesIn(root: unknown): { holder: Container; key: string }[] {
  const places: { holder: Container; key: string }[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null || places.length > 400) return;
    for (const key of Object.keys(value)) {
      places.push({ holder: value as Container, key });
      visit((value as Container)[key]);
    }
  };
  visit(root);
  return places;
}

/** One update of each kind and of each content that a person can send. */
function updatesOn(stage: Stage): readonly object[] {
  const { marker, now, userId } = stage;
  const isPrivate = stage.chat.type === "private";
  const from = {
    id: userId,
    is_bot: false,
    first_name: `First ${marker}`,
    last_name: "Person",
    username: `user_${marker}`,
    language_code: "en",
  };
  const chat = isPrivate
    ? { ...stage.chat, first_name: marker }
    : { ...stage.chat, title: `Group ${marker}` };
  const head = () => ({ message_id: stage.messageId(), from, chat, date: now });
  const file = { file_id: `file-${marker}`, file_unique_id: "unique", file_size: 1000 };
  const named = isPrivate ? "" : `@${stage.botName} `;
  const mention = isPrivate ? [] : [{ type: "mention", offset: 0, length: stage.botName.length + 1 }];
  const captioned = { caption: `${named}look at ${marker}`, caption_entities: mention };
  const text = { text: `${named}please read ${marker}`, entities: mention };
  const bot = { id: 7_000_000_001, is_bot: true, first_name: "Switchboard", username: stage.botName };
  const contents: readonly object[] = [
    text,
    {
      ...text,
      entities: [...mention, { type: "text_link", offset: 0, length: 4, url: `https://e.example/${marker}` }],
    },
    { text: `/help ${marker}`, entities: [{ type: "bot_command", offset: 0, length: 5 }] },
    { text: `/start ${marker}`, entities: [{ type: "bot_command", offset: 0, length: 6 }] },
    { text: `/explode ${marker}`, entities: [{ type: "bot_command", offset: 0, length: 8 }] },
    {
      ...captioned,
      photo: [
        { ...file, width: 90, height: 90 },
        { ...file, width: 900, height: 900 },
      ],
    },
    { ...captioned, document: { ...file, file_name: `${marker}.png`, mime_type: `image/${marker}` } },
    { ...captioned, document: { ...file, file_name: `${marker}.txt`, mime_type: "text/plain" } },
    { ...captioned, voice: { ...file, duration: 3, mime_type: "audio/ogg" } },
    { ...captioned, video: { ...file, duration: 3, width: 10, height: 10 } },
    { ...captioned, media_group_id: marker, photo: [{ ...file, width: 90, height: 90 }] },
    {
      sticker: {
        ...file,
        type: "regular",
        emoji: "🙂",
        width: 512,
        height: 512,
        is_animated: false,
        is_video: false,
      },
    },
    { location: { latitude: 50.1, longitude: 8.6 } },
    { venue: { location: { latitude: 50.1, longitude: 8.6 }, title: marker, address: marker } },
    { contact: { phone_number: "+49", first_name: marker } },
    { poll: { id: "1", question: marker, options: [{ text: marker, voter_count: 0 }], is_closed: false } },
    { dice: { emoji: "🎲", value: 4 } },
    { rich_message: { blocks: [{ type: "paragraph", text: [marker, { type: "bold", text: marker }] }] } },
    {
      ...text,
      reply_to_message: { ...head(), from: bot, text: `said ${marker}` },
      quote: { text: marker, position: 0 },
    },
    {
      ...text,
      external_reply: { origin: { type: "hidden_user", date: now, sender_user_name: marker }, story: {} },
    },
    { ...text, forward_origin: { type: "user", sender_user: from, date: now } },
    { ...text, sender_chat: { id: -1_001_234, type: "channel", title: marker } },
    { ...text, message_thread_id: 7, is_topic_message: true },
    { new_chat_title: marker },
    { new_chat_members: [bot] },
    { pinned_message: { ...head(), text: marker } },
  ];
  const message = { ...head(), ...text };
  const kinds: readonly object[] = [
    ...contents.map((content) => ({ message: { ...head(), ...content } })),
    { edited_message: { ...message, edit_date: now } },
    { channel_post: { ...message, sender_chat: chat } },
    { edited_channel_post: { ...message, sender_chat: chat, edit_date: now } },
    { callback_query: { id: `query-${stage.messageId()}`, from, message, chat_instance: "1", data: marker } },
    {
      my_chat_member: {
        chat,
        from,
        date: now,
        old_chat_member: { user: bot, status: "left" },
        new_chat_member: { user: bot, status: "member" },
      },
    },
    { message_reaction: { chat, message_id: 1, user: from, date: now, old_reaction: [], new_reaction: [] } },
    { inline_query: { id: "1", from, query: marker, offset: "" } },
    { poll_answer: { poll_id: "1", user: from, option_ids: [0] } },
    { business_message: { ...message, business_connection_id: "b" } },
    { deleted_business_messages: { business_connection_id: "b", chat, message_ids: [1] } },
    { stopped_message_generation: { chat, draft_id: 1 } },
  ];
  return kinds.map((kind) => ({ update_id: stage.updateId(), ...kind }));
}
