import { POSITIVE, TEXT } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";

export interface UndoOptions {
  /** Time in which people can undo, in milliseconds. @default 600000 (10 minutes) */
  readonly undoForMs?: number;
  /** Texts that people read. @default English */
  readonly texts?: Partial<UndoTexts>;
}

/** Names in braces stand for values. */
export interface UndoTexts {
  /** @default "Undo" */
  readonly button: string;
  /** The card, with the calls in words. @default "Done: {what}" */
  readonly offer: string;
  /** @default "Undone: {what}" */
  readonly undone: string;
  /** @default "I couldn't undo this: {what}. {why}" */
  readonly failed: string;
  /** The process died in the middle. @default "I don't know whether this is undone: {what}. Please check." */
  readonly unknown: string;
  /** A reason in `failed`. @default "You are not allowed to." */
  readonly notAllowed: string;
  /** A reason in `failed`. @default "It is still running." */
  readonly running: string;
  /** For other people. @default "Only the person who asked for this, or agreed to it, can undo it." */
  readonly notYours: string;
  /** @default "It's too late to undo this." */
  readonly late: string;
  /** @default "This is undone already." */
  readonly twice: string;
}

export const ENGLISH: UndoTexts = {
  button: "Undo",
  offer: "Done: {what}",
  undone: "Undone: {what}",
  failed: "I couldn't undo this: {what}. {why}",
  unknown: "I don't know whether this is undone: {what}. Please check.",
  notAllowed: "You are not allowed to.",
  running: "It is still running.",
  notYours: "Only the person who asked for this, or agreed to it, can undo it.",
  late: "It's too late to undo this.",
  twice: "This is undone already.",
};

export const OPTIONS: OptionRules<UndoOptions> = {
  undoForMs: POSITIVE,
  texts: {
    button: TEXT,
    offer: TEXT,
    undone: TEXT,
    failed: TEXT,
    unknown: TEXT,
    notAllowed: TEXT,
    running: TEXT,
    notYours: TEXT,
    late: TEXT,
    twice: TEXT,
  },
};
