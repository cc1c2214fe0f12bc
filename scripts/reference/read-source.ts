import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { API } from "typescript/unstable/sync";
import type { ClassDeclaration, InterfaceDeclaration, Node, SourceFile } from "typescript/unstable/ast";
import {
  isClassDeclaration,
  isInterfaceDeclaration,
  isAsExpression,
  isObjectLiteralExpression,
  isPropertyAssignment,
  isTypeAliasDeclaration,
  isVariableStatement,
} from "typescript/unstable/ast/is";
import { textOf } from "./literal-text.ts";
import { readComment } from "./read-comment.ts";
import type { Comment } from "./read-comment.ts";

/** A member of an interface or a class, as its author wrote it. */
export interface Member extends Comment {
  readonly name: string;
  /** The member without its comment and body, on one line. */
  readonly signature: string;
  readonly type: string;
  readonly isOptional: boolean;
  /** The value that a class gives to a property. */
  readonly initial: string | undefined;
}

/** The sources of the product as syntax trees, read by the TypeScript compiler. Call `close` at the end. */
export interface Sources {
  /** Returns the members of an interface or a class, without private and `@internal` ones, in their order. */
  members(file: string, name: string): Member[];
  /** Returns the comment above a type. */
  comment(file: string, name: string): Comment;
  /** Returns the texts of a constant object, by name. */
  texts(file: string, constant: string): ReadonlyMap<string, string>;
  /** Returns the tree of a file. */
  file(name: string): SourceFile;
  files(): SourceFile[];
  close(): void;
}

/** Only syntax is needed: with neither imports nor libraries a file is read in milliseconds. */
const options = { noResolve: true, noLib: true, types: [], allowImportingTsExtensions: true, noEmit: true };

export function openSources(root: string, files: readonly string[]): Sources {
  const folder = path.join(root, "node_modules/.cache/reference");
  mkdirSync(folder, { recursive: true });
  const config = path.join(folder, "tsconfig.json");
  const names = files.map((file) => path.join(root, file));
  writeFileSync(config, JSON.stringify({ compilerOptions: options, files: names }));
  const api = new API({ cwd: root });
  const project = api.updateSnapshot({ openProjects: [config] }).getProjects()[0];
  const sourceOf = (file: string): SourceFile => {
    const source = project?.program.getSourceFile(path.join(root, file));
    if (source === undefined) throw new Error(`The reference cannot read ${file}.`);
    return source;
  };
  const declaration = (file: string, name: string): [SourceFile, Node] => {
    const source = sourceOf(file);
    const found = source.statements.find(
      (node) =>
        (isInterfaceDeclaration(node) || isClassDeclaration(node) || isTypeAliasDeclaration(node)) &&
        node.name?.text === name,
    );
    if (found === undefined) throw new Error(`${file} declares no ${name}.`);
    return [source, found];
  };
  return {
    members(file, name) {
      const [source, node] = declaration(file, name);
      const { members } = node as InterfaceDeclaration | ClassDeclaration;
      return withoutImplementations([...members].flatMap((member) => memberOf(source, member)));
    },
    comment: (file, name) => commentOf(...declaration(file, name)),
    texts: (file, constant) => textsOf(sourceOf(file), constant),
    file: sourceOf,
    files: () => files.map(sourceOf),
    close: () => api.close(),
  };
}

/** Overloads become one member with all their signatures. What implements them is nobody's business. */
function withoutImplementations(members: readonly Member[]): Member[] {
  return members.flatMap((member, index) => {
    const same = members.filter(({ name }) => name === member.name);
    if (same.length === 1) return [member];
    if (members.findIndex(({ name }) => name === member.name) !== index) return [];
    const signatures = same.slice(0, -1).map(({ signature }) => signature);
    const texts = same.map(({ text }) => text).filter(Boolean);
    return [{ ...member, signature: signatures.join("\n"), text: texts.join("\n\n") }];
  });
}

function textsOf(source: SourceFile, constant: string): ReadonlyMap<string, string> {
  const declared = source.statements
    .filter(isVariableStatement)
    .flatMap(({ declarationList }) => [...declarationList.declarations])
    .find(({ name }) => name.getText(source) === constant);
  const initializer = declared?.initializer;
  const value =
    initializer !== undefined && isAsExpression(initializer) ? initializer.expression : initializer;
  if (value === undefined || !isObjectLiteralExpression(value))
    throw new Error(`${source.fileName} has no constant object ${constant}.`);
  return new Map(
    value.properties
      .filter(isPropertyAssignment)
      .map(({ name, initializer }) => [name.getText(source), textOf(initializer, source) ?? ""]),
  );
}

function commentOf(source: SourceFile, node: Node): Comment {
  const blocks = (node as { jsDoc?: readonly Node[] }).jsDoc ?? [];
  return readComment(blocks.at(-1)?.getText(source) ?? "");
}

function memberOf(source: SourceFile, member: Node): Member[] {
  const { name, type, body, initializer } = member as {
    name?: Node;
    type?: Node;
    body?: Node;
    initializer?: Node;
  };
  const comment = commentOf(source, member);
  if (name === undefined || comment.isInternal) return [];
  const text = name.getText(source);
  if (text.startsWith("#") || text === "constructor" || text.startsWith("internal_")) return [];
  const whole = member.getText(source);
  const own = body === undefined ? whole : whole.slice(0, -body.getText(source).length);
  const signature = own
    .replace(/;$/, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\( | \)/g, (match) => match.trim())
    .replace(/,\)/, ")")
    .replaceAll(/\b_(?=[a-z]+[?:])/g, "")
    .replace(/^(?:readonly |override |async )+/, "")
    .trim();
  return [
    {
      ...comment,
      name: text,
      signature,
      type: (type?.getText(source) ?? "").replaceAll(/\s+/g, " "),
      isOptional: signature.startsWith(`${text}?`),
      initial: initializer?.getText(source),
    },
  ];
}
