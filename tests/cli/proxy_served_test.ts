/** A start says what requests will use, and what that costs. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { describePrice } from "../../src/util/price_text.ts";
import { assertOutput } from "../support/_cli_outputs.ts";
import { type CommandSetup, inTime, startCommand } from "../support/_cli.ts";
import { json, startUpstream } from "../support/upstream.ts";

const local = { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1", api_key: "key-0123456789" };
const model = (provider: string, pricing?: object, more = {}) => ({
  provider,
  capabilities: ["chat-completion"],
  ...(pricing && { pricing }),
  ...more,
});

/** What a start prints, with the stop removed. */
async function start(config: object | undefined, args: readonly string[] = [], setup: CommandSetup = {}) {
  const files = { "mesh.json": JSON.stringify(config ?? {}) };
  const where = config === undefined ? [] : ["--config", "mesh.json"];
  const { shell, code } = startCommand(["proxy", ...where, ...args], { listens: false, files, ...setup });
  await inTime(Promise.race([shell.says("listens on"), code]), shell);
  const { out } = shell;
  const err = shell.err;
  shell.signal("SIGTERM");
  assertEquals(await code, 0, shell.err);
  return { out, err };
}

const providers = { first: local, second: local };
const models = {
  dear: model("first", { input: 2.5, output: 10 }),
  cheap: model("second", { input: 0.15, output: 0.6 }),
  gift: model("second", { input: 0, output: 0 }),
  riddle: model("first"),
};

describe("The start of a proxy", () => {
  it("shows the models of each pool with provider and price, and what follows a failure", async () => {
    const { err } = await start({
      providers,
      models,
      pools: { chat: { models: ["dear", "cheap", "gift", "riddle"] } },
    });
    assertStringIncludes(
      err,
      `
  providers: first (config), second (config)
  pools: chat (4)

Models of each pool, in this order; prices in USD, those of tokens per million:

  chat
    dear    first   $2.50 in, $10.00 out
    cheap   second  $0.15 in, $0.60 out
    gift    second  free
    riddle  first   price unknown

  stick-until-failure: one model for all requests until it fails to serve one
  after a failure: up to 2 retries, then the next model; after 3 failed requests in a row, 1m of standby
`,
    );
  });

  it("shows them in the order of each pool's strategy, and what differs between pools", async () => {
    const all = { models: ["dear", "cheap", "gift", "riddle"] };
    const { err } = await start({
      providers,
      models,
      pools: {
        thrifty: { ...all, strategy: "cost-first", recovery: { cooldown: "90s" } },
        ranked: { ...all, strategy: "priority", model_priority: ["riddle", "cheap"], retry: { max_attempts: 0 } },
        preferred: { ...all, strategy: "round-robin", provider_priority: ["second"], deactivation: { retry_limit: 1 } },
        alone: { models: ["dear"], retry: { max_attempts: 1, scope: "same_model" } },
        near: { models: ["dear", "riddle"], retry: { scope: "same_provider" } },
      },
    });
    const blocks = new Map(
      err.split("\n\n").map((block) => {
        const [name = "", ...lines] = block.split("\n").map((line) => line.trim());
        return [
          name,
          lines.map((line) => /^(\S+) +(?:first|second) /.exec(line)?.[1] ?? line).filter(Boolean),
        ] as const;
      }),
    );
    const standby = "after 3 failed requests in a row, 1m of standby";
    assertEquals(blocks.get("thrifty"), [
      ...["gift", "cheap", "dear", "riddle"],
      "cost-first: the cheapest model for each request",
      "after a failure: up to 2 retries, then the next model; after 3 failed requests in a row, 1m30s of standby",
    ]);
    assertEquals(blocks.get("ranked"), [
      ...["riddle", "cheap", "dear", "gift"],
      "priority-selection: the first model that is active",
      `after a failure: no retry, then the next model; ${standby}`,
    ]);
    assertEquals(blocks.get("preferred"), [
      ...["cheap", "gift", "dear", "riddle"],
      "round-robin: the models take turns, those with priority first",
      "after a failure: up to 2 retries, then the next model; after a failed request, 1m of standby",
    ]);
    const sticky = "stick-until-failure: one model for all requests until it fails to serve one";
    assertEquals(blocks.get("alone"), ["dear", sticky, `after a failure: 1 retry, and no other model; ${standby}`]);
    assertEquals(blocks.get("near"), [
      ...["dear", "riddle", sticky],
      `after a failure: up to 2 retries, then the next model of its provider; ${standby}`,
    ]);
  });

  it("shows detected models, and pools with the same models once", async () => {
    const { err } = await start(undefined, [], { env: { OPENAI_API_KEY: "sk-0123456789", NO_COLOR: "1" } });
    assertMatch(
      err,
      /\n {2}chat-completion, code-generation, json-generation, [^\n]*\n(?: {4}openai\.\S+ +openai\.llm\.v1 +\$\d+\.\d\d in, \$\d+\.\d\d out\n)+\n/,
    );
    assertMatch(err, /\n {4}openai\.tts-1 +openai\.llm\.v1 +\$15\.00 per 1M characters\n/);
    assertMatch(err, /\n {4}openai\.omni-moderation-latest +openai\.llm\.v1 +free\n/);
    assertEquals(err.match(/after a failure/g)?.length, 1);
  });

  it("shows models that a provider lists without letting their names steer the terminal", async () => {
    const listed = { object: "list", data: [{ id: "small\u001b[2J", object: "model", created: 1, owned_by: "a" }] };
    await using upstream = await startUpstream(json(listed));
    const server = { ...local, base_url: upstream.url };
    const { err } = await start({ providers: { server }, pools: { chat: { capability: "chat-completion" } } });
    assertMatch(err, /\n {4}\S*small\\u001b\[2J {2}server {2}price unknown\n/);
    assertFalse(err.includes("\u001b"));
  });

  it("says of whose models the vendor states the cost", async () => {
    const provider = "openrouter.gateway.v1";
    const { err } = await start({
      providers: { [provider]: { api_key: "sk-or-0123456789" } },
      models: { odd: model(provider, undefined, { model: "vendor/odd" }) },
      pools: { chat: { models: ["odd"] } },
    });
    assertStringIncludes(err, `\n    odd  ${provider}  price stated with each response\n`);
  });

  it("cuts what is long, and says how to see everything", async () => {
    const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`m${index}`, model("first")]));
    const names = Object.keys(many);
    const crowded = { providers: { first: local }, models: many, pools: { chat: { models: names } } };
    const { err } = await start(crowded);
    assertMatch(err, /\n {4}m7 +first +price unknown\n {4}… and 3 more\n/);
    const hint = '\n  Everything: "modelmesh pools" and "modelmesh models", or --json at the start\n';
    assertStringIncludes(err, hint);
    const pools = Object.fromEntries(names.flatMap((name) => [[`p-${name}`, { models: [name] }], [`q-${name}`, {
      models: [name, "m0"],
    }]]));
    const wide = (await start({ ...crowded, pools })).err;
    assertMatch(wide, /\n {2}… and 9 more pools\n/);
    assertStringIncludes(wide, hint);
    const short = await start({ ...crowded, pools: { chat: { models: names.slice(0, 8) } } });
    assertFalse(short.err.includes("…") || short.err.includes("Everything"), short.err);
  });

  it("has all of it in --json, and in the record of --log-format json", async () => {
    const names = Array.from({ length: 11 }, (_, index) => `m${index}`);
    const config = {
      providers,
      models: Object.fromEntries(
        names.map((name, index) => [name, model("first", index === 0 ? undefined : { input: index, output: 2 })]),
      ),
      pools: { chat: { models: names, strategy: "cost-first" } },
    };
    const { out, err } = await start(config, ["--json", "--log-format", "json"]);
    const { pools: [pool] } = assertOutput("proxy", out);
    assertEquals(pool.models.map(({ name }: { name: string }) => name), [...names.slice(1), "m0"]);
    assertEquals(pool.models.at(0), { name: "m1", provider: "first", pricing: { input: 1, output: 2 } });
    assertEquals(pool.models.at(-1), { name: "m0", provider: "first", pricing: null });
    const records = err.trimEnd().split("\n").map((line) => JSON.parse(line));
    const banner = records.find(({ message }) => message.startsWith("ModelMesh listens"));
    assertEquals(banner.served, [pool]);
  });

  it("has nothing of it on a quiet level", async () => {
    const { dear, cheap } = models;
    const config = { providers, models: { dear, cheap }, pools: { chat: { models: ["dear", "cheap"] } } };
    for (const level of ["warning", "error", "critical"]) {
      const { err } = await start(config, ["--log-level", level]);
      assertEquals(err.split("\n").slice(1), ["  providers: first (config), second (config)", "  pools: chat (2)", ""]);
      const json = (await start(config, ["--log-level", level, "--log-format", "json"])).err;
      assertFalse(json.includes('"served"'), json);
    }
    for (const level of ["debug", "info"]) {
      assert((await start(config, ["--log-level", level])).err.includes("$2.50 in"));
    }
  });

  it("says that nothing can be served, and why", async () => {
    const empty = (await start({ providers: {} })).err;
    assertStringIncludes(empty, "\nNo request can be served yet: no provider is configured\n");
    const env = { OLLAMA_HOST: "127.0.0.1:9" };
    const silent = (await start(undefined, [], { env })).err;
    assertMatch(
      silent,
      /\nNo request can be served yet: no pool has a model\n {2}ollama\.local\.v1 did not list its models: /,
    );
  });
});

describe("describePrice()", () => {
  it("says what decides the cost", () => {
    const cases = [
      [undefined, "price unknown"],
      [{}, "free"],
      [{ input: 0, output: 0 }, "free"],
      [{ input: 0.02 }, "$0.02 in"],
      [{ input: 0.075, output: 0.3, cached_input: 0.01, cache_write: 1, per_search: 0.01 }, "$0.075 in, $0.30 out"],
      [{ input: 0.6, audio_output: 12 }, "$0.60 in, $12.00 audio out"],
      [{ per_million_characters: 15 }, "$15.00 per 1M characters"],
      [{ per_minute: 0.000667 }, "$0.000667 per minute"],
      [{ input: 1, output: 2, per_request: 0.005 }, "$1.00 in, $2.00 out, $0.005 per request"],
      [{ input: 0, output: 0, per_search: 0.008 }, "$0.008 per search"],
    ] as const;
    for (const [price, text] of cases) assertEquals(describePrice(price), text);
  });
});
