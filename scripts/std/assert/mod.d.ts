// The part of @std/assert that this repository uses: the code is that of npm's deno-std, which has no types. An
// assertion throws an AssertionError, which contains `message` if one is given.

/** A class whose instances are errors of a type. */
type ErrorClass<Thrown> = abstract new (...args: never[]) => Thrown;

/** Thrown by every assertion that does not hold. */
export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions);
}

export function assert(condition: unknown, message?: string): asserts condition;
export function assertFalse(
  condition: unknown,
  message?: string,
): asserts condition is false | null | undefined | 0 | 0n | "";

/** Asserts equal structure; `equal` returns whether it is equal. */
export function assertEquals<Value>(actual: Value, expected: Value, message?: string): void;
export function assertNotEquals<Value>(actual: Value, expected: Value, message?: string): void;
export function equal(one: unknown, other: unknown): boolean;

/** Asserts that the members of `expected` are members of `actual`. */
export function assertObjectMatch(actual: object, expected: Record<PropertyKey, unknown>, message?: string): void;

/** Asserts identity. */
export function assertStrictEquals<Value>(actual: unknown, expected: Value, message?: string): asserts actual is Value;

export function assertInstanceOf<Instance>(
  actual: unknown,
  type: ErrorClass<Instance>,
  message?: string,
): asserts actual is Instance;

export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, message?: string): void;
export function assertGreater<Value>(actual: Value, limit: Value, message?: string): void;
export function assertGreaterOrEqual<Value>(actual: Value, limit: Value, message?: string): void;
export function assertLess<Value>(actual: Value, limit: Value, message?: string): void;
export function assertLessOrEqual<Value>(actual: Value, limit: Value, message?: string): void;

export function assertMatch(actual: string, pattern: RegExp, message?: string): void;
export function assertNotMatch(actual: string, pattern: RegExp, message?: string): void;
export function assertStringIncludes(actual: string, part: string, message?: string): void;

/** Asserts that a function throws, and returns what it throws. With a class, `part` is part of the error's message. */
export function assertThrows(call: () => unknown, message?: string): unknown;
export function assertThrows<Thrown extends Error>(
  call: () => unknown,
  type: ErrorClass<Thrown>,
  part?: string,
  message?: string,
): Thrown;

/** The same for a promise. */
export function assertRejects(call: () => PromiseLike<unknown>, message?: string): Promise<unknown>;
export function assertRejects<Thrown extends Error>(
  call: () => PromiseLike<unknown>,
  type: ErrorClass<Thrown>,
  part?: string,
  message?: string,
): Promise<Thrown>;
