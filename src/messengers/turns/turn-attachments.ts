import { Attachments } from "../../actions/attachments/attachments.ts";
import { unsentCode } from "../../actions/attachments/unsent-attachment.ts";
import type { Content, FilesContent } from "../../core/message/content.ts";
import type { Database } from "../../core/store/database.ts";
import type { Delivery } from "../../core/chat/delivery.ts";
import type { Deps } from "../../core/base/deps.ts";
import { failureCode } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import { FILE_KINDS } from "../../core/message/reply-attachment.ts";
import type { AttachmentSurface, StoredAttachment } from "../../core/message/reply-attachment.ts";
import type { Address, OutgoingMedia, Surface } from "../../core/chat/surface.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { replyPolicy } from "../declare/texts.ts";
import { attachmentContent, captionWithout, fileOf } from "../replies/attachment-content.ts";
import type { Cards, ReadyContent } from "../replies/cards.ts";
import type { Prompts } from "./prompts.ts";
import type { ReplyTarget } from "./reply-start.ts";

export interface TurnAttachmentsOptions {
  readonly database: Database;
  readonly deps: Pick<Deps, "clock">;
  readonly log: Log;
  readonly delivery: Pick<Delivery, "heldFiles">;
  readonly prompts: Pick<Prompts, "get">;
  readonly cards: Pick<Cards, "prepare" | "prepareOrTell" | "unsentFile" | "post">;
  readonly messengers: Pick<DeclaredMessengers, "get" | "surface">;
  /** Asks the bot for the content of an attachment. @default `attachmentContent` */
  readonly render?: RenderAttachment | undefined;
}

/** Returns the content of an attachment. Undefined: the chat shows nothing. Logs a failure, and throws. */
export type RenderAttachment = (
  turnId: string,
  attachment: StoredAttachment,
  surface: AttachmentSurface,
) => Promise<Content | undefined>;

/** The attachments of a turn as they are sent, by chat. */
export interface ReadyAttachments {
  readonly turnId: string;
  readonly messages: readonly {
    readonly id: string;
    readonly address: Address;
    readonly content: ReadyContent;
    readonly isAwaited: boolean;
  }[];
}

/**
 * Sends the attachments of turns after their text. They become rows of the outbox in the transaction that completes the
 * text, so each is sent once through crashes, in order, before the next reply.
 */
export class TurnAttachments {
  /** The attachments that actions have made. */
  readonly recorded: Attachments;
  readonly #options: TurnAttachmentsOptions;

  constructor(options: TurnAttachmentsOptions) {
    const { database, delivery, deps, log } = options;
    this.#options = options;
    this.recorded = new Attachments({
      database,
      clock: deps.clock,
      files: delivery.heldFiles,
      onRefused: (error) => log.error("attachment.refused", { code: failureCode(error) }),
    });
  }

  /** Returns the attachments of a turn, in order. Every call returns new copies. */
  of(turnId: string): StoredAttachment[] {
    return this.recorded.of(this.#ownersOf(turnId));
  }

  /** Makes the attachments of a turn ready for its chats. Undefined if there are none. Never throws. */
  async prepare(turnId: string, targets: readonly ReplyTarget[]): Promise<ReadyAttachments | undefined> {
    const attached = this.of(turnId);
    if (attached.length === 0 || targets.length === 0) return undefined;
    const messages: ReadyAttachments["messages"][number][] = [];
    for (const { address, isAwaited, replyId } of targets) {
      const surface = this.#options.messengers.surface(address.messengerId);
      const ready: ReadyContent[] = [];
      for (const attachment of attached) {
        const content = await this.#ready(turnId, attachment, address, surface);
        if (content !== undefined) ready.push(content);
      }
      const albums = inAlbums(ready, surface.capabilities.files?.maxAlbumSize ?? 1);
      messages.push(
        ...albums.map((content, index) => ({
          id: `attachment:${index}:${replyId}`,
          address,
          content,
          isAwaited,
        })),
      );
    }
    return { turnId, messages };
  }

  /** Puts attachments into the outbox. Call it in the transaction that completes the text of their reply. */
  post(ready: ReadyAttachments | undefined): void {
    if (ready === undefined) return;
    const { cards, messengers } = this.#options;
    for (const { content, ...start } of ready.messages) {
      const policy = replyPolicy(messengers.get(start.address.messengerId).delivery);
      cards.post({ ...start, policy }, content);
    }
    this.recorded.release(this.#ownersOf(ready.turnId));
  }

  /** The attachments of an action that has waited for people are shown with its outcome. */
  #ownersOf(turnId: string): readonly string[] {
    const { kind, metadata } = this.#options.prompts.get(turnId) ?? {};
    if (kind !== "outcome") return [turnId];
    const { approval, parkedCall } = metadata ?? {};
    if (typeof approval === "string") return [approvedOwner(approval), turnId];
    return typeof parkedCall === "string" ? [answeredOwner(parkedCall), turnId] : [turnId];
  }

  async #ready(
    turnId: string,
    attachment: StoredAttachment,
    address: Address,
    surface: Surface,
  ): Promise<ReadyContent | undefined> {
    const { cards, log } = this.#options;
    const { messengerId } = address;
    let code = unsentCode(attachment);
    try {
      if (code === undefined) {
        const content = await this.#content(turnId, attachment, abilitiesOf(address, surface));
        if (content === undefined) return undefined;
        if (!isFile(content)) return await cards.prepareOrTell(messengerId, content);
        for (const form of formsOf(content)) {
          try {
            return await cards.prepare(messengerId, form);
          } catch (error) {
            code = failureCode(error);
            log.warn("attachment.changed", { messenger: messengerId, code });
          }
        }
      }
    } catch (error) {
      code = failureCode(error);
      log.error("attachment.refused", { messenger: messengerId, code });
    }
    const file = fileOf(attachment);
    if (file === undefined || code === undefined) return undefined;
    const kind = FILE_KINDS[attachment.type] ?? "document";
    const unsent = cards.unsentFile(messengerId, kind, { ...file, code });
    return { kind: "stored-files", files: [unsent], caption: captionWithout(attachment) };
  }

  async #content(
    turnId: string,
    attachment: StoredAttachment,
    surface: AttachmentSurface,
  ): Promise<Content | undefined> {
    const { render } = this.#options;
    try {
      if (render !== undefined) return await render(turnId, attachment, surface);
    } catch {
      // The log has the reason. The person still gets the attachment.
    }
    return attachmentContent(attachment, surface);
  }
}

/** Returns the owner of what an approved action attaches. */
export function approvedOwner(approvalId: string): string {
  return `approval:${approvalId}`;
}

/** Returns the owner of what an action attaches that has asked people. */
export function answeredOwner(callId: string): string {
  return `question:${callId}`;
}

/** Tells whether content is one file. */
function isFile(content: Content): content is FilesContent {
  return typeof content === "object" && content.kind === "files" && content.files.length === 1;
}

/** The forms in which a file is tried: a photo that is too large is sent as a document. */
function* formsOf(content: FilesContent): Generator<Content> {
  yield content;
  const [file] = content.files;
  if (file.kind === "photo") yield { ...content, files: [{ ...file, kind: "document" }] };
}

function abilitiesOf(
  { chatId, isDirectMessage, messengerId }: Address,
  { capabilities, provider }: Surface,
): AttachmentSurface {
  return {
    messengerId,
    provider,
    chatId,
    isDirectMessage,
    files: capabilities.files !== undefined,
    buttons: capabilities.buttons,
    copyButtons: capabilities.copyButtons === true,
    location: capabilities.location === true,
  };
}

/** Joins pictures and videos that follow each other into albums. */
function inAlbums(ready: readonly ReadyContent[], maxAlbumSize: number): ReadyContent[] {
  const joined: ReadyContent[] = [];
  for (const content of ready) {
    const files = pictures(content);
    const before = joined.at(-1);
    const album = before === undefined ? undefined : pictures(before);
    if (files === undefined || album === undefined || album.length + files.length > maxAlbumSize) {
      joined.push(content);
      continue;
    }
    const caption = [captionOf(before), captionOf(content)].filter((text) => text !== "").join("\n\n");
    joined[joined.length - 1] = { kind: "stored-files", files: [...album, ...files], caption };
  }
  return joined;
}

function pictures(content: ReadyContent): readonly OutgoingMedia[] | undefined {
  if (typeof content !== "object" || content.kind !== "stored-files") return undefined;
  const isPicture = ({ kind, refusal }: OutgoingMedia): boolean =>
    refusal === undefined && (kind === "photo" || kind === "video");
  return content.files.every(isPicture) ? content.files : undefined;
}

function captionOf(content: ReadyContent | undefined): string {
  return typeof content === "object" && content.kind === "stored-files" ? content.caption : "";
}
