/**
 * Parses the URLs of local servers from environment variables.
 * @module
 */
import { stripTrailing } from "../../util/strip_trailing.ts";

/**
 * The base URL of a local server. A bare host gets a scheme and the server's default port, an unspecified listen
 * address becomes loopback, and a missing path becomes the version prefix.
 *
 * @param host The variable's value, such as `0.0.0.0:11434`, `:11434`, `gpu-box` or a complete URL.
 */
export function addressOfHost(host: string, port?: number): string {
  const given = host.replace(/^["']|["']$/g, "");
  const [scheme] = /^https?:\/\//i.exec(given) ?? [];
  const [authority = "", ...segments] = given.slice(scheme?.length ?? 0).split("/");
  const path = segments.map((segment) => `/${segment}`).join("");
  const [, name = "", ownPort] = /^(\[.*\]|[^:]*)(:\d+)?$/.exec(authority) ?? [undefined, authority];
  const usualPort = scheme === undefined && port !== undefined ? `:${port}` : "";
  const target = name === "" || name === "0.0.0.0" ? "127.0.0.1" : name === "[::]" ? "[::1]" : name;
  return `${scheme ?? "http://"}${target}${ownPort ?? usualPort}${stripTrailing(path, "/") || "/v1"}`;
}
