/**
 * Types as TypeScript writes them.
 * @module
 */
import type { DocDefinition, DocFunction, DocMember, DocParameter, DocType, DocTypeParameter } from "./doc.ts";

/** How a type of each kind reads; a kind that is not here fails the script. */
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
 * A type, on one line.
 *
 * @param type As `deno doc` has it; one left out is `unknown`.
 * @throws {Error} When it is of a kind that no writer knows.
 */
export function writeType(type: DocType | undefined): string {
  if (type === undefined) return "unknown";
  const write = writers[type.kind];
  if (write === undefined) throw new Error(`No writer for types of kind "${type.kind}"`);
  return write(type);
}

/**
 * The parameters of a type where it is declared: `<Value extends string = string>`.
 *
 * @param parameters Its parameters.
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
 * The arguments of a type where it is used: `<string>`.
 *
 * @param types The arguments.
 */
export function typeArguments(types: readonly DocType[] = []): string {
  return types.length === 0 ? "" : `<${types.map(writeType).join(", ")}>`;
}

/**
 * A function from its parameters on: `(path: string): Promise<void>`.
 *
 * @param form The function's form; without a return type there is none, as of a constructor.
 * @param arrow What stands before the type that it returns.
 */
export function signature({ params = [], returnType, typeParams }: DocFunction, arrow = ": "): string {
  const returned = returnType === undefined ? "" : arrow + writeType(returnType);
  return `${typeParameters(typeParams)}(${params.map(parameter).join(", ")})${returned}`;
}

function parameter(given: DocParameter, index: number): string {
  if (given.kind === "assign") return parameter({ ...given.left!, optional: true }, index);
  if (given.kind === "rest") {
    return `...${parameter({ ...given.arg!, tsType: given.tsType ?? given.arg!.tsType }, index)}`;
  }
  const name = given.kind === "identifier" ? given.name!.replace(/^_/, "") : "options"; // one that is taken apart has no name
  return `${name}${given.optional === true ? "?" : ""}: ${writeType(given.tsType)}`;
}

/**
 * The members of an interface or a type literal, each as a line.
 *
 * @param definition What they are members of.
 */
export function memberLines({ properties, methods, callSignatures, indexSignatures }: DocDefinition): string[] {
  return [
    ...(callSignatures ?? []).map((call) => `${signature({ ...call, returnType: call.tsType })};`),
    ...(properties ?? []).map((property) => `${propertyLine(property)};`),
    ...(indexSignatures ?? []).map(({ readonly, params, tsType }) =>
      `${readonly === true ? "readonly " : ""}[${params!.map(parameter).join(", ")}]: ${writeType(tsType)};`
    ),
    ...(methods ?? []).map((method) =>
      `${memberName(method)}${method.optional === true ? "?" : ""}${signature(method)};`
    ),
  ];
}

/**
 * A property: `readonly id?: string`.
 *
 * @param member The property.
 */
export function propertyLine(member: DocMember): string {
  const { readonly, optional, tsType } = member;
  return `${readonly === true ? "readonly " : ""}${memberName(member)}${optional === true ? "?" : ""}: ${
    writeType(tsType)
  }`;
}

/**
 * A member's name, as it has to be written.
 *
 * @param member The member.
 */
export function memberName({ name, computed }: DocMember): string {
  if (computed === true || name.startsWith("[")) return name.startsWith("[") ? name : `[${name}]`;
  return /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u.test(name) ? name : JSON.stringify(name);
}
