/** Forms with files, and responses that are not JSON: what every operation has that needs them. */
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh, openAiCompatible, type Provider, type RoutingRecord, StreamInterruptedError } from "../../mod.ts";
import type { PlainStream } from "../../src/contracts/shell.ts";
import { getEngine } from "../../src/engine/get_engine.ts";
import type { CheckedOperation } from "../../src/pipeline/operation.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import type { Exchange } from "../../src/proxy/exchange.ts";
import { operationRoute } from "../../src/proxy/perform_request.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { findBoundary, readForm } from "../../src/util/multipart.ts";
import { customProvider } from "../support/_custom_provider.ts";
import { json, startUpstream, status } from "../support/upstream.ts";

/** What an operation with uploads has beside chat's members; it is priced by seconds, one for each byte. */
const upload = {
  ...(chat as unknown as CheckedOperation),
  name: "transcription",
  prepare: undefined,
  normalize: undefined,
  serves: (leaf: string) => leaf.endsWith("speech-to-text"),
  form: { fields: { temperature: "number", words: "json", deep: "boolean" } },
  check: (body: unknown) => body,
  measureNeeds: (_body: unknown, files: readonly { bytes: Uint8Array }[]) => ({
    load: { input: 0, output: 0, units: { seconds: files[0]?.bytes.length ?? 0 } },
    findLack: () => undefined,
  }),
  reword: () => ({ edits: {}, dropped: [] }),
  isEmpty: () => false,
  usageIn: () => ({ usage: undefined, written: () => 0 }),
  readUsage: (_answer: unknown, { load }: { load: { units?: object } }) => ({
    quantities: { input: 0, output: 0, ...load.units },
    tokens: 0,
    isEstimated: false,
  }),
} as unknown as CheckedOperation;

/** The same, answered by bytes. */
const content: CheckedOperation = {
  ...upload,
  serves: (leaf: string) => leaf.endsWith("text-to-speech"), // which may be streamed
  form: { ...upload.form!, takesJson: true },
  hasContent: true,
};

/** A mesh over a pool of two models, and what its route answers. */
async function scene(
  config: object,
  operation: CheckedOperation,
  connectors: Parameters<ModelMesh["registerConnector"]>[] = [],
) {
  const records: RoutingRecord[] = [];
  const mesh = new ModelMesh({
    clock: fakeClock({ skipSleeps: true }),
    random: () => 0.5,
    on: (record) => record.type === "routing" && records.push(record),
  });
  for (const [id, connector] of connectors) mesh.registerConnector(id, connector);
  const models = { a: { provider: "a" }, b: { provider: "b" } };
  const facts = { capabilities: ["speech-to-text", "text-to-speech"], pricing: { per_minute: 0.6 } };
  await mesh.initialize({
    models: Object.fromEntries(Object.entries(models).map(([name, model]) => [name, { ...model, ...facts }])),
    pools: {
      pool: { models: ["a", "b"], strategy: "priority", model_priority: ["a", "b"], retry: { max_attempts: 0 } },
    },
    ...config,
  });
  const ask = async (init: RequestInit) => {
    const request = new Request("http://localhost/v1/x", { method: "POST", ...init });
    const exchange = {
      mesh: getEngine(mesh),
      request,
      requestId: "r",
      headers: {},
      client: undefined,
      proxy: {},
      body: async () => new Uint8Array(await request.arrayBuffer()),
      begin: () => undefined,
      onEnd: () => {},
    };
    return await operationRoute(operation).handle(exchange as unknown as Exchange);
  };
  return { records, ask, [Symbol.asyncDispose]: () => mesh.close() };
}

const sound = new Uint8Array(100).map((_, index) => index * 7);

function createForm(fields: Record<string, string | File>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: "pool", ...fields })) form.append(name, value);
  return form;
}

describe("A form", () => {
  const acme = openAiCompatible({
    id: "acme.api.v1",
    vendor: "acme",
    keyless: true,
    operations: {
      transcription: (post) => async (request, options) => {
        const response = await post("audio/transcriptions", request, options);
        return { body: JSON.parse(new TextDecoder().decode(await new Response(response.body).bytes())) };
      },
    },
  });
  const over = async (scripts: Parameters<typeof startUpstream>[0][]) => {
    const upstreams = await Promise.all(scripts.map((script) => startUpstream(script)));
    const [a, b] = upstreams.map(({ url }) => ({ connector: "acme.api.v1", base_url: url }));
    const made = await scene({ providers: { a, b } }, upload, [["acme.api.v1", acme]]);
    const close = async () => {
      await made[Symbol.asyncDispose]();
      await Promise.all(upstreams.map((upstream) => upstream.close()));
    };
    return { ...made, upstreams, [Symbol.asyncDispose]: close };
  };

  it("goes to the next provider with the same bytes, fields and all, and is priced by what is in it", async () => {
    await using test = await over([status(503), json({ text: "hello" })]);
    const file = new File([sound], "a.mp3", { type: "audio/mpeg" });
    const response = await test.ask({
      body: createForm({ file, temperature: "0.5", words: '{"a":[1]}', deep: "true" }),
    });
    assertEquals([response.status, response.body], [200, '{"text":"hello"}']);
    for (const { requests: [request] } of test.upstreams) {
      const { path, headers, bytes } = request!;
      assertEquals(path, "/v1/audio/transcriptions");
      const form = readForm(new Uint8Array(bytes), findBoundary(headers["content-type"]!)!)!;
      assertEquals(form.files, [{ field: "file", name: "a.mp3", type: "audio/mpeg", bytes: sound }]);
      const model = request === test.upstreams[0]!.requests[0] ? "a" : "b";
      assertEquals(Object.fromEntries(form.fields), { model, temperature: "0.5", words: '{"a":[1]}', deep: "true" });
    }
    assertEquals(test.records[0]!.cost_usd, 1);
  });

  it("takes a field for a text whose name every object has", async () => {
    await using test = await over([json({}), json({})]);
    const file = new File([sound], "a.mp3");
    const fields = { constructor: "c", toString: "t", ["__proto__"]: "p" };
    const { status } = await test.ask({ body: createForm({ file, ...fields }) });
    assertEquals(status, 200);
    const { bytes, headers } = test.upstreams[0]!.requests[0]!;
    const sent = readForm(new Uint8Array(bytes), findBoundary(headers["content-type"]!)!)!.fields;
    assertEquals(sent.filter(([name]) => name !== "model"), Object.entries(fields));
  });

  const refused: readonly (readonly [what: string, init: RequestInit, status: number, says: string])[] = [
    ["JSON", { body: "{}", headers: { "content-type": "application/json" } }, 415, "multipart/form-data"],
    ["no boundary", { body: "x", headers: { "content-type": "multipart/form-data" } }, 400, "boundary"],
    [
      "cut short",
      { body: "--b\r\n", headers: { "content-type": "multipart/form-data; boundary=b" } },
      400,
      "cut short",
    ],
    ["a text for a number", { body: createForm({ temperature: "warm" }) }, 400, '"temperature" has to be a number'],
    [
      "JSON of millions of lists",
      { body: createForm({ words: `[${"[],".repeat(2_000_000)}[]]` }) },
      400,
      '"words" has over',
    ],
    ["broken JSON", { body: createForm({ words: "{" }) }, 400, '"words" has to be JSON'],
  ];
  for (const [what, init, code, says] of refused) {
    it(`is refused: ${what}`, async () => {
      await using test = await over([json({}), json({})]);
      const error = await assertRejects(() => test.ask(init), Error);
      assertStringIncludes(error.message, says);
      assertEquals(Reflect.get(error, "status") ?? 400, code);
      assertEquals(test.upstreams.map(({ calls }) => calls), [0, 0]);
    });
  }
});

describe("Content", () => {
  /** Bytes one by one, then an error, if one is given. */
  async function* streamBytes(bytes: Uint8Array, error?: Error): AsyncGenerator<Uint8Array> {
    for (const byte of bytes) yield await Promise.resolve(new Uint8Array([byte]));
    if (error !== undefined) throw error;
  }
  const speaking = (make: () => AsyncIterable<Uint8Array> | Uint8Array): Provider =>
    customProvider({
      operations: ["transcription"],
      complete: () => Promise.resolve({ body: {} as never, content: { type: "audio/mpeg", bytes: make() } }),
    });
  const over = (a: Provider, b: Provider) => scene({ providers: { a: { instance: a }, b: { instance: b } } }, content);
  const asked = { body: JSON.stringify({ model: "pool" }), headers: { "content-type": "application/json" } };
  const some = new Uint8Array([1, 2, 3]);

  async function readAll(stream: PlainStream): Promise<number[]> {
    const all: number[] = [];
    for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read()) {
      all.push(...bytes as Uint8Array);
    }
    return all;
  }

  for (const [how, make] of [["whole", () => some], ["as it arrives", () => streamBytes(some)]] as const) {
    it(`is passed on with its type, and recorded when it is over: ${how}`, async () => {
      await using test = await over(speaking(make), speaking(make));
      const { status, headers, body } = await test.ask(asked);
      assertEquals([status, headers["content-type"], headers["x-mesh-model"]], [200, "audio/mpeg", "a"]);
      assertEquals(test.records.length, 0);
      assertEquals(await readAll(body as PlainStream), [1, 2, 3]);
      assertEquals([test.records.length, test.records[0]!.status], [1, 200]);
    });
  }

  it("comes from the next model when the first one sends nothing, or fails before its first byte", async () => {
    for (const broken of [() => new Uint8Array(), () => streamBytes(new Uint8Array(), new Error("broken"))]) {
      await using test = await over(speaking(broken), speaking(() => some));
      const { headers, body } = await test.ask(asked);
      assertEquals([headers["x-mesh-model"], await readAll(body as PlainStream)], ["b", [1, 2, 3]]);
    }
  });

  it("breaks off where its provider does", async () => {
    await using test = await over(speaking(() => streamBytes(some, new Error("broken"))), speaking(() => some));
    const { body } = await test.ask(asked);
    await assertRejects(() => readAll(body as PlainStream), StreamInterruptedError);
    assertEquals(test.records.length, 1);
  });

  it("ends its provider's call when the client leaves", async () => {
    let isOver = false;
    const slow = async function* () {
      try {
        for (;;) yield await Promise.resolve(some);
      } finally {
        isOver = true;
      }
    };
    await using test = await over(speaking(slow), speaking(() => some));
    const { body } = await test.ask(asked);
    await (body as PlainStream).read();
    (body as PlainStream).cancel();
    await Promise.resolve();
    assertEquals([isOver, test.records.length], [true, 1]);
  });
});
