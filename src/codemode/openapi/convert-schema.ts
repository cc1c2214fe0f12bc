import type { JSONSchema7 } from "ai";
import { isRecord } from "../../core/json/is-record.ts";
import type { ApiDocument } from "./api-document.ts";

/** Keywords that mean the same in both. All others are left out: the service checks its input itself. */
const KEPT = [
  "description",
  "enum",
  "const",
  "default",
  "format",
  "pattern",
  "minimum",
  "maximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
] as const;
const CHOICES = ["anyOf", "oneOf", "allOf"] as const;

type Schema = JSONSchema7 | boolean;

/**
 * Makes JSON Schema of the schemas of one operation. Referenced schemas become `$defs`, each once, so circles and
 * schemas that many others name stay small.
 */
export class SchemaConversion {
  readonly #document: ApiDocument;
  readonly #hidden: "readOnly" | "writeOnly";
  /** The names in `$defs` by reference. */
  readonly #names = new Map<string, string>();
  readonly #waiting: string[] = [];

  /** @param direction properties that only go the other way are left out */
  constructor(document: ApiDocument, direction: "input" | "output") {
    this.#document = document;
    this.#hidden = direction === "input" ? "readOnly" : "writeOnly";
  }

  convert(schema: unknown): Schema {
    if (typeof schema === "boolean") return schema;
    if (!isRecord(schema)) return {};
    const { $ref: reference, description, nullable } = schema;
    if (typeof reference === "string") {
      const words = typeof description === "string" ? { description } : {};
      return { ...words, $ref: `#/$defs/${this.#nameOf(reference)}` };
    }
    const converted: JSONSchema7 = {
      ...this.#kept(schema),
      ...typeOf(schema["type"]),
      ...this.#choices(schema),
      ...this.#insides(schema),
    };
    return nullable === true ? orNull(converted) : converted;
  }

  /** Returns the referenced schemas, with those that these name. */
  definitions(): { readonly $defs?: Readonly<Record<string, Schema>> } {
    const converted: (readonly [string, Schema])[] = [];
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift())
      converted.push([this.#nameOf(next), this.convert(this.#document.resolve({ $ref: next }))]);
    return converted.length === 0 ? {} : { $defs: Object.fromEntries(converted) };
  }

  #nameOf(reference: string): string {
    const known = this.#names.get(reference);
    if (known !== undefined) return known;
    // The number tells apart schemas of one name in different places.
    const name = `${/\w*$/.exec(reference)?.[0] ?? ""}_${this.#names.size}`;
    this.#names.set(reference, name);
    this.#waiting.push(reference);
    return name;
  }

  #kept(schema: Record<string, unknown>): JSONSchema7 {
    return Object.fromEntries(
      KEPT.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]]),
    );
  }

  #choices(schema: Record<string, unknown>): JSONSchema7 {
    const choices = CHOICES.map((key) => [key, schema[key]] as const);
    return Object.fromEntries(
      choices.flatMap(([key, all]) =>
        Array.isArray(all) ? [[key, all.map((one: unknown) => this.convert(one))] as const] : [],
      ),
    );
  }

  #insides({ additionalProperties, items, properties, required }: Record<string, unknown>): JSONSchema7 {
    const shown = isRecord(properties)
      ? Object.entries(properties).filter(([, one]) => !isRecord(one) || one[this.#hidden] !== true)
      : undefined;
    const names = Array.isArray(required) ? required.map(String) : [];
    const isGone = (name: string): boolean =>
      isRecord(properties) &&
      Object.hasOwn(properties, name) &&
      shown?.every(([one]) => one !== name) === true;
    return {
      ...(items !== undefined && { items: this.convert(items) }),
      ...(shown !== undefined && {
        properties: Object.fromEntries(shown.map(([name, one]) => [name, this.convert(one)])),
      }),
      ...(names.length > 0 && { required: names.filter((name) => !isGone(name)) }),
      ...(additionalProperties !== undefined && {
        additionalProperties: this.convert(additionalProperties),
      }),
    };
  }
}

function typeOf(type: unknown): JSONSchema7 {
  return typeof type === "string" || Array.isArray(type) ? { type: type as JSONSchema7["type"] } : {};
}

/** OpenAPI 3.0 says so with a keyword of its own. */
function orNull(schema: JSONSchema7): JSONSchema7 {
  const { enum: values, type } = schema;
  if (values !== undefined) return { ...schema, enum: [...values, null] };
  if (typeof type === "string") return { ...schema, type: [type, "null"] };
  return { anyOf: [schema, { type: "null" }] };
}
