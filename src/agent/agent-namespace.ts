import { ConfigurationError } from "../core/base/errors.ts";
import type { InnerDoor } from "../core/chat/inner-calls.ts";

/** The objects of an agent's class, by name. */
export interface AgentNamespace {
  getByName(name: string): InnerDoor & { fetch(request: Request): Promise<Response> };
}

/**
 * Returns the Durable Object namespace of a class: from the Worker's own exports, or from a binding with the name of
 * the class.
 */
export function agentNamespace(
  context: { readonly exports?: unknown },
  env: object,
  className: string,
): AgentNamespace {
  const own = property(context.exports, className);
  if (isNamespace(own)) return own;
  const bindings = env as Readonly<Record<string, unknown>>;
  for (const name of [className, snakeCase(className)]) {
    const binding = bindings[name];
    if (isNamespace(binding)) return binding;
  }
  throw new ConfigurationError(
    "agent-class-not-bound",
    `The class ${className} is not a Durable Object of this Worker. Export it from the Worker's entry and name it in wrangler.jsonc: { "migrations": [{ "tag": "v1", "new_sqlite_classes": ["${className}"] }] }.`,
  );
}

function property(value: unknown, name: string): unknown {
  if (value === null || (typeof value !== "object" && typeof value !== "function")) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

function isNamespace(value: unknown): value is AgentNamespace {
  return typeof property(value, "getByName") === "function";
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase();
}
