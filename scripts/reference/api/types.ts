/**
 * Formats types in TypeScript syntax.
 * @module
 */
import type { DocDefinition, DocFunction, DocMember, DocParameter, DocType, DocTypeParameter } from "./doc.ts";

/** Formatters by kind of type. An unknown kind fails the script. */
const writers: Readonly<Record<string, (type: DocType) => string>> = {
  keyword: ({ repr }) => repr!,
  this: () => "this",
  typeRef: ({ value }) => `${value.typeName}${typeArguments(value.typeParams)}`,
  literal: ({ repr, value }) =>
    value.kind === "string"
      ? JSON.stringify(value.string)
      : value.kind === "template"
      ? template(value.tsTypes)
      : repr!,
  union: ({ value }) => value.map(writeType).join(" | "),
  intersection: ({ value }) => value.map(writeType).join(" & "),
  array: ({ value }) => `${writeType(value)}[]`,
  tuple: ({ value }) => `[${value.map(writeType).join(", ")}]`,
  rest: ({ value }) => `...${writeType(value)}`,
  optional: ({ value }) => `${writeType(value)}?`,
  parenthesized: ({ value }) => `(${writeType(value)})`,
  typeOperator: ({ value }) => `${value.operator} ${writeType(value.tsType)}`,
  typeQuery: ({ value }) => `typeof ${value}`,
  indexedAccess: ({ value }) => `${writeType(value.objType)}[${writeType(value.indexType)}]`,
  typeLiteral: ({ value }) => `{ ${memberLines(value).join(" ")} }`,
  fnOrConstructor: ({ value }) =>
    `${value.constructor === true ? "new " : ""}${
      signature({ params: value.params, typeParams: value.typeParams, returnType: value.tsType }, " => ")
    }`,
  typePredicate: ({ value }) =>
    `${value.asserts === true ? "asserts " : ""}${value.param.name ?? "this"} is ${writeType(value.type)}`,
  mapped: ({ value }) => {
    const { name, constraint } = value.typeParam;
    return `{ ${value.readonly ? "readonly " : ""}[${name} in ${writeType(constraint)}]${value.optional ? "?" : ""}: ${
      writeType(value.tsType)
    } }`;
  },
  infer: ({ value }) => `infer ${value.typeParam.name}`,
  conditional: ({ value }) =>
    `${writeType(value.checkType)} extends ${writeType(value.extendsType)} ? ${writeType(value.trueType)} : ${
      writeType(value.falseType)
    }`,
};

/** A template literal: its texts as they are, its types in braces. */
function template(parts: readonly DocType[]): string {
  const written = parts.map((part) => part.kind === "literal" ? part.value.string : `\${${writeType(part)}}`);
  return `\`${written.join("")}\``;
}

/**
 * Formats a type on one line.
 *
 * @param type The type; undefined is formatted as `unknown`.
 * @throws {Error} When its kind is not supported.
 */
export function writeType(type: DocType | undefined): string {
  if (type === undefined) return "unknown";
  const write = writers[type.kind];
  if (write === undefined) throw new Error(`No writer for types of kind "${type.kind}"`);
  return write(type);
}

/**
 * Formats type parameters in a declaration: `<Value extends string = string>`.
 *
 * @param parameters The type parameters.
 */
export function typeParameters(parameters: readonly DocTypeParameter[] = []): string {
  if (parameters.length === 0) return "";
  const written = parameters.map(({ name, constraint, default: value }) =>
    name + (constraint === undefined ? "" : ` extends ${writeType(constraint)}`) +
    (value === undefined ? "" : ` = ${writeType(value)}`)
  );
  return `<${written.join(", ")}>`;
}

/**
 * Formats type arguments: `<string>`.
 *
 * @param types The type arguments.
 */
export function typeArguments(types: readonly DocType[] = []): string {
  return types.length === 0 ? "" : `<${types.map(writeType).join(", ")}>`;
}

/**
 * Formats a signature: `(path: string): Promise<void>`.
 *
 * @param form The function; a constructor has no return type.
 * @param arrow Separator before the return type.
 */
export function signature({ params = [], returnType, typeParams }: DocFunction, arrow = ": "): string {
  const returned = returnType === undefined ? "" : arrow + writeType(returnType);
  return `${typeParameters(typeParams)}(${params.map(parameter).join(", ")})${returned}`;
}

function parameter(documented: DocParameter, index: number): string {
  if (documented.kind === "assign") return parameter({ ...documented.left!, optional: true }, index);
  if (documented.kind === "rest") {
    return `...${parameter({ ...documented.arg!, tsType: documented.tsType ?? documented.arg!.tsType }, index)}`;
  }
  const name = documented.kind === "identifier" ? documented.name!.replace(/^_/, "") : "options"; // a destructured parameter has no name
  return `${name}${documented.optional === true ? "?" : ""}: ${writeType(documented.tsType)}`;
}

/**
 * Formats the members of an interface or a type literal, a line each.
 *
 * @param definition The interface or type literal.
 */
function memberLines(definition: DocDefinition): string[] {
  return writeMembers(definition).map(({ line }) => line);
}

/**
 * Formats the members of an interface or a type literal.
 *
 * @param definition The interface or type literal.
 * @returns The line of each member, and what has its comment.
 */
export function writeMembers(
  { properties, methods, callSignatures, indexSignatures }: DocDefinition,
): { readonly line: string; readonly member: DocMember }[] {
  const write = (members: readonly DocMember[] | undefined, toLine: (member: DocMember) => string) =>
    (members ?? []).map((member) => ({ line: `${toLine(member)};`, member }));
  return [
    ...write(callSignatures, (call) => signature({ ...call, returnType: call.tsType })),
    ...write(properties, propertyLine),
    ...write(
      indexSignatures,
      ({ readonly, params, tsType }) =>
        `${readonly === true ? "readonly " : ""}[${params!.map(parameter).join(", ")}]: ${writeType(tsType)}`,
    ),
    ...write(methods, (method) => `${memberName(method)}${method.optional === true ? "?" : ""}${signature(method)}`),
  ];
}

/** Formats a property: `readonly id?: string`. */
export function propertyLine(member: DocMember): string {
  const { readonly, optional, tsType } = member;
  return `${readonly === true ? "readonly " : ""}${memberName(member)}${optional === true ? "?" : ""}: ${
    writeType(tsType)
  }`;
}

/** Formats the name of a member, quoted or bracketed if necessary. */
export function memberName({ name, computed }: DocMember): string {
  if (computed === true || name.startsWith("[")) return name.startsWith("[") ? name : `[${name}]`;
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);
}
