import { checkOptions, FLAG, oneOf, type OptionRules } from "../core/json/check-options.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { TelemetryFeature, type TelemetryOptions } from "./telemetry-feature.ts";

const OPTIONS: OptionRules<TelemetryOptions> = { content: FLAG, conversationId: oneOf("hash", "name") };

/**
 * Sends what happens in turns to a collector of OpenTelemetry, as spans with the `gen_ai.*` attributes (OTLP, JSON over
 * HTTP). The environment names the collector, as in all programs: `OTEL_EXPORTER_OTLP_ENDPOINT`,
 * `OTEL_EXPORTER_OTLP_HEADERS` and `OTEL_SERVICE_NAME`. Without an endpoint nothing is sent.
 *
 * @throws {ConfigurationError} `telemetry-option`
 * @example
 * export class ShopBot extends Think<Env> {
 *   static override telemetry = telemetry();
 * }
 */
export function telemetry(options: TelemetryOptions = {}): ImportedFeature {
  checkOptions(options, OPTIONS, { owner: "telemetry", code: "telemetry-option" });
  return new ImportedFeature({
    name: "telemetry",
    create: (host) => new TelemetryFeature(host, options),
  });
}
