/**
 * A running proxy: everything checked and read before the port is bound, and stopped without cutting answers off.
 * @module
 */
import { configuredState } from "../background/configured_state.ts";
import { serverParts } from "../background/server_parts.ts";
import { builtInProxy } from "../config/defaults.ts";
import { loadDocument } from "../config/load.ts";
import { settingsOf, settingsOfDetection } from "../config/sources.ts";
import type { ConfigProblem } from "../errors.ts";
import { ConfigError } from "../errors.ts";
import type { Connector } from "../contracts/connector.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Shell } from "../contracts/shell.ts";
import type { Observability } from "../contracts/observability.ts";
import { Mesh } from "../mesh.ts";
import { addLeafPools } from "../registry/build.ts";
import { surroundingsOf } from "../registry/catalogue.ts";
import { createHandler } from "./handler.ts";
import { isLoopback } from "./origin.ts";

/** How long open answers may take once the proxy stops, ms. */
const graceMs = 30_000;

/** Options of {@linkcode serve}. */
export interface ServeOptions {
  /** A configuration: a file's path or a document. Without one, providers are detected from the environment. */
  config?: string | Readonly<Record<string, unknown>>;
  /** Bind address; wins over the configuration's. */
  host?: string;
  /** Port; wins over the configuration's; 0 takes a free one. */
  port?: number;
  /** Accepted tokens, beside those of the configuration and of `MODELMESH_TOKEN`. */
  tokens?: readonly string[];
}

/** What a proxy is run with. */
export interface ServeParts {
  /** Connectors, in order of detection. */
  readonly connectors: readonly Connector[];
  /** The door to the outside. */
  readonly runtime: Runtime;
  /** The machine. */
  readonly shell: Pick<Shell, "serve">;
  /** Told the start's progress and everything after it. */
  readonly sinks?: readonly Observability[];
}

/** A proxy that listens. */
export interface RunningProxy {
  /** Where, without path. */
  readonly url: string;
  /** Its engine. */
  readonly mesh: Mesh;
  /** What an operator should know. */
  readonly warnings: readonly string[];
  /** Refuses new connections, lets open answers finish (30 s at most), writes what sinks hold. */
  stop(): Promise<void>;
}

/**
 * Starts a proxy.
 *
 * @param parts Connectors and shell.
 * @param options Configuration, address, tokens.
 * @throws Whatever makes a start impossible, before the port is bound.
 */
export async function startProxy(parts: ServeParts, options: ServeOptions): Promise<RunningProxy> {
  const { connectors, runtime, sinks = [] } = parts;
  const mesh: Mesh = new Mesh({ ...serverParts, connectors, runtime, storage: configuredState(() => mesh) });
  for (const sink of sinks) mesh.addSink(sink);
  try {
    await configure(mesh, options.config);
    await mesh.ready();
    return await listen(mesh, parts, options);
  } catch (error) {
    await mesh.close(); // what the sinks were told of a start that failed is not lost
    throw error;
  }
}

async function listen(mesh: Mesh, { runtime, shell }: ServeParts, options: ServeOptions): Promise<RunningProxy> {
  const { proxy = builtInProxy(), source } = mesh.settings;
  const host = (options.host ?? proxy.host).replace(/^\[(.*)\]$/, "$1");
  const port = options.port ?? proxy.port;
  const tokens = tokensOf(runtime, options, proxy.tokens.length > 0 || !proxy.tokenRequired);
  const problems = loops(mesh, host, port);
  if (problems.length > 0) throw new ConfigError(problems, source);
  let isDraining = false;
  const handler = createHandler(mesh, { tokens, host, isDraining: () => isDraining });
  const server = await shell.serve(handler, {
    host,
    port,
    ...(proxy.listener === undefined ? {} : { listener: proxy.listener }),
  });
  const stop = async () => {
    isDraining = true;
    if (proxy.drainDelayMs > 0) await runtime.clock.sleep(proxy.drainDelayMs);
    await server.stop(graceMs);
    await mesh.close();
  };
  let stopping: Promise<void> | undefined;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    mesh,
    warnings: exposureWarnings(
      host,
      tokens.length + proxy.tokens.length > 0,
      (server.listener ?? proxy.listener) === "node",
    ),
    stop: () => stopping ??= stop(),
  };
}

async function configure(mesh: Mesh, config: ServeOptions["config"]): Promise<void> {
  if (config === undefined) return mesh.configure(settingsOfDetection(surroundingsOf(mesh)), addLeafPools);
  const source = typeof config === "string" ? config : undefined;
  const document = source === undefined ? config : await loadDocument(source, mesh.runtime.files!);
  mesh.configure(settingsOf(document, surroundingsOf(mesh), source === undefined ? {} : { source }));
}

function tokensOf(runtime: Runtime, options: ServeOptions, mayBeNone: boolean): readonly string[] {
  const fromEnvironment = runtime.env("MODELMESH_TOKEN");
  const tokens = [...options.tokens ?? [], ...(fromEnvironment === undefined ? [] : [fromEnvironment])];
  if (tokens.some((token) => !/^[\x21-\x7e]+$/.test(token))) {
    throw new ConfigError([{
      path: "proxy.auth.tokens",
      message: "a token has to be visible ASCII characters, at least one (see --token and MODELMESH_TOKEN)",
    }]);
  }
  if (tokens.length === 0 && !mayBeNone) {
    throw new ConfigError([{ path: "proxy.auth.tokens", message: "bearer tokens are asked for, but there is none" }]);
  }
  return tokens;
}

/** Providers whose address is the proxy's own: every request would come back to itself. */
function loops(mesh: Mesh, host: string, port: number): ConfigProblem[] {
  if (port === 0) return [];
  return mesh.registry.homes.flatMap(({ entry }) => {
    if (entry.baseUrl === undefined || !URL.canParse(entry.baseUrl)) return [];
    const url = new URL(entry.baseUrl);
    const isLocal = isLoopback(url.hostname);
    const isHere = url.hostname === host || (isLocal && (isLoopback(host) || host === "0.0.0.0" || host === "::"));
    const isSelf = isHere && Number(url.port || (url.protocol === "https:" ? 443 : 80)) === port;
    const where = entry.source === "config" ? `providers.${entry.id}.base_url` : `the base URL of "${entry.id}"`;
    return isSelf
      ? [{
        path: where,
        message: `is this proxy itself (port ${port}): unset that base URL variable, or use another port`,
      }]
      : [];
  });
}

function exposureWarnings(host: string, hasToken: boolean, isNode: boolean): string[] {
  if (isLoopback(host)) return [];
  const open = `Listening on ${host} without a token: whoever reaches this address can spend your keys. ` +
    "Set --token, or listen on 127.0.0.1";
  const slow =
    "This server does not time out slow request headers, and may miss clients that leave before their answer " +
    "begins: where strangers can reach it, set proxy.listener: node, or put a reverse proxy in front of it";
  return [...(hasToken ? [] : [open]), ...(isNode ? [] : [slow])];
}
