/**
 * Generates the tables of `docs/configuration.md`: all sections and keys.
 * @module
 */
import type { Field } from "../../src/config/schema/field.ts";
import type { AttributeType } from "../../src/contracts/connector.ts";
import { shippedAttributes, shippedConnectors } from "./connectors.ts";
import { type Key, writtenDefault } from "./keys.ts";

/** Marker. What precedes it is written by hand. */
export const beginMark = "<!-- From here on written by `deno task schema`, from src/config/schema -->";

/**
 * Returns the page with its tables regenerated.
 *
 * @param keys All keys.
 * @throws {Error} When the marker is missing.
 */
export function withTables(document: string, keys: readonly Key[]): string {
  const at = document.indexOf(beginMark);
  if (at === -1) throw new Error(`docs/configuration.md has no line "${beginMark}"`);
  return `${document.slice(0, at)}${beginMark}\n\n${tables(keys)}`;
}

function tables(keys: readonly Key[]): string {
  const sections = keys.filter(({ path }) => !path.includes("."));
  return [...sections.map((section) => formatSection(section, keys)), connectorTable(), attributeTables()].join("\n");
}

function connectorTable(): string {
  const rows = shippedConnectors().map(([title, ids]) => `| ${title} | ${ids.map(code).join(", ")} |`);
  return "## Built-in connectors\n\n" +
    `A name without vendor and version means a connector as well if it means no other of its kind: \`round-robin\`, \`redis\`,\n` +
    `\`console\`. Providers are named by vendor instead, by a further name such as \`claude\`, or as the variable of their API key:\n` +
    `\`openai\`, \`gemini\`. An ambiguous name is an error that lists the candidates.\n\n| Kind | Ids |\n|---|---|\n${
      rows.join("\n")
    }\n`;
}

function attributeTables(): string {
  const tables = shippedAttributes().map(([title, id, attributes]) => {
    const rows = Object.entries(attributes).map(([name, attribute]) => {
      const { type, values, about } = attribute;
      const defaultValue = writtenDefault(attribute);
      const takes = values === undefined ? [type].flat().map(attributeType).join(", or ") : values.map(code).join(", ");
      const cells = [code(name), takes, defaultValue === undefined ? "" : code(defaultValue), about];
      return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
    });
    const table = `| Attribute | Type | Default | Description |\n|---|---|---|---|\n${rows.join("\n")}\n`;
    return `### ${title}: \`${id}\`\n\n${table}`;
  });
  return "## Connector attributes\n\nAttributes are set in the section that names the connector; those of providers and sinks " +
    `under \`config\`. A connector that is not listed has no attributes.\n\n${tables.join("\n")}`;
}

function attributeType(type: AttributeType): string {
  if (type === "flag") return "`true` or `false`";
  return type === "text" ? "string" : type;
}

function formatSection({ path, field, about }: Key, keys: readonly Key[]): string {
  const isNamed = keys.some((key) => key.path.startsWith(`${path}.*.`));
  const prefix = isNamed ? `${path}.*.` : `${path}.`;
  const rows = keys.filter((key) => key.path.startsWith(prefix)).map((key) => formatRow(key, prefix));
  const title = isNamed ? `${path}.<name>` : path;
  const taken = rows.length === 0 ? ` Type: ${takenBy(field)}.` : "";
  const open = field.isOpen ? " Other keys are [attributes of the connector](#connector-attributes)." : "";
  const intro = `## \`${title}\`\n\n${about}${taken}${open}\n`;
  if (rows.length === 0) return intro;
  return `${intro}\n| Key | Type | Default | Description |\n|---|---|---|---|\n${rows.join("\n")}\n`;
}

function formatRow({ path, field, about }: Key, prefix: string): string {
  const key = `\`${path.slice(prefix.length)}\``;
  const defaultValue = writtenDefault(field);
  const cells = field.type === "object"
    ? [`**${key}**`, "", ""]
    : [key, takenBy(field), defaultValue === undefined ? "" : code(defaultValue)];
  return `| ${[...cells, about].map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

/** Describes the values of a field in a few words; `plural` is appended for lists. */
function takenBy(field: Field, plural: "" | "s" = ""): string {
  switch (field.type) {
    case "flag":
      return "`true` or `false`";
    case "integer":
    case "number":
      return field.type + plural + describeRange(field);
    case "duration":
    case "size":
      return field.type + plural + (field.min === 0 ? ", may be `0s`" : "");
    case "choice":
      return field.values!.map(code).join(", ");
    case "list":
      return field.isSingleAllowed ? `${takenBy(field.item!)}, or a list` : `list of ${takenBy(field.item!, "s")}`;
    case "map":
    case "record":
      return `${takenBy(field.item!)}, by name`;
    case "either":
      return field.options!.map((option) => takenBy(option, plural)).join(", or ");
    case "instance":
      return "object (programs only)";
    case "object":
    case "any":
      return `object${plural}`;
    case "text":
      return `string${plural}`;
    default:
      return field.type + plural;
  }
}

function describeRange({ min, max, above }: Field): string {
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
