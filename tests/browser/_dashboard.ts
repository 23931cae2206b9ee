/**
 * A proxy with its dashboard open in a browser.
 * @module
 */
import { assertEquals } from "@std/assert";
import { ModelMesh } from "../../mod.ts";
import { createHandler, type Handler, listen } from "../../proxy.ts";
import { patienceMs, until } from "../support/patience.ts";
import { portForRestarts } from "../support/ports.ts";
import { testConfig, type TestProxyOptions } from "../support/proxy.ts";
import type { Browser, BrowserContext, Page } from "./_playwright.ts";

/** A proxy on the machine's clock, which the page compares with its own. */
export interface DashboardProxy extends AsyncDisposable {
  /** Without path. */
  readonly url: string;
  readonly mesh: ModelMesh;
  readonly handler: Handler;
  /** Posts a chat request to the pool `chat`, with the first token unless another is passed, and reads the response. */
  chat(body?: Readonly<Record<string, unknown>>, token?: string): Promise<string>;
  /** Ends the server, not the mesh. */
  leave(): Promise<void>;
  /** Serves at the same port again. */
  comeBack(): Promise<void>;
}

/** Starts one. */
export async function startDashboardProxy(options: TestProxyOptions): Promise<DashboardProxy> {
  const mesh = new ModelMesh();
  await mesh.initialize(testConfig(options));
  const handler = createHandler(mesh, { tokens: options.tokens ?? [] });
  const port = await portForRestarts();
  let server = await listen(handler, { port });
  const url = `http://127.0.0.1:${port}`;
  const [firstToken] = options.tokens ?? [];
  return {
    url,
    mesh,
    handler,
    async chat(body = {}, token = firstToken) {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }], ...body }),
      });
      return await response.text();
    },
    leave: () => server.stop(0),
    comeBack: async () => void (server = await listen(handler, { port })),
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      await mesh.close();
    },
  };
}

/** How the page is opened. */
export interface DashboardOptions {
  /** Width of the window, CSS px. */
  readonly width?: number;
  readonly scheme?: "light" | "dark";
  /** Whether the page's clock goes on by `page.clock` alone. */
  readonly hasFakeTime?: boolean;
}

/** A dashboard in a tab of its own. */
export class Dashboard implements AsyncDisposable {
  readonly page: Page;
  /** Every request of the page, such as `GET /mesh/status`; a foreign origin's with its whole address. */
  readonly requests: string[] = [];
  readonly #context: BrowserContext;
  /** What scripts wrote to the console, and what they did not catch. */
  readonly #uttered: string[] = [];

  private constructor(context: BrowserContext, page: Page, url: string) {
    this.#context = context;
    this.page = page;
    page.on("request", (request) => {
      const address = request.url();
      if (address.startsWith("data:")) return;
      this.requests.push(`${request.method()} ${address.startsWith(`${url}/`) ? address.slice(url.length) : address}`);
    });
    page.on("console", (message) => {
      const isPolicy = message.text().includes("Content Security Policy");
      if (message.args().length > 0 || isPolicy) this.#uttered.push(message.text());
    });
    page.on("pageerror", (error) => void this.#uttered.push(String(error)));
  }

  /** Opens `/ui` of a proxy. */
  static async open(
    browser: Browser,
    { url }: Pick<DashboardProxy, "url">,
    { width = 1440, scheme = "light", hasFakeTime = false }: DashboardOptions = {},
  ): Promise<Dashboard> {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
    context.setDefaultTimeout(patienceMs);
    const dashboard = new Dashboard(context, await context.newPage(), url);
    if (hasFakeTime) await dashboard.page.clock.install();
    await dashboard.page.goto(`${url}/ui`);
    return dashboard;
  }

  /** Enters a token. */
  async signIn(token: string): Promise<void> {
    await this.page.locator("#token").fill(token);
    await this.page.getByRole("button", { name: "Show the dashboard" }).click();
  }

  /** Resolves once it shows that it is connected. */
  async isLive(): Promise<void> {
    await this.page.locator('#connection[data-state="live"]').waitFor();
  }

  /** Resolves once a part of the page contains a text. */
  async shows(selector: string, text: string | RegExp): Promise<void> {
    await this.page.locator(selector).filter({ hasText: text }).first().waitFor().catch(async () => {
      const shown = await this.page.locator(selector).allInnerTexts();
      throw new Error(`${selector} does not show ${text} but ${JSON.stringify(shown)}`);
    });
  }

  /** How often the page sent a request. */
  count(request: string): number {
    return this.requests.filter((one) => one === request).length;
  }

  /** Resolves once a condition in the page holds. */
  async holds(condition: string): Promise<void> {
    await until(async () => await this.page.evaluate<boolean>(condition), condition);
  }

  /** Closes it; fails when a script wrote to the console, left an error uncaught, or was stopped by the page's policy. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.evaluate("0"); // what was written before has been heard now
    await this.#context.close();
    assertEquals(this.#uttered, [], "what was written to the page's console");
  }
}
