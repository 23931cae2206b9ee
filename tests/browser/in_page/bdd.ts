/**
 * In place of `@std/testing/bdd` in a page: tests are kept until they are asked for, one by one.
 * @module
 */

interface PageTest {
  readonly title: string;
  readonly body: () => void | Promise<void>;
}

const tests: PageTest[] = [];
const path: string[] = [];

/** Defines a suite. */
export function describe(name: string, define: () => void): void {
  path.push(name);
  define();
  path.pop();
}

/** Defines a test. */
export function it(name: string, body: PageTest["body"]): void {
  tests.push({ title: [...path, name].join(" > "), body });
}

/** What the runner outside asks for. */
export interface PageSuite {
  /** The titles of all tests, in order. */
  readonly titles: readonly string[];
  /** How many tests have been run. */
  readonly count: number;
  /** Runs the test at an index. */
  run(index: number): Promise<void>;
}

let count = 0;

const suite: PageSuite = {
  get titles() {
    return tests.map(({ title }) => title);
  },
  get count() {
    return count;
  },
  run: async (index) => {
    count++;
    await tests[index]!.body();
  },
};

Object.assign(globalThis, { suite });
