/**
 * Parses the URLs of local servers from environment variables.
 * @module
 */

/**
 * The base URL of a local server. A bare host gets a scheme and the server's default port, an unspecified listen
 * address becomes loopback, and a missing path becomes the version prefix.
 *
 * @param host The variable's value, such as `0.0.0.0:11434`, `:11434`, `gpu-box` or a complete URL.
 */
export function addressOfHost(host: string, port?: number): string {
  const [, scheme, authority = "", path = ""] = /^(https?:\/\/)?([^/]*)(.*)$/i.exec(host.replace(/^["']|["']$/g, "")) ??
    [];
  const [, name = "", ownPort] = /^(\[.*\]|[^:]*)(:\d+)?$/.exec(authority) ?? [undefined, authority];
  const usualPort = scheme === undefined && port !== undefined ? `:${port}` : "";
  const target = name === "" || name === "0.0.0.0" ? "127.0.0.1" : name === "[::]" ? "[::1]" : name;
  return `${scheme ?? "http://"}${target}${ownPort ?? usualPort}${path.replace(/\/+$/, "") || "/v1"}`;
}
