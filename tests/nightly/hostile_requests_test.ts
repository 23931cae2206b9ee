/** 100 000 hostile requests beside sinks that throw, hang and write to a full disk: nothing grows, and the loss is counted. */
import { assert, assertEquals, assertLess } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { platform } from "node:process";
import { makeFolder, runProgram } from "../support/_library.ts";

const requests = 100_000;

/** Not much more than the proxy takes at the start, MB. */
const heapMb = 96;

interface Report {
  readonly statuses: Readonly<Record<string, number>>;
  /** Lines of `/metrics` after a tenth of the requests, and after all. */
  readonly early: number;
  readonly late: number;
  readonly isClean: boolean;
  readonly lost: Readonly<Record<string, number>>;
  readonly reported: readonly string[];
  readonly answered: number;
}

describe("100 000 requests with hostile names and tags", () => {
  it(`leave the labels bounded and fit in ${heapMb} MB; sinks that fail cost no response, and are reported`, async () => {
    await using folder = await makeFolder();
    const full = platform === "linux" ? "/dev/full" : `${folder.path}/no/such/folder\u0000`;
    const source = program.replaceAll("FULL", JSON.stringify(full)).replaceAll("REQUESTS", String(requests));
    const { code, stdout, stderr } = await runProgram(source, folder, {}, heapMb);
    assertEquals([code, stderr], [0, ""]);
    const report: Report = JSON.parse(stdout);
    assertEquals(report.answered, requests, "each gets a response");
    assertEquals(report.statuses[200], requests / 5);
    assertEquals(report.late, report.early, "no label value comes from a request");
    assert(report.isClean);
    assertEquals(Object.keys(report.lost).toSorted(), ["mesh.local-file.v1", "t.hangs.v1", "t.throws.v1"]);
    for (const lost of Object.values(report.lost)) assertLess(requests / 10, lost);
    for (const id of Object.keys(report.lost)) {
      assert(report.reported.some((message) => message.startsWith(`The sink "${id}" lost `)), report.reported.join());
    }
  });
});

const program = `
  const { ModelMesh } = await import(LIBRARY);
  const { createHandler } = await import(PROXY);
  const answer = JSON.stringify({
    id: "c", object: "chat.completion", created: 1, model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  });
  const fetch = () => Promise.resolve(new Response(answer, { headers: { "content-type": "application/json" } }));
  const mesh = new ModelMesh({ fetch, env: {} });
  const reported = [];
  const fail = () => { throw new Error("this sink fails"); };
  const never = () => new Promise(() => {});
  const sinks = {
    "t.throws.v1": { emit: fail, log: fail, trace: fail, flush: fail },
    "t.hangs.v1": { emit: never, log: never, trace: never, flush: () => Promise.resolve() },
  };
  for (const [id, sink] of Object.entries(sinks)) {
    mesh.registerConnector(id, { id, kind: "observability", create: () => sink });
  }
  const trace = ({ message }) => void reported.push(message);
  mesh.addSink({ emit() {}, trace, flush: () => Promise.resolve() });
  const all = [{ connector: "t.throws.v1" }, { connector: "t.hangs.v1" }, { connector: "mesh.local-file.v1", path: FULL }];
  await mesh.initialize({
    providers: { a: { connector: "openai.compatible.v1", base_url: "http://127.0.0.1:9/v1" } },
    models: { m: { provider: "a", capabilities: ["chat-completion"], pricing: { input: 1, output: 1 } } },
    pools: { chat: { models: ["m"] } },
    proxy: { auth: { tokens: [{ token: "of-the-app-0123456789", name: "app" }] } },
    observability: { routing: all, logging: all.map((sink) => ({ ...sink, level: "full" })), tracing: all },
  });
  const handler = createHandler(mesh);
  const url = "http://127.0.0.1:8080";
  const good = { authorization: "Bearer of-the-app-0123456789", "content-type": "application/json" };
  const ask = (path, headers, body) =>
    handler(new Request(url + path, { method: "POST", headers, body: JSON.stringify(body) }));
  const messages = [{ role: "user", content: "Hi" }];
  const kinds = [
    (word) => ask("/v1/chat/completions", good, { model: "chat", messages, user: word, metadata: { [word]: word }, mesh: { tags: { team: word.slice(0, 60) } } }),
    (word) => ask("/v1/chat/completions", good, { model: word, messages }),
    (word) => ask("/" + encodeURIComponent(word), good, {}),
    (word) => ask("/v1/chat/completions", { ...good, authorization: "Bearer " + encodeURIComponent(word) }, {}),
    (word) => ask("/v1/chat/completions", { ...good, "x-request-id": encodeURIComponent(word), "x-mesh-route": word.length + "}" }, { model: "chat", messages, session_id: word, [word]: word, mesh: { tags: { [word]: word } } }),
  ];
  const metrics = async () => (await (await handler(new Request(url + "/metrics", { headers: good }))).text());
  const lines = (text) => text.split("\\n").filter((line) => line !== "" && !/^#|^modelmesh_records_lost_total/.test(line)).length;
  const statuses = {};
  let answered = 0;
  let early = 0;
  const one = async (number) => {
    const word = "zzz" + number + "\\"\\n\\\\{}=,\\u2028\\u202e\\u0000".repeat(1 + number % 5) + "x".repeat(number % 200);
    const response = await kinds[number % 5](word);
    await response.text();
    statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    answered++;
  };
  for (let number = 0; number < REQUESTS; number += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, index) => one(number + index)));
    if (number + 50 === REQUESTS / 10) early = lines(await metrics());
  }
  await mesh.close();
  const text = await metrics();
  const lost = Object.fromEntries([...text.matchAll(/^modelmesh_records_lost_total{sink="(.*?)"} (\\d+)/gm)].map(([, id, count]) => [id, Number(count)]));
  console.log(JSON.stringify({ statuses, early, late: lines(text), isClean: !text.includes("zzz"), lost, reported, answered }));
`;
