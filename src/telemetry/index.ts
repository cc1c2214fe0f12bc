/** Turns as spans of OpenTelemetry. */
export { telemetry } from "./telemetry.ts";
export type { TelemetryOptions } from "./telemetry-feature.ts";
