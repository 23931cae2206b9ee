/**
 * Requests with `background: true`: they are answered at once, and their work goes on without a connection.
 * @module
 */
import { formatQueued } from "../../dialects/responses/background.ts";
import { responses } from "../../dialects/responses/responses.ts";
import type { JsonObject, OpenAiError } from "../../contracts/openai.ts";
import type { StopSignal } from "../../contracts/runtime.ts";
import type { PlainRequest, PlainResponse } from "../../contracts/shell.ts";
import { invalid, missing } from "../../pipeline/check_body.ts";
import { chat } from "../../pipeline/operations/chat.ts";
import { poolFor } from "../../pipeline/select_pool.ts";
import { errorResponse } from "../error_response.ts";
import { Exchange } from "../exchange.ts";
import { json } from "../json.ts";
import { BackgroundJob } from "./background_job.ts";
import type { Turn, TurnWork } from "./conversation_turn.ts";
import { respondWithEvents } from "./event_stream.ts";
import { withStorageErrors } from "./response_memory.ts";
import type { Respond, TurnResponse } from "./turn_response.ts";
import { findScopes } from "../perform_request.ts";

/** Headers of a request that its work refers to, after the connection may have ended. */
const workHeaders = [
  ...[
    "x-mesh-route",
    "x-mesh-priority",
    "x-mesh-session",
    "x-mesh-tags",
    "x-mesh-cache",
    "user-agent",
    "traceparent",
    "tracestate",
  ],
];

/** A request to accept. */
interface BackgroundRequest {
  readonly work: TurnWork & { readonly turn: Turn };
  readonly exchange: Exchange;
  readonly response: TurnResponse;
  readonly respond: Respond;
}

/**
 * Accepts a request.
 *
 * @throws {UnsupportedRequestError} If it is malformed.
 * @throws {HttpError} 503 if the storage fails.
 */
export async function respondInBackground(request: BackgroundRequest): Promise<PlainResponse> {
  const { work, exchange, response } = request;
  const { turn: { memory, owner, input, ancestors } } = work;
  const body = work.value as JsonObject;
  const model = await admit(request);
  const { runtime: { clock } } = exchange.mesh;
  const head = { id: response.id, model, created: Math.floor(clock.now() / 1000) };
  const queued = { ...formatQueued(body, head), ...response.members };
  const isStreamed = body.stream === true;
  const ref = { owner, id: response.id };
  const record = { version: 1, response: { ...queued, status: "in_progress" }, input, ancestors, isStreamed } as const;
  const job = await withStorageErrors(() =>
    memory.startJob(
      ref,
      record,
      (stamp) => new BackgroundJob({ ...createJobParts(request, queued), ref, isStreamed, stamp }),
    )
  );
  exchange.isDetached = true;
  follow(job, exchange);
  const events = job.openEvents();
  return events === undefined
    ? json(queued, exchange)
    : respondWithEvents(events, exchange, { position: 0, onEnd: () => {} });
}

/** The end of the work ends the request. */
function follow({ ended }: BackgroundJob, exchange: Exchange): void {
  const { background } = exchange;
  const done = ended.then(() => {
    background.delete(done);
    exchange.end();
  });
  background.add(done);
}

/** Checks a request like one that is answered later, as far as that is known now. */
async function admit({ work, exchange }: BackgroundRequest): Promise<string> {
  const { client, mesh: { registry } } = exchange;
  const scopes = findScopes(exchange, work.value as JsonObject);
  if (!work.turn.isStored) {
    throw invalid(
      '"background" requires that the response is stored: leave "store" out, or set it to true',
      "background",
    );
  }
  const { model, models } = chat.check(responses.translate(work.value, exchange.request).chat, []);
  if (model === undefined) throw missing("model");
  if (models === undefined) {
    const { members } = poolFor(model, { client }, registry);
    if (!members.some(({ state }) => state.tracker.isFree)) scopes?.checkBudgets();
  }
  await scopes?.admit();
  return model;
}

function createJobParts({ work, exchange, response, respond }: BackgroundRequest, queued: JsonObject) {
  const { mesh, requestId, client } = exchange;
  const { runtime } = mesh;
  const { memory } = work.turn;
  const { limitMs: _, ...time } = work.time;
  const detached = { ...work, time: { ...time, limitMs: mesh.settings.deadlineMs } };
  const received = toWorkRequest(exchange.request);
  return {
    records: memory.records,
    clock: runtime.clock,
    stopper: runtime.stopper?.() ?? new AbortController(),
    queued,
    members: response.members,
    perform: (signal: StopSignal) => respond(detached, detach(exchange, { ...received, signal })),
    toError(error: unknown): OpenAiError {
      const { body } = errorResponse(error, { mesh, requestId, client });
      return JSON.parse(body as string).error;
    },
    report: (error: unknown) => memory.report(error),
  };
}

/** The exchange of the work: without a client that waits. */
function detach(exchange: Exchange, request: PlainRequest): Exchange {
  const { parts, requestId, path, peer, sender, client, scopes, labels, isStoredTurn } = exchange;
  const proxy = { ...parts.proxy, heartbeatMs: 0 };
  const detached = new Exchange({ ...parts, proxy }, { request, requestId, path, peer });
  return Object.assign(detached, { headers: { ...exchange.headers }, sender, client, scopes, labels, isStoredTurn });
}

/** The part of a request that remains when its connection has ended. */
function toWorkRequest({ method, url, headers }: PlainRequest): Omit<PlainRequest, "signal"> {
  const kept = new Map(workHeaders.map((name) => [name, headers.get(name)]));
  const get = (name: string) => kept.get(name) ?? null;
  const bytes = () => Promise.resolve(new Uint8Array());
  return { method, url, headers: { get, has: (name) => get(name) !== null }, body: null, bytes };
}
