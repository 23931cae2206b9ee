/**
 * The dashboard. It reads `/mesh/status` when it connects and after an event that changes a state, `/mesh/usage` when it
 * connects, and follows `/mesh/events`. Between records it sends nothing.
 * @module
 */
import { isOfNewClient, showBudgets, withCost } from "./accounts.ts";
import { Cache } from "./cache.ts";
import { Clients } from "./clients.ts";
import { Connection, ResponseError, TokenError } from "./connection.ts";
import { Decisions } from "./decisions.ts";
import { byId, setText } from "./dom.ts";
import { span } from "./format.ts";
import { askForToken } from "./gate.ts";
import { showHealth, showTitle } from "./health.ts";
import { showFound, waitToRetry } from "./lost.ts";
import { notify } from "./notice.ts";
import { Playground } from "./playground.ts";
import { Pools } from "./pools.ts";
import { Processes } from "./processes.ts";
import { Providers } from "./providers.ts";
import type { MeshRecord, MeshStatus } from "./records.ts";
import { Series } from "./series.ts";
import { Spend } from "./spend.ts";
import type { OverrideTarget } from "./state_row.ts";
import { addThemeButton } from "./theme.ts";
import { Traffic } from "./traffic.ts";

/** `/mesh/status` is read once in this time at most, ms. */
const statusIntervalMs = 500;

/** The page is drawn once in this time at most, ms: many records cause one drawing. */
const drawIntervalMs = 200;

const connection = new Connection();
const series = new Series(connection.coverage);
const traffic = new Traffic(series, () => draw());
const decisions = new Decisions();
const spend = new Spend(connection, () => drawSoon());
const clients = new Clients(connection, () => drawSoon());
const processes = new Processes(connection, () => drawSoon());
const cache = new Cache(connection, () => drawSoon());
const playground = new Playground(connection);
const pools = new Pools(override);
const providers = new Providers(override);
let status: MeshStatus | undefined;
let receivedAt = 0;
/** Later requests are not in the sums that were read. */
let spendReadAt = Infinity;
/** When the connection was lost; what is shown stands still from then on. */
let lostAt: number | undefined;
let isDrawing = false;
let statusTimer: number | undefined;
let statusAt = -Infinity;

function draw(): void {
  isDrawing = false;
  if (status === undefined || document.hidden) return;
  const now = lostAt ?? connection.now;
  const uptimeMs = status.uptime_seconds * 1000 + now - receivedAt;
  setText(byId("about"), `Version ${status.version}, up for ${span(uptimeMs)}`);
  showHealth(status, now);
  traffic.draw(now);
  cache.draw();
  spend.draw(now);
  decisions.draw();
  pools.draw(status, now);
  providers.draw(status, now);
  showBudgets(status, now);
  clients.draw(status);
  processes.draw(now);
  if (lostAt !== undefined) showTitle("Disconnected");
  else if (hasOverdueRecovery(status, now)) refreshSoon();
}

/** Whether a standby has ended since the status was read: not every recovery has an event. */
function hasOverdueRecovery({ pools }: MeshStatus, now: number): boolean {
  const ends = Object.values(pools).flatMap(({ models }) => models.flatMap(({ retryAt }) => retryAt ?? []));
  return ends.some((end) => Date.parse(end) < now - 300 && Date.parse(end) > receivedAt);
}

function drawSoon(): void {
  if (isDrawing) return;
  isDrawing = true;
  setTimeout(draw, drawIntervalMs);
}

async function refresh(): Promise<void> {
  statusAt = performance.now();
  status = await connection.status();
  receivedAt = connection.now;
  document.body.dataset.role = status.role;
  playground.setModels(status);
  drawSoon();
}

function refreshSoon(): void {
  if (statusTimer !== undefined) return;
  const waitMs = Math.max(0, statusAt + statusIntervalMs - performance.now());
  statusTimer = setTimeout(() => {
    statusTimer = undefined;
    refresh().catch(() => {}); // a lost connection ends the stream, too, and is shown then
  }, waitMs);
}

function onRecords(records: readonly MeshRecord[]): void {
  for (const record of records) {
    if (record.type === "event" && record.event !== "rotation") refreshSoon();
    if (record.type !== "routing") continue;
    series.add(record);
    playground.onRecord(record);
    if (Date.parse(record.timestamp) > spendReadAt) spend.add(record);
    if (status === undefined || Date.parse(record.timestamp) <= receivedAt) continue;
    if (isOfNewClient(status, record)) refreshSoon();
    else status = withCost(status, record);
  }
  decisions.add(records);
  drawSoon();
}

async function override(action: "activate" | "deactivate", target: OverrideTarget): Promise<void> {
  const { kind, name } = target;
  try {
    const response = await connection.post(`/mesh/${action}`, { [kind]: name });
    const { status } = await response.json();
    await refresh();
    draw();
    if (action === "deactivate") {
      const undo = () => override("activate", target);
      notify(`The ${kind} ${name} is in standby until it is activated`, "good", undo);
    } else if (status === "active") notify(`The ${kind} ${name} is active`, "good");
    else notify(`The ${kind} ${name} stays in standby: the reason that is shown still holds`, "bad");
  } catch (error) {
    notify((error as Error).message, "bad");
  }
}

function show(state: "connecting" | "live" | "lost", text: string): void {
  const element = byId("connection");
  element.dataset.state = state;
  setText(element, text);
}

/** Reads until the stream ends; throws when it cannot begin. */
async function follow(onLive: () => void): Promise<void> {
  if (await connection.lacksToken()) throw new TokenError("The proxy requires a token");
  await refresh();
  await Promise.all([spend, clients, processes, cache].map((part) => part.read(status!)));
  spendReadAt = connection.now;
  byId("app").hidden = false;
  byId("forget").hidden = !connection.hasToken;
  await connection.follow({
    onRecords,
    onOpen(process) {
      processes.current = process;
      lostAt = undefined;
      document.body.classList.remove("stale");
      showFound();
      show("live", "Live");
      onLive();
    },
  });
}

async function onLost(retries: number, reason: string): Promise<void> {
  lostAt ??= connection.now;
  show("lost", "Connection lost");
  document.body.classList.add("stale");
  drawSoon();
  await waitToRetry({ retries, reason, knownAt: status && lostAt });
}

async function signIn(problem: string): Promise<void> {
  showFound();
  show("connecting", "A token is needed");
  byId("app").hidden = true;
  await askForToken(connection, problem);
  if (status !== undefined) location.reload(); // another token may not see what is in this page
}

async function run(): Promise<never> {
  for (let retries = 0;; retries++) {
    let reason = "The proxy has ended the connection";
    try {
      await follow(() => retries = 0);
    } catch (error) {
      if (error instanceof TokenError) {
        await signIn(error.message);
        retries = -1;
        continue;
      }
      reason = error instanceof ResponseError ? error.message : "The proxy does not respond";
    }
    await onLost(retries, reason);
  }
}

setText(byId("base-url"), connection.apiUrl);
addThemeButton();
byId("forget").addEventListener("click", () => {
  connection.setToken("");
  location.reload();
});
document.addEventListener("visibilitychange", () => drawSoon());
setInterval(drawSoon, 1000);
run().catch(reportError);
