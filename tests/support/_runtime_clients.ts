/**
 * Proxies with a storage, and administrators that manage their clients.
 * @module
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningProxy, serve } from "../../proxy.ts";
import { testConfig } from "./proxy.ts";

export const adminToken = "t-admin-0123456789";

/** A client, as the proxy returns it. */
export interface ClientResponse {
  readonly id: string;
  readonly name: string;
  readonly token?: string;
  readonly [key: string]: unknown;
}

/** A response, with its body parsed if it is JSON. */
export interface Responded<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Creates a temporary folder. */
export async function tempFolder(): Promise<{ path: string; texts(): Promise<string[]> } & AsyncDisposable> {
  const path = await mkdtemp(join(tmpdir(), "mesh-clients-"));
  return {
    path,
    texts: async () => {
      const names = await readdir(path);
      return await Promise.all(names.map(async (name) => `${name}\n${await readFile(join(path, name), "utf8")}`));
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

/**
 * Returns a configuration of a proxy whose administrator has {@linkcode adminToken}. Every request costs one dollar.
 */
export function clientsConfig(
  upstream: { readonly url: string },
  storage: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> {
  return testConfig({
    upstreams: { a: upstream.url },
    pool: { retry: { max_attempts: 0 } },
    config: {
      models: {
        a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } },
      },
      proxy: { auth: { tokens: [adminToken, { token: "t-team-0123456789", name: "team", rpm: 10 }] } },
      ...(storage && { storage }),
    },
  });
}

/** Calls of a proxy. */
export interface ClientsProxy {
  readonly url: string;
  /** Calls `/mesh/clients…`, as administrator unless another token is given. */
  ask<Body = ClientResponse>(
    call: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Responded<Body>>;
  /** Sends a chat request and returns the status. */
  chat(token: string, model?: string): Promise<number>;
}

/** Returns the calls of a proxy at a URL. */
export function clientsProxy(url: string): ClientsProxy {
  return {
    url,
    async ask<Body>(call: string, body: unknown, headers: Readonly<Record<string, string>> = {}) {
      const [method = "", path = ""] = call.split(" ");
      const response = await fetch(`${url}/mesh/clients${path}`, {
        method,
        headers: {
          authorization: `Bearer ${adminToken}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type") === "application/json";
      return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as Body };
    },
    async chat(token, model = "chat") {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "Hi" }] }),
      });
      await response.body?.cancel();
      return response.status;
    },
  };
}

/** Starts a proxy on real time. */
export async function startClientsProxy(
  config: Record<string, unknown>,
  port: number = 0,
): Promise<ClientsProxy & { readonly running: RunningProxy } & AsyncDisposable> {
  const running = await serve({ config, port });
  return { ...clientsProxy(running.url), running, [Symbol.asyncDispose]: () => running.stop() };
}
