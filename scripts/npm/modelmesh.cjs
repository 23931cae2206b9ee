#!/usr/bin/env node
// Runs the command line. Any Node that anybody still has must be able to read this file, to say what it needs instead.
// deno-lint-ignore-file no-var -- see above
"use strict";

var needed = [20, 16];
var version = process.versions.node;
var found = version.split(".").map(Number);

/**
 * Keeps what V8 compiles for the next start (Node 22.8 and newer), in a folder that no other user can write. Returns
 * whether that is possible.
 */
function keepCompiled() {
  var enable = require("module").enableCompileCache;
  var env = process.env;
  var shared = env.XDG_CACHE_HOME || env.LOCALAPPDATA || (env.HOME && env.HOME + "/.cache");
  var folder = env.MODELMESH_CACHE || (shared && shared + "/modelmesh");
  var kept = enable && folder && enable(folder + "/compiled");
  return Boolean(kept && kept.directory);
}

/** Compiles all functions at once: only what is compiled by now is kept, and a start calls most of them. */
function imported(setFlag) {
  setFlag("--no-lazy");
  return import("./dist/cli.js").then(function (cli) {
    setFlag("--lazy");
    return cli;
  });
}

if (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1])) {
  process.stderr.write("modelmesh needs Node " + needed.join(".") + " or newer; this is " + version + "\n");
  process.exit(1);
} else {
  // Node ends a process that has nothing left to wait for, whatever is still promised, and calls that success
  process.once("beforeExit", function () {
    process.stderr.write("modelmesh ended before its work was done: nothing was left to wait for\n");
    process.exit(1);
  });
  imported(keepCompiled() ? require("v8").setFlagsFromString : function () {})
    .then(function (cli) {
      return cli.main();
    })
    .then(function (code) {
      process.exit(code);
    }, function (error) {
      process.stderr.write("modelmesh could not start: " + (error && error.message) + "\n");
      process.exit(1);
    });
}
