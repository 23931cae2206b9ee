// The types of @std/assert that this repository uses, as they are there; the code is npm's deno-std, which has no types.

/** Any class that can be constructed. */
// deno-lint-ignore no-explicit-any -- what a class takes does not matter here
export type AnyConstructor = new (...args: any[]) => any;
/** The instances of a class. */
export type GetConstructorType<T extends AnyConstructor> = InstanceType<T>;
/** What is false when it is asked for. */
export type Falsy = false | 0 | 0n | "" | null | undefined;
/** A list, and no text. */
export type ArrayLikeArg<T> = ArrayLike<T> & object;

export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions);
}

export function assert(expr: unknown, msg?: string): asserts expr;
export function assertFalse(expr: unknown, msg?: string): asserts expr is Falsy;
export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, msg?: string): void;
export function assertArrayIncludes<T>(actual: ArrayLikeArg<T>, expected: ArrayLikeArg<T>, msg?: string): void;
export function assertEquals<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertExists<Type>(actual: Type, msg?: string): asserts actual is NonNullable<Type>;
export function assertGreater<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertGreaterOrEqual<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertInstanceOf<
  // deno-lint-ignore no-explicit-any -- what a class takes does not matter here
  T extends abstract new (...args: any[]) => any,
>(actual: unknown, expectedType: T, msg?: string): asserts actual is InstanceType<T>;
export function assertIsError<Type extends Error = Error>(
  error: unknown,
  // deno-lint-ignore no-explicit-any -- what a class takes does not matter here
  ErrorClass?: abstract new (...args: any[]) => Type,
  msgMatches?: string | RegExp,
  msg?: string,
): asserts error is Type;
export function assertLess<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertLessOrEqual<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertMatch(actual: string, expected: RegExp, msg?: string): void;
export function assertNotEquals<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertNotInstanceOf<Actual, Unexpected>(
  actual: Actual,
  // deno-lint-ignore no-explicit-any -- what a class takes does not matter here
  unexpectedType: abstract new (...args: any[]) => Unexpected,
  msg?: string,
): asserts actual is Exclude<Actual, Unexpected>;
export function assertNotMatch(actual: string, expected: RegExp, msg?: string): void;
export function assertNotStrictEquals<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertObjectMatch(
  // deno-lint-ignore no-explicit-any -- interfaces have no index signature
  actual: Record<PropertyKey, any>,
  expected: Record<PropertyKey, unknown>,
  msg?: string,
): void;
export function assertRejects(fn: () => PromiseLike<unknown>, msg?: string): Promise<unknown>;
export function assertRejects<Type extends Error = Error>(
  fn: () => PromiseLike<unknown>,
  // deno-lint-ignore no-explicit-any -- what a class takes does not matter here
  ErrorClass: abstract new (...args: any[]) => Type,
  msgIncludes?: string,
  msg?: string,
): Promise<Type>;
export function assertStrictEquals<Type>(actual: unknown, expected: Type, msg?: string): asserts actual is Type;
export function assertStringIncludes(actual: string, expected: string, msg?: string): void;
export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function assertThrows<Type extends Error = Error>(
  fn: () => unknown,
  // deno-lint-ignore no-explicit-any -- what a class takes does not matter here
  ErrorClass: abstract new (...args: any[]) => Type,
  msgIncludes?: string,
  msg?: string,
): Type;
export function equal(a: unknown, b: unknown): boolean;
export function fail(msg?: string): never;
export function unreachable(msg?: string): never;
