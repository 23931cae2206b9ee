/**
 * What `deno doc --json` prints, as far as `docs/api.md` needs it.
 * @module
 */

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

/** What stands before a declaration. */
interface DocComment {
  /** Its text. */
  readonly doc?: string;
  /** `@param` and the like. */
  readonly tags?: readonly { readonly kind: string }[];
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

/**
 * The first sentence of a comment, on one line, without tags.
 *
 * @param comment What stands before a declaration.
 */
export function firstSentence(comment: DocComment | undefined): string {
  const plain = firstParagraph(comment);
  return /^.*?[.!?:](?=\s+[A-Z`{]|$)/.exec(plain)?.[0] ?? plain;
}

/**
 * The first paragraph of a comment, on one line, without tags.
 *
 * @param comment The comment of a declaration.
 */
export function firstParagraph(comment: DocComment | undefined): string {
  const text = (comment?.doc ?? "").split("\n\n")[0]!.replaceAll(/\s+/g, " ").trim();
  return text.replaceAll(/\{@link(?:code)?\s+([^}]+)\}/g, "`$1`");
}

/**
 * Whether something is only for the package itself.
 *
 * @param comment What stands before it.
 */
export function isInternal(comment: DocComment | undefined): boolean {
  return comment?.tags?.some(({ kind }) => kind === "internal") ?? false;
}
