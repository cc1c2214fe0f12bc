import type { SkillScriptRunner, SkillSource } from "agents/skills";
import type { UIMessage } from "ai";
import { Agent } from "agents";
import type { ThinkActions } from "./actions/declare/action.ts";
import type {
  ActionAuthorization,
  ActionCallContext,
  ActionTurnContext,
} from "./actions/declare/authorize.ts";
import { APPROVAL_WORDS } from "./core/action/decision-word.ts";
import type { ApprovalWords } from "./core/action/decision-word.ts";
import type { IndexedApproval } from "./approvals/rules/approval-index.ts";
import type { BotTexts } from "./core/text/bot-texts.ts";
import type { CardPress, PressAnswer } from "./core/chat/card-press.ts";
import type { AttachmentSurface, StoredAttachment } from "./core/message/reply-attachment.ts";
import type { Content } from "./core/message/content.ts";
import type { BotAnswer } from "./core/chat/question.ts";
import type { ThinkQuestions } from "./questions/bot-methods.ts";
import { ConfigurationError } from "./core/base/errors.ts";
import type { ThinkMessengers } from "./core/chat/messenger.ts";
import type {
  ChatMemberEvent,
  FetchableAttachment,
  MessengerContext,
} from "./core/chat/messenger-context.ts";
import type { ExtensionConfig } from "./extensions/extension-config.ts";
import type { ImportedFeature } from "./feature/imported-feature.ts";
import type { Session } from "./feature/session.ts";
import type { IncomingHooks } from "./hooks/incoming-hooks.ts";
import type { ThinkChannels } from "./messengers/declare/channels.ts";
import type { ThinkCommands } from "./messengers/declare/commands.ts";
import { attachmentContent } from "./messengers/replies/attachment-content.ts";
import type { ModelPrices } from "./core/turn/used-tokens.ts";
import type { ThinkModel } from "./agent/agent-methods.ts";
import type * as hook from "./turn/hooks.ts";
import type { Address } from "./core/chat/surface.ts";
import type { ChatScheduleOptions } from "./schedules/rules/chat-schedule.ts";
import type { ThinkScheduledTasks } from "./schedules/rules/scheduled-task.ts";
import type { QuietHours } from "./scheduled-runs/quiet-hours.ts";
import type { ThinkTools } from "./turn/tools/bot-tools.ts";
import type {
  ChatRecoveryConfig,
  ChatRecoveryContext,
  ChatRecoveryOptions,
  ContextOverflowOptions,
} from "./turn/recovery/recovery-settings.ts";

/** The members of `Think` that a bot can override: its settings, what it consists of, and its hooks. */
export abstract class ThinkMembers<Env extends Cloudflare.Env = Cloudflare.Env, State = unknown>
  extends Agent<Env, State>
  implements Partial<hook.ThinkHooks>
{
  /**
   * Makes the bot's actions tools for other agents, at `/mcp`: the result of `mcpServer()` of `switchboard/mcp`. Undefined:
   * the bot has no such address.
   */
  static mcpServer: ImportedFeature | undefined = undefined;
  /** Gives the model tools of MCP servers: the result of `mcpClient()` of `switchboard/mcp-client`. Undefined: none. */
  static mcpClient: ImportedFeature | undefined = undefined;
  /** Sends turns as spans to a collector of OpenTelemetry: the result of `telemetry()` of `switchboard/telemetry`. */
  static telemetry: ImportedFeature | undefined = undefined;
  /** Gives the bot memory: the result of `memory()` of `switchboard/memory`. Undefined: only the transcript. */
  static memory: ImportedFeature | undefined = undefined;
  /** Gives each conversation files: the result of `workspace()` of `switchboard/workspace`. Undefined: none. */
  static workspace: ImportedFeature | undefined = undefined;
  /** Gives the model the skills of `getSkills`: the result of `skills()` of `switchboard/skills`. Undefined: none. */
  static skills: ImportedFeature | undefined = undefined;
  /** Lets the model run code that calls tools: the result of `codemode()` of `switchboard/codemode`. Undefined: it cannot. */
  static codemode: ImportedFeature | undefined = undefined;
  /** Lets people undo what actions did: the result of `undo()` of `switchboard/undo`. Undefined: they cannot. */
  static undo: ImportedFeature | undefined = undefined;
  /** Lets the bot load tools and hooks in a sandbox: the result of `extensions()` of `switchboard/extensions`. */
  static extensions: ImportedFeature | undefined = undefined;

  /** Most model calls of one turn. */
  maxSteps = 10;
  /** About this many tokens of the transcript reach the model. Older parts are summarized, then left out. */
  maxContextTokens = 60_000;
  /**
   * Decides about the text of an interrupted model call. `"restart"`: the text is dropped and the call is made again.
   * `"continue"`: the text is kept and the model continues it, for models that support this.
   */
  interruptedStep: "restart" | "continue" = "restart";
  /**
   * Longest silence of a model in the middle of its answer, in milliseconds. Visible thinking is not silence. After
   * that the call has failed. If it is made again, it must begin to answer within the same time. `0` waits forever.
   */
  chatStreamStallTimeoutMs = 30_000;
  /** Longest silence of a model before the first part of its answer, in milliseconds. `0` waits forever. */
  chatStreamFirstChunkTimeoutMs = 120_000;
  /**
   * How long one turn waits in total for a model server that is busy or away, in milliseconds. If a server asks for
   * more time, the turn does not wait. `0` gives up at the first failure.
   */
  modelPatienceMs = 120_000;
  /** Most attempts of a model call that fails in the middle of its answer. `1` never repeats it. */
  modelAttempts = 2;
  /**
   * How turns go on after the process died in the middle of them: with an object, its limits and what people read when
   * one is reached.
   */
  chatRecovery: true | ChatRecoveryConfig = true;
  /**
   * What is done when a model refuses a transcript as too long.
   *
   * @default the older part is summarized, and the call made again, once in a turn
   */
  contextOverflow: ContextOverflowOptions | undefined = undefined;
  /** Most runs of other agents that this agent may have at once: see `agentTool`. */
  override maxConcurrentAgentTools = 5;
  /** How deep agents may call each other. `1`: an agent that is a tool has none itself. */
  maxAgentToolDepth = 3;
  /** Whether the callback of `chat()` gets the model's reasoning. */
  sendReasoning = true;
  /**
   * Age at which a run of an action counts as interrupted, in milliseconds. A run of an object that has restarted
   * counts as interrupted at once. Only actions with an `idempotencyKey` are then repeated; `false` repeats none.
   */
  actionLedgerPendingRetryLeaseMs: number | false = 300_000;
  /**
   * Whether arguments of actions may name earlier values, which are filled in before the arguments are checked:
   * `{{calls[0].id}}` is of the output of the turn's first call, `{{shortTermMemory.cartId}}` of `ctx.shortTermMemory`.
   * Tell the model so in the system prompt. People's words in arguments may hold such a template, too.
   */
  actionTemplates = false;
  /**
   * The words that decide about an approval when a person writes one of them in a reply to its card.
   *
   * @default yes and no in several languages
   */
  approvalWords: ApprovalWords = APPROVAL_WORDS;

  /** Whether people have the commands `/subscribe` and `/unsubscribe`, for broadcasts to `"subscribers"`. */
  subscribeCommands = false;
  /**
   * The bot's address on the internet, such as `https://bot.example.com`. With it, drafts of e-mails have a button that
   * opens the mail program, by way of the page `/messengers/mail`.
   */
  publicUrl: string | undefined = undefined;

  /**
   * Whether people may make reminders and digests in the chat. The model then has the actions `remind_me`,
   * `schedule_digest`, `list_schedules`, `change_schedule`, `pause_schedule`, `cancel_schedule` and `run_schedule_now`,
   * and people have `/schedules`.
   *
   * @default false
   */
  chatSchedules: boolean | ChatScheduleOptions = false;

  /** How long receipts are kept, in milliseconds. */
  keepDeliveriesMs = 30 * 24 * 60 * 60 * 1000;
  /** How long the tokens of turns are kept for `usage()`, in milliseconds. `0` keeps none. */
  keepUsageMs = 0;
  /**
   * The texts that people read and no model writes, in one language or in several: `german` of `switchboard/texts`, or
   * `{ approveButton: { en: "Approve", de: "Freigeben" } }`. A card is in the language of the person who asked, a
   * private answer in that of the person who pressed. A messenger's `delivery` and the words of `getCommands()` win over
   * them.
   *
   * @default English
   */
  texts: BotTexts = {};
  /** How long approvals and grants are kept after their end, for audits, in milliseconds. @default 365 days */
  keepApprovalsMs = 365 * 24 * 60 * 60 * 1000;
  /** Prices of models by id, for one million tokens each. With them, turns and `usage()` have a `cost`. */
  modelPrices: ModelPrices = {};

  /**
   * Returns the model: an AI SDK `LanguageModel`, or the id of a Workers AI model. Called before every model call.
   *
   * With `{ models: [first, fallback] }` the next model is asked if one fails before its first word.
   *
   * @throws {ConfigurationError} unless overridden
   */
  getModel(): ThinkModel {
    throw new ConfigurationError(
      "model-missing",
      `${this.constructor.name} has no model. Override getModel(), for example: getModel() { return modelFromEnv(this.env); }`,
    );
  }

  /** @default a short prompt for a careful assistant */
  getSystemPrompt(): string | Promise<string> {
    return "You are a careful assistant in a chat. Answer what was asked, briefly and plainly. Use your tools for facts you do not know, and say so when you do not know something.";
  }

  /**
   * Returns AI SDK tools. A tool that changes nothing can have `annotations: { readOnly: true }`. A tool that may
   * safely run twice can have `recovery: "rerun"`. A tool with `needsApproval` asks people before it runs. Each needs
   * an `execute`, unless the model's provider runs it.
   *
   * @default none
   */
  getTools(): ThinkTools | Promise<ThinkTools> {
    return {};
  }

  /**
   * Returns actions: tools whose effects happen once. They may need a permission or a person's consent. See `action`.
   *
   * @default none
   */
  getActions(): ThinkActions {
    return {};
  }

  /**
   * Decides the permissions of a turn. It is called once for each person whose messages the turn answers, and the turn
   * has the permissions that all of them have. It is called again right before an approved action runs. If it throws,
   * nothing is allowed.
   *
   * @default everything is allowed
   */
  authorizeTurn(_context: ActionTurnContext): ActionAuthorization {
    return true;
  }

  /**
   * Decides about one call of an action, for each person whose messages the turn answers. If it throws, the call does
   * not run.
   *
   * @default whether the turn has the permissions that the action requires: `context.isGranted`
   */
  authorizeAction(context: ActionCallContext): ActionAuthorization {
    return context.isGranted;
  }

  /** Before the first model call of a turn. May change what the turn uses. */
  beforeTurn?(context: hook.TurnContext): hook.TurnConfig | void | Promise<hook.TurnConfig | void>;

  /** Before each model call. May change what the call uses. */
  beforeStep?(context: hook.PrepareStepContext): hook.StepConfig | void | Promise<hook.StepConfig | void>;

  /** Before a tool runs. May change its input, block it, or answer in its place. */
  beforeToolCall?(
    context: hook.ToolCallContext,
  ): hook.ToolCallDecision | void | Promise<hook.ToolCallDecision | void>;

  /** After each tool call, also one that did not run. */
  afterToolCall?(context: hook.ToolCallResultContext): void | Promise<void>;

  /** After each model call, before its tools run. */
  onStepFinish?(context: hook.StepContext): void | Promise<void>;

  /** For each piece that the model streams. */
  onChunk?(context: hook.ChunkContext): void | Promise<void>;

  /** After a turn has ended and its answer is stored. */
  onChatResponse?(result: hook.ChatResponseResult): void | Promise<void>;

  /** When a turn fails. Returns the error that `onChatResponse` gets; nobody in a chat sees it. */
  onChatError?(error: unknown, context: hook.ChatErrorContext): unknown;

  /**
   * When a model call fails, with the provider's own error. Names its kind, which decides what happens next.
   * `defaultContextOverflowClassifier` knows the errors of common providers.
   */
  classifyChatError?(
    error: unknown,
    context: hook.ChatErrorContext,
  ): hook.ChatErrorClassification | void | Promise<hook.ChatErrorClassification | void>;

  /** When a turn goes on after the process died while the model was answering. May end it, or begin the call anew. */
  onChatRecovery?(
    context: ChatRecoveryContext,
  ): ChatRecoveryOptions | void | Promise<ChatRecoveryOptions | void>;

  /**
   * Returns what the model reads of a tool call that was interrupted and must not run again: a failed call, which may
   * or may not have had its effect. Called for each model call; nothing is stored.
   *
   * @default the part as it is
   */
  protected repairInterruptedToolPart(part: UIMessage["parts"][number]): UIMessage["parts"][number] {
    return part;
  }

  /**
   * Called when an action asks for consent, in the conversation that asks: to tell a dashboard, for example. At least
   * once for each request; `executionId` tells repetitions. If it throws, the log says so, and people are asked anyway.
   */
  onApprovalRequested?(approval: IndexedApproval): void | Promise<void>;

  /**
   * The schemas of questions of `questions.ask`, by name. An answer is checked by its schema also if it comes after a
   * restart, so schemas are declared here.
   *
   * @default none
   */
  getQuestions(): ThinkQuestions {
    return {};
  }

  /**
   * Receives the answer to a question of `questions.ask`, or the reason why there is none. Called in the object that
   * asked, at least once for each question: the same `id` may come again.
   */
  onAnswer?(answer: BotAnswer): void | Promise<void>;

  /**
   * Addresses for other systems, `POST /hooks/<id>`: a call becomes a message in a chat, or a question to its model.
   *
   * @default none
   */
  getIncomingHooks(): IncomingHooks {
    return {};
  }

  /**
   * Returns how turns behave on their channels: their instructions, tools and most steps. The id of a channel is that
   * of a messenger, `web` for turns that no chat sees, or a name that the bot's own code gives to a turn (`channel` of
   * `runTurn`, `chat` and `submitMessages`). Called once in the life of an object.
   *
   * @default none
   */
  configureChannels(): ThinkChannels {
    return {};
  }

  /**
   * Declares the memory of a conversation: blocks of the system prompt and compaction. Called once in the life of an
   * object. Needs `static memory = memory()` of `switchboard/memory`.
   *
   * @default no blocks
   * @example
   * override configureSession(session: Session) {
   *   return session.withContext("facts", { description: "Facts about this project", maxTokens: 2000 });
   * }
   */
  configureSession?(session: Session): Session | void;

  /** The skills of the model, the first source of a name wins. Needs `static skills = skills()` of `switchboard/skills`. */
  getSkills?(): readonly SkillSource[] | Promise<readonly SkillSource[]>;

  /**
   * The extensions of the bot, in the order of their hooks. Called once in the life of an object. Needs
   * `static extensions = extensions()` of `switchboard/extensions`.
   */
  getExtensions?(): readonly ExtensionConfig[];

  /** Runs scripts of skills: the result of `skills.runner()`. Without it they do not run. */
  getSkillScriptRunner?(): SkillScriptRunner | undefined;

  /** The messengers that this bot serves. @default none */
  getMessengers(): ThinkMessengers {
    return {};
  }

  /** Returns commands in addition to `/start`, `/help`, `/stop` and `/new`, or instead of them. @default none */
  getCommands(): ThinkCommands {
    return {};
  }

  /**
   * Returns tasks that run by themselves: each asks the model (`prompt`) or runs code (`handler`) whenever its schedule
   * says so. Called at every start, and by `internal_reconcileScheduledTasks()`.
   *
   * A wrong declaration is logged, named by `/health`, and changes nothing of what is stored.
   *
   * @default none
   * @example
   * override getScheduledTasks(): ThinkScheduledTasks {
   *   return {
   *     digest: {
   *       schedule: "every weekday at 09:00 in Europe/London",
   *       prompt: "Write the digest of yesterday.",
   *       deliverTo: { messenger: "telegram", chatId: "-100123" },
   *     },
   *   };
   * }
   */
  getScheduledTasks(): ThinkScheduledTasks {
    return {};
  }

  /**
   * Returns the zone of schedules that name none, and of the times on the cards of approvals, such as `Europe/London`.
   *
   * @default none: schedules must name one, and cards have UTC
   */
  getDefaultTimezone(): string | undefined {
    return undefined;
  }

  /**
   * Returns the times of day at which no digest and no broadcast is written to a chat: they wait for their end, in
   * the zone of that chat. Other chats do not wait. Reminders, notices and answers come at once. For a broadcast the
   * root calls it, for each chat.
   *
   * @default none
   */
  quietHoursOf?(chat: Address): QuietHours | undefined | Promise<QuietHours | undefined>;

  /**
   * Returns the words spoken in a voice message or an audio file. The model reads them next to the line that names the
   * file. Files that `acceptsMedia` gives to the model itself are not transcribed.
   *
   * Runs before the first model call that needs the text, and again only if the process dies before the text is stored.
   * `undefined`: there is no transcript yet, and the method is called again before the next model call. An empty text:
   * nobody speaks in the file. If it throws or takes longer than 30 seconds, the log says so and the model gets the
   * line alone.
   *
   * @default no transcripts
   * @example
   * override transcribe(audio: FetchableAttachment) {
   *   return transcriberFromEnv(this.env)?.(audio);
   * }
   */
  transcribe?(audio: FetchableAttachment): string | undefined | Promise<string | undefined>;

  /**
   * Called when the bot is added, removed, blocked or unblocked, or people join or leave a group (`event.member`). Runs
   * as `onReaction` does. Content that it returns is sent to that chat once, but not if the bot has left it.
   */
  onChatMember?(event: ChatMemberEvent): Content | undefined | void | Promise<Content | undefined | void>;

  /**
   * Called when somebody reacts to a message or takes a reaction back, if the messenger has reactions switched on
   * (`reactions` of `telegramMessenger`). Starts no turn.
   *
   * Runs in the object of the chat without a topic, whatever `conversation` returns. Runs at least once for each
   * reaction: if the process dies meanwhile, it runs again with the same `reaction.key`. If it throws or takes longer
   * than 30 seconds, the log says so, and it does not run again.
   *
   * @default reactions are ignored
   */
  onReaction?(reaction: MessengerContext): void | Promise<void>;

  /**
   * Called when a person presses a button of a card that this conversation has posted, or writes the number of its
   * option. Called at most once for a press, even across a crash. A press is acknowledged after 10 s at the latest, and
   * a handler may take 30 s.
   *
   * @default nothing
   */
  onAction(_press: CardPress): PressAnswer | Promise<PressAnswer> {
    return undefined;
  }

  /**
   * Returns the content that shows an attachment in a chat (`ctx.attachReply`), or `undefined` for nothing. Called for
   * each attachment and chat when a turn ends, and again if the process dies before the content is stored. If it throws
   * or takes longer than 30 seconds, the log says so and the usual content is sent.
   *
   * @default files, cards and places as such, a draft of an e-mail as a card, nothing for types of the bot's own
   * @example
   * override renderAttachment(attachment: StoredAttachment, surface: AttachmentSurface) {
   *   return attachment.type === "ticket" ? `Ticket ${attachment.id}` : super.renderAttachment(attachment, surface);
   * }
   */
  renderAttachment(
    attachment: StoredAttachment,
    surface: AttachmentSurface,
  ): Content | undefined | Promise<Content | undefined> {
    return attachmentContent(attachment, surface, this.publicUrl);
  }

  /** Handles requests that no sub-agent, messenger or other part of Switchboard has answered. @default 404 */
  override onRequest(_request: Request): Response | Promise<Response> {
    return new Response("Not found", { status: 404 });
  }
}
