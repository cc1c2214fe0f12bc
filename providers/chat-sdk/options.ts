import type { Adapter } from "chat";
import { checkOptions, FLAG, FUNCTION, isText, listOf, TEXT } from "../../src/core/json/check-options.ts";
import type { OptionRules } from "../../src/core/json/check-options.ts";
import { ConfigurationError } from "../../src/core/base/errors.ts";
import { commonOptions, MESSENGER_OPTION_NAMES } from "../../src/core/chat/messenger-options.ts";
import type { MessengerOptions, VerifyWebhook } from "../../src/core/chat/messenger.ts";
import type { MessengerCapabilities } from "../../src/core/chat/messenger-event.ts";
import { pacingFrom } from "../../src/core/chat/pacing.ts";
import type { FileCapabilities, Pacing } from "../../src/core/chat/surface.ts";
import { profileOf } from "./adapters/known-adapters.ts";
import { type ChooseTemplate, Templates } from "./templates.ts";
import type { ChatSdkUpdateContext } from "./events/updates.ts";

/**
 * An adapter of the Chat SDK. Each adapter has a version of the SDK of its own, whose types differ from all others, so
 * only these members are compared.
 */
export interface ChatSdkAdapter {
  readonly name: string;
  readonly userName: string;
  handleWebhook(request: Request, ...options: never[]): Promise<Response>;
  postMessage(threadId: string, ...message: never[]): Promise<unknown>;
}

/** Options of `chatSdkMessenger`, in addition to those of every messenger. */
export interface ChatSdkMessengerOptions extends MessengerOptions {
  /**
   * Any Chat SDK adapter, with its credentials. Each messenger needs its own. Its logger is replaced by one that writes
   * no message text and no token.
   */
  readonly adapter: ChatSdkAdapter;
  /** Name of the platform in events and logs. @default the adapter's name */
  readonly provider?: string;
  /** Name of the bot, without `@`. @default the adapter's own */
  readonly userName?: string;
  /**
   * Abilities of the platform that differ from the defaults. Those of Slack, Discord, Teams, WhatsApp, Google Chat,
   * GitHub and Linear are known by the adapter's name. For any other adapter the defaults are everything, and 2000
   * characters a message.
   */
  readonly capabilities?: Partial<MessengerCapabilities>;
  /**
   * Files that the bot can send; `false` if the platform takes none. Adapters take whole files, so each is in memory
   * while it is sent. `maxAlbumSize` is the number of files in one message.
   *
   * @default one file of 10 MiB in a message (WhatsApp: pictures of 5 MiB; Teams: only pictures, of
   *   1 MB); on GitHub, Linear and Google Chat `false`
   */
  readonly files?: ChatSdkFiles | false;
  /**
   * Rates of calls that differ from the defaults: for each chat 5 calls at once and then one a second, for the whole
   * bot 20 a second (GitHub and Linear: one a second).
   */
  readonly pacing?: Partial<Pacing>;
  /**
   * Hosts from which files are fetched by address, beside the platform's own: names, or `*.example.com` for all names
   * below one. @default every public host
   */
  readonly attachmentHosts?: readonly string[];
  /**
   * Chooses the shard that keeps a key of the adapter's state; each is an object of its own. `undefined`: the root keeps
   * it, as it does all tokens. @default the root keeps everything
   */
  readonly keyShard?: (key: string) => string | undefined;
  /** Chooses the shard for the keys that belong to a thread. @default as `keyShard` says */
  readonly shardKey?: (threadId: string) => string;
  /**
   * The name of the root that keeps the adapter's state, for a bot with several roots. All of them then know every
   * installation. @default the root that got the webhook
   */
  readonly stateRoot?: string;
  /**
   * Whether people's reactions reach the bot's `onReaction`. The platform must send them to the webhook.
   * @default false
   */
  readonly reactions?: boolean;
  /**
   * Called for events that Switchboard does not handle, such as a form that was sent. By then the webhook is answered,
   * so the bot cannot answer with errors of a form.
   *
   * Runs in the object of the event's chat. Events without a chat have an object of their own. Runs at least once for
   * each event: if the process dies meanwhile, it runs again with the same `key`. If it throws or takes longer than 30
   * seconds, the log says so, and it does not run again. @default such events are counted and ignored
   *
   * @example
   * onUpdate: async ({ update }) => {
   *   if (update.kind === "modal submitted") await this.say(`New order: ${update.values?.dish}`, kitchen);
   * }
   */
  readonly onUpdate?: (context: ChatSdkUpdateContext) => void | Promise<void>;
  /**
   * Serves the pages on which people add the app to their workspace, for an adapter with `clientId` and `clientSecret`:
   * `/messengers/{id}/install`, and `/messengers/{id}/install/callback` for the platform's settings. Slack and Linear.
   *
   * @default no pages
   */
  readonly install?: InstallOptions;
  /**
   * Returns the approved template that is sent in place of a message where the platform takes no other one, because the
   * person has not written for too long (WhatsApp: 24 hours). `undefined`: none, and the message ends with
   * `window-closed`. The bot then notes when people write.
   *
   * @default such messages end with `window-closed`
   * @example
   * template: ({ text }) => ({
   *   name: "news",
   *   language: "en",
   *   components: [{ type: "body", parameters: [{ type: "text", text: text.replaceAll(/\s+/g, " ") }] }],
   * })
   */
  readonly template?: ChooseTemplate;
  /**
   * Names of the commands that the platform tells by a number alone, by that number: Google Chat's quick commands, from 1
   * to 1000. A command without a name here is left alone, and the log says so. @default none
   *
   * @example
   * quickCommands: { 1: "help", 2: "new" }
   */
  readonly quickCommands?: Readonly<Record<number, string>>;
  /**
   * A function that verifies each request, or `false` to rely on the adapter. Most adapters check signatures, but not
   * all of them, and not in every configuration.
   */
  readonly verifyWebhook: VerifyWebhook | false;
}

export interface InstallOptions {
  /** Rights that the app asks for. @default what the bot needs to read, answer and send files */
  readonly scopes?: readonly string[];
  /** The address of the callback, as the platform knows it. @default the address of the request, with the callback's path */
  readonly redirectUri?: string;
}

export interface ChatSdkFiles {
  /** From 1 to 52,428,800. @default 10,485,760 */
  readonly maxBytes?: number;
  /** From 1 to 10. @default 1 */
  readonly maxAlbumSize?: number;
}

/** The options after they were checked. */
export interface ChatSdkSettings {
  readonly adapter: Adapter;
  readonly provider: string;
  readonly userName: string;
  readonly capabilities: MessengerCapabilities;
  readonly pacing: Pacing;
  /** Undefined if the platform takes no files. */
  readonly files: FileCapabilities | undefined;
  readonly attachmentHosts: readonly string[] | undefined;
  readonly keyShard: ChatSdkMessengerOptions["keyShard"];
  readonly shardKey: ChatSdkMessengerOptions["shardKey"];
  readonly stateRoot: string | undefined;
  readonly reactions: boolean;
  readonly onUpdate: ChatSdkMessengerOptions["onUpdate"];
  readonly install: InstallOptions | undefined;
  readonly templates: Templates | undefined;
  /** Names of commands by their numbers. */
  readonly quickCommands: Readonly<Record<string, string>>;
}

const capabilityRules: OptionRules<MessengerCapabilities> = {
  canEditMessages: FLAG,
  canStream: FLAG,
  maxMessageLength: true,
  supportsActions: FLAG,
  supportsAttachments: FLAG,
};

const optionRules: OptionRules<ChatSdkMessengerOptions> = {
  ...MESSENGER_OPTION_NAMES,
  adapter: true,
  provider: TEXT,
  userName: TEXT,
  capabilities: capabilityRules,
  files: true,
  pacing: true,
  attachmentHosts: listOf('a list of hosts, such as ["files.example.com"]', isText),
  keyShard: FUNCTION,
  shardKey: FUNCTION,
  install: { scopes: listOf('a list of scopes, such as ["chat:write"]', isText), redirectUri: TEXT },
  stateRoot: [
    'the name of a root, without "/"',
    (value) => isText(value) && value !== "" && !value.includes("/"),
  ],
  reactions: FLAG,
  onUpdate: FUNCTION,
  template: FUNCTION,
  quickCommands: true,
};

const defaultCapabilities: MessengerCapabilities = {
  canEditMessages: true,
  canStream: true,
  maxMessageLength: 2000,
  supportsActions: true,
  supportsAttachments: true,
};

const fileNames: OptionRules<ChatSdkFiles> = { maxBytes: true, maxAlbumSize: true };
/** Largest file that most platforms accept from a bot. */
const DEFAULT_FILE_BYTES = 10 * 1024 * 1024;
/** The most that Switchboard stores. */
const MOST_FILE_BYTES = 50 * 1024 * 1024;
const MOST_FILES = 10;
/** A call with a file ends after this long. */
const FILE_CALL_MS = 60_000;

const defaultPacing: Pacing = {
  direct: { burst: 5, everyMs: 1000 },
  group: { burst: 5, everyMs: 1000 },
  global: { burst: 20, everyMs: 50 },
};

/**
 * Checks the options before anything runs.
 * @throws {ConfigurationError} when an option is missing or cannot work; the message tells the fix
 */
export function parseChatSdkOptions(options: ChatSdkMessengerOptions): ChatSdkSettings {
  const owner = "chatSdkMessenger";
  checkOptions<ChatSdkMessengerOptions>(options, optionRules, { owner });
  const given: Partial<ChatSdkAdapter> | undefined = options.adapter;
  if (typeof given?.handleWebhook !== "function" || typeof given.postMessage !== "function") {
    throw new ConfigurationError(
      "chat-sdk-adapter-missing",
      "chatSdkMessenger needs `adapter`. Set it to a Chat SDK adapter, such as createSlackAdapter({ ... }).",
    );
  }
  const adapter = adapterOf(options);
  const profile = profileOf(adapter.name);
  const verifyWebhook: unknown = options.verifyWebhook;
  if (typeof verifyWebhook !== "function" && verifyWebhook !== false) {
    throw new ConfigurationError(
      "chat-sdk-verification-missing",
      "chatSdkMessenger needs `verifyWebhook`. Set it to a function that verifies each request, or to `false` if the adapter verifies them itself.",
    );
  }
  const mistake = profile.findMistake?.(adapter);
  if (mistake !== undefined)
    throw new ConfigurationError(
      "chat-sdk-adapter",
      `chatSdkMessenger's \`adapter\` cannot work. ${mistake}`,
    );
  const maxLength = options.capabilities?.maxMessageLength;
  if (maxLength !== undefined && !(Number.isInteger(maxLength) && maxLength > 0)) {
    throw new ConfigurationError(
      "chat-sdk-capabilities",
      `chatSdkMessenger's \`capabilities.maxMessageLength\` is ${String(maxLength)}. Set it to a whole number above 0.`,
    );
  }
  return {
    adapter,
    provider: options.provider ?? adapter.name,
    userName: options.userName?.replace(/^@/, "") || adapter.userName,
    capabilities: {
      ...defaultCapabilities,
      ...profile.capabilities,
      ...profile.capabilitiesOf?.(adapter),
      ...options.capabilities,
    },
    pacing: pacingFrom(owner, { ...defaultPacing, ...profile.pacing }, options.pacing),
    files: filesOf(options),
    attachmentHosts: options.attachmentHosts,
    keyShard: options.keyShard,
    shardKey: options.shardKey,
    stateRoot: options.stateRoot,
    reactions: options.reactions === true,
    onUpdate: options.onUpdate,
    install: installOf(options),
    templates: templatesOf(options),
    quickCommands: quickCommandsOf(options),
  };
}

/** The versions of the SDK differ in types that no call of ours depends on. */
function adapterOf({ adapter }: ChatSdkMessengerOptions): Adapter {
  return adapter as unknown as Adapter;
}

function templatesOf({ adapter, template }: ChatSdkMessengerOptions): Templates | undefined {
  if (template === undefined) return undefined;
  const { window } = profileOf(adapter.name);
  if (window !== undefined) return new Templates(template, window);
  throw new ConfigurationError(
    "chat-sdk-template",
    "chatSdkMessenger's `template` needs an adapter of WhatsApp. Leave `template` out for any other.",
  );
}

function quickCommandsOf({
  adapter,
  quickCommands = {},
}: ChatSdkMessengerOptions): ChatSdkSettings["quickCommands"] {
  const entries = Object.entries<unknown>(quickCommands);
  const isValid = entries.every(
    ([number, name]) =>
      /^[1-9]\d{0,2}$|^1000$/.test(number) && typeof name === "string" && /^[a-z]\w{0,31}$/.test(name),
  );
  if (isValid && (entries.length === 0 || profileOf(adapter.name).numbersCommands === true))
    return quickCommands;
  throw new ConfigurationError(
    "chat-sdk-quick-commands",
    'chatSdkMessenger\'s `quickCommands` needs an adapter of Google Chat, and names of commands by their numbers from 1 to 1000, such as { 1: "help" }.',
  );
}

function installOf(options: ChatSdkMessengerOptions): InstallOptions | undefined {
  const { install } = options;
  const adapter = adapterOf(options);
  const rules = profileOf(adapter.name).installations;
  if (install === undefined || (rules?.page !== undefined && rules.isUsed(adapter))) return install;
  throw new ConfigurationError(
    "chat-sdk-install",
    "chatSdkMessenger's `install` needs an adapter of Slack or Linear with `clientId` and `clientSecret`, and without a token. Leave `install` out for any other.",
  );
}

function filesOf({ adapter, files }: ChatSdkMessengerOptions): FileCapabilities | undefined {
  const { hasCaptions = true, maxFileBytes, photoTypes, sendsFiles = true } = profileOf(adapter.name);
  if (files === false || (files === undefined && !sendsFiles)) return undefined;
  checkOptions<ChatSdkFiles>(files, fileNames, { owner: "chatSdkMessenger", at: "files" });
  const { maxAlbumSize = 1, maxBytes: ownMaxBytes } = files ?? {};
  const maxBytes = ownMaxBytes ?? DEFAULT_FILE_BYTES;
  checkCount("files.maxBytes", maxBytes, MOST_FILE_BYTES);
  checkCount("files.maxAlbumSize", maxAlbumSize, MOST_FILES);
  return {
    maxBytes(kind) {
      const most = maxFileBytes?.[kind];
      return most === 0 ? 0 : (ownMaxBytes ?? most ?? maxBytes);
    },
    maxAlbumSize,
    ...(photoTypes !== undefined && { photoTypes }),
    hasCaptions,
    callTimeoutMs: FILE_CALL_MS,
    references: false,
  };
}

function checkCount(name: string, value: number, most: number): void {
  if (Number.isInteger(value) && value > 0 && value <= most) return;
  throw new ConfigurationError(
    "chat-sdk-files",
    `chatSdkMessenger's \`${name}\` is ${String(value)}. Set it to a whole number from 1 to ${most}.`,
  );
}

/** Returns the options that every messenger has. The adapter's name tells two messengers apart. */
export function messengerOptionsOf(options: ChatSdkMessengerOptions): MessengerOptions {
  return { ...commonOptions(options), adapterName: options.adapterName ?? options.adapter.name };
}
