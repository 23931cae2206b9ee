/**
 * Parsers of text: `src/util` and the configuration.
 * @module
 */
import { toPortableJson } from "../../connectors/observability/_portable_json.ts";
import { toRedisError } from "../../connectors/storage/_redis_errors.ts";
import { addText, emptyText } from "../../src/pipeline/request_size.ts";
import { readJsonDocument, scanJson } from "../../src/config/load/load.ts";
import { readYaml } from "../../src/config/load/_yaml_read.ts";
import { parseDuration, parseSize } from "../../src/config/schema/units.ts";
import { Report } from "../../src/config/schema/report.ts";
import { fromBase64, toBase64, toBase64Url } from "../../src/util/base64.ts";
import { bodyBounds, findJsonExcess, parseBoundedJson } from "../../src/util/bounded_json.ts";
import { parseArguments } from "../../src/util/call_arguments.ts";
import { classifyFault } from "../../src/util/classify.ts";
import { parseDataUrl } from "../../src/util/data_url.ts";
import { parseDotenv } from "../../src/util/dotenv.ts";
import { fromBase64Json, toBase64Json } from "../../src/util/json_base64.ts";
import { editMembers, memberText, repeatedMember } from "../../src/util/json_members.ts";
import { editJsonAt } from "../../src/util/json_paths.ts";
import { JsonProgress } from "../../src/util/json_progress.ts";
import { listNearest } from "../../src/config/schema/report.ts";
import { nearest } from "../../src/util/nearest.ts";
import { readRateHeaders } from "../../src/util/rate_headers.ts";
import { parseTraceparent, readTraceContext } from "../../src/util/request_id.ts";
import { decodeSegment, readPath, readSearch, readTarget, readUrl } from "../../src/util/request_path.ts";
import { retryAfterMs } from "../../src/util/retry_after.ts";
import { readServiceAccount } from "../../src/util/service_account.ts";
import { stripTrailing } from "../../src/util/strip_trailing.ts";
import { type GrowthCase, prepared, refusable, times } from "./_case.ts";

const members = (count: number) => `{${times(count, (index) => `"m${index}":${index}`).join(",")}}`;
const header = (value: string) => ({ get: (name: string) => name === "ratelimit" ? value : null });
const always = (value: string) => ({ get: () => value });

/** Texts that other parsers took quadratic time for. */
const hostile: readonly (readonly [what: string, textOf: (size: number) => string])[] = [
  ["blanks", (size) => `1${" ".repeat(size)}1`],
  ["slashes", (size) => `data:${"/".repeat(size)}`],
  ["quotes", (size) => '"'.repeat(size)],
  ["escaped quotes", (size) => `"${'\\"'.repeat(size)}`],
  ["backslashes", (size) => `"${"\\".repeat(size)}"`],
  ["brackets", (size) => "[".repeat(size)],
  ["digits", (size) => "1".repeat(size)],
  ["separators", (size) => ",;= &:".repeat(size / 6)],
  ["escapes", (size) => "%".repeat(size)],
  ["lines", (size) => "a\n".repeat(size / 2)],
  ["line ends", (size) => "\r".repeat(size)],
  ["assignments", (size) => "A='x\n".repeat(size / 5)],
];

/** Parsers of any text. */
const parsers: Readonly<Record<string, (text: string) => unknown>> = {
  "connectors/observability/_portable_json.ts#toPortableJson": (text) => toPortableJson(`${text}\ud83d${text}`),
  "src/util/bounded_json.ts#parseBoundedJson": (text) => parseBoundedJson(text),
  "src/util/call_arguments.ts#parseArguments": parseArguments,
  "src/util/data_url.ts#parseDataUrl": parseDataUrl,
  "src/util/request_path.ts#decodeSegment": decodeSegment,
  "src/util/dotenv.ts#parseDotenv": parseDotenv,
  "src/util/json_base64.ts#fromBase64Json": fromBase64Json,
  "src/util/rate_headers.ts#readRateHeaders": (text) => readRateHeaders(header(text), 0),
  "src/util/request_id.ts#parseTraceparent": parseTraceparent,
  "src/util/request_id.ts#readTraceContext": (text) => readTraceContext(always(text)),
  "src/util/request_path.ts#readTarget": (text) => readTarget(`http://localhost/${text}`),
  "src/util/request_path.ts#readPath": (text) => readPath(`http://localhost/${text}`),
  "src/util/request_path.ts#readUrl": (text) => readUrl(`http://localhost/${text}`),
  "src/util/request_path.ts#readSearch": (text) => readSearch(`http://localhost/${text}`),
  "src/util/retry_after.ts#retryAfterMs": (text) => retryAfterMs(always(text), 0),
  "src/util/strip_trailing.ts#stripTrailing": (text) => stripTrailing(text, "/"),
  "src/pipeline/request_size.ts#addText": (text) => addText(`${text}語`, emptyText()),
  "src/util/nearest.ts#nearest": (text) => nearest(text, ["chat-completion", "embeddings"]),
  "src/util/json_progress.ts#JsonProgress": (text) => new JsonProgress().add(text),
  "src/config/schema/units.ts#parseDuration": parseDuration,
  "src/config/schema/units.ts#parseSize": parseSize,
  "src/config/load/load.ts#scanJson": scanJson,
  "src/config/load/load.ts#readJsonDocument": (text) => readJsonDocument(text, "mesh.json"),
  "src/config/load/_yaml_read.ts#readYaml": (text) => {
    const error = new Error(text);
    return readYaml(text, {
      parse: () => {
        throw error;
      },
    } as never, new Report());
  },
  "connectors/storage/_redis_errors.ts#toRedisError": (text) =>
    toRedisError(new Error(`NOPERM ${text}`), { address: { host: "a", port: 1 } as never, script: text }),
  "src/util/classify.ts#classifyFault": (text) =>
    classifyFault(404, { message: `model ${text}`, type: text, code: text, param: null }),
  "src/util/service_account.ts#readServiceAccount": (text) =>
    refusable(() => readServiceAccount({ client_email: "a", private_key: `-----BEGIN PRIVATE KEY-----${text}` })),
};

/** Rows of parsers of text. */
export const textCases: readonly GrowthCase[] = [
  ...Object.entries(parsers).flatMap(([name, parse]) =>
    hostile.map(([what, input]) =>
      prepared({ covers: [name], what, size: 3_000, input, work: (text) => ignoring(() => parse(text)) })
    )
  ),
  prepared({
    covers: ["src/util/json_members.ts#repeatedMember", "src/util/json_members.ts#memberText"],
    what: "distinct members",
    size: 2_000,
    input: members,
    work: (text) => [repeatedMember(text), memberText(text, "none")],
  }),
  prepared({
    covers: ["src/util/json_members.ts#editMembers"],
    what: "members and edits",
    size: 1_000,
    input: (size) => [members(size), JSON.parse(members(size * 2))] as const,
    work: ([text, edits]) => editMembers(text, edits),
  }),
  prepared({
    covers: ["src/util/json_paths.ts#editJsonAt"],
    what: "items and members",
    size: 5_000,
    input: (size) => [`{"a":[${times(size, (at) => at)}],"b":${members(size)}}`, size - 1] as const,
    work: ([text, last]) => [editJsonAt(text, ["a", last], () => "0"), editJsonAt(text, ["b", "none"], () => "0")],
  }),
  prepared({
    covers: ["src/util/bounded_json.ts#findJsonExcess"],
    what: "objects",
    size: 60_000,
    input: (size) => `[${'{"a":"\\\\"},'.repeat(size / 12)}{}]`,
    work: (text) => findJsonExcess(text, { ...bodyBounds, containers: 100 * bodyBounds.containers, depth: 1 }),
  }),
  prepared({
    covers: ["src/util/base64.ts#toBase64", "src/util/base64.ts#toBase64Url", "src/util/base64.ts#fromBase64"],
    what: "bytes",
    size: 20_000,
    input: (size) => new Uint8Array(size),
    work: (bytes) => [fromBase64(toBase64(bytes)), toBase64Url(bytes)],
  }),
  prepared({
    covers: ["src/util/json_base64.ts#toBase64Json", "src/util/json_base64.ts#fromBase64Json"],
    what: "a value",
    size: 2_000,
    input: (size) => JSON.parse(members(size)),
    work: (value) => fromBase64Json(toBase64Json(value)),
  }),
  prepared({
    covers: ["src/util/json_progress.ts#JsonProgress"],
    what: "fragments",
    size: 10_000,
    input: (size) => times(size, (index) => index === 0 ? '{"a":"' : "x}"),
    work(fragments) {
      const progress = new JsonProgress();
      return fragments.map((fragment) => (progress.add(fragment), progress.isComplete));
    },
  }),
  prepared({
    covers: ["src/util/nearest.ts#nearest"],
    what: "candidates",
    size: 2_000,
    input: (size) => times(size, (index) => `vendor.model-${index}`),
    work: (candidates) => nearest("vendor.modle-x", candidates),
  }),
  prepared({
    covers: ["src/config/schema/report.ts#listNearest"],
    what: "names",
    size: 2_000,
    input: (size) => times(size, (index) => `vendor.model-${index}`),
    work: (names) => listNearest("vendor.modle-x", names),
  }),
];

/** Performs work whatever it thinks of its input, which growth does not depend on. */
function ignoring(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw error;
  }
}
