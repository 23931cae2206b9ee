/**
 * Requests for WebSockets.
 * @module
 */

/**
 * Whether a request asks for a WebSocket (RFC 6455, section 4.1).
 *
 * @param method In upper case.
 * @param upgrade The header of this name.
 */
export function isSocketRequest(method: string | undefined, upgrade: string | null | undefined): boolean {
  return method === "GET" && typeof upgrade === "string" && /^\s*websocket\s*$/i.test(upgrade);
}
