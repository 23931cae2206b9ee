/**
 * The runtime port for Deno.
 * @module
 */
import type { Authorities, FileSystem, Runtime, UpstreamRequest, UpstreamResponse } from "../contracts/runtime.ts";
import { isIncoming } from "../util/chunks.ts";
import { readableFrom } from "../util/readable_from.ts";
import { authorities, readAuthorities } from "./_authorities.ts";
import { fetchSender } from "./_fetch.ts";
import { classifyFetchFault } from "./_fetch_faults.ts";
import { createDecompressor } from "./_decompressor.ts";
import { moduleLoader } from "./_modules.ts";
import { denoNetwork } from "./_deno_network.ts";
import { http1Client } from "./http1/client.ts";
import { removeFile, replaceText } from "./_replace_text.ts";
import { denoKeyValues } from "./_deno_kv.ts";
import { disk } from "./_disk.ts";
import { coarseTimers } from "./_coarse_timers.ts";
import { Stop } from "./_stop.ts";
import { systemClock, type Timer } from "./_timers.ts";
import { withUserAgent } from "./_user_agent.ts";

/** Size of the read buffer for bodies, bytes. */
const chunkBytes = 4096;

/**
 * The upstream client over Deno's `fetch`, which does not expose the connection phase: `connectTimeoutMs` has no
 * effect.
 */
export const sendByFetch: (request: UpstreamRequest) => Promise<UpstreamResponse> = withUserAgent(fetchSender(
  classifyFetchFault,
  (url, init, others) => (url.startsWith("http:") ? fetch : trustingFetch(others))(url, init),
  // Deno resends strings and bytes itself when a pooled connection is closed, although the provider may have read them
  (body) => isIncoming(body) ? readableFrom(body) : new Blob(Array.isArray(body) ? body : [body as BlobPart]),
  (body) => {
    const reader = body.getReader({ mode: "byob" }); // takes two thirds of the time of a default reader
    return {
      read: () => reader.read(new Uint8Array(chunkBytes)) as Promise<ReadableStreamReadResult<Uint8Array>>,
      cancel: (reason) => reader.cancel(reason),
    };
  },
));

/** The upstream client over our own connections, at a third of the cost of `fetch` and `node:http`. */
export const sendByConnection: (request: UpstreamRequest) => Promise<UpstreamResponse> = http1Client(
  denoNetwork(caCerts),
);

/** `fetch` uses the outbound proxies of the environment. */
function send(request: UpstreamRequest): Promise<UpstreamResponse> {
  return isProxied() ? sendByFetch(request) : sendByConnection(request);
}

/** By the key of the additional authorities. */
const trusting = new Map<string | undefined, typeof fetch>();

/** Deno reads `DENO_CERT` and `NODE_EXTRA_CA_CERTS` itself, and `SSL_CERT_FILE` only with the system's store. */
function trustingFetch(others: Authorities | undefined): typeof fetch {
  const known = trusting.get(others?.key);
  if (known !== undefined) return known;
  const made = fetchTrusting([...caCerts(), ...others?.certificates ?? []]);
  trusting.set(others?.key, made);
  return made;
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

const files: FileSystem = {
  readText: (path) => Deno.readTextFile(path),
  writeText: (path, text, options = {}) => Deno.writeTextFile(path, text, { createNew: options.createNew ?? false }),
  replaceText,
  remove: removeFile,
};

function env(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined; // no permission, or an invalid name: the variable counts as unset
  }
}

const detach = (timer: Timer) => Deno.unrefTimer(timer);

export function denoRuntime(): Runtime {
  return {
    clock: { ...systemClock(detach), after: coarseTimers(detach) },
    random: Math.random,
    files,
    disk: disk(),
    openKeyValues: denoKeyValues(),
    modules: moduleLoader(env),
    readAuthorities,
    send,
    createDecompressor,
    stopper: () => new Stop(),
    env,
  };
}
