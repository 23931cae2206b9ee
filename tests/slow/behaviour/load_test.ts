/**
 * Many requests at once while providers fail, the limit of requests at once, and readers that are slow.
 */
import { assert, assertEquals, assertLess } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { connect } from "node:net";
import type { RoutingRecord } from "../../../mod.ts";
import { getEngine } from "../../../src/engine/get_engine.ts";
import { seededRandom } from "../../../src/runtime/test.ts";
import { spawnProxy } from "../../support/_proxy_process.ts";
import { standsStill } from "../../support/patience.ts";
import { startTestProxy, testConfig, type TestProxy } from "../../support/proxy.ts";
import { assertMatchesSchema } from "../../support/schema.ts";
import {
  type Behaviour,
  cutAt,
  emptyBody,
  errorIn200,
  formatHead,
  Gate,
  html200,
  ok,
  type ReceivedRequest,
  refusingUrl,
  reset,
  respond,
  startUpstream,
  status,
  stream,
  truncatedJson,
} from "../../support/upstream.ts";

const requestCount = 500;
const faultShare = 0.3;
const everyWayToFail: readonly Behaviour[] = [
  status(429),
  status(500),
  status(503, { text: "upstream connect error" }),
  reset("reset"),
  reset("close"),
  html200(),
  truncatedJson(),
  emptyBody(),
  errorIn200({ code: "overloaded" }),
];
const cutWhole = cutAt(ok(), "headers");
const cutStreams = [
  stream({ cut: { after: "headers", how: "end" } }),
  stream({ cut: { after: 0, how: "reset" } }),
  stream({ error: { after: 0 } }),
  stream({ garbage: { after: "headers", text: 'data: {"id' }, cut: { after: 0, how: "close" } }),
];

/** A provider that answers with the question, and fails for a share of the requests before the first content. */
class Flaky {
  answered = 0;
  failed = 0;
  readonly #random: () => number;
  readonly #share: number;

  constructor(seed: number, share: number) {
    this.#random = seededRandom(seed);
    this.#share = share;
  }

  readonly script = (request: ReceivedRequest): Behaviour => {
    const { messages: [{ content }], stream: isStream } = request.json();
    if (this.#random() < this.#share) {
      this.failed++;
      const ways = [...everyWayToFail, ...(isStream ? cutStreams : [cutWhole])];
      return ways[Math.floor(this.#random() * ways.length)]!;
    }
    this.answered++;
    return respond({ text: createEcho(content) });
  };
}

function createEcho(question: string): string {
  return `You asked ${question}, wörld 🌍. `.repeat(5).trim();
}

interface Outcome {
  readonly id: string;
  readonly model: string;
  readonly problem?: string;
}

/** Asks a question of its own and checks every word of the response. */
async function askOne(proxy: TestProxy, number: number): Promise<Outcome> {
  const question = `question ${number}`;
  const isStream = number % 2 === 0;
  const response = await proxy.chat({ messages: [{ role: "user", content: question }], stream: isStream });
  const body = await response.text();
  const reported = response.status !== 200
    ? body
    : isStream
    ? streamedText(body)
    : JSON.parse(body).choices[0].message.content;
  const { headers } = response;
  return {
    id: headers.get("x-request-id")!,
    model: headers.get("x-mesh-model")!,
    ...(reported === createEcho(question) ? {} : { problem: `${response.status} to ${question}: ${reported}` }),
  };
}

function streamedText(body: string): string {
  if (!body.endsWith("data: [DONE]\n\n")) return body;
  const events = body.split("\n\n").slice(0, -2).map((event) => JSON.parse(event.slice("data: ".length)));
  return events.map(({ choices }) => choices[0].delta.content ?? "").join("");
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

describe(`${requestCount} requests at once, ${faultShare * 100} % of which fail at two of three providers`, () => {
  it("are all answered in full, and every call is accounted for", underLoad);
});

async function underLoad(): Promise<void> {
  const providers = [new Flaky(1, faultShare), new Flaky(2, faultShare), new Flaky(3, 0)];
  await using first = await startUpstream(providers[0]!.script);
  await using second = await startUpstream(providers[1]!.script);
  await using third = await startUpstream(providers[2]!.script);
  await using proxy = await startTestProxy({
    upstreams: { gone: await refusingUrl(), first: first.url, second: second.url, third: third.url },
    pool: {
      strategy: "round-robin",
      retry: { initial_delay: "1ms", max_delay: "4ms" },
      deactivation: { retry_limit: 2 * requestCount },
    },
  });
  const outcomes = await Promise.all(Array.from({ length: requestCount }, (_, number) => askOne(proxy, number)));

  assertEquals(outcomes.flatMap(({ problem }) => problem ?? []), []);
  assertEquals(new Set(outcomes.map(({ id }) => id)).size, requestCount);
  const records = proxy.records.filter((record): record is RoutingRecord => record.type === "routing");
  assertEquals(records.map((record) => record.request_id).sort(), outcomes.map(({ id }) => id).sort());
  const modelOf = new Map(records.map(({ request_id, model }) => [request_id, model]));
  for (const { id, model } of outcomes) assertEquals(modelOf.get(id), model);

  const steps = records.flatMap(({ fallback_chain }) => fallback_chain);
  const refused = steps.filter(({ model }) => model === "gone").length;
  const calls = [first.calls, second.calls, third.calls];
  assertEquals(sum(records.map(({ attempts }) => attempts)), sum(calls) + refused);
  for (const [place, name] of ["first", "second", "third"].entries()) {
    const { answered, failed } = providers[place]!;
    assertEquals(steps.filter(({ model, outcome }) => model === name && outcome === "ok").length, answered, name);
    assertEquals(answered + failed, calls[place], name);
  }
  assert(providers[0]!.failed > 20 && refused > 0, `${providers[0]!.failed} failed, ${refused} were refused`);
  for (const { state } of getEngine(proxy.mesh).registry.pool("chat")!.members) assertEquals(state.inFlight, 0);
}

describe("More requests at once than proxy.max_concurrent", () => {
  for (const isStream of [false, true]) {
    it(`are refused until one ends (${isStream ? "streamed" : "whole"})`, async () => {
      const gate = new Gate();
      await using upstream = await startUpstream(isStream ? stream({ gate }) : gated(gate));
      await using proxy = await startTestProxy({
        upstreams: { one: upstream.url },
        config: { proxy: { max_concurrent: 3 } },
      });
      const admitted = Array.from({ length: 3 }, () => proxy.chat({ stream: isStream }));
      await upstream.received(3);
      for (const refused of await Promise.all([1, 2].map(() => proxy.chat({ stream: isStream })))) {
        await checkOverload(refused);
      }
      for (const path of ["/health", "/live", "/v1/models"]) {
        const response = await fetch(`${proxy.url}${path}`);
        await response.body?.cancel();
        assertEquals(response.status, 200);
      }
      gate.openAll();
      for (const response of await Promise.all(admitted)) assert((await response.text()).includes("Hello"));
      upstream.follow(respond());
      const after = await proxy.chat();
      assertEquals([after.status, (await after.text()).includes("Hello"), upstream.calls], [200, true, 4]);
    });
  }
});

/** Answers whole once the gate opens. */
function gated(gate: Gate): Behaviour {
  return {
    async play(exchange) {
      await gate.pass();
      await ok().play(exchange);
    },
  };
}

async function checkOverload(response: Response): Promise<void> {
  const body = await response.json();
  assertMatchesSchema("ErrorResponse", body);
  assertEquals([response.status, body.error.code, body.error.type], [503, "overloaded", "server_error"]);
  const { headers } = response;
  assertEquals([headers.get("retry-after"), headers.get("retry-after-ms")], ["1", "1000"]);
  assertEquals([headers.get("x-should-retry"), headers.get("x-request-id")?.length], [null, 36]);
}

const mebibyte = 1024 * 1024;
const streamSize = 256 * mebibyte;
const maxGrowth = 48 * mebibyte; // garbage of a busy machine included

/** Streams as much as is asked for, as fast as it is read; counts what it got rid of. */
function flood(size: number, reported: { written: number }): Behaviour {
  const chunk = { id: "c1", object: "chat.completion.chunk", created: 1, model: "one" };
  const choices = [{ index: 0, delta: { content: "x".repeat(16 * 1024) }, finish_reason: null }];
  const event = new TextEncoder().encode(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`);
  return {
    async play(exchange) {
      await exchange.write(formatHead(200, { "content-type": "text/event-stream" }));
      while (reported.written < size && !exchange.request.isClosed) {
        await exchange.write(event);
        reported.written += event.length;
      }
      await exchange.write("data: [DONE]\n\n");
      exchange.close();
    },
  };
}

describe("A client that does not read its stream", () => {
  for (const listener of [undefined, "deno"]) {
    it(`holds the provider up, not the proxy's memory (${listener ?? "default"} listener)`, async () => {
      const warmUp = { written: 0 };
      const reported = { written: 0 };
      await using upstream = await startUpstream([flood(8 * mebibyte, warmUp), flood(streamSize, reported)]);
      const section = { proxy: { ...(listener === undefined ? {} : { listener }) } };
      await using proxy = await spawnProxy(testConfig({ upstreams: { one: upstream.url }, config: section }));
      const body = JSON.stringify({ model: "chat", stream: true, messages: [{ role: "user", content: "Hi" }] });
      const headers = { "content-type": "application/json" };
      const url = `${proxy.url}/v1/chat/completions`;
      assertLess(8 * mebibyte, (await (await fetch(url, { method: "POST", headers, body })).text()).length);
      const before = await proxy.memory();

      const socket = connect({ host: "127.0.0.1", port: Number(new URL(proxy.url).port) });
      const head = `host: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
      socket.pause().write(`POST /v1/chat/completions HTTP/1.1\r\n${head}\r\n\r\n${body}`);
      const written = await standsStill(() => reported.written);

      assertLess(written, streamSize / 8);
      assertLess(await proxy.memory() - before, maxGrowth);
      socket.destroy();
      await upstream.requests[1]!.closed;
    });
  }
});
