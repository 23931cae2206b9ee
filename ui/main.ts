/**
 * The dashboard. It reads `/mesh/status` when it starts, after a change of state and after a broken connection, and
 * `/mesh/events` all the time: between records it asks for nothing.
 * @module
 */
import { Accounts, withCost } from "./accounts.ts";
import { AnswerError, Connection, TokenError } from "./connection.ts";
import { Decisions } from "./decisions.ts";
import { byId, setText } from "./dom.ts";
import { span } from "./format.ts";
import { askForToken } from "./gate.ts";
import { Playground } from "./playground.ts";
import { Pools } from "./pools.ts";
import type { MeshRecord, MeshStatus } from "./records.ts";
import { Series } from "./series.ts";
import { addThemeButton } from "./theme.ts";
import { Traffic } from "./traffic.ts";

/** States are asked for once in this time at most, ms. */
const statusIntervalMs = 500;

/** Waits before the next try to connect, ms. */
const backoffMs = [500, 1000, 2000, 4000, 8000];

const connection = new Connection();
const series = new Series();
const traffic = new Traffic(series, () => draw());
const decisions = new Decisions();
const playground = new Playground(connection);
const pools = new Pools(override);
const accounts = new Accounts(override);
let status: MeshStatus | undefined;
let receivedAt = 0;
let isDrawing = false;
let statusTimer: number | undefined;
let statusAt = -Infinity;

function draw(): void {
  isDrawing = false;
  if (status === undefined || document.hidden) return;
  const { now } = connection;
  const uptimeMs = status.uptime_seconds * 1000 + now - receivedAt;
  setText(byId("about"), `Version ${status.version}, up for ${span(uptimeMs)}`);
  traffic.draw(now, uptimeMs / 1000);
  decisions.draw();
  drawStatus(status, now);
}

function drawStatus(shown: MeshStatus, now: number): void {
  pools.draw(shown, now);
  accounts.draw(shown, now);
  const ends = Object.values(shown.pools).flatMap(({ models }) => models.flatMap(({ retryAt }) => retryAt ?? []));
  if (ends.some((end) => Date.parse(end) < now - 300 && Date.parse(end) > receivedAt)) refreshSoon();
}

/** Many records cause one drawing. */
function drawSoon(): void {
  if (isDrawing) return;
  isDrawing = true;
  setTimeout(draw, 200);
}

async function refresh(): Promise<void> {
  statusAt = performance.now();
  status = await connection.status();
  receivedAt = connection.now;
  playground.setModels(status);
  drawSoon();
}

function refreshSoon(): void {
  if (statusTimer !== undefined) return;
  const waitMs = Math.max(0, statusAt + statusIntervalMs - performance.now());
  statusTimer = setTimeout(() => {
    statusTimer = undefined;
    refresh().catch(() => {}); // the connection's own loop shows what is wrong
  }, waitMs);
}

function onRecords(records: readonly MeshRecord[]): void {
  for (const record of records) {
    if (record.type === "event" && record.event !== "rotation") refreshSoon();
    if (record.type !== "routing") continue;
    series.add(record);
    playground.onRecord(record);
    if (status !== undefined && Date.parse(record.timestamp) > receivedAt) status = withCost(status, record);
  }
  decisions.add(records);
  drawSoon();
}

async function override(action: "activate" | "deactivate", target: Readonly<Record<string, string>>): Promise<void> {
  const problem = byId("action");
  problem.textContent = "";
  try {
    await connection.post(`/mesh/${action}`, target);
    await refresh();
  } catch (error) {
    problem.textContent = (error as Error).message;
  }
}

function show(state: "connecting" | "live" | "lost", text: string): void {
  const element = byId("connection");
  element.dataset.state = state;
  setText(element, text);
}

/** Reads until the stream ends; throws when it cannot begin. */
async function follow(onOpen: () => void): Promise<void> {
  await refresh();
  byId("app").hidden = false;
  byId("forget").hidden = !connection.hasToken;
  await connection.follow(() => {
    show("live", "Live");
    onOpen();
  }, onRecords);
}

async function waitBeforeRetry(retries: number): Promise<void> {
  const waitMs = backoffMs[Math.min(retries, backoffMs.length - 1)]!;
  show("lost", `Connection lost, next try in ${span(waitMs)}`);
  await new Promise((resolve) => setTimeout(resolve, waitMs));
}

async function run(): Promise<never> {
  for (let retries = 0;; retries++) {
    try {
      await follow(() => retries = 0);
    } catch (error) {
      if (error instanceof TokenError) {
        show("connecting", "A token is needed");
        byId("app").hidden = true;
        await askForToken(connection, error.message);
        retries = -1;
        continue;
      }
      if (error instanceof AnswerError) byId("action").textContent = error.message;
    }
    await waitBeforeRetry(retries);
  }
}

addThemeButton(() => traffic.recolor());
byId("forget").addEventListener("click", () => {
  connection.setToken("");
  location.reload();
});
document.addEventListener("visibilitychange", () => drawSoon());
setInterval(drawSoon, 1000);
void run();
