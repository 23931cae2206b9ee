/**
 * Assertions of the conformance suites: nothing but JavaScript, so that a suite also runs inside a web page.
 * @module
 */

/** One test of a suite. */
export interface ConformanceCase {
  /** The behaviour it proves. */
  readonly name: string;
  /** Rejects when the implementation does not have it. */
  readonly run: () => Promise<void>;
}

/**
 * Fails unless two values are written the same in JSON.
 *
 * @param actual What came.
 * @param expected What should have.
 */
export function same(actual: unknown, expected: unknown): void {
  const [came, wanted] = [show(actual), show(expected)];
  if (came !== wanted) throw new Error(`Expected ${wanted}, but it is ${came}`);
}

/** Bytes are not lists, and undefined is not null. */
function show(value: unknown): string {
  return JSON.stringify(value, (_, one) => {
    if (one === undefined) return "<undefined>";
    return one instanceof Uint8Array ? `<bytes ${[...one].join(" ")}>` : one;
  });
}

/**
 * Fails unless a promise rejects.
 *
 * @param promise What should.
 * @returns What it rejected with.
 */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then((value) => ({ value }), (error: unknown) => ({ error }));
  if ("error" in outcome) return outcome.error;
  throw new Error(`Expected a rejection, but it came to ${show(outcome.value)}`);
}
