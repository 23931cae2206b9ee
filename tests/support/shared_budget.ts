/**
 * Proxies that share a budget of a dollar a request, on three levels: of all, of a pool, and of a model in the pool.
 * @module
 */
import { until } from "./patience.ts";
import { type ChatResult, type SharedProxies, startSharedProxies } from "./shared_proxies.ts";
import { ok, type Upstream } from "./upstream.ts";

/** The response of their provider. */
export const costlyResponse: ReturnType<typeof ok> = ok({
  text: "hello",
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
});

/** Options of {@linkcode startSharedBudget}. */
export interface SharedBudgetOptions {
  /** Attributes of the storage. */
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly upstream: Upstream;
  /** The budget of all, dollars; those below it have ten more each. */
  readonly dollars: number;
  /** Number of proxies. */
  readonly count?: number;
  readonly prefix?: string;
}

/** Starts the proxies. They refuse what the store cannot decide. */
export function startSharedBudget(
  { attributes, upstream, dollars, count, prefix }: SharedBudgetOptions,
): Promise<SharedProxies> {
  const pricing = { input: 0, output: 0, per_request: 1 };
  return startSharedProxies({
    redis: { url: "" },
    attributes,
    upstreams: { a: upstream.url },
    pool: {
      budget: { daily_limit: dollars + 10 },
      deactivation: { budget_limit: dollars + 20, quota_window: "daily" },
    },
    config: {
      models: { a: { provider: "a", capabilities: ["chat-completion"], pricing } },
      budget: { daily_limit: dollars },
    },
    onUnavailable: "closed",
    ...(count === undefined ? {} : { count }),
    ...(prefix === undefined ? {} : { prefix }),
  });
}

/** Asks all proxies at once. */
export function askAll(proxies: SharedProxies, calls: number): Promise<ChatResult[]> {
  return Promise.all(Array.from({ length: calls }, (_, index) => proxies[index % proxies.length]!.chat()));
}

/** Asks all proxies without a break until each refuses because of the budget, while time passes. */
export async function spendAll(proxies: SharedProxies): Promise<ChatResult[]> {
  const results: ChatResult[] = [];
  let pending = 0;
  const loops = proxies.flatMap((proxy) =>
    Array.from({ length: 4 }, async () => {
      pending++;
      for (;;) {
        const result = await proxy.chat();
        results.push(result);
        if (result.code === "budget_exceeded") break;
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      pending--;
    })
  );
  await until(async () => {
    await proxies.clock.advance(20);
    return pending === 0;
  }, () => `all is spent: ${JSON.stringify(results.slice(-8))}`);
  await Promise.all(loops);
  for (let isSpent = false; !isSpent;) {
    await proxies.hear(); // a reservation that came too late is given back
    const rest = await askAll(proxies, proxies.length);
    results.push(...rest);
    isSpent = rest.every(({ code }) => code === "budget_exceeded");
  }
  return results;
}

/** Lets time pass until the last trace of the storage says that of each proxy. */
export async function untilAllSay(proxies: SharedProxies, what: string): Promise<void> {
  await until(async () => {
    if (proxies.every(({ traces }) => traces.findLast((trace) => trace.includes("storage is"))?.includes(what))) {
      return true;
    }
    await proxies.hear();
    return false;
  }, () => `all say ${what}: ${JSON.stringify(proxies.map(({ traces }) => traces))}`);
}
