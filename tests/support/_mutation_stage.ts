/**
 * A proxy over providers of every dialect that is sent mutated requests, or mutated replies, one after the other over real
 * HTTP. Whatever comes, the response is not a 500: that would be a defect of ours.
 * @module
 */
import { AssertionError } from "@std/assert";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { RoutingRecord } from "../../mod.ts";
import { type MutatedCase, mutatedCases } from "./_mutated_cases.ts";
import { mutatedReply, sending, type WireReply, written } from "./_mutated_replies.ts";
import { mutated, mutatedText, pick, type Random, seeded } from "./_mutations.ts";
import { happens } from "./patience.ts";
import { startTestProxy, type TestProxy } from "./proxy.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Which mutations are tried. */
export interface MutationRun {
  /** The first seed. A failure names its seed, to be tried alone. */
  readonly from?: number;
  readonly count: number;
}

/** A request as it is sent. */
export interface WireRequest {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: BodyInit;
}

interface MutationStage extends AsyncDisposable {
  readonly proxy: TestProxy;
  readonly upstream: Upstream;
}

async function startStage(cases: readonly MutatedCase[]): Promise<MutationStage> {
  const upstream = await startUpstream(sending({ status: 500, headers: {}, body: "" }));
  const providers = [...new Map(cases.map(({ provider }) => [provider.name, provider])).values()];
  const perName = (make: (provider: typeof providers[number]) => object) =>
    Object.fromEntries(providers.map((provider) => [provider.name, make(provider)]));
  const pool = { deactivation: { retry_limit: 1_000_000 }, retry: { max_attempts: 0 } };
  const proxy = await startTestProxy({
    upstreams: {},
    config: {
      providers: perName(({ connector, config }) => ({
        connector,
        base_url: upstream.url,
        api_key: "key-0123456789abcdef",
        ...(Object.keys(config).length === 0 ? {} : { config }),
      })),
      models: perName(({ name, model, capability }) => ({
        provider: name,
        model,
        capabilities: [capability],
        pricing: { input: 1, output: 2, cached_input: 0.5, per_request: 0.01, per_image: 0.1, per_search: 0.1 },
      })),
      pools: { "*": pool, all: { models: providers.slice(0, 1).map(({ name }) => name) } },
    },
  });
  return {
    proxy,
    upstream,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await upstream.close();
    },
  };
}

/**
 * Sends a request, and returns what is wrong with the response; undefined if nothing is.
 *
 * @param request A request; `POST` by default.
 */
export async function findFault(
  { url, records }: Pick<TestProxy, "url" | "records">,
  { path, ...init }: WireRequest,
): Promise<string | undefined> {
  const seen = records.length;
  const response = await happens(`an answer to ${path}`, fetch(`${url}${path}`, { method: "POST", ...init }));
  const text = await happens(`the end of the answer to ${path}`, response.text()).catch(() => undefined);
  const routings = records.slice(seen).filter((record): record is RoutingRecord => record.type === "routing");
  const { status, headers } = response;
  const type = headers.get("content-type") ?? "";
  // only sound and files may break off: nothing else could say that they are not complete
  const isCut = text === undefined && /json|event-stream/.test(type);
  const isInternal = status === 500 || text?.includes("internal_error") || text?.includes("The connector failed") ||
    routings.some((record) => record.status === 500 || record.code === "internal_error");
  if (isCut || isInternal || /json/.test(type) && !isJson(text ?? "")) return `${status} ${text?.slice(0, 400)}`;
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Ends what the last reply has led to: standby, and limits that its headers have reported. */
async function recover({ proxy: { mesh, clock } }: MutationStage, { provider: { name } }: MutatedCase): Promise<void> {
  await clock.advance(dayMs);
  mesh.activate(name);
}

function writeWireRequest({ path, body, files }: Pick<MutatedCase, "path" | "body" | "files">): WireRequest {
  if (files === undefined) {
    return { path, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  }
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    form.append(name, typeof value === "string" ? value : JSON.stringify(value) ?? "");
  }
  for (const { field, name, type, bytes } of files) {
    form.append(field, new File([bytes as BufferSource], name, { type }));
  }
  return { path, headers: {}, body: form };
}

/** Tries seeds one after the other, and fails with those whose response is an internal error. */
export async function tryAll(
  { from = 0, count }: MutationRun,
  attempt: (random: Random) => Promise<string | undefined>,
): Promise<void> {
  const wrong: string[] = [];
  for (let seed = from; seed < from + count && wrong.length < 20; seed++) {
    const problem = await attempt(seeded(seed));
    if (problem !== undefined) wrong.push(`seed ${seed}: ${problem}`);
  }
  if (wrong.length > 0) throw new AssertionError(`Answered by an internal error:\n${wrong.join("\n")}`);
}

/** Sends each case in turn, to a provider whose reply is mutated. */
export async function tryMutatedReplies(run: MutationRun): Promise<void> {
  const cases = await mutatedCases();
  await using stage = await startStage(cases);
  await tryAll(run, async (random) => {
    const mutatedCase = pick(cases, random);
    const reply = mutatedReply(mutatedCase.reply, random);
    stage.upstream.follow(sending(reply));
    const problem = await findFault(stage.proxy, writeWireRequest(mutatedCase));
    await recover(stage, mutatedCase);
    return problem && `${mutatedCase.name}: ${problem}\n  after ${shown(reply)}`;
  });
}

function shown({ status, headers, body }: WireReply): string {
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  return `${status} ${JSON.stringify(headers)} ${JSON.stringify(text.slice(0, 2000))}`;
}

const oddHeaders: readonly Readonly<Record<string, string>>[] = [
  { "x-mesh-route": "only=;max-price=NaN;deadline=-1s" },
  { "x-mesh-route": "order==,;ignore" },
  { "x-mesh-session": "\u00e9".repeat(100) },
  { "x-stainless-timeout": "-1" },
  { "x-stainless-timeout": "1e309" },
  { "x-request-id": " " },
  { "content-type": "application/json; charset=utf-7" },
  { "content-type": "multipart/form-data" },
  { "anthropic-version": "", "anthropic-beta": ",,," },
  { "traceparent": "00-0-0-0", "tracestate": "=" },
  { "last-event-id": "9".repeat(99) },
];

function mutatedRequest(mutatedCase: MutatedCase, random: Random): WireRequest {
  const body = mutated(mutatedCase.body, random);
  const isForm = mutatedCase.files !== undefined && typeof body === "object" && body !== null;
  const { path, ...plain } = isForm
    ? writeWireRequest({ ...mutatedCase, body: body as JsonObject })
    : { path: mutatedCase.path, headers: { "content-type": "application/json" }, body: JSON.stringify(body) ?? "" };
  const text = typeof plain.body === "string" && random() < 0.1 ? mutatedText(plain.body, random) : plain.body;
  const headers = random() < 0.1 ? { ...plain.headers, ...pick(oddHeaders, random) } : plain.headers;
  return { path, headers: asHeaders(headers ?? {}), body: text };
}

/** Header values are bytes. */
function asHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace(/[^\x20-\xff]/g, "?")]),
  );
}

/** Sends each case in turn, mutated, to a provider that replies as it should. */
export async function tryMutatedRequests(run: MutationRun): Promise<void> {
  const cases = await mutatedCases();
  await using stage = await startStage(cases);
  await tryAll(run, async (random) => {
    const mutatedCase = pick(cases, random);
    const request = mutatedRequest(mutatedCase, random);
    stage.upstream.follow(sending(written(mutatedCase.reply)));
    const problem = await findFault(stage.proxy, request);
    await recover(stage, mutatedCase);
    const body = typeof request.body === "string" ? request.body : JSON.stringify([...request.body as FormData]);
    return problem &&
      `${mutatedCase.name}: ${problem}\n  after ${JSON.stringify(request.headers)} ${body.slice(0, 3000)}`;
  });
}

/** Sends each case as it is, and returns those whose response is not a 200: their mutations would prove little. */
export async function refusedCases(): Promise<string[]> {
  const cases = await mutatedCases();
  await using stage = await startStage(cases);
  const refused: string[] = [];
  for (const mutatedCase of cases) {
    stage.upstream.follow(sending(written(mutatedCase.reply)));
    const { path, ...init } = writeWireRequest(mutatedCase);
    const response = await fetch(`${stage.proxy.url}${path}`, { method: "POST", ...init });
    const text = await response.text();
    if (response.status !== 200 || text.includes('"error":{')) {
      refused.push(`${mutatedCase.name}: ${response.status} ${text}`);
    }
  }
  return refused;
}
