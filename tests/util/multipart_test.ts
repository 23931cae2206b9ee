import { assertEquals, assertStrictEquals } from "@std/assert";
import { assertEffort } from "../support/effort.ts";
import { findBoundary, type Form, readForm, writeForm } from "../../src/util/multipart.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** The whole of a form, as it is sent. */
function joined({ chunks }: { readonly chunks: readonly Uint8Array[] }): Uint8Array {
  return new Uint8Array(chunks.flatMap((chunk) => [...chunk]));
}

const file = { field: "file", name: "a.mp3", type: "audio/mpeg", bytes: new Uint8Array([0, 13, 10, 45, 45, 255]) };

Deno.test("a form that is written is read again, its files as views over the one buffer", () => {
  const form: Form = { fields: [["model", "m"], ["prompt", ""], ["tag", "ä\r\n"]], files: [file] };
  const { contentType, chunks } = writeForm(form, "edge");
  assertStrictEquals(chunks.find((chunk) => chunk === file.bytes), file.bytes);
  const bytes = joined({ chunks });
  const read = readForm(bytes, findBoundary(contentType)!)!;
  assertEquals(read, form);
  assertStrictEquals(read.files[0]!.bytes.buffer, bytes.buffer);
});

Deno.test("the platform's own reader takes what is written, and its own writer is read", async () => {
  const { contentType, chunks } = writeForm({ fields: [["a", "1"]], files: [{ ...file, name: 'q"uote.mp3' }] }, "edge");
  const body = joined({ chunks }) as Uint8Array<ArrayBuffer>;
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData();
  const read = form.get("file") as File;
  assertEquals([form.get("a"), read.type, new Uint8Array(await read.arrayBuffer())], ["1", file.type, file.bytes]);

  const data = new FormData();
  data.append("list[]", "x");
  data.append("list[]", "y");
  data.append("file", new File([file.bytes], 'q"uote.mp3', { type: file.type }));
  const response = new Response(data);
  const own = readForm(
    new Uint8Array(await response.arrayBuffer()),
    findBoundary(response.headers.get("content-type"))!,
  )!;
  assertEquals(own.fields, [["list[]", "x"], ["list[]", "y"]]);
  assertEquals(own.files, [{ ...file, name: 'q"uote.mp3' }]);
});

Deno.test("what is not a form is none", () => {
  const body = '--edge\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n--edge--\r\n';
  assertEquals(readForm(bytesOf(body), "edge")?.fields, [["a", "1"]]);
  assertEquals(readForm(bytesOf(`preamble\r\n${body}`), "edge")?.fields, [["a", "1"]]);
  const broken: readonly (readonly [what: string, body: string, boundary?: string])[] = [
    ["wrong boundary", body, "other"],
    ["empty", ""],
    ["no end", body.slice(0, -8)],
    ["cut in a part", body.slice(0, -16)],
    ["cut in a head", body.slice(0, 30)],
    ["no name", body.replace('; name="a"', "")],
    ["no head", "--edge\r\n1\r\n--edge--\r\n"],
    ["a head without end", `--edge\r\n${"x: y\r\n".repeat(5_000)}\r\n\r\n--edge--`],
  ];
  for (const [what, text, boundary = "edge"] of broken) {
    assertEquals(readForm(bytesOf(text), boundary), undefined, what);
  }
});

Deno.test("a boundary may be quoted, and is of forms only", () => {
  const cases: readonly (readonly [string | null, string | undefined])[] = [
    ["multipart/form-data; boundary=abc", "abc"],
    ['Multipart/Form-Data; charset=utf-8; boundary="a b"; x=y', "a b"],
    ["multipart/form-data", undefined],
    ["multipart/mixed; boundary=abc", undefined],
    ["application/json", undefined],
    [null, undefined],
  ];
  for (const [type, boundary] of cases) assertEquals(findBoundary(type), boundary, String(type));
});

Deno.test("a large file with the beginning of a boundary everywhere is read in one pass", () => {
  const large = { ...file, bytes: bytesOf("\r\n--edg".repeat(20_000)) };
  const read = readForm(joined(writeForm({ fields: [], files: [large] }, "edge")), "edge")!;
  assertEquals(textOf(read.files[0]!.bytes).length, large.bytes.length);
});

Deno.test("what looks like a boundary, or like its beginning, costs no more than other bytes", async () => {
  const boundary = `${"-".repeat(69)}x`;
  const fileOf = (byte: string) => bytesOf(`--${boundary}\r\n${part}${byte.repeat(400_000)}\r\n--${boundary}--`);
  const part = 'content-disposition: form-data; name="f"; filename="f"\r\n\r\n';
  const cases: readonly (readonly [what: string, bytes: Uint8Array])[] = [
    ["a preamble of dashes", bytesOf("-".repeat(400_000))],
    ["a file of dashes", fileOf("-")],
    ["a file of carriage returns", fileOf("\r")],
  ];
  const letters = bytesOf("a".repeat(400_000));
  for (const [what, bytes] of cases) {
    await assertEffort(what, {
      work: () => readForm(bytes, boundary),
      than: () => letters.every((byte) => byte !== 0),
      most: 4,
    });
  }
});
