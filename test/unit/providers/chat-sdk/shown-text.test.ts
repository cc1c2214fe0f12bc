import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { rendererOf } from "../../../../delivery/text/render/index.ts";
import { splitText } from "../../../../delivery/text/split/index.ts";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import { isRecord } from "../../../../src/core/json/is-record.ts";
import type { OutgoingContent, Surface } from "../../../../src/core/chat/surface.ts";
import { createTelegramSurface } from "../../../../providers/telegram/surface.ts";
import { createPlatformContext } from "../platform-context.ts";
import { type PlatformStub, type RealAdapterName, realAdapters, startPlatformStub } from "./platform-stub.ts";

/* What the real adapters send for a text of a model, word by word, as their platforms document it. */

const SAMPLE = `## Plan

Some **bold** text, 2 * 3 \\*stars\\*, snake_case and A&B.
See [the docs](https://e.com/a_b_(c)) and https://e.com/a_b_c!

- one
  1. first
  2. second
- two

- [x] done
- [ ] open

| Name | Price |
| --- | ---: |
| a\\|b | 5 |

\`\`\`ts
const a_b = \`x\`;
\`\`\`
`;

let stub: PlatformStub;

beforeAll(async () => {
  stub = await startPlatformStub();
});
beforeEach(() => {
  for (const level of ["debug", "info", "log", "warn", "error"] as const) {
    vi.spyOn(console, level).mockImplementation(() => undefined);
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await stub.close();
});

function surfaceOf(name: RealAdapterName): Surface {
  const { adapter } = realAdapters[name](stub.url);
  const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false });
  return platform.surface(createPlatformContext({}).context);
}

/** Returns the bodies of the requests with which an adapter posts a message. */
async function posted(
  name: RealAdapterName,
  surface: Surface,
  message: OutgoingContent,
): Promise<readonly unknown[]> {
  const { chatId, threadId } = realAdapters[name](stub.url);
  const address = { messengerId: "bot", chatId, threadId, isDirectMessage: false };
  const signal = new AbortController().signal;
  stub.answer({ status: 200, body: {} });
  await surface.typing(address, { signal }).catch(() => undefined);
  const bodies: unknown[] = [];
  stub.answer((body) => {
    bodies.push(body.startsWith("{") ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body)));
    return { status: 200, body: { ok: true, ts: "1.1", id: "1" } };
  });
  await surface.post(address, message, { signal }).catch(() => undefined);
  return bodies;
}

/** Finds the values of a field at any depth. */
function valuesOf(value: unknown, field: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => valuesOf(item, field));
  if (typeof value === "string" && /^[[{]/.test(value)) return valuesOf(JSON.parse(value), field);
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === field && typeof inner === "string" ? [inner] : valuesOf(inner, field),
  );
}

function renderFor(surface: Surface, text: string, isCard = false): string {
  const format = isCard ? (surface.cardFormat ?? surface.format) : surface.format;
  const { limits } = surface;
  return splitText(text, { renderer: rendererOf(format, limits.unit), limits, final: true })
    .map(({ content }) => content.text)
    .join("\n-----\n");
}

/** The field that has the text of a message, maybe in another one (`in`), and of a card. */
const FIELDS: Readonly<
  Record<RealAdapterName, { readonly in?: string; readonly text: string; readonly card?: string }>
> = {
  slack: { in: "blocks", text: "text", card: "text" },
  discord: { text: "content", card: "description" },
  teams: { text: "text", card: "text" },
  whatsapp: { text: "body", card: "text" },
  gchat: { text: "text", card: "text" },
  github: { text: "body" },
  linear: { text: "body" },
};
const names = Object.keys(FIELDS) as RealAdapterName[];

describe("a text of a model", () => {
  it.each(names)("is sent as %s shows it, and the adapter changes nothing", async (name) => {
    const surface = surfaceOf(name);
    const text = renderFor(surface, SAMPLE);
    const bodies = await posted(name, surface, { text, entities: [] });
    const { in: outer, text: field } = FIELDS[name];
    const sent = valuesOf(outer === undefined ? bodies : valuesOf(bodies, outer), field);
    expect(sent).toEqual([text]);
    expect(text).toMatchSnapshot();
  });

  it("is text with entities on Telegram", () => {
    const { limits, format } = createTelegramSurface({} as never, {} as never);
    const [part] = splitText(SAMPLE, { renderer: rendererOf(format), limits, final: true });
    expect(part?.content).toMatchSnapshot();
  });
});

const CARD = "**Is this _OK_?** a_b\n\n• `x < y` & [the docs](https://e.com/a_b)";

describe("the text of a card", () => {
  it.each(names.filter((name) => FIELDS[name].card !== undefined))(
    "is sent as %s shows it in cards, and the adapter changes nothing",
    async (name) => {
      const surface = surfaceOf(name);
      const text = renderFor(surface, CARD, true);
      const buttons = [[{ kind: "callback", label: "Yes", token: "t1" }]] as const;
      const sent = valuesOf(
        await posted(name, surface, { text, entities: [], isCard: true, buttons }),
        FIELDS[name].card ?? "",
      );
      expect(sent).toContain(text);
      expect(text).toMatchSnapshot();
    },
  );
});
