/**
 * A running proxy: everything checked and read before the port is bound, and stopped without cutting answers off.
 * @module
 */
import type { ConfigSource } from "../config/config_source.ts";
import { builtInProxy } from "../config/defaults.ts";
import type { ProxySettings } from "../config/settings.ts";
import type { ConfigProblem } from "../errors.ts";
import { ConfigError } from "../errors.ts";
import type { Runtime } from "../contracts/runtime.ts";
import type { Shell } from "../contracts/shell.ts";
import type { Mesh } from "../mesh.ts";
import { type GenerationParts, MeshGeneration } from "./mesh_generation.ts";
import { createHandler } from "./handler.ts";
import { isLoopback } from "./origin_policy.ts";
import { Reloader } from "./reload.ts";

/** How long open answers may take once the proxy stops, ms. */
const graceMs = 30_000;

/** Options of {@linkcode serve}. */
export interface ServeOptions {
  /** A configuration: a file's path, a document or a `MeshConfig`. Without one, providers are detected from the environment. */
  config?: ConfigSource;
  /** Bind address; wins over the configuration's. */
  host?: string;
  /** Port; wins over the configuration's; 0 takes a free one. */
  port?: number;
  /** Accepted tokens, beside those of the configuration and of `MODELMESH_TOKEN`. */
  tokens?: readonly string[];
}

/** What a proxy is run with. */
export interface ServeParts extends GenerationParts {
  /** The machine. */
  readonly shell: Pick<Shell, "serve">;
}

/** A proxy that listens. */
export interface RunningProxy {
  /** Where, without path. */
  readonly url: string;
  /** Its engine; another one after each {@linkcode RunningProxy.reload}. */
  readonly mesh: Mesh;
  /** What an operator should know. */
  readonly warnings: readonly string[];
  /**
   * Reads the configuration file again and goes on by it: new requests at once, those under way end as they began. What
   * is still there keeps its state, its counts and what it has spent.
   *
   * @returns What an operator should know.
   * @throws {ConfigError} With all that is wrong; the old configuration goes on, as it does whatever else is thrown.
   */
  reload(): Promise<readonly string[]>;
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
  const engine = new MeshGeneration(parts);
  await engine.start(options.config);
  try {
    return await listen(engine, parts, options);
  } catch (error) {
    await engine.mesh.close();
    throw error;
  }
}

async function listen(first: MeshGeneration, parts: ServeParts, options: ServeOptions): Promise<RunningProxy> {
  const { runtime, shell } = parts;
  const { proxy = builtInProxy() } = first.mesh.settings;
  const host = (options.host ?? proxy.host).replace(/^\[(.*)\]$/, "$1");
  const port = options.port ?? proxy.port;
  const tokens = checkedTokens(first.mesh, { runtime, options, host, port });
  let isDraining = false;
  let isStopping = false;
  const handler = createHandler(first.mesh, {
    tokens,
    host,
    isDraining: () => isDraining,
    isStopping: () => isStopping,
  });
  const listener = proxy.listener === undefined ? {} : { listener: proxy.listener };
  const server = await shell.serve(handler, { host, port, ...listener });
  const reloading = new Reloader(first, parts, {
    config: options.config,
    check: (mesh) => void checkedTokens(mesh, { runtime, options, host, port: server.port }),
    replace: (mesh) => handler.replace(mesh),
  });
  const warningsNow = () => {
    const count = tokens.length + (reloading.mesh.settings.proxy ?? proxy).clients.length;
    return exposureWarnings(host, count > 0, (server.listener ?? proxy.listener) === "node");
  };
  const stop = async () => {
    isDraining = true;
    reloading.stop();
    const { drainDelayMs } = reloading.mesh.settings.proxy ?? proxy;
    if (drainDelayMs > 0) await runtime.clock.sleep(drainDelayMs);
    isStopping = true;
    await server.stop(graceMs);
    await reloading.close();
  };
  let stopping: Promise<void> | undefined;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${server.port}`,
    get mesh() {
      return reloading.mesh;
    },
    warnings: warningsNow(),
    async reload() {
      await reloading.reload();
      return [...restartWarnings(proxy, reloading.mesh.settings.proxy, options), ...warningsNow()];
    },
    stop: () => stopping ??= stop(),
  };
}

/** The tokens accepted beside those of the configuration, which is one that can be served here. */
function checkedTokens(
  mesh: Mesh,
  { runtime, options, host, port }: { runtime: Runtime; options: ServeOptions; host: string; port: number },
): readonly string[] {
  const { proxy = builtInProxy(), source } = mesh.settings;
  const tokens = tokensOf(runtime, options, proxy.clients.length > 0 || !proxy.tokenRequired);
  const problems = loops(mesh, host, port);
  if (problems.length > 0) throw new ConfigError(problems, source);
  return tokens;
}

/** What is decided when a server starts, and not again. */
function restartWarnings(
  before: ProxySettings,
  now: ProxySettings = builtInProxy(),
  options: ServeOptions,
): readonly string[] {
  return (["host", "port", "listener"] as const).flatMap((key) => {
    const isGiven = key !== "listener" && options[key] !== undefined;
    return isGiven || before[key] === now[key] ? [] : [`proxy.${key} has changed: it takes effect after a restart`];
  });
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
  return mesh.registry.instances.flatMap(({ entry }) => {
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
