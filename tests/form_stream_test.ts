import { assertEquals, assertRejects } from "@std/assert";
import { FormError, readFormStream, writeFormStream } from "../src/util/form_stream.ts";
import { readForm } from "../src/util/multipart.ts";

const encoder = new TextEncoder();

async function* cut(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.slice(at, at + size));
}

async function readText(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  let text = "";
  for await (const chunk of bytes) text += new TextDecoder().decode(chunk, { stream: true });
  return text;
}

async function readParts(text: string, size: number): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const { name, filename, type, bytes } of readFormStream(cut(text, size), "b1")) {
    parts.push([name, filename, type, await readText(bytes)]);
  }
  return parts;
}

const form = "preamble\r\n" +
  '--b1\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch\r\n' +
  '--b1\r\ncontent-disposition: form-data; name="file"; filename="a.jsonl"\r\ncontent-type: text/x\r\n\r\n' +
  '{"a":1}\r\n--b\r\n\r\n--b\r\n{}\r\n' +
  '--b1\r\ncontent-disposition: form-data; name="empty"\r\n\r\n\r\n--b1--\r\n';

Deno.test("A form that comes in pieces of any size is read like one that is whole", async () => {
  const expected = [
    ["purpose", undefined, "application/octet-stream", "batch"],
    ["file", "a.jsonl", "text/x", '{"a":1}\r\n--b\r\n\r\n--b\r\n{}'],
    ["empty", undefined, "application/octet-stream", ""],
  ];
  for (let size = 1; size <= form.length; size++) assertEquals(await readParts(form, size), expected, `${size}`);
  assertEquals(await readParts(form.slice("preamble\r\n".length), 7), expected);
});

Deno.test("A part that is not read is skipped", async () => {
  const names: string[] = [];
  for await (const { name } of readFormStream(cut(form, 5), "b1")) names.push(name);
  assertEquals(names, ["purpose", "file", "empty"]);
});

Deno.test("What is not a form is refused, and its source ended", async () => {
  const broken = [
    form.slice(0, -6),
    form.replaceAll("--b1", "--b2"),
    form.replace('name="purpose"', ""),
    `--b1\r\nx: ${"y".repeat(20_000)}`,
    "",
  ];
  for (const text of broken) await assertRejects(() => readParts(text, 11), FormError);
});

Deno.test("A form that is written as it comes can be read", async () => {
  const file = { name: "file", filename: 'a"b.jsonl', type: "text/plain", bytes: cut("some content", 3) };
  const chunks: Uint8Array[] = [];
  const after = () => Promise.resolve([["purpose", "batch"]] as const);
  for await (const chunk of writeFormStream(file, { before: [["x", "1"]], after }, "b9")) chunks.push(chunk);
  const { fields, files } = readForm(new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer()), "b9")!;
  assertEquals(fields, [["x", "1"], ["purpose", "batch"]]);
  assertEquals(files.map(({ field, name, bytes }) => [field, name, new TextDecoder().decode(bytes)]), [
    ["file", 'a"b.jsonl', "some content"],
  ]);
});
