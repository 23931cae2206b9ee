/**
 * Writes records as lines of text.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { StatsRecord } from "../../src/contracts/events.ts";
import type { Observability } from "../../src/contracts/observability.ts";
import { ConfigError } from "../../src/errors.ts";
import { consoleDeclaration } from "./declarations.ts";
import { colored, formatLine, type MeshRecord } from "./_text.ts";

/**
 * Characters that a terminal or line parser would interpret: control characters, line breaks, bidirectional controls.
 */
// deno-lint-ignore no-control-regex
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/**
 * Writes each record as a line. The setting `write` is a function that receives the line without its line break
 * (standard error by default); `format` is `json` (the default) or `text`, which is human-readable; `color` lists the
 * kinds of text lines to color. It never throws, and counts lines that could not be written. Records cannot inject
 * lines or terminal control sequences.
 */
export const consoleObservability: Connector<"observability"> = /* @__PURE__ */ Object.assign(
  { create: createConsoleSink },
  consoleDeclaration,
);

function createConsoleSink(settings: Readonly<Record<string, unknown>>): Observability {
  const { attributes } = consoleDeclaration;
  const { write = console.error, format = attributes.format.default, color = attributes.color.default } = settings;
  if (typeof write !== "function") throw createConsoleError("write", "a function", write);
  if (format !== "json" && format !== "text") throw createConsoleError("format", '"json" or "text"', format);
  if (typeof color !== "boolean") throw createConsoleError("color", "true or false", color);
  const formatColored = (record: MeshRecord | StatsRecord) => {
    if (format === "json") return toPrintable(JSON.stringify(record));
    const text = toPrintable(formatLine(record));
    return color ? colored(text, record) : text;
  };
  let lost = 0;
  const put = (record: MeshRecord | StatsRecord) => {
    try {
      write(formatColored(record));
    } catch {
      lost++; // neither a record that cannot be serialized nor a closed terminal may fail a request
    }
  };
  const flush: Observability["flush"] = (report) => {
    report?.records.forEach(put);
    return Promise.resolve();
  };
  return {
    get lost() {
      return lost;
    },
    emit: (record) => put(record),
    log: put,
    trace: put,
    flush,
  };
}

function toPrintable(line: string): string {
  return line.replace(unprintable, escapeControl);
}

function createConsoleError(setting: string, allowed: string, found: unknown): ConfigError {
  const message = `"${setting}" of "mesh.console.v1" must be ${allowed}: ${JSON.stringify(found) ?? typeof found}`;
  return new ConfigError([{ path: "observability", message }]);
}

function escapeControl(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
