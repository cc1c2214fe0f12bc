import type { JSONSchema7 } from "ai";
import { shortLine } from "../../core/text/short-line.ts";
import { isJson } from "./api-document.ts";
import type { ApiBody, ApiDocument, ApiOperation, ApiParameter } from "./api-document.ts";
import { SchemaConversion } from "./convert-schema.ts";

/** The key of the body in the argument of a call. */
const BODY = "body";
/** Longest name in an error. */
const MOST_WORDS = 80;
const FORM = "application/x-www-form-urlencoded";

/**
 * Headers that a document must not let a model write: they choose the host, the person, the shape of the message, or
 * another method than the one that people have agreed to.
 */
const OWN_HEADERS =
  /^(?:accept|authorization|connection|content-.*|cookie2?|expect|forwarded|host|keep-alive|origin|proxy-.*|referer|set-cookie2?|te|trailer|transfer-encoding|upgrade|via|x-(?:http-)?method(?:-override)?|x-forwarded-.*|x-original-.*|x-rewrite-.*)$/i;

/** One parameter of an operation, and the key that it has in the argument of a call. */
export interface InputParameter {
  readonly key: string;
  readonly declared: ApiParameter;
}

/** The argument of an operation's calls: one object with the parameters and the body. */
export interface OperationInput {
  readonly schema: JSONSchema7;
  readonly parameters: readonly InputParameter[];
  /** The media type of the body. Undefined if the call has none. */
  readonly bodyType: string | undefined;
}

/** A part of an operation that code cannot give: a file or a cookie. */
export interface MissingPart {
  readonly words: string;
  /** Whether a call without it would be wrong. */
  readonly isRequired: boolean;
}

export function missingPartsOf(document: ApiDocument, operation: ApiOperation): readonly MissingPart[] {
  const body = document.bodyOf(operation);
  const cookies = document.parametersOf(operation).filter(({ in: place }) => place === "cookie");
  const bodies = body === undefined || sentTypeOf(body) !== undefined ? [] : [body];
  return [
    ...bodies.map(({ content, required }) => ({
      words: `a body of ${shortLine(Object.keys(content).join(", "), MOST_WORDS)}`,
      isRequired: required,
    })),
    ...cookies.map(({ name, required }) => ({
      words: `the cookie "${shortLine(name, MOST_WORDS)}"`,
      isRequired: required,
    })),
  ];
}

/** Returns the argument of an operation: all that code can give, without optional files and cookies. */
export function operationInput(
  document: ApiDocument,
  operation: ApiOperation,
  ownHeaders: readonly string[],
): OperationInput {
  const body = document.bodyOf(operation);
  const bodyType = body && sentTypeOf(body);
  const conversion = new SchemaConversion(document, "input");
  const parameters = keyed(
    withPlaces(document.parametersOf(operation), operation.path, ownHeaders),
    bodyType,
  );
  const properties = parameters.map(({ declared, key }) => {
    const { content, description, schema } = declared;
    const [mediaType] = Object.values(content ?? {});
    const converted = conversion.convert(schema ?? document.schemaIn(mediaType) ?? {});
    return [key, described(converted, description)] as const;
  });
  const bodies =
    body === undefined || bodyType === undefined
      ? []
      : [
          [
            BODY,
            described(conversion.convert(document.schemaIn(body.content[bodyType])), body.description),
          ] as const,
        ];
  const required = parameters.filter(({ declared }) => declared.required).map(({ key }) => key);
  return {
    parameters,
    bodyType,
    schema: {
      type: "object",
      properties: Object.fromEntries([...properties, ...bodies]),
      required: [...required, ...(body?.required === true ? [BODY] : [])],
      additionalProperties: false,
      ...conversion.definitions(),
    },
  };
}

/** Leaves out the parameters that no model may set, and adds places of the path that are not declared. */
function withPlaces(
  declared: readonly ApiParameter[],
  path: string,
  ownHeaders: readonly string[],
): readonly ApiParameter[] {
  const places = new Set([...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name));
  const own = new Set(ownHeaders.map((name) => name.toLowerCase()));
  const kept = declared.filter(({ in: place, name }) => {
    if (place === "path") return places.has(name);
    if (place === "header") return !OWN_HEADERS.test(name) && !own.has(name.toLowerCase());
    return place === "query";
  });
  const known = new Set(kept.filter((one) => one.in === "path").map(({ name }) => name));
  const missing = [...places].filter((name) => !known.has(name));
  const added = missing.map((name): ApiParameter => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  return [...kept.map((one) => (one.in === "path" ? { ...one, required: true } : one)), ...added];
}

const ORDER = ["path", "query", "header", "cookie"];

/** A key is the name. Two places can have one name: then the second key says its place. */
function keyed(parameters: readonly ApiParameter[], bodyType: string | undefined): readonly InputParameter[] {
  const taken = new Set(bodyType === undefined ? [] : [BODY]);
  return parameters
    .toSorted((a, b) => ORDER.indexOf(a.in) - ORDER.indexOf(b.in))
    .map((declared) => {
      let key = declared.name;
      while (taken.has(key)) key = `${declared.in}_${key}`;
      taken.add(key);
      return { key, declared };
    });
}

function sentTypeOf({ content }: ApiBody): string | undefined {
  const types = Object.keys(content);
  return (
    types.find(isJson) ??
    types.find((type) => type.startsWith(FORM)) ??
    types.find((type) => /^text\/[\w.+-]+/i.test(type))
  );
}

function described(schema: JSONSchema7 | boolean, description: string | undefined): JSONSchema7 | boolean {
  return typeof schema === "boolean" || description === undefined ? schema : { description, ...schema };
}
