// The part of @std/testing/bdd that this repository uses: each `describe` at the top is a test and each `it` a step of
// it, so that the runner's checks for leaked operations, resources and timers hold. (`node:test` switches them off.)

/** What a suite, a test or a hook does. */
export type Body = () => void | Promise<void>;

/** Stands for a suite, to those who define tests outside of it. */
export interface TestSuite<T> {
  /** The suite. */
  readonly symbol: symbol;
  /** Keeps what its tests share apart from what others do. */
  readonly context?: T;
}

/** Which leaks are not looked for. */
export interface SuiteOptions {
  /** Whether operations may outlast the suite. */
  readonly sanitizeOps?: boolean;
  /** Whether resources may outlast the suite. */
  readonly sanitizeResources?: boolean;
}

/** Defines a suite. */
export interface DefineSuite {
  (name: string, body: () => void | undefined): TestSuite<unknown>;
  (name: string, options: SuiteOptions, body: () => void | undefined): TestSuite<unknown>;
  only(name: string, body: () => void | undefined): TestSuite<unknown>;
  skip(name: string, body: () => void | undefined): TestSuite<unknown>;
}

/** Defines a test. */
export interface DefineTest {
  (name: string, body: Body): void;
  only(name: string, body: Body): void;
  skip(name: string, body: Body): void;
}

type Mode = "run" | "only" | "skip";

interface Test {
  readonly name: string;
  readonly mode: Mode;
  readonly body: Body;
}

class Suite {
  readonly name: string;
  readonly mode: Mode;
  readonly children: (Suite | Test)[] = [];
  readonly hooks: Record<
    "beforeAll" | "afterAll" | "beforeEach" | "afterEach",
    Body[]
  > = {
    beforeAll: [],
    afterAll: [],
    beforeEach: [],
    afterEach: [],
  };

  constructor(name: string, mode: Mode) {
    this.name = name;
    this.mode = mode;
  }
}

let current: Suite | undefined;

function defineSuite(
  name: string,
  body: () => void | undefined,
  { mode, options = {} }: { readonly mode: Mode; readonly options?: SuiteOptions },
): TestSuite<unknown> {
  const suite = new Suite(name, mode);
  const handle = { symbol: Symbol(name) };
  const outer = current;
  outer?.children.push(suite);
  current = suite;
  try {
    body();
  } finally {
    current = outer;
  }
  if (outer !== undefined) return handle;
  Deno.test({
    ...options,
    name,
    only: mode === "only",
    ignore: mode === "skip",
    fn: (context) => runSuite(suite, context, []),
  });
  return handle;
}

function defineTest(name: string, body: Body, mode: Mode): void {
  const test: Test = { name, mode, body };
  if (current !== undefined) current.children.push(test);
  else {Deno.test({
      name,
      only: mode === "only",
      ignore: mode === "skip",
      fn: () => body(),
    });}
}

async function runSuite(
  suite: Suite,
  context: Deno.TestContext,
  outer: readonly Suite[],
): Promise<void> {
  const around = [...outer, suite];
  const hasOnly = suite.children.some(({ mode }) => mode === "only");
  await runAll(suite.hooks.beforeAll);
  try {
    for (const child of suite.children) {
      const ignore = child.mode === "skip" ||
        (hasOnly && child.mode !== "only");
      const run = (step: Deno.TestContext) =>
        child instanceof Suite ? runSuite(child, step, around) : runTest(child, around);
      await context.step({ name: child.name, ignore, fn: run });
    }
  } finally {
    await runAll(suite.hooks.afterAll);
  }
}

async function runTest(
  { body }: Test,
  around: readonly Suite[],
): Promise<void> {
  for (const { hooks } of around) await runAll(hooks.beforeEach);
  try {
    await body();
  } finally {
    for (const { hooks } of [...around].reverse()) {
      await runAll(hooks.afterEach);
    }
  }
}

async function runAll(bodies: readonly Body[]): Promise<void> {
  for (const body of bodies) await body();
}

function hook(kind: keyof Suite["hooks"]): (body: Body) => void {
  return (body) => {
    if (current === undefined) {
      throw new Error(`"${kind}" stands in a describe()`);
    }
    current.hooks[kind].push(body);
  };
}

export const describe: DefineSuite = Object.assign(
  (...[name, ...others]: [string, () => void] | [string, SuiteOptions, () => void]) => {
    const [options, body] = others.length === 1 ? [{}, others[0]] : others;
    return defineSuite(name, body, { mode: "run", options });
  },
  {
    only: (name: string, body: () => void) => defineSuite(name, body, { mode: "only" }),
    skip: (name: string, body: () => void) => defineSuite(name, body, { mode: "skip" }),
  },
);
export const it: DefineTest = Object.assign(
  (name: string, body: Body) => defineTest(name, body, "run"),
  {
    only: (name: string, body: Body) => defineTest(name, body, "only"),
    skip: (name: string, body: Body) => defineTest(name, body, "skip"),
  },
);
export const beforeAll: (body: Body) => void = hook("beforeAll");
export const afterAll: (body: Body) => void = hook("afterAll");
export const beforeEach: (body: Body) => void = hook("beforeEach");
export const afterEach: (body: Body) => void = hook("afterEach");
