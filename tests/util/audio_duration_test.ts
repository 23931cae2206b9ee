import { assert, assertEquals } from "@std/assert";
import { audioSeconds } from "../../src/util/audio_duration.ts";
import { createWave } from "../support/_sound.ts";

const fixture = (name: string) => Deno.readFile(new URL(`../fixtures/audio/${name}`, import.meta.url));

for (const name of ["cbr.mp3", "vbr.mp3", "tone.flac", "vorbis.ogg", "opus.ogg"]) {
  Deno.test(`the duration of a file is read: ${name}`, async () => {
    const seconds = audioSeconds(await fixture(name));
    assert(seconds >= 1.249 && seconds < 1.5, `${seconds}`); // LAME adds silence at both ends
  });
}

Deno.test("a variable bit rate is no matter where the file counts its frames", async () => {
  const bytes = await fixture("vbr.mp3");
  assert(audioSeconds(bytes) === audioSeconds(bytes.subarray(0, 400)));
});

Deno.test("a wave file lasts as long as it has samples, whatever it declares", () => {
  assertEquals(audioSeconds(createWave(2.5)), 2.5);
  const live = createWave(2.5);
  for (const declared of [0xffffffff, 0]) { // what recorders write that do not come back
    new DataView(live.buffer).setUint32(40, declared, true);
    assertEquals(audioSeconds(live), 2.5);
  }
});

Deno.test("an MP4 file's header says how long it is, in either version", () => {
  const box = (name: string, ...parts: Uint8Array[]) => {
    const size = 8 + parts.reduce((sum, part) => sum + part.length, 0);
    const head = new Uint8Array([0, 0, size >> 8, size & 255, ...new TextEncoder().encode(name)]);
    return new Uint8Array([head, ...parts].flatMap((part) => [...part]));
  };
  const header = (isLong: boolean) => {
    const view = new DataView(new ArrayBuffer(isLong ? 112 : 100));
    view.setUint8(0, isLong ? 1 : 0);
    view.setUint32(isLong ? 20 : 12, 1000);
    if (isLong) view.setBigUint64(24, 2_500n);
    else view.setUint32(16, 2_500);
    return new Uint8Array(view.buffer);
  };
  for (const isLong of [false, true]) {
    const movie = box("moov", box("free", new Uint8Array(8)), box("mvhd", header(isLong)));
    const file = new Uint8Array([...box("ftyp", new Uint8Array(8)), ...box("mdat", new Uint8Array(64)), ...movie]);
    assertEquals(audioSeconds(file), 2.5);
  }
});

Deno.test("a last page of Ogg on which no packet ends has no position", async () => {
  const bytes = await fixture("opus.ogg");
  const page = bytes.slice(bytes.length - 27);
  page.set(new TextEncoder().encode("OggS"));
  page.fill(255, 6, 14);
  assertEquals(audioSeconds(new Uint8Array([...bytes, ...page])), audioSeconds(bytes));
});

Deno.test("a duration that so few bytes cannot have is not believed", async () => {
  const flac = await fixture("tone.flac");
  new DataView(flac.buffer).setUint32(22, 0xffffffff); // 27 hours in 12 KB
  assertEquals(audioSeconds(flac), flac.length / 3_000);
});

Deno.test("what says nothing of its duration counts by its size, and what is broken does not throw", async () => {
  assertEquals(audioSeconds(new Uint8Array(6_000)), 2);
  assertEquals(audioSeconds(new Uint8Array()), 0);
  const files = [...await Promise.all(["cbr.mp3", "tone.flac", "vorbis.ogg", "opus.ogg"].map(fixture)), createWave(1)];
  for (const file of files) {
    for (let end = 0; end < 80; end++) assert(audioSeconds(file.subarray(0, end)) >= 0);
  }
});
