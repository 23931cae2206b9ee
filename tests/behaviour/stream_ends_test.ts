/**
 * The end of a stream, in every record: in routing records, the request log, metrics, spans, statistics, and the events of
 * the dashboard. The head of a stream says 200; a record says how it ended.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { create, type RoutingRecord } from "../../mod.ts";
import { readSpans } from "../support/otlp.ts";
import { becomes } from "../support/patience.ts";
import { startTestProxy } from "../support/proxy.ts";
import { readPrometheus } from "../support/prometheus.ts";
import { recorder } from "../support/sinks.ts";
import { formatHead, Gate, json, raw, type Script, startUpstream, stream } from "../support/upstream.ts";

/** A streamed request, in the format of one endpoint. */
interface StreamedRequest {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** Number of routed requests; several prompts are one each. */
  readonly requests?: number;
  /** Whether its content is audio. */
  readonly isAudio?: true;
}

const streamed: readonly StreamedRequest[] = [
  {
    name: "chat/completions",
    path: "/v1/chat/completions",
    body: { model: "pool", stream: true, messages: [{ role: "user", content: "Hi" }] },
  },
  {
    name: "messages",
    path: "/v1/messages",
    body: { model: "pool", stream: true, max_tokens: 9, messages: [{ role: "user", content: "Hi" }] },
  },
  { name: "responses", path: "/v1/responses", body: { model: "pool", stream: true, input: "Hi" } },
  { name: "completions", path: "/v1/completions", body: { model: "pool", stream: true, prompt: "Hi" } },
  {
    name: "completions of two prompts",
    path: "/v1/completions",
    body: { model: "pool", stream: true, prompt: ["Hi", "Ho"] },
    requests: 2,
  },
  {
    name: "streamGenerateContent",
    path: "/v1beta/models/pool:streamGenerateContent?alt=sse",
    body: { contents: [{ parts: [{ text: "Hi" }] }] },
  },
  {
    name: "audio/speech",
    path: "/v1/audio/speech",
    body: { model: "pool", input: "Hi", voice: "alloy" },
    isAudio: true,
  },
];

const audioHead = formatHead(200, { "content-type": "audio/mpeg", "content-length": "100" });

/** A proxy over one provider, with every kind of sink. */
async function startSite(script: Script, isAudio: boolean) {
  const upstream = await startUpstream(script);
  const collector = await startUpstream(json({}));
  const log = recorder();
  const proxy = await startTestProxy({
    upstreams: { a: upstream.url },
    config: {
      models: { a: { provider: "a", capabilities: [isAudio ? "text-to-speech" : "chat-completion"] } },
      pools: { pool: { models: ["a"], retry: { max_attempts: 0 } } },
      observability: {
        routing: { connector: "mesh.opentelemetry.v1", url: collector.url.replace("/v1", "/") },
        logging: { connector: "t.log.v1" },
      },
    },
    sinks: { "t.log.v1": log },
  });
  const routings = () => proxy.records.filter((record): record is RoutingRecord => record.type === "routing");
  return {
    proxy,
    routings,
    /** What each kind of record says; the proxy is closed. */
    async ends() {
      const families = readPrometheus(await (await fetch(`${proxy.url}/metrics`)).text());
      const [counted, attempts] = ["requests", "attempts"].map((name) =>
        families.get(`modelmesh_${name}_total`)!.samples
      );
      const pool = proxy.mesh.stats().find(({ scope }) => scope === "pool")!;
      const event = await lastRouting(proxy.url);
      await proxy[Symbol.asyncDispose]();
      const spans = collector.requests.flatMap(({ body }) => readSpans(body).spans);
      const endOf = ({ status, code, fallback_chain }: RoutingRecord) => [
        status,
        code,
        ...fallback_chain.map(({ outcome }) => outcome),
      ];
      return {
        routing: routings().map(endOf),
        log: log.taken.flatMap(({ kind, record }) => kind === "log" ? [[record.status, record.code]] : []),
        metrics: counted!.map(({ labels, value }) => [labels.status, value]),
        attempts: attempts!.map(({ labels, value }) => [labels.outcome, value]),
        spans: spans.map(({ kind, attributes, error }) => [kind, attributes["error.type"], error]),
        statistics: [pool.requests_success, pool.requests_failed],
        events: endOf(event),
      };
    },
    async [Symbol.asyncDispose]() {
      await upstream.close();
      await collector.close();
    },
  };
}

/** The last routing record of `/mesh/events`. */
async function lastRouting(url: string): Promise<RoutingRecord> {
  const response = await fetch(`${url}/mesh/events`, { headers: { "last-event-id": "0" } });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (let text = "";;) {
    text += (await reader.read()).value;
    const records = [...text.matchAll(/^data: (\{"type":"routing".+\})$/gm)].map(([, data]) => JSON.parse(data!));
    if (records.length === 0) continue;
    await reader.cancel();
    return records.at(-1);
  }
}

const post = (url: string, { path, body }: StreamedRequest, signal?: AbortSignal) =>
  fetch(`${url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

const times = <Value>(count: number, value: Value) => Array.from({ length: count }, () => value);

describe("A stream that its provider breaks off", () => {
  for (const request of streamed) {
    it(`is interrupted in every record: ${request.name}`, async () => {
      const { isAudio = false, requests = 1 } = request;
      const broken = isAudio
        ? raw(`${audioHead}abc`, "close")
        : stream({ pieces: ["one", "two"], cut: { after: 1, how: "close" } });
      await using site = await startSite(broken, isAudio);
      const response = await post(site.proxy.url, request);
      assertEquals(response.status, 200);
      await response.text().catch(() => {}); // of audio, the body breaks off
      await becomes(() => site.routings().length, requests);
      // of several prompts, the first that breaks ends the others
      const outcomes = ["stream_interrupted", ...times(requests - 1, "aborted")];
      const ends = await site.ends();
      const routing = outcomes.map((outcome) => [502, "stream_interrupted", outcome]);
      assertEquals(ends.routing, routing);
      assertEquals(ends.events, routing.at(-1));
      assertEquals(ends.log, times(requests, [502, "stream_interrupted"]));
      assertEquals(ends.metrics, [["502", requests]]);
      assertEquals(ends.attempts, outcomes.map((outcome) => [outcome, 1]));
      assertEquals(
        ends.spans,
        outcomes.flatMap((outcome) => [
          [2, "stream_interrupted", "stream_interrupted"],
          [3, outcome, outcome],
        ]),
      );
      assertEquals(ends.statistics, [0, 1]);
    });
  }
});

describe("A stream that its client leaves", () => {
  for (const request of streamed) {
    it(`has the status 499 in every record: ${request.name}`, async () => {
      const { isAudio = false, requests = 1 } = request;
      const unfinished = () => {
        const gate = new Gate();
        gate.open(2); // the role, and the first word
        return isAudio ? raw(`${audioHead}abc`, "hang") : stream({ pieces: ["one", "two"], gate });
      };
      await using site = await startSite(unfinished, isAudio);
      const controller = new AbortController();
      const response = await post(site.proxy.url, request, controller.signal);
      assertEquals(response.status, 200);
      await response.body!.getReader().read();
      controller.abort();
      await becomes(() => site.routings().length, requests);
      const ends = await site.ends();
      assertEquals(ends.routing, times(requests, [499, undefined, "aborted"]));
      assertEquals(ends.events, [499, undefined, "aborted"]);
      assertEquals(ends.log, times(requests, [499, undefined]));
      assertEquals(ends.metrics, [["499", requests]]);
      assertEquals(ends.attempts, [["aborted", requests]]);
      assertEquals(ends.spans, times(requests, [[2, "499", undefined], [3, "aborted", "aborted"]]).flat());
      assertEquals(ends.statistics, [0, 0]);
    });
  }
});

describe("A stream that the library's program leaves, or that its provider breaks off", () => {
  it("has its end in the record", async () => {
    await using upstream = await startUpstream(stream({ pieces: ["one", "two"], cut: { after: 1, how: "close" } }));
    const records: RoutingRecord[] = [];
    await using client = create("chat-completion", {
      env: { OPENAI_API_KEY: "key-0123456789abcdef", OPENAI_BASE_URL: upstream.url },
      on: (record) => void (record.type === "routing" && records.push(record)),
    });
    const ask = () => client.chat.completions.create({ messages: [{ role: "user", content: "Hi" }], stream: true });
    for await (const _ of await ask()) break;
    try {
      for await (const _ of await ask());
    } catch (error) {
      assertStringIncludes(String(error), "StreamInterrupted");
    }
    assertEquals(records.map(({ status, code }) => [status, code]), [[499, undefined], [502, "stream_interrupted"]]);
  });
});
