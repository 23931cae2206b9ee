/** Files, batches and jobs wait for a slot that several processes share, as all work does. */
import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ModelMesh } from "../../mod.ts";
import { createMeshHandler } from "../../src/proxy/handler.ts";
import { Slots } from "../../src/proxy/slots.ts";
import { MemoryShared } from "../support/memory_shared.ts";
import { testConfig } from "../support/proxy.ts";

const multipart = { "content-type": "multipart/form-data; boundary=x" };
const json = { "content-type": "application/json" };

const requests: readonly (readonly [line: string, headers?: Record<string, string>, body?: string])[] = [
  ["POST files", multipart, "--x\r\n\r\n--x--\r\n"],
  ["GET files"],
  ["GET files/file-1"],
  ["DELETE files/file-1"],
  ["GET files/file-1/content"],
  ["POST batches", json, "{}"],
  ["GET batches"],
  ["GET batches/batch_1"],
  ["POST batches/batch_1/cancel"],
  ["POST fine_tuning/jobs", json, "{}"],
  ["GET fine_tuning/jobs"],
  ["GET fine_tuning/jobs/ftjob-1"],
  ["POST fine_tuning/jobs/ftjob-1/cancel"],
  ["POST fine_tuning/jobs/ftjob-1/pause"],
  ["POST fine_tuning/jobs/ftjob-1/resume"],
  ["GET fine_tuning/jobs/ftjob-1/events"],
  ["GET fine_tuning/jobs/ftjob-1/checkpoints"],
];

/** A proxy that is one of two processes, with one slot between them. */
async function stage() {
  const mesh = new ModelMesh({ env: {} });
  await mesh.initialize(
    testConfig({ upstreams: { a: "http://127.0.0.1:9/v1" }, config: { proxy: { max_concurrent: 1 } } }),
  );
  const shared = new MemoryShared();
  const others = new Slots({ shared, processes: 2 });
  const handler = createMeshHandler(mesh, { slots: new Slots({ shared, processes: 2 }) });
  return { mesh, handler, others };
}

describe("A slot that another process holds", () => {
  it("refuses each request for files, batches and jobs with 503, and is free to the next one afterwards", async () => {
    const { mesh, handler, others } = await stage();
    await others.take(1);
    const ask = async ([line, headers, body]: typeof requests[number]) => {
      const [method, path] = line.split(" ");
      const init = { method: method!, headers: { host: "127.0.0.1", ...headers }, body: body ?? null };
      const response = await handler(new Request(`http://127.0.0.1/v1/${path}`, init));
      return [line, response.status, (await response.json()).error?.code];
    };
    for (const request of requests) assertEquals(await ask(request), [request[0], 503, "overloaded"]);
    others.give(1);
    await Promise.resolve();
    for (const request of requests) assertEquals((await ask(request))[2] === "overloaded", false, request[0]);
    await mesh.close();
  });
});
