/** A page's engine is a server's: limits, budgets, key pools, routing constraints and records, of a configuration document. */
import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { answer, type Script, status } from "../support/upstream.ts";
import { describeInChromium } from "./_chromium.ts";
import type { Program } from "./_page.ts";
import { type PageProvider, startProvider } from "./_provider.ts";

/** What the page is to do: a configuration, and so many requests one after the other, each with its options. */
interface Session {
  readonly config: object;
  readonly calls: readonly object[];
}

/** What it saw. */
interface Seen {
  /** Of each request: the text of its answer, or its error's code. */
  readonly answers: readonly string[];
  /** Of each model: active, or the reason of its standby. */
  readonly states: Readonly<Record<string, string>>;
  /** Of each request: what its routing record says. */
  readonly records: readonly { readonly model: unknown; readonly tokens: unknown; readonly cost: unknown }[];
  /** The models that explain() names, the next one first, and what it says of the others. */
  readonly order: readonly string[];
  readonly excluded: readonly string[];
}

const asked: Program<Session, Seen> = async ({ create, MeshConfig }, { config, calls }) => {
  const records: Seen["records"][number][] = [];
  const client = create({
    config: MeshConfig.parse(config),
    random: () => 0,
    on: (record) => {
      if (record.type !== "routing") return;
      records.push({ model: record.model, tokens: record.tokens_out, cost: record.cost_usd });
    },
  });
  const answers: string[] = [];
  const messages = [{ role: "user" as const, content: "Hi" }];
  for (const settings of calls) {
    try {
      const { choices } = await client.chat.completions.create({ messages }, settings);
      answers.push(choices[0]!.message.content!);
    } catch (error) {
      answers.push((error as { code: string }).code);
    }
  }
  const { order, excluded } = await client.explain({ messages });
  const { models } = client.describe().pools[0]!;
  const states = Object.fromEntries(models.map(({ name, status, reason }) => [name, reason ?? status]));
  await client.close();
  return {
    answers,
    states,
    records,
    order: order.map(({ model }) => model),
    excluded: excluded.map(({ model, reason }) => `${model} ${reason}`),
  };
};

const key = (number: number) => `key-${number}-0123456789abcdef`;

/** What is special about a provider, its model, the pool and the whole. */
interface Tuning {
  readonly providers?: Readonly<Record<string, object>>;
  readonly models?: Readonly<Record<string, object>>;
  readonly pool?: object;
  readonly config?: object;
}

function configOf(urls: Readonly<Record<string, string>>, { providers, models, pool, config }: Tuning): object {
  const ids = Object.keys(urls);
  const each = (make: (id: string) => object) => Object.fromEntries(ids.map((id) => [id, make(id)]));
  return {
    providers: each((id) => ({
      connector: "openai.compatible.v1",
      base_url: urls[id],
      api_key: key(1),
      ...providers?.[id],
    })),
    models: each((id) => ({ provider: id, capabilities: ["chat-completion"], ...models?.[id] })),
    pools: { chat: { models: ids, ...pool } },
    ...config,
  };
}

const times = (count: number, settings: object = {}) => Array.from({ length: count }, () => settings);
/** One dollar a request, whatever it says. */
const dollar = { pricing: { input: 0, output: 0, per_request: 1 } };
const keysSeen = ({ requests }: PageProvider) =>
  requests.map(({ headers }) => /key-(\d)/.exec(headers.authorization ?? "")?.[1]).join(" ");

describeInChromium("the engine of a page", (open) => {
  /** Has a page ask `a` and `b`, which are tuned as said. */
  async function run(tuning: Tuning, calls: readonly object[], script: Script = answer({ text: "from a" })) {
    await using a = await startProvider(script);
    await using b = await startProvider(answer({ text: "from b" }));
    await using page = await open();
    const seen = await page.run(asked, { config: configOf({ a: a.url, b: b.url }, tuning), calls });
    return { ...seen, keys: keysSeen(a), calls: [a.requests.length, b.requests.length] };
  }

  it("keeps a vendor's limit, sends the rest elsewhere, and changes no state for it", async () => {
    const { answers, states, order } = await run({ models: { a: { limits: { rpm: 2 } } } }, times(4));
    assertEquals(answers, ["from a", "from a", "from b", "from b"]);
    assertEquals([states, order], [{ a: "active", b: "active" }, ["b"]]);
  });

  it("refuses what no model has room for", async () => {
    const limits = { limits: { rpm: 1 } };
    const { answers, calls } = await run({ models: { a: limits, b: limits } }, times(3));
    assertEquals([answers, calls], [["from a", "from b", "rate_limit_exceeded"], [1, 1]]);
  });

  for (
    const [place, tuning, reason] of [
      ["a provider", { providers: { a: { budget: { daily_limit: 2 } } } }, "provider_budget"],
      ["a pool", { pool: { budget: { daily_limit: 2 } } }, "budget_limit"],
      ["all", { config: { budget: { daily_limit: 2 } } }, "budget_limit"],
    ] as const
  ) {
    it(`spends no more than the budget of ${place}`, async () => {
      const models = { a: dollar, b: dollar };
      const { answers, states, calls } = await run({ models, ...tuning }, times(3, { route: { only: ["a"] } }));
      assertEquals([answers, calls], [["from a", "from a", "budget_exceeded"], [2, 0]]);
      assertEquals(states.a, reason);
    });
  }

  it("rotates over several keys of a provider, and passes over one that is refused", async () => {
    const provider = { api_key: [key(1), key(2), key(3)] };
    const script: Script = ({ headers }) =>
      headers.authorization === `Bearer ${key(2)}` ? status(401) : answer({ text: "from a" });
    const { answers, keys, states } = await run({ providers: { a: provider } }, times(5), script);
    assertEquals([answers, keys, states.a], [times(5).map(() => "from a"), "1 2 3 1 3 1", "active"]);
  });

  it("honors routing constraints, and explains where a request would go", async () => {
    const models = { a: dollar, b: { pricing: { input: 0, output: 0 } } };
    const calls = [{ route: { only: ["b"] } }, { route: { ignore: ["b"] } }, { route: { max_price: 0.5 } }, {
      headers: { "x-mesh-route": "only=b" },
    }];
    const { answers, order, excluded } = await run({ models }, calls);
    assertEquals(answers, ["from b", "from a", "from b", "from b"]);
    assertEquals([order, excluded], [["a", "b"], []]);
  });

  it("chooses by a strategy that the document names, and deactivates by the pool's policy", async () => {
    const turns = await run({ pool: { strategy: "round-robin" } }, times(4));
    assertEquals(turns.answers, ["from a", "from b", "from a", "from b"]);
    const pool = { deactivation: { retry_limit: 1 }, retry: { max_attempts: 0 } };
    const { answers, states, excluded } = await run({ pool }, times(2), status(500));
    assertEquals([answers, states.a, excluded], [["from b", "from b"], "retry_limit", ["a retry_limit"]]);
  });

  it("records what every request took and cost", async () => {
    const { records } = await run({ models: { a: dollar } }, times(2));
    assertEquals(records.map(({ model, cost }) => [model, cost]), [["a", 1], ["a", 1]]);
    assertEquals(records.every(({ tokens }) => typeof tokens === "number"), true);
  });

  it("has statistics, and does what an operator asks for", async () => {
    await using a = await startProvider(answer({ text: "from a" }));
    await using b = await startProvider(answer({ text: "from b" }));
    await using page = await open();
    const config = configOf({ a: a.url, b: b.url }, { models: { a: dollar } });
    const stats = await page.run(async ({ ModelMesh }, document) => {
      const mesh = new ModelMesh();
      await mesh.initialize(document as Record<string, unknown>);
      mesh.deactivate("a");
      const models = mesh.poolStatus().chat!.models.map(({ name, status, reason }) => `${name} ${status} ${reason}`);
      const { order } = await mesh.explain({ messages: [{ role: "user", content: "Hi" }] });
      const ids = mesh.stats().map(({ scope, id }) => `${scope} ${id}`);
      await mesh.close();
      return { models, order: order.map(({ model }) => model), ids };
    }, config);
    assertEquals(stats.models, ["a standby manual", "b active undefined"]);
    assertEquals([stats.order, stats.ids.includes("pool chat")], [["b"], true]);
  });
});
