/**
 * A fleet of proxies with a client, a team and a budget of all: in this process, on the real clock.
 * @module
 */
import { assertEquals } from "@std/assert";
import { serve } from "../../proxy.ts";
import { tally } from "./_tuned.ts";
import { ok, startUpstream } from "./upstream.ts";

/** Limits of the three levels, dollars. */
export interface FleetLimits {
  readonly client: number;
  readonly team: number;
  readonly all: number;
}

/** Tokens of the clients, which are in one team. */
export const fleetTokens: readonly string[] = ["token-of-the-one-0123456789", "token-of-the-two-0123456789"];

/** Configuration of a proxy whose calls cost a dollar each. It refuses what the storage cannot decide. */
export function fleetConfig({ url, limits, storage }: {
  /** URL of the provider. */
  readonly url: string;
  readonly limits: FleetLimits;
  readonly storage: Readonly<Record<string, unknown>>;
}): Record<string, unknown> {
  const budget = { daily_limit: limits.client };
  return {
    providers: { p: { connector: "openai.compatible.v1", base_url: url } },
    models: {
      a: { provider: "p", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } },
    },
    pools: { chat: { models: ["a"], deactivation: { retry_limit: 1_000_000 } } },
    teams: { t: { budget: [{ limit: limits.team, window: "1d" }] } },
    budget: { daily_limit: limits.all },
    storage: { ...storage, on_unavailable: "closed" },
    proxy: { auth: { tokens: fleetTokens.map((token, index) => ({ token, name: `c${index}`, team: "t", budget })) } },
  };
}

/** Asks a proxy. Returns 200, the code of the error, or `lost` if the connection broke. */
export async function askFleet(url: string, token: string): Promise<string> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }] }),
    });
    const body = await response.json();
    return response.status === 200 ? "200" : body.error?.code ?? String(response.status);
  } catch {
    return "lost";
  }
}

/** Running proxies. */
interface Proxies extends AsyncDisposable {
  /** Asks one of them. */
  ask(index: number, token: string): Promise<string>;
}

/** Starts proxies in this process. */
async function startProxies(count: number, config: Readonly<Record<string, unknown>>): Promise<Proxies> {
  const servers = await Promise.all(Array.from({ length: count }, () => serve({ config, port: 0 })));
  return {
    ask: (index, token) => askFleet(servers[index]!.url, token),
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** A response that costs a dollar. */
export const paidResponse: ReturnType<typeof ok> = ok({
  text: "hello",
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});

/** Limits of which each level is the lowest once, and how many of 100 calls of two clients they admit. */
const levels: readonly (FleetLimits & { readonly admitted: number })[] = [
  { client: 10, team: 30, all: 50, admitted: 20 },
  { client: 40, team: 30, all: 50, admitted: 30 },
  { client: 40, team: 60, all: 50, admitted: 50 },
];

/**
 * Fails unless proxies that are asked a hundred times at once admit as much as the lowest of three levels.
 *
 * @param storage Attributes of the storage that they share.
 * @param count Number of proxies.
 */
export async function assertExactBudgets(storage: Readonly<Record<string, unknown>>, count: number): Promise<void> {
  for (const [index, { admitted, ...limits }] of levels.entries()) {
    await using upstream = await startUpstream(paidResponse);
    const own = { ...storage, prefix: `level${index}of${count}` };
    await using proxies = await startProxies(count, fleetConfig({ url: upstream.url, limits, storage: own }));
    const codes = await Promise.all(
      Array.from({ length: 100 }, (_, turn) => proxies.ask(turn % count, fleetTokens[turn >> 2 & 1]!)),
    );
    assertEquals(tally(codes), { 200: admitted, budget_exceeded: 100 - admitted }, `${count} proxies, level ${index}`);
    assertEquals(upstream.calls, admitted);
  }
}
