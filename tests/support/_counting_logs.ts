/**
 * A store of logs that counts what it receives: inserts as for ClickHouse, and objects as in S3.
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

/** A running store. */
export interface CountingLogs extends AsyncDisposable {
  readonly url: string;
  /** Number of routing records that were inserted. */
  readonly inserted: number;
  /** Number of routing records in all objects. */
  readonly archived: number;
  /** Number of objects. */
  readonly objects: number;
}

/** Starts a store. */
export async function startCountingLogs(): Promise<CountingLogs> {
  let inserted = 0;
  const objects = new Map<string, number>();
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const text = gunzipSync(await readBody(request)).toString();
    if (request.method === "PUT") objects.set(request.url!, countRecords(text, '{"type":"routing"'));
    else inserted += countRecords(text, '"type":"routing","request_id"');
    response.end();
  };
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get inserted() {
      return inserted;
    },
    get archived() {
      return [...objects.values()].reduce((sum, count) => sum + count, 0);
    },
    get objects() {
      return objects.size;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

async function readBody(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

function countRecords(text: string, mark: string): number {
  return text.split("\n").filter((line) => line.includes(mark)).length;
}
