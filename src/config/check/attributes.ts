/**
 * Attributes passed to a connector, checked against those that it declares.
 * @module
 */
import type { Attribute, Attributes, AttributeType } from "../../contracts/connector.ts";
import { misfit } from "../schema/field.ts";
import { quoted, type Report, snakeCase, suggest, under } from "../schema/report.ts";
import { isPlainObject } from "../schema/tree.ts";
import { referencesIn } from "../schema/references.ts";

export interface AttributeContext {
  /** Path of the attributes' section. */
  readonly path: string;
  readonly connector: string;
  /** Undefined for a connector without a declaration: it gets all attributes unchecked. */
  readonly declared: Attributes | undefined;
  /** Attributes of the section that another connector may read: here they have no effect, which is a warning. */
  readonly common?: readonly string[];
  readonly report: Report;
}

/** Reports attributes that a connector does not declare, and values of another type than declared. */
export function checkAttributes(given: Readonly<Record<string, unknown>>, context: AttributeContext): void {
  const { declared, connector, common = [], report } = context;
  if (declared === undefined) return;
  const names = Object.keys(declared);
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    const path = under(context.path, name);
    if (Object.hasOwn(declared, name)) checkValue(value, declared[name]!, path, report);
    else if (common.includes(name)) report.warn(path, `has no effect: "${connector}" does not read it`);
    else report.problem(path, `unknown key: "${connector}" has none of this name${suggest(snakeCase(name), names)}`);
  }
}

const words: Readonly<Record<AttributeType, string>> = {
  text: "a text",
  flag: "true or false",
  integer: "an integer",
  object: "an object",
};

function checkValue(value: unknown, { type, values }: Attribute, path: string, report: Report): void {
  const types = [type].flat();
  const isReference = typeof value === "string" && referencesIn(value).names.length > 0;
  if (isReference && types.includes("text")) return;
  if (!types.some((one) => isOf(one, value))) {
    return report.problem(path, misfit(types.map((one) => words[one]).join(" or "), value));
  }
  if (values !== undefined && !values.includes(String(value))) {
    report.problem(path, misfit(`one of ${quoted(values)}`, value));
  }
}

function isOf(type: AttributeType, value: unknown): boolean {
  switch (type) {
    case "text":
      return typeof value === "string" && value.trim() !== "";
    case "flag":
      return typeof value === "boolean";
    case "integer":
      return Number.isSafeInteger(value);
    case "object":
      return isPlainObject(value);
  }
}
