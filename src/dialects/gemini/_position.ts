/**
 * A path in a request, for error messages, with readers that validate the value there.
 * @module
 */
import type { JsonObject } from "../../contracts/openai.ts";
import { missing, wrongType } from "../../pipeline/check_body.ts";
import { isObject } from "../../util/is_object.ts";
import { NativeOnly } from "../native_only.ts";

/** A path in a request. */
export class Position {
  readonly path: string;
  /** Collects what chat cannot express, for the whole request. */
  readonly nativeOnly: NativeOnly;

  /**
   * Creates a path.
   *
   * @param path The path; empty for the request itself.
   * @param nativeOnly Shared by all paths of the request.
   */
  constructor(path = "", nativeOnly: NativeOnly = new NativeOnly()) {
    this.path = path;
    this.nativeOnly = nativeOnly;
  }

  member(name: string): Position {
    return new Position(this.path === "" ? name : `${this.path}.${name}`, this.nativeOnly);
  }

  item(index: number): Position {
    return new Position(`${this.path}[${index}]`, this.nativeOnly);
  }

  /**
   * Records that chat cannot express the value here.
   *
   * @param message Why, and what to do.
   */
  addInexpressible(message?: string): void {
    this.nativeOnly.add(this.path, message);
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
