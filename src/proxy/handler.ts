/**
 * The proxy as a function from requests to responses, without a server.
 * @module
 */
import { builtInProxy } from "../config/build/proxy.ts";
import type { Peer, PlainRequest, PlainResponse, RequestHandler } from "../contracts/shell.ts";
import type { Engine } from "../engine/engine.ts";
import { getEngine } from "../engine/get_engine.ts";
import type { Mesh } from "../engine/mesh.ts";
import { requestIdFrom } from "../util/request_id.ts";
import { readPath } from "../util/request_path.ts";
import { toResponse } from "../util/to_response.ts";
import { requireToken } from "./authenticator.ts";
import { ClientSlot } from "./client_slot.ts";
import { errorResponse } from "./error_response.ts";
import type { RequestFacts } from "./exchange.ts";
import type { HandlerOptions, ProxyOptions } from "./handler_options.ts";
import { ProxyInstance } from "./instance.ts";
import { json } from "./json.ts";
import { checkOrigins } from "./origin_policy.ts";

/** A function from requests to responses. It never rejects. */
export interface Handler extends RequestHandler {
  /** The same function without objects of the Fetch standard, for the built-in servers. */
  readonly plain: (request: PlainRequest, peer?: Peer) => Promise<PlainResponse>;
  /**
   * Routes new requests to another mesh. Requests in progress end in theirs. Counters and spending of clients continue.
   *
   * @param mesh A mesh that is ready.
   * @returns Resolves when the previous mesh has no requests left.
   * @throws {ConfigError} If its configuration requires tokens and there is none; nothing has then changed.
   */
  readonly replace: (mesh: Mesh) => Promise<void>;
}

/**
 * Creates the proxy of a mesh.
 *
 * @param mesh A configured mesh, which need not be ready.
 * @param options Additional tokens and origins, bind address, draining.
 * @throws {ConfigError} If the configuration requires tokens (`proxy.auth`) and there is none, or an origin is invalid. If the configuration
 * has not been read yet, no request is served instead.
 *
 * @example
 * ```ts
 * import { ModelMesh } from "@modelmesh/core";
 * import { createHandler } from "@modelmesh/core/proxy";
 *
 * const mesh = new ModelMesh();
 * await mesh.initialize({ pools: { chat: { capability: "chat-completion" } } });
 * Deno.serve(createHandler(mesh));
 * ```
 */
export function createHandler(mesh: Mesh, options: HandlerOptions = {}): Handler {
  return createMeshHandler(mesh, options);
}

interface MeshHandler extends Handler {
  /** Resolves when the work that goes on after its request was answered has ended. */
  readonly untilBackgroundEnded: () => Promise<void>;
}

/** Like {@linkcode createHandler}, optionally as one of several processes. */
export function createMeshHandler(mesh: Mesh, options: ProxyOptions): MeshHandler {
  let instance: ProxyInstance | undefined;
  let current = getEngine(mesh);
  checkOrigins(options.origins);
  const check = ({ settings: { proxy = builtInProxy() } }: Engine) => requireToken(proxy, options.tokens ?? []);
  if (current.isConfigured) check(current);
  const runtimeClients = new ClientSlot();
  const begin = async (request: PlainRequest, facts: RequestFacts) => {
    const { requestId } = facts;
    try {
      const early = current.isReady ? undefined : earlyResponse(request, requestId);
      if (early !== undefined) return early;
      await current.ready();
      await runtimeClients.use(current);
      await openMemory(current);
      instance ??= new ProxyInstance(current, { ...options, runtimeClients, serve: plain });
      return await instance.serve(request, facts);
    } catch (error) {
      return errorResponse(error, { mesh: current, requestId });
    }
  };
  const plain = (request: PlainRequest, peer?: Peer): Promise<PlainResponse> => {
    const requestId = requestIdFrom(request.headers.get("x-request-id"));
    const facts = { requestId, peer };
    return instance === undefined ? begin(request, facts) : instance.serve(request, facts);
  };
  const replace = (next: Mesh) => {
    check(getEngine(next));
    const before = instance ??= new ProxyInstance(current, { ...options, runtimeClients, serve: plain });
    const used = runtimeClients.use(current = getEngine(next));
    instance = new ProxyInstance(current, { ...options, runtimeClients, serve: plain, before });
    return Promise.all([before.untilIdle(), used]).then(() => {});
  };
  const untilBackgroundEnded = async () => await instance?.untilBackgroundEnded();
  const handler = async (request: Request) => toResponse(await plain(request));
  return Object.assign(handler, { plain, replace, untilBackgroundEnded });
}

/** Opens the memory of responses, which also deletes expired ones, if they are stored. */
async function openMemory(mesh: Engine): Promise<void> {
  const { settings: { proxy = builtInProxy() }, storage } = mesh;
  if (!proxy.responses.state || storage === undefined) return; // requests that need it are rejected
  (await import("./responses/response_memory.ts")).openMemory({ mesh, proxy });
}

/** Health checks are answered during startup; other requests wait. */
function earlyResponse({ url }: PlainRequest, requestId: string): PlainResponse | undefined {
  const headers = { "x-request-id": requestId };
  const path = readPath(url);
  if (path === "/live") return json({ status: "ok" }, { headers });
  return path === "/ready" ? json({ status: "starting" }, { headers, status: 503 }) : undefined;
}
