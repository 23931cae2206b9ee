/**
 * `modelmesh usage`: shows what a running proxy has used and spent.
 * @module
 */
import { type UsageDimension, usageDimensions, type UsageRow } from "../proxy/usage/usage_table.ts";
import { type Command, type ExitCode, UsageError } from "./command.ts";
import { remoteHelp, RemoteProxy, remoteValues } from "./remote.ts";
import { readPeriod } from "./usage_period.ts";
import { formatUsageRows } from "./usage_rows.ts";

const period = ["since", "from", "to"];

export const usage: Command = {
  help: `Usage: modelmesh usage [--by day,client,team,pool,model,tag] [--since 7d] [options]

Shows requests, tokens and cost per day (UTC) of a running proxy, up to 90 days back. They are kept in its storage, which requires a
section "storage" in its configuration. All proxies on that storage count together. A request with several tags counts for each of them.

Options:
  --by <dimensions>    Columns: any of day, client, team, pool, model, tag, separated by commas (day,client)
  --since <when>       Beginning: a duration such as 7d, or a day such as 2027-01-01. The last 90 days by default
  --from <day>         First day, in place of --since
  --to <day>           Last day. Today by default
${remoteHelp}
  --csv                Print CSV
  --env-file <file>    Load variables from a dotenv file; repeatable. Variables already set take precedence
  --json               Print the proxy's response as JSON
  --help               Show this help

Examples:
  modelmesh usage --since 7d
  modelmesh usage --by client,model --since 30d --csv
  modelmesh usage --by tag --from 2027-01-01 --to 2027-01-31

Exit code: 0 done, 1 failed, 2 usage error
`,
  values: [...remoteValues, "by", ...period],
  switches: ["csv"],
  async run(flags, { shell, runtime }) {
    if (flags.has("csv") && flags.json) throw new UsageError('"--csv" cannot be combined with "--json"');
    if (flags.value("since") !== undefined && flags.value("from") !== undefined) {
      throw new UsageError('"--since" cannot be combined with "--from"');
    }
    const query = readPeriod(flags, period);
    query.set("by", readGrouping(flags.value("by") ?? "day,client"));
    const proxy = new RemoteProxy(flags, runtime);
    if (flags.has("csv")) {
      query.set("format", "csv");
      shell.stdout.write(await proxy.text(`/mesh/usage?${query}`));
      return 0;
    }
    const usage = await proxy.json<{ readonly by: readonly UsageDimension[]; readonly data: readonly UsageRow[] }>(
      `/mesh/usage?${query}`,
    );
    if (flags.json) shell.stdout.write(`${JSON.stringify(usage)}\n`);
    else if (usage.data.length === 0) shell.stderr.write("No requests in that period\n");
    else shell.stdout.write(formatUsageRows(usage.data, usage.by));
    return 0 satisfies ExitCode;
  },
};

/** Checks dimensions before a request: a proxy that is not reached cannot name a misspelt one. */
function readGrouping(text: string): string {
  const names = text.split(",").map((name) => name.trim());
  const unknown = names.find((name) => !(usageDimensions as readonly string[]).includes(name));
  if (unknown !== undefined) {
    throw new UsageError(
      `The option "--by" takes ${usageDimensions.join(", ")}, separated by commas, not "${unknown}"`,
    );
  }
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  if (repeated !== undefined) throw new UsageError(`The option "--by" names "${repeated}" twice`);
  return names.join(",");
}
