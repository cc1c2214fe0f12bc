import { ConfigurationError } from "../core/base/errors.ts";

/** Address of a collector's traces, with the headers that it wants. */
export interface Collector {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Reads the collector from the variables that OpenTelemetry names. Undefined if there is none.
 *
 * @throws {ConfigurationError} `telemetry-collector`
 */
export function collectorOf(env: object): Collector | undefined {
  const traces = textOf(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  const base = textOf(env, "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (traces === undefined && base === undefined) return undefined;
  const name = traces === undefined ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
  const url = URL.parse(traces ?? `${base?.replace(/\/+$/, "")}/v1/traces`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new ConfigurationError("telemetry-collector", `${name} must be an address: http://127.0.0.1:4318.`);
  return { url: url.href, headers: headersOf(env) };
}

/** The name of the service in its spans. Undefined if the environment has none. */
export function serviceNameOf(env: object): string | undefined {
  return textOf(env, "OTEL_SERVICE_NAME");
}

function headersOf(env: object): Record<string, string> {
  const listed = textOf(env, "OTEL_EXPORTER_OTLP_HEADERS") ?? "";
  const headers: Record<string, string> = {};
  for (const one of listed.split(",").filter((text) => text.trim() !== "")) {
    const at = one.indexOf("=");
    const header = one.slice(0, Math.max(at, 0)).trim();
    try {
      headers[header] = decodeURIComponent(one.slice(at + 1).trim());
      void new Headers({ [header]: headers[header] });
    } catch {
      // Also where a value is no text of an address.
      throw new ConfigurationError(
        "telemetry-collector",
        "OTEL_EXPORTER_OTLP_HEADERS must be a list of headers: authorization=Bearer%20abc,x-team=bots.",
      );
    }
  }
  return headers;
}

function textOf(env: object, name: string): string | undefined {
  const value: unknown = Reflect.get(env, name);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
