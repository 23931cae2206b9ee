/**
 * The members of every record, from the comments of `src/contracts/events.ts`.
 * @module
 */
import { type DocSymbol, firstParagraph, readDoc } from "./api/doc.ts";
import { writeType } from "./api/types.ts";

/** The interfaces of each record, whose members are listed together. */
const records: readonly (readonly [title: string, ...interfaces: string[]])[] = [
  ["`event`: a change of state", "MeshEvent"],
  ["`routing`: a completed request", "RoutingRecord"],
  ["Steps of `fallback_chain`", "FallbackStep"],
  ["`log`: a request that was routed", "RequestLogRecord"],
  ["`log`: a request that was rejected before routing", "LogRecord"],
  ["`log`: other messages", "NoticeRecord"],
  ["`stats`: statistics of a model, provider or pool", "StatsRecord", "StatsMetrics"],
  ["`trace`: an internal step", "TraceEntry"],
];

/** A table for each record, as Markdown. */
export async function recordTables(): Promise<string> {
  const { symbols } = await readDoc(new URL("../../src/contracts/events.ts", import.meta.url));
  return records.map(([title, ...interfaces]) => {
    const rows = interfaces.flatMap((name) => toRecordRows(symbols.find((symbol) => symbol.name === name)));
    return [`### ${title}`, "", "| Member | Type | Meaning |", "|---|---|---|", ...rows].join("\n");
  }).join("\n\n");
}

function toRecordRows(symbol: DocSymbol | undefined): string[] {
  if (symbol === undefined) throw new Error("src/contracts/events.ts lacks an interface of a record");
  return symbol.declarations[0]!.def.properties!.map(({ name, optional, tsType, jsDoc }) => {
    const cells = [`\`${name}\``, `\`${writeType(tsType)}\`${optional ? ", optional" : ""}`, firstParagraph(jsDoc)];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
}
