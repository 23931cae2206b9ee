/**
 * The key of a response in the cache: every member of a request changes it, or is listed here as one that may not. A new
 * member does not compile until it is in one of the tables.
 */
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type {
  ChatCompletionRequest,
  EmbeddingRequest,
  ModerationRequest,
  RequestBody,
  RerankRequest,
} from "../../src/contracts/openai.ts";
import { createCacheKey } from "../../src/pipeline/cache/cache_key.ts";
import { chat } from "../../src/pipeline/operations/chat.ts";
import { embeddings } from "../../src/pipeline/operations/embeddings.ts";
import type { RoutedRequest } from "../../src/pipeline/request.ts";
import type { RoutingConstraints } from "../../src/pipeline/routing_constraints.ts";

/** The members that a type declares, besides those of any name. */
type Declared<Type> = keyof { [Key in keyof Type as string extends Key ? never : number extends Key ? never : Key]: 0 };

/** A value that has another key than without it, or why it has not. */
type Row = { readonly to: unknown } | string;
type Table<Type> = Readonly<Record<Declared<Type>, Row>>;

const pool = "the pool is part of the key";
const caller = "it names the caller";
const form = "it decides the form of the response, or when it arrives";
const limit = "it limits who or what may serve the request, not the response";

const request = {
  id: "1",
  operation: chat,
  delivery: "sync",
  model: "chat",
  body: { model: "chat", messages: [{ role: "user", content: "Hi" }] },
  timeoutMs: 1_000,
} as unknown as RoutedRequest;

const file = { field: "file", name: "a.png", type: "image/png", bytes: new Uint8Array([1]) };

const requests: Table<RoutedRequest> = {
  id: caller,
  operation: { to: embeddings },
  delivery: form,
  model: pool,
  body: { to: { messages: [] } },
  files: { to: [file] },
  text: "it is the JSON of the body",
  isStoredTurn: "such a request passes by",
  original: "the body is its translation; a request that is more than that passes by",
  signal: form,
  timeoutMs: form,
  sharing: form,
  session: "it only chooses among the models of the pool",
  routingConstraints: { to: { only: { names: ["a"], param: "" } } },
  providerKey: "a request with one passes by",
  hasAlternative: form,
  client: { to: { id: "ann", name: "ann" } },
  identity: { to: "someone" },
  guards: "they have changed the body, and check each response",
  labels: "they count; a team is part of the key if that is the scope",
  scopes: limit,
  userAgent: caller,
  trace: caller,
};

const constraints: Table<RoutingConstraints> = {
  only: { to: { names: ["a"], param: "" } },
  ignore: { to: { names: ["a"], param: "" } },
  order: { to: { names: ["a"], param: "" } },
  maxPrice: { to: { nanoUsd: 1, param: "" } },
  deadlineMs: form,
  firstTokenMs: form,
  commit: form,
  session: caller,
  tags: caller,
  user: caller,
  priority: form,
  cache: "it says whether the cache is asked",
};

const shared: Table<RequestBody> = { model: pool, models: pool, user: caller };

const chats: Table<ChatCompletionRequest> = {
  ...shared,
  messages: { to: [{ role: "user", content: "Ho" }] },
  stream: form,
  stream_options: form,
  tools: { to: [{ type: "function", function: { name: "f" } }] },
  tool_choice: { to: "none" },
  parallel_tool_calls: { to: false },
  max_tokens: { to: 1 },
  max_completion_tokens: { to: 1 },
  temperature: { to: 0 },
  top_p: { to: 0.5 },
  n: { to: 2 },
  stop: { to: "x" },
  response_format: { to: { type: "json_object" } },
  reasoning_effort: { to: "low" },
};

const vectors: Table<EmbeddingRequest> = {
  ...shared,
  input: { to: "x" },
  dimensions: { to: 3 },
  encoding_format: { to: "base64" },
};

const ranks: Table<RerankRequest> = {
  ...shared,
  query: { to: "x" },
  documents: { to: ["x"] },
  top_n: { to: 1 },
  return_documents: { to: true },
};

const moderations: Table<ModerationRequest> = { ...shared, input: { to: "x" } };

const members = [{ model: { name: "a" } }] as never;

function toKey(of: object, facts: { readonly scope?: "client" | "team" | "all"; readonly pool?: string } = {}) {
  const { scope = "client", pool: name = "chat" } = facts;
  return createCacheKey({ ...request, ...of }, { pool: { name, members }, scope, generation: "1" });
}

async function checkTable(table: Readonly<Record<string, Row>>, change: (name: string, to: unknown) => object) {
  const before = await toKey(change("", undefined));
  for (const [name, row] of Object.entries(table)) {
    const isPart = typeof row === "object";
    const after = await toKey(change(name, isPart ? row.to : { any: "value" }));
    assertEquals(after !== before, isPart, `${name} ${isPart ? "" : "not "}to be part of the key`);
  }
}

const inBody = (name: string, to: unknown) => ({ body: { ...request.body, ...(name !== "" && { [name]: to }) } });

describe("the key of a response", () => {
  it("has every member of a request that decides it", async () => {
    const { body: _, ...others } = requests;
    await checkTable(others, (name, to) => name === "" ? {} : { [name]: to });
    assert(await toKey({ body: { messages: [] } }) !== await toKey({}));
  });

  it("has every routing constraint that decides it", async () => {
    await checkTable(constraints, (name, to) => ({ routingConstraints: name === "" ? {} : { [name]: to } }));
  });

  const bodies = { chat: chats, embeddings: vectors, rerank: ranks, moderation: moderations };
  for (const [name, table] of Object.entries(bodies)) {
    it(`has every member of a body that decides it: ${name}`, async () => {
      await checkTable(table, inBody);
    });
  }

  it("has members that no type declares, in any depth", async () => {
    const bodies = [{}, { seed: 1 }, { top_k: 1 }, { provider_option: { a: [{ b: 1 }] } }, {
      provider_option: { a: [{ b: 2 }] },
    }];
    const keys = await Promise.all(bodies.map((body) => toKey({ body: { ...request.body, ...body } })));
    assertEquals(new Set(keys).size, bodies.length);
  });

  it("has the content of files, and of images in messages", async () => {
    const other = { ...file, bytes: new Uint8Array([2]) };
    const image = (data: string) => ({
      body: { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: `data:${data}` } }] }] },
    });
    const keys = await Promise.all(
      [{ files: [file] }, { files: [other] }, image("a"), image("b")].map((of) => toKey(of)),
    );
    assertEquals(new Set(keys).size, 4);
  });

  it("does not depend on the order of members, but on that of lists", async () => {
    const [a, b] = [{ role: "user", content: "a" }, { content: "b", role: "user" }];
    const flip = ({ role, content }: { role: string; content: string }) => ({ content, role });
    const key = await toKey({ body: { messages: [a, b], n: 1 } });
    assertEquals(await toKey({ body: { n: 1, messages: [flip(a), flip(b)] } }), key);
    assert(await toKey({ body: { messages: [b, a], n: 1 } }) !== key);
  });

  it("has its pool, and who shares it", async () => {
    const ann = { client: { id: "ann", name: "x" }, labels: { team: "red" } };
    const bob = { client: { id: "bob", name: "x" }, labels: { team: "red" } };
    const cyd = { client: { id: "cyd", name: "x" }, labels: { team: "blue" } };
    const count = async (scope: "client" | "team" | "all") =>
      new Set(await Promise.all([ann, bob, cyd].map((of) => toKey(of, { scope })))).size;
    assertEquals([await count("client"), await count("team"), await count("all")], [3, 2, 1]);
    assert(await toKey({}) !== await toKey({}, { pool: "other" }));
    // a client is not the team, nor the sender, of the same name
    const same = [{ client: { id: "red", name: "" } }, { labels: { team: "red" } }, { identity: "red" }];
    assertEquals(new Set(await Promise.all(same.map((of) => toKey(of, { scope: "team" })))).size, 3);
  });
});
