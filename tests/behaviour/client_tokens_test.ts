/** Tokens that say who holds them: what a client may use, send and spend. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock } from "../../src/runtime/test.ts";
import { behind } from "../support/_failover.ts";
import { startTestProxy, type TestProxy } from "../support/proxy.ts";
import { Gate, ok, respond, type Script, startUpstream, status, stream, type Upstream } from "../support/upstream.ts";

const tokens = {
  app: "token-of-the-app-0123456789",
  batch: "token-of-the-batch-0123456789",
  anyone: "a-token-and-nothing-else-0123",
};
type Name = keyof typeof tokens;

/** One dollar a request, whatever it says. */
const dollar = { provider: "a", capabilities: ["chat-completion"], pricing: { input: 0, output: 0, per_request: 1 } };

interface Site extends AsyncDisposable {
  readonly proxy: TestProxy;
  readonly upstream: Upstream;
  /** Posts a chat request with a token. */
  ask(as: Name, body?: Readonly<Record<string, unknown>>, options?: { readonly route?: string }): Promise<Response>;
  get(as: Name, path: string): Promise<Response>;
}

/** A proxy with the pools `chat` and `other` over one model, and a client `app` that has these facts. */
async function startSite(facts: object, behaviour: Script = respond(), config: object = {}): Promise<Site> {
  const upstream = await startUpstream(behaviour);
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    clock: fakeClock({ now: Date.UTC(2026, 0, 1, 18), skipSleeps: true }),
    config: {
      models: { a: dollar },
      pools: { chat: { models: ["a"] }, other: { models: ["a"] } },
      aliases: { mine: "chat", theirs: "other" },
      proxy: {
        auth: {
          tokens: [
            { token: tokens.app, name: "app", ...facts },
            { token: tokens.batch, name: "batch" },
            tokens.anyone,
          ],
        },
      },
      ...config,
    },
  });
  const headersOf = (as: Name) => ({ authorization: `Bearer ${tokens[as]}`, "content-type": "application/json" });
  return {
    proxy,
    upstream,
    ask: (as, body = {}, { route } = {}) =>
      proxy.chat(body, { headers: { ...headersOf(as), ...(route === undefined ? {} : { "x-mesh-route": route }) } }),
    get: (as, path) => fetch(`${proxy.url}${path}`, { headers: headersOf(as) }),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** A non-streaming response's status and error code. */
async function readCode(response: Response): Promise<[status: number, code?: string]> {
  const { error } = await response.json();
  return error === undefined ? [response.status] : [response.status, error.code];
}

async function readCodes(responses: Iterable<Response | Promise<Response>>): Promise<unknown[]> {
  const codes: unknown[] = [];
  for (const response of responses) codes.push(...await readCode(await response));
  return codes;
}

describe("A client with pools of its own", () => {
  const pools = { pools: ["chat"] };

  it("is served from them by name and alias, and 404 by everything else there is", async () => {
    await using site = await startSite(pools);
    for (const model of ["chat", "mine"]) assertEquals(await readCode(await site.ask("app", { model })), [200]);
    for (const model of ["other", "theirs", "chat-completion", "othr"]) {
      assertEquals(await readCode(await site.ask("app", { model })), [404, "model_not_found"], model);
      assertEquals((await readCode(await site.ask("batch", { model })))[0], model === "othr" ? 404 : 200, model);
    }
  });

  it("sees no other pool, not even in a hint", async () => {
    await using site = await startSite(pools);
    const list = async (as: Name) =>
      (await (await site.get(as, "/v1/models")).json()).data.map(({ id }: { id: string }) => id);
    assertEquals(await list("app"), ["chat", "mine", "a"]);
    assertEquals(await list("anyone"), ["chat", "other", "mine", "theirs", "a"]);
    assertEquals(await readCode(await site.get("app", "/v1/models/other")), [404, "model_not_found"]);
    const { error } = await (await site.ask("app", { model: "othr" })).json();
    assertEquals(error.message, 'There is no such model or pool for the client "app": it has "chat"');
    assertEquals(Object.keys((await (await site.get("app", "/health")).json()).pools), ["chat"]);
    assertEquals(Object.keys((await (await site.get("batch", "/health")).json()).pools), ["chat", "other"]);
  });

  it("may name their models, by name and by upstream id, and no others", async () => {
    const elsewhere = { ...dollar, model: "same-id" };
    await using site = await startSite(pools, respond(), {
      models: { a: dollar, first: elsewhere, second: elsewhere, hidden: elsewhere },
      pools: { chat: { models: ["a", "first", "second"] }, other: { models: ["hidden"] } },
      aliases: { mine: "first", theirs: "hidden" },
    });
    const served = async (model: string, body: object = {}) => {
      const response = await site.ask("app", { model, ...body });
      const { headers } = response;
      return [...await readCode(response), headers.get("x-mesh-pool"), headers.get("x-mesh-model")];
    };
    assertEquals(await served("a"), [200, "a", "a"]);
    assertEquals(await served("mine"), [200, "first", "first"]);
    for (const model of ["hidden", "theirs"]) assertEquals((await served(model))[1], "model_not_found", model);
    const asked = await Promise.all(Array.from({ length: 6 }, () => served("same-id")));
    for (const [status, pool, model] of asked) {
      assertEquals([status, pool], [200, "same-id"]);
      assert(model === "first" || model === "second", `not ${model}`);
    }
    assertEquals((await served("same-id", { mesh: { only: ["hidden"] } }))[1], "invalid_value");
    assertEquals((await served("same-id", { mesh: { only: ["second"] } }))[2], "second");
    for (
      const [model, status] of [["a", 200], ["second", 200], ["same-id", 200], ["hidden", 404], ["other", 404]] as const
    ) {
      assertEquals((await readCode(await site.get("app", `/v1/models/${model}`)))[0], status, model);
    }
  });

  it("rotates among those models of an id that it may use", async () => {
    const elsewhere = { ...dollar, model: "same-id" };
    await using site = await startSite(pools, [status(500), respond()], {
      models: { hidden: elsewhere, first: elsewhere, second: elsewhere },
      pools: { chat: { models: ["first", "second"], retry: { max_attempts: 0 } }, "*": { retry: { max_attempts: 0 } } },
      aliases: {},
    });
    const response = await site.ask("app", { model: "same-id" });
    assertEquals([response.headers.get("x-mesh-model"), response.headers.get("x-mesh-attempts")], ["second", "2"]);
    await response.body?.cancel();
  });

  it("goes on with those of its `models` that it has", async () => {
    await using site = await startSite(pools);
    assertEquals(await readCode(await site.ask("app", { model: "other", models: ["chat"] })), [200]);
    assertEquals(await readCode(await site.ask("app", { model: "other", models: ["theirs"] })), [
      404,
      "model_not_found",
    ]);
  });

  it("gets the same response for what is outside of them as for what is invented", async () => {
    const elsewhere = { provider: "a", capabilities: ["chat-completion"] };
    await using site = await startSite(pools, respond(), {
      models: { a: dollar, hidden: elsewhere, voice: { ...elsewhere, capabilities: ["text-to-speech"] } },
      pools: { chat: { models: ["a"] }, other: { models: ["hidden"] }, speech: { models: ["voice"] } },
      aliases: { theirs: "other" },
    });
    const answers = async (names: readonly string[], body: (name: string) => Readonly<Record<string, unknown>>) => {
      const all = await Promise.all(names.map(async (name) => {
        const response = await site.ask("app", body(name));
        const { error } = await response.json();
        return JSON.stringify([response.status, error?.code, error?.message]).replaceAll(name, "NAME");
      }));
      assertEquals(all, all.map(() => all[0]), "all alike");
      return JSON.parse(all[0]!).slice(0, 2);
    };
    const names = ["invented", "other", "theirs", "hidden", "speech", "voice", "text-to-speech"];
    assertEquals(await answers(names, (model) => ({ model })), [404, "model_not_found"]);
    assertEquals(await answers(names, (name) => ({ model: "nowhere", models: [name] })), [404, "model_not_found"]);
    assertEquals((await answers(names, (name) => ({ model: "chat", models: [name] })))[0], 200);
    const invalid = [400, "invalid_value"];
    const models = ["invented", "hidden", "voice"];
    for (const list of ["only", "ignore", "order"]) {
      assertEquals(await answers(models, (name) => ({ mesh: { [list]: [name] } })), invalid, list);
      // not by way of a pool that it names either
      const mesh = (name: string) => ({ models: ["other", "speech"], mesh: { [list]: [name] } });
      assertEquals(await answers(models, mesh), invalid, list);
    }
  });

  it("constrains routing by x-mesh-route within them, and gets the same response for hidden names as for invented", async () => {
    const elsewhere = { provider: "a", capabilities: ["chat-completion"] };
    await using site = await startSite(pools, respond(), {
      models: { a: dollar, second: elsewhere, hidden: elsewhere },
      pools: { chat: { models: ["a", "second"] }, other: { models: ["hidden"] } },
    });
    const served = await site.ask("app", {}, { route: "only=second" });
    assertEquals([served.status, served.headers.get("x-mesh-model")], [200, "second"]);
    await served.body?.cancel();
    for (const list of ["only", "ignore", "order"]) {
      const errors = await Promise.all(["hidden", "invented"].map(async (name) => {
        const response = await site.ask("app", {}, { route: `${list}=a,${name}` });
        const { error } = await response.json();
        return [response.status, error.code, error.param, error.message.replaceAll(name, "NAME")];
      }));
      assertEquals(errors[0], errors[1]);
      assertEquals(errors[0]!.slice(0, 3), [400, "invalid_value", "x-mesh-route"], list);
    }
    const other = await site.ask("app", { model: "other" }, { route: "only=hidden" });
    assertEquals(await readCode(other), [404, "model_not_found"]);
    assertEquals(site.upstream.requests.length, 1);
  });

  it("may have one that is made on demand", async () => {
    await using site = await startSite({ pools: ["generation.text-generation.chat-completion"] });
    assertEquals(await readCode(await site.ask("app", { model: "chat-completion" })), [200]);
    assertEquals(await readCode(await site.ask("app", { model: "chat" })), [404, "model_not_found"]);
  });
});

describe("A client's budget", () => {
  const budget = { budget: { daily_limit: 3 } };

  it("is spent exactly when the sum reaches it, until UTC midnight, and counts for no other client", async () => {
    await using site = await startSite(budget);
    assertEquals(await readCodes([1, 2, 3].map(() => site.ask("app"))), [200, 200, 200]);
    const refused = await site.ask("app");
    const { error } = await refused.json();
    assertEquals([refused.status, error.type, error.code], [429, "insufficient_quota", "budget_exceeded"]);
    assertEquals(error.message, 'The budget of the client "app" is spent');
    assertEquals(refused.headers.get("retry-after"), String(6 * 3_600));
    assertEquals(refused.headers.get("x-should-retry"), "false");
    assertEquals(site.proxy.mesh.poolStatus().chat?.active, 1, "the model is in standby for no client");
    assertEquals(await readCodes([site.ask("batch"), site.ask("anyone")]), [200, 200]);
    await site.proxy.clock.advance(6 * 3_600_000);
    assertEquals(await readCode(await site.ask("app")), [200]);
    assertEquals(site.upstream.requests.length, 6);
  });

  it("is spent, and no matter of recovery, while a model is in standby", async () => {
    await using site = await startSite({ budget: { daily_limit: 1 } }, respond(), {
      models: { a: dollar, paused: dollar },
      pools: { chat: { models: ["paused", "a"] } },
      aliases: {},
    });
    site.proxy.mesh.deactivate("paused");
    assertEquals(await readCode(await site.ask("app")), [200]);
    const refused = await site.ask("app");
    assertEquals([...await readCode(refused), refused.headers.get("retry-after")], [429, "budget_exceeded", "21600"]);
    assertEquals(await readCode(await site.ask("batch")), [200]);
  });

  it("holds over all pools, non-streaming and streaming answers", async () => {
    await using site = await startSite(budget, [ok(), stream(), ok()]);
    await readCode(await site.ask("app"));
    assertStringIncludes(await (await site.ask("app", { model: "other", stream: true })).text(), "[DONE]");
    await readCode(await site.ask("app", { model: "other" }));
    assertEquals(await readCode(await site.ask("app")), [429, "budget_exceeded"]);
  });

  it("is reserved at dispatch: concurrent requests do not pass it", async () => {
    const gate = new Gate();
    await using site = await startSite(budget, behind(gate, respond()));
    const answers = Array.from({ length: 8 }, () => site.ask("app"));
    await gate.reached(3);
    assertEquals((await Promise.race(answers)).status, 429, "while three are under way");
    gate.openAll();
    const codes = (await Promise.all(answers)).map((one) => one.status);
    assertEquals(codes.sort(), [200, 200, 200, 429, 429, 429, 429, 429]);
    for (const one of await Promise.all(answers)) await one.body?.cancel();
    assertEquals(site.upstream.requests.length, 3);
  });

  it("is not spent by errors", async () => {
    const pool = { models: ["a"], retry: { max_attempts: 0 }, deactivation: { retry_limit: 99 } };
    await using site = await startSite(budget, [status(500), status(400), status(429), ...[1, 2, 3].map(() => ok())], {
      pools: { chat: pool },
      aliases: {},
    });
    for (let count = 0; count < 3; count++) assert((await readCode(await site.ask("app")))[0] >= 400);
    await site.proxy.clock.advance(600_000);
    assertEquals(await readCodes([1, 2, 3, 4].map(() => site.ask("app"))), [200, 200, 200, 429, "budget_exceeded"]);
  });

  it("that has not enough left for a request says so", async () => {
    await using site = await startSite({ budget: { monthly_limit: 0.5 } });
    const { error } = await (await site.ask("app")).json();
    const reason = 'what is left to the client "app" is too little for this request';
    assertMatch(error.message, new RegExp(`${reason}: the client "app" has \\$0\\.50 of \\$0\\.50 left this month$`));
    assertEquals(site.upstream.requests.length, 0);
  });
});

describe("A client's requests a minute", () => {
  it("are refused over the limit with the time to wait, and only the client's", async () => {
    await using site = await startSite({ rpm: 2 });
    await readCode(await site.ask("app"));
    await site.proxy.clock.advance(20_000);
    await readCode(await site.ask("app"));
    const refused = await site.ask("app");
    const { error } = await refused.json();
    assertEquals([refused.status, error.type, error.code], [429, "rate_limit_error", "rate_limit_exceeded"]);
    assertEquals(error.message, 'The client "app" may send 2 requests a minute (rpm)');
    const wait = Number(refused.headers.get("retry-after"));
    assert(wait >= 40 && wait <= 42, String(wait));
    assertEquals(await readCodes([site.ask("batch"), site.get("app", "/v1/models")]), [200, 200]);
    await site.proxy.clock.advance(wait * 1000);
    assertEquals(await readCode(await site.ask("app")), [200], "after its retry-after");
    assertEquals(await readCode(await site.ask("app")), [429, "rate_limit_exceeded"]);
  });
});
