/**
 * The proxy as the default export of a module, for `deno serve` and for runtimes that call such an export.
 * @module
 */
import { builtInProxy } from "../config/build/proxy.ts";
import type { PluggableConnector } from "../contracts/connector.ts";
import type { Cancel, Runtime } from "../contracts/runtime.ts";
import type { RequestHandler, Shell } from "../contracts/shell.ts";
import { requestIdFrom } from "../util/request_id.ts";
import { toResponse } from "../util/to_response.ts";
import { hasToken } from "./authenticator.ts";
import { toErrorRow } from "./error_body.ts";
import { createMeshHandler } from "./handler.ts";
import { json } from "./json.ts";
import { MeshGeneration } from "./mesh_generation.ts";
import { collectTokens, exposureWarnings, findDenied, refuseLoops } from "./serve.ts";
import { traceUnhandled } from "./unhandled.ts";

/** The default export of the proxy's module. */
export interface FetchProxy {
  /**
   * Handles a request. The first one starts the proxy: with the configuration file that the variable `MODELMESH_CONFIG`
   * names, or else with the providers whose keys are in the environment. Never rejects. `info` is that of
   * `Deno.serve` about the connection, or an object with the variables of an edge runtime.
   */
  readonly fetch: (request: Request, info?: object) => Promise<Response>;
  /** Starts the proxy when the server listens, and ends the process if it cannot start. `deno serve` calls it. */
  readonly onListen: (address: object) => void;
}

/** What the entry point chooses. The functions are called with the first request. */
interface FetchProxyParts {
  readonly connectors: readonly PluggableConnector[];
  readonly runtime: (bindings?: object) => Runtime;
  /** Of a process; not called where the runtime does not report that a server listens. */
  readonly shell: () => Pick<Shell, "exit" | "onUnhandledRejection" | "stderr">;
  readonly toFetch: (handler: RequestHandler) => FetchProxy["fetch"];
  /** Writes a line for the operator. */
  readonly report: (line: string) => void;
  /** Calls a task when the server has stopped, where the runtime reports that. */
  readonly beforeEnd: (task: () => Promise<void>) => Cancel;
}

/** A proxy that has started. */
interface StartedProxy {
  readonly generation: MeshGeneration;
  readonly tokens: readonly string[];
  readonly respond: FetchProxy["fetch"];
}

/** Creates a proxy that starts with its first request, or when its server listens. */
export function createFetchProxy(parts: FetchProxyParts): FetchProxy & { readonly isServed: () => boolean } {
  let starting: Promise<StartedProxy> | undefined;
  let reported: unknown;
  const start = (bindings?: object) =>
    starting ??= startFetchProxy(parts, bindings).catch((error) => {
      starting = undefined; // the next request tries again
      throw error;
    });
  const report = (error: unknown) => {
    if (error !== reported) parts.report(error instanceof Error ? error.message : String(error));
    reported = error; // requests that waited for one start have one error
  };
  return {
    isServed: () => starting !== undefined,
    fetch: async (request, info) => {
      try {
        return await (await start(info)).respond(request, info);
      } catch (error) {
        report(error);
        return createRefusal(error, request);
      }
    },
    onListen(address) {
      const shell = parts.shell();
      const { hostname: host = "", port = 0 } = address as { readonly hostname?: string; readonly port?: number };
      const begin = async () => {
        const started = await start();
        const { mesh } = started.generation;
        refuseLoops(mesh, { host, port });
        traceUnhandled({ shell, mesh: () => mesh, hasConsole: false });
        shell.stderr.write(await greeting({ host, port }, started));
      };
      begin().catch((error) => {
        report(error);
        shell.exit(1);
      });
    },
  };
}

async function startFetchProxy(
  { connectors, runtime: createRuntime, toFetch, report, beforeEnd }: FetchProxyParts,
  bindings: object | undefined,
): Promise<StartedProxy> {
  const runtime = createRuntime(bindings);
  const generation = new MeshGeneration({ connectors, runtime });
  const path = runtime.env("MODELMESH_CONFIG") || undefined;
  for (const warning of await findDenied(["MODELMESH_CONFIG"], runtime)) report(`Warning: ${warning}`);
  await generation.start(path);
  try {
    const tokens = collectTokens(runtime);
    const { proxy = builtInProxy() } = generation.mesh.settings;
    const denied = hasToken(proxy, tokens) ? [] : await findDenied(["MODELMESH_TOKEN"], runtime);
    for (const warning of denied) report(`Warning: ${warning}`);
    const respond = toFetch(createMeshHandler(generation.mesh, { tokens }));
    beforeEnd(() => generation.mesh.close());
    return { generation, tokens, respond };
  } catch (error) {
    await generation.mesh.close();
    throw error;
  }
}

/** The response to a request that arrives while the proxy cannot start. The reason is for the operator. */
function createRefusal(error: unknown, { headers }: Request): Response {
  const requestId = requestIdFrom(headers.get("x-request-id"));
  const { status, body } = toErrorRow(error, requestId);
  return toResponse(json(body, { status, headers: { "x-request-id": requestId } }));
}

async function greeting(
  { host, port }: { readonly host: string; readonly port: number },
  { generation: { mesh }, tokens }: StartedProxy,
): Promise<string> {
  const { describeServed, listServed } = await import("./served.ts");
  const { proxy = builtInProxy() } = mesh.settings;
  const warnings = exposureWarnings(host, { hasToken: hasToken(proxy, tokens), listener: "deno" });
  if (proxy.tls !== undefined) warnings.push("proxy.tls has no effect: the server that calls the proxy decides on TLS");
  const where = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return warnings.map((warning) => `Warning: ${warning}\n`).join("") +
    `ModelMesh listens on ${where}\n${listServed(mesh).text}${describeServed(mesh)}`;
}
