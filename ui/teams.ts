/**
 * The teams of the configuration: their limits. What they have spent is among budgets and spend.
 * @module
 */
import { describeLimits } from "./client_fields.ts";
import { type Connection, ResponseError } from "./connection.ts";
import { byId, el } from "./dom.ts";
import { counted } from "./format.ts";

/** Teams that are shown. */
const maxShown = 60;

/** A team of `/mesh/teams`. */
interface Team {
  readonly name: string;
  readonly pools?: readonly string[];
  readonly limits: Readonly<Record<string, unknown>>;
  readonly clients: number;
}

/**
 * Reads and shows the teams.
 *
 * @returns Their names.
 */
export async function readTeams(connection: Connection): Promise<readonly string[]> {
  const teams = await loadTeams(connection);
  byId("teams-title").hidden = teams.length === 0;
  byId("teams").replaceChildren(...teams.slice(0, maxShown).map(teamRow));
  return teams.map(({ name }) => name);
}

async function loadTeams(connection: Connection): Promise<readonly Team[]> {
  try {
    return (await (await connection.request("/mesh/teams")).json()).data;
  } catch (error) {
    if (error instanceof ResponseError) return [];
    throw error;
  }
}

function teamRow({ name, pools, limits, clients }: Team): HTMLElement {
  const facts = describeLimits({ ...limits, pools });
  return el(
    "li",
    {},
    el("div", { class: "fact" }, el("b", {}, el("bdi", {}, name)), el("span", {}, counted(clients, "client"))),
    el("small", { class: "muted" }, facts.length === 0 ? "no limits but budgets" : facts.join(" · ")),
  );
}
