/**
 * A running proxy. Its configuration is checked before the port is bound; open responses finish before it stops.
 * @module
 */
import type { ConfigSource } from "../config/load/sources.ts";
import { builtInProxy } from "../config/build/proxy.ts";
import { proxy as section } from "../config/schema/proxy.ts";
import type { ProxySettings } from "../config/settings/settings.ts";
import { ConfigError, type ConfigProblem } from "../errors.ts";
import type { Cancel, Clock, Runtime } from "../contracts/runtime.ts";
import type { RunningServer, Shell, TlsKeyPair } from "../contracts/shell.ts";
import type { Engine } from "../engine/engine.ts";
import type { Mesh } from "../engine/mesh.ts";
import { hasToken, memoryProblems, requireToken } from "./authenticator.ts";
import type { MonitoredServer } from "./certificate.ts";
import { type GenerationParts, MeshGeneration } from "./mesh_generation.ts";
import { createMeshHandler } from "./handler.ts";
import { isLoopbackHost } from "./origin_policy.ts";
import type { ProxyOverview } from "./overview/overview.ts";
import { Reloader } from "./reload.ts";
import type { Slots } from "./slots.ts";
import { waitAtMost } from "../util/within.ts";
import { traceUnhandled } from "./unhandled.ts";
// What a start imports on demand, for programs that do not need it: each such import takes Deno (2.9.6) two milliseconds
import "../background/key_renewal.ts";
import "../config/check/retirement.ts";
import "../config/load/load.ts";
import "../config/secrets/settings_secrets.ts";
import "../engine/lifecycle.ts";

/** Time limit for open responses after a stop, ms. */
const graceMs = 30_000;

/** Options of {@linkcode serve}. */
export interface ServeOptions {
  /** A configuration: a path, a document or a `MeshConfig`. By default, providers are detected from the environment. */
  config?: ConfigSource;
  /** Bind address; overrides the configuration's. */
  host?: string;
  /** Port; overrides the configuration's; 0 selects a free one. */
  port?: number;
  /** Accepted tokens, in addition to those of the configuration and `MODELMESH_TOKEN`. */
  tokens?: readonly string[];
  /** Origins of web pages that may send requests, in addition to those of the configuration. */
  origins?: readonly string[];
}

interface ServeParts extends GenerationParts {
  /** Limits concurrent requests; local by default. */
  readonly slots?: Slots | undefined;
  /** The overview of all processes; of this process by default. */
  readonly overview?: ProxyOverview | undefined;
  readonly shell: Pick<Shell, "serve" | "onUnhandledRejection" | "stderr">;
}

/** A running proxy. */
export interface RunningProxy {
  /** Its address, without a path. */
  readonly url: string;
  /** The current mesh; each {@linkcode RunningProxy.reload} replaces it. */
  readonly mesh: Mesh;
  /** Warnings for the operator. */
  readonly warnings: readonly string[];
  /**
   * Reloads the configuration file and applies it to new requests. Requests in progress end under the previous one.
   * Providers, models, pools and clients that are still configured keep their state, counters and spending.
   *
   * @returns Warnings for the operator.
   * @throws {ConfigError} With all problems. After any error the previous configuration remains in effect.
   */
  reload(): Promise<readonly string[]>;
  /** Rejects new connections, lets open responses finish within 30 s, and flushes sinks. */
  stop(): Promise<void>;
}

/**
 * Starts a proxy: reads and checks its configuration, then binds the port.
 *
 * @throws Any startup error, before the port is bound.
 */
export async function startProxy(parts: ServeParts, options: ServeOptions): Promise<RunningProxy> {
  const first = new MeshGeneration(parts);
  await first.start(options.config);
  try {
    return await listen(first, parts, options);
  } catch (error) {
    await first.mesh.close();
    throw error;
  }
}

async function listen(first: MeshGeneration, parts: ServeParts, options: ServeOptions): Promise<RunningProxy> {
  const { runtime, shell } = parts;
  const { proxy = builtInProxy() } = first.mesh.settings;
  const host = (options.host ?? proxy.host).replace(/^\[(.*)\]$/, "$1");
  const port = options.port ?? proxy.port;
  const tokens = checkedTokens(first.mesh, { runtime, options, host, port });
  const phase: Phase = { isDraining: false, isStopping: false };
  const handler = createMeshHandler(first.mesh, {
    tokens,
    origins: options.origins,
    host,
    isDraining: () => phase.isDraining,
    isStopping: () => phase.isStopping,
    slots: parts.slots,
    overview: parts.overview,
  });
  const { server, stopWatching } = await serveOn(proxy, {
    runtime,
    serve: (tls) =>
      shell.serve(handler, { host, port, listener: proxy.listener, maxConnections: proxy.maxConnections, ...tls }),
    mesh: () => reloader.mesh,
  });
  const reloader = new Reloader(first, {
    parts,
    config: options.config,
    check: (mesh) => void checkedTokens(mesh, { runtime, options, host, port: server.port }),
    replace: (mesh) => handler.replace(mesh),
  });
  const denied = hasToken(proxy, tokens) ? [] : await findDenied(["MODELMESH_TOKEN"], runtime);
  const stopTracing = traceUnhandled({
    shell,
    mesh: () => reloader.mesh,
    hasConsole: parts.console !== undefined,
  });
  const { untilBackgroundEnded } = handler;
  const listening = {
    clock: runtime.clock,
    untilBackgroundEnded,
    options,
    started: proxy,
    host,
    tokens,
    denied,
    phase,
    server,
  };
  return runningProxy({ ...listening, stopWatching, stopTracing, reloader });
}

async function serveOn({ tls }: ProxySettings, { runtime, serve, mesh }: {
  readonly runtime: Runtime;
  readonly serve: (tls: { tls?: TlsKeyPair }) => Promise<RunningServer>;
  /** The mesh that receives traces about certificates. */
  readonly mesh: () => Engine;
}): Promise<MonitoredServer> {
  if (tls === undefined) return { server: await serve({}), stopWatching: () => {} };
  const { serveCertificate } = await import("./certificate.ts");
  return await serveCertificate(tls, (pair) => serve({ tls: pair }), {
    files: runtime.files!,
    clock: runtime.clock,
    report: (severity, message) => mesh().hub.trace({ severity, component: "proxy", message }),
  });
}

interface Phase {
  isDraining: boolean;
  isStopping: boolean;
}

interface ListeningParts {
  readonly clock: Clock;
  /** Resolves when no work goes on in the background. */
  readonly untilBackgroundEnded: () => Promise<void>;
  readonly options: ServeOptions;
  /** Settings from startup, which a reload cannot change. */
  readonly started: ProxySettings;
  readonly host: string;
  readonly tokens: readonly string[];
  /** Warnings about variables that may not be read. */
  readonly denied: readonly string[];
  readonly phase: Phase;
  readonly server: RunningServer;
  /** Stops to watch the certificate. */
  readonly stopWatching: Cancel;
  /** Gives unhandled rejections back to the program. */
  readonly stopTracing: Cancel;
  readonly reloader: Reloader;
}

function runningProxy(parts: ListeningParts): RunningProxy {
  const { options, started, host, server, reloader } = parts;
  const exposure = () => {
    const { proxy = started } = reloader.mesh.settings;
    return exposureWarnings(host, { hasToken: hasToken(proxy, parts.tokens), listener: server.listener });
  };
  const inert = inertWarnings(started, server);
  let stopping: Promise<void> | undefined;
  return {
    url: `${started.tls === undefined ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    get mesh() {
      return reloader.mesh;
    },
    warnings: [...parts.denied, ...inert, ...exposure()],
    async reload() {
      await reloader.reload();
      return [...restartWarnings({ started, now: reloader.mesh.settings.proxy, options }), ...exposure()];
    },
    stop: () => stopping ??= stop(parts),
  };
}

/** Settings without effect on this server. */
function inertWarnings({ listener, maxConnections }: ProxySettings, server: RunningServer): string[] {
  const isOther = listener === "deno" && server.listener !== undefined && server.listener !== "deno";
  const isUnlimited = maxConnections !== section.fields.max_connections.default && server.listener === "deno";
  return [
    ...(isOther ? ["proxy.listener: deno has no effect with proxy.tls, with --workers, or on Node"] : []),
    ...(isUnlimited ? ["proxy.max_connections has no effect: it requires proxy.listener: node"] : []),
  ];
}

async function stop(parts: ListeningParts): Promise<void> {
  const { phase, reloader, server, stopWatching, stopTracing, clock, started, untilBackgroundEnded } = parts;
  phase.isDraining = true;
  reloader.stop();
  stopWatching();
  const { drainDelayMs } = reloader.mesh.settings.proxy ?? started;
  if (drainDelayMs > 0) await clock.sleep(drainDelayMs);
  phase.isStopping = true;
  const stoppedAt = clock.monotonic();
  try {
    await server.stop(graceMs);
    await waitAtMost(untilBackgroundEnded, { clock, ms: graceMs - (clock.monotonic() - stoppedAt) });
    await reloader.close();
  } finally {
    stopTracing();
  }
}

/** Checks that a configuration can be served. Returns the accepted tokens in addition to its own. */
function checkedTokens(
  mesh: Engine,
  { runtime, options, host, port }: { runtime: Runtime; options: ServeOptions; host: string; port: number },
): readonly string[] {
  const { proxy = builtInProxy() } = mesh.settings;
  const tokens = collectTokens(runtime, options.tokens);
  requireToken(proxy, tokens);
  const problems = memoryProblems(proxy, mesh.storage);
  if (problems.length > 0) throw new ConfigError(problems, mesh.settings.source);
  refuseLoops(mesh, { host, port });
  return tokens;
}

/** Configuration keys of settings with another name. */
const configKeys: Readonly<Record<string, string>> = { maxConnections: "max_connections" };

/** Settings that a running server cannot change. */
function restartWarnings(
  { started, now = builtInProxy(), options }: {
    started: ProxySettings;
    now: ProxySettings | undefined;
    options: ServeOptions;
  },
): readonly string[] {
  return (["host", "port", "listener", "maxConnections", "tls"] as const).flatMap((key) => {
    const isGiven = (key === "host" || key === "port") && options[key] !== undefined;
    const isSame = JSON.stringify(started[key]) === JSON.stringify(now[key]);
    return isGiven || isSame ? [] : [`proxy.${configKeys[key] ?? key} has changed: it takes effect after a restart`];
  });
}

/**
 * Returns the accepted tokens in addition to those of the configuration.
 *
 * @param configured Tokens of the program or the command line.
 * @throws {ConfigError} For a token that no header can contain.
 */
export function collectTokens(runtime: Runtime, configured: readonly string[] = []): readonly string[] {
  const fromEnvironment = runtime.env("MODELMESH_TOKEN");
  const tokens = [...configured, ...(fromEnvironment === undefined ? [] : [fromEnvironment])];
  if (tokens.some((token) => !/^[\x21-\x7e]+$/.test(token))) {
    throw new ConfigError([{
      path: "proxy.auth.tokens",
      message: "a token has to be visible ASCII characters, at least one (see --token and MODELMESH_TOKEN)",
    }]);
  }
  return tokens;
}

/** Returns warnings about variables that a proxy without them ignores, if this process is not permitted to read them. */
export async function findDenied(names: readonly string[], { env }: Pick<Runtime, "env">): Promise<readonly string[]> {
  if (!names.some((name) => env.isDenied?.(name))) return [];
  return (await import("../util/denial.ts")).listIgnoredVariables(names, env);
}

/** @throws {ConfigError} For a provider whose address is that of the proxy: every request would return to it. */
export function refuseLoops(mesh: Engine, { host, port }: { host: string; port: number }): void {
  if (port === 0) return;
  const problems = mesh.registry.instances.flatMap(({ entry }): ConfigProblem[] => {
    if (entry.baseUrl === undefined || !URL.canParse(entry.baseUrl)) return [];
    const url = new URL(entry.baseUrl);
    const isLocal = isLoopbackHost(url.hostname);
    const isHere = url.hostname === host || (isLocal && (isLoopbackHost(host) || host === "0.0.0.0" || host === "::"));
    const isSelf = isHere && Number(url.port || (url.protocol === "https:" ? 443 : 80)) === port;
    const where = entry.source === "config" ? `providers.${entry.id}.base_url` : `the base URL of "${entry.id}"`;
    return isSelf
      ? [{
        path: where,
        message: `is this proxy itself (port ${port}): unset that base URL variable, or use another port`,
      }]
      : [];
  });
  if (problems.length > 0) throw new ConfigError(problems, mesh.settings.source);
}

/**
 * Returns warnings about an address that others can reach.
 *
 * @param host The bind address.
 */
export function exposureWarnings(
  host: string,
  { hasToken, listener }: { readonly hasToken: boolean; readonly listener: RunningServer["listener"] },
): string[] {
  if (isLoopbackHost(host)) return [];
  const open = `Listening on ${host} without a token: every client that reaches this address can spend your keys. ` +
    "Set --token or MODELMESH_TOKEN, or listen on 127.0.0.1";
  const slow = "Deno.serve does not time out slow request headers, and may miss clients that leave before their " +
    "response begins: where others can reach it, serve with proxy.listener: node, or put a reverse proxy in front of it";
  return [...(hasToken ? [] : [open]), ...(listener === "deno" ? [slow] : [])];
}
