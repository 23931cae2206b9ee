// The part of @std/assert that this repository uses; the code is npm's deno-std, which has no types.

/** A class, abstract or not. */
// deno-lint-ignore no-explicit-any -- what a class takes does not matter here
export type AnyConstructor = abstract new (...args: any[]) => any;
export type GetConstructorType<Class extends AnyConstructor> = InstanceType<Class>;
/** What `assertThrows` and `assertRejects` take as an error's class. */
// deno-lint-ignore no-explicit-any -- what a class takes does not matter here
export type ErrorClass<Type extends Error> = abstract new (...args: any[]) => Type;

export class AssertionError extends Error {
  constructor(message: string, options?: ErrorOptions);
}

export function assert(expr: unknown, msg?: string): asserts expr;
export function assertFalse(expr: unknown, msg?: string): asserts expr is false | 0 | "" | null | undefined;
export function assertAlmostEquals(actual: number, expected: number, tolerance?: number, msg?: string): void;
export function assertArrayIncludes<Type>(actual: ArrayLike<Type>, expected: ArrayLike<Type>, msg?: string): void;
export function assertEquals<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertExists<Type>(actual: Type, msg?: string): asserts actual is NonNullable<Type>;
export function assertGreater<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertGreaterOrEqual<Type>(actual: Type, expected: Type, msg?: string): void;
export function assertInstanceOf<Class extends AnyConstructor>(
  actual: unknown,
  expectedType: Class,
  msg?: string,
): asserts actual is GetConstructorType<Class>;
export function assertIsError<Type extends Error = Error>(
  error: unknown,
  ErrorClass?: ErrorClass<Type>,
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
  ErrorClass: ErrorClass<Type>,
  msgIncludes?: string,
  msg?: string,
): Promise<Type>;
export function assertStrictEquals<Type>(actual: unknown, expected: Type, msg?: string): asserts actual is Type;
export function assertStringIncludes(actual: string, expected: string, msg?: string): void;
export function assertThrows(fn: () => unknown, msg?: string): unknown;
export function assertThrows<Type extends Error = Error>(
  fn: () => unknown,
  ErrorClass: ErrorClass<Type>,
  msgIncludes?: string,
  msg?: string,
): Type;
export function equal(a: unknown, b: unknown): boolean;
export function fail(msg?: string): never;
export function unreachable(msg?: string): never;
