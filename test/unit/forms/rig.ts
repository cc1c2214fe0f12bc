import { sayIn } from "../../../src/core/text/bot-texts.ts";
import type { BotTexts } from "../../../src/core/text/bot-texts.ts";
import type { CallbackButton, CardContent } from "../../../src/core/message/content.ts";
import type {
  Form,
  FormContext,
  FormEvent,
  FormMessage,
  FormState,
  FormStep,
} from "../../../src/forms/form.ts";
import { formCard } from "../../../src/forms/form-card.ts";
import { formOf } from "../../../src/forms/form-of.ts";
import type { FormOptions } from "../../../src/forms/form-of.ts";
import { stepForm } from "../../../src/forms/step-form.ts";

/** A Wednesday. */
export const NOW = Date.UTC(2026, 10, 25, 10, 30);

export function contextOf(more: Partial<FormContext> & { readonly texts?: BotTexts } = {}): FormContext {
  const { texts = {}, ...others } = more;
  return {
    message: "A question",
    say: sayIn(texts, others.language),
    language: undefined,
    timeZone: "Europe/Berlin",
    now: NOW,
    isPrivate: true,
    surface: { buttons: true },
    payloadOf: (press) => ({ ...press }),
    ...others,
  };
}

export async function formFor(schema: Parameters<typeof formOf>[0], options?: FormOptions): Promise<Form> {
  const found = await formOf(schema, options);
  if (found.kind !== "form") throw new Error(`unsupported: ${found.path}`);
  return found.form;
}

export function message(text: string, more: Partial<FormMessage> = {}): FormEvent {
  return { kind: "message", message: { messengerId: "telegram", text, ...more } };
}

export function buttonsOf(card: CardContent): CallbackButton[] {
  return (card.buttons ?? []).flat().flatMap((button) => (button.kind === "callback" ? [button] : []));
}

/** A person who reads the card and answers it. */
export class Reader {
  readonly form: Form;
  readonly context: FormContext;
  state: FormState;
  last: FormStep | undefined;

  constructor(form: Form, state: FormState, context: FormContext = contextOf()) {
    this.form = form;
    this.state = state;
    this.context = context;
  }

  get card(): CardContent {
    return formCard(this.form, this.state, this.context);
  }

  get labels(): string[] {
    return buttonsOf(this.card).map(({ label }) => label);
  }

  press(label: string): this {
    const button = buttonsOf(this.card).find((one) => one.label === label);
    if (button === undefined) throw new Error(`no button "${label}" among ${this.labels.join(", ")}`);
    return this.hear({ kind: "press", press: button.payload });
  }

  write(text: string, more: Partial<FormMessage> = {}): this {
    return this.hear(message(text, more));
  }

  hear(event: FormEvent): this {
    this.last = stepForm(this.form, this.state, event, this.context);
    this.state = this.last.state;
    return this;
  }
}
