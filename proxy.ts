/**
 * The HTTP proxy, an OpenAI-compatible server for any OpenAI SDK. Run it with
 * `deno run -A jsr:@modelmesh/core/proxy --port 8080`, serve its default export with
 * `deno serve -A jsr:@modelmesh/core/proxy`, or mount its handler in a server of your own.
 *
 * @example
 * ```ts
 * import { serve } from "@modelmesh/core/proxy";
 *
 * const proxy = await serve({ port: 8080, tokens: ["a-long-secret"] });
 * console.log(proxy.url);
 * ```
 * @module
 */
import { serverConnectors } from "./connectors/server.ts";
import type { RequestHandler, RunningServer, ServeOptions as ListenOptions } from "./src/contracts/shell.ts";
import { createFetchProxy, type FetchProxy } from "./src/proxy/fetch_proxy.ts";
import { type RunningProxy, type ServeOptions, startProxy } from "./src/proxy/serve.ts";
import { beforeEnd, runUnlessServed } from "./src/runtime/deno_main.ts";
import { serverRuntime } from "./src/runtime/server.ts";
import { printError, serverShell, toFetch } from "./src/runtime/server_shell.ts";

export type {
  ClientSocket,
  Peer,
  PlainRequest,
  PlainResponse,
  PlainStream,
  RequestHandler,
  RunningServer,
  ServeOptions as ListenOptions,
  SocketEvents,
  TlsKeyPair,
  UpgradeOptions,
} from "./src/contracts/shell.ts";
export { createHandler, type Handler } from "./src/proxy/handler.ts";
export type { FetchProxy } from "./src/proxy/fetch_proxy.ts";
export type { HandlerOptions } from "./src/proxy/handler_options.ts";
export type { ListedPool, Mesh } from "./src/engine/mesh.ts";
export type { ConfigSource } from "./src/config/load/sources.ts";
export type { RunningProxy, ServeOptions } from "./src/proxy/serve.ts";

/**
 * Starts a proxy. The configuration is validated and all files are read before the port is bound. Until it has stopped,
 * a rejected promise that no code handles does not end the process: it is traced with its stack.
 *
 * @param options Configuration, address and tokens. Without a configuration, providers are detected.
 * @throws {NoProvidersError} If no provider has an API key.
 * @throws {ConfigError} If the configuration is invalid; reports all errors at once.
 * @throws {MeshError} If it cannot listen: `port_in_use`, `port_not_permitted` or `cannot_listen`.
 */
export function serve(options: ServeOptions = {}): Promise<RunningProxy> {
  return startProxy({ connectors: serverConnectors, runtime: serverRuntime(), shell: serverShell() }, options);
}

/**
 * Starts an HTTP server for a handler, the same as {@linkcode serve} starts for a proxy.
 *
 * @param handler A handler from {@linkcode createHandler}, or one that wraps it.
 * @param options The address to listen on; the host defaults to `127.0.0.1`.
 * @throws {MeshError} If it cannot listen: `port_in_use`, `port_not_permitted` or `cannot_listen`.
 *
 * @example
 * ```ts
 * import { ModelMesh } from "@modelmesh/core";
 * import { createHandler, listen } from "@modelmesh/core/proxy";
 *
 * const proxy = createHandler(await ModelMesh.fromYaml("modelmesh.yaml"));
 * const server = await listen(async (request) => {
 *   return request.url.endsWith("/hello") ? new Response("Hello") : await proxy(request);
 * }, { port: 8080 });
 * await server.stop(30_000);
 * ```
 */
export function listen(
  handler: RequestHandler,
  options: Omit<ListenOptions, "host"> & Partial<Pick<ListenOptions, "host">>,
): Promise<RunningServer> {
  return serverShell().serve(handler, { host: "127.0.0.1", ...options });
}

const { isServed, ...fetchProxy } = createFetchProxy({
  connectors: serverConnectors,
  runtime: serverRuntime,
  shell: serverShell,
  toFetch,
  report: printError,
  beforeEnd,
});

/**
 * The proxy for `deno serve -A jsr:@modelmesh/core/proxy`, and for runtimes that call the `fetch` of a default export. It
 * is configured by the file that the variable `MODELMESH_CONFIG` names, or detects providers; `MODELMESH_TOKEN` is the
 * token of its clients. Address, TLS, and `proxy.host`, `port`, `listener` and `max_connections` are those of the server.
 */
export default fetchProxy as FetchProxy;

if (import.meta.main) {
  const shell = serverShell();
  const program = async () => {
    const { runCli } = await import("./src/cli/main.ts"); // a program that imports serve() parses no arguments
    shell.exit(
      await runCli(["proxy", ...shell.args], { connectors: serverConnectors, runtime: serverRuntime(), shell }),
    );
  };
  await runUnlessServed(program, { shell, isServed });
}
