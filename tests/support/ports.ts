/**
 * Ports that a test frees and takes again.
 * @module
 */
import { createServer } from "node:net";

/** Systems give ports of connections and of `port: 0` from 32768 (Linux) or 49152 (others) upwards. */
const [lowest, highest] = [20_000, 32_000];

/**
 * Returns a free port that no other process is given by chance while its server is away.
 *
 * @throws {Error} When a hundred ports in turn are in use.
 */
export async function portForRestarts(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port between ${lowest} and ${highest}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
      .on("error", () => resolve(false))
      .listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
