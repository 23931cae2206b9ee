/**
 * Requests through the proxy and the library, non-streaming and streaming.
 * @module
 */
import { create } from "../../mod.ts";
import { readBatchRequest } from "../../src/infrastructure/batch_request.ts";
import { ObjectRecords } from "../../src/infrastructure/object_records.ts";
import { toEvents } from "../../src/pipeline/cache/replay.ts";
import { readJsonBody } from "../../src/proxy/body.ts";
import { readDocument } from "../../src/proxy/clients/client_record.ts";
import { readUsageDay } from "../../src/proxy/usage/usage_day.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { createChunk, createResponse, customProvider } from "../support/_custom_provider.ts";
import { type GrowthCase, prepared, times } from "./_case.ts";
import { createHandler } from "../../proxy.ts";

const encoder = new TextEncoder();
const headers = { get: (name: string) => name === "content-type" ? "application/json" : null, has: () => false };

/** JSON bodies by what there is much of; some are refused. */
const bodies: Readonly<Record<string, (size: number) => string>> = {
  "distinct members": (size) => `{${times(size, (at) => `"m${at}":1`).join(",")}}`,
  "members, one of them repeated": (size) => `{${times(size, (at) => `"m${at}":1`).join(",")},"m0":1}`,
  "a member that is repeated": (size) => `{${times(size, () => '"m":1').join(",")}}`,
  "members of mesh": (size) => `{"mesh":{${times(size, (at) => `"m${at}":1`).join(",")}}}`,
  "escaped quotes": (size) => `{"m":"${'\\"'.repeat(size)}"}`,
  "nested lists": (size) => `{"m":${"[".repeat(size)}${"]".repeat(size)}}`,
};

/** A client, and the handler of a proxy, whose provider streams so many chunks. */
function streaming(size: number, sections: Readonly<Record<string, unknown>> = {}) {
  const provider = customProvider({
    async *stream() {
      for (let at = 0; at < size; at++) yield createChunk("a");
      yield createChunk(undefined);
    },
  });
  const config = {
    providers: { custom: { instance: provider } },
    models: { m: { provider: "custom", capabilities: ["chat-completion"] } },
    ...sections,
  };
  const client = create({ config, clock: fakeClock() });
  return { client, handler: createHandler(client.mesh) };
}

const requests: Readonly<Record<string, unknown>> = {
  "/v1/chat/completions": { messages: [{ role: "user", content: "Hi" }] },
  "/v1/messages": { messages: [{ role: "user", content: "Hi" }], max_tokens: 9 },
  "/v1/responses": { input: "Hi" },
  "/v1/completions": { prompt: ["Hi", "Ho"] },
};

/** Rows of the proxy. */
export const proxyCases: readonly GrowthCase[] = [
  ...Object.entries(bodies).map(([what, input]) =>
    prepared({
      covers: ["src/proxy/body.ts#readJsonBody"],
      what,
      size: 2_000,
      input: (size) => encoder.encode(input(size)),
      work: (bytes) =>
        readJsonBody({ request: { headers }, body: () => Promise.resolve(bytes) }, { startedAt: 0, limitMs: 1_000 })
          .catch(() => {}),
    })
  ),
  ...Object.entries(requests).map(([path, body]) =>
    prepared({
      covers: [
        "src/pipeline/committed_stream.ts#CommittedStream",
        "src/pipeline/perform_stream.ts#openingStream",
        "src/pipeline/perform_stream.ts#readEvents",
        "src/pipeline/open_stream.ts#openStream",
        "src/proxy/body_reader.ts#readRequestBody",
        "src/proxy/body.ts#readWork",
        "src/proxy/completions_route.ts#JoinedEvents",
        "src/proxy/sse.ts#chatEvents",
      ],
      what: `a stream of ${path}`,
      size: 400,
      input: (size) => streaming(size),
      work: async ({ handler }) => {
        const json = JSON.stringify({ model: "m", stream: true, ...body as object });
        const init = { method: "POST", body: json, headers: { "content-type": "application/json" } };
        return (await (await handler(new Request(`http://localhost${path}`, init))).text()).length;
      },
    })
  ),
  prepared({
    covers: [
      "src/pipeline/cache/kept_stream.ts#KeptStream",
      "src/pipeline/cache/replay.ts#ReplayedStream",
      "src/pipeline/cache/replay.ts#readEvent",
      "src/pipeline/cache/replay.ts#toChunk",
      "src/pipeline/cache/replay.ts#toCompletion",
      "src/pipeline/cache/replay.ts#toRecordedEvents",
      "src/pipeline/cache/shared_stream.ts#SharedStream",
    ],
    what: "a stream into the cache, and out of it in both forms",
    size: 400,
    input: (size) => ({ ...streaming(size, { cache: { scope: "all" } }), count: { calls: 0 } }),
    work: async ({ handler, count }) => {
      const messages = [{ role: "user", content: `Hi ${count.calls++}` }];
      for (const stream of [true, true, false]) {
        const body = JSON.stringify({ model: "m", temperature: 0, messages, stream });
        const init = { method: "POST", body, headers: { "content-type": "application/json" } };
        await (await handler(new Request("http://localhost/v1/chat/completions", init))).text();
      }
    },
  }),
  prepared({
    covers: ["src/pipeline/cache/replay.ts#toEvents"],
    what: "choices",
    size: 2_000,
    input: (size) => ({
      ...createResponse("Hi"),
      choices: times(size, (index) => ({ ...createResponse("Hi").choices[0]!, index })),
    }),
    work: toEvents,
  }),
  prepared({
    covers: ["src/client/stream.ts#ChatStream", "src/client/response_stream.ts#ResponseStream"],
    what: "chunks",
    size: 400,
    input: (size) => streaming(size),
    work: async ({ client }) => {
      const messages = [{ role: "user" as const, content: "Hi" }];
      for await (const _chunk of await client.chat.completions.create({ model: "m", messages, stream: true }));
      for await (const _event of await client.responses.create({ model: "m", input: "Hi", stream: true }));
    },
  }),
  prepared({
    covers: ["src/infrastructure/batch_request.ts#readBatchRequest"],
    what: "members",
    size: 2_000,
    input: (size) => ({
      input_file_id: "f",
      endpoint: "/v1/chat/completions",
      metadata: Object.fromEntries(times(size, (at) => [`m${at}`, at])),
    }),
    work: readBatchRequest,
  }),
  prepared({
    covers: ["src/proxy/clients/client_record.ts#readDocument"],
    what: "clients",
    size: 1_000,
    input: (size) =>
      JSON.stringify({
        version: 1,
        clients: times(size, (at) => ({ id: `c${at}`, name: `n${at}`, token_sha256: "x" })),
        revoked: [],
      }),
    work: readDocument,
  }),
  prepared({
    covers: ["src/proxy/usage/usage_day.ts#readUsageDay"],
    what: "rows",
    size: 1_000,
    input: (size) => ({ rows: times(size, (at) => ["app", null, "chat", "one", [`tag ${at}`], 1, 2, 3, 4]) }),
    work: readUsageDay,
  }),
  prepared({
    covers: [
      "src/proxy/object_handlers.ts#listFiles",
      "src/proxy/object_handlers.ts#listBatches",
      "src/proxy/object_handlers.ts#listJobs",
      "src/proxy/object_handlers.ts#listOfJob",
    ],
    what: "objects",
    size: 500,
    input: async (size) => {
      const records = new ObjectRecords();
      for (let at = 0; at < size; at++) {
        const ref = { kind: "file", provider: "p", account: "", owner: "", madeAt: at, ids: [`f${at}`] } as const;
        await records.save(ref, { id: `f${at}`, object: {}, isOver: true });
      }
      return records;
    },
    work: async (made) => await (await made).page({ kind: "file", owner: "", limit: 10_000 }),
  }),
];
