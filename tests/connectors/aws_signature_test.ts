import { assert, assertEquals } from "@std/assert";
import { hashHex, signRequest } from "../../connectors/_aws_signature.ts";

interface Suite {
  region: string;
  service: string;
  host: string;
  time: string;
  accessKeyId: string;
  secretAccessKey: string;
  cases: {
    name: string;
    method: string;
    path: string;
    headers: Record<string, string>;
    body: string;
    signature: string;
  }[];
}

const suite: Suite = JSON.parse(
  await Deno.readTextFile(new URL("../fixtures/aws/signature_v4.json", import.meta.url)),
);
const { accessKeyId, secretAccessKey, region, service, host } = suite;
const facts = { keys: { accessKeyId, secretAccessKey }, region, service, now: Date.parse(suite.time) };

for (const { name, method, path, headers, body, signature } of suite.cases) {
  Deno.test(`signed() makes the signature of AWS's test suite: ${name}`, async () => {
    const call = { method, url: `https://${host}${path}`, headers, body };
    // the suite's path is one of S3's kind: it is encoded once
    const { authorization } = await signRequest(call, { ...facts, signsPathAsSent: name === "get-utf8" });
    const names = [...Object.keys(headers), "host", "x-amz-date"].sort().join(";");
    const credential = `Credential=${accessKeyId}/20150830/${region}/${service}/aws4_request`;
    assertEquals(authorization, `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=${names}, Signature=${signature}`);
  });
}

Deno.test("signed() makes the signatures of S3's documentation", async () => {
  const keys = { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };
  const headers = { range: "bytes=0-9", "x-amz-content-sha256": await hashHex("") };
  const call = { method: "GET", url: "https://examplebucket.s3.amazonaws.com/test.txt", headers };
  const now = Date.UTC(2013, 4, 24);
  const result = await signRequest(call, { keys, region, service: "s3", now, signsPathAsSent: true });
  assert(result.authorization!.endsWith("Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"));
});

Deno.test("signed() sends the token of keys for a time, and signs it", async () => {
  const keys = { ...facts.keys, sessionToken: "token" };
  const call = { method: "GET", url: `https://${host}/`, headers: {} };
  const headers = await signRequest(call, { ...facts, keys });
  assertEquals(headers["x-amz-security-token"], "token");
  assert(headers.authorization!.includes("SignedHeaders=host;x-amz-date;x-amz-security-token,"));
});

Deno.test("signed() encodes a path once more, save for S3's", async () => {
  const call = (path: string) => ({ method: "POST", url: `https://${host}${path}`, headers: {} });
  const sent = await signRequest(call("/model/a%3A0/converse"), { ...facts, signsPathAsSent: true });
  const twice = await signRequest(call("/model/a%3A0/converse"), facts);
  const literally = await signRequest(call("/model/a%253A0/converse"), { ...facts, signsPathAsSent: true });
  assertEquals(twice.authorization, literally.authorization);
  assert(twice.authorization !== sent.authorization);
});
