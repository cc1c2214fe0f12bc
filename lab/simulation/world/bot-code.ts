import type { AgentMethods } from "../../../src/agent/agent-methods.ts";
import { wait } from "../../../src/core/base/deps.ts";
import type { MessengerDefinition } from "../../../src/core/chat/messenger.ts";
import type { Clock } from "../../../src/core/base/deps.ts";
import type {
  CardButton,
  CardContent,
  FilesContent,
  LocationContent,
  OutgoingFile,
} from "../../../src/core/message/content.ts";
import type { CardPress, PressAnswer } from "../../../src/core/chat/card-press.ts";
import type { ThinkCommands } from "../../../src/messengers/declare/commands.ts";
import type { Cards } from "../../../src/messengers/replies/cards.ts";
import type { Life } from "../machine/life.ts";
import type { Mutant, OnAction } from "../machine/mutant.ts";
import type { Oracle } from "../oracle/oracle.ts";
import type { Proposal } from "../oracle/approval-watch.ts";
import { nameOfPress } from "../oracle/press-watch.ts";
import { pictureOf } from "../plan/card-picture.ts";
import { botActions } from "./bot-actions.ts";
import { childAgent, childTools, PARENT_MEMBERS, plannedChildren } from "./child-bot.ts";
import type { PlannedChild } from "../oracle/child-watch.ts";
import { CodeBot, codeActions, plannedCode } from "./code-bot.ts";
import type { PlannedCode } from "../oracle/code-watch.ts";
import { plannedExtensions } from "./extension-bot.ts";
import type { Plan, PlanItem } from "../plan/plan.ts";

type PlannedAlbum = Extract<PlanItem, { kind: "album" }>;
type PlannedPress = Extract<PlanItem, { kind: "press-card" | "type-number" }>;

const SLOW_MS = 12_000;
/** The words of a card that is one message, and of one that is several. */
const WORDS = { short: 4, long: 36 };

/** The bot's own code as far as it has to do with cards: what they say, and what becomes of their presses. */
export class BotCode {
  readonly #oracle: Oracle;
  readonly #presses: ReadonlyMap<string, PlannedPress>;
  readonly #proposals: readonly Proposal[];
  readonly #codes: readonly PlannedCode[];
  readonly #children: readonly PlannedChild[];
  readonly #hasPictures: boolean;
  readonly #albums: ReadonlyMap<string, PlannedAlbum>;
  readonly #versions = new Map<string, number>();

  constructor({ items, platform }: Pick<Plan, "items" | "platform">, oracle: Oracle) {
    this.#oracle = oracle;
    this.#codes = plannedCode(items);
    this.#children = plannedChildren(items);
    const ofExtensions = new Set(plannedExtensions(items).map(({ token }) => token));
    this.#proposals = items.filter(
      (item): item is Proposal => item.kind === "proposal" && !ofExtensions.has(item.token),
    );
    this.#hasPictures = platform === "telegram";
    const presses = items.filter(
      (item): item is PlannedPress => item.kind === "press-card" || item.kind === "type-number",
    );
    const albums = items.filter((item): item is PlannedAlbum => item.kind === "album");
    this.#albums = new Map(albums.map((album) => [album.token, album]));
    this.#presses = new Map(presses.map((press) => [press.token, press]));
  }

  /** The bot's own class, in a process with these cards. */
  agent(
    messenger: MessengerDefinition,
    cards: () => Cards,
    life: Life,
    mutant: Mutant | undefined,
  ): AgentMethods {
    const { clock } = life;
    const code = this.#codes.length === 0 ? undefined : new CodeBot(this.#codes, clock);
    const planned = {
      ...botActions(this.#proposals, this.#oracle, life),
      ...codeActions(this.#codes, this.#oracle.code, life),
    };
    const actions = mutant?.actions?.(planned) ?? planned;
    const onAction: OnAction = (press) => this.onAction(press, cards(), clock);
    const methods: AgentMethods = {
      maxSteps: 10,
      maxContextTokens: 60_000,
      keepDeliveriesMs: 30 * 24 * 60 * 60 * 1_000,
      keepUsageMs: 0,
      keepApprovalsMs: 365 * 24 * 60 * 60 * 1_000,
      modelPrices: {},
      interruptedStep: "restart",
      chatRecovery: true,
      contextOverflow: undefined,
      chatStreamStallTimeoutMs: 30_000,
      chatStreamFirstChunkTimeoutMs: 30_000,
      modelPatienceMs: 0,
      modelAttempts: 2,
      sendReasoning: false,
      actionLedgerPendingRetryLeaseMs: 300_000,
      actionTemplates: false,
      approvalWords: { yes: ["yes"], no: ["no"] },
      chatSchedules: false,
      getModel: () => {
        throw new Error("The model is played.");
      },
      getSystemPrompt: () => "",
      getTools: () => ({ ...code?.tools(), ...childTools(this.#children) }),
      getActions: () => actions,
      getQuestions: () => this.#oracle.botAnswers.schemas,
      onAnswer: (answer) => life.write("answer", () => this.#oracle.botAnswers.tells(answer, life)),
      authorizeTurn: () => ({ allowed: true, people: { holders: { lead: ["7", "8"] } } }),
      authorizeAction: ({ isGranted }) => isGranted,
      getMessengers: () => ({ sim: messenger }),
      getCommands: () => this.commands(),
      getScheduledTasks: () => ({}),
      getDefaultTimezone: () => undefined,
      onAction: mutant?.onAction?.(onAction, clock) ?? onAction,
    };
    if (this.#children.length > 0) Object.assign(methods, PARENT_MEMBERS);
    return code === undefined ? methods : Object.assign(methods, { ctx: code.ctx, code });
  }

  /** The class of the agents that work for this one, in a process. */
  child(
    messenger: MessengerDefinition,
    cards: () => Cards,
    life: Life,
    mutant: Mutant | undefined,
  ): AgentMethods {
    const base = this.agent(messenger, cards, life, mutant);
    return childAgent(base, this.#children, this.#oracle.children, life, mutant);
  }

  commands(): ThinkCommands {
    return {
      card: { description: "Show a card", handler: ({ args }) => this.next(args) },
      files: { description: "Send files", handler: ({ args }) => this.album(args) },
    };
  }

  /** Files whose content is their name, or a place. */
  album(token: string): FilesContent | LocationContent {
    const planned = this.#albums.get(token);
    if (planned === undefined) throw new Error(`There is no album ${token}.`);
    const { files: count, isShared, words } = planned;
    const [, number = ""] = /(\d+)$/.exec(token) ?? [];
    const file = (index: number): OutgoingFile => {
      const name = `${isShared ? "shared" : token}.${index}`;
      return { kind: "photo", name, source: new TextEncoder().encode(name) };
    };
    const [first, ...more] = Array.from({ length: count }, (_, index) => file(index));
    if (first === undefined)
      return { kind: "location", latitude: Number(number), longitude: 1, title: `${token}w0` };
    const caption = Array.from({ length: words }, (_, index) => `${token}w${index}`).join(" ");
    return { kind: "files", files: [first, ...more], caption };
  }

  /**
   * The next version of a card. Each fourth one has no buttons, each third one is several messages. The short ones of a
   * card with an odd number have numbered options.
   */
  next(token: string): CardContent {
    const version = (this.#versions.get(token) ?? 0) + 1;
    this.#versions.set(token, version);
    const count = version % 3 === 0 ? WORDS.long : WORDS.short;
    const [first, ...rest] = Array.from({ length: count }, (_, index) => `${token}v${version}w${index}`);
    const button = (label: string): CardButton => {
      return { kind: "callback", label, payload: { card: token, button: label } };
    };
    const link: CardButton = { kind: "link", label: "Shop", url: "https://shop.example" };
    const buttons = version % 4 === 0 ? {} : { buttons: [[button("keep"), button(`v${version}`)], [link]] };
    const isNumbered = Number(token.slice(1)) % 2 === 1 && count === WORDS.short;
    const picture = this.#hasPictures ? pictureOf(token, version) : undefined;
    const image = picture?.kind === "bytes" ? new TextEncoder().encode(picture.name) : undefined;
    return {
      kind: "card",
      text: `**${first ?? ""}** ${rest.join(" ")}`,
      ...(picture !== undefined && { image: image ?? { url: picture.name } }),
      ...buttons,
      ...(isNumbered && { numbered: true }),
    };
  }

  async onAction(press: CardPress, cards: Cards, clock: Clock): Promise<PressAnswer> {
    this.#oracle.presses.begins(press);
    const { manner } = this.#presses.get(nameOfPress(press.event)) ?? {};
    const { card } = press.payload as { readonly card: string };
    switch (manner) {
      case "toast":
        return "done";
      case "alert":
        return { text: "done", alert: true };
      case "slow":
        await wait(clock, SLOW_MS);
        return "done late";
      case "hang":
        return new Promise(() => {});
      case "throws":
        this.#oracle.presses.throws(press);
        throw new Error("The handler fails.");
      case "revises":
        await cards.reviseWhenReady(press.cardId, this.next(card));
        return "revised";
      case "removes":
        cards.remove(press.cardId);
        return "removed";
      case "nothing":
      case undefined:
        return undefined;
      default:
        return manner satisfies never;
    }
  }
}
