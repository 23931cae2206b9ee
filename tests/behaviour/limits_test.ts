/** What a vendor allows is never overrun, however many requests come at once; switching for it changes no state. */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  after,
  behind,
  breathe,
  eveningClock,
  letGo,
  type Seen,
  soon,
  type Stage,
  stage,
} from "../support/_failover.ts";
import { tally, tuned } from "../support/_tuned.ts";
import { Gate, ok, status, stream } from "../support/upstream.ts";

const a = ok({ text: "from a" });
const b = ok({ text: "from b" });
const noRetry = { retry: { max_attempts: 0 } };
/** 5 tokens to read by estimate, and these: 100. */
const hundredTokens = { max_tokens: 95 };
const fifty = 50;

/** So many requests at once, and what came of them while all that were sent are held; then all are let go. */
function atOnce(scene: Stage, gate: Gate, sent: number, count = fifty): Promise<Seen[]> {
  return letGo(Array.from({ length: count }, () => scene.ask(hundredTokens)), gate, sent);
}

describe("a limit of a vendor, with 50 requests at once", () => {
  const limits = { rpm: { rpm: 10 }, rpd: { rpd: 10 }, tpm: { tpm: 1_000 }, concurrent: { concurrent: 10 } };
  for (const [kind, declared] of Object.entries(limits)) {
    it(`${kind}: sends what it allows, and the rest elsewhere`, async () => {
      const gate = new Gate();
      const cast = { a: behind(gate, a), b: behind(gate, b) };
      await using scene = await stage(cast, tuned({ models: { a: { limits: declared } } }));
      const answers = await atOnce(scene, gate, fifty);
      assertEquals(tally(answers.map(({ text }) => text)), { "from a": 10, "from b": 40 });
      assertEquals(scene.calls, { a: 10, b: 40 });
      assertEquals([scene.events, scene.states()], [[], { a: "active", b: "active" }]);
    });

    it(`${kind}: refuses what no other model is left for`, async () => {
      const gate = new Gate();
      await using scene = await stage({ a: behind(gate, a) }, tuned({ models: { a: { limits: declared } } }));
      const answers = await atOnce(scene, gate, 10);
      assertEquals(tally(answers.map(({ status, error }) => error?.code ?? status)), {
        200: 10,
        rate_limit_exceeded: 40,
      });
      const refused = answers.find(({ status }) => status === 429)!;
      assertEquals(refused.error!.type, "rate_limit_error");
      assert(Number(refused.headers.get("retry-after")) >= 1, String(refused.headers.get("retry-after")));
      assertEquals(refused.headers.get("x-mesh-attempts") ?? "0", "0");
      assertEquals([scene.calls, scene.events, scene.states()], [{ a: 10 }, [], { a: "active" }]);
    });
  }
});

describe("what a limit lets through later", () => {
  it("rpm: nothing before Retry-After, and as much again after it", async () => {
    await using scene = await stage({ a }, tuned({ models: { a: { limits: { rpm: 3 } } } }));
    const wait = Number((await scene.askTimes(4)).at(-1)!.headers.get("retry-after"));
    assert(wait >= 60 && wait <= 61, `${wait} s`);
    await scene.clock.advance((wait - 2) * 1000);
    assertEquals((await scene.ask()).status, 429);
    await scene.clock.advance(2_000);
    assertEquals(tally((await scene.askTimes(4)).map(({ status }) => status)), { 200: 3, 429: 1 });
  });

  it("rpd: nothing within the UTC day, and the response says not to retry", async () => {
    await using scene = await stage({ a }, tuned({ models: { a: { limits: { rpd: 2 } } } }));
    const { headers } = (await scene.askTimes(3)).at(-1)!;
    assertEquals([headers.get("x-should-retry"), headers.get("retry-after")], ["false", String(6 * 3_600)]);
    await scene.clock.advance(6 * 3_600_000 - 1);
    assertEquals((await scene.ask()).status, 429);
    await scene.clock.advance(1);
    assertEquals((await scene.askTimes(3)).map(({ status }) => status), [200, 200, 429]);
  });

  it("rpd: requests of the evening before do not count, however few hours ago", async () => {
    await using scene = await stage({ a }, tuned({ models: { a: { limits: { rpd: 2 } } } }));
    await scene.clock.advance(6 * 3_600_000 - 60_000);
    await scene.askTimes(2);
    await scene.clock.advance(60_000);
    assertEquals((await scene.askTimes(3)).map(({ status }) => status), [200, 200, 429]);
  });

  it("tpm: what a response left of its reservation, at once", async () => {
    await using scene = await stage({ a }, tuned({ models: { a: { limits: { tpm: 250 } } } }));
    // 15 tokens each are taken of the 100 reserved: the eleventh finds 150 taken, the twelfth 165
    const answers = [];
    while (answers.length < 12) answers.push((await scene.ask(hundredTokens)).status);
    assertEquals(answers, [...Array(11).fill(200), 429]);
  });

  it("concurrent: one more for each that ends", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, a) }, tuned({ models: { a: { limits: { concurrent: 1 } } } }));
    const first = scene.ask();
    await scene.received("a");
    assertEquals((await soon(scene.ask())).error!.code, "rate_limit_exceeded");
    gate.openAll();
    assertEquals([(await first).status, (await scene.ask()).status], [200, 200]);
  });

  it("concurrent: one more for each whose client left", async () => {
    const gate = new Gate();
    await using scene = await stage({ a: behind(gate, a) }, tuned({ models: { a: { limits: { concurrent: 1 } } } }));
    const controller = new AbortController();
    const left = scene.ask({}, { signal: controller.signal }).catch((error: Error) => error.name);
    const call = await scene.received("a");
    controller.abort();
    assertEquals(await left, "AbortError");
    await after(scene.clock, 0, call.closed);
    gate.openAll();
    assertEquals((await scene.ask()).status, 200);
  });
});

describe("what counts against a limit", () => {
  it("a stream until its end", async () => {
    const cast = { a: stream({ text: "from a", cut: { after: 1, how: "hang" } }), b };
    await using scene = await stage(cast, tuned({ models: { a: { limits: { concurrent: 1 } } } }));
    const open = await scene.proxy.chat({ stream: true });
    assertEquals((await scene.ask()).text, "from b");
    await open.body!.cancel();
    await soon((await scene.received("a")).closed);
    await breathe();
    scene.upstreams.a!.follow(a);
    assertEquals((await scene.ask()).text, "from a");
  });

  it("requests to one upstream id under two names, together", async () => {
    const model = { provider: "a", capabilities: ["chat-completion"], model: "big", limits: { rpm: 3 } };
    const config = {
      models: { one: model, two: model },
      pools: { chat: { models: ["one"] }, other: { models: ["two"] } },
    };
    await using scene = await stage({ a }, tuned({ config }));
    const codes: number[] = [];
    for (const name of ["chat", "other", "chat", "other", "chat"]) {
      codes.push((await scene.ask({ model: name })).status);
    }
    assertEquals(codes, [200, 200, 200, 429, 429]);
  });

  it("every try, not only every request", async () => {
    await using scene = await stage({ a: status(500), b }, tuned({ models: { a: { limits: { rpm: 2 } } } }));
    assertEquals((await scene.ask()).text, "from b");
    assertEquals(scene.calls, { a: 2, b: 1 });
  });

  it("requests of all pools and by the model's own name, together", async () => {
    const models = ["a", "b"];
    const config = {
      pools: Object.fromEntries(["chat", "other"].map((name) => {
        return [name, { models, strategy: "priority", model_priority: models }];
      })),
    };
    await using scene = await stage({ a, b }, tuned({ models: { a: { limits: { rpm: 5 } } }, config }));
    for (const model of ["chat", "other", "a", "chat", "other"]) {
      assertEquals((await scene.ask({ model })).text, "from a");
    }
    for (const model of ["chat", "other"]) assertEquals((await scene.ask({ model })).text, "from b");
    assertEquals((await scene.ask({ model: "a" })).error!.code, "rate_limit_exceeded");
    assertEquals(scene.calls, { a: 5, b: 2 });
  });
});

describe("models that hold a request up at once", () => {
  it("give the soonest of their times", async () => {
    const models = { a: { limits: { rpd: 1 } }, b: { limits: { rpm: 1 } } };
    await using scene = await stage({ a, b }, tuned({ models }));
    const refused = (await scene.askTimes(3)).at(-1)!;
    assertEquals(refused.error!.code, "rate_limit_exceeded");
    assert(Number(refused.headers.get("retry-after")) <= 61, String(refused.headers.get("retry-after")));
  });

  it("are not distinguished from one that failed: the provider's response is the error", async () => {
    await using scene = await stage(
      { a, b: status(500) },
      tuned({ pool: noRetry, models: { a: { limits: { rpm: 1 } } } }),
    );
    await scene.ask();
    const { status: code, error } = await scene.ask();
    assertEquals([code, error!.code], [502, "all_attempts_failed"]);
  });
});

describe("the clock", () => {
  it("may go back by a day: no limit opens or closes for it", async () => {
    const clock = eveningClock();
    await using scene = await stage({ a, b }, tuned({ clock, models: { a: { limits: { rpm: 2 } } } }));
    await scene.askTimes(2);
    clock.jumpWallTime(-86_400_000);
    assertEquals((await scene.ask()).text, "from b");
  });
});
