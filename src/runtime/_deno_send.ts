/**
 * The upstream clients on Deno.
 * @module
 */
import type { Authorities, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { type MeshError, NetworkError } from "../errors.ts";
import { isIncoming } from "../util/bytes.ts";
import { describeDenial } from "../util/denial.ts";
import { readableFrom } from "../util/readable_from.ts";
import { createOverload, isResourceLack } from "../util/resource_lack.ts";
import { authorities } from "./_authorities.ts";
import { env, requireNet, requirePermission } from "./_deno_permissions.ts";
import { Descriptors } from "./_descriptors.ts";
import { fetchSender } from "./_fetch.ts";
import { classifyFetchFault } from "./_fetch_faults.ts";
import { http1Client, type Network } from "./http1/client.ts";
import type { Socket } from "./http1/connection.ts";
import type { Target } from "./http1/request.ts";
import { ByobReader, SentOnce, type SentOnceParts } from "./_deno_fetch_bodies.ts";
import { copyHeaders } from "./_read_headers.ts";
import { createTlsFault } from "./_tls_faults.ts";
import { withUserAgent } from "./_user_agent.ts";

/**
 * The upstream client over Deno's `fetch`, which does not expose the connection phase: `connectTimeoutMs` has no
 * effect.
 */
export const sendByFetch: (request: UpstreamRequest) => Promise<UpstreamResponse> = withUserAgent(fetchSender(
  classifyFetchFault,
  {
    fetcher(url, init, others) {
      requireUrl(url);
      return (url.startsWith("http:") ? fetch : trustingFetch(others))(url, init);
    },
    bodyOf: (body) => isIncoming(body) ? readableFrom(body) : new SentOnce(body as SentOnceParts),
    open: (body) => new ByobReader(body),
    readHeaders: copyHeaders,
  },
));

function requireUrl(url: string): void {
  const { protocol, hostname, port } = new URL(url);
  requireNet(hostname.replace(/^\[|\]$/g, ""), port || (protocol === "http:" ? 80 : 443));
}

/** The upstream client over our own connections, at a third of the cost of `fetch` and `node:http`. */
export const sendByConnection: (request: UpstreamRequest) => Promise<UpstreamResponse> = http1Client(
  denoNetwork(caCerts),
);

/** The upstream client. `fetch` uses the outbound proxies of the environment. */
export function send(request: UpstreamRequest): Promise<UpstreamResponse> {
  return isProxied() && !request.isDirect ? sendByFetch(request) : sendByConnection(request);
}

/** By the key of the additional authorities. */
const trusting = new Map<string | undefined, typeof fetch>();

/** Deno reads `DENO_CERT` and `NODE_EXTRA_CA_CERTS` itself, and `SSL_CERT_FILE` only with the system's store. */
function trustingFetch(others: Authorities | undefined): typeof fetch {
  const existing = trusting.get(others?.key);
  if (existing !== undefined) return existing;
  const client = fetchTrusting([...caCerts(), ...others?.certificates ?? []]);
  trusting.set(others?.key, client);
  return client;
}

function fetchTrusting(caCerts: string[]): typeof fetch {
  if (caCerts.length === 0) return fetch;
  const client = Deno.createHttpClient({ caCerts });
  return (input, init) => fetch(input, { ...init, client });
}

let others: string[] | undefined;

/** Authorities in addition to Deno's own, PEM. */
function caCerts(): string[] {
  const isRead = /\bsystem\b/.test(env("DENO_TLS_CA_STORE") ?? "");
  return others ??= isRead ? [] : authorities(["SSL_CERT_FILE"], env);
}

const proxyVariables = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
let proxied: boolean | undefined;

/** `fetch` uses outbound proxies itself; our own connections do not. */
function isProxied(): boolean {
  return proxied ??= proxyVariables.some((name) => (env(name) ?? "") !== "");
}

/**
 * Deno's sockets.
 *
 * @param caCerts Authorities in addition to Deno's own, PEM; read when the first connection requires them.
 */
export function denoNetwork(caCerts: () => string[]): Network {
  return {
    connect: ({ isSecure, hostname, port, authorities }: Target, signal) =>
      isSecure
        ? connectSecurely({ hostname, port, caCerts: [...caCerts(), ...authorities?.certificates ?? []] }, signal)
        : connectPlainly(hostname, port),
  };
}

async function connectPlainly(hostname: string, port: number): Promise<Socket> {
  try {
    requireNet(hostname, port);
    const socket = await Deno.connect({ hostname, port });
    socket.setNoDelay(true);
    return socket;
  } catch (error) {
    throw toNetworkError(error);
  }
}

async function connectSecurely(options: Deno.ConnectTlsOptions, signal: AbortSignal): Promise<Socket> {
  const socket = await openTls(options).catch((error) => {
    throw toNetworkError(error);
  });
  let isOpen = true;
  const close = () => {
    if (isOpen) socket.close();
    isOpen = false;
  };
  signal.addEventListener("abort", close); // an unresponsive server would keep it open
  try {
    await socket.handshake();
    return socket;
  } catch (error) {
    close();
    throw createTlsFault(error as Error);
  } finally {
    signal.removeEventListener("abort", close);
  }
}

async function openTls(options: Deno.ConnectTlsOptions): Promise<Deno.TlsConn> {
  requireNet(options.hostname ?? "127.0.0.1", options.port);
  return await Deno.connectTls({ ...options, alpnProtocols: ["http/1.1"] });
}

const descriptors = new Descriptors(() => {
  const path = Deno.build.os === "windows" ? "NUL" : "/dev/null";
  requirePermission({ name: "read", path });
  Deno.openSync(path).close();
});

function toNetworkError(error: unknown): MeshError {
  const { errors } = Deno;
  if (isResourceLack(error)) {
    descriptors.lacked();
    return createOverload();
  }
  if (error instanceof errors.ConnectionRefused) return createUnsentError("Cannot connect to the provider: refused");
  const denial = describeDenial(error);
  if (denial !== undefined) return createUnsentError(`Cannot connect to the provider: ${denial}`);
  if (error instanceof errors.PermissionDenied) {
    return createUnsentError("Cannot connect to the provider: not permitted");
  }
  const isName = error instanceof Error && /lookup|resolve/i.test(error.message);
  if (isName && descriptors.areLacking) return createOverload();
  return createUnsentError(
    isName
      ? "Cannot find the provider's host: its name does not resolve"
      : "Cannot connect to the provider: unreachable",
  );
}

function createUnsentError(message: string): NetworkError {
  return new NetworkError(message, { neverSent: true });
}
