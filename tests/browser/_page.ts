/**
 * A page that runs functions of a test, and hears whatever is written to its console.
 * @module
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { happens, patienceMs, until } from "../support/patience.ts";
import type { Browser, BrowserContext, ConsoleMessage, Page } from "./_playwright.ts";

/** The browser entry, as a page has it. */
export type ModelMesh = typeof import("../../browser.ts");

/** What runs in the page: text to it, so that nothing of the test is in reach but `facts`, which is JSON. */
export type Program<Facts, Result> = (modelmesh: ModelMesh, facts: Facts, show: Show) => Result | Promise<Result>;

/** Writes a line into the page. */
export type Show = (text: string) => void;

/** Where it runs: in the page itself unless said, or in a worker of it, where nothing can be shown. */
export type Place = "page" | "worker";

/** Which page is opened. */
export interface OpenOptions {
  /** The host that it comes from, such as `app.example`; `127.0.0.1` unless said. */
  readonly host?: string;
  /** `/` unless said; `/sandboxed` is kept from every storage. */
  readonly path?: string;
  /** Functions of the test that its scripts may call, by name. */
  readonly functions?: Readonly<Record<string, (given: unknown) => unknown>>;
}

/** An error as a page has it. */
export interface PageError {
  readonly name: string;
  readonly message: string;
  /** `code` of our errors. */
  readonly code?: string;
  /** Everything a page could print of it, causes included. */
  readonly text: string;
}

/** How a program in the page ended. */
interface Outcome {
  readonly result?: unknown;
  readonly error?: PageError;
}

/** One page, alone in its context. */
export class TestPage implements AsyncDisposable {
  readonly #context: BrowserContext;
  readonly #page: Page;
  /** What scripts wrote to the console, and what they did not catch. */
  readonly #uttered: string[] = [];
  /** What the browser itself wrote there, such as a request that was blocked. */
  readonly #noted: string[] = [];

  private constructor(context: BrowserContext, page: Page) {
    this.#context = context;
    this.#page = page;
    page.on("console", (message) => void (isOfScript(message) ? this.#uttered : this.#noted).push(message.text()));
    page.on("pageerror", (error) => void this.#uttered.push(String(error)));
  }

  /**
   * Opens one.
   *
   * @param port The site's.
   * @param options Which page.
   */
  static async open(browser: Browser, port: number, options: OpenOptions = {}): Promise<TestPage> {
    const { host = "127.0.0.1", path = "/", functions = {} } = options;
    const context = await browser.newContext();
    context.setDefaultTimeout(patienceMs);
    const page = new TestPage(context, await context.newPage());
    for (const [name, call] of Object.entries(functions)) await page.#page.exposeFunction(name, call);
    await page.#page.goto(`http://${host}:${port}${path}`);
    return page;
  }

  /** Opens another tab of the same site: what one keeps the other finds. */
  async another(): Promise<TestPage> {
    const page = new TestPage(this.#context, await this.#context.newPage());
    await page.#page.goto(this.#page.url());
    return page;
  }

  /** Where the page comes from, such as `http://app.example:40000`. */
  get origin(): string {
    return new URL(this.#page.url()).origin;
  }

  /** Everything that was written to the console, by whomever. */
  get console(): string {
    return [...this.#uttered, ...this.#noted].join("\n");
  }

  /** Runs a function in the page, or the text of one, and resolves with what it returns. */
  run<Facts, Result>(program: Program<Facts, Result> | string, facts: Facts, place?: Place): Promise<Result> {
    return this.#outcome(writeScript(program, facts, place), ({ result, error }) => {
      if (error !== undefined) throw new Error(`In the page: ${error.text}`);
      return result as Result;
    });
  }

  /** Runs a function in the page, or the text of one, that throws, and resolves with its error. */
  failure<Facts>(program: Program<Facts, unknown> | string, facts: Facts, place?: Place): Promise<PageError> {
    return this.#outcome(writeScript(program, facts, place), ({ result, error }) => {
      if (error === undefined) throw new Error(`Nothing was thrown in the page: ${JSON.stringify(result)}`);
      return error;
    });
  }

  /** Resolves once the page shows a text. */
  async shows(text: string): Promise<void> {
    await this.#page.getByText(text).first().waitFor().catch(() => {}); // what it shows says more than the time-out
    assertStringIncludes(await this.text(), text);
  }

  /** What the page shows. */
  text(): Promise<string> {
    return this.#page.locator("output").innerText();
  }

  /** Loads the page again: scripts start anew, storages stay. */
  async reload(): Promise<void> {
    await this.#page.reload();
  }

  /** Takes the network from the page, or gives it back; the page knows it a moment later. */
  async setOffline(isOffline: boolean): Promise<void> {
    await this.#context.setOffline(isOffline);
    await until(async () => await this.#page.evaluate("navigator.onLine") !== isOffline, "the page knows");
  }

  /** Gives the site so many bytes for all it keeps, `localStorage` aside. */
  async limitStorage(bytes: number): Promise<void> {
    const session = await this.#context.newCDPSession(this.#page);
    await session.send("Storage.overrideQuotaForOrigin", { origin: this.origin, quotaSize: bytes });
  }

  /** Closes it; fails when a script wrote to the console or left an error uncaught. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#page.evaluate("0"); // what was written before has been heard now
    await this.#page.close();
    if (this.#context.pages().length === 0) await this.#context.close();
    assertEquals(this.#uttered, [], "what was written to the page's console");
  }

  #outcome<Result>(text: string, read: (outcome: Outcome) => Result): Promise<Result> {
    const result = happens("what runs in the page ends", this.#page.evaluate<Outcome>(text)).then(read);
    result.catch(() => {}); // the test may look at something else first
    return result;
  }
}

/** What the page evaluates to run a program. */
function writeScript<Facts>(program: Program<Facts, unknown> | string, facts: Facts, place: Place = "page"): string {
  const text = `(${runProgram})(${program}, ${JSON.stringify(facts)})`;
  return place === "page" ? text : `(${runInWorker})(${JSON.stringify(text)})`;
}

/** Runs in the page: a program, and what becomes of it as JSON. */
async function runProgram(
  program: (modelmesh: unknown, facts: unknown, show: Show) => unknown,
  facts: unknown,
): Promise<Outcome> {
  const here = globalThis as unknown as {
    modelmesh: unknown;
    document: { querySelector(selector: string): { append(...texts: string[]): void } };
  };
  const show = (text: string) => here.document.querySelector("output").append(text, "\n");
  const print = (error: unknown): string =>
    error instanceof Error
      ? `${error.stack} ${error} ${JSON.stringify(error, Object.getOwnPropertyNames(error))} ${print(error.cause)}`
      : JSON.stringify(error) ?? String(error);
  try {
    return { result: await program(here.modelmesh, facts, show) };
  } catch (error) {
    const { name, message, code } = error as PageError;
    return { error: { name, message, code, text: print(error) } };
  }
}

/** Runs in the page: has a worker evaluate a text. */
function runInWorker(text: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = new Worker("/worker.js", { type: "module" });
    worker.onmessage = ({ data }) => {
      worker.terminate();
      resolve(data);
    };
    worker.onerror = reject;
    worker.postMessage(text);
  });
}

/** What the browser writes has no arguments. */
function isOfScript(message: ConsoleMessage): boolean {
  return message.args().length > 0;
}
