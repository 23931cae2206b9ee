/**
 * Load generator for what wrk cannot measure: raw keep-alive sockets on Node, or on Deno if Node is not installed.
 *
 * Argument: JSON with `port`, `secure`, `path`, `headers`, `body`, `mode` and the parameters of the mode. Prints a line
 * of JSON.
 * - `closed`: closed loop; each of `connections` sends sequential requests for `seconds`, the first ones spread over
 *   `scatterMs`.
 * - `open`: open loop; `rate` requests per second at random times for `seconds`, regardless of pending responses.
 * - `hold`: `open <n>` on standard input opens streams up to a total of n, and prints a line once each has received a
 *   token.
 * - `leave`: `tries` clients that disconnect after `afterMs`; prints the times of the disconnects.
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";
import { Connection, now, requestBytes } from "./load_connection.js";

const options = JSON.parse(process.argv[2]);
const bytes = requestBytes(options);
const result = { requests: 0, failed: 0, events: 0, seconds: 0, latencies: [], firsts: [], lates: [] };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const first = (ms) => result.firsts.push(ms);

function count({ ok, ms, events }) {
  if (!ok) return void result.failed++;
  result.requests++;
  result.events += events;
  result.latencies.push(ms);
}

function percentile(samples, share) {
  return samples.sort((a, b) => a - b)[Math.min(samples.length - 1, Math.floor(samples.length * share))] ?? null;
}

function print() {
  const { latencies, firsts, lates, ...counts } = result;
  const shares = (samples) => ({
    p50: percentile(samples, 0.5),
    p90: percentile(samples, 0.9),
    p99: percentile(samples, 0.99),
  });
  process.stdout.write(
    `${
      JSON.stringify({ ...counts, ...shares(latencies), first: shares(firsts), late: percentile(lates, 0.99) ?? 0 })
    }\n`,
  );
}

async function closed({ connections, seconds, scatterMs = 0 }) {
  const from = now();
  const until = from + scatterMs + seconds * 1000;
  await Promise.all(Array.from({ length: connections }, async (_, index) => {
    const connection = new Connection(options);
    await sleep(scatterMs * index / connections);
    for (let failures = 0; now() < until && failures < 20;) {
      const answer = await new Promise((done) => connection.send(bytes, { first, done }));
      count(answer);
      if (!answer.ok) failures++;
    }
    connection.leave();
  }));
  result.seconds = (now() - from) / 1000;
}

/**
 * Timers have a resolution of a millisecond: requests due by then are sent together. Their latency is measured from
 * that time, and their delay is recorded separately.
 */
async function open({ rate, seconds }) {
  const idle = [];
  const from = now();
  const until = from + seconds * 1000;
  const under = new Set();
  for (let due = from; due < until;) {
    for (; due <= now(); due += -Math.log(1 - Math.random()) * 1000 / rate) {
      const connection = idle.pop() ?? new Connection(options);
      under.add(connection);
      result.lates.push(now() - due);
      connection.send(bytes, {
        done(answer) {
          count(answer);
          under.delete(connection);
          idle.push(connection);
        },
      });
    }
    await sleep(1);
  }
  for (let waits = 0; under.size > 0 && waits < 200; waits++) await sleep(10);
  result.failed += under.size;
  result.seconds = (now() - from) / 1000;
}

async function hold() {
  let held = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    const wanted = Number(line.slice("open ".length));
    let failed = 0;
    while (held < wanted && failed < 10) {
      const wave = Array.from({ length: Math.min(100, wanted - held) }, () =>
        new Promise((resolve) => {
          const done = () => resolve(false);
          new Connection(options).send(bytes, { first: () => resolve(true), done });
        }));
      const opened = (await Promise.all(wave)).filter(Boolean).length;
      held += opened;
      failed += wave.length - opened;
    }
    process.stdout.write(`${JSON.stringify({ held, failed })}\n`);
  }
}

async function leave({ tries, afterMs, waitMs }) {
  const left = [];
  for (let index = 0; index < tries; index++) {
    const connection = new Connection(options);
    connection.send(bytes, { done: () => result.failed++ });
    await sleep(afterMs);
    left.push(now());
    connection.leave();
    await sleep(waitMs);
  }
  process.stdout.write(`${JSON.stringify({ left, failed: result.failed })}\n`);
}

const modes = { closed, open, hold, leave };
await modes[options.mode](options);
if (options.mode === "closed" || options.mode === "open") print();
process.exit(0);
