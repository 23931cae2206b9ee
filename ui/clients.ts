/**
 * The clients: what each has sent and spent, and for administrators those made at runtime with their limits, which
 * they create, change, give another token and revoke.
 * @module
 */
import { describeLimits, type ManagedClient } from "./client_fields.ts";
import { openClientForm, type Send } from "./client_form.ts";
import { type Connection, ResponseError } from "./connection.ts";
import { ask, showToken } from "./dialogs.ts";
import { byId, el, setText } from "./dom.ts";
import { count, counted, usd } from "./format.ts";
import { notify } from "./notice.ts";
import type { ClientTotals, MeshStatus } from "./records.ts";
import { readTeams } from "./teams.ts";

/** Clients that are shown at once; the others are found by their names. */
const maxShown = 60;
/** From this number on there is a field for the search. */
const searchedFrom = 12;

const path = "/mesh/clients";

/** For how long the token before a new one can be accepted. */
const graceTimes = { "": "no longer", "1h": "for an hour", "24h": "for a day", "7d": "for a week" };

/** One client as it is shown. */
interface ShownClient {
  readonly name: string;
  readonly managed?: ManagedClient | undefined;
  readonly totals?: ClientTotals | undefined;
}

/** A row, updated in place: its buttons keep the focus. */
interface Row {
  readonly element: HTMLElement;
  readonly update: (client: ShownClient) => void;
}

/** The section of clients. */
export class Clients {
  readonly #connection: Connection;
  readonly #redraw: () => void;
  #managed: readonly ManagedClient[] = [];
  #hasTeams = false;
  /** Names of the teams. */
  #teams: readonly string[] = [];
  /** Undefined where clients cannot be made at runtime. */
  #problem: string | undefined = "";
  #rows = new Map<string, Row>();
  #shape = "";

  constructor(connection: Connection, redraw: () => void) {
    this.#connection = connection;
    this.#redraw = redraw;
    byId("client-new").addEventListener("click", () => this.#openForm(undefined, (body) => this.#create(body)));
    byId("client-search").addEventListener("input", redraw);
  }

  /** Reads the clients that are managed at runtime; a proxy without a storage has none. */
  async read({ daily_usage: isKept = false, teams: hasTeams = false, role }: MeshStatus): Promise<void> {
    this.#hasTeams = hasTeams && role !== "client";
    await this.#readTeams();
    this.#managed = [];
    this.#problem = isKept && role !== "client" ? "" : undefined;
    if (this.#problem === undefined) return;
    try {
      this.#managed = (await (await this.#connection.request(path)).json()).data;
    } catch (error) {
      if (!(error instanceof ResponseError)) throw error;
      this.#problem = error.message;
    }
  }

  /** Shows the clients. */
  draw({ clients = [] }: Pick<MeshStatus, "clients">): void {
    const all = this.#merge(clients);
    const search = byId<HTMLInputElement>("client-search");
    const found = all.filter(({ name }) => name.toLowerCase().includes(search.value.trim().toLowerCase()));
    const shown = found.slice(0, maxShown);
    byId("clients-card").hidden = all.length + this.#teams.length === 0 && this.#problem === undefined;
    byId("client-new").hidden = this.#problem !== "";
    search.hidden = all.length < searchedFrom;
    const more = found.length > shown.length
      ? `${count(found.length - shown.length)} more: search for their names.`
      : "";
    const empty = all.length === 0 ? "No client has a name or limits of its own yet." : "No client matches.";
    setText(byId("clients-empty"), this.#problem || (shown.length === 0 ? empty : more));
    this.#arrange(shown);
    for (const client of shown) this.#rows.get(getKey(client))!.update(client);
  }

  /** Those made at runtime, then those of the configuration that have sent something. */
  #merge(totals: readonly ClientTotals[]): readonly ShownClient[] {
    const byKey = new Map(totals.map((each) => [each.id ?? each.name, each]));
    const managed = this.#managed.map((client) => ({
      name: client.name,
      managed: client,
      totals: byKey.get(client.id),
    }));
    const ids = new Set<string>(this.#managed.map(({ id }) => id));
    const others = totals.filter(({ id, name }) => !ids.has(id ?? name));
    return [...managed, ...others.map((each) => ({ name: each.name, totals: each }))];
  }

  #arrange(shown: readonly ShownClient[]): void {
    const shape = JSON.stringify(shown.map(getKey));
    if (shape === this.#shape) return;
    this.#shape = shape;
    const before = this.#rows;
    this.#rows = new Map(
      shown.map((client) => [getKey(client), before.get(getKey(client)) ?? this.#createRow(client)]),
    );
    byId("clients").replaceChildren(...[...this.#rows.values()].map(({ element }) => element));
  }

  #createRow({ name, managed }: ShownClient): Row {
    const [cost, sums, limits] = [el("span"), el("small", { class: "muted" }), el("small")];
    const about = managed === undefined ? [] : [this.#createButtons(managed)];
    const title = el("div", { class: "fact" }, el("b", {}, el("bdi", {}, name)), cost);
    const element = el("li", {}, title, sums, limits, ...about);
    const update = ({ managed, totals }: ShownClient) => {
      setText(cost, usd(totals?.cost_usd ?? 0));
      setText(sums, describeTotals(totals));
      setText(limits, managed === undefined ? "" : describe(managed));
    };
    return { element, update };
  }

  #createButtons({ id, name }: ManagedClient): HTMLElement {
    const current = () => this.#managed.find((client) => client.id === id)!;
    const button = (verb: string, act: () => Promise<void> | void) => {
      const one = el("button", { type: "button", class: "small", "aria-label": `${verb} ${name}` }, verb);
      one.addEventListener("click", () => {
        Promise.resolve(act()).catch((error) => notify(error.message, "bad"));
      });
      return one;
    };
    return el(
      "span",
      { class: "buttons admin" },
      button("Edit", () => this.#openForm(current(), (body) => this.#change(id, body))),
      button("New token", () => this.#rotate(current())),
      button("Revoke", () => this.#revoke(current())),
    );
  }

  #openForm(before: ManagedClient | undefined, send: Send): void {
    openClientForm({ before, teams: this.#teams, send });
  }

  async #create(body: Readonly<Record<string, unknown>>): Promise<void> {
    const { name, token } = await (await this.#connection.post(path, body)).json();
    await this.#reread();
    if (token === undefined) notify(`The client ${name} is there, with the token that it has`, "good");
    else setTimeout(() => showToken(name, token)); // once the form is closed
  }

  async #change(id: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    if (Object.keys(body).length === 0) return;
    await this.#connection.post(`${path}/${id}`, body, { method: "PATCH" });
    await this.#reread();
    notify("The change holds on every proxy within a second", "good");
  }

  async #rotate({ id, name }: ManagedClient): Promise<void> {
    const grace = await ask({
      title: `A new token for ${name}?`,
      text: "The new token is shown once.",
      verb: "Make a new token",
      choice: { label: "The present token is accepted", options: graceTimes },
    });
    if (grace === undefined) return;
    const body = grace === "" ? {} : { grace };
    const { token } = await (await this.#connection.post(`${path}/${id}/rotate`, body)).json();
    await this.#reread();
    showToken(name, token);
  }

  async #revoke({ id, name }: ManagedClient): Promise<void> {
    const text = "Its token is rejected from then on. This cannot be undone; its usage stays.";
    if (await ask({ title: `Revoke ${name}?`, text, verb: "Revoke" }) === undefined) return;
    await this.#connection.request(`${path}/${id}`, { method: "DELETE" });
    await this.#reread();
    byId("client-new").focus(); // the button that was pressed is gone
    notify(`The client ${name} is revoked`, "good");
  }

  async #readTeams(): Promise<void> {
    this.#teams = this.#hasTeams ? await readTeams(this.#connection) : [];
  }

  async #reread(): Promise<void> {
    await this.#readTeams();
    this.#managed = (await (await this.#connection.request(path)).json()).data;
    this.#redraw();
  }
}

/** A client that was revoked keeps its totals, and has another row, without buttons. */
function getKey({ name, managed, totals }: ShownClient): string {
  return JSON.stringify([totals?.id ?? managed?.id ?? name, managed !== undefined]);
}

function describeTotals(totals: ClientTotals | undefined): string {
  if (totals === undefined) return "no request yet";
  return `${counted(totals.requests, "request")} · ${count(totals.tokens_in + totals.tokens_out)} tokens`;
}

function describe(client: ManagedClient): string {
  const { expires_at: end, previous_token_ends_at: grace, team, notes } = client;
  const facts = [
    ...(typeof team === "string" ? [`team ${team}`] : []),
    ...describeLimits(client),
    ...(typeof end === "string" ? [`expires ${end.slice(0, 10)}`] : []),
    ...(typeof grace === "string" ? [`its previous token ends ${grace.slice(0, 16).replace("T", " ")} UTC`] : []),
    ...(typeof notes === "string" ? [notes] : []),
  ];
  return facts.length === 0 ? "no limits" : facts.join(" · ");
}
