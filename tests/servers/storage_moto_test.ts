/** Records in S3, on a server of others: `moto_server` on PATH (`pip install "moto[server]"`) or in `MOTO_SERVER`. */
import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { gunzipSync } from "node:zlib";
import { findAwsKeys } from "../../connectors/clouds/aws.ts";
import { s3LogObservability } from "../../connectors/observability/s3_log.ts";
import { Bucket } from "../../connectors/storage/_s3.ts";
import { s3Storage } from "../../connectors/storage/s3.ts";
import type { Clock } from "../../src/contracts/runtime.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { storageConformance } from "../contracts/storage.ts";
import { makeFolder } from "../support/_library.ts";
import { eventRecord } from "../support/_sink_records.ts";
import { until } from "../support/patience.ts";
import { s3Key, s3Place } from "../support/s3_server.ts";

let prefixes = 0;

/** The command of Python's `moto[server]`; undefined where it is not installed. */
function findMoto(): string | undefined {
  const folders = (Deno.env.get("PATH") ?? "").split(":").map((folder) => `${folder}/moto_server`);
  return [Deno.env.get("MOTO_SERVER") ?? "", ...folders].find((path) => {
    try {
      return path !== "" && Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** Starts it, with the bucket. */
async function startMoto(command: string): Promise<{ url: string; bucket: Bucket; stop: () => Promise<unknown> }> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const args = ["-H", "127.0.0.1", "-p", `${port}`];
  const child = new Deno.Command(command, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  const url = `http://127.0.0.1:${port}`;
  await until(() => fetch(url).then((answer) => answer.body?.cancel()).then(() => true, () => false));
  const attributes = { access_key_id: s3Key.accessKeyId, secret_access_key: s3Key.secretAccessKey };
  const keys = findAwsKeys(attributes, denoRuntime())!;
  const bucket = new Bucket("test", denoRuntime(), {
    ...s3Place,
    keys,
    section: "storage",
    endpoint: url,
    isPathStyle: true,
  });
  const place = `<LocationConstraint>${s3Place.region}</LocationConstraint>`;
  await bucket.call({
    method: "PUT",
    body: new TextEncoder().encode(`<CreateBucketConfiguration>${place}</CreateBucketConfiguration>`),
  });
  const stop = () => {
    child.kill("SIGTERM");
    return child.status;
  };
  return { url, bucket, stop };
}

const motoCommand = findMoto();
if (motoCommand === undefined) {
  describe.skip('aws.s3.v1 on a server of others: needs moto_server (pip install "moto[server]")', () => {});
} else {
  describe("the storage aws.s3.v1 on a server of others (moto)", () => {
    let moto: Awaited<ReturnType<typeof startMoto>>;
    beforeAll(async () => {
      moto = await startMoto(motoCommand);
    });
    afterAll(async () => void await moto.stop());
    it("is used with a role that STS issues credentials for", async () => {
      await using folder = await makeFolder();
      const env: Record<string, string> = {
        AWS_WEB_IDENTITY_TOKEN_FILE: await folder.write("token", "the.web.identity"),
        AWS_ROLE_ARN: "arn:aws:iam::123456789012:role/router",
        AWS_ENDPOINT_URL_STS: moto.url,
      };
      const settings = { ...s3Place, endpoint: moto.url, prefix: "by-role/" };
      const storage = s3Storage.create(settings, { ...denoRuntime(), env: (name) => env[name] });
      await storage.save("state", new TextEncoder().encode("{}"));
      assertEquals(await storage.list(), ["state"]);
    });

    const make = (clock: Clock) => {
      const settings = {
        ...s3Place,
        endpoint: moto.url,
        access_key_id: s3Key.accessKeyId,
        secret_access_key: s3Key.secretAccessKey,
        prefix: `${prefixes++}/`,
      };
      return s3Storage.create(settings, { ...denoRuntime(), clock, env: () => undefined });
    };
    for (const { name, run } of storageConformance(make)) it(name, run);

    it("takes the objects of a log sink", async () => {
      const settings = {
        ...s3Place,
        endpoint: moto.url,
        credentials: { access_key_id: s3Key.accessKeyId, secret_access_key: s3Key.secretAccessKey },
        prefix: "archive",
      };
      const sink = s3LogObservability.create(settings, { ...denoRuntime(), env: () => undefined });
      for (const id of ["1", "2"]) {
        sink.emit(eventRecord(id));
        await sink.flush();
      }
      const { bucket } = moto;
      const { bytes: list } = await bucket.call({ method: "GET", query: { "list-type": "2", prefix: "archive/" } });
      const names = [...new TextDecoder().decode(list).matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, name]) => name!);
      assertEquals(names.length, 1);
      const { bytes } = await bucket.call({ method: "GET", name: names[0]! });
      const lines = new TextDecoder().decode(gunzipSync(bytes)).trimEnd().split("\n");
      assertEquals(lines.map((line) => JSON.parse(line).id), ["1", "2"]);
      assertEquals(sink.lost, 0);
    });
  });
}
