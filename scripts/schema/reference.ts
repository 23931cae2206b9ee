/**
 * The tables of `docs/configuration.md`: every section, every key.
 * @module
 */
import type { Field, Shape } from "../../src/config/_field.ts";
import { type Key, writtenDefault } from "./keys.ts";

/** Above it the document is written by hand. */
export const beginMark = "<!-- From here on written by `deno task schema`, from src/config/schema*.ts -->";

/**
 * The document with its tables as they have to be.
 *
 * @param document As it is.
 * @param keys All keys.
 * @throws {Error} When it lacks the mark under which the tables stand.
 */
export function withTables(document: string, keys: readonly Key[]): string {
  const at = document.indexOf(beginMark);
  if (at === -1) throw new Error(`docs/configuration.md has no line "${beginMark}"`);
  return `${document.slice(0, at)}${beginMark}\n\n${tables(keys)}`;
}

function tables(keys: readonly Key[]): string {
  const sections = keys.filter(({ path }) => !path.includes("."));
  return sections.map((section) => sectionOf(section, keys)).join("\n");
}

function sectionOf({ path, field, about }: Key, keys: readonly Key[]): string {
  const isNamed = keys.some((key) => key.path.startsWith(`${path}.*.`));
  const prefix = isNamed ? `${path}.*.` : `${path}.`;
  const rows = keys.filter((key) => key.path.startsWith(prefix)).map((key) => rowOf(key, prefix));
  const title = isNamed ? `${path}.<name>` : path;
  const intro = `## \`${title}\`\n\n${about}${rows.length === 0 ? ` Takes: ${takenBy(field)}.` : ""}${later(field)}\n`;
  if (rows.length === 0) return intro;
  return `${intro}\n| Key | Takes | Default | What it is for |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

function rowOf({ path, field, about }: Key, prefix: string): string {
  const { shape } = field;
  const key = `\`${path.slice(prefix.length)}\``;
  const standard = writtenDefault(shape);
  const cells = shape.type === "object"
    ? [`**${key}**`, "", ""]
    : [key, takenBy(field), standard === undefined ? "" : code(standard)];
  return `| ${[...cells, about + later(field)].map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function later({ shape }: Field): string {
  return shape.isLater ? " *Not in effect in this version.*" : "";
}

/** What a field takes, in a few words. */
function takenBy({ shape }: Field): string {
  switch (shape.type) {
    case "flag":
      return "`true` or `false`";
    case "integer":
    case "number":
      return shape.type + rangeOf(shape);
    case "duration":
    case "size":
      return shape.type + (shape.min === 0 ? ", `0s` too" : "");
    case "choice":
      return shape.values!.map(code).join(", ");
    case "list":
      return `list: ${takenBy(shape.item!)}`;
    case "map":
      return `names: ${takenBy(shape.item!)}`;
    case "either":
      return eitherOf(shape);
    case "instance":
      return "an object of the program";
    case "object":
    case "any":
      return "object";
    default:
      return shape.type;
  }
}

function eitherOf({ options = [] }: Shape): string {
  const [first, second] = options;
  const isSame = second?.shape.item === first;
  return isSame ? `${takenBy(first!)}; one, or a list` : options.map(takenBy).join(", or ");
}

function rangeOf({ min, max, above }: Shape): string {
  const words = [
    ...(above === undefined ? [] : [`above ${above}`]),
    ...(min === undefined ? [] : [max === undefined ? `${min} or more` : `${min} to ${max}`]),
    ...(max === undefined || min !== undefined ? [] : [`up to ${max}`]),
  ];
  return words.map((word) => `, ${word}`).join("");
}

function code(value: unknown): string {
  return `\`${Array.isArray(value) ? value.join(", ") : value}\``;
}
