/** Equal requests at once: one upstream call for all of them, of which each gets its own response, record and end. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { fakeClock, settle } from "../../src/runtime/test.ts";
import { type Ask, cacheableBodies, held, openCacheStage as open } from "../support/_cache_stage.ts";
import { becomes, until } from "../support/patience.ts";
import { Gate, hang, respond, status } from "../support/upstream.ts";

const priced = {
  models: { a: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 10, output: 20 } } },
};
const cost = 10 * 10 / 1e6 + 5 * 20 / 1e6;

describe("equal requests at once", () => {
  for (const form of ["complete", "streamed", "mixed"]) {
    it(`are one upstream call for fifty of them: ${form}`, async () => {
      const gate = new Gate();
      await using stage = await open({ providers: { a: held(respond(), gate) }, config: priced });
      const all = Array.from({ length: 50 }, (_, index) => {
        return stage.ask({ stream: form === "streamed" || form === "mixed" && index % 2 === 1 });
      });
      await stage.joined(50);
      gate.openAll();
      const responses = await Promise.all(all);
      assertEquals(stage.calls(), 1);
      for (const { status, text } of responses) assertEquals([status, text], [200, "Hello world"]);
      const hits = responses.filter(({ cache }) => cache?.startsWith("HIT"));
      for (const { cache } of hits) assertMatch(cache!, /^HIT; age=0; saved=0\.000\d+$/);
      assertEquals(responses.filter(({ cache }) => cache === "MISS").length, 1);
      assertEquals(hits.length, 49);
      await becomes(() => stage.records.length, 50);
      assertEquals(stage.records.filter(({ cached }) => cached === true).length, 49);
      assertEquals(new Set(stage.records.map(({ request_id }) => request_id)).size, 50);
      for (const { cached, cost_usd, saved_usd, attempts, model, provider, status } of stage.records) {
        assertEquals([model, provider, status], ["a", "a", 200]);
        if (cached) assertEquals([cost_usd, saved_usd, attempts], [0, cost, 0]);
        else assertEquals([cost_usd, saved_usd, attempts], [cost, undefined, 1]);
      }
    });
  }

  it("are calls of their own if the cache does not coalesce", async () => {
    const gate = new Gate();
    await using stage = await open({ providers: { a: held(respond(), gate) }, cache: { coalesce: false } });
    const all = [stage.ask(), stage.ask({ stream: true }), stage.ask()];
    await until(() => stage.calls() === 3);
    gate.openAll();
    for (const { cache, text } of await Promise.all(all)) assertEquals([cache, text], ["MISS", "Hello world"]);
  });

  const others: Readonly<Record<string, Ask>> = {
    "another message": { body: { messages: [{ role: "user", content: "Ho" }] } },
    "another system message": {
      body: { messages: [{ role: "system", content: "Be brief" }, { role: "user", content: "Hi" }] },
    },
    "another model": { headers: { "x-mesh-route": "only=a" } },
    "another order": { headers: { "x-mesh-route": "order=a" } },
    "another priority": { headers: { "x-mesh-priority": "3" } },
    "another commit": { headers: { "x-mesh-route": "commit=complete" } },
    "no cache": { headers: { "x-mesh-cache": "no-store" } },
    "any temperature": { body: { temperature: 1 } },
  };
  for (const [name, other] of Object.entries(others)) {
    it(`are not those with ${name}`, async () => {
      const gate = new Gate();
      await using stage = await open({ providers: { a: held(respond(), gate) } });
      const all = [stage.ask(), stage.ask(other)];
      await until(() => stage.calls() === 2);
      gate.openAll();
      for (const { status, cache } of await Promise.all(all)) {
        assertEquals(status, 200);
        assert(cache === null || cache === "MISS", cache ?? "");
      }
    });
  }

  it("come through several dialects, complete and streamed", async () => {
    const gate = new Gate();
    await using stage = await open({ providers: { a: held(respond({ text: "Good day" }), gate) } });
    const all = Object.keys(cacheableBodies).filter((dialect) => dialect !== "messages").flatMap((dialect) => [
      stage.ask({ dialect }),
      stage.ask({ dialect, stream: true }),
    ]);
    await stage.joined(all.length);
    gate.openAll();
    for (const { status, text, body } of await Promise.all(all)) assertEquals([status, text], [200, "Good day"], body);
    assertEquals(stage.calls(), 1);
  });

  it("rotate together when their model fails", async () => {
    const gate = new Gate();
    await using stage = await open({ providers: { a: held(status(500), gate), b: respond({ text: "from b" }) } });
    const all = [stage.ask(), stage.ask({ stream: true }), stage.ask()];
    await stage.joined(3);
    gate.openAll();
    for (const { text, headers } of await Promise.all(all)) {
      assertEquals([text, headers.get("x-mesh-model")], ["from b", "b"]);
    }
    assertEquals(stage.calls(), 2);
  });
});

describe("a caller of a shared call", () => {
  for (const stream of [false, true]) {
    for (const [name, leaving] of [["one", 1], ["the first", 0]] as const) {
      it(`may leave the others: ${name}, ${stream ? "streamed" : "complete"}`, async () => {
        const gate = new Gate();
        await using stage = await open({ providers: { a: held(respond(), gate) }, config: priced });
        const controllers = [0, 1, 2].map(() => new AbortController());
        const all: Promise<{ readonly text: string } | undefined>[] = [];
        for (const { signal } of controllers) {
          all.push(stage.askDirectly({ stream, signal }).catch(() => undefined));
          await stage.joined(all.length);
        }
        controllers[leaving]!.abort();
        await settle();
        gate.openAll();
        const texts = (await Promise.all(all)).map((response) => response?.text);
        assertEquals(texts.filter((text) => text === "Hello world").length, 2);
        assert(texts[leaving] !== "Hello world");
        assertEquals(stage.calls(), 1);
        await becomes(() => stage.records.length, 3);
        const [left, ...others] = stage.records.toSorted((one, other) => other.status! - one.status!);
        assertEquals([left?.status, left?.cost_usd], [499, leaving === 0 ? cost : undefined]);
        for (const { status } of others) assertEquals(status, 200);
        assertEquals(others.filter(({ cached }) => cached).length, leaving === 0 ? 2 : 1);
      });
    }

    it(`ends the call if it is the last one, ${stream ? "streamed" : "complete"}`, async () => {
      await using stage = await open({ providers: { a: hang() } });
      const controllers = [0, 1, 2].map(() => new AbortController());
      const all = controllers.map(({ signal }) => stage.ask({ stream, signal }).catch(() => "left"));
      await stage.joined(3);
      const { a } = stage.upstreams;
      await until(() => a!.calls === 1);
      controllers.forEach((controller) => controller.abort());
      assertEquals(await Promise.all(all), ["left", "left", "left"]);
      await becomes(() => a!.open, 0);
      await becomes(() => stage.records.length, 3);
      for (const { status } of stage.records) assertEquals(status, 499);
      a!.follow(respond());
      assertEquals((await stage.ask({ stream })).text, "Hello world");
    });

    it(`has its own deadline, ${stream ? "streamed" : "complete"}`, async () => {
      for (const early of [0, 1]) {
        const gate = new Gate();
        const clock = fakeClock();
        await using stage = await open({ providers: { a: held(respond(), gate) }, clock });
        const all: Promise<{ readonly status: number; readonly text: string }>[] = [];
        for (const index of [0, 1]) {
          const headers = { "x-mesh-route": `deadline=${index === early ? "1s" : "9s"}` };
          all.push(stage.ask({ stream, headers }));
          await stage.joined(index + 1);
        }
        await clock.advance(1_500);
        assertEquals((await all[early]!).status, 504);
        gate.openAll();
        const { status, text } = await all[1 - early]!;
        assertEquals([status, text], [200, "Hello world"]);
        assertEquals(stage.calls(), 1);
        await becomes(() => stage.records.length, 2);
        assertEquals(stage.records.map(({ status }) => status).toSorted(), [200, 504]);
      }
    });
  }

  it("does not wait for a retry past the latest deadline", async () => {
    for (const [deadlines, isRetried] of [[["2s", "3s"], false], [["2s", "9s"], true]] as const) {
      const [clock, gate] = [fakeClock(), new Gate()];
      const providers = { a: held(status(429, { headers: { "retry-after": "5" } }), gate) };
      await using stage = await open({ providers, clock, pool: { retry: { max_attempts: 1 } } });
      const all = [];
      for (const deadline of deadlines) {
        all.push(stage.ask({ headers: { "x-mesh-route": `deadline=${deadline}` } }));
        await settle();
      }
      await stage.joined(2);
      gate.openAll();
      if (isRetried) {
        await until(async () => {
          await clock.advance(25);
          return stage.calls() === 2;
        });
      }
      const statuses = (await Promise.all(all)).map(({ status }) => status).toSorted();
      assertEquals([statuses, stage.calls()], isRetried ? [[429, 504], 2] : [[429, 429], 1]);
    }
  });

  it("fails with the others, and the next one tries again", async () => {
    const gate = new Gate();
    await using stage = await open({ providers: { a: held(status(500), gate) } });
    const all = [stage.ask(), stage.ask({ stream: true }), stage.ask()];
    await stage.joined(3);
    gate.openAll();
    const ids = (await Promise.all(all)).map(({ status, body, headers }) => {
      assertEquals(status, 502);
      assertEquals(JSON.parse(body).error.code, "all_attempts_failed");
      return headers.get("x-request-id");
    });
    assertEquals(stage.calls(), 1);
    assertEquals(stage.records.map(({ request_id }) => request_id).toSorted(), ids.toSorted());
    assertEquals(stage.records.map(({ status, attempts }) => `${status} ${attempts}`).toSorted(), [
      "502 0",
      "502 0",
      "502 1",
    ]);
    stage.upstreams.a!.follow(respond());
    assertEquals((await stage.ask()).text, "Hello world");
  });
});
