/**
 * `GET /mesh/processes`: the processes that share the storage.
 * @module
 */
import type { PlainResponse } from "../../contracts/shell.ts";
import { ConnectorError } from "../../errors.ts";
import { HttpError } from "../error_body.ts";
import type { Exchange } from "../exchange.ts";
import { json } from "../json.ts";

/**
 * Handles a request of an administrator. `current` is the process that answers.
 *
 * @throws {HttpError} 400 without a storage that several processes share, 503 while it fails.
 */
export async function handleProcesses({ processes, headers }: Exchange): Promise<PlainResponse> {
  if (processes === undefined) {
    const message =
      "Processes are listed if they share a storage: configure one such as redis.redis.v1 in the section " +
      '`storage`, or the `sync_policy` "periodic"';
    throw new HttpError(message, { status: 400, code: "no_storage" });
  }
  try {
    const data = await processes.list();
    return json({ object: "list", current: processes.id, data }, { headers });
  } catch (error) {
    if (!ConnectorError.isInstance(error)) throw error;
    const facts = { status: 503, type: "server_error", code: "storage_unavailable" } as const;
    throw new HttpError(`The storage failed: ${error.message}`, facts);
  }
}
