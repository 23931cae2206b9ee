/**
 * What `deno doc --json` prints, as far as `docs/api.md` needs it.
 * @module
 */

import { writeType } from "./types.ts";

/** A type, as it was written. */
export interface DocType {
  /** How simple ones read. */
  readonly repr?: string;
  /** `keyword`, `typeRef`, `union` and so on. */
  readonly kind: string;
  /** Its parts, by kind. */
  // deno-lint-ignore no-explicit-any
  readonly value?: any;
}

/** A parameter of a function. */
export interface DocParameter {
  /** `identifier`, `assign` (with a default), `object`, `array` or `rest`. */
  readonly kind: string;
  /** Of an identifier. */
  readonly name?: string;
  /** Whether it may be left out. */
  readonly optional?: boolean;
  /** Its type. */
  readonly tsType?: DocType;
  /** What has a default. */
  readonly left?: DocParameter;
  /** What a rest parameter collects. */
  readonly arg?: DocParameter;
}

/** A parameter of a type. */
export interface DocTypeParameter {
  /** Its name. */
  readonly name: string;
  /** What it extends. */
  readonly constraint?: DocType;
  /** What it is when left out. */
  readonly default?: DocType;
}

/** A function's form. */
export interface DocFunction {
  /** Its parameters. */
  readonly params?: readonly DocParameter[];
  /** What it returns. */
  readonly returnType?: DocType;
  /** Whether it is an implementation, and not an overload or an abstract one. */
  readonly hasBody?: boolean;
  /** Parameters of its type. */
  readonly typeParams?: readonly DocTypeParameter[];
}

/** A tag of a comment: `@param` and the like. */
interface DocTag {
  /** `param`, `throws`, `example` and so on. */
  readonly kind: string;
  /** Its text. */
  readonly doc?: string;
  /** Name of a parameter. */
  readonly name?: string;
  /** What is thrown. */
  readonly tsType?: DocType;
  /** A default, or a tag as it was written. */
  readonly value?: string;
}

/** What stands before a declaration. */
export interface DocComment {
  /** Its text. */
  readonly doc?: string;
  /** Its tags, in order. */
  readonly tags?: readonly DocTag[];
}

/** A member of a class, an interface or a type literal. */
export interface DocMember extends DocFunction {
  /** Its name. */
  readonly name: string;
  /** Of methods: `method`, `getter`, `setter`. */
  readonly kind?: string;
  /** What stands before it. */
  readonly jsDoc?: DocComment;
  /** Of methods of classes. */
  readonly functionDef?: DocFunction;
  /** Of properties. */
  readonly tsType?: DocType;
  /** `private`, `protected` or `public`. */
  readonly accessibility?: string;
  /** Whether it cannot be assigned. */
  readonly readonly?: boolean;
  /** Whether it may be missing. */
  readonly optional?: boolean;
  /** Whether it belongs to the class itself. */
  readonly isStatic?: boolean;
  /** Whether subclasses have to bring it. */
  readonly isAbstract?: boolean;
  /** Whether its name is an expression. */
  readonly computed?: boolean;
}

/** What a class, an interface or a type literal is made of. */
export interface DocDefinition extends DocFunction {
  /** Whether a class has to be extended. */
  readonly isAbstract?: boolean;
  /** The name of the class above; of an interface, those that it extends. */
  readonly extends?: string | readonly DocType[];
  /** The class above, with its type parameters. */
  readonly superTypeParams?: readonly DocType[];
  /** Interfaces of a class. */
  readonly implements?: readonly DocType[];
  /** Constructors. */
  readonly constructors?: readonly DocMember[];
  /** Properties. */
  readonly properties?: readonly DocMember[];
  /** Methods, getters and setters. */
  readonly methods?: readonly DocMember[];
  /** What it returns when called. */
  readonly callSignatures?: readonly DocMember[];
  /** Its members by any name. */
  readonly indexSignatures?: readonly DocMember[];
  /** Of a variable or an alias: its type. */
  readonly tsType?: DocType;
}

/** One declaration of a symbol. */
export interface DocDeclaration {
  /** `function`, `class`, `interface`, `typeAlias` or `variable`. */
  readonly kind: string;
  /** Where it is. */
  readonly location: { readonly filename: string; readonly line: number };
  /** What stands before it. */
  readonly jsDoc?: DocComment;
  /** What it is. */
  readonly def: DocDefinition;
}

/** What an entry exports under one name. */
export interface DocSymbol {
  /** The name. */
  readonly name: string;
  /** Several for overloads. */
  readonly declarations: readonly DocDeclaration[];
}

/** What an entry exports, and what its first comment says. */
export interface DocEntry {
  /** The comment on the file. */
  readonly module_doc?: DocComment;
  /** In the order of the source. */
  readonly symbols: readonly DocSymbol[];
}

/**
 * Reads what an entry exports.
 *
 * @throws {Error} When `deno doc` fails.
 */
export async function readDoc(entry: URL): Promise<DocEntry> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", entry.href],
    cwd: new URL(".", entry),
    env: { NO_COLOR: "1" }, // it colors what it says of template literals, in JSON too
  }).output();
  if (!success) throw new Error(`deno doc ${entry.pathname}: ${new TextDecoder().decode(stderr)}`);
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as { nodes: Record<string, DocEntry> };
  const [doc] = Object.values(nodes);
  if (doc === undefined) throw new Error(`deno doc ${entry.pathname} printed nothing`);
  return doc;
}

/** The names of tags in sources that differ from their kinds. */
const tagNames: Readonly<Record<string, string>> = { return: "returns" };

/**
 * The lines of a comment: its text and its tags, as they were written, without links.
 *
 * @param comment What stands before a declaration.
 */
export function commentLines({ doc = "", tags = [] }: DocComment = {}): string[] {
  const parts = [doc, ...tags.filter(({ kind }) => kind !== "module").map(tagText)];
  const texts = parts.map((text) => text.trim()).filter((text) => text !== "");
  return texts.flatMap((text, index) => [...(isApart(text, index) ? [""] : []), ...withoutLinks(text).split("\n")]);
}

/** An example is apart from what precedes it, and so is the first tag. */
function isApart(text: string, index: number): boolean {
  return index === 1 || index > 1 && text.startsWith("@example");
}

function tagText({ kind, doc = "", name, tsType, value }: DocTag): string {
  if (kind === "unsupported") return value ?? "";
  const words = [`@${tagNames[kind] ?? kind}`, name, tsType && `{${writeType(tsType)}}`, value && `{${value}}`];
  const head = words.filter((word) => word !== undefined).join(" ");
  return doc === "" ? head : kind === "example" && doc.startsWith("```") ? `${head}\n${doc}` : `${head} ${doc}`;
}

function withoutLinks(text: string): string {
  return text.replaceAll(/\{@link(?:code)?\s+([^}]+)\}/g, "`$1`");
}

/**
 * The first paragraph of a comment, on one line, without tags.
 *
 * @param comment The comment of a declaration.
 */
export function firstParagraph(comment: DocComment | undefined): string {
  return withoutLinks((comment?.doc ?? "").split("\n\n")[0]!.replaceAll(/\s+/g, " ").trim());
}

/**
 * Whether something is only for the package itself.
 *
 * @param comment What stands before it.
 */
export function isInternal(comment: DocComment | undefined): boolean {
  return comment?.tags?.some(({ kind }) => kind === "internal") ?? false;
}
