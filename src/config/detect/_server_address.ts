/**
 * Addresses of servers on one's own machine, as their variables give them.
 * @module
 */

/**
 * The address of a server of one's own: a bare host gets a scheme and the server's usual port, an address to listen
 * on becomes a loopback one, a missing path becomes the version prefix.
 *
 * @param host Such as `0.0.0.0:11434`, `:11434`, `gpu-box` or a whole URL.
 */
export function addressOfHost(host: string, port?: number): string {
  const [, scheme, authority = "", path = ""] = /^(https?:\/\/)?([^/]*)(.*)$/i.exec(host.replace(/^["']|["']$/g, "")) ??
    [];
  const [, name = "", ownPort] = /^(\[.*\]|[^:]*)(:\d+)?$/.exec(authority) ?? [undefined, authority];
  const usualPort = scheme === undefined && port !== undefined ? `:${port}` : "";
  const target = name === "" || name === "0.0.0.0" ? "127.0.0.1" : name === "[::]" ? "[::1]" : name;
  return `${scheme ?? "http://"}${target}${ownPort ?? usualPort}${path.replace(/\/+$/, "") || "/v1"}`;
}
