/** Sinks of the configuration: which record goes where, in what form, and what a sink that fails does. */
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh, type Observability } from "../../mod.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import { breathe } from "../support/_breathe.ts";
import { recorder, sinkStage } from "../support/sinks.ts";
import { ok, status, stream } from "../support/upstream.ts";

const sink = { connector: "t.sink.v1" };

/** Kinds of what a sink got. */
function kinds({ taken }: ReturnType<typeof recorder>): string[] {
  return taken.map(({ kind, record }) => `${kind} ${record.type ?? "stats"}${record.event ? ` ${record.event}` : ""}`);
}

describe("A sink", () => {
  it("gets the records of its section, one in several sections those of each", async () => {
    const [routing, logging, statistics, tracing, all] = [recorder(), recorder(), recorder(), recorder(), recorder()];
    const sections = {
      routing: [{ connector: "t.routing.v1" }, { connector: "t.all.v1" }],
      logging: [{ connector: "t.logging.v1" }, { connector: "t.all.v1" }],
      statistics: [{ connector: "t.statistics.v1" }, { connector: "t.all.v1" }],
      tracing: [{ connector: "t.tracing.v1" }, { connector: "t.all.v1" }],
    };
    const stage = await sinkStage(status(500), sections, {
      "t.routing.v1": routing,
      "t.logging.v1": logging,
      "t.statistics.v1": statistics,
      "t.tracing.v1": tracing,
      "t.all.v1": all,
    });
    await stage.ask();
    stage.engine.hub.trace({ severity: "warning", component: "test", message: "hm" });
    stage.engine.hub.trace({ severity: "debug", component: "test", message: "unheard" });
    await stage[Symbol.asyncDispose]();
    assertEquals(kinds(routing), [
      "emit event deactivation",
      "emit event outage",
      "emit event outage",
      "emit routing",
    ]);
    assertEquals(kinds(logging), ["log log"]);
    assertEquals(kinds(statistics), ["flush stats"]);
    assertEquals(kinds(tracing).filter((kind) => kind !== "trace trace"), []);
    assertEquals(tracing.taken.at(-1)!.record.message, "hm");
    assertEquals(new Set(kinds(all)).size, 6);
  });

  it("gets only events of events.filter, without details when they are not wanted; the program gets all", async () => {
    const taken = recorder();
    const own: string[] = [];
    await using stage = await sinkStage(status(500), {
      routing: sink,
      events: { filter: ["deactivation"], include_metadata: false },
    }, { "t.sink.v1": taken });
    stage.mesh.addSink({ ...recorder(), emit: ({ type }) => void own.push(type) });
    await stage.ask();
    stage.mesh.activate("a");
    assertEquals(kinds(taken), ["emit event deactivation", "emit routing"]);
    assertEquals(taken.taken[0]!.record.metadata, {});
    assertEquals(own, ["event", "event", "event", "routing", "event"]);
  });

  it("gets traces from tracing.min_severity on", async () => {
    const taken = recorder();
    await using stage = await sinkStage(ok(), { tracing: { ...sink, min_severity: "error" } }, { "t.sink.v1": taken });
    for (const severity of ["debug", "info", "warning", "error", "critical"] as const) {
      stage.engine.hub.trace({ severity, component: "test", message: severity });
    }
    assertEquals(taken.taken.map(({ record }) => record.message), ["error", "critical"]);
  });

  it("gets traces of router, provider, mesh and pool when it wants debug, and what is critical in any case", async () => {
    const [all, critical] = [recorder(), recorder()];
    await using stage = await sinkStage(status(500), {
      routing: sink,
      tracing: [{ connector: "t.all.v1", min_severity: "debug" }, {
        connector: "t.critical.v1",
        min_severity: "critical",
      }],
    }, { "t.all.v1": all, "t.critical.v1": critical, "t.sink.v1": recorder() });
    await stage.ask();
    stage.mesh.activate("a");
    await Promise.resolve();
    assertEquals(all.taken.map(({ record }) => `${record.severity} ${record.component}: ${record.message}`), [
      "debug mesh: Ready with 1 providers and 1 pools",
      "debug router: One of 1 candidates is selected",
      'debug provider: A try of the model "a" ended: server',
      `warning provider: The provider "p" (${new URL(stage.upstream.url).host}) answered 500 (server): Scripted 500`,
      'critical pool: The pool "chat" has no active model left',
      'error provider: The provider "p" has no active model left',
      'info pool: The pool "chat" has an active model again',
      'info provider: The provider "p" has an active model again',
    ]);
    assertEquals(critical.taken.length, 1);
  });

  it("gets an outage event when a pool has no active model left, and one when it has one again", async () => {
    const taken = recorder();
    const routing = { routing: sink, events: { filter: ["outage"] } };
    await using stage = await sinkStage(status(500), routing, { "t.sink.v1": taken });
    await stage.ask();
    await stage.ask();
    stage.mesh.activate("a");
    await Promise.resolve();
    const outages = taken.taken.map(({ record }) => record).filter(({ type }) => type === "event");
    assertEquals(outages.map(({ pool, from, to, reason }) => [pool, from, to, reason]), [
      ["chat", "up", "down", "retry_limit"],
      [undefined, "up", "down", "retry_limit"],
      ["chat", "down", "up", "manual"],
      [undefined, "down", "up", "manual"],
    ]);
  });

  it("gets numbers of its scopes at each flush_interval, and at the end", async () => {
    const taken = recorder();
    const stage = await sinkStage(ok(), {
      statistics: { ...sink, flush_interval: "10s", scopes: ["pool"] },
    }, { "t.sink.v1": taken });
    await stage.ask();
    await stage.clock.advance(25_000);
    assertEquals(taken.taken.length, 2);
    await stage[Symbol.asyncDispose]();
    assertEquals(taken.taken.length, 3);
    const { records, families } = taken.taken[2]!.record;
    // deno-lint-ignore no-explicit-any
    assertEquals(records.map(({ scope, id, requests_total }: any) => [scope, id, requests_total]), [[
      "pool",
      "chat",
      1,
    ]]);
    // deno-lint-ignore no-explicit-any
    assert(families().some(({ name }: any) => name === "modelmesh_requests_total"));
  });

  it("gets no secret, wherever one stands in an event or a trace", async () => {
    const taken = recorder();
    await using stage = await sinkStage(ok(), { routing: sink, tracing: sink }, { "t.sink.v1": taken });
    stage.engine.redactor.add("canary-of-the-test");
    const metadata = { deep: [{ url: "https://x/?k=canary-of-the-test" }] };
    stage.engine.hub.event({ event: "health", provider: "p", reason: "canary-of-the-test", metadata });
    stage.engine.hub.trace({ severity: "error", component: "c", message: "Bearer abcdefghijklmnop", metadata });
    assertNotMatch(JSON.stringify(taken.taken), /canary-of-the-test|abcdefghijklmnop/);
    assertEquals(taken.taken.at(-1)!.record.metadata.deep[0].url, "https://x/?k=[redacted]");
  });
});

describe("The request log", () => {
  const secret = "sk-abcdefghijklmnopqrstuvwx";
  const messages = [{ role: "user", content: `my key is ${secret} ${"x".repeat(500)}` }];

  async function toLine(
    logging: Readonly<Record<string, unknown>>,
    body = {},
    script = ok({ text: `it is ${secret}` }),
  ) {
    const taken = recorder();
    await using stage = await sinkStage(script, { logging: { ...sink, ...logging } }, { "t.sink.v1": taken });
    await stage.ask({ messages, user: "u1", ...body });
    assertEquals(taken.taken.length, 1);
    return taken.taken[0]!.record;
  }

  it("has the facts of a request at the level metadata", async () => {
    const { timestamp, ...line } = await toLine({});
    assertMatch(timestamp, /^\d{4}-/);
    assertEquals(line, {
      type: "log",
      level: "metadata",
      request_id: "r1",
      user: "u1",
      pool: "chat",
      model: "a",
      provider: "p",
      status: 200,
      latency_ms: 0,
      tokens_in: 10,
      tokens_out: 5,
      cost: 0.00002,
    });
  });

  it("has the first 200 characters of payloads at the level summary, redacted", async () => {
    const { request, response } = await toLine({ level: "summary" });
    assertEquals([request.length, request.at(-1)], [201, "…"]);
    assertMatch(request, /my key is \[redacted\] xxx/);
    assertMatch(response, /^\{"id"/);
  });

  it("has whole payloads at the level full, up to max_payload_size, and of a stream its events", async () => {
    const whole = await toLine({ level: "full" });
    assertMatch(whole.request, /x{500}/);
    assertMatch(whole.response, /it is \[redacted\]/);
    assertNotMatch(JSON.stringify(whole), new RegExp(secret));
    const cut = await toLine({ level: "full", max_payload_size: 10 }, {}, ok({ text: "ä".repeat(50) }));
    assertEquals([cut.request.length, cut.response.length], [11, 11]);
    const streamed = await toLine({ level: "full" }, { stream: true }, stream({ text: "one two" }) as never);
    assertMatch(streamed.response, /^\{[^]*"one[^\n]*\n\{[^]*two/);
    assert(streamed.ttft_ms >= 0);
  });

  it("shows keys when redact_secrets is off", async () => {
    assertMatch((await toLine({ level: "full", redact_secrets: false })).request, new RegExp(secret));
  });

  it("has a line for a request that failed", async () => {
    const line = await toLine({ level: "full" }, {}, status(500) as never);
    assertEquals([line.status, line.tokens_in, line.cost, line.response], [502, null, null, undefined]);
  });
});

describe("A sink that fails", () => {
  const broken: Observability = {
    emit() {
      throw new Error("broken");
    },
    log: () => Promise.reject(new Error("broken")) as never,
    trace() {
      throw new Error("broken");
    },
    flush: () => Promise.reject(new Error("broken")),
  };

  it("affects no request; what it lost is counted, and reported to the others once a minute", async () => {
    const taken = recorder();
    await using stage = await sinkStage(ok(), {
      routing: { connector: "t.broken.v1" },
      logging: { connector: "t.broken.v1" },
      tracing: [{ connector: "t.broken.v1" }, sink],
    }, { "t.broken.v1": broken, "t.sink.v1": taken });
    const messages = () => taken.taken.map(({ record }) => record.message);
    for (let request = 0; request < 50; request++) await stage.ask();
    assertEquals(messages(), ['The sink "t.broken.v1" lost 1 record']);
    await stage.clock.advance(60_000);
    await stage.ask();
    assertEquals(messages()[1], 'The sink "t.broken.v1" lost 100 records');
    assertEquals(taken.taken[0]!.record.component, "observability");
    assertEquals(stage.upstream.calls, 51);
    await breathe(); // a rejection is counted in a later turn
    assert(stage.engine.hub.lost.get("t.broken.v1")! >= 102);
  });

  it("by hanging is given 10 000 records; the others are lost, counted and reported, until it goes on", async () => {
    const waiting: (() => void)[] = [];
    const hanging = { ...recorder(), trace: () => new Promise<void>((resolve) => waiting.push(resolve)) as never };
    const taken = recorder();
    await using stage = await sinkStage(ok(), {
      tracing: [{ connector: "t.hangs.v1" }, { ...sink, min_severity: "error" }],
    }, { "t.hangs.v1": hanging, "t.sink.v1": taken });
    const trace = (times: number) => {
      for (let time = 0; time < times; time++) {
        stage.engine.hub.trace({ severity: "info", component: "test", message: "hm" });
      }
    };
    trace(10_025);
    assertEquals([waiting.length, stage.engine.hub.lost.get("t.hangs.v1")], [10_000, 25]);
    assertEquals(taken.taken.map(({ record }) => record.message), ['The sink "t.hangs.v1" lost 1 record']);
    await stage.ask();
    assertEquals(stage.upstream.calls, 1);
    for (const resolve of waiting.splice(0, 3)) resolve();
    await stage.clock.advance(0); // their promises settle
    const before = waiting.length;
    trace(5);
    assertEquals(waiting.length - before, 3);
    waiting.forEach((resolve) => resolve());
  });

  it("does not hold up close() for more than 5 s", async () => {
    const hanging: Observability = { ...recorder(), flush: () => new Promise(() => {}) };
    const stage = await sinkStage(ok(), { routing: sink, statistics: sink }, { "t.sink.v1": hanging });
    await stage.ask();
    let isClosed = false;
    const closed = stage.mesh.close().then(() => isClosed = true);
    await stage.clock.advance(4_999);
    assert(!isClosed);
    await stage.clock.advance(5_001);
    await closed;
    await stage.upstream.close();
  });
});

describe("mesh.null.v1", () => {
  it("takes every section and keeps nothing", async () => {
    const nothing = { connector: "mesh.null.v1" };
    await using stage = await sinkStage(ok(), {
      routing: nothing,
      logging: nothing,
      statistics: nothing,
      tracing: nothing,
    });
    await stage.ask();
    assertEquals(stage.engine.hub.lost.size, 0);
  });
});

describe("addSink()", () => {
  it("works before and after initialize()", async () => {
    const mesh = new ModelMesh();
    const taken = recorder();
    mesh.addSink(taken);
    getEngine(mesh).hub.trace({ severity: "info", component: "c", message: "m" });
    assertEquals(taken.taken.length, 1);
    await mesh.close();
  });
});

describe("A start that fails", () => {
  it("has its records flushed before the program gets the error", async () => {
    let flushed = 0;
    const slow: Observability = {
      ...recorder(),
      flush: () => Promise.resolve().then(() => void flushed++),
    };
    const mesh = new ModelMesh();
    mesh.registerConnector("t.sink.v1", { id: "t.sink.v1", kind: "observability", create: () => slow });
    mesh.registerConnector("t.broken.v1", {
      id: "t.broken.v1",
      kind: "storage",
      create: () => {
        throw new Error("no storage");
      },
    });
    const providers = { a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1" } };
    const config = { providers, observability: { tracing: sink }, storage: { connector: "t.broken.v1" } };
    const atError = await mesh.initialize(config).then(() => -1, () => flushed);
    assertEquals(atError, 1);
    await mesh.close();
  });
});
