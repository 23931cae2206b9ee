/** Processes on one port that count together: `modelmesh proxy --workers`. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import process from "node:process";
import { behind } from "../support/_failover.ts";
import { until } from "../support/patience.ts";
import { tally } from "../support/_tuned.ts";
import { Gate, json, startUpstream } from "../support/upstream.ts";

import { admin, atOnce, isLinux, killOne, token, withWorkers, workerResponse } from "../support/_workers.ts";

const codeOf = (body: string): string | undefined => JSON.parse(body).error?.code;

(isLinux ? describe : describe.skip)("Workers on one port", () => {
  it("admit as many requests of a client as its rpm says, to the request, also when one is killed", async () => {
    await using upstream = await startUpstream(workerResponse);
    await withWorkers({ upstream, client: { rpm: 20 } }, async (workers) => {
      assertEquals(await atOnce(60, () => workers.chat()), { 200: 20, rate_limit_exceeded: 40 });
      await killOne(workers);
      assertEquals(await atOnce(10, () => workers.chat()), { rate_limit_exceeded: 10 });
      assertEquals(upstream.calls, 20);
      assertEquals((await workers.chat(admin)).status, 200);
    });
  });

  it("spend one budget, to the dollar, also when they are killed one after the other", async () => {
    await using upstream = await startUpstream(workerResponse);
    await withWorkers({ upstream, config: { budget: { daily_limit: 30 } } }, async (workers) => {
      assertEquals(await atOnce(10, () => workers.chat()), { 200: 10 });
      await killOne(workers);
      await killOne(workers);
      assertEquals(await atOnce(60, () => workers.chat()), { 200: 20, budget_exceeded: 40 });
      assertEquals(upstream.calls, 30);
    });
  });

  it("count together what clients of a team spend, send and have in flight, also when one is killed", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream(workerResponse);
    const config = {
      teams: { red: { budget: { daily_limit: 12 }, concurrent: 3 } },
      users: { rpm: 50 },
    };
    await withWorkers({ upstream, client: { team: "red" }, config }, async (workers) => {
      upstream.follow(behind(gate, workerResponse));
      let ended = 0;
      const first = atOnce(20, async () => {
        const response = await workers.chat();
        ended++;
        return response;
      });
      await gate.reached(3);
      await until(() => ended === 17, () => `${ended} of 17 are refused`);
      await until(
        async () => JSON.parse(await workers.ask("GET /mesh/teams")).data[0].in_flight === 3,
        "all know of 3",
      );
      gate.openAll();
      assertEquals(await first, { 200: 3, rate_limit_exceeded: 17 });
      await killOne(workers);
      const statuses: number[] = [];
      while (statuses.length < 12) statuses.push((await workers.chat()).status);
      assertEquals(tally(statuses), { 200: 9, 429: 3 });
      assertEquals(upstream.calls, 12);
    });
  });

  for (const storage of [undefined, { connector: "mesh.memory.v1" }]) {
    const memory = storage === undefined ? "in the memory of processes" : `in ${storage.connector}`;
    it(`count what their caches hold ${memory} and have served together, and empty all of them at once`, async () => {
      await using upstream = await startUpstream(workerResponse);
      await withWorkers({ upstream, config: { cache: { storage } } }, async (workers) => {
        const body = JSON.stringify({ model: "chat", messages: [{ role: "user", content: "Hi" }], temperature: 0 });
        const stats = async () => JSON.parse(await workers.ask("GET /mesh/cache"));
        let sent = 0;
        await until(async () => {
          sent++;
          await workers.ask("POST /v1/chat/completions", body);
          return (await stats()).entries === 2;
        }, "each of the two workers has kept it");
        const { hits, misses, saved_usd } = await stats();
        assertEquals([hits, misses, saved_usd, upstream.calls], [sent - 2, 2, sent - 2, 2]);
        assertEquals(await workers.ask("DELETE /mesh/cache"), '{"cleared":2}');
        await until(async () => (await stats()).entries === 0, "all of them are empty");
        await until(async () => {
          await workers.ask("POST /v1/chat/completions", body);
          return upstream.calls === 4;
        }, "both have asked the provider again");
      });
    });
  }

  it("print nothing but JSON lines with --log-format json, from the start to the end, also when one is killed", async () => {
    await using upstream = await startUpstream(workerResponse);
    let err = "";
    await withWorkers({ upstream, args: ["--log-format", "json"] }, async (workers) => {
      assertEquals((await workers.chat()).status, 200);
      await killOne(workers);
      assertEquals((await workers.chat()).status, 200);
      workers.child.kill("SIGHUP");
      await until(() => workers.child.err.includes("Reloaded"), () => workers.child.err);
      workers.child.kill("SIGTERM");
      await workers.child.code;
      err = workers.child.err;
    });
    const types = err.trimEnd().split("\n").map((line) => JSON.parse(line).type);
    assertEquals(new Set(types), new Set(["trace", "routing"])); // a killed process may lose its last record
  });

  it("report each step of a budget once, by webhook", async () => {
    await using upstream = await startUpstream(workerResponse);
    await using hook = await startUpstream(json({}));
    const routing = { connector: "mesh.webhook.v1", url: hook.url };
    const observability = { routing, events: { filter: ["budget"] } };
    await withWorkers({ upstream, config: { budget: { daily_limit: 20 }, observability } }, async (workers) => {
      for (let asked = 0; asked < 20; asked++) assertEquals((await workers.chat()).status, 200);
    });
    const steps = hook.requests.map(({ body }) => JSON.parse(body).metadata.step);
    assertEquals(steps.toSorted(), [0.5, 0.8, 1]); // those that end have sent what they had
  });

  it("give back what a killed one had reserved of a budget", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream({
      play: (exchange) => gate.pass().then(() => workerResponse.play(exchange)),
    });
    await withWorkers({ upstream, config: { budget: { daily_limit: 5 } } }, async (workers) => {
      const open = Promise.all([1, 2, 3, 4, 5].map(() => workers.chat()));
      await until(() => upstream.calls === 5);
      assertEquals((await workers.chat()).code, "budget_exceeded");
      await killOne(workers);
      await killOne(workers);
      assertEquals(tally((await open).map(({ status }) => status)), { 0: 5 });
      gate.openAll();
      assertEquals(await atOnce(8, () => workers.chat()), { 200: 5, budget_exceeded: 3 });
    });
  });

  it("keep what a stopped one has reserved: it is not a dead one", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream({
      play: (exchange) => gate.pass().then(() => workerResponse.play(exchange)),
    });
    await withWorkers({ upstream, config: { budget: { daily_limit: 10 } } }, async (workers) => {
      const first = Array.from({ length: 6 }, () => workers.chat());
      await until(() => upstream.calls === 6);
      const [stopped] = workers.pids();
      process.kill(stopped!, "SIGSTOP");
      const seen: (string | number)[] = [];
      const more: Promise<unknown>[] = [];
      await until(() => {
        if (more.length < 200) more.push(workers.chat().then(({ status, code }) => seen.push(code ?? status)));
        return seen.includes("budget_exceeded"); // those of the stopped one wait
      }, "the other one has reserved what was left").finally(() => process.kill(stopped!, "SIGCONT"));
      await until(() => upstream.calls === 10); // a refusal may be there before what was admitted has arrived
      gate.openAll();
      await Promise.all([...first, ...more]);
      assertEquals([upstream.calls, tally((await Promise.all(first)).map(({ status }) => status))], [10, { 200: 6 }]);
    });
  });

  it("serve as many requests at once as max_concurrent says, wherever they are", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream({
      play: (exchange) => gate.pass().then(() => workerResponse.play(exchange)),
    });
    const proxy = { max_concurrent: 6, auth: { tokens: [token] } };
    await withWorkers({ upstream, config: { proxy } }, async (workers) => {
      const seen: (string | number)[] = [];
      const ask = () => workers.chat().then(({ status, code }) => seen.push(code ?? status));
      const first = Promise.all(Array.from({ length: 20 }, ask));
      await until(() => upstream.calls === 6 && seen.length === 14);
      await killOne(workers); // its requests are lost, their slots are free
      const lost = seen.length - 14;
      const second = Promise.all(Array.from({ length: 20 }, ask));
      await until(() => upstream.calls === 6 + lost && seen.length === 34);
      gate.openAll();
      await Promise.all([first, second]);
      assertEquals(tally(seen.filter((one) => one !== 0)), { 200: 6, overloaded: 14 + 20 - lost });
    });
  });

  it("admit requests without a body by the same counts, and go on after they refused some", async () => {
    const gate = new Gate();
    await using upstream = await startUpstream({
      play: (exchange) => gate.pass().then(() => workerResponse.play(exchange)),
    });
    const proxy = { max_concurrent: 2, auth: { tokens: [{ token, name: "web", rpm: 2 }, admin] } };
    await withWorkers({ upstream, config: { proxy } }, async (workers) => {
      const files = (as: string) => workers.ask("GET /v1/files", "", as).then(codeOf);
      const open = Promise.all([workers.chat(admin), workers.chat(admin)]);
      await until(() => upstream.calls === 2);
      assertEquals(await files(admin), "overloaded");
      gate.openAll();
      assertEquals((await open).map(({ status }) => status), [200, 200]);
      const seen = [];
      for (let asked = 0; asked < 5; asked++) seen.push(await files(token));
      assertEquals(seen, [undefined, undefined, ...Array(3).fill("rate_limit_exceeded")]);
      assertEquals(workers.child.err.includes("exited"), false, workers.child.err);
    });
  });

  it("lose no request but those of the one that is killed, and never spend more than the limit", async () => {
    await using upstream = await startUpstream(workerResponse);
    await withWorkers({ upstream, workers: 3, config: { budget: { daily_limit: 200 } } }, async (workers) => {
      const seen: number[] = [];
      let isOver = false;
      const client = async () => {
        while (!isOver) seen.push((await workers.chat()).status);
      };
      const clients = Array.from({ length: 6 }, client);
      await until(() => seen.length > 20);
      for (let kills = 0; kills < 3; kills++) await killOne(workers);
      const after = seen.length;
      await until(() => seen.length > after + 20);
      isOver = true;
      await Promise.all(clients);
      const lost = seen.filter((status) => status === 0).length;
      assert(lost <= 3 * 6, `${lost} requests were lost`); // at most those that were open
      assert(seen.filter((status) => status === 200).length <= 200);
      assert(upstream.calls <= 200 + lost, `${upstream.calls} calls, ${lost} lost`);
      assertEquals(seen.filter((status) => ![0, 200, 429].includes(status)), []);
    });
  });

  it("answer for all: metrics, status, records, and what an administrator does; also what a killed one has done", async () => {
    await using upstream = await startUpstream(workerResponse);
    await withWorkers({ upstream }, async (workers) => {
      const hasCounted = async (count: number) =>
        JSON.parse(await workers.ask("GET /mesh/status")).clients?.[0].requests === count;
      assertEquals(await atOnce(20, () => workers.chat()), { 200: 20 });
      await until(() => hasCounted(20), "they are counted"); // some ms later
      await killOne(workers);
      assertEquals(await atOnce(10, () => workers.chat()), { 200: 10 });
      await until(() => hasCounted(30), "they are counted");
      const ids = new Set<string>();
      for (let turn = 0; turn < 8; turn++) { // each over a connection of its own, to any worker
        const metrics = await workers.ask("GET /metrics");
        assertMatch(
          metrics,
          /modelmesh_requests_total\{pool="chat",model="a",provider="a",client="web",status="200"\} 30\n/,
        );
        assertMatch(metrics, /modelmesh_requests_in_flight 0\n/);
        const status = JSON.parse(await workers.ask("GET /mesh/status"));
        assertEquals([status.clients[0].name, status.clients[0].requests, status.in_flight], ["web", 30, 0]);
        ids.add(await firstRecords(workers.port, 31));
      }
      assertEquals(ids.size, 1);
      await workers.ask("POST /mesh/deactivate", '{"model":"a"}');
      const isDown = async () => JSON.parse(await workers.ask("GET /mesh/status")).pools.chat.active === 0;
      await until(async () => (await Promise.all(Array.from({ length: 8 }, isDown))).every(Boolean), "all know it");
      assertEquals(await atOnce(8, () => workers.chat()), { no_active_model: 8 });
    });
  });
});

/** The ids of the first records, as some worker streams them. */
async function firstRecords(port: number, count: number): Promise<string> {
  const leave = new AbortController();
  const headers = { authorization: `Bearer ${admin}`, "last-event-id": "0", connection: "close" };
  const { body } = await fetch(`http://127.0.0.1:${port}/mesh/events`, { headers, signal: leave.signal });
  let text = "";
  for await (const bytes of body!) {
    text += new TextDecoder().decode(bytes);
    if (text.split('"type":"routing"').length > 30) break;
  }
  leave.abort();
  return [...text.matchAll(/^id: (\d+)$/gm)].slice(0, count).map(([, id]) => id).join();
}
