/**
 * Outbound proxies on Node. They are selected by `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, as Deno's
 * `fetch` and other clients do; lower-case names are used if the others are not set. Connections through them are
 * tunnels (`CONNECT`).
 * @module
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { NetworkError } from "../errors.ts";
import { createOverload, isResourceLack } from "../util/resource_lack.ts";
import type { OutboundProxy, Target } from "./http1/request.ts";
import { builtin } from "./_node_builtin.ts";

/**
 * Returns the proxy for a URL, by environment variables.
 *
 * @returns Undefined for a direct connection.
 * @throws {NetworkError} If the variable does not contain the URL of a proxy.
 */
export function outboundProxy(target: URL, env: (name: string) => string | undefined): OutboundProxy | undefined {
  const names = [target.protocol === "https:" ? "https_proxy" : "http_proxy", "all_proxy"];
  const name = names.flatMap((variable) => [variable.toUpperCase(), variable]).find((variable) => isSet(env(variable)));
  if (name === undefined || isExempt(target, env("NO_PROXY") ?? env("no_proxy") ?? "")) return undefined;
  return proxyAt(env(name)!.trim(), name);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== "";
}

function proxyAt(text: string, name: string): OutboundProxy {
  const { protocol, hostname, port, username, password } = parseProxyUrl(
    /^[a-z][\w+.-]*:\/\//i.test(text) ? text : `http://${text}`,
    name,
  );
  if (protocol !== "http:" && protocol !== "https:") throw noAddress(name);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    protocol,
    hostname: bare(hostname),
    port: Number(port || (protocol === "https:" ? 443 : 80)),
    headers: username === "" ? {} : { "proxy-authorization": `Basic ${base64(credentials)}` },
  };
}

function parseProxyUrl(text: string, name: string): URL {
  try {
    return new URL(text);
  } catch {
    throw noAddress(name);
  }
}

/** The value is not quoted, since it may contain a password. */
function noAddress(name: string): NetworkError {
  const message = `Cannot reach the provider: ${name} has to be the http:// or https:// address of a proxy`;
  return new NetworkError(message, { neverSent: true });
}

function base64(text: string): string {
  return builtin("node:buffer").Buffer.from(text).toString("base64");
}

function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

/**
 * `NO_PROXY` lists hosts with their subdomains, addresses, and networks (`10.0.0.0/8`), each with an optional port, or
 * `*`.
 */
function isExempt({ hostname, port, protocol }: URL, list: string): boolean {
  const host = bare(hostname).replace(/\.$/, "");
  const effectivePort = port || (protocol === "https:" ? "443" : "80");
  return list.toLowerCase().split(/[\s,]+/).some((entry) => {
    if (entry === "") return false;
    if (entry === "*") return true;
    if (entry.includes("/")) return isInNetwork(host, entry);
    const [, name = entry, only] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
    const plain = bare(name).replace(/^\*?\./, "");
    return (only ?? effectivePort) === effectivePort && (host === plain || host.endsWith(`.${plain}`));
  });
}

function isInNetwork(host: string, network: string): boolean {
  const { BlockList, isIP } = builtin("node:net");
  const [address = "", prefix = ""] = network.split("/");
  const family = isIP(address);
  if (
    family === 0 || isIP(host) !== family || !/^\d{1,3}$/.test(prefix) || Number(prefix) > (family === 4 ? 32 : 128)
  ) {
    return false;
  }
  const kind = family === 4 ? "ipv4" : "ipv6";
  const networks = new BlockList();
  networks.addSubnet(address, Number(prefix), kind);
  return networks.check(host, kind);
}

/**
 * Opens a tunnel to a server through a proxy.
 *
 * @throws {NetworkError} If the proxy cannot be reached or rejects the request.
 */
export function tunnelTo(
  proxy: OutboundProxy,
  { hostname: to, port: toPort, signal }: Pick<Target, "hostname" | "port"> & {
    /** Aborts the connection attempt. */
    readonly signal: AbortSignal;
  },
): Promise<Socket> {
  const { protocol, hostname: host, port, headers } = proxy;
  const { request } = builtin(protocol === "https:" ? "node:https" : "node:http");
  const path = `${to.includes(":") ? `[${to}]` : to}:${toPort}`;
  return new Promise((resolve, reject) => {
    const call = request({ host, port, method: "CONNECT", path, headers: { ...headers, host: path }, agent: false });
    const giveUp = () => call.destroy();
    signal.addEventListener("abort", giveUp);
    call.on("connect", ({ statusCode = 0 }: IncomingMessage, socket: Socket) => {
      signal.removeEventListener("abort", giveUp);
      if (statusCode >= 200 && statusCode < 300) return resolve(socket);
      socket.destroy();
      const reason = statusCode === 407 ? "asks for a name and a password" : "refused the connection";
      reject(fault(`the outbound proxy ${reason} (status ${statusCode})`));
    });
    call.on("error", (error) => {
      reject(isResourceLack(error) ? createOverload() : fault("the outbound proxy cannot be reached"));
    });
    call.end();
  });
}

function fault(reason: string): NetworkError {
  return new NetworkError(`Cannot connect to the provider: ${reason}`, { neverSent: true });
}
