/**
 * Where calls over `node:http` go: to the provider, or to an outbound proxy on the way.
 * @module
 */
import type { Agent } from "node:http";
import type { AgentOptions } from "node:https";
import type { Authorities } from "../contracts/runtime.ts";
import { authorities } from "./_authorities.ts";
import { builtin, nodeProcess } from "./_node_builtin.ts";
import { outboundProxy } from "./_outbound_proxy.ts";
import { tunnelAgent } from "./_tunnel.ts";

export interface Target {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
  readonly agent: Agent;
  /** For an outbound proxy on the way. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Connections are kept and used again, the one used last first, so that the others can grow old. */
export const agentOptions: AgentOptions & { noDelay: true } = { keepAlive: true, noDelay: true, scheduling: "lifo" };

const env = (name: string): string | undefined => nodeProcess()?.env[name];

/**
 * The authorities that connections with TLS trust. Node reads one of the files by itself, but none once others are given. A
 * context made once: an agent would compare the text of every certificate with each request.
 *
 * @param others Trusted beside those of the environment.
 */
export function trust(others?: Authorities): Pick<AgentOptions, "secureContext"> {
  if (others === undefined && authorities(["SSL_CERT_FILE", "DENO_CERT"], env).length === 0) return {};
  const own = authorities(["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "DENO_CERT"], env);
  const { createSecureContext, rootCertificates } = builtin("node:tls");
  return { secureContext: createSecureContext({ ca: [...rootCertificates, ...own, ...others?.certificates ?? []] }) };
}

/** What agents are found by and made with. */
interface AgentParts {
  /** Existing agents by key. */
  readonly agents: Map<string, Agent>;
  /** Finds or makes the one of a protocol. */
  readonly agentOf: (protocol: "http:" | "https:") => Agent;
  /** Trusted for the call. */
  readonly authorities?: Authorities | undefined;
}

/**
 * Where a call really goes, when the environment names an outbound proxy. With TLS the proxy makes a
 * connection and sees no more of it; without, it is asked in place of the provider.
 *
 * @throws {NetworkError} When the environment names a proxy that is none.
 */
export function throughProxy(
  direct: Target,
  url: URL,
  { agents, agentOf, authorities }: AgentParts,
): Target {
  const proxy = outboundProxy(url, env);
  if (proxy === undefined) return direct;
  const { protocol, hostname, port, headers } = proxy;
  if (url.protocol === "https:") {
    const key = JSON.stringify([proxy, authorities?.key]);
    const agent = agents.get(key) ?? tunnelAgent(proxy, { ...agentOptions, ...trust(authorities) });
    agents.set(key, agent);
    return { ...direct, agent };
  }
  const { host, origin } = url;
  const path = origin + direct.path;
  return { protocol, hostname, port: String(port), path, agent: agentOf(protocol), headers: { ...headers, host } };
}
