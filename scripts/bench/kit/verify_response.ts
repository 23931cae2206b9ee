/**
 * Verifies that a contestant does what it is measured at.
 * @module
 */
import type { Side } from "./bench.ts";
import { type Upstream, usualMode } from "./upstream.ts";

const readyMs = 5000;

/**
 * Waits for a correct response, since some contestants listen before they can serve. An incorrect response
 * invalidates a measurement.
 *
 * @throws {Error} When there is none in time.
 */
export async function untilCorrect(side: Side, upstream: Upstream): Promise<void> {
  const until = performance.now() + readyMs;
  while (true) {
    try {
      return await verifyResponse(side, upstream);
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

/**
 * Verifies that a response is the upstream's, which was asked for its own model.
 *
 * @throws {Error} When it is not.
 */
export async function verifyResponse(
  { target, isSecure }: Side,
  upstream: Upstream,
  isStream: boolean = false,
): Promise<void> {
  if (isSecure) return;
  await upstream.set({});
  const { port, path, headers, body } = target({ isStream });
  const signal = AbortSignal.timeout(30_000);
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body, signal });
  const text = await response.text();
  if (!response.ok) throw new Error(`it answered ${response.status}: ${text.slice(0, 300)}`);
  const isComplete = !isStream || text.split("token ").length > usualMode.events && text.includes("[DONE]");
  if (!isComplete || !text.includes("token ")) {
    throw new Error(`its answer is not the upstream's: ${text.slice(-300)}`);
  }
  const { lastBody } = await upstream.seen();
  if (!lastBody.includes('"mock-model"')) throw new Error(`the upstream was asked for another model: ${lastBody}`);
}
