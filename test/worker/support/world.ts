import type { ToolSet, UIMessage } from "ai";
import { vi } from "vitest";
import type {
  Think,
  ThinkActions,
  ThinkCommands,
  ThinkHooks,
  ThinkScheduledTasks,
} from "../../../src/index.ts";
import type {
  MessengerDefinition,
  MessengerOptions,
  ThinkMessengers,
} from "../../../src/core/chat/messenger.ts";
import { testEnv } from "../test-env.ts";
import type { ScriptedBot } from "../worker.ts";
import { fakePlatform, FakeChats, SECRET, SECRET_HEADER } from "./fake-platform.ts";
import type { FakeUpdate } from "./fake-platform.ts";
import { pipelined } from "./pipelined.ts";
import { echo, scriptedModel } from "./scripted-model.ts";
import type { ModelRequest, ModelScript } from "./scripted-model.ts";

export interface WorldOptions {
  readonly script?: ModelScript;
  readonly messenger?: MessengerOptions;
  /** Instead of one fake messenger with the options above. */
  readonly messengers?: (world: World) => ThinkMessengers;
  readonly settings?: Partial<
    Pick<
      Think,
      | "maxSteps"
      | "maxContextTokens"
      | "actionTemplates"
      | "interruptedStep"
      | "chatRecovery"
      | "contextOverflow"
      | "chatStreamStallTimeoutMs"
      | "chatStreamFirstChunkTimeoutMs"
      | "modelPatienceMs"
      | "keepUsageMs"
      | "keepApprovalsMs"
      | "texts"
      | "modelPrices"
      | "transcribe"
      | "subscribeCommands"
      | "chatSchedules"
      | "configureChannels"
      | "configureSession"
      | "onAction"
      | "quietHoursOf"
      | "getIncomingHooks"
      | "onApprovalRequested"
      | "onAnswer"
      | "getQuestions"
      | "onChatMember"
      | "onReaction"
      | "renderAttachment"
      | "publicUrl"
    >
  > & {
    readonly repairInterruptedToolPart?: (part: UIMessage["parts"][number]) => UIMessage["parts"][number];
  };
  readonly commands?: ThinkCommands;
  /** The bot's hooks; each is called with the agent as `this`. */
  readonly hooks?: Partial<ThinkHooks>;
  readonly getModel?: (agent: Think) => ReturnType<Think["getModel"]>;
  readonly getSystemPrompt?: (agent: Think) => string | Promise<string>;
  readonly getTools?: (agent: Think) => ToolSet | Promise<ToolSet>;
  readonly transcribe?: NonNullable<Think["transcribe"]>;
  readonly getActions?: (agent: Think) => ThinkActions;
  readonly authorizeTurn?: Think["authorizeTurn"];
  readonly authorizeAction?: Think["authorizeAction"];
  /** Changed by a test that declares other tasks later. */
  readonly scheduledTasks?: (agent: Think) => ThinkScheduledTasks;
  readonly defaultTimezone?: string;
  readonly onRequest?: (request: Request, agent: Think) => Response | Promise<Response>;
  readonly onStart?: (agent: Think) => void | Promise<void>;
  readonly onConnect?: () => void | Promise<void>;
  readonly connectionTags?: () => string[];
}

const worlds = new Map<string, World>();

/** The world that an object lives in: that of its root. */
export function worldOf(objectName: string): World {
  const world = worlds.get(objectName.split("/", 1)[0] ?? "");
  if (world !== undefined) return world;
  throw new Error(`No test has made a world for "${objectName}"`);
}

/** A bot with a root of its own, the people who write to it, and its model. No two tests share anything. */
export function createWorld(options: WorldOptions = {}): World {
  const world = new World(`root-${worlds.size + 1}-${crypto.randomUUID().slice(0, 8)}`, options);
  worlds.set(world.root, world);
  return world;
}

export class World {
  readonly root: string;
  readonly chats = new FakeChats();
  readonly requests: ModelRequest[] = [];
  readonly settings: NonNullable<WorldOptions["settings"]>;
  readonly commands: ThinkCommands;
  readonly hooks: Partial<ThinkHooks>;
  readonly authorizeTurn: WorldOptions["authorizeTurn"];
  readonly authorizeAction: WorldOptions["authorizeAction"];
  readonly onRequest: WorldOptions["onRequest"];
  readonly onStart: WorldOptions["onStart"];
  readonly onConnect: WorldOptions["onConnect"];
  readonly connectionTags: WorldOptions["connectionTags"];
  readonly #options: WorldOptions;
  #script: ModelScript;
  #sent = 0;

  constructor(root: string, options: WorldOptions) {
    this.root = root;
    this.settings = {
      ...options.settings,
      ...(options.transcribe !== undefined && { transcribe: options.transcribe }),
    };
    this.commands = options.commands ?? {};
    this.hooks = options.hooks ?? {};
    this.authorizeTurn = options.authorizeTurn;
    this.authorizeAction = options.authorizeAction;
    this.onRequest = options.onRequest;
    this.onStart = options.onStart;
    this.onConnect = options.onConnect;
    this.connectionTags = options.connectionTags;
    this.#options = options;
    this.#script = options.script ?? echo;
  }

  /** The object of the root. */
  get stub(): DurableObjectStub<ScriptedBot> {
    return pipelined(testEnv.ScriptedBot.getByName(this.root));
  }

  /** The object of a chat's conversation. */
  thread(chat: string, messenger = "fake"): DurableObjectStub<ScriptedBot> {
    return this.child(`thread:${messenger}:${encodeURIComponent(`fake:${chat}`)}`);
  }

  child(name: string): DurableObjectStub<ScriptedBot> {
    return pipelined(testEnv.ScriptedBot.getByName(`${this.root}/${name}`));
  }

  script(script: ModelScript): void {
    this.#script = script;
  }

  /** A fake messenger whose messages are never taken for a burst, unless the options say so. */
  messenger(options: MessengerOptions = {}): MessengerDefinition {
    return { platform: fakePlatform(this.chats), burstMs: 0, delivery: { editEveryMs: 0 }, ...options };
  }

  async fetch(path: string, init?: RequestInit): Promise<Response> {
    return this.stub.fetch(`https://bot.example${path}`, init);
  }

  /** The webhook's answer to an update, or to several at once. */
  async post(update: FakeUpdate | readonly FakeUpdate[], path = "/messengers/fake/webhook"): Promise<number> {
    const response = await this.fetch(path, {
      method: "POST",
      headers: { [SECRET_HEADER]: SECRET },
      body: JSON.stringify(update),
    });
    await response.body?.cancel();
    return response.status;
  }

  /**
   * Somebody writes. Unless a time is given, each message was sent long after the one before it, so that no two are one
   * utterance.
   */
  async write(chat: string, text: string, rest: Partial<FakeUpdate> = {}): Promise<number> {
    this.#sent += 1;
    const sentAt = Date.now() - 3_600_000 + this.#sent * 10_000;
    return this.post({ id: `m${this.#sent}`, chat, user: "ada", text, sentAt, ...rest });
  }

  /** Somebody presses the newest button with this label. Resolves with what the person is told privately. */
  async press(chat: string, label: string, rest: Partial<FakeUpdate> = {}): Promise<string | undefined> {
    const token = await vi.waitFor(
      () => {
        const found = this.chats.button(chat, label);
        if (found === undefined) throw new Error(`Chat ${chat} has no button ${label}`);
        return found;
      },
      { timeout: 8000, interval: 10 },
    );
    return this.pressToken(chat, token, rest);
  }

  /** Somebody presses a button that the chat may not show any more. */
  async pressToken(chat: string, token: string, rest: Partial<FakeUpdate> = {}): Promise<string | undefined> {
    this.#sent += 1;
    const id = `p${this.#sent}`;
    await this.post({ kind: "press", id, chat, user: "ada", text: token, ...rest });
    await vi.waitFor(
      () => {
        if (!this.chats.answered.includes(id)) throw new Error("The press is not answered");
      },
      { timeout: 8000, interval: 10 },
    );
    return this.chats.notices.get(id);
  }

  /** Resolves when the chat shows exactly these messages. */
  async shows(chat: string, ...texts: readonly string[]): Promise<void> {
    await vi.waitFor(
      () => {
        const visible = this.chats.visible(chat);
        if (JSON.stringify(visible) === JSON.stringify(texts)) return;
        throw new Error(`Chat ${chat} shows ${JSON.stringify(visible)}, not ${JSON.stringify(texts)}`);
      },
      { timeout: 8000, interval: 10 },
    );
  }

  getModel(agent: Think): ReturnType<Think["getModel"]> {
    return (
      this.#options.getModel?.(agent) ??
      scriptedModel(
        agent.name,
        (request) => this.#script(request),
        (request) => this.requests.push(request),
      )
    );
  }

  get defaultTimezone(): string | undefined {
    return this.#options.defaultTimezone;
  }

  scheduledTasks(agent: Think): ThinkScheduledTasks {
    return this.#options.scheduledTasks?.(agent) ?? {};
  }

  getSystemPrompt(agent: Think): string | Promise<string> {
    return this.#options.getSystemPrompt?.(agent) ?? "You are a test.";
  }

  getTools(agent: Think): ToolSet | Promise<ToolSet> {
    return this.#options.getTools?.(agent) ?? {};
  }

  getActions(agent: Think): ThinkActions {
    return this.#options.getActions?.(agent) ?? {};
  }

  getMessengers(): ThinkMessengers {
    return this.#options.messengers?.(this) ?? { fake: this.messenger(this.#options.messenger) };
  }
}
