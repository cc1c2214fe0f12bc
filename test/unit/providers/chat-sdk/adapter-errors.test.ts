import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { profileOf } from "../../../../providers/chat-sdk/adapters/known-adapters.ts";
import { adapterFailure } from "../../../../providers/chat-sdk/errors/call-error.ts";
import { readErrorFacts } from "../../../../providers/chat-sdk/errors/error-facts.ts";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { CallFailure, Surface } from "../../../../src/core/chat/surface.ts";
import {
  type Case,
  type Method,
  discordSays,
  gitHubSays,
  gone,
  later,
  linearSays,
  refusedCredentials,
  tables,
  teamsSays,
  wait,
} from "./documented-errors.ts";
import { createPlatformContext } from "../platform-context.ts";
import {
  type PlatformAnswer,
  type PlatformStub,
  type RealAdapterName,
  realAdapters,
  startPlatformStub,
} from "./platform-stub.ts";

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
  vi.unstubAllGlobals();
});
afterAll(async () => {
  await stub.close();
});

interface Outcome {
  readonly failure: CallFailure;
  /** Requests that the call made. */
  readonly requests: readonly string[];
}

function surfaceOf(name: RealAdapterName): Surface {
  const { adapter } = realAdapters[name](stub.url);
  const { platform } = chatSdkMessenger({ adapter, verifyWebhook: false });
  return platform.surface(createPlatformContext({}).context);
}

const options = () => ({ signal: new AbortController().signal });

/** Makes a call by the real adapter while its platform answers so. */
async function outcomeOf(
  name: RealAdapterName,
  answer: PlatformAnswer | ((body: string) => PlatformAnswer),
  method: Method = "post",
): Promise<Outcome> {
  const { chatId, messageId, threadId } = realAdapters[name](stub.url);
  const surface = surfaceOf(name);
  const address = {
    messengerId: "bot",
    chatId,
    threadId,
    isDirectMessage: false,
  };
  const message = { text: "hello", entities: [] };
  // The adapter starts before the call, and may ask for its own name.
  stub.answer({ status: 200, body: {} });
  await surface.typing(address, options()).catch(() => undefined);
  stub.answer(answer);
  const call =
    method === "post"
      ? surface.post(address, message, options())
      : surface.edit(address, messageId, message, options());
  const error: unknown = await call.then(
    () => new Error("The call was a success."),
    (thrown: unknown) => thrown,
  );
  return { failure: surface.classifyError(error), requests: [...stub.requests] };
}

describe.each(Object.entries(tables) as [RealAdapterName, readonly Case[]][])(
  "the adapter of %s",
  (name, cases) => {
    it.each(cases.map((row) => [row[0], row] as const))(
      "reads %s",
      async (_case, [, answer, failure, method]) => {
        expect((await outcomeOf(name, answer, method)).failure).toEqual(failure);
      },
    );
  },
);

describe("a post", () => {
  it.each(["slack", "discord", "teams", "whatsapp", "gchat", "github", "linear"] as const)(
    "is made once on %s, whatever the platform answers",
    async (name) => {
      const answers: PlatformAnswer[] = [
        { status: 429, headers: { "retry-after": "1" } },
        { status: 500 },
        { status: 503 },
        { status: undefined },
      ];
      for (const answer of answers) {
        const { requests } = await outcomeOf(name, answer);
        expect([answer.status, requests.length]).toEqual([answer.status, 1]);
      }
    },
  );

  it("without a token waits if Linear's service of tokens is down", () => {
    const failureOf = (status: number): CallFailure | undefined => {
      const message = `Failed to fetch Linear client credentials token: ${status} own words`;
      const error = Object.assign(new Error(message), { name: "AuthenticationError" });
      const call = { method: "post", isInThread: true, now: 0 } as const;
      return adapterFailure(readErrorFacts(error, undefined, 0), call, profileOf("linear"));
    };
    expect(failureOf(503)).toEqual(later);
    expect(failureOf(401)).toEqual(refusedCredentials);
  });

  it("into a Discord thread that is gone leaves the channel open", async () => {
    const surface = surfaceOf("discord");
    stub.answer(discordSays(404, 10_003));
    const address = {
      messengerId: "bot",
      chatId: "discord:1:2",
      threadId: "discord:1:2:4",
      isDirectMessage: false,
    };
    const error: unknown = await surface
      .post(address, { text: "hello", entities: [] }, options())
      .catch((thrown: unknown) => thrown);
    expect(surface.classifyError(error)).toEqual(gone("chat-missing", "thread"));
  });

  it("into a GitHub review whose first comment is gone leaves the pull request open", async () => {
    const surface = surfaceOf("github");
    stub.answer(gitHubSays(404, "Not Found"));
    const address = {
      messengerId: "bot",
      chatId: "github:shop/web:12",
      threadId: "github:shop/web:12:rc:7",
      isDirectMessage: false,
    };
    const error: unknown = await surface
      .post(address, { text: "hello", entities: [] }, options())
      .catch((thrown: unknown) => thrown);
    expect(surface.classifyError(error)).toEqual(gone("chat-missing", "thread"));
  });

  it("into a Teams thread whose first message is gone leaves the channel open", async () => {
    const { adapter } = realAdapters.teams(stub.url);
    const surface = surfaceOf("teams");
    const idOf = (conversationId: string): string =>
      adapter.encodeThreadId({ conversationId, serviceUrl: `${stub.url}/` });
    const address = {
      messengerId: "bot",
      chatId: idOf("19:c@thread.tacv2"),
      threadId: idOf("19:c@thread.tacv2;messageid=1"),
      isDirectMessage: false,
    };
    const failureFor = async (code: string): Promise<CallFailure> => {
      stub.answer(teamsSays(404, code));
      const error: unknown = await surface
        .post(address, { text: "hello", entities: [] }, options())
        .catch((thrown: unknown) => thrown);
      return surface.classifyError(error);
    };
    expect(await failureFor("ActivityNotFoundInConversation")).toEqual(gone("chat-missing", "thread"));
    expect(await failureFor("ConversationNotFound")).toEqual(gone("chat-missing"));
  });

  it("with a file is read on Discord, too, where the status is only in the message", async () => {
    const answer = JSON.stringify({ message: "own words", retry_after: 2.5 });
    vi.stubGlobal("fetch", async () => new Response(answer, { status: 429 }));
    const surface = surfaceOf("discord");
    const file = {
      kind: "document",
      name: "invoice.pdf",
      mediaType: "application/pdf",
      source: { kind: "bytes", hash: "h1", sizeBytes: 3 },
    } as const;
    const address = {
      messengerId: "bot",
      chatId: "discord:1:2",
      threadId: "discord:1:2",
      isDirectMessage: false,
    };
    const openFile = () => new Blob(["pdf"]).stream();
    const error: unknown = await surface
      .post(address, { text: "hello", entities: [], files: [file] }, { ...options(), openFile })
      .catch((thrown: unknown) => thrown);
    expect(surface.classifyError(error)).toEqual(wait(2500));
  });

  it("of a Linear comment is undecided when only the question for its id fails", async () => {
    const { failure } = await outcomeOf("linear", (body) =>
      body.includes("mutation")
        ? {
            status: 200,
            body: { data: { commentCreate: { success: true, lastSyncId: 1, comment: { id: "c9" } } } },
          }
        : linearSays(400, "ratelimited"),
    );
    expect(failure).toEqual({ kind: "unknown", code: "no-answer" });
  });

  it("tells nothing of the platform's words, the token or the address (I10)", async () => {
    for (const name of Object.keys(realAdapters) as RealAdapterName[]) {
      const { failure } = await outcomeOf(name, {
        status: 400,
        body: { message: "own words", error: "own words" },
      });
      expect(JSON.stringify(failure)).not.toMatch(/own words|127\.0\.0\.1|xoxb|EAAG|ghp/);
    }
  });
});
