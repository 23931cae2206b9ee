/**
 * Files, batches and fine-tuning jobs with mutated requests, and over a vendor whose replies are mutated.
 * @module
 */
import type { MutationRun } from "./_mutation_stage.ts";
import { findFault, tryAll, type WireRequest } from "./_mutation_stage.ts";
import { mutated, mutatedText, pick, type Random } from "./_mutations.ts";
import { ask, fileForm, objectStage, requestLines } from "./_objects.ts";
import type { ObjectVendor } from "./vendors/openai_objects.ts";

type Json = Record<string, unknown>;

const jsonHeaders = { "content-type": "application/json" };
const examples = `${
  JSON.stringify({ messages: [{ role: "user", content: "Hi" }, { role: "assistant", content: "Ho" }] })
}\n`;

/** Ids of objects that the proxy has given. */
interface Ids {
  readonly file: string;
  readonly batch: string;
  readonly job: string;
}

/** Creates one object of each kind, as a client does. */
async function createObjects(proxy: Parameters<typeof ask>[0]): Promise<Ids> {
  const lines = await ask(proxy, "files", { body: fileForm(requestLines(2)) });
  const tuned = await ask(proxy, "files", { body: fileForm(examples, { purpose: "fine-tune" }) });
  const batch = await ask(proxy, "batches", { json: batchOf(lines.json.id) });
  const job = await ask(proxy, "fine_tuning/jobs", { json: jobOf(tuned.json.id) });
  return { file: lines.json.id, batch: batch.json.id, job: job.json.id };
}

const batchOf = (id: string) => ({
  input_file_id: id,
  endpoint: "/v1/chat/completions",
  completion_window: "24h",
  metadata: { a: "b" },
});
const jobOf = (id: string) => ({
  model: "chat",
  training_file: id,
  method: { type: "supervised", supervised: { hyperparameters: { n_epochs: 1 } } },
});

/** Requests for the objects, each with its body: JSON, the lines of a file, or none. */
const steps: readonly ((ids: Ids) => { path: string; method?: string; json?: Json; lines?: string })[] = [
  () => ({ path: "/v1/files", lines: requestLines(2) }),
  () => ({ path: "/v1/files", method: "GET" }),
  ({ file }) => ({ path: `/v1/files/${file}`, method: "GET" }),
  ({ file }) => ({ path: `/v1/files/${file}/content`, method: "GET" }),
  ({ file }) => ({ path: `/v1/files/${file}`, method: "DELETE" }),
  ({ file }) => ({ path: "/v1/batches", json: batchOf(file) }),
  () => ({ path: "/v1/batches?limit=3", method: "GET" }),
  ({ batch }) => ({ path: `/v1/batches/${batch}`, method: "GET" }),
  ({ batch }) => ({ path: `/v1/batches/${batch}/cancel`, json: {} }),
  ({ file }) => ({ path: "/v1/fine_tuning/jobs", json: jobOf(file) }),
  () => ({ path: "/v1/fine_tuning/jobs?limit=3", method: "GET" }),
  ({ job }) => ({ path: `/v1/fine_tuning/jobs/${job}`, method: "GET" }),
  ({ job }) => ({ path: `/v1/fine_tuning/jobs/${job}/cancel`, json: {} }),
  ({ job }) => ({ path: `/v1/fine_tuning/jobs/${job}/events?after=x`, method: "GET" }),
  ({ job }) => ({ path: `/v1/fine_tuning/jobs/${job}/checkpoints`, method: "GET" }),
];

function toWireRequest({ path, method, json, lines }: ReturnType<typeof steps[number]>): WireRequest {
  if (lines !== undefined) return { path, body: fileForm(lines) };
  if (json !== undefined) return { path, headers: jsonHeaders, body: JSON.stringify(json) };
  return { path, method: method ?? "GET" };
}

/** What the vendor would say. */
function replyTo(vendor: ObjectVendor, method: string, path: string): unknown {
  const [room, , what = ""] = path.replace("fine_tuning/jobs", "jobs").split("/");
  const first = (objects: ReadonlyMap<string, Json>) => {
    const { key: _key, text: _text, ...object } = [...objects.values()][0] ?? {};
    return object;
  };
  if (what === "content") return requestLines(2);
  if (method === "DELETE") return { id: "file-1", object: "file", deleted: true };
  if (what === "events" || what === "checkpoints") {
    return { object: "list", data: [{ object: "fine_tuning.job.event", id: "e1", message: "m" }], has_more: false };
  }
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  const ended = { status: "completed", output_file_id: "file-1", error_file_id: "file-2", usage };
  if (room === "batches") {
    return { ...first(vendor.batches), ...ended, request_counts: { total: 2, completed: 2, failed: 0 } };
  }
  return room === "files" ? first(vendor.files) : { ...first(vendor.jobs), status: "succeeded", trained_tokens: 9 };
}

/** Asks for objects of a vendor whose replies are mutated. */
export async function tryMutatedObjectReplies(run: MutationRun): Promise<void> {
  await using stage = await objectStage();
  const { proxy, vendors: { a: vendor } } = stage;
  await tryAll(run, async (random) => {
    vendor!.instead = undefined;
    const request = toWireRequest(pick(steps, random)(await createObjects(proxy)));
    const said: unknown[] = [];
    vendor!.instead = (method, path) => {
      if (random() < 0.2) return undefined;
      const status = random() < 0.8 ? 200 : pick([204, 302, 400, 401, 404, 409, 429, 500, 503], random);
      const reply = replyTo(vendor!, method, path);
      const body = typeof reply === "string" ? mutatedText(reply, random) : mutated(reply, random);
      said.push(status, body);
      return { status, body: body as Json };
    };
    const problem = await findFault(proxy, request);
    await proxy.clock.advance(24 * 60 * 60 * 1000);
    return problem && `${request.method ?? "POST"} ${request.path}: ${problem}\n  after ${JSON.stringify(said)}`;
  });
}

/** Asks a vendor for objects by mutated requests. */
export async function tryMutatedObjectRequests(run: MutationRun): Promise<void> {
  await using stage = await objectStage();
  const { proxy } = stage;
  await tryAll(run, async (random) => {
    const step = pick(steps, random)(await createObjects(proxy));
    const request = toWireRequest(mutatedStep(step, random));
    const problem = await findFault(proxy, request);
    return problem && `${request.method ?? "POST"} ${request.path}: ${problem}\n  after ${JSON.stringify(step)}`;
  });
}

function mutatedStep(step: ReturnType<typeof steps[number]>, random: Random): typeof step {
  const { path, json, lines } = step;
  if (json !== undefined && random() < 0.8) return { ...step, json: mutated(json, random) as Json };
  if (lines === undefined) return { ...step, path: `/v1/${encodeURI(mutatedText(path.slice("/v1/".length), random))}` };
  const values = lines.trimEnd().split("\n").map((line) => JSON.stringify(mutated(JSON.parse(line), random)));
  return { ...step, lines: random() < 0.5 ? mutatedText(lines, random) : `${values.join("\n")}\n` };
}
