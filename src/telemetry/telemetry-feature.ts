import { sha256Now } from "../core/bytes/sha256.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { createSecretHider } from "../log/hide-secrets.ts";
import type { HealthWarning } from "../messengers/root/health/health-problem.ts";
import { collectorOf, serviceNameOf, type Collector } from "./collector.ts";
import { SpanExport } from "./span-export.ts";
import { TurnSpans } from "./turn-spans.ts";

/** Removes secrets from texts, also those of the collector. */
function secretHider(env: object, { headers }: Collector): (text: string) => string {
  const own = Object.entries(headers).map(([name, value]) => [`SECRET ${name}`, value]);
  return createSecretHider({ ...env, ...Object.fromEntries(own) }).all;
}

/** The turns of one object as spans: a listener of their events. */
export class TelemetryFeature implements Feature {
  readonly name = "telemetry";
  readonly #host: FeatureHost<unknown>;
  readonly #options: TelemetryOptions;

  constructor(host: FeatureHost<unknown>, options: TelemetryOptions) {
    this.#host = host;
    this.#options = options;
  }

  get check(): NonNullable<Feature["check"]> {
    return { method: "telemetry", run: () => void collectorOf(this.#host.env) };
  }

  warnings(): HealthWarning[] {
    if (this.#collector() !== undefined) return [];
    return [
      {
        code: "telemetry-without-collector",
        message: "Nothing is sent by telemetry(): set OTEL_EXPORTER_OTLP_ENDPOINT in the environment.",
      },
    ];
  }

  start(): void {
    const collector = this.#collector();
    if (collector === undefined) return;
    const { agent, deps, engine, env, log } = this.#host;
    const { content, conversationId } = this.#options;
    const className = Object(agent).constructor.name as string;
    const spans = new TurnSpans({
      agent: className,
      conversationId: () =>
        conversationId === "name" ? this.#host.name() : sha256Now(this.#host.name()).slice(0, 32),
      content: content === true ? secretHider(env, collector) : undefined,
    });
    const resource = { "service.name": serviceNameOf(env) ?? className };
    const exported = new SpanExport({ deps, log, collector, resource });
    engine.events.listen((event) => exported.add(spans.ended(event)));
  }

  /** A mistake in the environment stops no turn. `/health` says it. */
  #collector(): Collector | undefined {
    try {
      return collectorOf(this.#host.env);
    } catch {
      return undefined;
    }
  }
}

/** Options of `telemetry`. */
export interface TelemetryOptions {
  /**
   * Whether spans hold texts: the question, the answers of the model, and the inputs and outputs of tools, each cut at
   * 8,000 characters and without the secrets of the environment.
   *
   * @default false
   */
  readonly content?: boolean;
  /**
   * The `gen_ai.conversation.id` of spans. `"hash"`: a hash of the conversation's name, the same for all its turns.
   * `"name"`: the name itself, which holds ids of the chat's platform.
   *
   * @default "hash"
   */
  readonly conversationId?: "hash" | "name";
}
