/**
 * A position in a request, for errors, and the readers of what stands there.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { missing, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";

/** A position in a request. */
export class Place {
  readonly path: string;
  /** Positions of what chat has no words for, over the whole request. */
  readonly unsaid: string[];

  /**
   * The request itself.
   *
   * @param path Empty for the request itself.
   * @param unsaid Shared by all its positions.
   */
  constructor(path = "", unsaid: string[] = []) {
    this.path = path;
    this.unsaid = unsaid;
  }

  member(name: string): Place {
    return new Place(this.path === "" ? name : `${this.path}.${name}`, this.unsaid);
  }

  item(index: number): Place {
    return new Place(`${this.path}[${index}]`, this.unsaid);
  }

  /** Notes that chat has no words for what stands here. */
  addUnsaid(): void {
    this.unsaid.push(this.path);
  }

  /** The members of an object, null ones left out: in camelCase, since the API takes `system_instruction` as well. */
  fields(value: unknown): JsonObject {
    const fields: JsonObject = {};
    for (const [name, member] of Object.entries(this.object(value))) {
      if (member !== null && member !== undefined) fields[camelCase(name)] = member;
    }
    return fields;
  }

  /** An object as it came. */
  object(value: unknown): JsonObject {
    if (!isObject(value)) throw wrongType(this.path, "an object", value);
    return value;
  }

  /** A list; empty when there is none. */
  list(value: unknown): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw wrongType(this.path, "an array", value);
    return value;
  }

  /** A text, if there is one. */
  text(value: unknown): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") throw wrongType(this.path, "a string", value);
    return value;
  }

  /** A text that has to be there. */
  required(value: unknown): string {
    const text = this.text(value);
    if (text === undefined) throw missing(this.path);
    return text;
  }

  /** A number, if there is one. */
  number(value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "number") throw wrongType(this.path, "a number", value);
    return value;
  }
}

function camelCase(name: string): string {
  return name.includes("_") ? name.replace(/(?<=[a-zA-Z0-9])_([a-z0-9])/g, (_, letter) => letter.toUpperCase()) : name;
}
