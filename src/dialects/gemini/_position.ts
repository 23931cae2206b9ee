/**
 * A path in a request, for error messages, with readers that validate the value there.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { missing, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";

/** A path in a request. */
export class Position {
  readonly path: string;
  /** Paths of members that chat cannot express, shared by the whole request. */
  readonly inexpressible: string[];

  /**
   * Creates a path.
   *
   * @param path The path; empty for the request itself.
   * @param inexpressible Paths that chat cannot express, shared by all paths of the request.
   */
  constructor(path = "", inexpressible: string[] = []) {
    this.path = path;
    this.inexpressible = inexpressible;
  }

  member(name: string): Position {
    return new Position(this.path === "" ? name : `${this.path}.${name}`, this.inexpressible);
  }

  item(index: number): Position {
    return new Position(`${this.path}[${index}]`, this.inexpressible);
  }

  /** Records that chat cannot express the value here. */
  addInexpressible(): void {
    this.inexpressible.push(this.path);
  }

  /** The members of an object without nulls, in camelCase: the API also accepts `system_instruction`. */
  fields(value: unknown): JsonObject {
    const members = Object.entries(this.object(value)).filter(([, member]) => member !== null && member !== undefined);
    return Object.fromEntries(members.map(([name, member]) => [camelCase(name), member])); // also one called __proto__
  }

  /** Validates an object. */
  object(value: unknown): JsonObject {
    if (!isObject(value)) throw wrongType(this.path, "an object", value);
    return value;
  }

  /** Validates an array; empty if undefined. */
  list(value: unknown): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (!Array.isArray(value)) throw wrongType(this.path, "an array", value);
    return value;
  }

  /** Validates an optional string. */
  text(value: unknown): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string") throw wrongType(this.path, "a string", value);
    return value;
  }

  /** Validates a required string. */
  required(value: unknown): string {
    const text = this.text(value);
    if (text === undefined) throw missing(this.path);
    return text;
  }

  /** Validates an optional number. */
  number(value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "number") throw wrongType(this.path, "a number", value);
    return value;
  }
}

function camelCase(name: string): string {
  return name.includes("_") ? name.replace(/(?<=[a-zA-Z0-9])_([a-z0-9])/g, (_, letter) => letter.toUpperCase()) : name;
}
