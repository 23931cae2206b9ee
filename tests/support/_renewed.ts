/**
 * Proxies with a configuration file that tests rewrite, and budgets in the state.
 * @module
 */
import { serverConnectors } from "../../connectors/server.ts";
import { type RunningProxy, startProxy } from "../../src/proxy/serve.ts";
import { serverRuntime } from "../../src/runtime/server.ts";
import { serverShell } from "../../src/runtime/server_shell.ts";
import { goodBody } from "./_surface.ts";
import { testConfig } from "./proxy.ts";
import type { Upstream } from "./upstream.ts";

/** Sections of a configuration. */
export type Sections = Readonly<Record<string, unknown>>;

/** Token of the client with a budget. */
const token = "of-the-app-0123456789";

/** A proxy with a configuration file. */
export interface OnFile extends AsyncDisposable {
  readonly proxy: RunningProxy;
  /** Sends a request with a token (by default, of the client with a budget) and returns the status. */
  ask(key?: string): Promise<number>;
  /** Rewrites the file, and reloads. */
  renew(config: Sections): Promise<void>;
}

/** Starts a proxy with a configuration file in a folder. */
export async function startOnFile(folder: string, config: Sections): Promise<OnFile> {
  const path = `${folder}/mesh.json`;
  await Deno.writeTextFile(path, JSON.stringify(config));
  const parts = { connectors: serverConnectors, runtime: serverRuntime(), shell: serverShell() };
  const proxy: RunningProxy = await startProxy(parts, { config: path, port: 0 });
  return {
    proxy,
    async ask(key = token) {
      const response = await fetch(`${proxy.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify(goodBody),
      });
      await response.body?.cancel();
      return response.status;
    },
    async renew(config) {
      await Deno.writeTextFile(path, JSON.stringify(config));
      await proxy.reload();
    },
    [Symbol.asyncDispose]: () => proxy.stop(),
  };
}

/** Price: one dollar per request. */
const dollar = {
  a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } },
};

/**
 * Returns a configuration with a budget of the client and an overall one, larger by a dollar. Every request costs a
 * dollar.
 */
export function budgeted(upstream: Upstream, storage: Sections, limit: number): Sections {
  const tokens = [{ token, name: "app", budget: { daily_limit: limit } }, "of-nobody-0123456789"];
  return testConfig({
    upstreams: { a: upstream.url },
    config: { models: dollar, storage, budget: { daily_limit: limit + 1 }, proxy: { auth: { tokens } } },
    pool: { retry: { max_attempts: 0 } },
  });
}
