import { ActionError } from "../../actions/declare/action-errors.ts";
import { isRecord } from "../../core/json/is-record.ts";
import { nestedPairs, textOf } from "./nested-pairs.ts";
import type { ApiOperation } from "./api-document.ts";
import type { InputParameter, OperationInput } from "./operation-input.ts";
import type { OpenApiRequestOptions } from "./openapi-request.ts";

type Args = Readonly<Record<string, unknown>>;

const SEPARATORS: Readonly<Record<string, string>> = { pipeDelimited: "|", spaceDelimited: " " };

/**
 * Fills the argument of a call into its request.
 *
 * @throws {ActionError} for a value that would lead to another path
 */
export function fillRequest(
  { method, path }: Pick<ApiOperation, "method" | "path">,
  { bodyType, parameters }: OperationInput,
  args: Args,
): OpenApiRequestOptions {
  const given = parameters.flatMap(({ declared, key }) => {
    const value = Object.hasOwn(args, key) ? args[key] : undefined;
    return value === undefined || value === null ? [] : [{ declared, value }];
  });
  const at = (place: string): typeof given => given.filter(({ declared }) => declared.in === place);
  const hasBody = bodyType !== undefined && args["body"] !== undefined;
  return {
    path: filledPath(path, at("path")),
    method,
    params: groupedParams(at("query").flatMap(({ declared, value }) => queryPairs(declared, value))),
    headers: {
      ...Object.fromEntries(
        at("header").map(({ declared, value }) => [declared.name, simple(declared, value)]),
      ),
      ...(hasBody && { "content-type": bodyType }),
    },
    ...(hasBody && { body: args["body"] }),
  };
}

interface Given {
  readonly declared: InputParameter["declared"];
  readonly value: unknown;
}

function filledPath(template: string, given: readonly Given[]): string {
  const values = new Map(given.map(({ declared, value }) => [declared.name, simple(declared, value)]));
  const path = template.replaceAll(/\{([^{}]+)\}/g, (_place, name: string) => {
    const value = values.get(name) ?? "";
    if (value === "") throw new ActionError(`"${name}" is empty. Give a value. Nothing was done.`);
    return encodeURIComponent(value);
  });
  // Every address bar takes such a segment for a step up, also when it is encoded.
  if (path.split("/").some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw new ActionError('A value of the path is "." or "..". Give the id itself. Nothing was done.');
  return path;
}

/** Groups the pairs by name: a list for names with several values. */
function groupedParams(pairs: readonly (readonly [string, string])[]): Record<string, string | string[]> {
  const grouped = new Map<string, string[]>();
  for (const [name, value] of pairs) grouped.set(name, [...(grouped.get(name) ?? []), value]);
  return Object.fromEntries(
    [...grouped].map(([name, [first = "", ...more]]) => [name, more.length === 0 ? first : [first, ...more]]),
  );
}

function queryPairs(
  declared: InputParameter["declared"],
  value: unknown,
): readonly (readonly [string, string])[] {
  const { content, explode, name, style = "form" } = declared;
  if (content !== undefined) return [[name, JSON.stringify(value)]];
  if (style === "deepObject") return nestedPairs(name, value);
  const isExploded = explode ?? style === "form";
  if (!isExploded || !isRecord(value)) return [[name, joined(value, SEPARATORS[style] ?? ",")]];
  if (Array.isArray(value)) return value.map((one: unknown) => [name, textOf(one)]);
  return Object.entries(value).map(([key, one]) => [key, textOf(one)]);
}

function simple({ content }: InputParameter["declared"], value: unknown): string {
  return content === undefined ? joined(value, ",") : JSON.stringify(value);
}

function joined(value: unknown, separator: string): string {
  if (!isRecord(value)) return textOf(value);
  const all: unknown[] = Array.isArray(value) ? value : Object.entries(value).flat();
  return all.map(textOf).join(separator);
}
