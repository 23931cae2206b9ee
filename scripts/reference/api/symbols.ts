/**
 * Formats symbols for `docs/api.md`.
 * @module
 */
import {
  commentLines,
  type DocComment,
  type DocDeclaration,
  type DocFunction,
  type DocMember,
  type DocSymbol,
  type DocType,
  isInternal,
} from "./doc.ts";
import {
  memberName,
  propertyLine,
  signature,
  typeArguments,
  typeParameters,
  writeMembers,
  writeType,
} from "./types.ts";

/** Returns a symbol: its comment, and its signatures. */
export function symbolLines({ name, declarations }: DocSymbol): string[] {
  return seenOverloads(declarations, ({ def }) => def, () => name).flatMap((declaration) => [
    ...formatComment(declaration.jsDoc),
    ...declarationLines(name, declaration),
  ]);
}

/** Returns a comment, as it is written in a source; nothing if there is none. */
function formatComment(comment: DocComment | undefined): string[] {
  const lines = commentLines(comment);
  const [first, ...others] = lines;
  if (first === undefined) return [];
  if (others.length === 0 && !first.startsWith("@")) return [`/** ${first} */`];
  return ["/**", ...lines.map((line) => line === "" ? " *" : ` * ${line}`), " */"];
}

function declarationLines(name: string, declaration: DocDeclaration): string[] {
  const { kind, def } = declaration;
  const head = `${name}${typeParameters(def.typeParams)}`;
  if (kind === "function") return [`function ${name}${signature(def)};`];
  if (kind === "variable") return [`const ${name}: ${writeType(def.tsType)};`];
  if (kind === "typeAlias") return aliasLines(`type ${head} =`, def.tsType);
  if (kind === "class") {
    return block(
      `${def.isAbstract === true ? "abstract " : ""}class ${head}${heritage(declaration)}`,
      classLines(declaration),
    );
  }
  const above = (def.extends ?? []) as readonly { readonly kind: string }[];
  const from = above.length === 0 ? "" : ` extends ${above.map(writeType).join(", ")}`;
  return block(
    `interface ${head}${from}`,
    writeMembers(def).flatMap(({ line, member }) => [...formatComment(member.jsDoc), line]),
  );
}

/** Formats an alias on one line, or a long union with a line per member. */
function aliasLines(head: string, type: DocType | undefined): string[] {
  const line = `${head} ${writeType(type)};`;
  if (line.length <= 120 || type?.kind !== "union") return [line];
  const parts = (type.value as readonly DocType[]).map((part) => `  | ${writeType(part)}`);
  return [head, ...parts.slice(0, -1), `${parts.at(-1)};`];
}

function block(head: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [`${head} {}`] : [`${head} {`, ...lines.map((line) => `  ${line}`), "}"];
}

/** Returns public members with their comments, static ones first. */
function classLines({ def }: DocDeclaration): string[] {
  const isSeen = ({ accessibility, jsDoc, name }: DocMember) =>
    accessibility !== "private" && !isInternal(jsDoc) && !name.startsWith("#");
  const constructors = (def.constructors ?? []).filter(isSeen).map((each) =>
    commented(each, `constructor${signature(each)}`)
  );
  const properties = (def.properties ?? []).filter(isSeen).map((each) => commented(each, propertyLine(each)));
  const methods = seenOverloads(
    (def.methods ?? []).filter(isSeen),
    ({ functionDef }) => functionDef!,
    ({ name }) => name,
  )
    .map((each) => commented(each, methodLine(each)));
  const isStatic = (lines: readonly string[]) => Number(lines.at(-1)!.startsWith("static "));
  const members = [...constructors, ...properties, ...methods];
  return members.toSorted((first, second) => isStatic(second) - isStatic(first)).flat();
}

function methodLine(method: DocMember): string {
  const { kind, functionDef, optional } = method;
  if (kind === "getter") return `get ${memberName(method)}(): ${writeType(functionDef!.returnType)}`;
  if (kind === "setter") return `set ${memberName(method)}${signature({ ...functionDef!, returnType: undefined })}`;
  return `${memberName(method)}${optional === true ? "?" : ""}${signature(functionDef!)}`;
}

/** Returns the comment and the line of a member. */
function commented(member: DocMember, text: string): string[] {
  const { accessibility, isStatic, isAbstract, jsDoc } = member;
  const words = [
    isStatic === true ? "static " : "",
    accessibility === "protected" ? "protected " : "",
    isAbstract === true ? "abstract " : "",
  ];
  return [...formatComment(jsDoc), `${words.join("")}${text};`];
}

/** Returns the signatures of overloads that callers see, without the implementation. */
function seenOverloads<Each>(
  all: readonly Each[],
  form: (each: Each) => DocFunction,
  name: (each: Each) => string,
): Each[] {
  const isOverload = (each: Each) => form(each).hasBody !== true;
  return all.filter((each) =>
    isOverload(each) || !all.some((other) => name(other) === name(each) && isOverload(other))
  );
}

/** Returns the heritage clauses of a class: ` extends BaseProvider implements Provider`. */
function heritage({ def }: DocDeclaration): string {
  const above = typeof def.extends === "string" ? ` extends ${def.extends}${typeArguments(def.superTypeParams)}` : "";
  const interfaces = def.implements ?? [];
  return above + (interfaces.length === 0 ? "" : ` implements ${interfaces.map(writeType).join(", ")}`);
}
