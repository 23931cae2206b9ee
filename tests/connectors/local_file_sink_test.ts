/** mesh.local-file.v1: JSON lines, put aside by size and day, kept for a time. */
import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { localFileObservability } from "../../connectors/observability/local_file.ts";
import type { MeshEvent } from "../../src/contracts/events.ts";
import type { Disk } from "../../src/contracts/runtime.ts";
import { ConfigError } from "../../src/errors.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { type FakeClock, fakeClock, testRuntime } from "../../src/runtime/test.ts";

const noon = Date.UTC(2026, 8, 1, 12);

function event(id: string): MeshEvent {
  return { type: "event", event: "health", id, timestamp: "t", provider: "p", reason: "r", metadata: {} };
}

/** A folder of its own, and a clock. */
async function inFolder(test: (folder: string, clock: FakeClock, disk: Disk) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder, fakeClock({ now: noon }), denoRuntime().disk!);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function sinkOn(settings: Readonly<Record<string, unknown>>, clock: FakeClock, disk: Disk) {
  return localFileObservability.create(settings, { ...testRuntime({ clock }), disk });
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("the file sink appends a JSON line for each record, in order, in a folder that it makes for its owner alone", async () => {
  await inFolder(async (folder, clock, disk) => {
    const path = `${folder}/deep/events.jsonl`;
    const sink = sinkOn({ path }, clock, disk);
    for (let number = 0; number < 2_500; number++) sink.emit(event(String(number)));
    await sink.flush();
    sink.emit(event("last"));
    await sink.flush();
    const lines = (await Deno.readTextFile(path)).trimEnd().split("\n").map((line) => JSON.parse(line).id);
    assertEquals([lines.length, lines[0], lines[2_499], lines[2_500]], [2_501, "0", "2499", "last"]);
    if (Deno.build.os !== "windows") assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
    assertEquals(sink.lost, 0);
  });
});

Deno.test("the file sink puts a file aside that reaches max_size, and one of another day, and removes it after retention", async () => {
  await inFolder(async (folder, clock, disk) => {
    const path = `${folder}/e.jsonl`;
    await Deno.writeTextFile(`${folder}/e.jsonl.20260801T000000000Z`, "old");
    await Deno.writeTextFile(`${folder}/e.jsonl.note`, "not ours");
    const sink = sinkOn({ path, max_size: 1_024, retention: 86_400_000 }, clock, disk);
    for (let number = 0; number < 12; number++) sink.emit(event(String(number)));
    await sink.flush();
    assertEquals(namesIn(folder), ["e.jsonl.20260901T120000000Z", "e.jsonl.note"]);
    for (let number = 0; number < 12; number++) sink.emit(event(String(number)));
    await sink.flush();
    assertEquals(namesIn(folder).length, 3, "a second one in the same millisecond has a name of its own");
    sink.emit(event("small"));
    await sink.flush();
    await clock.advance(86_400_001);
    sink.emit(event("tomorrow"));
    await sink.flush();
    assertEquals(namesIn(folder), ["e.jsonl", "e.jsonl.20260902T120000001Z", "e.jsonl.note"]);
    assertMatch(await Deno.readTextFile(path), /^[^\n]*"tomorrow"[^\n]*\n$/);
  });
});

Deno.test("the file sink goes on in a new file where its file was taken away, or cannot be put aside", async () => {
  await inFolder(async (folder, clock, disk) => {
    const path = `${folder}/e.jsonl`;
    const locked: Disk["rename"] = () => Promise.reject(Object.assign(new Error("EBUSY"), { code: "EBUSY" }));
    const sinks = [sinkOn({ path }, clock, disk), sinkOn({ path: `${path}2` }, clock, { ...disk, rename: locked })];
    for (const sink of sinks) {
      sink.emit(event("today"));
      await sink.flush();
    }
    await Deno.remove(path);
    await clock.advance(86_400_000);
    for (const [index, sink] of sinks.entries()) {
      for (const id of ["tomorrow", "later"]) {
        sink.emit(event(id));
        await sink.flush();
      }
      assertEquals(sink.lost, 0, String(index));
    }
    const idsOf = async (file: string) =>
      (await Deno.readTextFile(file)).trimEnd().split("\n").map((line) => JSON.parse(line).id);
    assertEquals(await idsOf(path), ["tomorrow", "later"]);
    assertEquals(await idsOf(`${path}2`), ["today", "tomorrow", "later"]);
  });
});

Deno.test("the file sink of a full or hanging disk loses records, which it counts, in bounded memory, and goes on after it", async () => {
  await inFolder(async (folder, clock, disk) => {
    let isFull = true;
    const append: Disk["append"] = (path, data) =>
      isFull ? Promise.reject(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" })) : disk.append(path, data);
    const path = `${folder}/e.jsonl`;
    const sink = sinkOn({ path }, clock, { ...disk, append });
    for (let number = 0; number < 1_500; number++) sink.emit(event(String(number)));
    await sink.flush();
    assertEquals(sink.lost, 1_500);
    isFull = false;
    sink.emit(event("after"));
    await sink.flush();
    assertMatch(await Deno.readTextFile(path), /^[^\n]*"after"[^\n]*\n$/);

    const hanging = sinkOn({ path }, clock, {
      ...disk,
      stat: () => Promise.resolve(undefined),
      list: () => Promise.resolve([]),
      append: () => new Promise(() => {}),
    });
    for (let number = 0; number < 30_000; number++) hanging.emit(event(String(number)));
    assert(hanging.lost! >= 19_000);
  });
});

Deno.test("the file sink begins a new line after one that a full disk has cut off", async () => {
  await inFolder(async (folder, clock, disk) => {
    let room = Infinity;
    const append: Disk["append"] = async (path, data) => {
      const taken = data.subarray(0, room);
      room -= taken.length;
      const size = taken.length > 0 ? await disk.append(path, taken) : 0;
      if (taken.length < data.length) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
      return size;
    };
    const path = `${folder}/e.jsonl`;
    const sink = sinkOn({ path }, clock, { ...disk, append });
    const put = async (id: string, free: number) => {
      room = free;
      sink.emit(event(id));
      await sink.flush();
    };
    await put("first", Infinity);
    await put("cut off", 10);
    await put("without room", 0);
    await put("second", Infinity);
    await put("nothing of it", 0);
    await put("third", Infinity);
    const lines = (await Deno.readTextFile(path)).trimEnd().split("\n");
    assertEquals(lines.map((line) => line.length === 10 ? line : JSON.parse(line).id), [
      "first",
      '{"type":"e',
      "second",
      "third",
    ]);
    assertEquals(sink.lost, 3);
  });
});

Deno.test("the file sink appends to what a link leads to, and leaves the link in its place", async () => {
  await inFolder(async (folder, clock, disk) => {
    const [path, link] = [`${folder}/e.jsonl`, `${folder}/link.jsonl`];
    await Deno.writeTextFile(path, "");
    await Deno.symlink(path, link);
    const sink = sinkOn({ path: link, max_size: 10 }, clock, disk);
    for (const id of ["one", "two", "three"]) {
      sink.emit(event(id));
      await sink.flush();
      await clock.advance(24 * 60 * 60 * 1000);
    }
    assertEquals([namesIn(folder), sink.lost], [["e.jsonl", "link.jsonl"], 0]);
    assert((await Deno.lstat(link)).isSymlink);
    assertEquals((await Deno.readTextFile(path)).split("\n").length, 4);
  });
});

Deno.test("the file sink needs a path, and a runtime with files", () => {
  assertThrows(() => localFileObservability.create({}, testRuntime({})), ConfigError, "path of a file");
});
